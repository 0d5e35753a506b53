"""Work on many pieces that is done while the event loop is idle, some milliseconds at a time."""

from collections.abc import Callable, Iterable
from math import inf
from time import perf_counter
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, QTimer

_SLICE_S = 0.008
T = TypeVar("T")


class IdleWork(Generic[T]):
    """Pieces that wait for their turn, each once. `do` does one; `after` is called when a time is over."""

    def __init__(self, do: Callable[[T], object], after: Callable[[], object], parent: QObject) -> None:
        self._do, self._after = do, after
        self._waiting: dict[T, None] = {}
        self._timer = QTimer(parent, singleShot=True, interval=0)
        self._timer.timeout.connect(lambda: self.work(_SLICE_S))

    def __contains__(self, piece: T) -> bool:
        return piece in self._waiting

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, pieces: Iterable[T]) -> None:
        """Let pieces wait, behind those that do."""
        self._waiting |= dict.fromkeys(pieces)
        if self._waiting:
            self._timer.start()

    def drop(self, piece: T) -> None:
        """Let a piece wait no more."""
        self._waiting.pop(piece, None)

    def work(self, seconds: float = inf) -> None:
        """Do pieces, for at most a time; then let the window work, and go on."""
        end = perf_counter() + seconds
        while self._waiting and perf_counter() < end:
            piece = next(iter(self._waiting))
            del self._waiting[piece]
            self._do(piece)
        if self._waiting:
            self._timer.start()
        self._after()
