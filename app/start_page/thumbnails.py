"""Sketches of project files, made in a process while the page is already shown.

Not in a thread: Python may collect garbage in any thread, and Qt objects among it would then be taken apart outside of
the window's own, which ends in a crash.
"""

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.child_process import Child, engine_command
from app.start_page import sketching
from app.start_page.sketch import Sketch

PATIENCE_MS = 10_000
"""How long a file may take: an unreachable disk holds up the files behind it no longer than this."""
NO_ANSWER = "The file could not be drawn: its disk does not answer, or the machine is too busy."
FAILED = "The file could not be drawn: the process that does it ended too early."


class Sketcher(QObject):
    """Has sketches made and tells of each. `close` ends what is under way."""

    ready = Signal(object, object)
    """Path and sketch."""
    gone = Signal(object)
    """The path of a file that is not there."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._known: dict[Path, tuple[str, Sketch]] = {}
        self._wanted: dict[Path, None] = {}
        self._batch: list[Path] = []
        self._stamps: dict[Path, str] = {}
        self._left: dict[Path, None] = {}
        """Of the batch, what was not told yet."""
        self._child: Child | None = None
        self._is_over = False
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE_MS)
        self._patience.timeout.connect(lambda: self._give_up(NO_ANSWER))

    def want(self, paths: Iterable[Path]) -> None:
        """Sketch these. What was drawn before is told at once, and again if the file has changed since."""
        for path in paths:
            if path in self._known:
                self.ready.emit(path, self._known[path][1])
            self._wanted[path] = None
        self._start()

    @property
    def is_done(self) -> bool:
        """Whether everything that was wanted has been told."""
        return self._child is None and not self._wanted

    def _start(self) -> None:
        if self._child is not None or not self._wanted or self._is_over:
            return
        self._batch, self._wanted = list(self._wanted), {}
        self._stamps, self._left = {}, dict.fromkeys(self._batch)
        known = [(path, self._known[path][0] if path in self._known else "") for path in self._batch]
        module, *words = sketching.arguments(known)
        try:
            self._child = Child(engine_command(module, words), self)
        except OSError:
            self._say_of_the_rest(FAILED)
            return
        self._child.received.connect(self._take)
        self._child.closed.connect(self._on_closed)
        self._patience.start()

    def _take(self, line: bytes) -> None:
        if self._child is None:
            return  # a line that was read together with the one before
        try:
            number, told = sketching.answer(line)
            path = self._batch[number]
        except (ValueError, IndexError):
            return
        self._patience.start()
        if isinstance(told, Sketch):
            if told.problem:
                self._known.pop(path, None)
            else:
                self._known[path] = (self._stamps.get(path, ""), told)
            self._left.pop(path, None)
            self.ready.emit(path, told)
            return
        self._stamps[path] = told
        if not told:
            self._known.pop(path, None)
            self._left.pop(path, None)
            self.gone.emit(path)
        elif path in self._known and self._known[path][0] == told:
            self._left.pop(path, None)
            self.ready.emit(path, self._known[path][1])

    def _on_closed(self) -> None:
        if self._child is not None:
            self._give_up(FAILED)

    def _give_up(self, why: str) -> None:
        """The process has ended or shall end. The file that it was at has a problem; others get another process."""
        self._end()
        if self._left:
            looked_at = [path for path in self._left if path not in self._stamps]
            self._say(looked_at[0] if looked_at else next(iter(self._left)), why)
            self._wanted = {**self._left, **self._wanted}
            self._left = {}
        self._start()

    def _say_of_the_rest(self, why: str) -> None:
        for path in list(self._left):
            self._say(path, why)

    def _say(self, path: Path, why: str) -> None:
        self._left.pop(path, None)
        self._known.pop(path, None)
        self.ready.emit(path, Sketch(problem=why))

    def _end(self) -> None:
        child, self._child = self._child, None
        self._patience.stop()
        if child is not None:
            child.end()

    def close(self) -> None:
        """Make no more."""
        self._is_over = True
        self._wanted = {}
        self._end()
