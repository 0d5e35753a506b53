"""The queue of runs in the window: its entries, what the user can do with them, and the panel of those that have no
run yet. The queue itself needs no window."""

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QFileSystemWatcher, QObject, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from netwright.app.runs.background_answers import ResultDialog, news
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.engine_messages import message_text
from netwright.designer.language import named, tr
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import make_private_folder
from netwright.engine.runs import queued_answers
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.history import ProjectKey
from netwright.engine.runs.machine_shares import EXPERIMENT, holdings
from netwright.engine.runs.queue import Entry, Queue, start_entry, start_work

if TYPE_CHECKING:
    from netwright.engine.runs.folder import RunFolder
    from netwright.engine.runs.queue import Entry

LOOK_MS = 1000
SOON_MS = 100
"""Pause after a change in the folder: an entry has two files."""


class QueueController(QObject):
    """Reads and changes the queue. It is read once a second while runs are waiting or trained, and when a file comes
    into its folder or leaves it: a terminal adds to it, too."""

    changed = Signal()
    began = Signal(object)
    """An entry has started since the last look; a short one may have ended, too."""
    refused = Signal(str)
    """A request could not be carried out, with the reason."""

    def __init__(self, parent: QObject | None = None, queue: Queue | None = None, *, look_ms: int = LOOK_MS) -> None:
        super().__init__(parent)
        self.queue = queue or Queue()
        self.entries: list[Entry] = []
        self.is_worked = False
        self.shares: list[str] = []
        """The shares of the machine that experiments take, as texts."""
        self.project: ProjectKey | None = None
        """The project whose entries are shown; None for all."""
        self._timer = QTimer(self, interval=look_ms)
        self._timer.timeout.connect(self.look)
        self._watcher = QFileSystemWatcher(self)
        self._soon = QTimer(self, singleShot=True, interval=SOON_MS)
        self._soon.timeout.connect(self.look)
        self._watcher.directoryChanged.connect(self._soon.start)
        news.added.connect(self.look)

    @property
    def waiting(self) -> list[Entry]:
        """The entries that are still to be trained, in order."""
        return [entry for entry in self.entries if entry.is_waiting]

    @property
    def own(self) -> list[Entry]:
        """The entries of the project that is open, in order."""
        return [entry for entry in self.entries if self.is_own(entry)]

    def is_own(self, entry: Entry) -> bool:
        """Return whether an entry belongs to the project that is open."""
        return self.project is None or self.project.owns(entry, Path(entry.run_dir or entry.project_path))

    def show_project(self, project: ProjectKey) -> None:
        """Show the entries of another project."""
        if project != self.project:
            self.project = project
            self.changed.emit()

    @property
    def running(self) -> list[Entry]:
        """The entries that are being trained."""
        return [entry for entry in self.entries if entry.state == "running"]

    def look(self) -> None:
        """Read the queue, and emit what has changed."""
        self._watch()
        entries, is_worked = self.queue.entries(), self.queue.is_worked()
        shares = [holding.text for holding in holdings() if holding.kind == EXPERIMENT] if entries else []
        were_waiting, were_running = ({entry.id for entry in some} for some in (self.waiting, self.running))
        has_news = (entries, is_worked, shares) != (self.entries, self.is_worked, self.shares)
        self.entries, self.is_worked, self.shares = entries, is_worked, shares
        if has_news:
            self.changed.emit()
        for entry in entries:
            has_passed = entry.is_over and entry.id in were_waiting
            has_begun = entry.state == "running" and entry.id not in were_running
            if entry.run_dir and (has_passed or has_begun):
                self.began.emit(entry)
        if any(not entry.is_over for entry in entries):
            self._timer.start()
        else:
            self._timer.stop()

    def _watch(self) -> None:
        """Watch the folder, which is made for the first entry of another program."""
        if not self._watcher.directories():
            with contextlib.suppress(OSError):
                make_private_folder(self.queue.folder)
                self._watcher.addPath(str(self.queue.folder))

    def add(
        self, text: str, title: str, project_path: str, *, after: RunFolder | None, begins: bool = True, **allowed: Any
    ) -> None:
        """Put a project at the end, and have the queue worked off, unless `begins` is false. `allowed`: what the user
        allows it, as in `Entry`: `trust` and `hosts`."""

        def put() -> None:
            run = str(after.path) if after is not None else ""
            project, about = self.queue.another_of(text, after)
            self.queue.add(project, title, about=about, project_path=project_path, after=run, **allowed)
            if begins:
                start_work(self.queue)

        self._do(put)

    def work(self) -> None:
        """Have the waiting entries trained."""
        self._do(lambda: start_work(self.queue))

    def leave(self) -> None:
        """Start no more entries; those that wait stay."""
        self.queue.ask_to_leave()

    def start_now(self, id: int) -> None:
        """Train an entry at once, beside the runs that are under way."""
        self._do(lambda: start_entry(self.queue, id))

    def move_up(self, id: int) -> None:
        """Move an entry one place up among those of its project."""
        places = [entry.id for entry in self.own if entry.is_waiting]
        if id in places:
            self.move(id, places.index(id))

    def move(self, id: int, to: int) -> None:
        """Move an entry to a place among those of its project that wait; 1 is the first."""
        others = [entry for entry in self.waiting if entry.id != id]
        own = [place for place, entry in enumerate(others, 1) if self.is_own(entry)]
        place = own[to - 1] if 0 < to <= len(own) else own[-1] + 1 if own else 1
        self._do(lambda: self.queue.move(id, place))

    def stop(self, id: int) -> None:
        """Stop an answer that is computed."""
        self._do(lambda: queued_answers.stop(self.queue, id))

    def remove(self, id: int) -> None:
        """Remove an entry."""
        self._do(lambda: self.queue.remove(id))

    def folder_of(self, entry: Entry) -> RunFolder:
        """Return the run of an entry that has started."""
        return RunFolder(Path(entry.run_dir))

    def _do(self, action: Callable[[], object]) -> None:
        try:
            action()
        except UserError as error:
            self.refused.emit(str(error))
        self.look()

    def close(self) -> None:
        """Stop reading the queue."""
        news.added.disconnect(self.look)
        self._watcher.directoryChanged.disconnect()
        for timer in (self._timer, self._soon):
            timer.stop()


MOST_ROWS = 6
SIGNS = {"refused": ("✕", "error"), "failed": ("✕", "error"), "finished": ("✓", "muted"), "running": ("●", "muted")}


class QueueRow(QWidget):
    """One line of the panel: a sign and a name, and buttons. It can be dragged: `dragged` tells where the pointer is,
    `dropped` where it was let go, both as heights in the panel."""

    dragged = Signal(int)
    dropped = Signal(int)

    def __init__(self, state: str, name: str, tip: str) -> None:
        super().__init__()
        sign, role = SIGNS.get(state, ("○", "muted"))
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(4)
        mark, self.name = QLabel(sign), ElidedLabel()
        self.name.setText(name, note=tip)
        mark.setFixedWidth(16)
        theme.mark(mark, "role", role)
        self._row.addWidget(mark)
        self._row.addWidget(self.name, 1)
        self.setMinimumHeight(28)
        self.can_be_dragged = self.is_dragged = False
        self._pressed_at: QPoint | None = None

    def make_draggable(self) -> None:
        """Let the row be dragged to another place."""
        self.can_be_dragged = True
        self.setCursor(Qt.CursorShape.OpenHandCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of the row."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed_at = event.position().toPoint()
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the row."""
        at = event.position().toPoint()
        if self._pressed_at is None or not self.can_be_dragged:
            return
        if (at - self._pressed_at).manhattanLength() >= QApplication.startDragDistance():
            self.is_dragged = True
        if self.is_dragged:
            self.dragged.emit(self.mapToParent(at).y())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go of the row."""
        was_dragged, self.is_dragged, self._pressed_at = self.is_dragged, False, None
        if was_dragged:
            self.dropped.emit(self.mapToParent(event.position().toPoint()).y())

    def add(self, icon: str, words: str) -> QToolButton:
        """Add a button at the right."""
        button = QToolButton()
        button.setAutoRaise(True)
        button.setIcon(theme.icon(icon, "muted"))
        button.setIconSize(QSize(14, 14))
        button.setToolTip(words)
        button.setAccessibleName(named(words, self.name.text()))
        self._row.addWidget(button)
        return button


class QueuePanel(QWidget):
    """Lists the entries of the queue that have no run: those that wait, and those that could not be started. Hidden
    while there are none."""

    def __init__(self, controller: QueueController) -> None:
        super().__init__()
        self._controller = controller
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self._made: list[QWidget] = []
        self.rows: dict[int, QueueRow] = {}
        self._mark = QFrame(self)
        """Where a dragged entry would go."""
        self._mark.setFixedHeight(2)
        self._mark.hide()
        self.start = QPushButton(tr("Start queue"))
        self.start.setToolTip(tr("The queue is not running: train its runs in order"))
        self.start.clicked.connect(controller.work)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.start)
        buttons.addStretch(1)
        self._column.addLayout(buttons)
        controller.changed.connect(self.refresh)
        theme.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Rebuild the list, unless one of its rows is being dragged."""
        if any(row.is_dragged for row in self.rows.values()):
            return
        self._mark.hide()
        for widget in self._made:
            self._column.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._made, self.rows = [], {}
        entries = [entry for entry in self._controller.own if not entry.run_dir]
        if entries:
            self._add(_heading(tr("Queue")))
        self._add_entries(entries)
        has_waiting = any(entry.is_waiting for entry in entries)
        if has_waiting and self._controller.shares:
            self._add_note(tr("Shares the machine with {shares}", shares="; ".join(self._controller.shares)))
        num_others = sum(not e.is_over and not self._controller.is_own(e) for e in self._controller.entries)
        if has_waiting and num_others:
            self._add_note(tr("Beside %n run(s) of other projects in the queue", "", num_others))
        self.start.setVisible(has_waiting and not self._controller.is_worked)
        self.setVisible(bool(entries))

    def _add_note(self, text: str) -> None:
        note = ElidedLabel()
        note.setText(text)
        theme.mark(note, "role", "muted")
        self._add(note)

    def _add(self, widget: QWidget) -> None:
        self._column.insertWidget(len(self._made), widget)
        self._made.append(widget)
        widget.show()

    def _add_entries(self, entries: Sequence[Entry]) -> None:
        """Add the entries; of a long queue the next ones."""
        visible = entries[:MOST_ROWS]
        first = next((entry.id for entry in entries if entry.is_waiting), 0)
        for entry in visible:
            tip = message_text(entry.reason) or _why(entry)
            row = self.rows[entry.id] = QueueRow(entry.state, self._name_of(entry), tip)
            self._add(row)
            self._add_buttons(row, entry, is_first=entry.id == first)
        if len(visible) < len(entries):
            more = QLabel(tr("… and {count:,} more", count=len(entries) - len(visible)))
            theme.mark(more, "role", "muted")
            self._add(more)

    def _add_buttons(self, row: QueueRow, entry: Entry, *, is_first: bool) -> None:
        controller, id = self._controller, entry.id
        if entry.is_waiting:
            row.make_draggable()
            row.dragged.connect(self._show_place)
            row.dropped.connect(lambda y: self._drop(id, y))
            up = row.add("chevron-up", tr("Move up"))
            up.clicked.connect(lambda: controller.move_up(id))
            up.setEnabled(not is_first)
            if is_first:
                up.setToolTip(tr("Already the next one"))
            row.add("play", tr("Train now")).clicked.connect(lambda: controller.start_now(id))
        if entry.operation and entry.state == "running":
            row.add("stop", tr("Stop")).clicked.connect(lambda: controller.stop(id))
        if entry.operation and entry.state == "finished":
            row.add("log", tr("Show the result")).clicked.connect(lambda: self.show_result(entry))
        if entry.is_waiting or entry.is_over:
            row.add("close", tr("Remove from the queue")).clicked.connect(lambda: controller.remove(id))

    def show_result(self, entry: Entry) -> None:
        """Show what an answer has come to."""
        ResultDialog(self._controller.queue, entry, self.window()).open()

    def _name_of(self, entry: Entry) -> str:
        """Return the title of an entry's project, with what differs; of an answer with how far it has come."""
        return " · ".join(filter(None, (entry.title, entry.about, entry.progress)))

    def _place_at(self, y: int) -> tuple[int, int]:
        """Return the place among the waiting rows that a height in the panel stands for, from 0, and its edge."""
        waiting = [row for row in self.rows.values() if row.can_be_dragged]
        above = [row for row in waiting if row.geometry().center().y() < y]
        edge = above[-1].geometry().bottom() + 2 if above else waiting[0].geometry().top() - 3
        return len(above), edge

    def _show_place(self, y: int) -> None:
        self._mark.setStyleSheet(f"background: {theme.current().accent.name()};")
        self._mark.setGeometry(0, self._place_at(y)[1], self.width(), 2)
        self._mark.raise_()
        self._mark.show()

    def _drop(self, id: int, y: int) -> None:
        """Move an entry to where it was dropped."""
        self._mark.hide()
        places = [entry.id for entry in self._controller.own if entry.is_waiting]
        if id in places:
            before = self._place_at(y)[0]
            to = before if places.index(id) < before else before + 1
            self._controller.move(id, to)
        self.refresh()

    def shutdown(self) -> None:
        """Disconnect from the theme."""
        theme.changed.disconnect(self.refresh)


def _why(entry: Entry) -> str:
    if entry.operation and not entry.is_waiting:
        return tr("It goes on when the window is closed") if entry.state == "running" else ""
    return tr("Waiting for another run to end") if entry.after else tr("Waiting for its turn")


def _heading(text: str) -> QLabel:
    label = QLabel(text.upper())
    theme.mark(label, "role", "section")
    label.setAlignment(Qt.AlignmentFlag.AlignLeft)
    return label
