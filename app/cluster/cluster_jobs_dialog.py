"""The dialog of runs on clusters: their states, and the ways to show, stop, fetch and delete them."""

import contextlib
import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QLabel, QPushButton, QTableWidget, QVBoxLayout

from netwright.app.dialog import Dialog
from netwright.app.messages import ask
from netwright.app.shell import Shell
from netwright.app.widgets import RowDelegate, within_screen
from netwright.designer import theme
from netwright.designer.engine_messages import message_text, title_text
from netwright.designer.items import table_item
from netwright.designer.language import noop, tr, translation
from netwright.designer.markup import visible
from netwright.engine.cluster.job_list import Job, jobs
from netwright.engine.cluster.operations.fetch import OPERATION as FETCH
from netwright.engine.cluster.operations.fetch import FetchRequest
from netwright.engine.cluster.operations.jobs import OPERATION as JOBS
from netwright.engine.cluster.operations.jobs import JobsRequest
from netwright.engine.core.errors import UserError
from netwright.engine.operations.operation import Operation, Request
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.remote import RemoteRun
from netwright.engine.runs.summary import title_of

COLUMNS = (noop("Run"), noop("State"), noop("Profile"), noop("Job"), noop("Coordinator"), noop("Submitted"))
POLL_MS = 2000
STOPPING = noop("The run is asked to stop.")
LOST = noop("Its coordinator on this machine is gone. Resume goes on from the last checkpoint, if it has saved one.")
NONE = noop(
    "No run is on a cluster. Choose the execution environment parallel, and a profile, in the Training Options."
)


class ClusterJobsDialog(Dialog):
    """Lists the runs of the user on clusters, the newest first. `show_run` shows one on the page Runs."""

    def __init__(self, shell: Shell, show_run: Callable[[RunFolder], object]) -> None:
        super().__init__(shell.dialog_parent)
        self._show_run, self._server = show_run, shell.server
        self._jobs: list[Job] = []
        self._requests: set[int] = set()
        self.setWindowTitle(tr("Jobs on clusters"))
        self.resize(within_screen(self, 900, 420))
        self.table, self.state = QTableWidget(0, len(COLUMNS)), QLabel()
        self.table.setHorizontalHeaderLabels([translation(text) for text in COLUMNS])
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableWidget.SelectionMode.SingleSelection)
        self.table.setShowGrid(False)
        self.table.setItemDelegate(RowDelegate(self.table))
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.table.setAccessibleName(tr("Jobs"))
        self.table.itemSelectionChanged.connect(self._on_selected)
        self.table.itemDoubleClicked.connect(lambda _: self.show_selected())
        self.detail = QLabel()
        self.detail.setWordWrap(True)
        self.detail.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.detail.setAccessibleName(tr("About the selected job"))
        self.state.setWordWrap(True)
        theme.mark(self.state, "role", "muted")
        self.show_button, self.stop_button = QPushButton(tr("Show")), QPushButton(tr("Stop"))
        self.fetch_button, self.delete_button, close = (
            QPushButton(tr("Fetch")),
            QPushButton(tr("Delete…")),
            QPushButton(tr("Close")),
        )
        self.show_button.setToolTip(tr("Curves, log and results"))
        self.stop_button.setToolTip(tr("Ask the run to stop; what it has learned is kept"))
        self.fetch_button.setToolTip(tr("Bring its weights and results here now, also while it trains"))
        self.delete_button.setToolTip(tr("End the job and delete its files on the cluster"))
        column, bottom = QVBoxLayout(self), QHBoxLayout()
        column.setContentsMargins(16, 16, 16, 14)
        column.setSpacing(12)
        bottom.addWidget(self.state, 1)
        for button in (self.show_button, self.stop_button, self.fetch_button, self.delete_button, close):
            button.setAutoDefault(False)
            bottom.addWidget(button)
        column.addWidget(self.table, 1)
        column.addWidget(self.detail)
        column.addLayout(bottom)
        self.show_button.clicked.connect(self.show_selected)
        self.stop_button.clicked.connect(self.stop_selected)
        self.fetch_button.clicked.connect(self.fetch_selected)
        self.delete_button.clicked.connect(self.delete_selected)
        close.clicked.connect(self.accept)
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_MS)
        self._timer.timeout.connect(self.refresh)
        self._timer.start()
        self.finished.connect(self._end)
        self.refresh()
        self._start(JOBS, JobsRequest(), "")  # goes on following what nobody follows

    @property
    def selected(self) -> Job | None:
        """The selected run."""
        row = self.table.currentRow()
        return self._jobs[row] if self.table.selectedItems() and row < len(self._jobs) else None

    def refresh(self) -> None:
        """Read the states again; the selection stays."""
        current = self.selected
        self._jobs = jobs()
        self.table.setRowCount(len(self._jobs))
        for row, job in enumerate(self._jobs):
            for column, text in enumerate(_cells(job)):
                if (item := self.table.item(row, column)) is None:
                    item = table_item()
                    self.table.setItem(row, column, item)
                item.setText(visible(text))
                lost = job.remote.lost if job.remote else ""
                item.setToolTip(visible(str(job.folder.path) if column == 0 else lost if column == 1 else text))
        if current is not None:
            paths = [job.folder.path for job in self._jobs]
            self.table.setCurrentCell(paths.index(current.folder.path) if current.folder.path in paths else -1, 0)
        elif self._jobs and not self.table.selectedItems():
            self.table.setCurrentCell(0, 0)
        if not self._jobs:
            self._say(translation(NONE))
        self._on_selected()

    def _on_selected(self) -> None:
        job = self.selected
        is_open = job is not None and _state(job.folder) not in ENDS
        for button in (self.show_button, self.delete_button):
            button.setEnabled(job is not None)
        self.fetch_button.setEnabled(job is not None and job.remote is not None)
        self.stop_button.setEnabled(is_open)
        if self.state.text() == translation(STOPPING) and not is_open:
            self._say("")
        text = "" if job is None else _detail(job)
        self.detail.setText(text)
        self.detail.setVisible(bool(text))

    def show_selected(self) -> None:
        """Show the run on the page Runs."""
        if (job := self.selected) is not None:
            self.accept()
            self._show_run(job.folder)

    def stop_selected(self) -> None:
        """Ask the run to stop."""
        if (job := self.selected) is None:
            return
        try:
            job.folder.request("stop")
        except UserError as error:
            self._say(message_text(error), refused=True)
            return
        self._start(JOBS, JobsRequest(), translation(STOPPING))

    def fetch_selected(self) -> None:
        """Bring the run here."""
        if (job := self.selected) is not None:
            self._say(tr("Fetching…"))
            self._start(FETCH, FetchRequest(folder=job.folder.path.absolute()), tr("Fetched."))

    def delete_selected(self) -> None:
        """Delete the files of the job, once that is confirmed."""
        if (job := self.selected) is None:
            return
        if job.remote is None:
            text = tr("Stop the run and take it off this list? Its folder here stays.")
        else:
            text = tr(
                "End the job and delete its files in {folder}? The run here keeps what was fetched.",
                folder=job.remote.folder,
            )
        if ask(self, tr("Delete the job"), text, tr("Delete")):
            self._say(tr("Deleting…"))
            self._start(JOBS, JobsRequest(delete=job.folder.path.absolute()), tr("Deleted."))

    def _start(self, operation: Operation[Any, Any], request: Request, outcome: str) -> None:
        """Ask the engine, and say when it is done, or why it is not."""

        def finish(text: str, *, refused: bool = False) -> None:
            self._requests.discard(id)
            self.refresh()
            if text:
                self._say(text, refused=refused)

        id = self._server.ask(operation, request, lambda _: finish(outcome), lambda why: finish(why, refused=True))
        self._requests.add(id)

    def _say(self, text: str, *, refused: bool = False) -> None:
        theme.mark(self.state, "role", "error" if refused else "muted")
        self.state.setText(text)

    def _end(self, _result: int = 0) -> None:
        self._timer.stop()
        for id in self._requests:
            self._server.cancel(id)


def show_jobs(shell: Shell, follow: Callable[[RunFolder], object]) -> None:
    """Show the runs on clusters. `follow` shows one on the page Runs."""

    def show(folder: RunFolder) -> None:
        shell.show_tab("runs")
        follow(folder)

    dialog = ClusterJobsDialog(shell, show)
    dialog.exec()
    dialog.deleteLater()


def _state(folder: RunFolder) -> str:
    try:
        return folder.state()
    except UserError:
        return noop("damaged")


def _detail(job: Job) -> str:
    """Return why a run has ended, waits or is not heard of, and where its files are."""
    state, remote = _state(job.folder), job.remote
    reason = remote.reason if remote else job.note
    if state in ENDS:
        with contextlib.suppress(UserError, OSError):
            before = remote.reason if remote else translation(LOST) if state == "lost" else ""
            reason = str((job.folder.read_result() or {}).get("reason") or before)
    elif remote is not None and remote.lost:
        reason = remote.lost
    elif remote is not None and remote.job_state == "waiting":
        if not reason:
            reason = tr("It waits in its queue.")
        else:
            reason = tr("Slurm says: {reason}.", reason=reason) if job.kind == "slurm" else f"{reason}."
    reason = message_text(reason)
    reason = reason[:1].upper() + reason[1:]
    place = remote.folder if remote else job.folder.path
    return "\n".join(filter(None, (reason, tr("Files: {host}, {place}", host=job.host, place=place))))


def _state_in_words(state: str, remote: RemoteRun) -> str:
    """Return the state of a run on a cluster, with why it waits or that it is not heard of."""
    if state in ENDS:
        return translation(state)
    words = translation(state)
    if remote.job_state == "waiting":
        words = tr("waits: {reason}", reason=message_text(remote.reason)) if remote.reason else tr("waits")
    return tr("{state}, not connected", state=words) if remote.lost else words


def _cells(job: Job) -> tuple[str, ...]:
    """Return the texts of a row."""
    state, remote = _state(job.folder), job.remote
    state = _state_in_words(state, remote) if remote else translation(state)
    submitted = time.strftime("%Y-%m-%d %H:%M", time.localtime(job.submitted)) if job.submitted else ""
    return title_text(title_of(job.folder)), state, job.profile, job.number, job.host, submitted
