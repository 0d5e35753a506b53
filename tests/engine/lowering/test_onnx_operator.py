"""Imported ONNX operators: sizes, numbers, constants, and what is wrong with them."""

import copy
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import TensorType, features
from netwright.engine.exchange.onnx_export import export_onnx
from netwright.engine.exchange.pytorch_export import export_pytorch
from netwright.engine.layers.onnx_operator import OnnxOperator
from netwright.engine.lowering.module import build
from netwright.engine.lowering.modules.onnx_operator import keep_from_compiler
from netwright.engine.lowering.read_constants import fill_constants
from netwright.engine.lowering.weights_file import write_weights_file
from netwright.engine.network.analysis import analyse
from netwright.engine.network.blocks import group
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Network
from netwright.engine.project.blocked_gradients import blocked_gradients
from netwright.engine.project.constants import ConstantsFile, constants_problems
from netwright.engine.project.file import dumps, loads
from netwright.engine.project.project import Project
from tests.builders import add, layer

DIVISORS = torch.tensor([0.5, 0.3, 0.2, 0.7, 1.0, 0.1])
MOD = OnnxOperator(
    operator="Mod",
    opset=13,
    attributes='{"fmod": 1}',
    operands=("in", "m.d"),
    input_tensors=("float32 C=6",),
    results=("float32 C=6",),
    constants=("m.d float32 6",),
)


def behind_weights(*types: OnnxOperator, channels: int = 6) -> Network:
    """Operators behind a fully connected layer, one behind the other."""
    network, last = add(Network.empty(), layer("feature_input", channels=4), name="x")
    network, last = add(network, layer("fully_connected", outputs=channels), last, name="fc")
    for number, type in enumerate(types, 1):
        network, last = add(network, type, last, name=f"op_{number}")
    return network


def with_constants(network: Network, folder: Path, **constants: torch.Tensor) -> Project:
    """A project with its file of constants; `__` in a name stands for a dot."""
    named = {name.replace("__", "."): value for name, value in constants.items()}
    checksum = write_weights_file(folder / "p.constants.safetensors", named, {})
    return Project(network, constants=ConstantsFile(file="p.constants.safetensors", sha256=checksum))


def filled(project: Project, folder: Path) -> Any:
    module = build(project.network, analyse(project.network)).eval()
    fill_constants(module, project, folder)
    return module


def computed(type: OnnxOperator, *x: torch.Tensor, inputs: Sequence[TensorType] = ()) -> Any:
    """What an operator without constants gives."""
    network = Network.empty()
    feeds = []
    for number, given in enumerate(inputs or [features(one.shape[1]) for one in x]):
        sizes = {"channels": given["C"]} | ({"size": given.sizes[1:]} if given.layout == "image" else {})
        network, added = add(network, layer(f"{given.layout.rstrip('s')}_input", **sizes), name=f"x{number}")
        feeds.append(added)
    network, _ = add(network, type, *feeds)
    return build(network, analyse(network)).eval()(*x)


def test_an_operator_gives_what_its_file_says(tmp_path: Path) -> None:
    project = with_constants(behind_weights(MOD), tmp_path, m__d=DIVISORS)
    module = filled(project, tmp_path)
    x = torch.randn(5, 4)
    torch.testing.assert_close(module(x), torch.fmod(module.fc(x), DIVISORS))
    assert copy.deepcopy(module)(x).equal(module(x))


def test_constants_that_were_not_read_are_not_computed_with() -> None:
    network = behind_weights(MOD)
    with pytest.raises(RuntimeError, match="constants of the operator Mod were not read"):
        build(network, analyse(network))(torch.zeros(1, 4))


def test_several_results_and_one_that_nothing_uses() -> None:
    top = OnnxOperator(
        operator="TopK",
        num_outputs=2,
        operands=("in", "t.k"),
        input_tensors=("float32 C=6",),
        results=("float32 C=2", "int64 C=2"),
        constants=("t.k int64 1",),
    )
    assert top.output_types(features(6)) == (features(2), TensorType(("C",), (2,), "index"))
    split = OnnxOperator(
        operator="Split",
        attributes='{"axis": 1, "num_outputs": 3}',
        num_outputs=2,
        input_tensors=("float32 C=6",),
        results=("float32 C=2", "-", "float32 C=2"),
    )
    x = torch.randn(3, 6)
    first, last = computed(split, x)
    assert first.equal(x[:, :2])
    assert last.equal(x[:, 4:])


def test_numbers_are_of_the_format_that_the_operator_takes_and_the_network_has() -> None:
    is_nan = OnnxOperator(operator="IsNaN", input_tensors=("float64 C=3",), results=("bool C=3",))
    x = torch.tensor([[1.0, float("nan"), 2.0]])
    assert computed(is_nan, x).equal(torch.tensor([[0, 1, 0]]))
    one = OnnxOperator(
        operator="ReduceSum", opset=11, attributes='{"axes": [1], "keepdims": 0}', input_tensors=("float32 C=3",),
        results=("float32",),
    )  # fmt: skip
    assert one.output(features(3)) == features(1)
    assert computed(one, torch.ones(2, 3)).equal(torch.tensor([[3.0], [3.0]]))


def test_a_map_of_classes_becomes_a_matrix() -> None:
    zip_map = OnnxOperator(
        operator="ZipMap", domain="ai.onnx.ml", opset=1, attributes='{"classlabels_int64s": [4, 7]}',
        input_tensors=("float32 C=2",), results=("float32 C=2",),
    )  # fmt: skip
    x = torch.tensor([[0.25, 0.75], [0.5, 0.5]])
    assert computed(zip_map, x).equal(x)


def test_other_sizes_than_those_of_the_file_are_refused() -> None:
    (problem,) = analyse(behind_weights(MOD, channels=5)).problems
    assert problem.severity == "error"
    assert "known for those of the imported file only: features of 6 (C); received features of 5" in problem.message


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("gradients", ("out",)),
        ("attributes", "[1]"),
        ("attributes", "{"),
        ("operands", ["in", "other.d"]),
        ("input_tensors", ["float99 C=6"]),
        ("input_tensors", ["float32 C=6", "float32 C=6"]),
        ("results", ["float32 C"]),
        ("constants", ["m.d"]),
        ("constants", ["m float32 6"]),
        ("num_outputs", 3),
    ],
)
def test_fields_that_contradict_each_other_are_a_problem(field: str, value: object) -> None:
    (problem,) = analyse(behind_weights(MOD.replace(**{field: value}))).problems
    assert problem.severity == "error"
    assert problem.layer == "id3"


def test_layers_before_it_get_no_gradient_and_those_behind_do(tmp_path: Path) -> None:
    network = behind_weights(MOD)
    network, _ = add(network, layer("fully_connected", outputs=2), network.layers["id3"], name="head")
    module = filled(with_constants(network, tmp_path, m__d=DIVISORS), tmp_path)
    module(torch.randn(3, 4)).sum().backward()
    assert module.fc.weight.grad is None
    assert module.head.weight.grad is not None


def test_layers_before_it_get_a_gradient_where_torch_computes_it(tmp_path: Path) -> None:
    module = filled(with_constants(behind_weights(MOD), tmp_path, m__d=DIVISORS), tmp_path)
    differentiable = behind_weights(MOD.replace(gradients=("in",)))
    ours = filled(with_constants(differentiable, tmp_path, m__d=DIVISORS), tmp_path)
    ours.load_state_dict(module.state_dict())
    x = torch.randn(3, 4)
    y = ours(x)
    torch.testing.assert_close(y, module(x))
    y.sum().backward()
    assert ours.fc.weight.grad is not None
    assert not list(blocked_gradients(differentiable, analyse(differentiable)))


def test_a_project_with_operators_survives_its_file_and_a_block(tmp_path: Path) -> None:
    network = behind_weights(MOD, MOD)
    grouped, layout, _ = group(network, Layout(), ["id3", "id4"], "ops")
    project = replace(with_constants(grouped, tmp_path, m__d=DIVISORS), layout=layout)
    assert loads(dumps(project)).project.network == grouped
    x = torch.randn(3, 4)
    module = filled(project, tmp_path)
    torch.testing.assert_close(module(x), torch.fmod(torch.fmod(module.fc(x), DIVISORS), DIVISORS))


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({"m__e": DIVISORS}, "The constant 'm.d' is missing in p.constants.safetensors"),
        ({"m__d": DIVISORS[:3]}, "The constant 'm.d' is float32 3 instead of float32 6"),
        ({"m__d": DIVISORS.double()}, "The constant 'm.d' is float64 6 instead of float32 6"),
    ],
)
def test_constants_of_another_file_are_refused(
    tmp_path: Path, constants: dict[str, torch.Tensor], message: str
) -> None:
    project = with_constants(behind_weights(MOD), tmp_path, **constants)
    with pytest.raises(UserError, match=message):
        filled(project, tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "with the constants of ONNX operators cannot be read: No such file"),
        (b"", "is no safetensors file, or is damaged"),
        (b"\xff" * 64, "is no safetensors file, or is damaged"),
        ((8).to_bytes(8, "little") + b'{"m.d":3', "is no safetensors file, or is damaged"),
        ((2).to_bytes(8, "little") + b"[]", "is no safetensors file, or is damaged"),
    ],
)
def test_a_missing_or_damaged_file_of_constants_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    project = with_constants(behind_weights(MOD), tmp_path, m__d=DIVISORS)
    path = tmp_path / project.constants.file
    path.unlink() if content is None else path.write_bytes(content)
    (problem,) = constants_problems(project.network, project.constants, tmp_path)
    assert problem.severity == "error"
    assert message in problem.message
    assert str(path) in problem.message
    assert problem.message.endswith("Bring the file back, or import the ONNX file again.")
    with pytest.raises(UserError, match=message):
        filled(project, tmp_path)


def test_constants_whose_numbers_changed_are_refused(tmp_path: Path) -> None:
    project = with_constants(behind_weights(MOD), tmp_path, m__d=DIVISORS)
    with_constants(project.network, tmp_path, m__d=DIVISORS + 1)
    assert not list(constants_problems(project.network, project.constants, tmp_path))
    with pytest.raises(UserError, match="changed: their SHA-256 is not"):
        filled(project, tmp_path)


def test_operators_without_a_file_of_constants_are_an_error() -> None:
    network = behind_weights(MOD)
    assert "No file with constants is named" in next(constants_problems(network, ConstantsFile(), Path())).message
    bypassed = network.with_layer(replace(network.layers["id3"], bypassed=True))
    assert not list(constants_problems(bypassed, ConstantsFile(), Path()))


def test_layers_that_cannot_learn_are_named() -> None:
    network = behind_weights(MOD, MOD)
    found = {problem.name: problem for problem in blocked_gradients(network, analyse(network))}
    assert set(found) == {"op_1"}
    assert found["op_1"].severity == "error"
    network, _ = add(network, layer("fully_connected", outputs=2), network.layers["id4"], name="head")
    (problem,) = blocked_gradients(network, analyse(network))
    assert problem.severity == "warning"
    assert "'fc' cannot learn" in problem.message
    assert problem.fix is not None
    fixed = problem.fix.edit(Project(network)).network
    assert not list(blocked_gradients(fixed, analyse(fixed)))
    around, _ = add(network, layer("fully_connected", outputs=2), network.layers["id2"], name="around")
    (problem,) = blocked_gradients(around, analyse(around))
    assert "'fc' learn only along paths that do not lead through it" in problem.message
    grouped, _, _ = group(network, Layout(), ["id2", "id3", "id4"], "part")
    (problem,) = blocked_gradients(grouped, analyse(grouped))
    assert problem.name == "part/op_1"
    assert "'part/fc' cannot learn" in problem.message


def test_an_export_to_onnx_has_the_operators_again(tmp_path: Path) -> None:
    older = OnnxOperator(
        operator="Hardmax", opset=11, attributes='{"axis": 1}', input_tensors=("float32 C=6",), results=("float32 C=6",)
    )
    network = behind_weights(MOD, MOD, older)
    module = filled(with_constants(network, tmp_path, m__d=DIVISORS), tmp_path)
    export_onnx(network, module.state_dict(), tmp_path / "n.onnx", facts=None, samples=None)
    graph = onnx.load(tmp_path / "n.onnx").graph
    found = [(node.name, node.op_type, node.domain) for node in graph.node if node.op_type in ("Mod", "Hardmax")]
    assert found == [("op_1/Mod", "Mod", ""), ("op_2/Mod", "Mod", ""), ("op_3/Hardmax", "Hardmax", "")]


def test_an_operator_that_the_export_cannot_write_is_refused(tmp_path: Path) -> None:
    upsample = OnnxOperator(
        operator="Upsample",
        opset=9,
        attributes='{"mode": "nearest"}',
        operands=("in", "u.s"),
        input_tensors=("float32 C=6",),
        results=("float32 C=12",),
        constants=("u.s float32 2",),
    )
    network = behind_weights(upsample)
    module = filled(with_constants(network, tmp_path, u__s=torch.tensor([1.0, 2.0])), tmp_path)
    assert module(torch.zeros(2, 4)).shape == (2, 12)
    with pytest.raises(UserError, match=r"'op_1' has operators of opset 9 that have no form in opset 20: Upsample\."):
        export_onnx(network, module.state_dict(), tmp_path / "n.onnx", facts=None, samples=None)


def test_an_opset_that_an_operator_needs_is_named(tmp_path: Path) -> None:
    newer = OnnxOperator(
        operator="Swish", opset=24, input_tensors=("float32 C=6",), results=("float32 C=6",), attributes="{}"
    )
    network = behind_weights(newer)
    module = build(network, analyse(network)).eval()
    with pytest.raises(UserError, match=r"'op_1' has operators of opset 24 .* in opset 20: Swish\. .* --opset 24\."):
        export_onnx(network, module.state_dict(), tmp_path / "n.onnx", facts=None, samples=None)


@pytest.mark.parametrize("gradients", [(), ("in",)])
def test_exported_source_computes_the_operator_without_netwright(tmp_path: Path, gradients: tuple[str, ...]) -> None:
    network = behind_weights(MOD.replace(gradients=gradients))
    module = filled(with_constants(network, tmp_path, m__d=DIVISORS), tmp_path)
    export_pytorch(Project(network), module.state_dict(), tmp_path / "net.py", facts=None, title="net")
    x = torch.randn(3, 4)
    torch.save((x, module(x)), tmp_path / "expected.pt")
    code = (
        "import net, torch; x, y = torch.load('expected.pt'); torch.testing.assert_close(net.load()(x), y); print('ok')"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, env=environment, capture_output=True)
    assert done.stdout.strip() == b"ok", done.stderr.decode()


def test_a_compiled_network_calls_operators_as_they_are(tmp_path: Path) -> None:
    module = filled(with_constants(behind_weights(MOD), tmp_path, m__d=DIVISORS), tmp_path)
    x = torch.rand(3, 4)
    keep_from_compiler()
    assert torch.equal(torch.compile(module, backend="eager")(x), module(x))
    assert torch._dynamo.utils.counters["graph_break"]
