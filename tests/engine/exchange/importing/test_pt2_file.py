"""Programs of torch.export become networks that compute the same; what torch would run is refused before."""

import json
import re
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from netwright.engine.core.errors import UserError
from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.exchange.importing.pt2_file import read
from netwright.engine.network.block import Block
from netwright.engine.project.file import load


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.bn(self.conv(x))) + x


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, stride=2)
        self.blocks = nn.Sequential(Residual(), Residual())
        self.fc = nn.Linear(4 * 9, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.blocks(self.stem(x)).flatten(1))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(2)
    example = (torch.randn(2, 3, 8, 8),)
    program = torch.export.export(Model().eval(), example, dynamic_shapes=({0: torch.export.Dim("n")},))
    path = tmp_path_factory.mktemp("pt2") / "model.pt2"
    torch.export.save(program, path)
    return path


def test_blocks_and_numbers_are_those_of_the_program(saved: Path, tmp_path: Path) -> None:
    report = import_file(saved, tmp_path / "model.netwright")
    network = load(tmp_path / "model.netwright").project.network
    assert report.parity.agrees
    assert report.parity.samples == 18
    assert report.warnings == ()
    assert [layer.name for layer in network.layers.values()] == ["x", "stem", "blocks", "flatten_1", "fc"]
    blocks = network.by_name["blocks"].type
    assert isinstance(blocks, Block)
    assert blocks.repeat == 2
    assert {"conv", "bn"} <= blocks.network.by_name.keys()


class Inverted(nn.Module):
    """An inverted residual block (MobileNetV2) without a bias, and a decoder's step whose norms learn nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.expand = nn.Sequential(nn.Conv2d(3, 6, 1, bias=False), nn.BatchNorm2d(6), nn.ReLU6())
        self.deep = nn.Sequential(nn.Conv2d(6, 6, 3, padding=1, groups=6, bias=False), nn.BatchNorm2d(6), nn.ReLU6())
        self.project = nn.Sequential(nn.Conv2d(6, 3, 1, bias=False), nn.BatchNorm2d(3, affine=False))
        self.up = nn.Sequential(nn.ConvTranspose2d(3, 4, 2, 2, bias=False), nn.GroupNorm(2, 4, affine=False))
        self.end = nn.Sequential(nn.Conv2d(4, 2, 1), nn.InstanceNorm2d(2), nn.Hardtanh(-0.5, 0.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.end(self.up(x + self.project(self.deep(self.expand(x)))))


def test_modules_without_a_bias_and_with_limits_are_layers(tmp_path: Path) -> None:
    torch.manual_seed(3)
    model, x = Inverted().train(), torch.randn(4, 3, 8, 8)
    model(x)  # moves the running statistics
    program = torch.export.export(model.eval(), (x,), dynamic_shapes=({0: torch.export.Dim("n")},))
    torch.export.save(program, tmp_path / "model.pt2")
    report = import_file(tmp_path / "model.pt2", tmp_path / "model.netwright")
    assert report.parity.agrees
    assert report.constants is None
    assert not any(row.opaque for row in report.operators)
    assert report.parameters == sum(parameter.numel() for parameter in model.parameters())
    assert report.weights is not None
    counts = [value for name, value in load_file(report.weights).items() if "num_batches_tracked" in name]
    assert [value.shape for value in counts] == [torch.Size([])] * 3


def changed(saved: Path, target: Path, edit: Callable[[str, Any], Any]) -> Path:
    """Write the archive again, with other JSON documents."""
    with zipfile.ZipFile(saved) as archive, zipfile.ZipFile(target, "w") as copy:
        for name in archive.namelist():
            content = archive.read(name)
            if name.endswith(".json"):
                content = json.dumps(edit(name, json.loads(content))).encode()
            copy.writestr(name, content)
    return target


def pickled(name: str, value: Any) -> Any:
    for entry in value.get("config", {}).values():
        entry["use_pickle"] = True
    return value


def evaluated(name: str, value: Any) -> Any:
    text = json.dumps(value)
    return json.loads(
        text.replace('"expr_str": "Symbol(', '"expr_str": "__import__(\'os\').system(').replace("=True, i", ", ")
    )


def called(name: str, value: Any) -> Any:
    return json.loads(json.dumps(value).replace("torch.ops.aten.relu.default", "torch.hub.load"))


def contained(name: str, value: Any) -> Any:
    return json.loads(json.dumps(value).replace("builtins.tuple", "mine.Thing"))


def owned(name: str, value: Any) -> Any:
    value.setdefault("more", []).append({"as_custom_obj": {"class_fqn": "x"}})
    return value


def replaced(old: str, new: str) -> Callable[[str, Any], Any]:
    """Return an edit that puts another text in the place of each that equals `old`, also of keys and in texts of
    JSON."""

    def edit(name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {edit(name, key): edit(name, inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [edit(name, inner) for inner in value]
        return new if value == old else value

    return edit


def writing(name: str, value: Any) -> Any:
    """Let the first operator be one that writes a file, which no output needs."""
    if "models/" in name:
        graph = value["graph_module"]["graph"]
        written = {"name": "filename", "arg": {"as_string": "/tmp/never"}, "kind": 1}
        output = [{"as_tensor": {"name": "read"}}]
        node = {"target": "torch.ops.aten.from_file.default", "inputs": [written], "outputs": output, "metadata": {}}
        graph["nodes"].insert(0, node)
        graph["tensor_values"]["read"] = next(iter(graph["tensor_values"].values()))
    return value


def stacked(name: str, value: Any) -> Any:
    """Let a size be a number of 3^20 times 63 bits."""
    number = "Integer(9)"
    for _ in range(20):
        number = f"Pow({number}, Integer(3))"
    text = json.dumps(value)
    return json.loads(re.sub(r'"expr_str": "[^"]*"', f'"expr_str": "{number}"', text))


def keyed(context: Any) -> Callable[[str, Any], Any]:
    """Return an edit that gives the arguments by name another context: their names, as JSON."""

    def edit(name: str, value: Any) -> Any:
        if "models/" in name:
            signature = value["graph_module"]["module_call_graph"][0]["signature"]
            tree = json.loads(signature["in_spec"])
            tree[1]["children_spec"][1]["context"] = json.dumps(context)
            signature["in_spec"] = json.dumps(tree)
        return value

    return edit


CALL = "__import__('os').abort()"
IMPORTING = {"__enum__": True, "fqn": "antigravity:fly_geohash", "name": "x"}


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (pickled, "is a pickle, which could run code"),
        (evaluated, "is no arithmetic of sizes"),
        (called, "uses the operator torch.hub.load"),
        (contained, "stand in a mine.Thing"),
        (owned, "an object of a class of its own"),
        (writing, "uses the operator torch.ops.aten.from_file.default"),
        (replaced("torch.ops.aten.relu.default", "torch.ops.aten.save.default"), "uses the operator .*aten.save"),
        (replaced("torch.ops.aten.relu.default", "torch.ops.aten.__init__"), "uses the operator"),
        (replaced("torch.ops.aten.relu.default", "math.factorial"), "uses the operator math.factorial"),
        (replaced("x", f"x={CALL}"), "the name .* in it could be code"),
        (replaced("relu", f"y={CALL};z"), "the name .* in it could be code"),
        (replaced("fc.weight", 'w"), ' + CALL + ', getattr(self, "w'), "could be code"),
        (replaced("input", f"input={CALL}, other"), "the name .* in it could be code"),
        (keyed(IMPORTING), "which could be code"),
        (keyed([f"x={CALL}"]), "which could be code"),
        (stacked, "is no arithmetic of sizes"),
    ],
)
def test_what_torch_would_run_is_refused(
    edit: Callable[[str, Any], Any], words: str, saved: Path, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=words):
        read(changed(saved, tmp_path / "bad.pt2", edit))


def test_guards_and_examples_are_left_out(saved: Path, tmp_path: Path) -> None:
    def guarded(name: str, value: Any) -> Any:
        return {**value, "guards_code": ["__import__('os').abort()"]} if "models/" in name else value

    path = changed(saved, tmp_path / "guarded.pt2", guarded)
    with closing(read(path)) as graph:
        assert graph.inputs[0].sizes is not None
        assert graph.inputs[0].sizes[1:] == (3, 8, 8)


@pytest.mark.parametrize("content", [b"", b"text", b"PK\3\4"])
def test_no_archive(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.pt2"
    path.write_bytes(content)
    with pytest.raises(UserError, match="cannot be read as a program"):
        read(path)


def test_other_archives(tmp_path: Path) -> None:
    for name, words in (("m/data/x", "holds no model"), ("serialized_exported_program.json", "before 2.8")):
        with zipfile.ZipFile(tmp_path / "a.pt2", "w") as archive:
            archive.writestr(name, "{}")
        with pytest.raises(UserError, match=words):
            read(tmp_path / "a.pt2")


def test_weights_alone_are_no_network(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds weights alone"):
        import_file(tmp_path / "model.pth", tmp_path / "a.netwright")
