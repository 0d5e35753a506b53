"""Models in the rail of the page Runs: opened from a file or by a drop, remembered, asked, registered, removed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAction, QDesktopServices, QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QInputDialog, QLabel
from pytestqt.qtbot import QtBot

from netwright.app.analysis.answers_page import AnswersPage
from netwright.app.analysis.inside_page import InsidePage
from netwright.app.analysis.predict_page import PredictPage
from netwright.app.analysis.robustness_page import RobustnessPage
from netwright.app.analysis.scores_page import ScoresPage
from netwright.app.dialog import Dialog
from netwright.app.history.opened_models import ModelFile, read_opened
from netwright.app.history.runs_page import RunsPage
from netwright.app.window import MainWindow
from netwright.engine.exchange.export import export
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from tests.app.fake_server import FakeServer
from tests.app.history.runs_pages import click, shown
from tests.app.history.sample_runs import made
from tests.app.main_windows import MakeWindow
from tests.app.test_accessible import nameless
from tests.builders import chain, classifier, layer

CARD: dict[str, Any] = {
    "path": "net.onnx",
    "title": "net",
    "kind": "file",
    "origin": ["Weights of net.onnx."],
    "assumed": [],
    "parameters": 41_234,
    "inputs": [{"name": "image", "text": "pixels 0 to 255", "preparation": ["Resized to 8 × 8."], "columns": []}],
    "outputs": [{"name": "softmax_1", "task": "classes", "sizes": [2], "classes": ["cat", "dog"], "columns": []}],
    "layers": [{"path": "image", "type": "image_input", "family": "Input", "layout": "image"}],
}
VERSION: dict[str, Any] = {
    "name": "digits",
    "version": 3,
    "stage": "none",
    "created": None,
    "tags": ["paper"],
    "metrics": {"validation.accuracy": 0.981},
    "lineage": {"source": "a", "run": "Run 3", "data": "abc", "samples": {}, "parent": "digits@2"},
    "notes": [],
    "path": "/registry/digits/3/digits.netwright",
}


@pytest.fixture
def server(qtbot: QtBot) -> FakeServer:
    return FakeServer({"models list": {"registry": "r", "models": []}, "models show": CARD})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "one.netwright"
    save(Project(classifier()), path)
    return path


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.onnx"
    path.write_bytes(b"a stand-in: nothing here reads it")
    return path


@pytest.fixture
def page(qtbot: QtBot, window: MainWindow, project: Path) -> RunsPage:
    made(project.parent, "a", 1)
    window.open_path(project)
    return shown(qtbot, window)


def titles(page: RunsPage) -> list[str]:
    return [row.title for row in page.rail.models.rows.rows]


def click_model(page: RunsPage, title: str) -> None:
    view = page.rail.models.list
    index = view.model().index(titles(page).index(title), 0)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(index).center())


def choose(page: RunsPage, key: str) -> Any:
    page.models.page.segments.choose(key)
    return page.models.page.segments.pages[key]


def asked(server: FakeServer, do: str) -> dict[str, Any]:
    given = [request.given for request in server.asked if request.do == do]
    return given[-1]


def drop(page: RunsPage, path: Path) -> bool:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    button, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, button, keys)
    page.rail.dragEnterEvent(enter)
    if enter.isAccepted():
        drop = QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, button, keys, QEvent.Type.Drop)
        page.rail.dropEvent(drop)
    return enter.isAccepted()


def test_a_file_is_opened_from_the_menu_and_shows_its_card_in_place_of_curves(
    window: MainWindow, page: RunsPage, net: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(net), ""))
    window.show_tab("design")
    window.menus.actions_by_id["file.open_model"].trigger()
    assert titles(page) == ["net.onnx"]
    assert page.pages.currentWidget() is page.models.page
    assert not page.rail.list.selected
    rows = dict(page.models.page.card.rows)
    assert rows["softmax_1"] == "one of the classes, 2\ncat, dog"
    assert rows["image"] == "pixels 0 to 255\nResized to 8 × 8."
    assert (rows["Parameters"], rows["Data"]) == ("41,234", "None of its own")
    texts = [label.text() for label in page.models.page.card.findChildren(QLabel)]
    assert any(text.startswith("A model has no curves") for text in texts)
    assert list(nameless(page.models.page)) == []


def test_a_model_is_remembered_with_its_project_and_removed_by_a_command(
    qtbot: QtBot, window: MainWindow, page: RunsPage, net: Path, tmp_path: Path
) -> None:
    assert drop(page, net)
    qtbot.waitUntil(lambda: titles(page) == ["net.onnx"])
    key = window.documents.key
    assert read_opened(key) == [ModelFile(net)]
    save(Project(classifier()), tmp_path / "two.netwright")
    window.open_path(tmp_path / "two.netwright")
    qtbot.waitUntil(lambda: titles(page) == [])
    window.open_path(tmp_path / "one.netwright")
    qtbot.waitUntil(lambda: titles(page) == ["net.onnx"])
    click_model(page, "net.onnx")
    QTest.keyClick(page.rail.models.list, Qt.Key.Key_Delete)
    assert titles(page) == []
    assert read_opened(key) == []
    assert net.exists()
    assert page.pages.currentWidget() is page.monitor


def test_what_is_no_model_is_left_to_the_window(page: RunsPage, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    assert not drop(page, tmp_path / "data.csv")
    assert titles(page) == []


def test_pages_ask_for_data_and_then_about_it(page: RunsPage, net: Path, server: FakeServer, tmp_path: Path) -> None:
    page.models.open(net)
    scores = choose(page, "scores")
    assert isinstance(scores, ScoresPage)
    assert scores.message.text().startswith("net.onnx has no data of its own. Choose data above")
    assert server.count("evaluate") == 0
    robustness = choose(page, "robustness")
    assert isinstance(robustness, RobustnessPage)
    assert "has no data of its own" in robustness.message.text()
    page.models.page.use_data(str(tmp_path / "pets"))
    assert asked(server, "robustness")["data"] == str(tmp_path / "pets")
    choose(page, "scores")
    question = asked(server, "evaluate")
    assert (question["model"], question["data"]) == (str(net), str(tmp_path / "pets"))
    assert "split" not in question
    assert not scores.data.isVisible()
    inside = choose(page, "explain")
    assert isinstance(inside, InsidePage)
    assert inside.method.currentData() == "gradcam"
    assert inside.facts.classes == ["cat", "dog"]
    assert not inside.split.isVisible()
    assert asked(server, "explain")["data"] == str(tmp_path / "pets")
    predict = choose(page, "predict")
    assert isinstance(predict, PredictPage)
    assert asked(server, "predictor")["path"] == str(net)
    assert not predict.onnx_button.isVisible()
    assert titles(page) == ["net.onnx"]
    assert page.rail.models.rows.rows[0].about == "ONNX · on pets"
    server.refuse("evaluate", "pets has no pictures.")
    choose(page, "scores")
    assert scores.message.text() == "pets has no pictures."


def test_the_data_of_the_project_is_read_as_the_project_reads_it(
    window: MainWindow, page: RunsPage, net: Path, server: FakeServer, tmp_path: Path
) -> None:
    project = window.editor.project
    data = project.data.replace(source="table", path="houses.csv", response="price", split="ordered")
    window.editor.apply("data", replace(project, data=data))
    page.models.open(net)
    choose(page, "scores")
    page.models.page.use_project_data()
    question = asked(server, "evaluate")
    assert question["data"] == str(tmp_path / "houses.csv")
    assert {"data.source=table", "data.response=price", "data.split=ordered"} <= set(question["settings"])


def test_a_file_that_cannot_be_read_says_why(page: RunsPage, net: Path, server: FakeServer) -> None:
    del server.answers["models show"]
    page.models.open(net)
    assert page.models.page.message == "Reading the model…"
    server.refuse("models show", "net.onnx is damaged. Export it again.")
    assert page.models.page.message == "net.onnx is damaged. Export it again."
    assert not page.models.page.choose.isEnabled()


def test_weights_alone_are_those_of_the_open_network(
    window: MainWindow, page: RunsPage, server: FakeServer, tmp_path: Path, errors: list[tuple[str, str]]
) -> None:
    (tmp_path / "own.safetensors").write_bytes(b"weights")
    page.models.open(tmp_path / "own.safetensors")
    path = Path(asked(server, "models show")["model"])
    project = load(path).project
    assert path.name == "own.netwright"
    assert project.weights.file == str(tmp_path / "own.safetensors")
    assert project.network == window.editor.network
    window.files.new()
    window.show_tab("runs")
    page.models.open(tmp_path / "own.safetensors")
    assert "Open the project of their network first" in errors[-1][1]


def test_a_run_and_a_model_are_chosen_in_turn(page: RunsPage, net: Path) -> None:
    page.models.open(net)
    click(page, "a")
    assert page.pages.currentWidget() is page.monitor
    assert page.rail.models.selected is None
    click_model(page, "net.onnx")
    assert page.pages.currentWidget() is page.models.page
    page.show_segment("scores")
    assert page.models.page.segments.current == "scores"
    assert page.pages.currentWidget() is page.models.page


def test_the_registry_is_listed_and_changed(
    qtbot: QtBot, page: RunsPage, server: FakeServer, net: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = {**VERSION, "version": 2, "path": "/registry/digits/2/digits.netwright"}
    served = {**older, "version": 1, "stage": "production", "path": "/registry/digits/1/digits.netwright"}
    server.answers["models list"] = {"registry": "r", "models": [VERSION, older, served]}
    page.models.look()
    assert titles(page) == ["digits@3", "digits@1"], "an older one without a stage is left to models list"
    assert [row.about for row in page.rail.models.rows.rows] == ["Registered", "Registered · Production"]
    assert page.rail.models.rows.rows[0].figure == "98.1 %"
    server.answers["models show"] = {**CARD, "registered": VERSION, "data": "digits.csv"}
    click_model(page, "digits@3")
    rows = dict(page.models.page.card.rows)
    assert (rows["Version"], rows["Parent"], rows["From"]) == ("digits@3", "digits@2", "Run 3")
    menu = page.rail.models.menu
    menu.aboutToShow.emit()
    texts = [action.text() for action in menu.actions() if action.text()]
    assert texts == ["Export report…", "Export network…", "Compare with", "Stage", "Open folder"]
    next(action for action in menu.findChildren(QAction) if action.text() == "Staging").trigger()
    assert asked(server, "models promote") == {"version": "digits@3", "stage": "staging"}
    monkeypatch.setattr(QInputDialog, "getText", lambda *_, **__: ("pets", True))
    page.models.register(net)
    assert asked(server, "models register") == {"model": str(net), "name": "pets"}
    before = server.count("models list")
    server.answer("models register", {**VERSION, "name": "pets", "version": 1})
    assert server.count("models list") == before + 1


def triggered(page: RunsPage, text: str) -> None:
    """Choose an action of the menu of the model that is selected, or of a menu in it."""
    menu = page.rail.models.menu
    menu.aboutToShow.emit()
    next(action for action in menu.findChildren(QAction) if action.text() == text).trigger()


def test_a_model_is_reported_exported_and_compared(
    page: RunsPage, server: FakeServer, net: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = net.with_name("other.onnx")
    other.touch()
    page.models.open(other)
    page.models.open(net)
    page.models.page.use_data(str(tmp_path / "new.csv"))
    names = iter(["net.html", "copy"])
    kind = "torch.export (*.pt2)"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / next(names)), kind))
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    data = str(tmp_path / "new.csv")
    triggered(page, "Export report…")
    assert asked(server, "report") == {"model": str(net), "output": str(tmp_path / "net.html"), "data": data}
    server.answer("report", {"missing": ""})
    assert opened == [str(tmp_path / "net.html")]
    triggered(page, "Export network…")
    assert asked(server, "export") == {"source": str(net), "output": str(tmp_path / "copy.pt2")}
    server.answer("export", {"path": "copy.pt2", "largest_difference": None, "notes": []})
    triggered(page, "other.onnx")
    assert asked(server, "evaluate") == {"model": str(net), "against": str(other), "data": data}
    server.refuse("evaluate", "The file is damaged.")
    comparison = page.window().findChild(AnswersPage)
    assert comparison is not None
    assert comparison.message.text() == "The file is damaged."
    dialog = comparison.window()
    assert isinstance(dialog, Dialog)
    dialog.close()


def test_a_model_is_evaluated_by_the_real_engine(qtbot: QtBot, make_window: MakeWindow, tmp_path: Path) -> None:
    rows = [f"{n / 7},{n % 5},{('no', 'yes')[n % 2]}" for n in range(60)]
    (tmp_path / "a.csv").write_text("\n".join(["a,b,y", *rows]) + "\n")
    network = chain(layer("feature_input", channels=2), layer("fully_connected", outputs=2), layer("softmax"))
    project = Project(network)
    data = project.data.replace(source="table", path=str(tmp_path / "a.csv"), response="y")
    save(replace(project, data=data), tmp_path / "one.netwright")
    export(tmp_path / "one.netwright", "onnx", tmp_path / "net.onnx")
    window = make_window()
    window.open_path(tmp_path / "one.netwright")
    page = shown(qtbot, window)
    page.models.open(tmp_path / "net.onnx")
    model_page = page.models.page
    qtbot.waitUntil(lambda: bool(model_page.card.rows) or model_page.message not in ("", "Reading the model…"))
    assert model_page.message == ""
    assert "no, yes" in "; ".join(text for _, text in model_page.card.rows)
    scores = choose(page, "scores")
    model_page.use_project_data()
    qtbot.waitUntil(lambda: bool(scores.cards) or "data" not in scores.message.text())
    qtbot.waitUntil(lambda: bool(scores.cards), timeout=60_000)
    assert scores.state.text().startswith("60 samples of the")
    QApplication.processEvents()
