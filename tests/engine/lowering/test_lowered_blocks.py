import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from netwright.engine.exchange.onnx_export import export_onnx
from netwright.engine.exchange.pytorch_export import export_pytorch
from netwright.engine.layers.base import LayerType
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.modules.onnx_runtime import open_session
from netwright.engine.lowering.print_source import source
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.network import Network, Port
from netwright.engine.project.project import Project
from tests import warm
from tests.blocks import (
    FEATURES,
    IMAGE,
    behind,
    connected,
    conv,
    crossed,
    dense,
    masked,
    module_of,
    residual,
    results,
    row,
)
from tests.builders import add, layer
from tests.lowered import sizes_of


def printed(network: Network, **options: Any) -> str:
    return source(network, analyse(network), title="Blocks", **options)


def evaluated(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "printed"}
    exec(compile(text, "printed.py", "exec"), names)
    return names


def fc(outputs: int = 4) -> LayerType:
    return layer("fully_connected", outputs=outputs)


def two_outputs() -> Network:
    """A block with two inputs and two outputs in a row, both of which are used."""
    network, one = add(Network.empty(), FEATURES, name="one")
    network, two = add(network, FEATURES, name="two")
    network, block = add(network, crossed(repeat=3), one, two, name="cross")
    network, total = edits.add_layer(network, layer("addition"), "total")
    network = connected(network, block, "first", total, "in1")
    return connected(network, block, "second", total, "in2")


def loose_outputs() -> Network:
    network, one = add(Network.empty(), FEATURES, name="one")
    network, _ = add(network, crossed(), one, one, name="cross")
    return network


def other_names(name: str, block: Block | None = None) -> Network:
    """A block called like this, with layers inside and beside it that are called so too."""
    inner = block or row(fc(), layer("relu"))
    (first, *_) = (one for one in inner.network.layers.values() if not isinstance(one.type, BlockInput | BlockOutput))
    inner = inner.with_network(edits.rename(inner.network, first.id, name))
    return behind(FEATURES, fc(), inner, layer("relu"), names=("before", name, "after"))


def loop_variable() -> Network:
    """Inside a block a repeated one with a mask, between layers called `copy`."""
    network, x = add(Network.empty(), BlockInput(), name="x")
    network, held = add(network, layer("relu"), x, name="copy")
    network, inner = add(network, masked(repeat=2), held, x, name="steps")
    network, total = add(network, layer("addition"), inner, held, name="total")
    network, _ = add(network, BlockOutput(), total, name="y")
    return behind(FEATURES, Block(network))


def like_a_copy() -> Network:
    """A layer called like a copy of the block beside it, in blocks of two widths."""

    def inner(width: int) -> Block:
        network, x = add(Network.empty(), BlockInput(), name="x")
        network, one = add(network, fc(width), x, name="stage_1")
        network, two = add(network, row(fc(width + 1), repeat=2), one, name="stage")
        network, _ = add(network, BlockOutput(), two, name="y")
        return Block(network)

    return behind(FEATURES, inner(3), inner(5), names=("wide_1", "wide_2"))


NETWORKS: dict[str, Callable[[], Network]] = {
    "row": lambda: behind(IMAGE, row(conv(4), layer("relu"))),
    "passing": lambda: behind(FEATURES, Block(), fc()),
    "nested": lambda: behind(IMAGE, row(residual(), row(conv(4), residual()))),
    "repeated": lambda: behind(IMAGE, residual(repeat=3)),
    "repeated in repeated": lambda: behind(IMAGE, row(residual(repeat=2), repeat=2)),
    "growing": lambda: behind(IMAGE, dense()),
    "growing twice": lambda: behind(IMAGE, dense(), conv(4), dense(3, 2), row(dense(2, 2))),
    "one class with arguments": lambda: behind(IMAGE, residual(), row(conv(8)), residual(8), row(conv(2))),
    "mask": lambda: behind(FEATURES, masked()),
    "mask for each copy": lambda: behind(FEATURES, masked(repeat=3)),
    "masks in a block": lambda: behind(FEATURES, row(fc(), fc()), masked(repeat=2)),
    "two outputs": two_outputs,
    "loose outputs": loose_outputs,
    "loop variable": loop_variable,
    "like a copy": like_a_copy,
    "growing with masks": lambda: behind(IMAGE, row(dense(repeat=2), repeat=2)),
}
NAMES = (
    *("network", "Network", "linear", "path", "none", "_2x", "COLUMNS", "copy", "torch", "nn", "load", "valueError"),
    *("forward", "training", "self", "__init__", "block", "weight"),
)
NETWORKS |= {f"called {name}": partial(other_names, name) for name in NAMES}


def inputs(network: Network) -> list[torch.Tensor]:
    numbers = torch.Generator().manual_seed(3)
    return [torch.rand(2, *sizes_of(one.type.output()), generator=numbers) for one in network.inputs]


@pytest.mark.parametrize("name", NETWORKS)
def test_module_and_source_are_the_same_network(name: str, tmp_path: Path) -> None:
    network = NETWORKS[name]()
    assert not analyse(network).problems
    module = module_of(network)
    names = evaluated(printed(network, columns=("a",), classes=("b",)))
    save_file(module.state_dict(), tmp_path / "net.safetensors")
    names["__file__"] = str(tmp_path / "net.py")
    copy = names["load"]()
    assert list(copy.state_dict()) == list(module.state_dict())
    given = inputs(network)
    for one, other in zip(results(copy, *given), results(module, *given), strict=True):
        assert torch.equal(one, other)
    assert (names["COLUMNS"], names["CLASSES"]) == (["a"], ["b"])
    assert sum(p.numel() for p in module.parameters()) == analyse(network).parameters


def test_formatters_have_nothing_to_change(tmp_path: Path) -> None:
    for number, make in enumerate(NETWORKS.values()):
        (tmp_path / f"network_{number}.py").write_text(printed(make()), encoding="utf-8")
    long = row(*[conv(4, bias=False) for _ in range(2)])
    many = behind(
        IMAGE, *[dense(2 + n, 4) for n in range(4)], long, names=tuple(f"{'a_long_' * 5}{n}" for n in range(5))
    )
    (tmp_path / "long.py").write_text(printed(many), encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff"]
    options = ["--isolated", "--line-length", "120", "--no-cache"]
    formatted = subprocess.run(
        [*ruff, "format", "--diff", *options, tmp_path], capture_output=True, text=True, check=False
    )
    assert formatted.returncode == 0, formatted.stdout
    linted = subprocess.run([*ruff, "check", *options, tmp_path], capture_output=True, text=True, check=False)
    assert linted.returncode == 0, linted.stdout


def test_equal_blocks_are_one_class_and_numbers_that_differ_are_its_arguments() -> None:
    text = printed(behind(IMAGE, residual(), row(conv(8)), residual(8), names=("stage_1", "widen", "stage_2")))
    assert text.count("class Stage(nn.Module):") == 1
    assert "self.stage_1 = Stage(in_channels=4)" in text
    assert "self.stage_2 = Stage(in_channels=8)" in text
    assert text.count("(nn.Module):") == 3  # and Widen, and Network


def test_copies_are_a_row_or_a_list_that_is_gone_through() -> None:
    assert "nn.Sequential(*(Res() for _ in range(3)))" in printed(behind(IMAGE, residual(repeat=3), names=("res",)))
    text = printed(behind(FEATURES, masked(repeat=3), names=("steps",)))
    assert "self.steps = nn.ModuleList(Steps() for _ in range(3))" in text
    assert "        for copy in self.steps:\n            steps = copy(steps, feature_input_1)\n" in text.replace(
        "feature_1", "feature_input_1"
    )


def test_keys_of_the_state_are_paths_of_names() -> None:
    network = behind(IMAGE, row(residual(repeat=2)), names=("stage",))
    module = build(network, analyse(network))
    (block,) = (name for name in module.state_dict() if name.endswith("0.conv.weight"))
    assert block == "stage.block_1.0.conv.weight"
    assert "stage.block_1.1.bn.running_mean" in module.state_dict()
    assert prefixes(network, analyse(network))["id2/id2/1/id2"] == ("stage.block_1.1.conv",)


def test_logits_leave_out_a_softmax_at_the_end_of_the_last_copy_alone() -> None:
    network = behind(FEATURES, row(fc(), layer("softmax"), repeat=2), names=("head",))
    whole, bare = (build(network, analyse(network), logits=logits).eval() for logits in (False, True))
    bare.load_state_dict(whole.state_dict())
    x = torch.rand(3, 4)
    assert torch.allclose(torch.softmax(bare(x), 1), whole(x))
    assert not torch.allclose(bare(x).sum(1), torch.ones(3))
    copy = evaluated(printed(network, logits=True))["Network"]().eval()
    copy.load_state_dict(whole.state_dict())
    assert torch.equal(copy(x), bare(x))


def test_a_bypassed_block_is_neither_in_the_module_nor_in_the_source() -> None:
    network = behind(IMAGE, residual(), conv(2), names=("stage",))
    network = edits.set_bypassed(network, ["id2"], True)
    assert "Stage" not in printed(network)
    assert not any(name.startswith("stage") for name in module_of(network).state_dict())
    assert {path for path, _ in analyse(network).all_shapes()} == {"id1", "id2", "id3"}


@pytest.mark.parametrize("name", ["nested", "growing twice", "mask for each copy", "two outputs"])
def test_an_onnx_file_gives_the_same(name: str, tmp_path: Path) -> None:
    network = NETWORKS[name]()
    module = module_of(network)
    export_onnx(network, module.state_dict(), tmp_path / "net.onnx", facts=None, samples=None)
    session = open_session(tmp_path / "net.onnx")
    given = inputs(network)
    names = [one.name for one in session.get_inputs()]
    found = session.run(None, {name: x.numpy() for name, x in zip(names, given, strict=True)})
    for one, other in zip(found, results(module, *given), strict=True):
        assert np.allclose(one, other.numpy(), rtol=1e-4, atol=1e-5)


def test_the_exported_file_runs_by_itself_and_gives_the_same(tmp_path: Path) -> None:
    network = NETWORKS["growing twice"]()
    module = module_of(network)
    export_pytorch(Project(network), module.state_dict(), tmp_path / "net.py", facts=None, title="Net")
    done = warm.run_file(tmp_path / "net.py")
    assert done.returncode == 0, done.stderr
    copy = evaluated((tmp_path / "net.py").read_text(encoding="utf-8"))["Network"]().eval()
    copy.load_state_dict(load_file(tmp_path / "net.safetensors"))
    (x,) = inputs(network)
    assert torch.equal(copy(x), module(x))


def test_a_port_that_leaves_a_block_at_its_input_is_what_came_in() -> None:
    """An output of a block may be what came in, also where another block takes it."""
    network, x = add(Network.empty(), BlockInput(), name="x")
    network, one = add(network, fc(), x, name="fc")
    network, _ = add(network, BlockOutput(), x, name="same")
    network, _ = add(network, BlockOutput(), one, name="new")
    outer = behind(FEATURES, Block(network))
    module, (given,) = module_of(outer), inputs(outer)
    names = [port.name for port in outer.output_ports]
    assert names == ["same", "new"]
    assert torch.equal(results(module, given)[0], given)
    assert Port("id2", "same") in outer.output_ports
