"""Training from the window: starting a run, following it, asking it for things. The run itself lives in its folder."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from netwright.app.data.dataset_tracker import DatasetTracker
from netwright.app.notifier import Notifier
from netwright.app.runs.phases import Lifecycle, Phase, Step
from netwright.app.runs.queue_follower import QueueFollower, title_in_words, training_request
from netwright.app.shell import Shell
from netwright.app.user_code_tracker import UserCodeTracker
from netwright.designer.language import listed, tr
from netwright.designer.settings import settings
from netwright.engine.core.errors import UserError
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.operations.data_requests import DATA_CHANGES, DataChangesRequest
from netwright.engine.operations.operation import installed_operation
from netwright.engine.operations.started_runs import RESUME, TRAIN, ResumeRequest, TrainRequest

if TYPE_CHECKING:  # what follows a run is imported with the first run: a start of the window does not pay for it
    from netwright.app.runs.monitor import Monitor
    from netwright.app.runs.run_follower import Outcome, RunFollower, UnseenRuns
    from netwright.engine.runs.folder import RunFolder


class Training(QObject):
    """The run that the page Runs shows, if any, those that go on unseen, and what is needed to start the next."""

    state_changed = Signal()
    requested = Signal()  # a run is to be started or resumed
    run_shown = Signal()
    """Another run is shown from now on; its events follow."""
    received = Signal(object)
    """An event of the run that is shown."""
    problems_requested = Signal()
    """The problems that keep a run from starting are to be shown."""
    export_requested = Signal()
    doctor_requested = Signal(str)  # the kind of a finding whose cause is looked for, or empty

    def __init__(self, shell: Shell, dataset: DatasetTracker, user_code: UserCodeTracker, notifier: Notifier) -> None:
        super().__init__(shell.dialog_parent)
        self._shell, self._dataset, self._user_code, self._notifier = shell, dataset, user_code, notifier
        self._monitor: Monitor | None = None
        self._follower: RunFollower | None = None
        self._lifecycle = Lifecycle()
        self._recorded: Outcome | None = None  # how the run that is shown had ended before it was shown
        self._prepared = ""  # title of the project whose run is prepared
        self._unseen: UnseenRuns | None = None
        self._shows_prepared = False  # else another run was chosen meanwhile
        self.queue_follower = QueueFollower(shell, self, self)

    # ---- what is under way ----

    @property
    def phase(self) -> Phase:
        """The phase of the run, from the request for a run to its end."""
        return self._lifecycle.phase

    @property
    def is_running(self) -> bool:
        """Whether a run of this window is under way, shown or not."""
        return self.phase.is_running or bool(self.unseen)

    @property
    def unseen(self) -> "Sequence[RunFolder]":
        """The runs of this window that are under way while another one is shown, the latest last."""
        return self._unseen.folders if self._unseen is not None else ()

    @property
    def has_looked(self) -> bool:
        """Whether it is known if the project has a run."""
        return self.phase is not Phase.UNSEEN

    @property
    def can_resume(self) -> bool:
        """Whether the run that is shown waits, or has ended and can go on from a checkpoint."""
        outcome = self._follower.outcome or self._recorded if self._follower is not None else None
        can_go_on = self.phase.can_resume and outcome is not None and outcome.has_checkpoint
        return self.phase is Phase.PAUSED or can_go_on

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
        folder = self.run_folder
        return title_in_words(folder) if folder is not None and not self._prepared else self._prepared

    @property
    def short_name(self) -> str:
        """The run that is under way in a few words, with its project: `run 5 (digits)`."""
        folder = self._active
        if folder is None or self._prepared:
            return tr("the run of {project}", project=self._prepared.removesuffix(SUFFIX)) if self._prepared else ""
        with contextlib.suppress(UserError):
            info = folder.read_info()
            if info.number:
                return tr("run {number} ({project})", number=info.number, project=info.name)
        return title_in_words(folder)

    @property
    def _active(self) -> "RunFolder | None":
        """The run that is under way: the one that is shown, else the latest of those that are not."""
        if not self.phase.is_running and self.unseen:
            return self.unseen[-1]
        return self.run_folder

    def _take(self, *steps: Step) -> None:
        for step in steps:
            self._lifecycle.take(step)
        self.state_changed.emit()

    # ---- the page of the run ----

    @property
    def monitor(self) -> "Monitor":
        """The page of the run; made when first needed."""
        if self._monitor is None:
            from netwright.app.runs.monitor import Monitor

            self._monitor = monitor = Monitor(self._shell.dialog_parent, settings())
            monitor.clicked.connect(self.click)
            monitor.facts.offer_clicked.connect(self.take_offer)
            monitor.facts.why_clicked.connect(self.doctor_requested)
            monitor.buttons.more.requested.connect(self.request)
            show = monitor.facts.show_phase
            self.state_changed.connect(lambda: show(self.phase if self._shows_prepared else self._lifecycle.shown))
        return self._monitor

    def click(self, button: str) -> None:
        """Carry out a button of the run, by its name."""
        actions: Mapping[str, Callable[[], None]] = {
            "stop": lambda: self.stop(after_epoch=False),
            "stop_after_epoch": lambda: self.stop(after_epoch=True),
            "pause": lambda: self.request("pause"),
            "resume": self.resume,
            "train": self.start,
            "export": self.export_requested.emit,
        }
        actions.get(button, lambda: None)()

    def show_project(self) -> None:
        """Another project was opened: its last run is shown once the page Runs is seen. A run under way goes on; one
        that is being prepared is shown until it has a folder."""
        if self._is_under_way:
            self._shell.hint(tr("{run} continues.", run=f"{self.short_name[:1].upper()}{self.short_name[1:]}"))
        if self.phase.is_preparing:
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
        """Whether a run is prepared, or one goes on, shown or not."""
        is_shown_alive = self._follower is not None and _is_alive(self._follower)
        return self.phase.is_preparing or is_shown_alive or bool(self.unseen)

    def catch_up(self) -> None:
        """The page Runs is seen: show the last run of the project, if another project was opened meanwhile."""
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
            self.queue_follower.add(self._shell.documents.title.removesuffix(SUFFIX), request)

    def _request(self) -> TrainRequest | None:
        return training_request(self._shell, self._dataset, self._user_code, self.problems_requested.emit)

    def _begin(self, title: str, request: TrainRequest) -> None:
        if self.phase is Phase.REPLAYING and self._follower is not None:  # the rest of its events is not shown
            self._follower.close()
            self._lifecycle.take(Step.ENDED)
        self._lifecycle.take(Step.REQUESTED)
        self._prepared, self._shows_prepared = title, True
        self.monitor.show_starting(title)
        self.requested.emit()
        self.state_changed.emit()
        then, hosts = (self._on_started, self._on_refused), self._shell.documents.hosts
        self._shell.server.ask(TRAIN, request, *then, on_progress=self._on_progress, hosts=hosts)

    def _on_started(self, answer: dict[str, Any]) -> None:
        from netwright.engine.runs.folder import RunFolder

        requested = self.phase
        self._lifecycle.take(Step.REFUSED)
        self._prepared = ""
        self.follow(RunFolder(Path(answer["run_dir"])), is_started=True)
        self.queue_follower.add_pending()
        if requested in (Phase.STOP_WHEN_READY, Phase.STOP_AFTER_EPOCH_WHEN_READY):
            self.stop(after_epoch=requested is Phase.STOP_AFTER_EPOCH_WHEN_READY)

    def _on_progress(self, progress: dict[str, Any]) -> None:
        if self._shows_prepared:
            self.monitor.facts.show_reading(int(progress["done"]), int(progress["total"]), str(progress["unit"]))

    def _on_refused(self, message: str) -> None:
        self._prepared = ""
        if self._shows_prepared:
            self.monitor.show_refused(message)
        if not self._shows_prepared or not self.monitor.isVisible():
            self._shell.show_error(tr("The run cannot begin"), message)
        self._take(Step.REFUSED)
        self.queue_follower.add_pending()

    # ---- following a run ----

    def follow(self, folder: "RunFolder", *, is_started: bool = False) -> None:
        """Show a run, from its first event on, and follow it if it is alive, or was started here: its end is news."""
        from netwright.app.runs.run_follower import RunFollower, UnseenRuns, recorded_outcome

        monitor = self.monitor
        if self._unseen is None:
            self._unseen = UnseenRuns(self)
            self._unseen.ended.connect(self._on_unseen_ended)
        try:
            outcome = None if is_started else recorded_outcome(folder)
        except UserError as error:
            self._shell.show_error(tr("The run cannot be shown"), str(error))
            return
        self._drop_follower()
        self._unseen.remove(folder)
        self._follower, self._recorded = RunFollower(folder, self), outcome
        self._lifecycle.take(Step.LIVE_RUN_SHOWN if outcome is None else Step.ENDED_RUN_SHOWN)
        self._shows_prepared = False
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
        self.state_changed.emit()

    def _follow_cluster(self, folder: "RunFolder") -> None:
        """Let a process copy what is new of a run on a cluster, unless one does."""
        from netwright.engine.runs.remote import FILE

        if (folder.path / FILE).exists() and not folder.is_alive():
            jobs = installed_operation("jobs")
            self._shell.server.ask(jobs, jobs.request(), lambda _: None, lambda _: None)  # it is shown as it is known

    def _drop_follower(self) -> None:
        """Show the run no more; one that goes on is looked after unseen."""
        if self._follower is not None:
            if self._unseen is not None and _is_alive(self._follower):
                self._unseen.add(self._follower.folder)
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
        self._look_for_next()

    def _on_unseen_ended(self, folder: "RunFolder", outcome: "Outcome") -> None:
        self._shell.hint(f"{title_in_words(folder)}: {outcome.sentence()}")
        self._notifier.notify(title_in_words(folder), outcome.sentence(), is_bad=outcome.state in ("failed", "lost"))
        self.state_changed.emit()
        self._look_for_next()

    def _look_for_next(self) -> None:
        self.queue_follower.find_alive()
        QTimer.singleShot(0, self, self.queue_follower.follow_next)

    # ---- requests to the run ----

    def stop(self, *, after_epoch: bool = False) -> None:
        """Ask the run to stop; it answers through its events. One without a folder yet is asked when it has one."""
        if self.phase.is_preparing:
            self._lifecycle.take(Step.STOP_AFTER_EPOCH_REQUESTED if after_epoch else Step.STOP_REQUESTED)
            if self._shows_prepared:
                self.monitor.show_stopping(after_epoch=after_epoch)
            return
        folder = self._active
        if folder is None or (folder == self.run_folder and not self.phase.is_running):
            return
        try:
            folder.request("stop_after_epoch" if after_epoch else "stop")
        except UserError as error:
            self._shell.show_error(tr("The run cannot be stopped"), str(error))
            return
        if folder == self.run_folder:
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
            self._shell.show_error(tr("The run cannot be asked"), str(error))
            return
        self.monitor.facts.show_requested(name)

    def _ask_for_change(self) -> dict[str, float]:
        """Ask for another learn rate or number of epochs; empty where nothing is to change."""
        from netwright.app.runs.change_run import ChangeRun

        now = self._monitor.facts.rate_and_epochs if self._monitor is not None else None
        if now is None or not self.is_running:
            self._shell.hint(tr("The run has not said its learn rate yet. Try again in a moment."))
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
            self._shell.hint(tr("Another run is in progress. Stop it first, or resume this one later."))
            return
        try:
            settings = settings or ask_for_more(self._shell.dialog_parent, folder)
        except UserError as error:
            self._shell.show_error(tr("The run cannot be resumed"), str(error))
            return
        if settings is None:
            return
        if self.run_folder != folder:
            self.follow(folder)
        self.monitor.facts.show_requested("resume")
        self._shows_prepared = True
        self._take(Step.REQUESTED)
        self.requested.emit()

        def resume(changes: tuple[str, ...]) -> None:
            """Resume, where the data has changed only once the user wants that."""
            from netwright.app.messages import ask_to_resume

            if changes and not ask_to_resume(self._shell.dialog_parent, changes):
                self._take(Step.REFUSED)
                return
            request = ResumeRequest(run_dir=folder.path, settings=tuple(settings), allow_changed_data=bool(changes))
            self._shell.server.ask(RESUME, request, self._on_started, self._on_not_resumed)

        self._ask_for_data_changes(folder, resume)

    def _ask_for_data_changes(self, folder: "RunFolder", on_answer: Callable[[tuple[str, ...]], None]) -> None:
        """Ask what has changed in the data of a run; nothing where that cannot be told, which resuming says then."""

        def take(changes: tuple[str, ...]) -> None:
            if self.run_folder == folder:  # still the one that is shown
                on_answer(changes)

        self._shell.server.ask(
            DATA_CHANGES,
            DataChangesRequest(run_dir=folder.path),
            lambda result: take(tuple(map(str, result["changes"]))),
            lambda _: take(()),
        )

    def _on_not_resumed(self, message: str) -> None:
        self._take(Step.REFUSED)
        self._shell.show_error(tr("The run cannot be resumed"), message)

    # ---- leaving ----

    def may_leave(self) -> bool:
        """Ask what to do with a run that is under way. Return whether the window may close."""
        if not self._is_under_way:
            return True
        from netwright.app.messages import ask_to_leave_training

        waiting = self.queue_follower.num_waiting
        own = [self.run_name] if self.phase.is_running or not self.unseen else []
        names = listed([*own, *map(title_in_words, self.unseen)])
        answer = ask_to_leave_training(self._shell.dialog_parent, names, waiting)
        if answer == "keep":
            self.queue_follower.add_pending()
        elif answer == "stop":
            if self.phase.is_running:
                self.stop()
            for folder in self.unseen:
                with contextlib.suppress(UserError):  # it has ended meanwhile
                    folder.request("stop")
            self.queue_follower.stop()
        return answer != "cancel"

    def close(self) -> None:
        """Stop following; the run goes on, and the queue too."""
        if self._follower is not None:
            self._follower.close()
        if self._unseen is not None:
            self._unseen.close()
        self.queue_follower.close()
        if self._monitor is not None:
            self._monitor.shutdown()


def _is_alive(follower: "RunFollower") -> bool:
    """Return whether the run itself goes on. All events of a run that has ended may not have been read yet."""
    from netwright.engine.runs.events import ENDS

    return follower.outcome is None and follower.folder.state() not in ENDS
