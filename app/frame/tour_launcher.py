"""Starts the tour in a process of its own: neither the open project nor the user's settings, recent files and runs can
be touched by it."""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject

from netwright.app.processes import ChildProcess
from netwright.designer import language
from netwright.designer.language import tr
from netwright.engine.core.process import module_command

PROGRAM = "netwright.app.tour.tour_program"
ENDING_S = 5.0


class Look(Protocol):
    """The theme and the size of the text, which the tour has as well."""

    @property
    def scheme(self) -> str:
        """The theme: "system", "light" or "dark"."""

    @property
    def text_size(self) -> int:
        """The size of the text, in pixels."""


class Launcher(QObject):
    """Starts the tour, one at a time. `end` must be called before the program ends."""

    def __init__(self, look: Look, hint: Callable[[str], None], parent: QObject) -> None:
        """`hint` tells the user something for a few seconds."""
        super().__init__(parent)
        self._look, self._hint = look, hint
        self._child: ChildProcess | None = None

    @property
    def is_running(self) -> bool:
        """Whether the window of the tour is open."""
        return self._child is not None

    def start(self, chapter: str = "") -> None:
        """Open the window of the tour with a chapter; one that is open goes to it."""
        if self._child is not None:
            self._child.say({"chapter": chapter})
            return
        words = (chapter, self._look.scheme, str(self._look.text_size), language.current())
        try:
            self._child = ChildProcess(module_command(PROGRAM, *words), self, hears=True)
        except OSError as error:
            self._hint(tr("The tour cannot be started: {reason}.", reason=error.strerror))
            return
        self._child.closed.connect(self.end)
        self._hint(tr("The tour opens in a window of its own."))

    def end(self) -> None:
        """Close the tour, if it is open, and wait until it is gone."""
        child, self._child = self._child, None
        if child is not None:
            child.end(ENDING_S)
