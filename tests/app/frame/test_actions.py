"""The table of actions: whole, without collisions, and enabled when it makes sense."""

from collections import Counter
from dataclasses import replace
from operator import attrgetter

from PySide6.QtGui import QKeySequence

from netwright.app.frame.actions import ACTIONS, MENUS, WindowState, enabled_ids
from netwright.app.window import MainWindow

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
        assert id not in enabled_ids(replace(EVERYTHING, tab="train"))


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
