"""The export dialog runs the command that a terminal runs, and says how it went."""

from pathlib import Path

import psutil
import pytest
from PySide6.QtWidgets import QDialog

from app.dialogs.export import ExportDialog
from engine.layers.user_code import Custom
from engine.network import edits
from engine.project.data import DataOptions
from engine.project.project import Project
from engine.user_code import trust
from tests.builders import chain, classifier, layer

PATIENCE_MS = 120_000
NET = chain(layer("image_input", size=8), layer("fully_connected", outputs=10), layer("softmax"))


def make(qtbot, project: Project, target: Path, run: Path | None = None) -> ExportDialog:
    dialog = ExportDialog(project, target.parent, run, target)
    dialog.show()
    qtbot.addWidget(dialog, before_close_func=lambda _: dialog.done(0))
    return dialog


def export(qtbot, dialog: ExportDialog) -> str:
    dialog.export_button.click()
    qtbot.waitUntil(lambda: dialog._command is None, timeout=PATIENCE_MS)
    return dialog.outcome.text()


def test_a_fresh_network_leaves_as_onnx_and_as_pytorch(qtbot, tmp_path: Path) -> None:
    dialog = make(qtbot, Project(NET, data=DataOptions(source="digits")), tmp_path / "net.onnx")
    assert not dialog.sources.button(0).isEnabled()
    said = export(qtbot, dialog)
    assert "largest difference" in said
    assert dialog.outcome.property("role") == "good"
    assert dialog.close_button.text() == "Close"
    dialog.formats.button(1).click()
    assert dialog.file.text() == str(tmp_path / "net.py")
    export(qtbot, dialog)
    assert (tmp_path / "net.py").read_text().count("class Network") == 1
    assert (tmp_path / "net.onnx").is_file()


def test_what_cannot_be_exported_is_said_in_words(qtbot, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    dialog = make(qtbot, Project(classifier()), tmp_path / "file" / "net.onnx")
    said = export(qtbot, dialog)
    assert dialog.outcome.property("role") == "error"
    assert "net.onnx" in said or "file" in said
    assert "Traceback" not in said
    assert dialog.export_button.isEnabled()


def test_a_network_with_problems_is_refused(qtbot, tmp_path: Path) -> None:
    dialog = make(qtbot, Project(edits.add_layer(NET, layer("relu"))[0]), tmp_path / "net.onnx")
    said = export(qtbot, dialog)
    assert dialog.outcome.property("role") == "error"
    assert said
    assert not (tmp_path / "net.onnx").exists()


@pytest.mark.parametrize("name", ["", "   "])
def test_a_file_needs_a_name(qtbot, tmp_path: Path, name: str) -> None:
    dialog = make(qtbot, Project(NET), tmp_path / "net.onnx")
    dialog.file.setText(name)
    assert "file" in export(qtbot, dialog)
    assert dialog.outcome.property("role") == "error"


def test_cancel_ends_what_is_under_way(qtbot, tmp_path: Path) -> None:
    dialog = make(qtbot, Project(NET), tmp_path / "net.onnx")
    dialog.export_button.click()
    assert not dialog.export_button.isEnabled()
    assert dialog._command is not None
    process = psutil.Process(dialog._command._process.pid)
    dialog.close_button.click()
    assert dialog.result() == QDialog.DialogCode.Rejected
    qtbot.waitUntil(lambda: not process.is_running())
    assert not (tmp_path / "net.onnx").exists()


def test_code_of_a_project_that_was_not_saved_since_is_found_where_its_file_lies(qtbot, tmp_path: Path) -> None:
    text = "from torch import nn\n\nclass Own(nn.Module):\n    def forward(self, x):\n        return 2 * x\n"
    (tmp_path / "own.py").write_text(text)
    network = chain(layer("feature_input", channels=4), Custom(file="own.py", class_name="Own"))
    dialog = make(qtbot, Project(network), tmp_path / "net.py")
    dialog.formats.button(1).click()
    assert "is not trusted" in export(qtbot, dialog)
    trust.trust(tmp_path)
    said = export(qtbot, dialog)
    assert dialog.outcome.property("role") == "good", said
    assert (tmp_path / "custom_own.py").read_text() == text
    assert "custom_own.Own()" in (tmp_path / "net.py").read_text()


def test_what_is_said_is_never_cut(qtbot, tmp_path: Path) -> None:
    dialog = make(qtbot, Project(NET), tmp_path / "net.onnx")
    qtbot.waitExposed(dialog)
    dialog._say("A long sentence about what came of it. " * 20, "good")
    assert dialog.outcome.height() >= dialog.outcome.heightForWidth(dialog.outcome.width())
    assert dialog.rect().contains(dialog.export_button.geometry())
    assert dialog.outcome.geometry().bottom() < dialog.export_button.geometry().top()
