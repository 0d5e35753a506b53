"""Which run is shown next: what the queue begins, and what else of the project is under way."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from engine.core.errors import plural
from engine.project.user_code import has_code

if TYPE_CHECKING:  # what follows a run is imported with the first run: a start of the window does not pay for it
    from app.runs.queue import QueueKeeper
    from app.runs.queue_panel import QueuePanel
    from app.training import Training
    from app.window import MainWindow
    from engine.runs.folder import RunFolder
    from engine.runs.queue import Entry


class Turns(QObject):
    """Tells the training of a window which run to show next, and puts projects into the queue for it."""

    def __init__(self, window: "MainWindow", training: "Training") -> None:
        super().__init__(training)
        self._window, self._training = window, training
        self._to_queue: list[tuple[str, dict[str, Any], bool]] = []
        """What was put into the queue before the run that it waits for had a folder."""
        self._keeper: QueueKeeper | None = None
        self.panel: QueuePanel | None = None
        self._alive: list[RunFolder] = []
        """The runs of the project that were under way when it was looked, the newest first."""
        self._looks = False

    @property
    def keeper(self) -> "QueueKeeper":
        """The queue; made when first needed."""
        if self._keeper is None:
            from app.runs.queue import QueueKeeper

            self._keeper = QueueKeeper(self)
            self._keeper.began.connect(self._on_entry_began)
            self._keeper.refused.connect(lambda why: self._window.show_error("The queue", why))
        return self._keeper

    @property
    def num_waiting(self) -> int:
        """How many runs are still to be trained, as far as is known."""
        return len(self._to_queue) + (len(self._keeper.waiting) if self._keeper is not None else 0)

    def make_panel(self) -> "QueuePanel":
        """The list of what waits and trains."""
        from app.runs.queue_panel import QueuePanel

        self.panel = QueuePanel(self.keeper)
        self.panel.shown.connect(self._training.follow)
        self.keeper.look()
        return self.panel

    def put(self, title: str, request: dict[str, Any]) -> None:
        """Let a project wait for the end of the run that is under way, or being prepared."""
        item = title, request, has_code(self._window.editor.project)
        if self._training.is_starting:
            self._to_queue.append(item)
        else:
            self._put(*item)
        count = plural(self.num_waiting, "run")
        self._window.hint(f"{title} is trained when this run has ended; {count} in the queue.")

    def _put(self, title: str, request: dict[str, Any], trust: bool, *, begins: bool = True) -> None:
        text, path, after = request["project"], request["project_path"] or "", self._training.run_folder
        self.keeper.add(text, title, path, after=after, trust=trust, begins=begins)

    def put_waiting(self, *, begins: bool = True) -> None:
        """The run has its folder, or will have none: what was to wait for it goes into the queue."""
        waiting, self._to_queue = self._to_queue, []
        for item in waiting:
            self._put(*item, begins=begins)

    def _on_entry_began(self, entry: "Entry") -> None:
        """The queue has begun a run: it is shown, unless another one is looked at."""
        if self._training.has_room_for_next:
            self._training.follow(self.keeper.folder_of(entry))
        self.find_alive()

    def follow_next(self) -> None:
        """The run that was followed has ended: if the queue has begun another one already, that is shown."""
        if self._keeper is None or self._training.is_running:
            return
        self._keeper.look()
        shown = self._training.run_folder
        for entry in self._keeper.running:
            if not self._training.is_running and (shown is None or entry.run_dir != str(shown.path)):
                self._on_entry_began(entry)

    # ---- what is under way ----

    def find_alive(self) -> None:
        """Ask the engine which runs of the project are under way: the newest is followed where none is shown."""
        path = self._window.documents.path or self._window.documents.origin
        if path is not None and self._looks:
            given = {"project_path": str(path)}
            self._window.server.request("alive", given, self._take_alive, lambda _: None)

    def start_looking(self) -> None:
        """The window is up: what goes on without it is found."""
        self._looks = True
        self.find_alive()

    def _take_alive(self, answer: dict[str, Any]) -> None:
        from engine.runs.folder import RunFolder

        path = self._window.documents.path or self._window.documents.origin
        if answer["project_path"] != str(path):
            return
        found = [RunFolder(Path(run)) for run in answer["runs"]]
        queued = {entry.run_dir for entry in self._keeper.entries} if self._keeper is not None else set()
        news = [run for run in found if run not in self._alive and str(run.path) not in queued]
        self._show_others(found)
        if self._training.shows_run:
            others = [run for run in news if run != self._training.run_folder]
            if others:
                self._window.hint(f"{plural(len(others), 'more run')} of this project under way: see the Train tab.")
        elif news:
            self._window.page("train")
            self._training.follow(found[0])
            name = found[0].path.name
            others_too = f", the newest of {len(found):,} that are under way: the others are listed there"
            self._window.hint(f"The Train tab follows {name}{others_too if found[1:] else ', which is under way'}.")

    def _show_others(self, found: "list[RunFolder]") -> None:
        self._alive = found
        self.show_current()

    def show_current(self) -> None:
        """Another run is shown: it is not one of the others."""
        if self.panel is not None:
            self.panel.show_others(self._alive, self._training.run_folder)

    def forget(self) -> None:
        """Another project is open."""
        self._show_others([])

    def leave(self) -> None:
        """Begin no more runs; what waits stays."""
        self.put_waiting(begins=False)
        if self._keeper is not None:
            self._keeper.leave()

    def close(self) -> None:
        """Look no more; the queue goes on."""
        if self._keeper is not None:
            self._keeper.close()
        if self.panel is not None:
            self.panel.shutdown()
