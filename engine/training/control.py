"""Doing what a run is asked for while it trains: stop, pause, save, validate, another rate, another length."""

import time
from collections.abc import Callable
from dataclasses import replace

from engine.runs.events import Refused, Requested, StateChanged
from engine.runs.requests import WATCHABLE, PendingRequests
from engine.training.reporter import Reporter
from engine.training.state import TrainingPlan, TrainingState
from engine.training.step import Unit

PAUSE_S = 0.2


class Control:
    """Obeys. What is done is told, as an event at its step."""

    def __init__(
        self, plan: TrainingPlan, course: TrainingState, unit: Unit, reporter: Reporter, validate: Callable[[], None]
    ) -> None:
        self._plan = plan
        self._course = course
        self._unit = unit
        self._reporter = reporter
        self._validate = validate

    def obey(self, pending: PendingRequests) -> None:
        """Do what is asked. All workers learn of it at the same step."""
        course = self._course
        course.save_now |= "save_now" in pending
        if "time_is_up" in pending:
            course.end(self._plan.limits.time_is_up)
        if "stop" in pending:
            course.stop("stopped on request")
        elif "stop_after_epoch" in pending:
            course.is_last_epoch = True
        if "pause" in pending:
            course.pause(release="pause.release" in pending)
        elif "resume" in pending:
            course.go_on()
        for name in ("stop", "stop_after_epoch", "checkpoint", "validate"):
            if name in pending:
                self._reporter.tell(Requested(what=name, iteration=course.step))
        self._change(pending)
        self._watch(pending)
        if "validate" in pending:
            self._validate()
        course.save_now |= "checkpoint" in pending
        if "leave" in pending:
            self._leave()

    def _change(self, pending: PendingRequests) -> None:
        """Change the learn rate or the number of epochs. Either is in the next checkpoint, which is made at once."""
        course, step = self._course, self._course.step
        now, rate = self._unit.rate(step), pending.number("set.rate")
        factor = pending.number("set.rate_factor", 1.0) * (rate / now if rate and now else 1.0)
        if factor != 1.0:
            self._plan.pace.multiply(factor)
            self._reporter.tell(Requested(what="rate", iteration=step, value=self._unit.rate(step)))
        if epochs := int(pending.number("set.epochs")):
            self.lengthen(max(epochs, course.epochs_done + (not course.is_at_epoch_end)))
            self._reporter.tell(Requested(what="epochs", iteration=step, value=course.length.epochs))
        course.save_now |= factor != 1.0 or bool(epochs)

    def _watch(self, pending: PendingRequests) -> None:
        """Start or stop recording of gradients and layers. Training is not affected."""
        step = self._course.step
        for name in WATCHABLE:
            wish = pending.number(f"watch.{name}")
            if wish > 0 and (why := self._unit.watch.why_not(name)):
                self._reporter.tell(Refused(what=f"watch_{name}", iteration=step, reason=why))
            elif wish:
                self._unit.watch.switch(name, is_on=wish > 0)
                self._reporter.tell(Requested(what=f"watch_{name}", iteration=step, value=float(wish > 0)))

    def lengthen(self, epochs: int) -> None:
        """The run is to have so many epochs."""
        length = self._course.length = replace(self._course.length, epochs=epochs)
        self._plan.pace.change_length(length.total_steps)
        self._reporter.total_steps = length.total_steps

    def wait_while_paused(self, save_if_due: Callable[[], None]) -> None:
        """Let go of the processor until it is asked to go on, or to stop. What else is asked is done meanwhile."""
        course = self._course
        course.is_paused |= course.gives_way and not course.save_now
        if not course.waits():
            return
        self._plan.release()
        told = (
            Requested(what="pause", iteration=course.step),
            StateChanged(state="paused", reason="pause was requested"),
        )
        self._reporter.tell(*told)
        self._give_way()
        while course.waits():
            with self._reporter.clock.paused():
                time.sleep(PAUSE_S)
                pending = self._reporter.ask()
            self.obey(pending)
            self._reporter.send_waiting()
            save_if_due()
            self._give_way()
        if not course.ends_because:
            self._reporter.tell(Requested(what="resume", iteration=course.step), StateChanged(state="running"))

    def _give_way(self) -> None:
        """Offer to be ended, where that was asked for and a checkpoint was made, if one could be. Where the workers do
        not agree yet, some steps are to be done before."""
        course = self._course
        if not course.gives_way:
            return
        if course.save_now:
            course.is_paused = False
            return
        course.gives_way = False
        self._reporter.tell(Requested(what="release", iteration=course.step))

    def _leave(self) -> None:
        """Wait to be ended; unless something else was asked for after that had been offered."""
        step = self._course.step
        if not self._course.waits() or self._course.save_now:
            self._reporter.tell(Refused(what="release", iteration=step, reason="something else was asked for since"))
            return
        self._reporter.tell(Requested(what="release", iteration=step))
        while True:
            time.sleep(PAUSE_S)
