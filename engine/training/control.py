"""Obeys the requests to a run while it trains: stop, pause, save, validate, another learn rate, another length."""

import time
from collections.abc import Callable
from dataclasses import replace

from netwright.engine.runs.events import Refused, Requested, StateChanged
from netwright.engine.runs.requests import WATCHABLE, PendingRequests
from netwright.engine.training.reporter import Reporter
from netwright.engine.training.state import TrainingPlan, TrainingState
from netwright.engine.training.step import TrainStep

POLL_S = 0.2
"""Time between two looks at requests while the run is paused."""


class Control:
    """Obeys requests, and sends an event for each at its step."""

    def __init__(
        self,
        plan: TrainingPlan,
        state: TrainingState,
        step: TrainStep,
        reporter: Reporter,
        validate: Callable[[], None],
    ) -> None:
        self._plan = plan
        self._state = state
        self._step = step
        self._reporter = reporter
        self._validate = validate

    def obey(self, pending: PendingRequests) -> None:
        """Do what is requested. All workers learn of it at the same step."""
        state = self._state
        state.save_now |= "save_now" in pending
        if "time_is_up" in pending:
            state.end(self._plan.limits.time_is_up)
        if "stop" in pending:
            state.stop("stopped on request")
        elif "stop_after_epoch" in pending:
            state.is_last_epoch = True
        if "pause" in pending:
            state.pause(release="pause.release" in pending)
        elif "resume" in pending:
            state.resume()
        for name in ("stop", "stop_after_epoch", "checkpoint", "validate"):
            if name in pending:
                self._reporter.send(Requested(what=name, iteration=state.step))
        self._change(pending)
        self._watch(pending)
        if "validate" in pending:
            self._validate()
        state.save_now |= "checkpoint" in pending
        if "leave" in pending:
            self._leave()

    def change_epochs(self, epochs: int) -> None:
        """Change the number of epochs of the run."""
        length = self._state.length = replace(self._state.length, epochs=epochs)
        self._plan.schedule.change_length(length.total_steps)
        self._reporter.total_steps = length.total_steps

    def wait_while_paused(self, save_if_due: Callable[[], None]) -> None:
        """Sleep until a request to resume or to stop. Other requests are obeyed meanwhile."""
        state = self._state
        state.is_paused |= state.is_offloading and not state.save_now
        if not state.is_waiting():
            return
        self._plan.release_memory()
        self._reporter.send(
            Requested(what="pause", iteration=state.step),
            StateChanged(state="paused", reason="pause was requested"),
        )
        self._offer_offload()
        while state.is_waiting():
            with self._reporter.clock.paused():
                time.sleep(POLL_S)
                pending = self._reporter.pending_requests()
            self.obey(pending)
            self._reporter.send_waiting()
            save_if_due()
            self._offer_offload()
        if not state.end_reason:
            self._reporter.send(Requested(what="resume", iteration=state.step), StateChanged(state="running"))

    def _change(self, pending: PendingRequests) -> None:
        """Change the learn rate or the number of epochs. Either is in a checkpoint, saved at once."""
        state, step = self._state, self._state.step
        now, rate = self._step.learn_rate(step), pending.number("set.rate")
        factor = pending.number("set.rate_factor", 1.0) * (rate / now if rate and now else 1.0)
        if factor != 1.0:
            self._plan.schedule.multiply(factor)
            self._reporter.send(Requested(what="rate", iteration=step, value=self._step.learn_rate(step)))
        if epochs := int(pending.number("set.epochs")):
            self.change_epochs(max(epochs, state.epochs_done + (not state.is_at_epoch_end)))
            self._reporter.send(Requested(what="epochs", iteration=step, value=state.length.epochs))
        state.save_now |= factor != 1.0 or bool(epochs)

    def _watch(self, pending: PendingRequests) -> None:
        """Start or stop recording of gradients and layers. Training is not affected."""
        step = self._state.step
        for name in WATCHABLE:
            wish = pending.number(f"watch.{name}")
            if wish > 0 and (refusal := self._step.watch.refusal(name)):
                self._reporter.send(Refused(what=f"watch_{name}", iteration=step, reason=refusal))
            elif wish:
                self._step.watch.switch(name, is_on=wish > 0)
                self._reporter.send(Requested(what=f"watch_{name}", iteration=step, value=float(wish > 0)))

    def _offer_offload(self) -> None:
        """Offer that this process may be ended, where that was requested and a checkpoint is saved.

        Where workers are not synchronized yet, some steps come first.
        """
        state = self._state
        if not state.is_offloading:
            return
        if state.save_now:
            state.is_paused = False
            return
        state.is_offloading = False
        self._reporter.send(Requested(what="release", iteration=state.step))

    def _leave(self) -> None:
        """Wait to be ended; unless something else was requested after that had been offered."""
        step = self._state.step
        if not self._state.is_waiting() or self._state.save_now:
            self._reporter.send(Refused(what="release", iteration=step, reason="something else was asked for since"))
            return
        self._reporter.send(Requested(what="release", iteration=step))
        while True:
            time.sleep(POLL_S)
