"""Which run is shown next: the one that the queue begins, and the others of the project that are under way."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject

from netwright.app.runs.phases import Phase
from netwright.app.shell import Shell
from netwright.engine.core.errors import plural
from netwright.engine.project.data_hosts import written
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
        self._pending: list[tuple[str, dict[str, Any], bool]] = []
        """Title, request and trust of what was queued before the run that it waits for had a folder."""
        self._queue: QueueController | None = None
        self.panel: QueuePanel | None = None
        self._alive: Sequence[RunFolder] = ()
        """The runs of the project that were under way at the last look, newest first."""
        self._is_started = False
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
            self._queue.refused.connect(lambda why: self._shell.show_error("The queue", why))
        return self._queue

    @property
    def num_waiting(self) -> int:
        """The number of runs that are still to be trained, as far as is known."""
        return len(self._pending) + (len(self._queue.waiting) if self._queue is not None else 0)

    def make_panel(self) -> "QueuePanel":
        """Make the list of what waits and trains."""
        from netwright.app.runs.queue_panel import QueuePanel

        self.panel = QueuePanel(self.queue)
        self.panel.shown.connect(self._view.follow)
        self.queue.look()
        return self.panel

    def add(self, title: str, request: dict[str, Any]) -> None:
        """Queue a project behind the run that is under way, or being prepared."""
        item = title, request, has_code(self._shell.editor.project)
        if self._view.phase.is_preparing:
            self._pending.append(item)
        else:
            self._add(*item)
        self._shell.hint(f"Queued: {title} ({self.num_waiting:,} waiting).")

    def _add(self, title: str, request: dict[str, Any], trust: bool, *, begins: bool = True) -> None:
        text, path, after = request["project"], request["project_path"] or "", self._view.run_folder
        hosts = written(request["hosts"])
        self.queue.add(text, title, path, after=after, begins=begins, trust=trust, hosts=hosts)

    def add_pending(self, *, begins: bool = True) -> None:
        """Queue what was waiting for the current run to have a folder: it has one now, or never will."""
        pending, self._pending = self._pending, []
        for item in pending:
            self._add(*item, begins=begins)

    def _on_entry_began(self, entry: "Entry") -> None:
        """Show the run of the project that the queue has begun, unless another one is looked at."""
        if self._view.has_room_for_next and self.queue.is_own(entry):
            self._view.follow(self.queue.folder_of(entry))
        self.find_alive()

    def follow_next(self) -> None:
        """After the end of a run: show the one that the queue has begun meanwhile, if any."""
        if self._queue is None or self._view.phase.is_running:
            return
        self._queue.look()
        run_folder = self._view.run_folder
        for entry in self._queue.running:
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
            self._shell.server.request("alive", self._project(), self._take_alive, lambda _: None)

    def _project(self) -> dict[str, Any]:
        documents = self._shell.documents
        path = str(documents.source) if documents.source is not None else None
        return {"project_path": path, "project_id": documents.identity}

    def _take_alive(self, answer: dict[str, Any]) -> None:
        from netwright.engine.runs.folder import RunFolder
        from netwright.engine.runs.summary import title_of

        if {name: answer[name] for name in ("project_path", "project_id")} != self._project():
            return
        runs = [RunFolder(Path(run)) for run in answer["runs"]]
        queued = {entry.run_dir for entry in self._queue.entries} if self._queue is not None else set()
        news = [run for run in runs if run not in self._alive and str(run.path) not in queued]
        self._show_alive(runs)
        if self._view.phase.shows_run:
            others = [run for run in news if run != self._view.run_folder]
            if others:
                self._shell.hint(
                    f"{plural(len(others), 'more run')} of this project in progress, listed in the Train tab."
                )
        elif news and not self._view.phase.is_preparing:  # else it may be the run that is about to be shown
            self._view.follow(runs[0])
            name = title_of(runs[0])
            others_too = f", the newest of {len(runs):,} in progress; the others are listed below it"
            self._shell.hint(f"The Train tab shows {name}{others_too if runs[1:] else ', which is in progress'}.")

    def _show_alive(self, runs: "Sequence[RunFolder]") -> None:
        self._alive = runs
        self.show_current()

    def show_current(self) -> None:
        """List the runs that are under way beside the one that is shown."""
        if self.panel is not None:
            self.panel.show_others(self._alive, self._view.run_folder)

    def forget(self) -> None:
        """Another project is open."""
        self._show_alive(())

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
