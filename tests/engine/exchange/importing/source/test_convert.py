"""Printed source comes back as the network that it was printed from, also after edits by hand, without being run."""

import re
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings
from safetensors.torch import load_file, save_file

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import Kind, TensorType
from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.exchange.importing.source.convert import read
from netwright.engine.layers.base import LayerType, as_chain
from netwright.engine.lowering.module import build
from netwright.engine.lowering.source import source
from netwright.engine.network.analysis import analyse
from netwright.engine.network.block import Block
from netwright.engine.network.catalog import catalog
from netwright.engine.network.network import Network
from netwright.engine.project.file import load
from tests.builders import layer
from tests.strategies import Case, cases, lifelike

RESOURCES = Path(__file__).parents[5] / "resources"
TEMPLATES = sorted(path.stem for path in (RESOURCES / "templates").glob("*.netwright"))
SHORT = ("lstm_classifier", "mlp", "resnet50", "seq2seq")
SHORT_KEYS = ("addition", "batch_norm", "embedding", "max_pool2d", "permute")
KEYS = tuple(
    key
    for key, type in catalog().items()
    if not type().is_measured and type.family != "Block" and key != "onnx_operator"
)
# Their arguments follow from the fields by arithmetic that the search does not try; `docs/onnx.md` says so.
NOT_ALWAYS = {"stft", "inverse_stft", "space_to_depth2d", "fold", "scaling"}


def text_of(network: Network) -> str:
    return source(network, analyse(network), title="t")


def again(network: Network, folder: Path) -> Network:
    """Return the network that is read from the printed source."""
    path = folder / "printed.py"
    path.write_text(text_of(network), encoding="utf-8")
    return read(path, {}).network


def template(name: str) -> Network:
    return load(RESOURCES / "templates" / f"{name}.netwright").project.network


@pytest.mark.parametrize("name", SHORT)
def test_templates_come_back(name: str, tmp_path: Path) -> None:
    network = template(name)
    assert text_of(again(network, tmp_path)) == text_of(network)


@pytest.mark.parity
@pytest.mark.parametrize("name", TEMPLATES)
def test_all_templates_come_back(name: str, tmp_path: Path) -> None:
    network = template(name)
    assert text_of(again(network, tmp_path)) == text_of(network)


def check_layers(key: str, folder: Path, count: int) -> None:
    @settings(max_examples=count, suppress_health_check=list(HealthCheck), phases=(Phase.explicit, Phase.generate))
    @given(cases(key))
    def check(case: Case) -> None:
        if not case.type.is_input and not as_chain(case.type.lower(*case.inputs)):
            return
        network = lifelike(case)
        assert text_of(again(network, folder)) == text_of(network), case

    check()


@pytest.mark.parametrize(
    ("type", "kinds"),
    [
        (layer("prelu", per_channel=False), ("real",)),
        (layer("lp_pool2d", stride=(4, 1), padding=(1, 0)), ("real",)),
        (layer("fake_quantization", bits=4), ("real",)),
        (layer("subtraction"), ("real", "complex")),  # its second input is used first
    ],
    ids=lambda one: one.key if isinstance(one, LayerType) else "",
)
def test_arguments_that_follow_from_fields_come_back(type: LayerType, kinds: tuple[Kind, ...], tmp_path: Path) -> None:
    network = lifelike(Case(type, tuple(TensorType(("C", "H", "W"), (1, 9, 7), kind) for kind in kinds)))
    assert text_of(again(network, tmp_path)) == text_of(network)


@pytest.mark.parametrize("key", SHORT_KEYS)
def test_layers_come_back(key: str, tmp_path: Path) -> None:
    check_layers(key, tmp_path, 2)


@pytest.mark.parity
@pytest.mark.parametrize("key", [key for key in KEYS if key not in NOT_ALWAYS])
def test_all_layers_come_back(key: str, tmp_path: Path) -> None:
    check_layers(key, tmp_path, 12)


def edited(folder: Path, *edits: tuple[str, str], name: str = "mlp") -> Path:
    text = text_of(template(name))
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / "edited.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_weights_come_along_under_their_attributes(tmp_path: Path) -> None:
    network = template("mlp")
    path = edited(tmp_path)
    state = {key: torch.randn_like(value) for key, value in build(network, analyse(network)).state_dict().items()}
    save_file({**state, "stranger": torch.zeros(1)}, path.with_suffix(".safetensors"))
    report = import_file(path, tmp_path / "again.netwright")
    assert report.weights is not None
    found = load_file(report.weights)
    assert found.keys() == state.keys()
    assert all(torch.equal(found[key], state[key]) for key in state)
    assert report.notes == ("1 tensor of edited.safetensors belongs to no layer: stranger.",)


def test_edits_by_hand_are_understood(tmp_path: Path) -> None:
    lines = text_of(template("mlp")).splitlines()
    made = next(line for line in lines if "nn.ReLU()" in line)
    called = next(line for line in lines if "= self.relu" in line).partition("  #")[0]
    name = called.split(" = ")[0].strip()
    path = edited(
        tmp_path,
        (made, f"{made.replace('nn.ReLU()', 'nn.LeakyReLU(0.3)')}\n        self.extra = nn.Dropout(0.25)"),
        (called, f"{called}\n        {name} = self.extra(torch.tanh({name})) * 2.0 + {name}"),
    )
    keys = [layer.type.key for layer in read(path, {}).network.layers.values()]
    for key in ("leaky_relu", "tanh", "dropout", "scaling", "addition"):
        assert key in keys


def renamed(text: str) -> str:
    """Give an attribute of the network another name."""
    start = text.index("class Network(")
    found = re.search(r"self\.(\w+) = nn\.(?:Linear|Conv\w+|LSTM)\(", text[start:])
    assert found is not None
    return text[:start] + re.sub(rf"\bself\.{found[1]}\b", f"self.my_{found[1]}", text[start:])


def wider(text: str) -> str:
    """Give the last layer with weights three more outputs."""
    *_, last = re.finditer(r"(out_features|out_channels)=(\d+)", text)
    return f"{text[: last.start()]}{last[1]}={int(last[2]) + 3}{text[last.end() :]}"


def without(text: str) -> str:
    """Remove the first activation or dropout, with its call."""
    kinds = "ReLU|GELU|Dropout|Tanh|LeakyReLU|SiLU|Sigmoid|ReLU6"
    found = re.search(rf"\n +self\.(\w+) = nn\.({kinds})\([^\n]*\)", text)
    if found is None:
        return text
    text = text.replace(found[0], "", 1)
    return re.sub(rf"self\.{found[1]}\((\w+)\)", r"\1", text, count=1)


FIXED = {"autoencoder", "lstm_forecaster", "narx", "tcn_forecaster"}
"""Templates whose last layer must have as many outputs as what follows expects."""


def check_edits(name: str, folder: Path) -> None:
    text = text_of(template(name))
    path = folder / "edited.py"
    for edit in (renamed, without, *((wider,) if name not in FIXED else ())):
        path.write_text(edit(text), encoding="utf-8")
        count = len(read(path, {}).network.layers)
        assert abs(count - len(template(name).layers)) <= 2, edit.__name__


@pytest.mark.parametrize("name", ["mlp", "lstm_classifier"])
def test_small_edits_of_templates_are_understood(name: str, tmp_path: Path) -> None:
    check_edits(name, tmp_path)


@pytest.mark.parity
@pytest.mark.parametrize("name", TEMPLATES)
def test_small_edits_of_all_templates_are_understood(name: str, tmp_path: Path) -> None:
    check_edits(name, tmp_path)


def test_blocks_keep_their_classes_and_copies(tmp_path: Path) -> None:
    network = again(template("resnet50"), tmp_path)
    blocks = [layer.type for layer in network.layers.values() if isinstance(layer.type, Block)]
    assert max(block.repeat for block in blocks) == 5


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("nn.ReLU()", "nn.Unheard(3)", "nn.Unheard has no layer here"),
        ("nn.ReLU()", "os.system('x')", "os.system is not known here"),
        ("nn.ReLU()", "open('x')", "open is not known here"),
        ("in_features=", "in_features=1000 + ", "nn.Linear does not fit what enters it"),
        ("        self.relu_1 =", "        print(1)\n        self.relu_1 =", "only lines such as self.conv"),
        ("Input ", "Entry ", "does not say the sizes of its inputs"),
        ("class Network(", "class Net(", "has no class Network"),
        ("        relu_1 =", "        if True:\n            pass\n        relu_1 =", "is not understood in forward"),
        ("self.relu_1(", "self.relu_1(nothing + ", "there is no tensor 'nothing'"),
        ("class Normalize(nn.Module):", "class Normalize(nn.Module):\n    a = 1", "Normalize was changed"),
        ("import torch\n", "import torch\n(", "line "),
    ],
)
def test_what_is_not_understood_is_said(old: str, new: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=words):
        read(edited(tmp_path, (old, new)), {})


def test_nothing_of_the_file_runs(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    path = edited(tmp_path, ("import torch\n", f"import torch\n\nopen({str(mark)!r}, 'w').close()\n"))
    read(path, {})
    assert not mark.exists()
