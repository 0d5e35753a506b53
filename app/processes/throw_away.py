"""A process of the engine that looks or tries something, and is thrown away: with all that it started, at any time."""

import contextlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.processes.child import Child

if TYPE_CHECKING:
    import subprocess


class ThrowAway(QObject):
    """`said` gives each JSON object that it prints; `ended` comes when it has ended by itself, or could not begin."""

    said = Signal(object)
    ended = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._child: Child | None = None

    @property
    def process(self) -> "subprocess.Popen[bytes] | None":
        """The one that is at work."""
        return self._child.process if self._child is not None else None

    @property
    def is_running(self) -> bool:
        """Whether it is at work."""
        return self._child is not None

    def start(self, command: Sequence[str]) -> None:
        """Begin anew. Raises `OSError` where the system gives no process."""
        self.stop()
        self._child = Child(command, self, is_leader=True)  # ended together with the processes that it starts
        self._child.received.connect(self._take)
        self._child.closed.connect(self._on_closed)

    def stop(self) -> None:
        """End it, if it is at work."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _take(self, line: bytes) -> None:
        """Pass on what is a JSON object; a library that prints is passed over."""
        with contextlib.suppress(ValueError, RecursionError):
            if isinstance(told := json.loads(line), dict):
                self.said.emit(told)

    def _on_closed(self) -> None:
        self.stop()
        self.ended.emit()
