"""Sends the events of a run and takes requests to it, a few times per second, at the report points of its recorder.

Following a run costs nothing, and a request is obeyed within a fraction of a second, or after a step that takes longer.
"""

import math
from collections.abc import Sequence
from typing import Any, Protocol

from netwright.engine.runs.events import Best, EpochEnded, Event, Points, Progress
from netwright.engine.runs.log_lines import split_points
from netwright.engine.runs.requests import NOTHING, PendingRequests
from netwright.engine.training.efficiency import Efficiency
from netwright.engine.training.layer_statistics import Watch
from netwright.engine.training.metrics import Metric, on_curve
from netwright.engine.training.recorder import Clock, Recorder, Report
from netwright.engine.training.state import Evaluation, StepResult


class EventSink(Protocol):
    """Takes the events of a run."""

    def put(self, *events: Event) -> None:
        """Send events in their order."""


class RequestSource(Protocol):
    """Where requests to the run come in."""

    def pending(self) -> PendingRequests:
        """Return the requests since the last call, without waiting."""


class NullEventSink:
    """The sink of all workers but the first."""

    def put(self, *events: Event) -> None:
        """Do nothing."""


class NoRequests:
    """The source of all workers but the first."""

    def pending(self) -> PendingRequests:
        """Return none."""
        return NOTHING


def _share(part_s: float, whole_s: float) -> float:
    """Return the share that a part has, or NaN where that is unknown."""
    return part_s if math.isnan(part_s) else round(min(1.0, max(0.0, part_s / whole_s)), 3)


class Curve:
    """Points of one split that wait to be sent, in runs of equal distance."""

    def __init__(self, split: str) -> None:
        self._split = split
        self._steps: list[int] = []
        self._values: dict[str, list[float]] = {}

    def add(self, step: int, values: dict[str, float]) -> None:
        """Add a point to the curve of each name; one at the same step is replaced."""
        if self._steps and self._steps[-1] == step:
            self._steps.pop()
            for values_before in self._values.values():
                values_before.pop()
        self._steps.append(step)
        for name, value in values.items():
            self._values.setdefault(name, []).append(value)

    def take(self) -> list[Event]:
        """Return the points as events, and forget them."""
        events: list[Event] = []
        start = 0
        while start < len(self._steps):
            end, apart = _run_of_equal_distance(self._steps, start)
            values = {name: values[start:end] for name, values in self._values.items()}
            first = self._steps[start]
            events += split_points(Points(split=self._split, first_step=first, steps_apart=apart, values=values))
            start = end
        self._steps, self._values = [], {}
        return events


def _run_of_equal_distance(steps: list[int], start: int) -> tuple[int, int]:
    """Return the end of the run of equal distances that begins here, and the distance."""
    if start + 1 == len(steps):
        return start + 1, 1
    apart = steps[start + 1] - steps[start]
    end = start + 2
    while end < len(steps) and steps[end] - steps[end - 1] == apart:
        end += 1
    return end, apart


class Reporter:
    """Sends what the trainer reports, and returns the requests to it."""

    def __init__(
        self,
        metrics: Sequence[Metric],
        recorder: Recorder,
        outbox: EventSink,
        requests: RequestSource,
        clock: Clock,
        total_steps: int,
        watch: Watch | None = None,
        efficiency: Efficiency | None = None,
    ) -> None:
        self.clock = clock
        self._efficiency = efficiency
        self._watch = watch
        self._metrics = on_curve(metrics)
        self._recorder = recorder
        self._outbox = outbox
        self._requests = requests
        self.total_steps = total_steps
        self._validation = Curve("validation")
        self._reported: dict[str, Curve] = {}
        self._waiting: list[Event] = []
        self._best: Best | None = None
        self._samples = 0
        self._samples_before = 0
        self._training_s_before = 0.0
        self._data_s_before, self._sending_s_before = 0.0, 0.0

    @property
    def samples_per_second(self) -> float:
        """Return the mean speed of the whole run."""
        return self._samples / max(self.clock.training_s, 1e-9)

    def time_shares(self) -> dict[str, float]:
        """Return the shares of the training time: data, communication and computing; NaN where unknown."""
        training_s = max(self.clock.training_s, 1e-9)
        data, sending = _share(self.clock.data_s, training_s), _share(self.clock.communication_s, training_s)
        return {"data": data, "communication": sending, "computing": round(1 - data - sending, 3)}

    @property
    def has_steps(self) -> bool:
        """Return whether any step is not reported yet. The same on all workers."""
        return self._recorder.has_steps

    def record(self, result: StepResult) -> bool:
        """Record the result of a step, and return whether it is time to report."""
        self._samples += result.total
        return self._recorder.hold(result)

    def request_end(self) -> bool:
        """End the run on request of a hook; returns whether it is time to report."""
        return self._recorder.request_end()

    def validated(self, step: int, evaluation: Evaluation) -> None:
        """Record a validation after this step."""
        self._validation.add(step, evaluation.values)

    def reported(self, step: int, name: str, value: float) -> None:
        """Record a value that a hook has reported."""
        self._reported.setdefault(name, Curve("training")).add(step, {name: value})

    def found_best(self, step: int, objective: str, value: float) -> None:
        """Record a new best network. Of several between two reports the last one is sent."""
        self._best = Best(iteration=step, objective=objective, value=value)

    def epoch_ended(self, epoch: int, step: int) -> None:
        """Record the end of an epoch."""
        self._waiting.append(EpochEnded(epoch=epoch, iteration=step))

    def pending_requests(self) -> PendingRequests:
        """Return the requests while nothing is trained. A collective."""
        return self._recorder.broadcast_requests(self._requests.pending())

    def send(self, *events: Event) -> None:
        """Send events after those that wait."""
        self.send_waiting()
        self._outbox.put(*events)

    def report(self, epoch: int, step: int, rate: float, *, save_now: bool = False) -> Report:
        """Sum the recorded steps over workers and send them. `save_now` reaches all workers. A collective."""
        pending = self._requests.pending()
        if save_now:
            pending = pending.add({"do": "save_now"})
        if self.clock.left_s <= 0:
            pending = pending.add({"do": "time_is_up"})
        report = self._recorder.exchange(pending)
        values = {"loss": report.losses}
        for metric in self._metrics:
            values[metric.name] = [metric.value(sums) for sums in report.metrics[metric.name]]
        if report.gradient_norms:
            values["gradient_norm"] = list(report.gradient_norms)
        points = Points(split="training", first_step=report.first_step, steps_apart=1, values=values)
        statistics = self._watch.take() if self._watch is not None else []
        self._outbox.put(*split_points(points), *statistics, self._progress(epoch, step, rate, report))
        self.send_waiting()
        if self._efficiency is not None and self._efficiency.is_due(self.clock.elapsed_s):
            with self.clock.aside():
                self._efficiency.measure()
        return report

    def tested(self, step: int, evaluation: Evaluation) -> None:
        """Send the evaluation of the kept network on the test split."""
        curve = Curve("test")
        curve.add(step, evaluation.values)
        self._outbox.put(*curve.take())

    def send_waiting(self) -> None:
        """Send what waits and needs no other worker."""
        best = [self._best] if self._best is not None else []
        reported = [event for curve in self._reported.values() for event in curve.take()]
        self._outbox.put(*self._validation.take(), *reported, *best, *self._waiting)
        self._waiting, self._best = [], None

    def state_dict(self) -> dict[str, Any]:
        """Return counts and timers. Everything else has been sent."""
        elapsed = self.clock.elapsed_s
        return {
            "next_step": self._recorder.next_step,
            "samples": self._samples,
            "elapsed_s": elapsed,
            "aside_s": elapsed - self.clock.training_s,
            "data_s": self.clock.data_s,
            "communication_s": 0.0 if math.isnan(self.clock.communication_s) else self.clock.communication_s,
            "watch": self._watch.state_dict() if self._watch is not None else {},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore counts and timers."""
        self._recorder.begin_at(int(state["next_step"]))
        spent = ("elapsed_s", "aside_s", "data_s", "communication_s")
        self.clock.restore(*(float(state.get(name, 0.0)) for name in spent))
        self._data_s_before, self._sending_s_before = self.clock.data_s, self.clock.communication_s
        self._samples = self._samples_before = int(state["samples"])
        self._training_s_before = self.clock.training_s
        if self._watch is not None:
            self._watch.load_state_dict(state.get("watch", {}))

    def _progress(self, epoch: int, step: int, rate: float, report: Report) -> Progress:
        elapsed, training = self.clock.elapsed_s, self.clock.training_s
        steps_s = max(training - self._training_s_before, 1e-9)
        speed = (self._samples - self._samples_before) / steps_s
        data, sending = self.clock.data_s - self._data_s_before, self.clock.communication_s - self._sending_s_before
        self._samples_before, self._training_s_before = self._samples, training
        self._data_s_before, self._sending_s_before = self.clock.data_s, self.clock.communication_s
        flops, share = self._achieved(speed)
        return Progress(
            epoch=epoch,
            iteration=step,
            elapsed_s=round(elapsed, 3),
            remaining_s=round(elapsed / step * max(0, self.total_steps - step), 3),
            rate=rate,
            samples_per_second=round(speed, 1),
            memory_bytes=report.memory_bytes,
            utilisation=round(report.utilisation, 3),
            data_share=_share(data, steps_s),
            communication_share=_share(sending, steps_s),
            flops_per_second=flops,
            peak_share=share,
        )

    def _achieved(self, speed: float) -> tuple[float, float]:
        """Return the FLOP/s at so many samples per second, and their share of the peak; NaN where unknown."""
        if self._efficiency is None:
            return math.nan, math.nan
        share = self._efficiency.peak_share(speed)
        flops = float(f"{self._efficiency.flops_per_second(speed):.4g}")
        return flops, share if math.isnan(share) else round(share, 4)
