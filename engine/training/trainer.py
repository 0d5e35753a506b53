"""The training loop: for each epoch, for each batch, a step; report, obey requests, validate, save."""

import math
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

import torch

from netwright.engine.core.errors import RunError, UserError, plural
from netwright.engine.data.loading.batches import Batch, BatchLoader
from netwright.engine.project.training import TrainingLength, TrainingOptions
from netwright.engine.runs.events import Checkpointed, Message
from netwright.engine.training.answer_recorder import AnswerRecorder
from netwright.engine.training.best_model import BestModelTracker
from netwright.engine.training.checkpoints import CheckpointSaver
from netwright.engine.training.control import Control
from netwright.engine.training.evaluation import Evaluator
from netwright.engine.training.metrics import on_curve
from netwright.engine.training.nan_diagnosis import NanDiagnosis
from netwright.engine.training.nan_replay import NanReplay
from netwright.engine.training.recorder import Report
from netwright.engine.training.reporter import Reporter
from netwright.engine.training.state import Evaluation, TrainingPlan, TrainingState, evaluation_from
from netwright.engine.training.step import TrainStep
from netwright.engine.training.user_hooks import Hooks, NoHooks

MAX_SKIPPED_STEPS = 100
"""After this many skipped steps in a row the run fails."""


@dataclass(frozen=True)
class Outcome:
    """How a training ended. Evaluations are those of the network that is kept (`best` or `last`).

    `seconds` is the time from the first use of the data to the last, including validation and saving;
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
    baselines: Mapping[str, Any] = field(default_factory=dict)
    """Errors of forecasts that need no network, for runs that forecast."""


class NonFiniteLossError(RunError):
    """The loss is NaN or infinite: further steps would teach the network nothing."""

    is_group_broken = False
    """Whether this worker left a collective while it searched for the cause, which the others may still wait in."""


@dataclass(frozen=True)
class TrainerOptions:
    """Optional parts of a training beside its steps."""

    hooks: Hooks | None = None
    saver: CheckpointSaver | None = None
    diagnosis: NanDiagnosis | None = None
    """Names the layer behind a non-finite loss."""
    replay: NanReplay | None = None
    """Names it once the weights are lost."""
    watched: AnswerRecorder | None = None
    """Keeps some answers of each validation."""


class Trainer:
    """Trains until all epochs are done or something ends the run."""

    def __init__(
        self,
        plan: TrainingPlan,
        step: TrainStep,
        evaluator: Evaluator,
        batches: BatchLoader,
        reporter: Reporter,
        tracker: BestModelTracker,
        options: TrainerOptions | None = None,
    ) -> None:
        settings = options or TrainerOptions()
        self._plan = plan
        self._hooks = settings.hooks or NoHooks()
        self._step = step
        self._evaluator = evaluator
        self._batches = batches
        self._reporter = reporter
        self._tracker = tracker
        self._saver = settings.saver or CheckpointSaver(TrainingOptions(checkpoint_unit="never"))
        self._diagnosis = settings.diagnosis or NanDiagnosis(step)
        self._replay, self._watched = settings.replay, settings.watched
        self._state = TrainingState(plan.length, batches.order.steps_per_epoch)
        self._control = Control(plan, self._state, step, reporter, self._validate)
        self._validated_step = -1
        self._last_validation: Evaluation | None = None
        self._loss = math.nan
        self._recent: deque[list[float]] = deque(maxlen=batches.order.steps_per_epoch)
        self._batch: Batch | None = None
        self._held_up_s, self._saved_epoch = 0.0, 0
        """Of the last checkpoint: how long training waited for it, and its epoch."""

    @property
    def length(self) -> TrainingLength:
        """The planned length of the run, with the epochs that were last asked for."""
        return self._state.length

    def run(self) -> Outcome:
        """Train. Raises `RunError` where that fails."""
        self._call_hook("on_start", validation=self._last_validation)
        if self._state.step == 0:
            self._validate()
        else:  # requests that came while there were no workers
            self._control.obey(self._reporter.pending_requests())
            self._save_if_due()
            self._control.wait_while_paused(self._save_if_due)
        while not (self._state.is_complete or self._state.end_reason):
            self._run_epoch()
        return self._end()

    def _run_epoch(self) -> None:
        """Train from the beginning of the epoch, or from a checkpoint within it, to its end or a stop."""
        state = self._state
        first = state.step - state.epochs_done * self._batches.order.steps_per_epoch
        for batch in self._reporter.clock.fetching(self._batches.of_epoch(state.epochs_done + 1, first)):
            result = self._step(batch, state.step)
            state.step += 1
            self._batch = batch
            state.end(self._step.finished)
            is_due = self._reporter.record(result)
            if self._hooks.watches_steps and self._hooks.on_step(state.epoch, state.step, result):
                is_due = self._reporter.request_end() or is_due
            if is_due:
                self._report()
            if state.step % self._plan.validation_frequency == 0:
                self._validate()
            if state.is_at_epoch_end:
                self._end_epoch()
            self._save_if_due()
            self._control.wait_while_paused(self._save_if_due)
            if state.end_reason:
                return

    def _end_epoch(self) -> None:
        state = self._state
        state.epochs_done += 1
        self._reporter.epoch_ended(state.epochs_done, state.step)
        self._call_hook("on_epoch_end")
        if state.is_last_epoch and not state.end_reason:
            state.stop("stopped on request, at the end of an epoch")

    def _report(self) -> None:
        """Report the steps since the last report, and obey requests."""
        state = self._state
        rate = self._step.learn_rate(state.step - 1)
        report = self._reporter.report(state.epoch, state.step, rate, save_now=self._saver.is_due_by_time)
        self._refuse_non_finite(report)
        self._loss = next((loss for loss in reversed(report.losses) if math.isfinite(loss)), self._loss)
        steps = zip(*report.metrics.values(), strict=True)
        self._recent.extend([number for sums in step for number in sums] for step in steps)
        with self._reporter.clock.aside():
            self._tracker.write_if_due(state.step, state.epoch)
        self._tell_of_saved(wait=False)
        if report.end_requests:
            state.end(self._hooks.ended_by("on_step"))
        self._control.obey(report.requests)

    # ---- checkpoints ----

    def _save_if_due(self) -> None:
        """Save a checkpoint, if it is time or was requested. All workers agree."""
        state = self._state
        is_due = self._saver.is_due(state.step, state.epochs_done, at_epoch_end=state.is_at_epoch_end)
        if not (is_due and self._saver.last_step != state.step) and not state.save_now:
            return
        if not self._step.model.strategy.is_synchronized:
            return  # at one of the next steps, when the workers are: to synchronize them now would change the run
        state.save_now = False
        if self._reporter.has_steps:
            self._report()  # what was trained before a checkpoint is in the log before it
        self._save()
        self._tell_of_saved(wait=state.is_waiting() or state.is_offloading)  # these workers may be ended next

    def _save(self) -> None:
        state = self._state
        self._tell_of_saved(wait=True)  # the last one, of which there is at most one at a time
        self._reporter.send_waiting()
        start_s = time.monotonic()
        with self._reporter.clock.aside():
            try:
                seconds = self._saver.save(state.step)
            except RunError as error:  # the training itself can continue
                self._reporter.send(Message(severity="warning", text=f"{error} The run goes on without it."))
                seconds = None
        if seconds is not None:
            self._reporter.send(Checkpointed(iteration=state.step, epoch=state.epoch, seconds=round(seconds, 3)))
        self._held_up_s, self._saved_epoch = time.monotonic() - start_s, state.epoch
        self._call_hook("on_checkpoint")  # also where it could not be written, which only the first worker knows

    def _tell_of_saved(self, *, wait: bool) -> None:
        """Report the checkpoint that was written in the background, once it is whole."""
        write = self._saver.in_background
        if write is None or not (wait or write.is_done):
            return
        with self._reporter.clock.aside():
            write.wait()
        self._saver.in_background = None
        if write.error:
            text = f"The checkpoint of iteration {write.iteration:,} cannot be written: {write.error}."
            self._reporter.send(Message(severity="warning", text=f"{text} The run goes on without it."))
        elif write.is_whole:
            seconds = round(self._held_up_s, 3)
            self._reporter.send(Checkpointed(iteration=write.iteration, epoch=self._saved_epoch, seconds=seconds))

    def state_dict(self) -> dict[str, Any]:
        """Return the progress of the run, and its last validation."""
        state = self._state
        return {
            "step": state.step,
            "epochs_done": state.epochs_done,
            "steps_per_epoch": self._batches.order.steps_per_epoch,
            "epochs": state.length.epochs,
            "planned_epochs": self._plan.length.epochs,
            "validated_step": self._validated_step,
            "last_scores": None if self._last_validation is None else asdict(self._last_validation),
            "loss": self._loss,
            "recent": torch.tensor(list(self._recent), dtype=torch.float64),
        }

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        """Restore the progress. Raises `UserError` where the data has another number of steps per epoch."""
        state = self._state
        steps_per_epoch = self._batches.order.steps_per_epoch
        if saved["steps_per_epoch"] != steps_per_epoch:
            raise UserError(
                f"The run cannot be resumed: an epoch had {plural(saved['steps_per_epoch'], 'iteration')} and has "
                f"{steps_per_epoch:,} now, so the data has changed. Restore the data, or train anew."
            )
        state.step, state.epochs_done = int(saved["step"]), int(saved["epochs_done"])
        if saved["planned_epochs"] == self._plan.length.epochs:  # otherwise the project was changed since
            self._control.change_epochs(int(saved["epochs"]))
        self._validated_step = int(saved["validated_step"])
        if self._watched is not None:
            self._watched.resume(state.step)
        self._step.watch.resume(state.step)
        self._last_validation = None if saved["last_scores"] is None else evaluation_from(saved["last_scores"])
        self._loss = float(saved["loss"])
        recent, width = saved["recent"], sum(metric.width for metric in on_curve(self._evaluator.metrics))
        if recent.numel() and recent.shape[1:] != (width,):
            raise ValueError(f"sums of {width} columns were expected instead of the shape {list(recent.shape)}")
        self._recent.extend(recent.tolist())

    # ---- evaluation ----

    def _call_hook(self, moment: str, **values: Any) -> None:
        """Call the user's hook of a moment, which may end the run."""
        state = self._state
        with self._reporter.clock.aside():
            ends = self._hooks.on(moment, state.epoch, state.step, epochs=state.length.epochs, **values)
        if ends:
            state.end(self._hooks.ended_by(moment))

    def _refuse_non_finite(self, report: Report) -> None:
        """Raise `NonFiniteLossError` where a loss of the report is not finite, or warn where such steps are skipped."""
        bad = next((i for i, loss in enumerate(report.losses) if not math.isfinite(loss)), None)
        if bad is None:
            return
        step, loss = report.first_step + bad, report.losses[bad]
        where = self._diagnosis.first_layer(self._batch) if self._batch is not None else ""
        if self._step.skips and self._step.num_skipped < MAX_SKIPPED_STEPS:
            count = sum(not math.isfinite(loss) for loss in report.losses)
            text = f"{plural(count, 'step')} skipped from iteration {step:,} on: the loss is not finite there. {where}"
            self._reporter.send(Message(severity="warning", text=text.strip()))
            return
        self._reporter.send_waiting()
        self._tracker.write_best()
        self._tell_of_saved(wait=True)
        rate = self._step.learn_rate(step - 1)
        if self._replay is not None:
            where = self._replay.search(step) or where
            if not where and self._replay.why_not:
                where = f"The layer that it came from is not known: {self._replay.why_not}."
        error = NonFiniteLossError(
            f"The loss became {'NaN' if math.isnan(loss) else 'infinite'} at iteration {step:,} "
            f"(epoch {(step - 1) // self._batches.order.steps_per_epoch + 1:,}). Use a lower initial learn rate (it is "
            f"{rate:g} there), limit the gradients (gradient threshold), and look for values in "
            f"the data that are not finite or very large.{f' {where}' if where else ''}"
        )
        error.is_group_broken = self._replay is not None and self._replay.is_group_broken
        raise error

    def _validate(self) -> None:
        """Evaluate the network on the validation split, if there is one and this step is not validated yet."""
        state = self._state
        if self._plan.validation is None or self._validated_step == state.step:
            return
        with self._reporter.clock.aside():
            watched = self._watched
            if watched is not None and not watched.is_due(is_last=state.is_complete or bool(state.end_reason)):
                watched = None
            evaluation = self._evaluator.evaluate(self._plan.validation, watched)
            if watched is not None:
                watched.end(state.step, state.epoch)
            self._validated_step, self._last_validation = state.step, evaluation
            self._reporter.validated(state.step, evaluation)
            tracker = self._tracker
            self._plan.schedule.validated(state.step, tracker.value(evaluation), tracker.higher_is_better)
            if tracker.update(state.step, state.epoch, evaluation):
                self._reporter.found_best(state.step, tracker.objective, tracker.best_value)
        self._call_hook("on_validation", validation=evaluation)
        if reached := self._plan.limits.reached(state.step, evaluation):
            state.end(reached)
        if tracker.is_out_of_patience:
            state.end(f"no better {tracker.objective} in {plural(self._plan.patience, 'validation')}")

    def _end(self) -> Outcome:
        """Validate once more, keep the best or last network, and evaluate it on the test split."""
        state, tracker = self._state, self._tracker
        if self._reporter.has_steps:
            self._report()
        if self._saver.is_on and self._saver.last_step != state.step:
            self._save()
        self._tell_of_saved(wait=True)
        speed, time_shares = self._reporter.samples_per_second, self._reporter.time_shares()
        self._validate()
        self._reporter.send_waiting()
        # A request or patience may have come with the last step.
        is_complete = state.is_complete
        choice = tracker.finish(state.step, state.epoch)
        validation = tracker.best_evaluation if choice == "best" else self._last_validation
        if tracker.has_new_statistics and self._plan.validation is not None:
            validation = self._evaluator.evaluate(self._plan.validation)
        test = self._evaluator.evaluate(self._plan.test) if self._plan.test is not None else None
        if test is not None:
            self._reporter.tested(tracker.best_step if choice == "best" else state.step, test)
        reason = state.length.all_done if is_complete else state.end_reason
        self._call_hook("on_end", reason=reason, test=test)
        self._reporter.send_waiting()  # what the hook has reported
        return Outcome(
            state="stopped" if state.is_stopped and not is_complete else "finished",
            reason=reason,
            epochs=state.epochs_done,
            iterations=state.step,
            loss=self._loss,
            metrics=self._recent_metrics(),
            validation=validation,
            test=test,
            kept=choice,
            samples_per_second=speed,
            seconds=self._reporter.clock.elapsed_s,
            time_shares=time_shares,
        )

    def _recent_metrics(self) -> dict[str, float]:
        """Return each training metric over the last epoch's worth of steps, of those that are sums over steps."""
        metrics = on_curve(self._evaluator.metrics)
        values = {metric.name: math.nan for metric in metrics}
        if self._recent:
            totals = iter([sum(column) for column in zip(*self._recent, strict=True)])
            for metric in metrics:
                values[metric.name] = metric.value(list(islice(totals, metric.width)))
        return values
