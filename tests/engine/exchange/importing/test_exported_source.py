"""Exported source comes back as the network noted at its end, and after edits by hand as torch.export sees its class,
which runs apart from us and only where it is trusted."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from netwright.engine.cli.main import main
from netwright.engine.core.errors import UserError
from netwright.engine.exchange.importing.import_report import ImportReport
from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.exchange.pytorch_export import export_pytorch
from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from netwright.engine.user_code import trust

TEMPLATES = Path(__file__).parents[4] / "resources" / "templates"
SLOW = {"resnet101", "unet", "vgg16"}
"""Templates whose outputs take minutes, of layers that others have as well."""


def template(name: str) -> Project:
    return load(TEMPLATES / f"{name}.netwright").project


def exported(folder: Path, name: str = "mlp") -> Path:
    """Export a template with random weights."""
    project = template(name)
    torch.manual_seed(3)
    state = {
        key: value + torch.rand_like(value) / 99 if value.is_floating_point() else value
        for key, value in build(project.network, analyse(project.network)).state_dict().items()
    }
    return export_pytorch(project, state, folder / "net.py", facts=None, title="t")


def edited(path: Path, *edits: tuple[str, str]) -> Path:
    text = path.read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(trust.GRANTS, json.dumps([str(tmp_path.resolve())]))
    return tmp_path


@pytest.fixture
def untrusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(trust.GRANTS, "[]")
    return tmp_path


def imported(path: Path) -> ImportReport:
    return import_file(path, path.with_name("again.netwright"))


def comes_back(name: str, folder: Path) -> None:
    path = exported(folder, name)
    report = imported(path)
    project, again = template(name), load(report.project).project
    assert (again.network, again.layout) == (project.network, project.layout)
    assert report.weights is not None
    state, before = load_file(report.weights), load_file(path.with_suffix(".safetensors"))
    assert state.keys() == before.keys()
    assert all(torch.equal(state[key], before[key]) for key in state)
    assert report.parity.agrees, report.warnings
    assert not report.warnings


@pytest.mark.parametrize("name", ["mlp", "lstm_classifier", "seq2seq"])
def test_templates_come_back_and_agree_with_their_class(name: str, trusted: Path) -> None:
    comes_back(name, trusted)


@pytest.mark.parity
@pytest.mark.parametrize("name", sorted({path.stem for path in TEMPLATES.glob("*.netwright")} - SLOW))
def test_all_templates_come_back_and_agree_with_their_class(name: str, trusted: Path) -> None:
    comes_back(name, trusted)


def test_without_trust_nothing_runs_and_the_report_says_so(untrusted: Path) -> None:
    report = imported(exported(untrusted))
    assert load(report.project).project.network == template("mlp").network
    assert not report.parity.outputs
    (warning,) = report.warnings
    assert "The outputs are not compared with the original" in warning
    assert f"the folder {untrusted.resolve()} is not trusted" in warning
    assert "--trust" in warning


def test_an_edited_file_does_not_run_without_trust(untrusted: Path) -> None:
    mark = untrusted / "ran"
    path = edited(exported(untrusted), ("import torch\n", f"import torch\n\nopen({str(mark)!r}, 'w').close()\n"))
    with pytest.raises(UserError, match=r"net\.py was edited after its export.*is not trusted") as error:
        imported(path)
    assert "--trust" in str(error.value)
    assert error.value.code == "not_trusted"
    assert not mark.exists()
    assert not path.with_name("again.netwright").exists()


def test_edits_by_hand_come_with_the_weights_of_what_stayed(trusted: Path) -> None:
    path = exported(trusted)
    lines = path.read_text(encoding="utf-8").splitlines()
    made = next(line for line in lines if "nn.ReLU()" in line)
    called = next(line for line in lines if "= self.relu" in line).partition("  #")[0]
    name = called.split(" = ")[0].strip()
    edited(
        path,
        (made, f"{made.replace('nn.ReLU()', 'nn.LeakyReLU(0.3)')}\n        self.extra = nn.Dropout(0.25)"),
        (called, f"{called}\n        {name} = self.extra(torch.tanh({name})) * 2.0 + {name}"),
        ("self.fc_1", "self.mine"),
        ("out_features=10", "out_features=13"),
    )
    report = imported(path)
    assert report.kind == "source"
    keys = [layer.type.key for layer in load(report.project).project.network.layers.values()]
    for key in ("leaky_relu", "tanh", "dropout", "scaling", "addition"):
        assert key in keys
    assert report.parity.agrees, report.warnings
    left, changed = (note for note in report.notes if "net.safetensors" in note)
    assert left == "2 tensors of net.safetensors belong to no layer: fc_1.bias, fc_1.weight."
    assert changed.startswith("2 tensors of net.safetensors have other sizes than the layer and have been left out")
    assert report.weights is not None
    before = load_file(path.with_suffix(".safetensors"))
    assert torch.equal(load_file(report.weights)["fc_2.weight"], before["fc_2.weight"])


def test_an_edited_network_of_sequences_comes_back(trusted: Path) -> None:
    report = imported(edited(exported(trusted, "lstm_classifier"), ("nn.Dropout(p=0.2)", "nn.Dropout(p=0.3)")))
    keys = [layer.type.key for layer in load(report.project).project.network.layers.values()]
    assert "lstm" in keys
    assert report.parity.agrees, report.warnings


def test_weights_that_do_not_fit_are_named(untrusted: Path) -> None:
    path = exported(untrusted)
    file = path.with_suffix(".safetensors")
    state = load_file(file)
    save_file({**state, "stranger": torch.zeros(1), "fc_1.bias": torch.zeros(3)}, file)
    report = imported(path)
    assert report.notes[0] == "1 tensor of net.safetensors belongs to no layer: stranger."
    assert report.notes[1].startswith("1 tensor of net.safetensors has other sizes than the layer")
    file.unlink()
    (note,) = import_file(path, path.with_name("bare.netwright")).notes
    assert note == "There is no net.safetensors beside the source, so the network has no weights yet."


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Input ", "Entry ", "does not say the sizes of its inputs"),
        ("class Network(", "class Net(", "has no class Network"),
        ("import torch\n", "import torch\n(", "line "),
        ("import torch\n", "raise ValueError('of mine')\n", "it cannot be imported: ValueError: of mine"),
        ("in_features=", "in_features=1000 + ", "it fails on inputs of these sizes"),
        ("import torch\n", "raise SystemExit(0)\n", "it cannot be imported: SystemExit"),
    ],
)
def test_what_is_wrong_after_an_edit_is_said(old: str, new: str, words: str, trusted: Path) -> None:
    path = edited(exported(trusted), (old, new))
    with pytest.raises(UserError, match=words):
        imported(path)
    assert not path.with_name("again.netwright").exists()


def test_sizes_are_those_of_the_docstring(untrusted: Path) -> None:
    path = exported(untrusted)
    with pytest.raises(UserError, match="stand in its docstring"):
        import_file(path, path.with_name("again.netwright"), sizes={"height": 3})


def test_the_command_runs_the_class_only_when_it_is_asked_to(
    untrusted: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = exported(untrusted)
    command = ["import", str(path), "-o", str(untrusted / "again.netwright"), "--force"]
    assert main([*command, "--json"]) == 0
    report = json.loads(capfd.readouterr().out)
    assert not report["agrees"]
    assert not report["samples"]
    assert main([*command, "--json", "--trust"]) == 0
    report = json.loads(capfd.readouterr().out)
    assert report["agrees"]
    assert report["outputs"][0]["layer"]
    monkeypatch.setenv(trust.GRANTS, "[]")
    edited(path, ("import torch\n", "import torch\n\nprint('this is no JSON')\n"))
    assert main(command) == 2
    assert "is not trusted" in capfd.readouterr().err
    assert main([*command, "--trust"]) == 0
    assert "the original agrees over 18 random samples" in capfd.readouterr().out
