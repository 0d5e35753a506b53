"""Doing what a run is asked for while it trains: stop, pause, save, validate, another rate, another length."""

import time
from collections.abc import Callable
from dataclasses import replace

from engine.runs.events import Refused, Requested, StateChanged
from engine.runs.requests import NOTHING, WATCHED, Asked
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

    def obey(self, asked: Asked) -> None:
        """Do what is asked. All workers learn of it at the same step."""
        course = self._course
        course.save_now |= asked.save_now
        if asked.time_is_up:
            course.end(self._plan.limits.time_is_up)
        if asked == replace(NOTHING, save_now=asked.save_now, time_is_up=asked.time_is_up):
            return
        if asked.stop:
            course.stop("stopped on request")
        elif asked.stop_after_epoch:
            course.is_last_epoch = True
        if asked.pause > 0:
            course.pause(release=asked.release)
        elif asked.pause:
            course.go_on()
        told = [what for what in ("stop", "stop_after_epoch", "checkpoint", "validate") if getattr(asked, what)]
        self._reporter.tell(*(Requested(what=what, iteration=course.step) for what in told))
        self._change(asked)
        self._watch(asked)
        if asked.validate:
            self._validate()
        course.save_now |= asked.checkpoint
        if asked.leave:
            self._leave()

    def _change(self, asked: Asked) -> None:
        """Another rate, another number of epochs. Either is in the next checkpoint, which is made at once."""
        course, step = self._course, self._course.step
        now = self._unit.rate(step)
        factor = asked.rate_factor * (asked.rate / now if asked.rate and now else 1.0)
        if factor != 1.0:
            self._plan.pace.multiply(factor)
            self._reporter.tell(Requested(what="rate", iteration=step, value=self._unit.rate(step)))
        if asked.epochs:
            self.lengthen(max(asked.epochs, course.epochs_done + (not course.is_at_epoch_end)))
            self._reporter.tell(Requested(what="epochs", iteration=step, value=course.length.epochs))
        course.save_now |= factor != 1.0 or bool(asked.epochs)

    def _watch(self, asked: Asked) -> None:
        """Watch something from now on, or no more. What is learned stays the same."""
        step = self._course.step
        for what in WATCHED:
            wish = int(getattr(asked, f"watch_{what}"))
            if wish > 0 and (why := self._unit.watch.why_not(what)):
                self._reporter.tell(Refused(what=f"watch_{what}", iteration=step, reason=why))
            elif wish:
                self._unit.watch.switch(what, is_on=wish > 0)
                self._reporter.tell(Requested(what=f"watch_{what}", iteration=step, value=float(wish > 0)))

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
                asked = self._reporter.ask()
            self.obey(asked)
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
