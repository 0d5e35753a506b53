"""Sketches of project files, made one after another in a thread while the page is already shown."""

from collections import deque
from collections.abc import Iterable
from pathlib import Path
from threading import Event, Thread

from PySide6.QtCore import QObject, QTimer, Signal

from app.start_page.sketch import Sketch, sketch_of, tidy_cache

TURN_MS = 15
BREATH_S = 0.002
Stamp = tuple[str, int, int]


class Sketcher(QObject):
    """Makes sketches and tells of each: `ready` carries path and sketch. `close` waits for what is under way."""

    ready = Signal(object, object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._known: dict[Stamp, Sketch] = {}
        self._wanted: deque[tuple[Path, Stamp]] = deque()
        self._made: deque[tuple[Path, Stamp, Sketch]] = deque()
        self._thread: Thread | None = None
        self._is_over = Event()
        self._timer = QTimer(self, interval=TURN_MS)
        self._timer.timeout.connect(self._turn)

    def want(self, paths: Iterable[Path]) -> None:
        """Sketch these; a file that has not changed since the last time is told at once."""
        for path in paths:
            stamp = _stamp(path)
            known = self._known.get(stamp)
            if known is not None:
                self.ready.emit(path, known)
            else:
                self._wanted.append((path, stamp))
        if self._wanted and not self._is_over.is_set():
            self._timer.start()

    @property
    def is_done(self) -> bool:
        """Whether everything that was wanted has been told."""
        return not self._timer.isActive()

    def _turn(self) -> None:
        """Tell what has been made, and see that somebody makes the rest."""
        is_working = self._thread is not None and self._thread.is_alive()
        while self._made:
            path, stamp, sketch = self._made.popleft()
            self._known[stamp] = sketch
            self.ready.emit(path, sketch)
        if is_working:
            return
        if self._wanted:
            self._thread = Thread(target=self._work, name="sketches", daemon=True)
            self._thread.start()
        else:
            self._timer.stop()

    def _work(self) -> None:
        while self._wanted and not self._is_over.is_set():
            path, stamp = self._wanted.popleft()
            self._made.append((path, stamp, sketch_of(path)))
            self._is_over.wait(BREATH_S)  # the window's thread has its turn
        tidy_cache()

    def close(self) -> None:
        """Make no more."""
        self._is_over.set()
        self._timer.stop()
        if self._thread is not None:
            self._thread.join()


def _stamp(path: Path) -> Stamp:
    """What changes when the file does."""
    try:
        status = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), status.st_mtime_ns, status.st_size
