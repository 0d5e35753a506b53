"""The main window with a stand-in for the engine: menus, documents, tabs, hints, closing."""

import re
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QPushButton, QToolButton

from app import messages
from app.documents import EXAMPLES
from app.frame.actions import ACTIONS, MENUS
from app.frame.bottom_panel import SETTLE_MS
from app.frame.help_dialogs import CommandFinder
from app.runs.monitor import Monitor
from app.window import MainWindow
from designer import theme
from engine.core.folders import state_folder
from engine.project.file import load, save
from engine.project.project import Project
from tests.app.fake_server import FakeServer
from tests.app.windows import MakeWindow, Modal
from tests.builders import classifier

DIGITS = EXAMPLES / "digits.netwright"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Titles of documents that the window asked about; the answer is always to stay."""
    titles: list[str] = []

    def ask(parent: object, title: str) -> str:
        titles.append(title)
        return "cancel"

    monkeypatch.setattr(messages, "ask_to_save", ask)
    return titles


@pytest.fixture
def errors(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    said: list[tuple[str, str]] = []
    monkeypatch.setattr(messages, "show_error", lambda parent, title, text: said.append((title, text)))
    return said


def answer(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(messages, "ask_to_save", lambda parent, title: text)


def choose_file(monkeypatch: pytest.MonkeyPatch, path: Path | str) -> None:
    for name in ("getSaveFileName", "getOpenFileName"):
        monkeypatch.setattr(f"app.frame.document_commands.QFileDialog.{name}", lambda *_: (str(path), ""))


def entries(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if action.text()]


def is_enabled(window: MainWindow, id: str) -> bool:
    return window.menus.actions_by_id[id].isEnabled()


def run(window: MainWindow, id: str) -> None:
    assert is_enabled(window, id)
    window.menus.actions_by_id[id].trigger()


# ---- menus and toolbar ----


def test_menus_hold_the_table_in_order(window: MainWindow) -> None:
    assert tuple(action.text() for action in window.menuBar().actions()) == tuple(f"&{name}" for name in MENUS)
    for name, menu in window.menus.by_name.items():
        wanted = [row.text for row in ACTIONS if row.menu == name and not row.submenu]
        assert [text for text in entries(menu) if text in wanted] == wanted
    assert entries(window.menus.by_name["File"])[3:5] == ["Open recent", "Open an example"]


def test_the_toolbar_holds_what_the_table_says(window: MainWindow) -> None:
    shown = [button.defaultAction().objectName() for button in window.bar.findChildren(QToolButton)]
    assert shown == [row.id for row in ACTIONS if row.in_toolbar]
    tips = {row.id: window.menus.actions_by_id[row.id].toolTip() for row in ACTIONS}
    assert all(row.shortcut in tips[row.id] for row in ACTIONS)


def test_a_shortcut_reaches_its_action(qtbot, window: MainWindow) -> None:
    window.design.canvas.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_2, Qt.KeyboardModifier.AltModifier)
    assert window.tabs.stack.currentWidget() is not window.design.canvas
    qtbot.keyClick(window, Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    assert window.tabs.stack.currentWidget() is window.design.canvas


def test_actions_follow_what_can_be_done(window: MainWindow) -> None:
    assert not is_enabled(window, "view.fit")
    window.editor.add_layer("image_input")
    assert is_enabled(window, "edit.undo")
    assert is_enabled(window, "edit.delete")
    run(window, "edit.delete")
    assert not is_enabled(window, "edit.delete")
    run(window, "edit.undo")
    assert len(window.editor.network) == 1


def test_a_selected_connection_can_be_deleted_from_the_menu(window: MainWindow) -> None:
    window.open_path(DIGITS)
    before = len(window.editor.network.connections)
    window.editor.set_selection((), [next(iter(window.editor.network.connections))])
    run(window, "edit.delete")
    assert len(window.editor.network.connections) == before - 1


# ---- documents ----


def test_open_edit_save(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "net.netwright"
    save(load(DIGITS).project, path)
    window.open_path(path)
    assert window.windowTitle() == "net.netwright — Netwright"
    window.editor.add_layer("relu")
    assert window.windowTitle() == "net.netwright • — Netwright"
    assert window.menuBar().cornerWidget() is None, "the name is in the title, and once is enough"
    run(window, "file.save")
    assert window.windowTitle() == "net.netwright — Netwright"
    assert load(path).project == window.documents.identified(window.editor.project)
    run(window, "edit.undo")
    assert "•" in window.windowTitle()
    run(window, "edit.redo")
    assert "•" not in window.windowTitle()


def test_saving_an_example_asks_where(window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = DIGITS.read_bytes()
    window.open_path(DIGITS)
    choose_file(monkeypatch, tmp_path / "mine")
    run(window, "file.save")
    assert load(tmp_path / "mine.netwright").project.network == window.editor.network
    assert window.documents.title == "mine.netwright"
    assert DIGITS.read_bytes() == before


def test_a_save_that_fails_says_why_and_keeps_the_star(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, errors: list[tuple[str, str]]
) -> None:
    window.editor.add_layer("relu")
    choose_file(monkeypatch, tmp_path / "none" / "x.netwright")
    assert window.files.save() is False
    ((title, text),) = errors
    assert title == "The project cannot be saved"
    assert "cannot be written" in text
    assert window.editor.is_modified


@pytest.mark.parametrize("content", ['{"netwright": [1, 0', '{"netwright": [9, 0]}', "\x00\x01", ""])
def test_a_broken_file_says_why_and_keeps_the_open_document(
    window: MainWindow, tmp_path: Path, errors: list[tuple[str, str]], content: str
) -> None:
    window.open_path(DIGITS)
    before = window.editor.project
    (tmp_path / "bad.netwright").write_text(content)
    window.open_path(tmp_path / "bad.netwright")
    ((title, text),) = errors
    assert title == "The project cannot be opened"
    assert "bad.netwright" in text
    assert "Traceback" not in text
    assert window.editor.project is before
    assert window.documents.title == "digits"


def test_recent_files_and_examples_can_be_opened_from_their_menus(window: MainWindow, tmp_path: Path) -> None:
    window.menus.recent.aboutToShow.emit()
    assert entries(window.menus.recent) == ["No project was opened yet"]
    path = tmp_path / "net.netwright"
    save(load(DIGITS).project, path)
    window.open_path(path)
    window.menus.examples.aboutToShow.emit()
    assert entries(window.menus.examples) == ["digits", "heating", "power", "shapes", "waves"]
    window.menus.examples.actions()[1].trigger()
    assert window.documents.title == "heating"
    window.menus.recent.aboutToShow.emit()
    assert entries(window.menus.recent) == ["net"]
    window.menus.recent.actions()[0].trigger()
    assert window.documents.path == path


def test_a_new_project_is_empty_and_untitled(window: MainWindow) -> None:
    window.open_path(DIGITS)
    run(window, "file.blank")
    assert window.windowTitle() == "untitled — Netwright"
    assert len(window.editor.network) == 0


def test_opening_the_same_project_again_knows_its_data(qtbot, window: MainWindow, server: FakeServer) -> None:
    facts = {
        "inputs": [{"name": "image", "axes": ["C", "H", "W"], "sizes": [1, 8, 8], "kind": "real"}],
        "samples": {"training": 10, "validation": 1, "test": 1},
        "targets": [
            {"name": "y", "axes": ["C"], "sizes": [2], "kind": "real", "task": "classes", "classes": ["a", "b"]},
        ],
        "notes": [],
    }
    window.open_path(DIGITS)
    server.answer("facts", facts)
    assert window.editor.dataset_info is not None
    window.open_path(DIGITS)
    assert window.editor.dataset_info is not None
    assert server.count("facts") == 1


# ---- tabs and panels ----


def test_the_panels_go_with_the_design_tab_and_come_back(window: MainWindow) -> None:
    window.design.docks[1].hide()
    run(window, "view.train")
    assert [dock.isVisible() for dock in window.design.docks] == [False, False, False]
    assert not window.menus.panels.isEnabled()
    run(window, "view.data")
    run(window, "view.design")
    assert [dock.isVisible() for dock in window.design.docks] == [True, False, True]
    assert window.menus.panels.isEnabled()


def test_a_small_window_holds_everything(qtbot, window: MainWindow) -> None:
    window.open_path(DIGITS)
    for tab in ("data", "train", "design"):
        window.show_tab(tab)
    window.hint("A very long hint that goes on and on. " * 12)
    window.resize(1000, 640)
    qtbot.waitUntil(lambda: window.width() == 1000)
    edge = window.design.properties.mapTo(window, QPoint(window.design.properties.width(), 0)).x()
    assert edge <= window.width()
    assert window.design.palette.width() >= 200
    train = window.bar.train
    assert train.mapTo(window, QPoint(train.width(), 0)).x() <= window.width()


def test_a_problem_leads_to_its_layer(window: MainWindow) -> None:
    window.open_path(DIGITS)
    layer = window.editor.network.layer("conv_2")
    window.design.problems.go_to.emit(layer.id)
    assert window.editor.selection == {layer.id}


def test_counts_stand_in_the_tabs_and_the_status_bar(window: MainWindow) -> None:
    window.open_path(DIGITS)
    assert window.design.bottom.tabText(0) == "Problems"
    assert "12,650 parameters" in window.status.summary.text()
    connection = next(iter(window.editor.network.connections))
    window.editor.disconnect_all([connection])
    assert window.design.bottom.tabText(0) == f"Problems {len(window.editor.problems)}"
    assert window.status.errors.text() == "1 error"
    window.show_tab("data")
    window.design.bottom.setCurrentIndex(1)
    window.status.errors.click()
    assert window.design.bottom.currentIndex() == 0
    window.editor.undo()
    assert window.status.errors.isHidden()


def test_the_panel_of_problems_is_one_line_high_while_there_are_none(window: MainWindow, qtbot) -> None:
    window.open_path(DIGITS)
    window.show()
    bottom = window.design.bottom
    one_line = bottom.tabBar().sizeHint().height()
    qtbot.waitUntil(lambda: bottom.height() == one_line)
    assert bottom.summary.text() == "No problems"
    window.editor.disconnect_all([next(iter(window.editor.network.connections))])
    qtbot.waitUntil(lambda: not bottom.is_folded)
    qtbot.waitUntil(lambda: bottom.height() > 2 * one_line)
    assert window.design.problems.view.isVisible()
    canvas = window.design.canvas.height()
    window.editor.undo()
    qtbot.waitUntil(lambda: bottom.is_folded)
    qtbot.waitUntil(lambda: window.design.canvas.height() > canvas + one_line)


def test_a_panel_of_problems_that_the_user_folds_stays_folded_and_shows_the_first(window: MainWindow, qtbot) -> None:
    window.open_path(DIGITS)
    window.show()
    bottom = window.design.bottom
    window.editor.disconnect_all([next(iter(window.editor.network.connections))])
    qtbot.waitUntil(lambda: not bottom.is_folded)
    bottom.fold_button.click()
    first = window.editor.problems[0]
    assert bottom.is_folded
    assert first.message in bottom.summary.text()
    window.editor.disconnect_all([next(iter(window.editor.network.connections))])
    window.status.errors.click()  # which asks for the list
    assert not bottom.is_folded
    bottom.fold_button.click()
    window.editor.undo()
    qtbot.wait(2 * SETTLE_MS)  # nothing else tells that nothing happens
    assert bottom.is_folded
    qtbot.mouseClick(bottom.tabBar(), Qt.MouseButton.LeftButton, pos=bottom.tabBar().tabRect(1).center())
    assert (bottom.currentIndex(), bottom.is_folded) == (1, False)


def test_one_layer_is_no_plural_and_the_chosen_tab_is_read_whole(window: MainWindow) -> None:
    window.editor.add_layer("image_input")
    assert window.status.summary.text().startswith("1 layer ")
    for button in window.bar.findChildren(QPushButton):
        if button.isCheckable():
            button.setChecked(True)
            assert button.width() - button.fontMetrics().horizontalAdvance(button.text()) >= 22  # padding, border


# ---- hints ----


def test_a_refused_action_says_why(window: MainWindow) -> None:
    clipboard = QApplication.clipboard()
    clipboard.setText("no layers")
    run(window, "edit.paste")
    assert "clipboard" in window.status.hints.text().lower()


def test_a_long_hint_moves_nothing(qtbot, window: MainWindow) -> None:
    window.open_path(DIGITS)
    labels: tuple[QLabel, ...] = (window.status.summary, window.status.engine)
    before = [label.geometry() for label in labels]
    window.hint("A long hint. " * 60)
    qtbot.waitUntil(lambda: window.status.hints.is_elided)
    assert [label.geometry() for label in labels] == before
    assert window.status.hints.toolTip().startswith("A long hint. A long hint.")


# ---- closing ----


def test_closing_with_unsaved_work_asks(window: MainWindow, asked: list[str]) -> None:
    window.open_path(DIGITS)
    window.editor.add_layer("relu")
    assert window.close() is False
    assert asked == ["digits"]
    assert window.isVisible()


def test_unsaved_work_can_be_given_up(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    window.editor.add_layer("relu")
    answer(monkeypatch, "discard")
    assert window.close() is True


def test_unsaved_work_can_be_saved_on_the_way_out(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    window.editor.add_layer("relu")
    answer(monkeypatch, "save")
    choose_file(monkeypatch, "")
    assert window.close() is False, "the file dialog was cancelled"
    choose_file(monkeypatch, tmp_path / "out.netwright")
    assert window.close() is True
    assert len(load(tmp_path / "out.netwright").project.network) == 1


def test_nothing_to_save_nothing_to_ask(window: MainWindow, asked: list[str]) -> None:
    window.open_path(DIGITS)
    assert window.close() is True
    assert asked == []


@pytest.mark.parametrize("way", ["new", "open"])
def test_leaving_a_document_asks_too(
    window: MainWindow, asked: list[str], monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    choose_file(monkeypatch, DIGITS)
    window.editor.add_layer("relu")
    getattr(window.files, way)()
    assert len(asked) == 1
    assert len(window.editor.network) == 1


def test_the_arrangement_of_panels_is_remembered(make_window: MakeWindow) -> None:
    first = make_window(FakeServer())
    first.design.docks[0].hide()
    first.show_tab("data")
    first.close()
    second = make_window(FakeServer())
    assert [dock.isVisible() for dock in second.design.docks] == [False, True, True]


# ---- the rest ----


def test_the_theme_is_chosen_in_a_menu_that_marks_it_and_is_remembered(window: MainWindow) -> None:
    def marked() -> list[str]:
        ids = ("theme.system", "theme.light", "theme.dark")
        return [id for id in ids if window.menus.actions_by_id[id].isChecked()]

    assert marked() == ["theme.light"]
    run(window, "theme.dark")
    assert theme.current().is_dark
    assert window.settings.value("theme") == "dark"
    assert marked() == ["theme.dark"]
    run(window, "theme.system")
    assert marked() == ["theme.system"]
    run(window, "theme.light")
    assert not theme.current().is_dark
    assert "Theme" in entries(window.menus.by_name["View"])


def test_the_menus_keep_their_places_whatever_the_document_is_called(qtbot, window: MainWindow, tmp_path: Path) -> None:
    bar = window.menuBar()
    before = [bar.actionGeometry(action) for action in bar.actions()]
    path = tmp_path / f"{'a-long-name' * 12}.netwright"
    save(load(DIGITS).project, path)
    window.open_path(path)
    assert [bar.actionGeometry(action) for action in bar.actions()] == before


def test_a_window_that_begins_with_the_start_page_makes_design_after_it_was_seen(qtbot, server: FakeServer) -> None:
    window = MainWindow("light", tab="start", server=server)
    qtbot.addWidget(window)
    assert not window.design.is_made
    window.show()
    qtbot.waitUntil(lambda: window.design.is_made, timeout=60_000)
    assert window.tabs.current == "start"
    assert [dock.isVisible() for dock in window.design.docks] == [False, False, False]
    window.show_tab("design")
    assert [dock.isVisible() for dock in window.design.docks] == [True, True, True]
    window._is_leaving = True
    window.close()
    window.shutdown()


def test_a_project_can_be_opened_before_design_was_made(qtbot, server: FakeServer) -> None:
    window = MainWindow("light", tab="start", server=server)
    qtbot.addWidget(window)
    window.open_path(DIGITS)
    assert window.tabs.current == "design"
    assert window.design.bottom.tabText(1) == f"Layers {len(window.editor.network)}"
    window._is_leaving = True
    window.close()
    window.shutdown()


def test_the_keyboard_goes_along_to_another_tab(qtbot, window: MainWindow) -> None:
    """Else Qt gives it to the first button of the bar, which opens a file."""
    window.activateWindow()
    window.design.canvas.setFocus()
    qtbot.waitUntil(window.design.canvas.hasFocus, timeout=60_000)
    for key in ("data", "train", "experiments"):
        window.show_tab(key)
        assert window.tabs.page(key).hasFocus()
    window.show_tab("design")
    assert window.design.canvas.hasFocus()


def test_the_command_finder_finds_and_runs(qtbot, window: MainWindow) -> None:
    finder = CommandFinder(window.menus.actions_by_id, window)
    qtbot.addWidget(finder)
    finder.show()
    qtbot.keyClicks(finder.search, "view tr")
    assert finder.list.topLevelItemCount() == 1
    qtbot.keyClick(finder.search, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.bar._tabs["train"].isChecked())
    assert finder.result() == CommandFinder.DialogCode.Accepted


@pytest.mark.parametrize(
    ("typed", "id"),
    [
        ("dark", "theme.dark"),
        ("light", "theme.light"),
        ("analyze", "view.layers"),
        ("import", "data.choose"),
        ("sweep", "view.experiments"),
        ("onnx", "file.export"),
        ("settings", "run.options"),
        ("stop", "run.stop"),
    ],
)
def test_the_command_finder_puts_the_best_match_first(qtbot, window: MainWindow, typed: str, id: str) -> None:
    finder = CommandFinder(window.menus.actions_by_id, window)
    qtbot.addWidget(finder)
    finder.search.setText(typed)
    assert finder.list.currentItem().data(0, Qt.ItemDataRole.UserRole) == id


def test_the_command_finder_says_what_is_planned(qtbot, window: MainWindow) -> None:
    finder = CommandFinder(window.menus.actions_by_id, window)
    qtbot.addWidget(finder)
    finder.search.setText("predict")
    assert "planned" in finder.nothing.text()
    finder.search.setText("no such command")
    assert finder.nothing.text() == "No matching commands"


def test_escape_leaves_the_search_of_layers_and_shortcuts_work_again(qtbot, window: MainWindow) -> None:
    window.open_path(DIGITS)
    window.show()
    window.activateWindow()
    run(window, "network.add")
    qtbot.keyClicks(window.design.palette.search, "relu")
    qtbot.keyClick(window.design.palette.search, Qt.Key.Key_Escape)
    assert window.design.palette.search.hasFocus()
    qtbot.keyClick(window.design.palette.search, Qt.Key.Key_Escape)
    assert window.design.canvas.hasFocus()


def test_a_blank_project_is_shown_in_design(window: MainWindow) -> None:
    window.open_path(DIGITS)
    window.show_tab("train")
    run(window, "file.blank")
    assert window.tabs.current == "design"


def test_the_command_finder_does_not_run_what_cannot_be_done(qtbot, window: MainWindow) -> None:
    finder = CommandFinder(window.menus.actions_by_id, window)
    qtbot.addWidget(finder)
    finder.show()
    qtbot.keyClicks(finder.search, "undo")
    qtbot.keyClick(finder.search, Qt.Key.Key_Return)
    assert finder.isVisible()
    finder.search.setText("no such command")
    qtbot.keyClick(finder.search, Qt.Key.Key_Down)
    qtbot.keyClick(finder.search, Qt.Key.Key_Return)
    assert finder.isVisible()
    finder.reject()


@pytest.mark.parametrize(
    "way", ["menus.show_shortcuts", "menus.show_about", "menus.find_command", "dialogs.edit_training_options"]
)
def test_dialogs_open_and_close(qtbot, window: MainWindow, way: str) -> None:
    texts: list[str] = []
    with Modal(lambda dialog: texts.extend(label.text() for label in dialog.findChildren(QLabel))):
        attrgetter(way)(window)()
    if way == "menus.show_shortcuts":
        assert all(QKeySequence(row.shortcut).toString() in " ".join(texts) for row in ACTIONS)
    if way == "menus.show_about":
        assert any("CC BY 4.0" in text for text in texts)


def test_undo_says_what_it_undid_and_shows_where(window: MainWindow) -> None:
    window.open_path(DIGITS)
    editor = window.editor
    training = editor.project.training.replace(max_epochs=99)
    editor.apply("Change training options", replace(editor.project, training=training))
    window.show_tab("train")
    run(window, "edit.undo")
    assert window.tabs.current == "train"
    assert re.fullmatch(r"Undid: Training options: max epochs \d+ → 99\.", window.status.hints.text())
    window.show_tab("design")
    editor.add_layer("relu", (0.0, 0.0))
    window.show_tab("train")
    run(window, "edit.undo")
    assert window.tabs.current == "design"
    assert window.status.hints.text().startswith("Undid: Add ReLU: relu_")


def test_an_empty_project_shows_no_error_and_is_not_trained(window: MainWindow, server: FakeServer) -> None:
    assert window.status.errors.isHidden()
    assert window.design.bottom.is_folded
    assert [problem.severity for problem in window.editor.problems] == ["note", "note"]
    window.show_tab("train")
    run(window, "run.train")
    assert window.tabs.stack.currentWidget() is window.design.canvas
    assert "Add an input layer" in window.status.hints.text()
    assert server.count("train") == 0


def test_training_with_problems_leads_to_them(window: MainWindow, server: FakeServer) -> None:
    window.open_path(DIGITS)
    window.editor.disconnect_all([next(iter(window.editor.network.connections))])
    window.show_tab("train")
    run(window, "run.train")
    assert window.tabs.stack.currentWidget() is window.design.canvas
    assert window.design.bottom.currentWidget() is window.design.problems
    assert "before training" in window.status.hints.text()
    assert server.count("train") == 0


def test_training_without_data_leads_to_the_data_tab(window: MainWindow, server: FakeServer) -> None:
    window.editor.edit_network("x", lambda _: classifier())
    assert not window.editor.check_result.errors
    run(window, "run.train")
    assert window.bar._tabs["data"].isChecked()
    assert "Choose data first" in window.status.hints.text()
    assert server.count("train") == 0


def test_a_refused_run_says_why_in_the_train_tab(window: MainWindow, server: FakeServer) -> None:
    window.open_path(DIGITS)
    run(window, "run.train")
    monitor = window.tabs.page("train")
    assert isinstance(monitor, Monitor)
    panel = monitor.facts
    assert window.bar.train.text() == "Stop"
    assert panel.status.text() == "○ Starting"
    server.refuse("train", "This machine has no GPU. Choose another environment.")
    assert window.bar.train.text() == "Train"
    assert panel.status.text() == "✕ Not started"
    assert panel.reason.text() == "This machine has no GPU. Choose another environment."


def test_recovered_work_is_unsaved_and_can_be_recovered_again(window: MainWindow, tmp_path: Path) -> None:
    assert not window.files.recover()
    assert not window.editor.is_modified
    folder = state_folder() / "recovery"
    folder.mkdir(parents=True)
    save(Project(classifier()), folder / "999999999_x.netwright")
    assert window.files.recover()
    assert window.editor.is_modified
    (again,) = folder.glob("*.netwright")
    assert load(again).project.network == classifier(), "the window may crash once more"


def test_what_another_program_wrote_is_not_replaced_unasked(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two windows with one project, too."""
    path, said, answers = tmp_path / "net.netwright", list[str](), [False, True]

    def ask(parent: object, title: str, *words: str) -> bool:
        said.append(title)
        return answers.pop(0)

    monkeypatch.setattr(messages, "ask", ask)
    save(Project(classifier()), path)
    window.open_path(path)
    window.editor.edit_network("x", lambda _: classifier(classes=7))
    run(window, "file.save")
    other = path.read_text().replace('"outputs": 7', '"outputs": 9')
    path.write_text(other)
    window.editor.edit_network("x", lambda _: classifier(classes=8))
    run(window, "file.save")
    assert said == ["net.netwright was changed by another program."]
    assert path.read_text() == other
    assert window.editor.is_modified
    run(window, "file.save")
    assert load(path).project.network == classifier(classes=8)
    window.editor.edit_network("x", lambda _: classifier())
    path.unlink()
    run(window, "file.save")
    assert len(said) == 2
    assert path.exists()


def test_layers_that_nobody_gave_a_place_do_not_lie_on_one_spot(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "by_hand.netwright"
    save(Project(classifier()), path)
    window.open_path(path)
    assert len(set(window.editor.layout.positions.values())) == len(window.editor.network.layers)
    assert not window.editor.is_modified


def test_the_table_of_layers_is_made_when_its_page_is_seen(qtbot, server: FakeServer) -> None:
    window = MainWindow("light", server=server)
    qtbot.addWidget(window)
    window.open_path(DIGITS)
    assert "table" not in vars(window.design)  # the first picture does not show it
    window.show()
    window.design.bottom.setCurrentIndex(1)
    qtbot.waitUntil(lambda: window.design.table.model.rowCount() == len(window.editor.network), timeout=60_000)
    assert window.design.bottom.currentWidget().isAncestorOf(window.design.table)
    window._is_leaving = True
    window.close()
    window.shutdown()


def test_the_tab_key_comes_to_the_tab_that_is_seen(window: MainWindow) -> None:
    for key in ("data", "train"):
        window.show_tab(key)
        stops = [name for name, button in window.bar._tabs.items() if button.focusPolicy() & Qt.FocusPolicy.TabFocus]
        assert stops == [key]
    window.show_start()
    assert window.bar._tabs["design"].focusPolicy() & Qt.FocusPolicy.TabFocus
