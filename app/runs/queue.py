"""What the window knows of the queue, and what it does with it. The queue itself needs no window."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from engine.core.errors import UserError
from engine.runs.folder import RunFolder
from engine.runs.queue import Entry, Queue, start_entry, start_work

if TYPE_CHECKING:
    from engine.runs.folder import RunFolder
    from engine.runs.queue import Entry

LOOK_MS = 1000


class QueueController(QObject):
    """Looks at the queue once a second while something is to come of it or somebody looks."""

    changed = Signal()
    began = Signal(object)
    """An entry trains since the last look."""
    refused = Signal(str)
    """What was asked for could not be done, in words."""

    def __init__(self, parent: QObject | None = None, queue: Queue | None = None, *, look_ms: int = LOOK_MS) -> None:
        super().__init__(parent)
        self.queue = queue or Queue()
        self.entries: list[Entry] = []
        self.is_worked = False
        self.is_seen = False
        """Whether somebody looks."""
        self._timer = QTimer(self, interval=look_ms)
        self._timer.timeout.connect(self.look)

    @property
    def waiting(self) -> list[Entry]:
        """Those that are still to be trained, in their order."""
        return [entry for entry in self.entries if entry.is_waiting]

    @property
    def running(self) -> list[Entry]:
        """Those that train."""
        return [entry for entry in self.entries if entry.state == "running"]

    def look(self) -> None:
        """See what has changed."""
        entries, is_worked = self.queue.entries(), self.queue.is_worked()
        known = {entry.id for entry in self.running}
        has_news = (entries, is_worked) != (self.entries, self.is_worked)
        self.entries, self.is_worked = entries, is_worked
        if has_news:
            self.changed.emit()
        for entry in self.running:
            if entry.id not in known:
                self.began.emit(entry)
        is_to_come = any(not entry.is_over for entry in entries)
        if is_to_come or self.is_seen:
            self._timer.start()
        else:
            self._timer.stop()

    def add(
        self, text: str, title: str, project_path: str, *, after: RunFolder | None, trust: bool, begins: bool = True
    ) -> None:
        """Put a project at the end, and see to it that the queue is worked, unless it is to wait for that, too."""

        def put() -> None:
            run = str(after.path) if after is not None else ""
            self.queue.add(text, title, project_path=project_path, after=run, trust=trust)
            if begins:
                start_work(self.queue)

        self._do(put)

    def work(self) -> None:
        """Have what waits trained."""
        self._do(lambda: start_work(self.queue))

    def leave(self) -> None:
        """Begin no more; what waits stays."""
        self.queue.ask_to_leave()

    def start_now(self, id: int) -> None:
        """Train an entry at once, beside what is under way."""
        self._do(lambda: start_entry(self.queue, id))

    def move_up(self, id: int) -> None:
        """Let an entry be trained one place earlier."""
        places = [entry.id for entry in self.waiting]
        if id in places:
            self._do(lambda: self.queue.move(id, places.index(id)))

    def remove(self, id: int) -> None:
        """Take an entry out."""
        self._do(lambda: self.queue.remove(id))

    def remove_over(self) -> None:
        """Take out all that have ended."""
        self._do(self.queue.remove_over)

    def folder_of(self, entry: Entry) -> RunFolder:
        """The run of an entry that was begun."""
        return RunFolder(Path(entry.run_dir))

    def _do(self, what: Callable[[], object]) -> None:
        try:
            what()
        except UserError as error:
            self.refused.emit(str(error))
        self.look()

    def close(self) -> None:
        """Look no more."""
        self._timer.stop()
