"""The story of a training: for each epoch, for each batch, a step; report, obey, validate, keep."""

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

import torch

from engine.core.errors import RunError, UserError, plural
from engine.data.batches import Batch, BatchLoader
from engine.project.training import TrainingOptions
from engine.runs.events import Checkpointed, Message
from engine.training.best_model import BestModelTracker, CheckpointSaver
from engine.training.control import Control
from engine.training.metrics import on_curve
from engine.training.nan_replay import NanReplay
from engine.training.recorder import Report
from engine.training.reporter import Reporter
from engine.training.state import Evaluation, TrainingPlan, TrainingState
from engine.training.step import Unit
from engine.training.user_code import Hooks, NoHooks

MOST_LEFT_OUT = 100
"""So many steps in a row may be left out before nothing more is to be hoped for."""


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
    validation: Evaluation | None
    test: Evaluation | None
    kept: str
    samples_per_second: float
    seconds: float
    time_shares: Mapping[str, float] = field(default_factory=dict)


class NonFiniteLossError(RunError):
    """The loss is NaN or infinite: further steps would teach the network nothing."""

    is_group_broken = False
    """Whether this worker left a collective while it searched for the cause, which the others may still wait in."""


class Trainer:
    """Goes through the epochs until all are done or something ends the run."""

    def __init__(
        self,
        plan: TrainingPlan,
        unit: Unit,
        batches: BatchLoader,
        reporter: Reporter,
        keeper: BestModelTracker,
        hooks: Hooks | None = None,
        saver: CheckpointSaver | None = None,
        replay: NanReplay | None = None,
    ) -> None:
        """`replay` looks where a loss that is no number came from, if the weights are lost by then."""
        self._plan = plan
        self._hooks = hooks or NoHooks()
        self._unit = unit
        self._batches = batches
        self._reporter = reporter
        self._keeper = keeper
        self._saver = saver or CheckpointSaver(TrainingOptions(checkpoint_unit="never"))
        self._replay = replay
        self._course = TrainingState(plan.length, batches.order.steps_per_epoch)
        self._control = Control(plan, self._course, unit, reporter, self._validate)
        self._validated_step = -1
        self._last_scores: Evaluation | None = None
        self._loss = math.nan
        self._recent: deque[list[float]] = deque(maxlen=batches.order.steps_per_epoch)
        self._batch: Batch | None = None

    def run(self) -> Outcome:
        """Train. Raises `RunError` if that comes to nothing."""
        self._tell("on_start", validation=self._last_scores)
        if self._course.step == 0:
            self._validate()
        else:  # what was asked for while there were no workers
            self._control.obey(self._reporter.ask())
            self._save_if_due()
            self._control.wait_while_paused(self._save_if_due)
        while not (self._course.is_complete or self._course.ends_because):
            self._run_epoch()
        return self._end()

    def _run_epoch(self) -> None:
        """From its beginning, or from where a checkpoint was made, to its end or a stop."""
        course = self._course
        first = course.step - course.epochs_done * self._batches.order.steps_per_epoch
        for batch in self._reporter.clock.fetching(self._batches.of_epoch(course.epochs_done + 1, first)):
            done = self._unit.train(batch, course.step)
            course.step += 1
            self._batch = batch
            course.end(self._unit.finished)
            is_due = self._reporter.record(done)
            if self._hooks.watches_steps and self._hooks.step(course.epoch, course.step, done):
                is_due = self._reporter.wish_to_end() or is_due
            if is_due:
                self._report()
            if course.step % self._plan.validation_frequency == 0:
                self._validate()
            if course.is_at_epoch_end:
                self._end_epoch()
            self._save_if_due()
            self._control.wait_while_paused(self._save_if_due)
            if course.ends_because:
                return

    def _end_epoch(self) -> None:
        course = self._course
        course.epochs_done += 1
        self._reporter.epoch_ended(course.epochs_done, course.step)
        self._tell("on_epoch_end")
        if course.is_last_epoch and not course.ends_because:
            course.stop("stopped on request, at the end of an epoch")

    def _report(self) -> None:
        """Tell how it goes since the last report, and do what is asked."""
        course = self._course
        rate = self._unit.rate(course.step - 1)
        report = self._reporter.report(course.epoch, course.step, rate, save_now=self._saver.is_time)
        self._refuse_non_finite(report)
        self._loss = next((loss for loss in reversed(report.losses) if math.isfinite(loss)), self._loss)
        steps = zip(*report.metrics.values(), strict=True)
        self._recent.extend([number for sums in step for number in sums] for step in steps)
        with self._reporter.clock.aside():
            self._keeper.put_down_sometimes(course.step, course.epoch)
        if report.wishes_to_end:
            course.end(self._hooks.ended_by("on_step"))
        self._control.obey(report.requests)

    # ---- checkpoints ----

    def _save_if_due(self) -> None:
        """Make a checkpoint, if it is time or was asked for. All workers agree."""
        course = self._course
        at_epoch_end = course.is_at_epoch_end
        is_due = self._saver.is_due(course.step, course.epochs_done, at_epoch_end=at_epoch_end)
        if not (is_due and self._saver.last_step != course.step) and not course.save_now:
            return
        if not self._unit.workers_agree:
            return  # at one of the next steps, when the workers agree: to make them do so now would change the run
        course.save_now = False
        if self._reporter.has_steps:
            self._report()  # what was trained before a checkpoint is in the log before it
        self._save()

    def _save(self) -> None:
        course = self._course
        self._reporter.send_waiting()
        with self._reporter.clock.aside():
            try:
                seconds = self._saver.save(course.step)
            except RunError as error:  # the training itself can go on
                self._reporter.tell(Message(severity="warning", text=f"{error} The run goes on without it."))
                seconds = None
        if seconds is not None:
            self._reporter.tell(Checkpointed(iteration=course.step, epoch=course.epoch, seconds=round(seconds, 3)))
        self._tell("on_checkpoint")  # also where it could not be written, which only the first worker knows

    def state_dict(self) -> dict[str, Any]:
        """Where in the run it is, and what it knows of it."""
        course = self._course
        return {
            "step": course.step,
            "epochs_done": course.epochs_done,
            "steps_per_epoch": self._batches.order.steps_per_epoch,
            "epochs": course.length.epochs,
            "planned_epochs": self._plan.length.epochs,
            "validated_step": self._validated_step,
            "last_scores": None if self._last_scores is None else asdict(self._last_scores),
            "loss": self._loss,
            "recent": torch.tensor(list(self._recent), dtype=torch.float64),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there. Raises `UserError` where an epoch is not what it was."""
        course = self._course
        steps_per_epoch = self._batches.order.steps_per_epoch
        if state["steps_per_epoch"] != steps_per_epoch:
            raise UserError(
                f"The run cannot go on: an epoch had {plural(state['steps_per_epoch'], 'iteration')} and has "
                f"{steps_per_epoch:,} now, so the data is not what it was. Give it back its data, or train anew."
            )
        course.step, course.epochs_done = int(state["step"]), int(state["epochs_done"])
        if state["planned_epochs"] == self._plan.length.epochs:  # else the project says something newer
            self._control.lengthen(int(state["epochs"]))
        self._validated_step = int(state["validated_step"])
        self._last_scores = None if state["last_scores"] is None else Evaluation(**state["last_scores"])
        self._loss = float(state["loss"])
        self._recent.extend(state["recent"].tolist())

    # ---- judging ----

    def _tell(self, moment: str, **seen: Any) -> None:
        """Call the user's function of a moment, which may end the run."""
        course = self._course
        with self._reporter.clock.aside():
            ends = self._hooks.at(moment, course.epoch, course.step, epochs=course.length.epochs, **seen)
        if ends:
            course.end(self._hooks.ended_by(moment))

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
        rate = self._unit.rate(step - 1)
        if self._replay is not None:
            where = self._replay.look(step) or where
            if not where and self._replay.why_not:
                where = f"The layer that it came from is not known: {self._replay.why_not}."
        error = NonFiniteLossError(
            f"The loss became {'NaN' if math.isnan(loss) else 'infinite'} at iteration {step:,} "
            f"(epoch {(step - 1) // self._batches.order.steps_per_epoch + 1:,}). Use a lower initial learn rate (it is "
            f"{rate:g} there), limit the gradients (gradient threshold), and look for values in "
            f"the data that are no numbers or very large.{f' {where}' if where else ''}"
        )
        error.is_group_broken = self._replay is not None and self._replay.broke_off
        raise error

    def _validate(self) -> None:
        """Judge the network on the validation split, if there is one and it is not judged already."""
        course = self._course
        if self._plan.validation is None or self._validated_step == course.step:
            return
        with self._reporter.clock.aside():
            scores = self._unit.judge(self._plan.validation)
            self._validated_step, self._last_scores = course.step, scores
            self._reporter.validated(course.step, scores)
            self._plan.pace.validated(course.step, self._keeper.value(scores), self._keeper.higher_is_better)
            if self._keeper.consider(course.step, course.epoch, scores):
                self._reporter.found_best(course.step, self._keeper.objective, self._keeper.best_value)
        self._tell("on_validation", validation=scores)
        if reached := self._plan.limits.reached(course.step, scores):
            course.end(reached)
        if self._keeper.is_out_of_patience:
            course.end(f"no better {self._keeper.objective} in {plural(self._plan.patience, 'validation')}")

    def _end(self) -> Outcome:
        """Validate once more, keep what was learned, and judge the kept network on the test split."""
        course = self._course
        if self._reporter.has_steps:
            self._report()
        if self._saver.is_on and self._saver.last_step != course.step:
            self._save()
        speed, time_shares = self._reporter.samples_per_second, self._reporter.time_shares()
        self._validate()
        self._reporter.send_waiting()
        # A request or patience may have come with the last step.
        is_complete = course.is_complete
        kept = self._keeper.finish(course.step, course.epoch)
        scores = self._keeper.best_scores if kept == "best" else self._last_scores
        if self._keeper.is_settled and self._plan.validation is not None:
            scores = self._unit.judge(self._plan.validation)
        test = self._unit.judge(self._plan.test) if self._plan.test is not None else None
        if test is not None:
            self._reporter.tested(self._keeper.best_step if kept == "best" else course.step, test)
        reason = course.length.all_done if is_complete else course.ends_because
        self._tell("on_end", reason=reason, test=test)
        return Outcome(
            state="stopped" if course.is_stopped and not is_complete else "finished",
            reason=reason,
            epochs=course.epochs_done,
            iterations=course.step,
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
