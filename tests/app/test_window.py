"""The main window with a stand-in for the engine: menus, tabs, hints."""

import re
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QLabel, QToolButton

from netwright.app.documents import EXAMPLES
from netwright.app.frame.actions import ACTIONS, MENUS
from netwright.app.window import MainWindow
from netwright.designer import theme
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from tests.app.fake_server import FakeServer
from tests.app.main_windows import MakeWindow, Modal, entries, is_enabled, run
from tests.builders import classifier

DIGITS = EXAMPLES / "digits.netwright"


def test_menus_hold_the_table_in_order(window: MainWindow) -> None:
    assert tuple(action.text() for action in window.menuBar().actions()) == tuple(f"&{name}" for name in MENUS)
    for name, menu in window.menus.by_name.items():
        wanted = [row.text for row in ACTIONS if row.menu == name and not row.submenu]
        assert [text for text in entries(menu) if text in wanted] == wanted
    files = entries(window.menus.by_name["File"])
    at = files.index("Open recent")
    assert files[at : at + 2] == ["Open recent", "Open an example"]


def test_the_toolbar_holds_what_the_table_says(window: MainWindow) -> None:
    shown = [button.defaultAction().objectName() for button in window.bar.findChildren(QToolButton)]
    assert shown == [row.id for row in ACTIONS if row.in_toolbar]
    tips = {row.id: window.menus.actions_by_id[row.id].toolTip() for row in ACTIONS}
    assert all(row.shortcut in tips[row.id] for row in ACTIONS)


def test_a_shortcut_reaches_its_action(qtbot, window: MainWindow) -> None:
    window.design.canvas.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    assert window.tabs.stack.currentWidget() is not window.design.page
    qtbot.keyClick(window, Qt.Key.Key_2, Qt.KeyboardModifier.AltModifier)
    assert window.tabs.stack.currentWidget() is window.design.page


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


def test_the_panels_go_with_the_design_tab_and_come_back(window: MainWindow) -> None:
    window.design.docks[1].hide()
    run(window, "view.runs")
    assert [dock.isVisible() for dock in window.design.docks] == [False, False, False]
    assert not window.menus.panels.isEnabled()
    run(window, "view.data")
    run(window, "view.design")
    assert [dock.isVisible() for dock in window.design.docks] == [True, False, True]
    assert window.menus.panels.isEnabled()


def test_a_small_window_holds_everything(qtbot, window: MainWindow) -> None:
    window.open_path(DIGITS)
    for tab in ("data", "runs", "design"):
        window.show_tab(tab)
    window.hint("A very long hint that goes on and on. " * 12)
    window.resize(1000, 640)
    qtbot.waitUntil(lambda: window.width() == 1000)
    edge = window.design.properties.mapTo(window, QPoint(window.design.properties.width(), 0)).x()
    assert edge <= window.width()
    assert window.design.palette.width() >= 200
    train = window.bar.train
    assert train.mapTo(window, QPoint(train.width(), 0)).x() <= window.width()


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


def test_the_arrangement_of_panels_is_remembered(make_window: MakeWindow) -> None:
    first = make_window(FakeServer())
    first.design.docks[0].hide()
    first.show_tab("data")
    first.close()
    second = make_window(FakeServer())
    assert [dock.isVisible() for dock in second.design.docks] == [False, True, True]


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
    for key in ("data", "runs"):
        window.show_tab(key)
        assert window.tabs.page(key).hasFocus()
    window.show_tab("design")
    assert window.design.canvas.hasFocus()


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
    window.show_tab("runs")
    run(window, "edit.undo")
    assert window.tabs.current == "runs"
    assert re.fullmatch(r"Undid: Training options: max epochs is \d+ again\.", window.status.hints.text())
    window.show_tab("design")
    editor.add_layer("relu", (0.0, 0.0))
    window.show_tab("runs")
    run(window, "edit.undo")
    assert window.tabs.current == "design"
    assert window.status.hints.text().startswith("Undid: Add ReLU: relu_")


def test_an_empty_project_shows_no_error_and_is_not_trained(window: MainWindow, server: FakeServer) -> None:
    assert window.status.errors.isHidden()
    assert window.design.bottom.is_folded
    assert [problem.severity for problem in window.editor.problems] == ["note", "note"]
    window.show_tab("runs")
    run(window, "run.train")
    assert window.tabs.stack.currentWidget() is window.design.page
    assert "Add an input layer" in window.status.hints.text()
    assert server.count("train") == 0


def test_training_with_problems_leads_to_them(window: MainWindow, server: FakeServer) -> None:
    window.open_path(DIGITS)
    window.editor.disconnect_all([next(iter(window.editor.network.connections))])
    window.show_tab("runs")
    run(window, "run.train")
    assert window.tabs.stack.currentWidget() is window.design.page
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


REFUSAL = "This machine has no GPU. Choose another environment."


@pytest.mark.parametrize("tab", ["start", "data", "design"])
def test_a_refused_run_says_why_wherever_one_is(
    window: MainWindow, server: FakeServer, errors: list[tuple[str, str]], tab: str
) -> None:
    """The canvas stays, with the run below it; from elsewhere the page Runs has it."""
    window.open_path(DIGITS)
    window.show_tab(tab)
    run(window, "run.train")
    assert window.tabs.current == ("design" if tab == "design" else "runs")
    assert window.design.strip_bar.isVisible() == (tab == "design")
    monitor = window.training.monitor
    panel = monitor.facts.head
    assert window.bar.stop.text() == "Stop the run of digits"
    assert panel.status.text() == "○ Starting"
    server.refuse("train", REFUSAL)
    assert window.bar.stop.isHidden()
    assert panel.status.text() == "✕ Not started"
    assert panel.reason.text() == REFUSAL
    assert errors == ([("The run cannot begin", REFUSAL)] if tab == "design" else [])


def test_a_screen_reader_chooses_tabs_and_lenses(window: MainWindow) -> None:
    """It toggles a button that is one of several, and does not click it."""
    window.open_path(DIGITS)
    window.design.lens_bar.buttons["cost"].toggle()
    assert window.design.lenses.current == "cost"
    window.bar._tabs["runs"].toggle()
    assert (window.tabs.current, window.tabs.stack.currentWidget()) == ("runs", window.tabs.page("runs"))


def test_layers_that_nobody_gave_a_place_do_not_lie_on_one_spot(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "by_hand.netwright"
    save(Project(classifier()), path)
    window.open_path(path)
    assert len(set(window.editor.layout.positions.values())) == len(window.editor.network.layers)
    assert not window.editor.is_modified


def test_the_tab_key_comes_to_the_tab_that_is_seen(window: MainWindow) -> None:
    for key in ("data", "runs"):
        window.show_tab(key)
        stops = [name for name, button in window.bar._tabs.items() if button.focusPolicy() & Qt.FocusPolicy.TabFocus]
        assert stops == [key]
    window.show_start()
    assert window.bar._tabs["data"].focusPolicy() & Qt.FocusPolicy.TabFocus
