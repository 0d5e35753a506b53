"""Importing in the window: the dialog, progress and Cancel, errors, the report, and where a file may come from."""

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QTableWidget, QWidget
from pytestqt.qtbot import QtBot

from netwright.app.exchange.import_dialog import ImportDialog, free_name, sizes_in
from netwright.app.exchange.import_report_dialog import ImportReport
from netwright.app.frame.help_dialogs import matching
from netwright.app.window import MainWindow
from netwright.engine.project.file import save
from netwright.engine.project.project import Project, new_identity
from netwright.engine.project.source_note import with_note
from tests.app.fake_server import FakeServer
from tests.app.main_windows import Modal, answer, choose_file, is_enabled, run
from tests.builders import classifier


def report(source: Path, project: Path, **more: Any) -> dict[str, Any]:
    operator = {"operator": "Gemm", "count": 2, "lifted": 2, "folded": 0, "removed": 0, "opaque": 0}
    return {
        "source": str(source),
        "project": str(project),
        "kind": "onnx",
        "layers": 3,
        "parameters": 1234,
        "weights": None,
        "constants": None,
        "producer": "pytorch 2",
        "opset": 17,
        "operators": [{**operator, "layers": {"Fully connected": 2}}],
        "inputs": [{"name": "x", "sizes": "1 x 28 x 28"}],
        "agrees": True,
        "samples": 8,
        "outputs": [{"name": "y", "difference": 1e-6, "spread": 2.0, "agrees": True, "layer": "fc"}],
        "warnings": [],
        "notes": [],
        **more,
    }


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "net.onnx"
    path.write_bytes(b"onnx")
    return path


class Engine(FakeServer):
    """Writes the project of an import, as the engine does."""

    def finish(self, **more: Any) -> None:
        asked = self.waiting[-1].given
        save(Project(classifier(), identity=new_identity()), Path(asked["output"]))
        self.answer("import", report(Path(asked["file"]), Path(asked["output"]), **more))


@pytest.fixture
def server(qtbot: QtBot) -> Engine:
    return Engine()


class Dialogs:
    """Works the dialog of an import, and then that of its report."""

    def __init__(self, server: Engine, **more: Any) -> None:
        self._server, self._more = server, more
        self.said: list[str] = []
        self.tables: list[list[str]] = []
        self.second = Modal(self._read)

    def __call__(self, dialog: QWidget) -> None:
        assert isinstance(dialog, ImportDialog)
        dialog.start()
        self._server.tell("import", 3, 10, "operators")
        self.said.append(dialog.state.text())
        self._server.finish(**self._more)
        self.second.__enter__()

    def _read(self, shown: QWidget) -> None:
        assert isinstance(shown, ImportReport)
        for table in shown.findChildren(QTableWidget):
            self.tables.append([item.text() for item in (table.item(0, j) for j in range(table.columnCount())) if item])
        shown.copy.click()


def test_a_file_becomes_the_open_project_with_a_report(window: MainWindow, server: Engine, source: Path) -> None:
    dialogs = Dialogs(server)
    window.show_tab("data")
    with Modal(dialogs):
        window.bring(source)
    dialogs.second.__exit__()
    assert window.tabs.current == "design", "the report stands before what was imported"
    canvas = window.design.canvas
    assert canvas.visible_area().contains(canvas.network_scene.content_box())
    assert dialogs.said == ["Importing: 30 % (3 of 10 operators)"]
    assert dialogs.tables == [
        ["y", "fc", "1e-6", "2", "yes"],
        ["Gemm", "2", "2 Fully connected"],
        ["x", "1 x 28 x 28"],
    ]
    assert window.documents.path == source.with_name("net.netwright")
    assert window.editor.network == classifier()
    copied = QGuiApplication.clipboard().text()
    assert "Agrees with the original over 8 random samples: largest difference 1e-06." in copied
    assert "Gemm\t2\t2 Fully connected" in copied


def test_the_report_is_found_again_with_its_project(window: MainWindow, server: Engine, source: Path) -> None:
    assert not is_enabled(window, "file.import_report")
    with Modal(Dialogs(server)):
        window.bring(source)
    path = window.documents.path
    assert path is not None
    window.files.new()
    assert not is_enabled(window, "file.import_report")
    window.open_path(path)
    titles: list[str] = []
    with Modal(lambda dialog: titles.append(dialog.windowTitle())):
        run(window, "file.import_report")
    assert titles == ["Import report"]


def test_cancel_ends_the_import_and_leaves_the_open_project(window: MainWindow, server: Engine, source: Path) -> None:
    before = window.editor.project

    def work(dialog: QWidget) -> None:
        assert isinstance(dialog, ImportDialog)
        dialog.start()
        assert not dialog.go.isEnabled()
        dialog.cancel.click()
        assert server.cancelled == ["import"]
        assert dialog.go.isEnabled()
        assert "cancelled" in dialog.state.text()
        dialog.start()

    with Modal(work):  # which closes the dialog while the second import is under way
        window.bring(source)
    assert server.cancelled == ["import", "import"]
    assert window.editor.project is before


def test_an_error_is_said_in_words_and_the_dialog_stays(window: MainWindow, server: Engine, source: Path) -> None:
    def work(dialog: QWidget) -> None:
        assert isinstance(dialog, ImportDialog)
        dialog.start()
        server.refuse("import", "net.onnx is no ONNX file: it ends after 4 bytes.")
        assert dialog.state.text() == "net.onnx is no ONNX file: it ends after 4 bytes."
        assert dialog.isVisible()
        dialog.sizes.setText("height=x")
        dialog.start()
        assert "'height=x' is no size" in dialog.state.text()

    with Modal(work):
        window.bring(source)
    assert server.count("import") == 1


def test_an_existing_project_is_not_replaced_unasked(
    monkeypatch: pytest.MonkeyPatch, window: MainWindow, server: Engine, source: Path
) -> None:
    taken = source.with_name("net.netwright")
    taken.write_text("mine")
    assert free_name(source, source.parent).name == "net_2.netwright"
    asked: list[str] = []

    def refuse(parent: object, title: str, *_: str) -> bool:
        asked.append(title)
        return False

    monkeypatch.setattr("netwright.app.messages.ask", refuse)

    def work(dialog: QWidget) -> None:
        assert isinstance(dialog, ImportDialog)
        dialog.target.setText(str(taken))
        dialog.start()

    with Modal(work):
        window.bring(source)
    assert asked == ["Replace net.netwright?"]
    assert server.count("import") == 0


def test_unsaved_work_is_asked_about_first(
    monkeypatch: pytest.MonkeyPatch, window: MainWindow, server: Engine, source: Path
) -> None:
    window.editor.add_layer("relu")
    answer(monkeypatch, "cancel")
    window.bring(source)
    assert QApplication.activeModalWidget() is None
    assert server.count("import") == 0


def test_open_and_drop_take_networks_of_other_programs(
    monkeypatch: pytest.MonkeyPatch, window: MainWindow, source: Path
) -> None:
    titles: list[str] = []

    def work(dialog: QWidget) -> None:
        titles.append(type(dialog).__name__)

    choose_file(monkeypatch, source)
    with Modal(work):
        run(window, "file.open")
    monkeypatch.setattr("netwright.app.frame.import_commands.QFileDialog.getOpenFileName", lambda *_: (str(source), ""))
    with Modal(work):
        run(window, "file.import")
    with Modal(work):
        drop(window, source)
        QApplication.processEvents()
    assert titles == ["ImportDialog"] * 3
    assert matching("import")[0].id == "file.import"
    assert matching("onnx")[0].id == "file.import"


def drop(window: MainWindow, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    place, none = QPointF(100, 100), Qt.KeyboardModifier.NoModifier
    left, copy = Qt.MouseButton.LeftButton, Qt.DropAction.CopyAction
    window.dragEnterEvent(QDragEnterEvent(place.toPoint(), copy, data, left, none))
    window.dropEvent(QDropEvent(place, copy, data, left, none))


def test_sizes_are_read_from_a_line() -> None:
    assert sizes_in(" height=224 , width=64") == (("height=224", "width=64"), "")
    assert sizes_in("") == ((), "")
    assert sizes_in("height=-1")[1]


def test_differences_and_opaque_operators_are_named(qtbot: QtBot, tmp_path: Path) -> None:
    far = {"name": "y", "difference": None, "spread": 2.0, "agrees": False}
    kept = {"operator": "NonMaxSuppression", "count": 1, "lifted": 0, "folded": 0, "removed": 0, "opaque": 1}
    values = report(tmp_path / "a.onnx", tmp_path / "a.netwright", outputs=[far], operators=[{**kept, "layers": {}}])
    dialog = ImportReport(json.loads(json.dumps(values)))
    qtbot.addWidget(dialog)
    texts = [label.text() for label in dialog.findChildren(QLabel)]
    assert "Differs from the original over 8 random samples: y." in texts
    alone = "1 operator without a layer here: NonMaxSuppression. It runs as in the original, and does not learn."
    assert alone in texts


def test_a_missing_comparison_is_said_once(qtbot: QtBot, tmp_path: Path) -> None:
    why = "The outputs are not compared with the original: Keras is not installed here."
    values = report(tmp_path / "a.keras", tmp_path / "a.netwright", outputs=[], samples=0, warnings=[why])
    dialog = ImportReport(values)
    qtbot.addWidget(dialog)
    texts = [label.text() for label in dialog.findChildren(QLabel)]
    assert [text for text in texts if "compared" in text] == [why]


def test_a_click_on_an_output_leads_to_its_layer(qtbot: QtBot, tmp_path: Path) -> None:
    outputs = [
        {"name": name, "difference": 1.0, "spread": 2.0, "agrees": False, "layer": name[1:]} for name in ("ya", "y")
    ]
    dialog = ImportReport(report(tmp_path / "a.onnx", tmp_path / "a.netwright", outputs=outputs))
    qtbot.addWidget(dialog)
    chosen: list[str] = []
    dialog.layer_chosen.connect(chosen.append)
    table = dialog.findChildren(QTableWidget)[0]
    table.cellClicked.emit(1, 0)  # an output of a report from before, without a layer
    table.cellClicked.emit(0, 2)
    assert chosen == ["a"]


def test_a_file_that_may_be_either_is_asked_about(
    monkeypatch: pytest.MonkeyPatch, window: MainWindow, server: Engine, tmp_path: Path
) -> None:
    path = tmp_path / "net.py"
    path.write_text("")
    monkeypatch.setattr("netwright.app.window.can_import", lambda path: True)
    said = iter(["cancel", "data", "network"])
    monkeypatch.setattr("netwright.app.messages.ask_for_meaning", lambda parent, name: next(said))
    window.bring(path)
    assert server.count("guess") == 0
    window.bring(path)
    assert server.count("guess") == 1
    titles: list[str] = []
    with Modal(lambda dialog: titles.append(dialog.windowTitle())):
        window.bring(path)
    assert titles == ["Import network"]


def test_open_asks_what_a_python_file_is(
    monkeypatch: pytest.MonkeyPatch, window: MainWindow, server: Engine, tmp_path: Path
) -> None:
    path = tmp_path / "net.py"
    path.write_text("")
    asked: list[str] = []

    def meaning(parent: object, name: str) -> str:
        asked.append(name)
        return "cancel"

    monkeypatch.setattr("netwright.app.messages.ask_for_meaning", meaning)
    choose_file(monkeypatch, path)
    run(window, "file.open")
    assert asked == ["net.py"]
    assert server.count("import") == 0


def test_a_class_of_a_python_file_runs_only_where_its_folder_is_trusted(
    monkeypatch: pytest.MonkeyPatch, window: MainWindow, server: Engine, tmp_path: Path
) -> None:
    path = tmp_path / "models.py"
    path.write_text("from torch import nn\nclass Net(nn.Module):\n    pass\nclass Wide(Net):\n    pass\n")
    trusts = iter([False, True])
    asked: list[str] = []

    def trusted(parent: object, names: list[str], folders: list[Path], question: str) -> bool:
        asked.append(question)
        return next(trusts)

    monkeypatch.setattr("netwright.app.messages.ask_to_trust", trusted)

    def work(dialog: QWidget) -> None:
        assert isinstance(dialog, ImportDialog)
        choice = dialog.module.choice
        assert [choice.itemText(at) for at in range(choice.count())] == ["class Net", "class Wide"]
        choice.setCurrentIndex(1)
        dialog.start()
        assert dialog.state.text() == "Say the sizes of the inputs, such as 3x224x224."
        dialog.module.show_values("3x8x8, 12:int64", "width=2")
        dialog.start()
        assert dialog.state.text().startswith("Without trust the file is not run")
        dialog.start()

    with Modal(work):
        window.imports.start(path)
    assert asked == ["To import Wide, models.py has to run. May it?"] * 2
    (request,) = [one for one in server.asked if one.do == "import"]
    assert request.given["file"] == f"{path}:Wide"
    assert request.given["inputs"] == ["3x8x8", "12:int64"]
    assert request.given["arguments"] == "width=2"


def test_exported_source_runs_to_compare_its_numbers_only_after_trust(
    monkeypatch: pytest.MonkeyPatch, window: MainWindow, server: Engine, tmp_path: Path
) -> None:
    path = tmp_path / "net.py"
    path.write_text(with_note("from torch import nn\nclass Network(nn.Module):\n    pass\n", Project(classifier())))
    trusts = iter([False, True])
    asked: list[str] = []

    def trusted(parent: object, names: list[str], folders: list[Path], question: str) -> bool:
        asked.append(question)
        return next(trusts)

    monkeypatch.setattr("netwright.app.messages.ask_to_trust", trusted)

    def work(dialog: QWidget) -> None:
        assert isinstance(dialog, ImportDialog)
        runs = dialog.module.runs
        assert runs.isVisible()
        assert not runs.isChecked()
        for is_checked in (False, True, True, False):
            runs.setChecked(is_checked)
            dialog.start()
            dialog.cancel.click()
        dialog.module.choice.setCurrentIndex(1)
        assert not runs.isVisible()

    def look(dialog: QWidget) -> None:
        assert isinstance(dialog, ImportDialog)
        assert dialog.module.runs.isChecked()

    with Modal(work):
        window.imports.start(path)
    assert asked == ["To compare its numbers, net.py has to run. May it?"] * 2
    requests = [one.given for one in server.asked if one.do == "import"]
    assert [one.get("compares", True) for one in requests] == [True, True, True, False]  # the first two without trust
    assert {one["file"] for one in requests} == {str(path)}
    with Modal(look):
        window.imports.start(path)


def test_exported_source_that_was_edited_has_to_run(
    monkeypatch: pytest.MonkeyPatch, window: MainWindow, server: Engine, tmp_path: Path
) -> None:
    path = tmp_path / "net.py"
    text = with_note("from torch import nn\nclass Network(nn.Module):\n    pass\n", Project(classifier()))
    path.write_text(text.replace("pass", "mine = 1"))
    trusts = iter([False, True])
    asked: list[str] = []

    def trusted(parent: object, names: list[str], folders: list[Path], question: str) -> bool:
        asked.append(question)
        return next(trusts)

    monkeypatch.setattr("netwright.app.messages.ask_to_trust", trusted)

    def work(dialog: QWidget) -> None:
        assert isinstance(dialog, ImportDialog)
        assert not dialog.module.runs.isVisible()
        dialog.start()
        assert dialog.state.text().startswith("Without trust the file is not run")
        dialog.start()

    with Modal(work):
        window.imports.start(path)
    assert asked == ["To import Network, net.py has to run. May it?"] * 2
    (request,) = [one.given for one in server.asked if one.do == "import"]
    assert request["file"] == str(path)
    assert request.get("compares", True)
