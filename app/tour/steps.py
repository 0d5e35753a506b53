"""The parts of a tour: chapters of steps, each with a text, what it points at, and what it can do for the user."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QDialog, QMenu, QScrollArea, QToolButton, QWidget

from netwright.app.window import MainWindow
from netwright.engine.project.project import Project


@dataclass(frozen=True)
class Target:
    """A thing that a step points at: a widget, or a part of it in its own pixels."""

    widget: QWidget
    part: QRect | None = None

    @property
    def window(self) -> QWidget:
        """The window or dialog in which it lies."""
        return self.widget.window()

    def place(self) -> QRect:
        """Return the part of it that is seen, in pixels of its window; empty where nothing is."""
        if not self.widget.isVisible():
            return QRect()
        window = self.window
        part = self.part if self.part is not None else self.widget.rect()
        place = part.translated(self.widget.mapTo(window, QPoint()))
        for holder in _holders(self.widget):
            place &= QRect(holder.mapTo(window, QPoint()), holder.size())
        return place

    def bring(self) -> None:
        """Scroll it into view."""
        for holder in _holders(self.widget):
            if isinstance(holder, QScrollArea) and (content := holder.widget()) is not None:
                part = self.part if self.part is not None else self.widget.rect()
                middle = self.widget.mapTo(content, part.center())
                holder.ensureVisible(middle.x(), middle.y(), part.width() // 2 + 8, part.height() // 2 + 8)


def _holders(widget: QWidget) -> Iterator[QWidget]:
    """Yield a widget and those that hold it, up to its window."""
    holder: QWidget | None = widget
    while holder is not None:
        yield holder
        holder = None if holder.isWindow() else holder.parentWidget()


def do_nothing(window: MainWindow) -> None:
    """Leave the window as it is."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing to look at, or to do.

    `text` is in English, in `noop`. `target` returns what it points at, None where that is not there. `show` opens the
    page that has it, and changes nothing of the project. `act` does for the user what the text asks for; `is_done`
    tells whether that has happened, by the tour or by hand. `patience_s` is how long that may take. `needs`: the page
    or dialog of a part, without which there is no such step.
    """

    text: str
    target: Callable[[MainWindow], Target | None]
    show: Callable[[MainWindow], None] = do_nothing
    act: Callable[[MainWindow], None] | None = None
    is_done: Callable[[MainWindow], bool] | None = None
    patience_s: float = 20.0
    needs: str = ""
    prefers_below: bool = False
    """Whether the panel stands below what it points at rather than at its side: what is there is to be seen."""


def unchanged(project: Project) -> Project:
    """Return the project as it is."""
    return project


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """Steps that begin with a fresh project on one tab of the window: the digits example as `prepare` changes it.
    `needs_run`: it has a run that has ended."""

    key: str
    title: str
    tab: str
    steps: tuple[Step, ...]
    prepare: Callable[[Project], Project] = unchanged
    needs_run: bool = False


def open_dialogs(window: MainWindow) -> list[QDialog]:
    """Return the dialogs of a window that are open."""
    return [dialog for dialog in window.findChildren(QDialog) if dialog.isVisible()]


def part_of(owner: object, *names: str) -> Any:
    """Return an attribute of an attribute, by their names; None where there is none. The pages and dialogs of parts,
    which may be missing, are known by name alone."""
    for name in names:
        owner = getattr(owner, name, None)
    return owner


def dialog_part(window: MainWindow, *names: str) -> Any:
    """Return a part of the dialog that is open, by the names of attributes; None where there is none."""
    dialogs = open_dialogs(window)
    return part_of(dialogs[-1], *names) if dialogs else None


def close_dialogs(window: MainWindow) -> None:
    """Close the dialogs that are open, the last one first."""
    for dialog in reversed(open_dialogs(window)):
        dialog.reject()


def trigger(id: str) -> Callable[[MainWindow], None]:
    """Return a function that carries out an action of the window."""
    return lambda window: window.menus.actions_by_id[id].trigger()


def widget_target(widget: QWidget | None) -> Target | None:
    """Return a widget as a target, if it is there."""
    return Target(widget) if widget is not None and widget.isVisible() else None


def action_target(window: MainWindow, id: str) -> Target | None:
    """Return the button of an action in the bar; where it is folded away, the name of its menu."""
    action = window.menus.actions_by_id.get(id)
    for button in window.bar.findChildren(QToolButton):
        if button.defaultAction() is action and button.isVisible():
            return Target(button)
    bar = window.menuBar()
    for entry in bar.actions():
        menu = entry.menu()
        if isinstance(menu, QMenu) and action in menu.actions() and bar.isVisible():
            return Target(bar, bar.actionGeometry(entry))
    return None
