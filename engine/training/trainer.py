"""The story of a training: for each epoch, for each batch, a step; report, obey, validate, keep."""

import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any, Protocol

import torch

from engine.errors import RunError, UserError, plural
from engine.project.extent import Extent
from engine.project.training import TrainingOptions
from engine.runs.events import Checkpointed, Message, Requested, StateChanged
from engine.training.batches import Batch, Batches, Resident
from engine.training.bottleneck import holding_back
from engine.training.hooks import Hooks, NoHooks
from engine.training.keeping import Keeper
from engine.training.limits import NO_LIMITS, Limits
from engine.training.metrics.metric import on_curve
from engine.training.reporting import Report, Reporter
from engine.training.requests import NOTHING, Asked
from engine.training.saving import Saver
from engine.training.step import Scores, Unit

PAUSE_S = 0.2
MOST_LEFT_OUT = 100
"""So many steps in a row may be left out before nothing more is to be hoped for."""


class Pace(Protocol):
    """What the learn rate follows beside the step."""

    def validated(self, step: int, value: float, higher_is_better: bool) -> None:
        """After so many steps the objective is this."""

    def multiply(self, factor: float) -> None:
        """From now on every rate is so many times what it would be."""

    def change_length(self, total_steps: int) -> None:
        """The run will have so many steps."""


class Steady:
    """A rate that nothing changes."""

    def validated(self, step: int, value: float, higher_is_better: bool) -> None:
        """Takes note of nothing."""

    def multiply(self, factor: float) -> None:
        """Takes note of nothing."""

    def change_length(self, total_steps: int) -> None:
        """Takes note of nothing."""


def _release_nothing() -> None:
    """Memory stays where it is."""


@dataclass(frozen=True)
class Plan:
    """How long it goes on, and when it validates. Parts of the data may be missing.

    `pace` is told of each validation and of what is asked for; `release` gives back memory while the run is paused.
    """

    extent: Extent
    validation_frequency: int
    patience: int
    validation: Resident | None
    test: Resident | None
    pace: Pace = field(default_factory=Steady)
    release: Callable[[], None] = _release_nothing
    limits: Limits = NO_LIMITS


@dataclass(frozen=True)
class Outcome:
    """How a training ended. Scores are those of the network that is kept (`best` or `last`).

    `seconds` are those from the first look at the data to the last, with validating and saving;
    `samples_per_second` is the speed of the steps alone.
    """

    state: str
    reason: str
    epochs: int
    iterations: int
    loss: float
    metrics: Mapping[str, float]
    validation: Scores | None
    test: Scores | None
    kept: str
    samples_per_second: float
    seconds: float
    time_shares: Mapping[str, float] = field(default_factory=dict)


class NonFiniteLossError(RunError):
    """The loss is not a number any more: going on would teach the network nothing."""


class Trainer:
    """Goes through the epochs until all are done or something ends the run."""

    def __init__(
        self,
        plan: Plan,
        unit: Unit,
        batches: Batches,
        reporter: Reporter,
        keeper: Keeper,
        hooks: Hooks | None = None,
        saver: Saver | None = None,
    ) -> None:
        self._plan = plan
        self._hooks = hooks or NoHooks()
        self._unit = unit
        self._batches = batches
        self._reporter = reporter
        self._keeper = keeper
        self._saver = saver or Saver(TrainingOptions(checkpoint_unit="never"))
        self._extent = plan.extent
        self._epochs_done = 0
        self._step = 0
        self._validated_step = -1
        self._last_scores: Scores | None = None
        self._loss = math.nan
        self._recent: deque[list[float]] = deque(maxlen=batches.order.steps_per_epoch)
        self._is_last_epoch = False
        self._stop_because = ""
        self._is_stopped = False
        self._is_paused = False
        self._save_now = False
        self._batch: Batch | None = None

    @property
    def _epoch(self) -> int:
        """The epoch of the last step, from 1; 0 before it."""
        return -(-self._step // self._batches.order.steps_per_epoch)

    def run(self) -> Outcome:
        """Train. Raises `RunError` if that comes to nothing."""
        self._tell("on_start", validation=self._last_scores)
        if self._step == 0:
            self._validate()
        while self._epochs_done < self._extent.epochs and not self._stop_because:
            self._run_epoch()
        return self._end()

    def _run_epoch(self) -> None:
        """From its beginning, or from where a checkpoint was made, to its end or a stop."""
        first = self._step - self._epochs_done * self._batches.order.steps_per_epoch
        for batch in self._reporter.clock.fetching(self._batches.of_epoch(self._epochs_done + 1, first)):
            done = self._unit.train(batch, self._step)
            self._step += 1
            self._batch = batch
            if self._unit.finished and not self._stop_because:
                self._stop_because = self._unit.finished
            is_due = self._reporter.record(done)
            if self._hooks.watches_steps and self._hooks.step(self._epoch, self._step, done):
                is_due = self._reporter.wish_to_end() or is_due
            if is_due:
                self._report()
            if self._step % self._plan.validation_frequency == 0:
                self._validate()
            if self._is_at_epoch_end:
                self._end_epoch()
            self._save_if_due()
            self._wait_while_paused()
            if self._stop_because:
                return

    @property
    def _is_at_epoch_end(self) -> bool:
        return self._step % self._batches.order.steps_per_epoch == 0

    def _end_epoch(self) -> None:
        self._epochs_done += 1
        self._reporter.epoch_ended(self._epochs_done, self._step)
        self._tell("on_epoch_end")
        if self._is_last_epoch and not self._stop_because:
            self._stop_because, self._is_stopped = "stopped on request, at the end of an epoch", True

    def _report(self) -> None:
        """Tell how it goes since the last report, and do what is asked."""
        rate = self._unit.rate(self._step - 1)
        report = self._reporter.report(self._epoch, self._step, rate, save_now=self._saver.is_time)
        self._refuse_non_finite(report)
        self._loss = next((loss for loss in reversed(report.losses) if math.isfinite(loss)), self._loss)
        steps = zip(*report.metrics.values(), strict=True)
        self._recent.extend([number for sums in step for number in sums] for step in steps)
        with self._reporter.clock.aside():
            self._keeper.put_down_sometimes(self._step, self._epoch)
        if report.wishes_to_end:
            self._stop_because = self._stop_because or self._hooks.ended_by("on_step")
        self._obey(report.asked)

    # ---- requests ----

    def _obey(self, asked: Asked) -> None:
        """Do what is asked. All workers learn of it at the same step."""
        self._save_now |= asked.save_now
        if asked.time_is_up:
            self._stop_because = self._stop_because or self._plan.limits.time_is_up
        if asked == replace(NOTHING, save_now=asked.save_now, time_is_up=asked.time_is_up):
            return
        if asked.stop:
            self._stop_because, self._is_stopped = "stopped on request", True
        elif asked.stop_after_epoch:
            self._is_last_epoch = True
        if asked.pause:
            self._is_paused = asked.pause > 0
        told = [what for what in ("stop", "stop_after_epoch", "checkpoint", "validate") if getattr(asked, what)]
        self._reporter.tell(*(Requested(what=what, iteration=self._step) for what in told))
        self._change(asked)
        if asked.validate:
            self._validate()
        self._save_now |= asked.checkpoint

    def _change(self, asked: Asked) -> None:
        """Another rate, another number of epochs. Either is in the next checkpoint, which is made at once."""
        now = self._unit.rate(self._step)
        factor = asked.rate_factor * (asked.rate / now if asked.rate and now else 1.0)
        if factor != 1.0:
            self._plan.pace.multiply(factor)
            self._reporter.tell(Requested(what="rate", iteration=self._step, value=self._unit.rate(self._step)))
        if asked.epochs:
            self._lengthen(max(asked.epochs, self._epochs_done + (not self._is_at_epoch_end)))
            self._reporter.tell(Requested(what="epochs", iteration=self._step, value=self._extent.epochs))
        self._save_now |= factor != 1.0 or bool(asked.epochs)

    def _lengthen(self, epochs: int) -> None:
        """The run is to have so many epochs."""
        self._extent = replace(self._extent, epochs=epochs)
        self._plan.pace.change_length(self._extent.total_steps)
        self._reporter.total_steps = self._extent.total_steps

    def _wait_while_paused(self) -> None:
        """Let go of the processor until it is asked to go on, or to stop. What else is asked is done meanwhile."""
        if not self._waits():
            return
        self._plan.release()
        told = (
            Requested(what="pause", iteration=self._step),
            StateChanged(state="paused", reason="pause was requested"),
        )
        self._reporter.tell(*told)
        while self._waits():
            with self._reporter.clock.paused():
                time.sleep(PAUSE_S)
                asked = self._reporter.ask()
            self._obey(asked)
            self._reporter.send_waiting()
            self._save_if_due()
        if not self._stop_because:
            self._reporter.tell(Requested(what="resume", iteration=self._step), StateChanged(state="running"))

    def _waits(self) -> bool:
        return self._is_paused and not self._stop_because

    # ---- checkpoints ----

    def _save_if_due(self) -> None:
        """Make a checkpoint, if it is time or was asked for. All workers agree."""
        at_epoch_end = self._is_at_epoch_end
        is_due = self._saver.is_due(self._step, self._epochs_done, at_epoch_end=at_epoch_end)
        if not (is_due and self._saver.last_step != self._step) and not self._save_now:
            return
        if not self._unit.workers_agree:
            return  # at one of the next steps, when the workers agree: to make them do so now would change the run
        self._save_now = False
        if self._reporter.has_steps:
            self._report()  # what was trained before a checkpoint is in the log before it
        self._save()

    def _save(self) -> None:
        self._reporter.send_waiting()
        with self._reporter.clock.aside():
            try:
                seconds = self._saver.save(self._step)
            except RunError as error:  # the training itself can go on
                self._reporter.tell(Message(severity="warning", text=f"{error} The run goes on without it."))
                seconds = None
        if seconds is not None:
            self._reporter.tell(Checkpointed(iteration=self._step, epoch=self._epoch, seconds=round(seconds, 3)))
        self._tell("on_checkpoint")  # also where it could not be written, which only the first worker knows

    def state_dict(self) -> dict[str, Any]:
        """Where in the run it is, and what it knows of it."""
        return {
            "step": self._step,
            "epochs_done": self._epochs_done,
            "steps_per_epoch": self._batches.order.steps_per_epoch,
            "epochs": self._extent.epochs,
            "planned_epochs": self._plan.extent.epochs,
            "validated_step": self._validated_step,
            "last_scores": None if self._last_scores is None else asdict(self._last_scores),
            "loss": self._loss,
            "recent": torch.tensor(list(self._recent), dtype=torch.float64),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there. Raises `UserError` where an epoch is not what it was."""
        steps_per_epoch = self._batches.order.steps_per_epoch
        if state["steps_per_epoch"] != steps_per_epoch:
            raise UserError(
                f"The run cannot go on: an epoch had {plural(state['steps_per_epoch'], 'iteration')} and has "
                f"{steps_per_epoch:,} now, so the data is not what it was. Give it back its data, or train anew."
            )
        self._step, self._epochs_done = int(state["step"]), int(state["epochs_done"])
        if state["planned_epochs"] == self._plan.extent.epochs:  # else the project says something newer
            self._lengthen(int(state["epochs"]))
        self._validated_step = int(state["validated_step"])
        self._last_scores = None if state["last_scores"] is None else Scores(**state["last_scores"])
        self._loss = float(state["loss"])
        self._recent.extend(state["recent"].tolist())

    # ---- judging ----

    def _tell(self, moment: str, **seen: Any) -> None:
        """Call the user's function of a moment, which may end the run."""
        with self._reporter.clock.aside():
            ends = self._hooks.at(moment, self._epoch, self._step, epochs=self._extent.epochs, **seen)
        if ends and not self._stop_because:
            self._stop_because = self._hooks.ended_by(moment)

    def _refuse_non_finite(self, report: Report) -> None:
        bad = next((i for i, loss in enumerate(report.losses) if not math.isfinite(loss)), None)
        if bad is None:
            return
        step, loss = report.first_step + bad, report.losses[bad]
        where = self._unit.first_bad(self._batch) if self._batch is not None else ""
        if self._unit.skips and self._unit.left_out < MOST_LEFT_OUT:
            count = sum(not math.isfinite(loss) for loss in report.losses)
            text = f"{plural(count, 'step')} left out from iteration {step:,} on: the loss is no number there. {where}"
            self._reporter.tell(Message(severity="warning", text=text.strip()))
            return
        self._reporter.send_waiting()
        self._keeper.put_down_best()
        raise NonFiniteLossError(
            f"The loss became {'NaN' if math.isnan(loss) else 'infinite'} at iteration {step:,} "
            f"(epoch {(step - 1) // self._batches.order.steps_per_epoch + 1:,}). Use a lower initial learn rate (it is "
            f"{self._unit.rate(step - 1):g} there), limit the gradients (gradient threshold), and look for values in "
            f"the data that are no numbers or very large.{f' {where}' if where else ''}"
        )

    def _validate(self) -> None:
        """Judge the network on the validation part, if there is one and it is not judged already."""
        if self._plan.validation is None or self._validated_step == self._step:
            return
        with self._reporter.clock.aside():
            scores = self._unit.judge(self._plan.validation)
            self._validated_step, self._last_scores = self._step, scores
            self._reporter.validated(self._step, scores)
            self._plan.pace.validated(self._step, self._keeper.value(scores), self._keeper.higher_is_better)
            if self._keeper.consider(self._step, self._epoch, scores):
                self._reporter.found_best(self._step, self._keeper.objective, self._keeper.best_value)
        self._tell("on_validation", validation=scores)
        if reached := self._plan.limits.reached(self._step, scores):
            self._stop_because = self._stop_because or reached
        if self._keeper.is_out_of_patience and not self._stop_because:
            self._stop_because = f"no better {self._keeper.objective} in {plural(self._plan.patience, 'validation')}"

    def _end(self) -> Outcome:
        """Validate once more, keep what was learned, and judge the kept network on the test part."""
        if self._reporter.has_steps:
            self._report()
        if self._saver.is_on and self._saver.last_step != self._step:
            self._save()
        speed, time_shares = self._reporter.samples_per_second, self._reporter.time_shares()
        self._reporter.tell(*holding_back(time_shares))
        self._validate()
        self._reporter.send_waiting()
        # A request or patience may have come with the last step.
        is_complete = self._epochs_done >= self._extent.epochs
        kept = self._keeper.finish(self._step, self._epoch)
        scores = self._keeper.best_scores if kept == "best" else self._last_scores
        if self._keeper.is_settled and self._plan.validation is not None:
            scores = self._unit.judge(self._plan.validation)
        test = self._unit.judge(self._plan.test) if self._plan.test is not None else None
        if test is not None:
            self._reporter.tested(self._keeper.best_step if kept == "best" else self._step, test)
        reason = self._extent.all_done if is_complete else self._stop_because
        self._tell("on_end", reason=reason, test=test)
        return Outcome(
            state="stopped" if self._is_stopped and not is_complete else "finished",
            reason=reason,
            epochs=self._epochs_done,
            iterations=self._step,
            loss=self._loss,
            metrics=self._recent_metrics(),
            validation=scores,
            test=test,
            kept=kept,
            samples_per_second=speed,
            seconds=self._reporter.clock.elapsed_s,
            time_shares=time_shares,
        )

    def _recent_metrics(self) -> dict[str, float]:
        """Each training metric over the last epoch's worth of steps, of those that are sums over steps."""
        found = {metric.name: math.nan for metric in on_curve(self._unit.metrics)}
        if self._recent:
            totals = iter([sum(column) for column in zip(*self._recent, strict=True)])
            for metric in on_curve(self._unit.metrics):
                found[metric.name] = metric.value(list(islice(totals, metric.width)))
        return found
