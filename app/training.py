"""Training from the window: options, starting a run, following it, stopping it. The run itself lives in its folder."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QFileDialog

from app.notifier import Herald
from app.runs.queue_follower import Turns
from engine.core.errors import UserError
from engine.project.file import SUFFIX, dumps

if TYPE_CHECKING:  # what follows a run is imported with the first run: a start of the window does not pay for it
    from app.runs.monitor import Monitor
    from app.runs.supervisor import Outcome, Supervisor
    from app.window import MainWindow
    from engine.placement.inventory import DeviceInventory
    from engine.runs.folder import RunFolder


class Training(QObject):
    """The window's one current run, if any, and what is needed to start the next."""

    state_changed = Signal()
    inventory_changed = Signal(object)

    def __init__(self, window: "MainWindow", herald: Herald) -> None:
        super().__init__(window)
        self._window = window
        self.herald = herald
        self._monitor: Monitor | None = None
        self._supervisor: Supervisor | None = None
        self._is_starting = False
        self._stop_when_started = ""
        self._is_behind = False
        self._was_over = False
        self._of = ""
        self._state = ""
        self.turns = Turns(window, self)
        self.inventory: DeviceInventory | None = None

    @property
    def is_running(self) -> bool:
        """Whether a run of this window is under way."""
        return self._is_starting or (self._supervisor is not None and self._supervisor.outcome is None)

    @property
    def is_starting(self) -> bool:
        """Whether a run is being prepared, which has no folder yet."""
        return self._is_starting

    @property
    def shows_run(self) -> bool:
        """Whether a run of this project is shown, or will be in a moment."""
        return self._is_starting or (self._supervisor is not None and not self._is_behind)

    @property
    def has_room_for_next(self) -> bool:
        """Whether the next run of the queue may be shown: the one before it was seen to end, or none was looked at."""
        has_seen_end = self._supervisor is None or (self._supervisor.outcome is not None and not self._was_over)
        return has_seen_end and not self._is_starting and self._monitor is not None

    @property
    def run_folder(self) -> "RunFolder | None":
        """The run that is shown."""
        return self._supervisor.folder if self._supervisor else None

    # ---- the environment ----

    def look_for_devices(self) -> None:
        """Ask the engine what this machine has."""
        self._window.server.request("inventory", {}, self._take_inventory, self._window.hint)

    def _take_inventory(self, answer: dict[str, Any]) -> None:
        from engine.placement.inventory import DeviceInventory

        self.inventory = DeviceInventory.read(answer)
        self.inventory_changed.emit(self.inventory)
        self.update_environment()

    def update_environment(self) -> None:
        """Show in the bar what will be used."""
        project = self._window.editor.project
        target = project.environment.target
        text = f"Environment {target}"
        if self.inventory is not None:
            from engine.placement.batch_arithmetic import batch_words
            from engine.placement.choose import resolve
            from engine.project.training import batch_size

            try:
                options = project.training
                facts = self._window.facts.facts
                batch = batch_size(options, facts.samples.get("training") if facts else None)
                pieces = options.gradient_accumulation
                placement = resolve(project.environment, self.inventory, batch, pieces)
                said = batch_words(
                    placement, project.environment, options, facts.samples.get("training") if facts else None
                )
                count = len(placement.workers)
                where = placement.resolved if target == "auto" else ""
                text += f" · {where}" if where else ""
                text += f" · {count} workers" if count > 1 else ""
                self._window.bar.environment.setToolTip(f"{placement.sentence}\n{said}")
            except UserError as refused:
                text += " · not here"
                self._window.bar.environment.setToolTip(str(refused))
        self._window.bar.set_environment(text)

    def edit_options(self, search: str = "") -> None:
        """The Training Options dialog; with words only what they find."""
        from app.dialogs.training_options import TrainingOptionsDialog

        editor = self._window.editor
        window = self._window
        base = window.documents.base
        dialog = TrainingOptionsDialog(editor.project, self.inventory, window.facts.facts, window, base=base)
        dialog.search.setText(search)
        self.inventory_changed.connect(dialog.set_inventory)  # devices may be found while the dialog is open
        if dialog.exec():
            chosen = dialog.project()
            changed = replace(editor.project, training=chosen.training, environment=chosen.environment)
            if changed != editor.project:
                editor.apply("Change training options", changed)
        dialog.deleteLater()

    # ---- a run ----

    def show_in(self, monitor: "Monitor") -> None:
        """The tab that shows runs; it is made when first seen."""
        self._monitor = monitor
        monitor.stop_requested.connect(self.stop)
        monitor.stop_after_epoch_requested.connect(lambda: self.stop(after_epoch=True))
        monitor.train_requested.connect(self.start)
        monitor.facts.pause_clicked.connect(self.pause)
        monitor.facts.resume_clicked.connect(self.resume)
        monitor.facts.more.release_clicked.connect(self.pause_and_release)
        monitor.facts.more.checkpoint_clicked.connect(self.save_checkpoint)
        monitor.facts.more.validate_clicked.connect(self.validate_now)
        monitor.facts.more.change_clicked.connect(self.change)
        monitor.facts.more.watch_clicked.connect(self.watch)
        monitor.facts.offer_clicked.connect(self.take_offer)
        monitor.export_requested.connect(self._window.dialogs.export_network)
        monitor.facts.add_panel(self.turns.make_panel())

    def show_project(self) -> None:
        """Another project is open: its last run is shown, once the Train tab is seen; one under way stays there."""
        if self._is_starting or (self._supervisor is not None and self._is_alive(self._supervisor)):
            self._window.hint(f"The run of {self._of} goes on: the Train tab shows it.")
            if self._monitor is not None:
                self._monitor.facts.add_line("", f"This run of {self._of} goes on, another project is open.")
            return
        if self._supervisor is not None:
            self._supervisor.close()
            self._supervisor.deleteLater()
            self._supervisor = None
        self._is_behind = True
        self.turns.forget()
        self.turns.find_alive()
        if self._monitor is not None:
            self._monitor.show_nothing()
            if self._monitor.isVisible():
                self.catch_up()
        self.state_changed.emit()

    @staticmethod
    def _is_alive(supervisor: "Supervisor") -> bool:
        """Whether the run itself goes on: of one that has ended all events may not have been read yet."""
        from engine.runs.events import ENDS

        return supervisor.outcome is None and supervisor.folder.state() not in ENDS

    def catch_up(self) -> None:
        """The Train tab is seen: show the last run beside the project, if another project was opened meanwhile."""
        from engine.runs.history import last_run

        path = self._window.documents.path or self._window.documents.origin
        if self._is_behind and path is not None and (run := last_run(path)) is not None:
            self.follow(run)
        self._is_behind = False
        self.turns.keeper.look()
        self.turns.find_alive()

    def start(self) -> None:
        """Start a run of the project as it is now, or lead to what keeps it from starting."""
        if not self.is_running and (request := self._request()) is not None:
            self._begin(self._window.documents.title, request)

    # ---- the queue ----

    def queue(self) -> None:
        """Train the project as it is now once the run that is under way has ended, in its turn. The queue needs no
        window: closing this one leaves it at work."""
        if not self.is_running:
            self.start()
        elif (request := self._request()) is not None:
            self._window.show_train()
            self.turns.put(self._window.documents.title.removesuffix(SUFFIX), request)

    def _request(self) -> dict[str, Any] | None:
        """What the engine is to train, or None where something keeps it from that, to which this leads."""
        window = self._window
        # Whether data that was refused can be read now is the engine's to say: its files may be back.
        errors = [problem for problem in window.editor.report.errors if problem.message != window.facts.error]
        if errors:
            window.design.show_problems()
            window.hint(f"{len(errors)} problem{'s' if len(errors) > 1 else ''} to solve before training.")
            return None
        project = window.editor.project
        if project.data.source == "none":
            window.show_data()
            window.hint("Choose data first: the network learns from it.")
            return None
        if not window.code.ask():
            return None
        path = window.documents.path or window.documents.origin
        return {"project": dumps(project), "project_path": str(path) if path else None}

    def _begin(self, title: str, request: dict[str, Any]) -> None:
        self._is_behind = False
        self._window.show_train()
        self._is_starting, self._stop_when_started, self._of = True, "", title
        assert self._monitor is not None
        self._monitor.show_starting(title)
        self.state_changed.emit()
        self._window.server.request("train", request, self._on_started, self._on_refused)

    def _on_started(self, answer: dict[str, Any]) -> None:
        from engine.runs.folder import RunFolder

        self._is_starting = False
        self.follow(RunFolder(Path(answer["run_dir"])))
        self.turns.put_waiting()
        if self._stop_when_started:
            self.stop(after_epoch=self._stop_when_started == "after epoch")

    def _on_refused(self, message: str) -> None:
        self._is_starting = False
        if self._monitor is not None:
            self._monitor.show_refused(message)
        self.state_changed.emit()
        self.turns.put_waiting()

    def follow(self, folder: "RunFolder") -> None:
        """Show a run, from its first event on, and follow it if it is alive."""
        from app.runs.supervisor import Supervisor

        self._is_behind = False
        if self._monitor is None:
            self._window.page("train")
        assert self._monitor is not None
        if self._supervisor is not None:
            self._supervisor.close()
            self._supervisor.deleteLater()
        self._supervisor = Supervisor(folder, self)
        self._was_over = not self._is_alive(self._supervisor)
        self._of = folder.path.name
        self._monitor.show_run(folder)
        self._window.layer_health.forget()
        self._supervisor.received.connect(self._monitor.take)
        self._supervisor.received.connect(self._window.layer_health.take)
        self._supervisor.received.connect(self._take_state)
        self._supervisor.ended.connect(self._on_ended)
        self._supervisor.start()
        self.turns.show_current()
        self.state_changed.emit()

    def _on_ended(self, outcome: "Outcome") -> None:
        if self._monitor is not None:
            self._monitor.show_outcome(outcome)
        if not self._was_over:
            self._window.hint(outcome.sentence())
            self.herald.tell(self._of, outcome.sentence(), is_bad=outcome.state in ("failed", "lost"))
        self.state_changed.emit()
        self.turns.find_alive()
        QTimer.singleShot(0, self, self.turns.follow_next)

    def stop(self, *, after_epoch: bool = False) -> None:
        """Ask the run to stop; it answers through its events. One without a folder yet is asked when it has one."""
        if self._is_starting and self._monitor is not None:
            self._stop_when_started = "after epoch" if after_epoch else "now"
            self._monitor.show_stopping(after_epoch=after_epoch)
            return
        if self._supervisor is None or self._supervisor.outcome is not None:
            return
        why = self._supervisor.stop_run(after_epoch=after_epoch)
        if why:
            self._window.show_error("The run cannot be stopped", why)
        elif self._monitor is not None:
            self._monitor.show_stopping(after_epoch=after_epoch)

    # ---- control while it runs ----

    @property
    def is_paused(self) -> bool:
        """Whether the run that is shown waits."""
        return self.is_running and self._state == "paused"

    @property
    def can_resume(self) -> bool:
        """Whether the run that is shown can go on: it waits, or ended before it was complete."""
        if self.is_running:
            return self.is_paused
        outcome = self._supervisor.outcome if self._supervisor else None
        return outcome is not None and outcome.state in ("stopped", "failed", "lost", "finished")

    def pause(self) -> None:
        """Let the run wait."""
        self._ask("pause")

    def pause_and_release(self) -> None:
        """Let the run wait as a checkpoint on disk, so that others have its memory."""
        self._ask("pause", release=1)

    def save_checkpoint(self) -> None:
        """Have the complete state saved now."""
        self._ask("checkpoint")

    def validate_now(self) -> None:
        """Have the network judged now."""
        self._ask("validate")

    def watch(self, what: str, is_on: bool) -> None:
        """Have `gradient_norm` or `layers` watched from now on, or no more."""
        self._ask("watch", **{what: int(is_on)})

    def change(self) -> None:
        """Ask for another learn rate or number of epochs, and pass it on."""
        from app.runs.change_run import ChangeRun

        now = self._monitor.facts.rate_and_epochs if self._monitor is not None else None
        if now is None or not self.is_running:
            return
        dialog = ChangeRun(self._window, *now)
        if dialog.exec():
            self._ask("set", **dialog.chosen())
        dialog.deleteLater()

    def resume(self) -> None:
        """Let a paused run go on, or go on with one that ended, in its folder."""
        if self.is_paused:
            self._ask("resume")
        elif self.can_resume and self._supervisor is not None:
            self.resume_run(self._supervisor.folder)

    def take_offer(self, setting: str) -> None:
        """Go on with the run that failed, with what is said to help."""
        if self._supervisor is not None:
            self.resume_run(self._supervisor.folder, [setting])

    def resume_run(self, folder: "RunFolder", settings: list[str] | None = None) -> None:
        """Go on with a run that has ended, in its folder, with other values of some options; one that is complete is
        given more epochs, which is asked for."""
        from app.runs.change_run import ask_for_more

        if self.is_running:
            self._window.hint("Another run is shown that is under way. Stop it first, or resume this one later.")
            return
        try:
            settings = settings or ask_for_more(self._window, folder)
        except UserError as error:
            self._window.show_error("The run cannot go on", str(error))
            return
        if settings is None:
            return
        if self.run_folder != folder:
            self._window.show_train()
            self.follow(folder)
        assert self._monitor is not None
        self._is_starting, self._stop_when_started = True, ""
        self._monitor.facts.show_asked("resume")
        self.state_changed.emit()
        given = {"run_dir": str(folder.path), "settings": settings}
        self._window.server.request("resume", given, self._on_started, self._on_not_resumed)

    def _on_not_resumed(self, message: str) -> None:
        self._is_starting = False
        if self._monitor is not None:
            self._monitor.facts.resume.setEnabled(True)
            self._monitor.facts.offer.setEnabled(True)
        self._window.show_error("The run cannot go on", message)
        self.state_changed.emit()

    def _ask(self, what: str, **given: float) -> None:
        """Put a request into the run's folder; the run answers through its events."""
        if self._supervisor is None or self._supervisor.outcome is not None:
            return
        try:
            self._supervisor.folder.request(what, **given)
        except UserError as error:
            self._window.show_error("The run cannot be asked", str(error))
            return
        if self._monitor is not None:
            self._monitor.facts.show_asked(what)

    def _take_state(self, event: object) -> None:
        from engine.runs.events import StateChanged

        if isinstance(event, StateChanged):
            self._state = event.state
            self.state_changed.emit()

    def choose_run(self) -> None:
        """Ask for the folder of a run, and show it."""
        from engine.runs.folder import open_run

        start = str(self._window.documents.folder / "runs")
        name = QFileDialog.getExistingDirectory(self._window, "Open the folder of a run", start)
        if not name:
            return
        try:
            folder = open_run(Path(name))
        except UserError as error:
            self._window.show_error("This is not a run", str(error))
            return
        self._is_behind = False
        self._window.show_train()
        self.follow(folder)

    def may_leave(self) -> bool:
        """Ask what shall become of a run that is under way; whether the window may close."""
        if not self._is_starting and (self._supervisor is None or not self._is_alive(self._supervisor)):
            return True
        from app.messages import ask_to_leave_training

        answer = ask_to_leave_training(self._window, self._of, self.turns.num_waiting)
        if answer == "keep":
            self.turns.put_waiting()
        elif answer == "stop":
            self.stop()
            self.turns.leave()
        return answer != "cancel"

    def close(self) -> None:
        """Stop following; the run goes on, and the queue too."""
        if self._supervisor is not None:
            self._supervisor.close()
        self.turns.close()
