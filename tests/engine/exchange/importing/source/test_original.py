"""Source that is read back is compared with its own class, which runs apart from us and only where it is trusted."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from netwright.engine.cli.main import main
from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.exchange.importing.report import ImportReport
from netwright.engine.lowering.module import build
from netwright.engine.lowering.source import source
from netwright.engine.network.analysis import analyse
from netwright.engine.project.file import load
from netwright.engine.user_code import trust

TEMPLATES = Path(__file__).parents[5] / "resources" / "templates"
SLOW = {"resnet101", "unet", "vgg16"}
"""Templates whose outputs take minutes, of layers that others have as well."""


def printed(folder: Path, name: str = "mlp", more: str = "", *edits: tuple[str, str]) -> Path:
    """Write the source of a template with random weights beside it, with edits by hand and code at its end."""
    network = load(TEMPLATES / f"{name}.netwright").project.network
    text = source(network, analyse(network), title="t")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    path = folder / "edited.py"
    path.write_text(f"{text}\n{more}\n", encoding="utf-8")
    torch.manual_seed(3)
    state = {
        key: value + torch.rand_like(value) / 99 if value.is_floating_point() else value
        for key, value in build(network, analyse(network)).state_dict().items()
    }
    save_file(state, path.with_suffix(".safetensors"))
    return path


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(trust.GRANTS, json.dumps([str(tmp_path.resolve())]))
    return tmp_path


def imported(path: Path) -> ImportReport:
    return import_file(path, path.with_name("again.netwright"))


def test_without_trust_nothing_runs_and_the_report_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(trust.GRANTS, raising=False)
    mark = tmp_path / "ran"
    report = imported(printed(tmp_path, "mlp", f"open({str(mark)!r}, 'w').close()"))
    assert not mark.exists()
    assert not report.parity.outputs
    (warning,) = report.warnings
    assert "The outputs are not compared with the original" in warning
    assert f"the folder {tmp_path.resolve()} is not trusted" in warning
    assert "--trust" in warning


def check_template(name: str, folder: Path) -> None:
    report = imported(printed(folder, name, "print('this is no JSON')"))
    assert report.parity.agrees, report.warnings
    assert not report.warnings


@pytest.mark.parametrize("name", ["mlp", "lstm_classifier", "seq2seq"])
def test_templates_agree_with_their_source(name: str, trusted: Path) -> None:
    check_template(name, trusted)


@pytest.mark.parity
@pytest.mark.parametrize("name", sorted({path.stem for path in TEMPLATES.glob("*.netwright")} - SLOW))
def test_all_templates_agree_with_their_source(name: str, trusted: Path) -> None:
    check_template(name, trusted)


def test_a_renamed_and_a_wider_layer_agree(trusted: Path) -> None:
    path = printed(trusted, "mlp", "", ("self.fc_1", "self.mine"), ("out_features=10", "out_features=13"))
    report = imported(path)
    assert report.parity.agrees, report.warnings
    assert report.parity.outputs[0].varies
    left, changed = report.notes
    assert left == "2 tensors of edited.safetensors belong to no layer: fc_1.bias, fc_1.weight."
    assert changed.startswith("2 tensors of edited.safetensors have other sizes than the layer and have been left out")
    assert report.weights is not None
    assert not any("13" in str(list(value.shape)) for value in load_file(report.weights).values())


def test_a_class_that_computes_something_else_is_told(trusted: Path) -> None:
    code = "before = Network.forward\nNetwork.forward = lambda self, *given: before(self, *given) + 1.0"
    report = imported(printed(trusted, "mlp", code))
    assert not report.parity.agrees
    assert "differs from the original" in report.warnings[0]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise ValueError('of mine')", "it cannot be imported: ValueError: of mine"),
        ("def broken(self, *given):\n    return given[0] @ given[0]\nNetwork.forward = broken", "it fails on inputs"),
        ("import os\nos._exit(3)", "the process that ran edited.py ended before it was done"),
        ("raise SystemExit(0)", "it cannot be imported: SystemExit"),
    ],
)
def test_a_class_that_fails_leaves_the_import(code: str, words: str, trusted: Path) -> None:
    report = imported(printed(trusted, "mlp", code))
    assert report.project.is_file()
    assert words in report.parity.refusal


def test_the_command_runs_the_class_only_when_it_is_asked_to(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = printed(tmp_path, "mlp", "print('this is no JSON')")
    monkeypatch.setenv(trust.GRANTS, "[]")
    command = ["import", str(path), "-o", str(tmp_path / "again.netwright"), "--force"]
    assert main([*command, "--json"]) == 0
    report = json.loads(capfd.readouterr().out)
    assert not report["agrees"]
    assert not report["samples"]
    assert main([*command, "--json", "--trust"]) == 0
    report = json.loads(capfd.readouterr().out)
    assert report["agrees"]
    assert report["outputs"][0]["layer"]
    assert main([*command, "--trust"]) == 0
    assert "the original agrees over 18 random samples" in capfd.readouterr().out
