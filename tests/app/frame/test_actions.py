"""The table of actions: whole, without collisions, and enabled when it makes sense."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import pytest
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu

from netwright.app.documents import EXAMPLES
from netwright.app.frame.actions import ACTIONS, MENUS, enabled_ids
from netwright.app.frame.window_state import WindowState
from netwright.app.window import MainWindow
from netwright.engine.network import edits
from tests.app.fake_server import FakeServer
from tests.app.main_windows import entries, run

# What the canvas does with keys itself, see designer/canvas/keyboard.py.
CANVAS_KEYS = (
    *("Esc", "Space", "Left", "Right", "Up", "Down", "Backspace", "Shift+Del", "F2", "Tab", "Shift+Tab"),
    *("Ctrl+Left", "Ctrl+Right", "Ctrl+Up", "Ctrl+Down", "Return", "Enter"),
    *("A", "B", "C", "F", "Shift+F", "L", "+", "=", "-"),
)
EVERYTHING = WindowState(
    has_layers=True, has_selection=True, has_connections=True, can_undo=True, can_redo=True, is_running=True
)


def keys(action) -> list[str]:
    return [QKeySequence(key).toString() for key in (action.shortcut, *action.also) if key]


class Recorder:
    """Stands in for the window, and notes which method a handler calls."""

    def __init__(self) -> None:
        self.path: list[str] = []
        self.num_calls = 0

    def __getattr__(self, name: str) -> "Recorder":
        self.path.append(name)
        return self

    def __call__(self, *_: object, **__: object) -> None:
        self.num_calls += 1


def called_by(action) -> str:
    recorder = Recorder()
    action.handler(recorder)
    assert recorder.num_calls == 1
    return ".".join(recorder.path)


def test_ids_are_unique_and_every_row_has_a_handler_and_a_menu(window: MainWindow) -> None:
    assert [id for id, count in Counter(action.id for action in ACTIONS).items() if count > 1] == []
    assert [action.id for action in ACTIONS if not callable(attrgetter(called_by(action))(window))] == []
    assert {action.menu for action in ACTIONS} == set(MENUS)


def test_shortcuts_are_real_and_do_not_collide() -> None:
    used = [key for action in ACTIONS for key in keys(action)]
    assert all(used), "a shortcut that Qt does not know"
    assert [key for key, count in Counter(used).items() if count > 1] == []
    assert set(used) & {QKeySequence(key).toString() for key in CANVAS_KEYS} == set()


def test_what_edits_the_canvas_needs_the_design_tab() -> None:
    for id in ("edit.cut", "edit.copy", "edit.delete", "edit.select_all", "view.fit", "network.arrange", "edit.paste"):
        assert id in enabled_ids(EVERYTHING)
        assert id not in enabled_ids(replace(EVERYTHING, tab="runs"))


def test_what_cannot_be_done_is_disabled() -> None:
    empty = enabled_ids(WindowState())
    assert {"edit.undo", "edit.redo", "edit.delete", "file.export", "run.stop", "view.fit"} & empty == set()
    assert {"file.open", "run.train", "run.options", "network.add", "help.about"} <= empty
    assert "edit.delete" in enabled_ids(WindowState(has_connections=True))
    assert "edit.copy" not in enabled_ids(WindowState(has_connections=True))
    running = enabled_ids(WindowState(is_running=True))
    assert {"run.stop", "run.stop_after_epoch"} <= running
    assert "run.train" not in running


def test_switches_show_whether_they_are_on(window: MainWindow) -> None:
    beep = window.menus.actions_by_id["run.beep"]
    assert beep.isCheckable()
    was = beep.isChecked()
    beep.trigger()
    assert beep.isChecked() is not was
    assert window.notifier.has_beep is not was
    beep.trigger()
    assert beep.isChecked() is was
    assert not window.menus.actions_by_id["run.train"].isCheckable()


def test_every_entry_of_every_menu_has_a_letter_of_its_own(window: MainWindow, tmp_path: Path) -> None:
    for name in ("net", "nets & more", "new"):
        window.documents.remember_data(tmp_path / name)
        (tmp_path / name).touch()
    window.open_path(EXAMPLES / "digits.netwright")
    window.editor.edit_network("Make & mend", lambda network: edits.remove_layers(network, list(network.layers)[:1]))
    names = [action.text() for action in window.menuBar().actions()]
    menus = [("the bar", names), *walked(window.menuBar().actions())]
    assert len(menus) > 12
    for name, texts in menus:
        letters = [QKeySequence.mnemonic(text).toString() for text in texts]
        assert "" not in letters, f"{name}: {texts}"
        assert len(set(letters)) == len(letters), f"{name}: {texts}"


def walked(actions) -> Iterator[tuple[str, list[str]]]:
    """Open every menu, and give its name with the texts of its entries."""
    for action in actions:
        menu = action.menu()
        if isinstance(menu, QMenu):
            menu.aboutToShow.emit()
            inside = [entry for entry in menu.actions() if not entry.isSeparator()]
            yield menu.title(), [entry.text() for entry in inside if entry.isEnabled() or entry.menu() is None]
            yield from walked(inside)


def test_recent_data_is_used_again(window: MainWindow, server: FakeServer, tmp_path: Path) -> None:
    menu = window.menus.recent_data
    menu.aboutToShow.emit()
    assert entries(menu) == ["No file or folder was used as data yet"]
    for name in ("first.csv", "second.csv", "first.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n")
        window.documents.remember_data(tmp_path / name)
    window.documents.remember_data(tmp_path / "gone.csv")
    menu.aboutToShow.emit()
    assert entries(menu) == ["first.csv", "second.csv"]
    menu.actions()[1].trigger()
    assert server.asked[-1].do == "guess"
    assert str(server.asked[-1].given["path"]) == str(tmp_path / "second.csv")


@pytest.mark.part("analysis")
@pytest.mark.parametrize(("id", "key"), [("run.evaluate", "scores"), ("run.predict", "predict")])
def test_the_pages_about_a_run_are_in_its_menu(window: MainWindow, id: str, key: str) -> None:
    run(window, id)
    segments = window.training.monitor.segments
    assert window.tabs.current == "runs"
    assert segments._buttons[key].isChecked()
