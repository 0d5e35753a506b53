"""Thumbnails of project files, made in a process while the page is already shown.

Not in a thread: Python may collect garbage in any thread, and would then take Qt objects apart outside of the main
thread, which crashes.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from netwright.app.processes import ChildProcess
from netwright.app.start_page import thumbnail_program
from netwright.app.start_page.thumbnail_program import Thumbnail
from netwright.designer.language import noop, translation
from netwright.engine.core.process import module_command

PATIENCE_MS = 10_000
"""How long a file may take: an unreachable disk delays the files behind it no longer than this."""
RETRY_MS, MOST_RETRIES = 5_000, 5
"""The pause before a file without an answer is tried again, doubled each time, and how often that is."""
NO_ANSWER = noop("No preview yet: the disk of the file does not answer, or the machine is too busy.")
FAILED = noop("No preview yet: the process that draws it ended too early.")


class ThumbnailLoader(QObject):
    """Has thumbnails made, and emits each. `close` ends what is under way."""

    ready = Signal(object, object)
    """Path and thumbnail."""
    gone = Signal(object)
    """The path of a file that is not there."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._known: dict[Path, tuple[str, Thumbnail]] = {}
        self._requested: dict[Path, None] = {}
        self._batch: list[Path] = []
        """The files that the process of now was given."""
        self._stamps: dict[Path, str] = {}
        self._unanswered: dict[Path, None] = {}
        """The files of the batch without an answer yet."""
        self._child: ChildProcess | None = None
        self._is_closed = False
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE_MS)
        self._patience.timeout.connect(lambda: self._give_up(NO_ANSWER))
        self._retries: dict[Path, int] = {}
        """How often each file was given up since its last answer."""
        self._postponed: dict[Path, None] = {}
        self._retry = QTimer(self, singleShot=True)
        self._retry.timeout.connect(self._try_again)

    def load(self, paths: Iterable[Path]) -> None:
        """Emit the thumbnails of these files: known ones at once, and again if the file has changed since."""
        for path in paths:
            if path in self._known:
                self.ready.emit(path, self._known[path][1])
            self._requested[path] = None
        self._start()

    @property
    def is_done(self) -> bool:
        """Whether every file that was asked for has its answer."""
        return self._child is None and not self._requested

    def _start(self) -> None:
        if self._child is not None or not self._requested or self._is_closed:
            return
        self._batch, self._requested = list(self._requested), {}
        self._stamps, self._unanswered = {}, dict.fromkeys(self._batch)
        stamps = [(path, self._known[path][0] if path in self._known else "") for path in self._batch]
        module, *words = thumbnail_program.arguments(stamps)
        try:
            self._child = ChildProcess(module_command(module, *words), self)
        except OSError:
            for path in list(self._unanswered):
                self._fail(path, FAILED)
            return
        self._child.received.connect(self._take)
        self._child.closed.connect(self._on_closed)
        self._patience.start()

    def _take(self, message: Any) -> None:
        if self._child is None:
            return  # a line that was read together with the one before
        try:
            number, value = thumbnail_program.answer(message)
            path = self._batch[number]
        except (ValueError, IndexError):
            return
        self._patience.start()
        self._retries.pop(path, None)
        if isinstance(value, Thumbnail):
            if value.problem:
                self._known.pop(path, None)
            else:
                self._known[path] = (self._stamps.get(path, ""), value)
            self._unanswered.pop(path, None)
            self.ready.emit(path, value)
            return
        self._stamps[path] = value
        if not value:
            self._known.pop(path, None)
            self._unanswered.pop(path, None)
            self.gone.emit(path)
        elif path in self._known and self._known[path][0] == value:
            self._unanswered.pop(path, None)
            self.ready.emit(path, self._known[path][1])

    def _on_closed(self) -> None:
        if self._child is not None:
            self._give_up(FAILED)

    def _give_up(self, why: str) -> None:
        """End the process, if it has not ended. The file that it was at has a problem; others get another process."""
        self._end()
        if self._unanswered:
            without_stamp = [path for path in self._unanswered if path not in self._stamps]
            self._fail(without_stamp[0] if without_stamp else next(iter(self._unanswered)), why)
            self._requested = {**self._unanswered, **self._requested}
            self._unanswered = {}
        self._start()

    def _fail(self, path: Path, why: str) -> None:
        """Keep what is known of a file, or say that there is no preview; try it again later."""
        self._unanswered.pop(path, None)
        if path not in self._known:
            self.ready.emit(path, Thumbnail(excuse=translation(why)))
        self._retries[path] = count = self._retries.get(path, 0) + 1
        if count <= MOST_RETRIES and not self._is_closed:
            self._postponed[path] = None
            self._retry.start(RETRY_MS * 2 ** (count - 1))

    def _try_again(self) -> None:
        self._requested |= self._postponed
        self._postponed = {}
        self._start()

    def _end(self) -> None:
        child, self._child = self._child, None
        self._patience.stop()
        if child is not None:
            child.end()

    def close(self) -> None:
        """Make no more."""
        self._is_closed = True
        self._requested, self._postponed = {}, {}
        self._retry.stop()
        self._end()
