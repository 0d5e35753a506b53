"""The export dialog runs the command that a terminal runs, and says how it went."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QApplication, QDialog

from netwright.app.exchange.export_dialog import ExportDialog
from netwright.app.exchange.export_weights import NOT_YET, OTHER, RESULT, UNTRAINED
from netwright.app.processes import EngineServer
from netwright.app.shell import select_layer
from netwright.app.window import MainWindow
from netwright.engine.layers.custom_layers import Custom
from netwright.engine.network import edits
from netwright.engine.project.data import DataOptions
from netwright.engine.project.export_options import CHECK, CONTENT, NUMBERS, SHAPES
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.runs.events import Best
from netwright.engine.runs.folder import RunFolder, update_info
from netwright.engine.runs.notes import write_notes
from netwright.engine.user_code import trust
from tests.builders import chain, classifier, layer
from tests.engine.exchange.test_export import run_of

PATIENCE_MS = 120_000
NET = chain(layer("image_input", size=8), layer("fully_connected", outputs=10), layer("softmax"))


@pytest.fixture(scope="module")
def engine(qapp: QApplication) -> Iterator[EngineServer]:
    """The real engine, which takes seconds to start, with a home of its own."""
    server = EngineServer()
    ready = QSignalSpy(server.ready)
    server.start()
    assert ready.wait(PATIENCE_MS)
    yield server
    server.close()


@pytest.fixture(autouse=True)
def _served(engine: EngineServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExportDialog, "server", engine, raising=False)


def make(qtbot, project: Project, target: Path, run: Path | None = None) -> ExportDialog:
    dialog = ExportDialog(project, target.parent, run, target)
    dialog.show()
    qtbot.addWidget(dialog, before_close_func=lambda _: dialog.done(0))
    return dialog


def export(qtbot, dialog: ExportDialog) -> str:
    dialog.export_button.click()
    qtbot.waitUntil(lambda: dialog._request is None, timeout=PATIENCE_MS)
    return dialog.outcome.text()


def test_a_fresh_network_leaves_as_onnx_and_as_pytorch(qtbot, tmp_path: Path) -> None:
    """With options, the table of what they cost, and code that feeds the file."""
    dialog = make(qtbot, Project(NET, data=DataOptions(source="digits")), tmp_path / "net.onnx")
    assert not dialog.weights.group.button(0).isEnabled()
    text = "image_1: pixels 0 to 16, float32, N × 1 × 8 × 8 (batch, channel, height, width)"
    assert text in dialog.takes.text()
    assert not dialog.copy_button.isVisible()
    assert not dialog.report.isVisible()
    dialog.options.set_value("precision", "float16")
    dialog.options.set_value("opset", 17)
    said = export(qtbot, dialog)
    assert "In float16 it differs by at most" in said
    assert "samples of the test data" in said
    names = [dialog.report.model().index(line, 0).data() for line in range(dialog.report.rowCount())]
    assert names == ["torch, float32", "ONNX Runtime, float32", "ONNX Runtime, float16"]
    assert dialog.outcome.property("role") == "good"
    assert dialog.close_button.text() == "Close"
    assert text in dialog.takes.text()
    assert "Classes, in order: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9." in dialog.takes.text()
    dialog.copy_button.click()
    code = QGuiApplication.clipboard().text()
    process = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    assert len(process.stdout.splitlines()) == 3
    dialog.formats.button(1).click()
    assert not dialog.options.isVisible()
    assert dialog.file.text() == str(tmp_path / "net.py")
    export(qtbot, dialog)
    assert (tmp_path / "net.py").read_text().count("class Network") == 1
    assert (tmp_path / "net.onnx").is_file()


def test_the_height_follows_the_format_unless_the_user_chose_it(qtbot, tmp_path: Path) -> None:
    dialog = make(qtbot, Project(NET), tmp_path / "net.onnx")
    start = dialog.height()
    for group in (NUMBERS, SHAPES, CONTENT, CHECK):
        dialog.options.set_folded(group, False)
    tall = dialog.height()
    assert tall > start + 100
    assert dialog.screen().availableGeometry().contains(dialog.frameGeometry())
    dialog.formats.button(1).click()
    assert dialog.height() < start + 50
    dialog.formats.button(0).click()
    assert dialog.height() == pytest.approx(tall, abs=4)
    dialog.resize(dialog.width(), tall + 100)
    dialog.formats.button(1).click()
    assert dialog.height() == tall + 100


def test_differences_layer_by_layer_are_shown_and_a_click_names_the_layer(qtbot, tmp_path: Path) -> None:
    dialog = make(qtbot, Project(NET), tmp_path / "net.onnx")
    rows = [
        {"layer": name, "difference": 1.0, "relative": "Infinity", "agrees": not bad, "is_first": bad, "absorbed": []}
        for name, bad in (("conv_1", False), ("stage/conv_2", True))
    ]
    dialog.report.show_layers(rows)
    assert dialog.report.selectionModel().selectedRows()[0].row() == 1
    with qtbot.waitSignal(dialog.layer_chosen) as chosen:
        dialog.report.cellClicked.emit(1, 0)
    assert chosen.args == ["stage/conv_2"]


def test_a_long_report_leaves_the_buttons_on_the_screen(qtbot, tmp_path: Path) -> None:
    dialog = make(qtbot, Project(NET), tmp_path / "net.onnx")
    row = {"difference": 1.0, "relative": 1.0, "agrees": False, "is_first": False, "absorbed": []}
    dialog.report.show_layers([{"layer": f"conv_{number}", **row} for number in range(40)])
    dialog._on_failed("The network gives other numbers than torch. " * 3)
    assert dialog.screen().availableGeometry().contains(dialog.frameGeometry())
    viewport = dialog.area.viewport()
    qtbot.waitUntil(lambda: viewport.rect().contains(dialog.outcome.mapTo(viewport, dialog.outcome.rect().center())))


def test_the_folder_of_the_file_is_opened(qtbot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def open_url(url: QUrl) -> bool:
        opened.append(url.toLocalFile())
        return True

    monkeypatch.setattr("netwright.app.exchange.export_dialog.QDesktopServices.openUrl", open_url)
    dialog = make(qtbot, Project(NET, data=DataOptions(source="digits")), tmp_path / "net.py")
    dialog.formats.button(1).click()
    export(qtbot, dialog)
    dialog.folder_button.click()
    assert opened == [str(tmp_path)]


def test_files_that_would_be_replaced_are_asked_about(qtbot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    answers = [False, True]

    def ask(_: object, title: str, *rest: str) -> bool:
        asked.append(title)
        return answers.pop(0)

    monkeypatch.setattr("netwright.app.messages.ask", ask)
    run = run_of(project_of_digits(tmp_path), tmp_path / "run")
    dialog = make(qtbot, Project(NET, data=DataOptions(source="digits")), tmp_path / "net.py", run.path)
    dialog.formats.button(1).click()
    (tmp_path / "net.py").write_text("mine")
    (tmp_path / "net.safetensors").write_text("mine")
    assert export(qtbot, dialog) == "No file was written."
    assert asked == ["Replace net.py and net.safetensors?"]
    assert (tmp_path / "net.safetensors").read_text() == "mine"
    assert "Wrote" in export(qtbot, dialog)
    assert (tmp_path / "net.safetensors").stat().st_size > 4


def test_best_and_last_weights_of_a_run_can_be_chosen(qtbot, tmp_path: Path) -> None:
    run = run_of(project_of_digits(tmp_path), tmp_path / "run")
    dialog = make(qtbot, Project(NET), tmp_path / "net.py", run.path)
    shown = [button for button in dialog.weights.group.buttons() if button.isVisible()]
    assert [button.text() for button in shown] == ["Best", "Last", "Untrained"]
    assert shown[0].isChecked()
    assert "pixels 0 to 16" in dialog.takes.text()
    dialog.weights.group.button(2).click()
    assert dialog.scripts.training.isHidden()
    dialog.formats.button(1).click()
    assert not dialog.scripts.training.isHidden()
    dialog.scripts.training.setChecked(True)
    said = export(qtbot, dialog)
    assert "last iteration" in said
    assert "The training script is train_net.py" in said
    assert (tmp_path / "train_net.py").is_file()


def test_a_network_of_tokens_leaves_with_a_script_that_writes_on(qtbot, tmp_path: Path) -> None:
    network = chain(
        layer("sequence_input", content="indices"),
        layer("embedding", vocabulary=9, dimension=4),
        layer("fully_connected", outputs=9),
    )
    (tmp_path / "generate_net.py").write_text("mine")
    dialog = make(qtbot, Project(network), tmp_path / "net.onnx")
    box = dialog.scripts.generation
    assert not box.isHidden()
    box.setChecked(True)
    assert [path.name for path in dialog._files_beside(tmp_path / "net.onnx")] == ["generate_net.py"]
    (tmp_path / "generate_net.py").unlink()
    assert "weights" in export(qtbot, dialog)  # the engine refuses a network that has none to write on with
    assert not (tmp_path / "net.onnx").exists()
    dialog.formats.button(2).click()
    assert box.isHidden()
    assert not dialog.scripts.has_generation
    assert make(qtbot, Project(NET), tmp_path / "net.onnx").scripts.generation.isHidden()


def test_the_weights_follow_a_run_that_ends_behind_the_dialog(
    qtbot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dialog was opened while the run trained; a choice that was made by hand stays."""
    run = run_of(project_of_digits(tmp_path), tmp_path / "run")
    shown: list[RunFolder] = [RunFolder(tmp_path / "new")]
    shown[0].path.mkdir()
    update_info(shown[0], state="running", name="net", number=7)
    monkeypatch.setattr(type(window.training), "run_folder", property(lambda self: shown[0]))
    dialog = make(qtbot, Project(NET), tmp_path / "net.py", shown[0].path)
    dialog.follow(window.training)
    result, other, untrained = (dialog.weights.group.button(id) for id in (RESULT, OTHER, UNTRAINED))
    assert (result.isEnabled(), other.isVisible(), untrained.isChecked()) == (False, False, False)
    dialog.start()
    assert dialog.outcome.text() == "Choose the weights to write.", "initial weights are not for a run"
    assert dialog.weights.text(RESULT) == NOT_YET.format(run="Run 7 · sgdm, 0.01")
    shutil.copytree(run.best, shown[0].best)
    window.training.received.emit(Best(iteration=3, objective="loss", value=0.5))
    assert (result.isEnabled(), other.isVisible(), result.isChecked()) == (True, False, True)
    assert dialog.weights.kept == "best"
    shutil.copytree(run.last, shown[0].last)
    window.training.state_changed.emit()
    assert other.isVisible()
    other.click()
    window.training.state_changed.emit()
    assert dialog.weights.kept == "last"
    shown[0] = run
    window.training.run_shown.emit()
    assert dialog.weights.run == run
    dialog.reject()


def test_a_run_is_called_by_its_name(qtbot, tmp_path: Path) -> None:
    run = run_of(project_of_digits(tmp_path), tmp_path / "2026-11-23_12-00-00_net")
    write_notes(run, run_name="wider, two blocks")
    dialog = make(qtbot, Project(NET), tmp_path / "net.py", run.path)
    assert dialog.weights.text(RESULT) == "The best validation result of wider, two blocks"


def test_a_folder_that_is_not_there_is_told_before_the_export(qtbot, tmp_path: Path) -> None:
    dialog = make(qtbot, Project(NET), tmp_path / "nowhere" / "net.onnx")
    dialog.export_button.click()
    assert dialog._request is None
    assert dialog.outcome.text().replace("\u200b", "") == (
        f"The folder {tmp_path / 'nowhere'} does not exist. Make it first, or name another one."
    )


def project_of_digits(folder: Path) -> Path:
    save(Project(NET, data=DataOptions(source="digits")), folder / "digits.netwright")
    return folder / "digits.netwright"


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


def test_cancel_ends_what_is_under_way(qtbot, engine: EngineServer, tmp_path: Path) -> None:
    dialog = make(qtbot, Project(NET), tmp_path / "net.onnx")
    dialog.export_button.click()
    assert not dialog.export_button.isEnabled()
    assert engine._child is not None
    parent = psutil.Process(engine._child.process.pid)
    qtbot.waitUntil(lambda: bool(parent.children()), timeout=PATIENCE_MS)
    process = parent.children()[0]
    dialog.close_button.click()
    assert dialog.result() == QDialog.DialogCode.Rejected
    qtbot.waitUntil(lambda: not process.is_running())
    assert not (tmp_path / "net.onnx").exists()


def test_code_of_a_project_that_was_not_saved_since_is_found_where_its_file_lies(
    qtbot, engine: EngineServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert engine._child is not None
    home = psutil.Process(engine._child.process.pid).environ()
    monkeypatch.setenv("XDG_CONFIG_HOME", home["XDG_CONFIG_HOME"])
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


def test_a_layer_of_the_table_is_selected_on_the_canvas(window: MainWindow) -> None:
    window.editor.open(Project(classifier()))
    select_layer(window, "fc_1")
    assert window.editor.selection == {window.editor.network.by_name["fc_1"].id}
    select_layer(window, "gone/fc_1")
    assert window.editor.selection == {window.editor.network.by_name["fc_1"].id}
