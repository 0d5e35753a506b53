"""Which run is shown next: the one that the queue begins, and the others of the project that are under way."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject

from netwright.app.data.dataset_tracker import DatasetTracker
from netwright.app.runs.phases import Phase
from netwright.app.shell import Shell
from netwright.app.user_code_tracker import UserCodeTracker
from netwright.designer.engine_messages import title_text
from netwright.designer.language import listed, tr
from netwright.engine.operations.started_runs import ALIVE, AliveRequest, TrainRequest
from netwright.engine.project.check import check
from netwright.engine.project.data_hosts import written
from netwright.engine.project.file import dumps
from netwright.engine.project.user_code import has_code

if TYPE_CHECKING:  # what follows a run is imported with the first run: a start of the window does not pay for it
    from netwright.app.runs.queue_panel import QueueController, QueuePanel
    from netwright.engine.runs.folder import RunFolder
    from netwright.engine.runs.queue import Entry


class RunView(Protocol):
    """Shows the curves of one run at a time."""

    @property
    def phase(self) -> Phase:
        """The phase of the run that is shown."""

    @property
    def run_folder(self) -> "RunFolder | None":
        """The run that is shown."""

    @property
    def has_room_for_next(self) -> bool:
        """Whether the next run of the queue may be shown."""

    def follow(self, folder: "RunFolder") -> None:
        """Show another run."""


class QueueFollower(QObject):
    """Puts projects into the queue, and has the runs that it begins shown."""

    def __init__(self, shell: Shell, view: RunView, parent: QObject) -> None:
        super().__init__(parent)
        self._shell, self._view = shell, view
        self._pending: list[tuple[str, TrainRequest, bool, str]] = []
        """Title, request and trust of what was queued before the run that it waits for had a folder."""
        self._queue: QueueController | None = None
        self.panel: QueuePanel | None = None
        self._alive: Sequence[RunFolder] = ()
        """The runs of the project that were under way at the last look, newest first."""
        self._is_started = False
        self._missed: tuple[Entry, RunFolder | None] | None = None
        """What began while another run was looked at, and that run."""
        shell.documents.changed.connect(self._show_project)

    def _show_project(self) -> None:
        """The open project has another identity, or another file."""
        if self._queue is not None:
            self._queue.show_project(self._shell.documents.key)

    @property
    def queue(self) -> "QueueController":
        """The queue; made when first needed."""
        if self._queue is None:
            from netwright.app.runs.queue_panel import QueueController

            self._queue = QueueController(self)
            self._queue.show_project(self._shell.documents.key)
            self._queue.began.connect(self._on_entry_began)
            self._queue.refused.connect(lambda why: self._shell.show_error(tr("The queue"), why))
        return self._queue

    @property
    def num_waiting(self) -> int:
        """The number of runs that are still to be trained, as far as is known."""
        return len(self._pending) + (len(self._queue.waiting) if self._queue is not None else 0)

    def make_panel(self) -> "QueuePanel":
        """Make the list of what waits."""
        from netwright.app.runs.queue_panel import QueuePanel

        self.panel = QueuePanel(self.queue)
        self.queue.look()
        return self.panel

    def add(self, title: str, request: TrainRequest) -> None:
        """Queue a project behind the run that is under way, or being prepared."""
        item = title, request, has_code(self._shell.editor.project), written(self._shell.documents.hosts)
        if self._view.phase.is_preparing:
            self._pending.append(item)
        else:
            self._add(*item)
        self._shell.hint(tr("Queued: {title} ({num_waiting:,} waiting).", title=title, num_waiting=self.num_waiting))

    def _add(self, title: str, request: TrainRequest, trust: bool, hosts: str, *, begins: bool = True) -> None:
        path, after = str(request.project_path or ""), self._view.run_folder
        self.queue.add(request.project, title, path, after=after, begins=begins, trust=trust, hosts=hosts)

    def add_pending(self, *, begins: bool = True) -> None:
        """Queue what was waiting for the current run to have a folder: it has one now, or never will."""
        pending, self._pending = self._pending, []
        for item in pending:
            self._add(*item, begins=begins)

    def _on_entry_began(self, entry: "Entry") -> None:
        """Show the run of the project that the queue has begun, unless another one is looked at."""
        if self.queue.is_own(entry):
            if self._view.has_room_for_next:
                self._missed = None
                self._view.follow(self.queue.folder_of(entry))
            else:
                self._missed = entry, self._view.run_folder
        self.find_alive()

    def follow_next(self) -> None:
        """After the end of a run: show the one that the queue has begun meanwhile, if any."""
        if self._queue is None or self._view.phase.is_running:
            return
        self._queue.look()
        run_folder = self._view.run_folder
        began = list(self._queue.running)
        if self._missed is not None and self._missed[1] == run_folder:
            began.append(self._missed[0])  # it may have ended as well
        self._missed = None
        for entry in began:
            if not self._view.phase.is_running and (run_folder is None or entry.run_dir != str(run_folder.path)):
                self._on_entry_began(entry)

    # ---- what is under way ----

    def start(self) -> None:
        """Look for runs that go on without the window, from now on: it is up."""
        self._is_started = True
        self.find_alive()

    def find_alive(self) -> None:
        """Ask the engine which runs of the project are under way; follow the newest where none is shown."""
        if self._is_started:
            request = self._project()
            self._shell.server.ask(ALIVE, request, partial(self._take_alive, request), lambda _: None)

    def _project(self) -> AliveRequest:
        return AliveRequest(project_path=self._shell.documents.source, project_id=self._shell.documents.identity)

    def _take_alive(self, request: AliveRequest, answer: Mapping[str, Any]) -> None:
        from netwright.engine.runs.folder import RunFolder

        if request != self._project():
            return
        runs = [RunFolder(Path(run)) for run in answer["runs"]]
        queued = {entry.run_dir for entry in self._queue.entries} if self._queue is not None else set()
        news = [run for run in runs if run not in self._alive and str(run.path) not in queued]
        self._alive = runs
        if self._view.phase.shows_run:
            others = [run for run in news if run != self._view.run_folder]
            if others:
                self._shell.hint(tr("%n more run(s) of this project in progress, listed in Runs.", "", len(others)))
        elif news and not self._view.phase.is_preparing:  # else it may be the run that is about to be shown
            self._view.follow(runs[0])
            name = title_in_words(runs[0])
            if runs[1:]:
                count = len(runs)
                text = tr("Runs shows {name}, the newest of {count:,} in progress.", name=name, count=count)
            else:
                text = tr("Runs shows {name}, which is in progress.", name=name)
            self._shell.hint(text)

    def forget(self) -> None:
        """Another project is open."""
        self._alive, self._missed = (), None

    def stop(self) -> None:
        """Begin no more runs; what waits stays in the queue."""
        self.add_pending(begins=False)
        if self._queue is not None:
            self._queue.leave()

    def close(self) -> None:
        """Stop looking; the queue goes on."""
        if self._queue is not None:
            self._queue.close()
        if self.panel is not None:
            self.panel.shutdown()


def training_request(
    shell: Shell, dataset: DatasetTracker, user_code: UserCodeTracker, show_problems: Callable[[], None]
) -> TrainRequest | None:
    """Return the open project for the engine to train; None after leading to the problem that prevents it."""
    editor, documents = shell.editor, shell.documents
    # Whether data that was refused can be read now is for the engine to say: its files may be back.
    if not editor.project.network.layers:
        shell.show_tab("design")
        if editor.check_result.starter:
            shell.hint(tr("There is no network to train yet. Make one for the data first."))
        else:
            shell.hint(tr("There is no network to train yet. Add an input layer and the layers after it first."))
        return None
    # While the data is read anew, as after an edit of its lags, only the engine knows whether the network fits it.
    result = editor.check_result if dataset.is_current else check(editor.project)
    errors = [problem for problem in result.errors if problem.message != dataset.error]
    if errors:
        show_problems()
        shell.hint(tr("%n problem(s) to solve before training.", "", len(errors)))
        return None
    if editor.project.data.source == "none":
        shell.show_tab("data")
        shell.hint(tr("Choose data first: the network learns from it."))
        return None
    if dataset.is_current and dataset.hosts:
        shell.show_tab("data")
        shell.hint(tr("The data is at {hosts}. Fetch it first.", hosts=listed(list(dataset.hosts))))
        return None
    if not user_code.ask():
        return None
    project, data = dumps(documents.identified(editor.project)), editor.project.data.write()
    return TrainRequest(project=project, project_path=documents.source, data=data, base=documents.base)


def title_in_words(folder: "RunFolder") -> str:
    """Return the title of the run in a folder, in the language of the window."""
    from netwright.engine.runs.summary import title_of

    return title_text(title_of(folder))
