"""The story of a training: for each epoch, for each batch, a step; report, obey, validate, keep."""

import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.errors import RunError, plural
from engine.project.extent import Extent
from engine.training.batches import Batches, Resident
from engine.training.hooks import Hooks, NoHooks
from engine.training.keeping import Keeper
from engine.training.limits import NO_LIMITS, Limits
from engine.training.reporting import Report, Reporter
from engine.training.requests import NO_REQUEST, STOP, TIME_UP
from engine.training.step import Scores, Unit

Watch = Callable[[int, float, bool], None]


def _nobody(step: int, value: float, higher_is_better: bool) -> None:
    """Watches no validation."""


@dataclass(frozen=True)
class Plan:
    """How long it goes on, and when it validates. Parts of the data may be missing.

    `watch` is told of each validation: after how many steps, the objective, and whether higher is better.
    """

    extent: Extent
    validation_frequency: int
    patience: int
    validation: Resident | None
    test: Resident | None
    watch: Watch = _nobody
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
    ) -> None:
        self._plan = plan
        self._hooks = hooks or NoHooks()
        self._unit = unit
        self._batches = batches
        self._reporter = reporter
        self._keeper = keeper
        self._epoch = 0
        self._epochs_done = 0
        self._step = 0
        self._validated_step = -1
        self._last_scores: Scores | None = None
        self._loss = math.nan
        self._recent: deque[tuple[int, *tuple[float, ...]]] = deque(maxlen=batches.order.steps_per_epoch)
        self._is_last_epoch = False
        self._stop_because = ""
        self._is_stopped = False

    def run(self) -> Outcome:
        """Train. Raises `RunError` if that comes to nothing."""
        self._tell("on_start")
        self._validate()
        while self._epochs_done < self._plan.extent.epochs and not self._stop_because:
            self._run_epoch()
        return self._end()

    def _run_epoch(self) -> None:
        self._epoch += 1
        for batch in self._batches.of_epoch(self._epoch):
            done = self._unit.train(batch, self._step)
            self._step += 1
            if self._unit.finished and not self._stop_because:
                self._stop_because = self._unit.finished
            is_due = self._reporter.record(done)
            if self._hooks.watches_steps and self._hooks.step(self._epoch, self._step, done):
                is_due = self._reporter.wish_to_end() or is_due
            if is_due:
                self._obey(self._report())
            if self._step % self._plan.validation_frequency == 0:
                self._validate()
            if self._stop_because and not self._is_at_epoch_end:
                return
        self._end_epoch()

    @property
    def _is_at_epoch_end(self) -> bool:
        return self._step % self._batches.order.steps_per_epoch == 0

    def _end_epoch(self) -> None:
        self._epochs_done += 1
        self._reporter.epoch_ended(self._epoch, self._step)
        self._tell("on_epoch_end")
        if self._is_last_epoch and not self._stop_because:
            self._stop_because, self._is_stopped = "stopped on request, at the end of an epoch", True

    def _report(self) -> Report:
        """Tell how it goes since the last report."""
        report = self._reporter.report(self._epoch, self._step, self._unit.rate(self._step - 1))
        self._refuse_non_finite(report)
        self._loss = report.losses[-1]
        self._recent.extend(zip(report.totals, *report.metrics, strict=True))
        with self._reporter.clock.aside():
            self._keeper.put_down_sometimes(self._step, self._epoch)
        return report

    def _obey(self, report: Report) -> None:
        """Do what is asked. All workers learn of it at the same step."""
        if report.wishes_to_end:
            self._stop_because = self._stop_because or self._hooks.ended_by("on_step")
        if report.request == STOP:
            self._stop_because, self._is_stopped = "stopped on request", True
        elif report.request == TIME_UP:
            self._stop_because = self._stop_because or self._plan.limits.time_is_up
        elif report.request != NO_REQUEST:
            self._is_last_epoch = True

    def _tell(self, moment: str, **seen: Any) -> None:
        """Call the user's function of a moment, which may end the run."""
        with self._reporter.clock.aside():
            ends = self._hooks.at(moment, self._epoch, self._step, **seen)
        if ends and not self._stop_because:
            self._stop_because = self._hooks.ended_by(moment)

    def _refuse_non_finite(self, report: Report) -> None:
        bad = next((i for i, loss in enumerate(report.losses) if not math.isfinite(loss)), None)
        if bad is None:
            return
        self._reporter.send_waiting()
        self._keeper.put_down_best()
        step, loss = report.first_step + bad, report.losses[bad]
        raise NonFiniteLossError(
            f"The loss became {'NaN' if math.isnan(loss) else 'infinite'} at iteration {step:,} "
            f"(epoch {(step - 1) // self._batches.order.steps_per_epoch + 1:,}). Use a lower initial learn rate (it is "
            f"{self._unit.rate(step - 1):g} there), limit the gradients (gradient threshold), and look for values in "
            "the data that are no numbers or very large."
        )

    def _validate(self) -> None:
        """Judge the network on the validation part, if there is one and it is not judged already."""
        if self._plan.validation is None or self._validated_step == self._step:
            return
        with self._reporter.clock.aside():
            scores = self._unit.judge(self._plan.validation)
            self._validated_step, self._last_scores = self._step, scores
            self._reporter.validated(self._step, scores)
            self._plan.watch(self._step, self._keeper.value(scores), self._keeper.higher_is_better)
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
        speed = self._reporter.samples_per_second
        self._validate()
        self._reporter.send_waiting()
        # A request or patience may have come with the last step.
        is_complete = self._epochs_done == self._plan.extent.epochs
        kept = self._keeper.finish(self._step, self._epoch)
        test = self._unit.judge(self._plan.test) if self._plan.test is not None else None
        if test is not None:
            self._reporter.tested(self._keeper.best_step if kept == "best" else self._step, test)
        reason = self._plan.extent.all_done if is_complete else self._stop_because
        self._tell("on_end", reason=reason, test=test)
        return Outcome(
            state="stopped" if self._is_stopped and not is_complete else "finished",
            reason=reason,
            epochs=self._epochs_done,
            iterations=self._step,
            loss=self._loss,
            metrics=self._recent_metrics(),
            validation=self._keeper.best_scores if kept == "best" else self._last_scores,
            test=test,
            kept=kept,
            samples_per_second=speed,
            seconds=self._reporter.clock.elapsed_s,
        )

    def _recent_metrics(self) -> dict[str, float]:
        """Each training metric over the last epoch's worth of steps."""
        if not self._recent:
            return {metric.name: math.nan for metric in self._unit.metrics}
        count, *totals = (sum(column) for column in zip(*self._recent, strict=True))
        return {
            metric.name: metric.value(total, count) for metric, total in zip(self._unit.metrics, totals, strict=True)
        }
