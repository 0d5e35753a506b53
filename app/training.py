"""Training from the window: starting a run, following it, asking it for things. The run itself lives in its folder."""

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QSettings, QTimer, Signal
from PySide6.QtWidgets import QFileDialog

from netwright.app.data.dataset_tracker import DatasetTracker
from netwright.app.notifier import Notifier
from netwright.app.runs.phases import Lifecycle, Phase, Step
from netwright.app.runs.queue_follower import QueueFollower
from netwright.app.shell import Shell
from netwright.app.user_code_tracker import UserCodeTracker
from netwright.engine.core.errors import UserError, listed, plural
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.project.file import dumps

if TYPE_CHECKING:  # what follows a run is imported with the first run: a start of the window does not pay for it
    from netwright.app.runs.monitor import Monitor
    from netwright.app.runs.run_follower import Outcome, RunFollower
    from netwright.engine.runs.folder import RunFolder


DATA_CHANGED = "The data of this run has changed since it trained"
MIXED = (
    "What the run learns from now on comes from the data as it is now. Samples that it has trained on may be among"
    " those of validation and test."
)


class Training(QObject):
    """The run that the Train tab shows, if any, and what is needed to start the next."""

    state_changed = Signal()
    monitor_made = Signal(object)
    """The Train tab is there."""
    run_shown = Signal()
    """Another run is shown from now on; its events follow."""
    received = Signal(object)
    """An event of the run that is shown."""
    problems_requested = Signal()
    """The problems that keep a run from starting are to be shown."""
    export_requested = Signal()
    test_requested = Signal(object)
    """The folder of a run, which the Test tab is to show."""

    def __init__(self, shell: Shell, dataset: DatasetTracker, user_code: UserCodeTracker, notifier: Notifier) -> None:
        super().__init__(shell.dialog_parent)
        self._shell, self._dataset, self._user_code, self._notifier = shell, dataset, user_code, notifier
        self._monitor: Monitor | None = None
        self._follower: RunFollower | None = None
        self._lifecycle = Lifecycle()
        self._recorded: Outcome | None = None
        """How the run that is shown had ended before it was shown."""
        self._prepared = ""
        """Title of the project whose run is prepared."""
        self.queue_follower = QueueFollower(shell, self, self)

    # ---- what is under way ----

    @property
    def phase(self) -> Phase:
        """The phase of the run, from the request for a run to its end."""
        return self._lifecycle.phase

    @property
    def is_running(self) -> bool:
        """Whether a run of this window is under way."""
        return self.phase.is_running

    @property
    def can_resume(self) -> bool:
        """Whether the run that is shown waits, or has ended and can go on from a checkpoint."""
        outcome = self._follower.outcome or self._recorded if self._follower is not None else None
        if self.phase is Phase.PAUSED:
            return True
        return self.phase.can_resume and outcome is not None and outcome.has_checkpoint

    @property
    def has_room_for_next(self) -> bool:
        """Whether the next run of the queue may be shown: the one before it was seen to end, or none was looked at."""
        return self.phase.has_room_for_next and self._monitor is not None

    @property
    def run_folder(self) -> "RunFolder | None":
        """The run that is shown."""
        return self._follower.folder if self._follower else None

    @property
    def run_name(self) -> str:
        """The run that is under way or shown, for a person: its title as it is now."""
        from netwright.engine.runs.summary import title_of

        folder = self.run_folder
        return title_of(folder) if folder is not None and not self._prepared else self._prepared

    @property
    def short_name(self) -> str:
        """The run that is under way in a few words, with its project: `run 5 (digits)`."""
        folder = self.run_folder
        if folder is None or self._prepared:
            return f"the run of {self._prepared.removesuffix(SUFFIX)}" if self._prepared else ""
        with contextlib.suppress(UserError):
            info = folder.read_info()
            if info.number:
                return f"run {info.number} ({info.name})"
        return self.run_name

    def _take(self, *steps: Step) -> None:
        for step in steps:
            self._lifecycle.take(step)
        self.state_changed.emit()

    # ---- the Train tab ----

    @property
    def monitor(self) -> "Monitor":
        """The tab that shows the run; made when first needed."""
        if self._monitor is None:
            from netwright.app.runs.monitor import Monitor

            self._monitor = monitor = Monitor(self._shell.dialog_parent, QSettings("Netwright", "Netwright"))
            self.monitor_made.emit(monitor)
            monitor.clicked.connect(self._on_clicked)
            facts = monitor.facts
            facts.offer_clicked.connect(self.take_offer)
            facts.buttons.more.requested.connect(self.request)
            facts.add_panel(self.queue_follower.make_panel())
            self.state_changed.connect(lambda: facts.show_phase(self.phase))
        return self._monitor

    def _on_clicked(self, button: str) -> None:
        match button:
            case "stop" | "stop_after_epoch":
                self.stop(after_epoch=button == "stop_after_epoch")
            case "pause":
                self.request("pause")
            case "resume":
                self.resume()
            case "train":
                self.start()
            case "export":
                self.export_requested.emit()
            case "test":
                self._shell.show_tab("test")  # which makes the tab
                self.test_requested.emit(self.run_folder)
            case "compare":
                self._shell.show_tab("experiments")

    def show_project(self) -> None:
        """Another project was opened: its last run is shown once the Train tab is seen. A run under way stays there."""
        if self._is_under_way:
            self._shell.hint(f"{self.run_name} continues: the Train tab shows it.")
            if self._monitor is not None:
                self._monitor.facts.add_line("", f"{self.run_name} continues, another project is open.")
            return
        self._drop_follower()
        self._lifecycle.take(Step.PROJECT_OPENED)
        self.queue_follower.forget()
        self.queue_follower.find_alive()
        if self._monitor is not None:
            self._monitor.show_nothing()
            if self._monitor.isVisible():
                self.catch_up()
        self.state_changed.emit()

    @property
    def _is_under_way(self) -> bool:
        """Whether a run is prepared, or the one that is shown goes on."""
        return self.phase.is_preparing or (self._follower is not None and _is_alive(self._follower))

    def catch_up(self) -> None:
        """The Train tab is seen: show the last run of the project, if another project was opened meanwhile."""
        from netwright.engine.runs.history import last_run

        if self.phase is Phase.UNSEEN and (run := last_run(self._shell.documents.key)) is not None:
            self.follow(run)
        self._lifecycle.take(Step.TAB_SEEN)
        self.queue_follower.queue.look()
        self.queue_follower.find_alive()

    # ---- starting a run ----

    def start(self) -> None:
        """Start a run of the project as it is now, or lead to what keeps it from starting."""
        if not self.is_running and (request := self._request()) is not None:
            self._begin(self._shell.documents.title, request)

    def queue(self) -> None:
        """Train the project as it is now after the run that is under way. The queue needs no window: it goes on when
        this one is closed."""
        if not self.is_running:
            self.start()
        elif (request := self._request()) is not None:
            self._shell.show_tab("train")
            self.queue_follower.add(self._shell.documents.title.removesuffix(SUFFIX), request)

    def _request(self) -> dict[str, Any] | None:
        """The project for the engine to train; None after leading to the problem that prevents it."""
        editor, documents = self._shell.editor, self._shell.documents
        # Whether data that was refused can be read now is for the engine to say: its files may be back.
        if not editor.project.network.layers:
            self._shell.show_tab("design")
            way = (
                "Make one for the data" if editor.check_result.starter else "Add an input layer and the layers after it"
            )
            self._shell.hint(f"There is no network to train yet. {way} first.")
            return None
        errors = [problem for problem in editor.check_result.errors if problem.message != self._dataset.error]
        if errors:
            self.problems_requested.emit()
            self._shell.hint(f"{plural(len(errors), 'problem')} to solve before training.")
            return None
        if editor.project.data.source == "none":
            self._shell.show_tab("data")
            self._shell.hint("Choose data first: the network learns from it.")
            return None
        if self._dataset.is_current and self._dataset.hosts:
            self._shell.show_tab("data")
            self._shell.hint(f"The data is at {listed(list(self._dataset.hosts))}. Fetch it first.")
            return None
        if not self._user_code.ask():
            return None
        return {
            "project": dumps(documents.identified(editor.project)),
            "project_path": str(documents.source) if documents.source else None,
            "data": editor.project.data.write(),
            "base": str(documents.base),
            "hosts": documents.hosts,
        }

    def _begin(self, title: str, request: dict[str, Any]) -> None:
        if self.phase is Phase.REPLAYING and self._follower is not None:  # the rest of its events is not shown
            self._follower.close()
            self._lifecycle.take(Step.ENDED)
        self._lifecycle.take(Step.REQUESTED)
        self._shell.show_tab("train")
        self._prepared = title
        self.monitor.show_starting(title)
        self.state_changed.emit()
        self._shell.server.request("train", request, self._on_started, self._on_refused, self._on_progress)

    def _on_started(self, answer: dict[str, Any]) -> None:
        from netwright.engine.runs.folder import RunFolder

        requested = self.phase
        self.follow(RunFolder(Path(answer["run_dir"])))
        self.queue_follower.add_pending()
        if requested in (Phase.STOP_WHEN_READY, Phase.STOP_AFTER_EPOCH_WHEN_READY):
            self.stop(after_epoch=requested is Phase.STOP_AFTER_EPOCH_WHEN_READY)

    def _on_progress(self, progress: dict[str, Any]) -> None:
        self.monitor.facts.show_reading(int(progress["done"]), int(progress["total"]), str(progress["unit"]))

    def _on_refused(self, message: str) -> None:
        self._prepared = ""
        self.monitor.show_refused(message)
        self._take(Step.REFUSED)
        self.queue_follower.add_pending()

    # ---- following a run ----

    def follow(self, folder: "RunFolder") -> None:
        """Show a run, from its first event on, and follow it if it is alive."""
        from netwright.app.runs.run_follower import RunFollower

        monitor, follower = self.monitor, RunFollower(folder, self)
        try:
            outcome = follower.recorded_outcome()
        except UserError as error:
            follower.deleteLater()
            self._shell.show_error("The run cannot be shown", str(error))
            return
        self._drop_follower()
        self._follower, self._recorded = follower, outcome
        self._lifecycle.take(Step.LIVE_RUN_SHOWN if outcome is None else Step.ENDED_RUN_SHOWN)
        self._prepared = ""
        monitor.show_run(folder)
        if outcome is not None:
            monitor.show_replay(outcome)
            self._ask_for_data_changes(folder, monitor.facts.show_data_changes)
        else:
            self._show_state_of(folder)
            self._follow_cluster(folder)
        self.run_shown.emit()
        self._follower.received.connect(monitor.take)
        self._follower.received.connect(self.received)
        self._follower.received.connect(self._take_state)
        self._follower.caught_up.connect(lambda: self._show_state_of(folder))
        self._follower.caught_up.connect(monitor.board.show_caught_up)
        self._follower.silence_changed.connect(monitor.facts.show_silence)
        self._follower.ended.connect(self._on_ended)
        self._follower.start()
        self.queue_follower.show_current()
        self.state_changed.emit()

    def _follow_cluster(self, folder: "RunFolder") -> None:
        """Let a process copy what is new of a run on a cluster, unless one does."""
        from netwright.engine.runs.remote import FILE

        if (folder.path / FILE).exists() and not folder.is_alive():
            self._shell.server.request("jobs", {}, lambda _: None, lambda _: None)  # it is shown as it is known

    def _drop_follower(self) -> None:
        if self._follower is not None:
            self._follower.close()
            self._follower.deleteLater()
            self._follower = None

    def _show_state_of(self, folder: "RunFolder") -> None:
        """Show the state of a run by its folder, whatever its earlier events say while they are read."""
        from netwright.engine.runs.events import ENDS

        follower = self._follower
        if follower is None or follower.folder != folder or self._lifecycle.shown is Phase.REPLAYING:
            return
        state = folder.state()
        if state in ENDS:
            return  # its last events follow
        self.monitor.facts.show_live(state, is_catching_up=follower.is_catching_up)
        self._take(Step.HALTED if state == "paused" else Step.WENT_ON)

    def _take_state(self, event: object) -> None:
        from netwright.engine.runs.events import StateChanged

        if isinstance(event, StateChanged) and self._follower is not None and not self._follower.is_catching_up:
            self._take(Step.HALTED if event.state == "paused" else Step.WENT_ON)

    def _on_ended(self, outcome: "Outcome") -> None:
        self.monitor.show_outcome(outcome)
        if self._lifecycle.shown is not Phase.REPLAYING:
            if not self.monitor.isVisible():  # there it stands beside the curves
                self._shell.hint(outcome.sentence())
            self._notifier.notify(self.run_name, outcome.sentence(), is_bad=outcome.state in ("failed", "lost"))
        self._take(Step.ENDED)
        self.queue_follower.find_alive()
        QTimer.singleShot(0, self, self.queue_follower.follow_next)

    # ---- requests to the run ----

    def stop(self, *, after_epoch: bool = False) -> None:
        """Ask the run to stop; it answers through its events. One without a folder yet is asked when it has one."""
        if self.phase.is_preparing:
            self._lifecycle.take(Step.STOP_AFTER_EPOCH_REQUESTED if after_epoch else Step.STOP_REQUESTED)
            self.monitor.show_stopping(after_epoch=after_epoch)
            return
        if self._follower is None or self._follower.outcome is not None:
            return
        why = self._follower.stop_run(after_epoch=after_epoch)
        if why:
            self._shell.show_error("The run cannot be stopped", why)
        else:
            self.monitor.show_stopping(after_epoch=after_epoch)

    def request(self, name: str, values: Mapping[str, float] | None = None) -> None:
        """Send a request of the table in `netwright.engine.runs.requests` to the run, which answers through its events.
        The values of `set` are asked for in a dialog."""
        if name == "set":
            values = self._ask_for_change()
        if self._follower is None or self._follower.outcome is not None or (name == "set" and not values):
            return
        try:
            self._follower.folder.request(name, **(values or {}))
        except UserError as error:
            self._shell.show_error("The run cannot be asked", str(error))
            return
        self.monitor.facts.show_requested(name)

    def _ask_for_change(self) -> dict[str, float]:
        """Ask for another learn rate or number of epochs; empty where nothing is to change."""
        from netwright.app.runs.change_run import ChangeRun

        now = self._monitor.facts.rate_and_epochs if self._monitor is not None else None
        if now is None or not self.is_running:
            self._shell.hint("The run has not said its learn rate yet. Try again in a moment.")
            return {}
        dialog = ChangeRun(self._shell.dialog_parent, *now)
        values = dialog.chosen() if dialog.exec() else {}
        dialog.deleteLater()
        return values

    # ---- resuming ----

    def resume(self) -> None:
        """Let a paused run go on, or resume one that has ended, in its folder."""
        if self.phase is Phase.PAUSED:
            self.request("resume")
        elif self.can_resume and self._follower is not None:
            self.resume_run(self._follower.folder)

    def take_offer(self, setting: str) -> None:
        """Resume the run that failed, with the setting that is expected to help."""
        if self._follower is not None:
            self.resume_run(self._follower.folder, [setting])

    def resume_run(self, folder: "RunFolder", settings: list[str] | None = None) -> None:
        """Resume a run that has ended, in its folder, with other values of some options; one that is complete is given
        more epochs, which are asked for."""
        from netwright.app.runs.change_run import ask_for_more

        if self.is_running:
            self._shell.hint("Another run is in progress. Stop it first, or resume this one later.")
            return
        try:
            settings = settings or ask_for_more(self._shell.dialog_parent, folder)
        except UserError as error:
            self._shell.show_error("The run cannot be resumed", str(error))
            return
        if settings is None:
            return
        if self.run_folder != folder:
            self.follow(folder)
            self._shell.show_tab("train")
        self.monitor.facts.show_requested("resume")
        self._take(Step.REQUESTED)
        request: dict[str, Any] = {"run_dir": str(folder.path), "settings": settings}

        def resume(changes: tuple[str, ...]) -> None:
            """Resume, where the data has changed only once the user wants that."""
            from netwright.app.messages import ask

            if changes and not ask(self._shell.dialog_parent, DATA_CHANGED, "\n".join((*changes, MIXED)), "Resume"):
                self._take(Step.REFUSED)
                return
            request["allow_changed_data"] = bool(changes)
            self._shell.server.request("resume", request, self._on_started, self._on_not_resumed)

        self._ask_for_data_changes(folder, resume)

    def _ask_for_data_changes(self, folder: "RunFolder", on_answer: Callable[[tuple[str, ...]], None]) -> None:
        """Ask what has changed in the data of a run; nothing where that cannot be told, which resuming says then."""

        def take(changes: tuple[str, ...]) -> None:
            if self.run_folder == folder:  # still the one that is shown
                on_answer(changes)

        self._shell.server.request(
            "data_changes",
            {"run_dir": str(folder.path)},
            lambda result: take(tuple(map(str, result["changes"]))),
            lambda _: take(()),
        )

    def _on_not_resumed(self, message: str) -> None:
        self._take(Step.REFUSED)
        self._shell.show_error("The run cannot be resumed", message)

    # ---- opening and leaving ----

    def choose_run(self) -> None:
        """Ask for the folder of a run, and show it."""
        from netwright.engine.runs.folder import open_run

        start = str(self._shell.documents.folder / "runs")
        name = QFileDialog.getExistingDirectory(self._shell.dialog_parent, "Open the folder of a run", start)
        if not name:
            return
        try:
            folder = open_run(Path(name))
        except UserError as error:
            self._shell.show_error("This is not a run", str(error))
            return
        self.follow(folder)
        self._shell.show_tab("train")

    def may_leave(self) -> bool:
        """Ask what to do with a run that is under way. Return whether the window may close."""
        if not self._is_under_way:
            return True
        from netwright.app.messages import ask_to_leave_training

        waiting = self.queue_follower.num_waiting
        answer = ask_to_leave_training(self._shell.dialog_parent, self.run_name, waiting)
        if answer == "keep":
            self.queue_follower.add_pending()
        elif answer == "stop":
            self.stop()
            self.queue_follower.stop()
        return answer != "cancel"

    def close(self) -> None:
        """Stop following; the run goes on, and the queue too."""
        if self._follower is not None:
            self._follower.close()
        self.queue_follower.close()


def _is_alive(follower: "RunFollower") -> bool:
    """Return whether the run itself goes on. All events of a run that has ended may not have been read yet."""
    from netwright.engine.runs.events import ENDS

    return follower.outcome is None and follower.folder.state() not in ENDS
