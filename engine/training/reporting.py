"""What a run tells of itself, and what it is asked: gathered on the device, exchanged a few times a second.

A step only keeps references to what it gave. At a report point all workers sum losses, metrics and memory in one go; in
the same go the first worker passes on a request and says after how many steps the next report point is due. Nothing is
sent, nothing waits for the device in between, so being watched costs nothing and a request is obeyed within a fraction
of a second, or a step if that is longer.
"""

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from engine.environments.gang import Gang
from engine.runs.events import Best, EpochEnded, Event, Points, Progress, split_points
from engine.training.metrics import Metric
from engine.training.requests import NO_REQUEST, TIME_UP
from engine.training.step import Done, Scores

REPORT_EVERY_S = 0.25
MOST_STEPS = 2000
MOST_HELD_BYTES = 32 * 2**20
GROWTH = 8


class Outbox(Protocol):
    """Takes events to whoever follows the run."""

    def put(self, *events: Event) -> None:
        """Send these, in their order."""


class Requests(Protocol):
    """Where requests to the run come in."""

    def pending(self) -> int:
        """`STOP`, `STOP_AFTER_EPOCH` or `NO_REQUEST`, at once."""


class NoOutbox:
    """Of all workers but the first."""

    def put(self, *events: Event) -> None:
        """Nothing is sent."""


class NoRequests:
    """Of all workers but the first."""

    def pending(self) -> int:
        """Never anything."""
        return NO_REQUEST


class Clock:
    """How long the run takes, and how much of that is training rather than validating and saving; and its limit."""

    def __init__(self, limit_s: float = math.inf) -> None:
        self._limit_s = limit_s
        self._began = time.perf_counter()
        self._aside = 0.0

    @property
    def elapsed_s(self) -> float:
        """Since training began."""
        return time.perf_counter() - self._began

    @property
    def training_s(self) -> float:
        """Of that, training."""
        return self.elapsed_s - self._aside

    @property
    def left_s(self) -> float:
        """Until the time limit."""
        return self._limit_s - self.elapsed_s

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Time in here is not training."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._aside += time.perf_counter() - began


@dataclass(frozen=True)
class Report:
    """The steps since the last report point, summed over workers. `metrics` are sums over samples: for each metric one
    a step."""

    first_step: int
    losses: list[float]
    metrics: list[list[float]]
    totals: list[int]
    request: int
    memory_bytes: int
    wishes_to_end: int = 0
    """How many workers' hooks want the run to end."""


class Recorder:
    """Holds what steps gave until the next report point."""

    def __init__(self, metrics: Sequence[Metric], gang: Gang, memory: Callable[[], int], clock: Clock) -> None:
        self._metrics = metrics
        self._gang = gang
        self._memory = memory
        self._clock = clock
        self._held: list[Done] = []
        self._interval = 1
        self._first_step = 1
        self._last_exchange_s = 0.0
        self._wishes_to_end = False

    def wish_to_end(self) -> bool:
        """A hook of this worker wants the run to end: all hear of it at the next report point. Returns whether that is
        now, as it is for one that is alone."""
        self._wishes_to_end = True
        return self._gang.size == 1

    def hold(self, done: Done) -> None:
        """Keep what a step gave."""
        self._held.append(done)

    @property
    def has_steps(self) -> bool:
        """Whether anything is held."""
        return bool(self._held)

    @property
    def is_due(self) -> bool:
        """Whether this is a report point. The same on all workers."""
        return len(self._held) >= self._interval

    def exchange(self, request: int) -> Report:
        """Sum over workers and start afresh. A collective."""
        count = len(self._held)
        losses = torch.stack([done.loss for done in self._held]).double()
        head = [losses, *self._metric_sums()]
        tail = losses.new_tensor([request, self._next_interval(), self._memory(), self._wishes_to_end])
        sums = self._gang.sum(torch.cat([*head, self._only_first(tail)])).tolist()
        totals = [done.total for done in self._held]
        losses_of_all, *metrics = [sums[start : start + count] for start in range(0, len(sums) - len(tail), count)]
        asked, interval, memory, ends = map(int, sums[-len(tail) :])
        report = Report(self._first_step, losses_of_all, metrics, totals, asked, memory, ends)
        self._first_step += count
        self._interval = max(1, interval)
        self._wishes_to_end = False
        self._held.clear()
        return report

    def _metric_sums(self) -> list[torch.Tensor]:
        """For each metric and held step the sum over this worker's samples, by one pass over all of them where the
        outputs of all steps have the same sizes."""
        if not self._metrics:
            return []
        held = self._held
        if len({tuple(x.shape[1:] for x in done.outputs) for done in held}) > 1:
            steps = [[metric.per_sample(done.outputs, done.targets).sum() for done in held] for metric in self._metrics]
            return [torch.stack(sums) for sums in steps]
        outputs = tuple(torch.cat(pieces) for pieces in zip(*(done.outputs for done in held), strict=True))
        targets = tuple(torch.cat(pieces) for pieces in zip(*(done.targets for done in held), strict=True))
        each = [metric.per_sample(outputs, targets) for metric in self._metrics]
        lengths = torch.tensor([done.count for done in held], device=each[0].device)
        return [torch.segment_reduce(values, "sum", lengths=lengths) for values in each]

    def _next_interval(self) -> int:
        """So many steps that reports come a few times a second and little memory is held."""
        now = self._clock.elapsed_s
        spent, self._last_exchange_s = now - self._last_exchange_s, now
        count = len(self._held)
        last = self._held[-1]
        a_step = sum(tensor.nbytes for tensor in (*last.outputs, *last.targets)) + 64
        ahead = min(REPORT_EVERY_S, max(0.0, self._clock.left_s))  # the time limit falls on a report point
        wanted = int(count * ahead / max(spent, 1e-6))
        return max(1, min(wanted, count * GROWTH, MOST_STEPS, MOST_HELD_BYTES // a_step))

    def _only_first(self, tail: torch.Tensor) -> torch.Tensor:
        """Memory and wishes are summed over the workers; request and interval are the first one's."""
        if self._gang.rank:
            tail[:2] = 0
        return tail


class Curve:
    """Points of one split that wait to be sent, as runs of equal distance."""

    def __init__(self, split: str) -> None:
        self._split = split
        self._steps: list[int] = []
        self._values: dict[str, list[float]] = {}

    def add(self, step: int, values: dict[str, float]) -> None:
        """One point a name."""
        self._steps.append(step)
        for name, value in values.items():
            self._values.setdefault(name, []).append(value)

    def take(self) -> list[Event]:
        """The points as events, and forget them."""
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
    """Where the run that begins here ends, and its distance."""
    if start + 1 == len(steps):
        return start + 1, 1
    apart = steps[start + 1] - steps[start]
    end = start + 2
    while end < len(steps) and steps[end] - steps[end - 1] == apart:
        end += 1
    return end, apart


class Reporter:
    """The trainer's voice and ear."""

    def __init__(
        self,
        metrics: Sequence[Metric],
        recorder: Recorder,
        outbox: Outbox,
        requests: Requests,
        clock: Clock,
        total_steps: int,
    ) -> None:
        self.clock = clock
        self._metrics = metrics
        self._recorder = recorder
        self._outbox = outbox
        self._requests = requests
        self._total_steps = total_steps
        self._validation = Curve("validation")
        self._waiting: list[Event] = []
        self._best: Best | None = None
        self._samples = 0
        self._samples_before = 0
        self._training_s_before = 0.0

    @property
    def samples_per_second(self) -> float:
        """Over the whole run."""
        return self._samples / max(self.clock.training_s, 1e-9)

    @property
    def has_steps(self) -> bool:
        """Whether there are steps that were not reported yet. The same on all workers."""
        return self._recorder.has_steps

    def record(self, done: Done) -> bool:
        """Take what a step gave; whether it is time to report."""
        self._recorder.hold(done)
        self._samples += done.total
        return self._recorder.is_due

    def wish_to_end(self) -> bool:
        """A hook wants the run to end: whether it is time to report."""
        return self._recorder.wish_to_end()

    def validated(self, step: int, scores: Scores) -> None:
        """A validation after this step."""
        self._validation.add(step, scores.named)

    def found_best(self, step: int, objective: str, value: float) -> None:
        """A better network than before. Of several between two reports the last one is told."""
        self._best = Best(iteration=step, objective=objective, value=value)

    def epoch_ended(self, epoch: int, step: int) -> None:
        """An epoch is complete."""
        self._waiting.append(EpochEnded(epoch=epoch, iteration=step))

    def report(self, epoch: int, step: int, rate: float) -> Report:
        """Exchange with the other workers, and send what has gathered."""
        request = self._requests.pending()
        if request == NO_REQUEST and self.clock.left_s <= 0:
            request = TIME_UP
        report = self._recorder.exchange(request)
        values = {"loss": report.losses}
        for metric, sums in zip(self._metrics, report.metrics, strict=True):
            values[metric.name] = [metric.value(s, n) for s, n in zip(sums, report.totals, strict=True)]
        points = Points(split="training", first_step=report.first_step, steps_apart=1, values=values)
        self._outbox.put(*split_points(points), self._progress(epoch, step, rate, report.memory_bytes))
        self.send_waiting()
        return report

    def tested(self, step: int, scores: Scores) -> None:
        """The kept network on the test part."""
        curve = Curve("test")
        curve.add(step, scores.named)
        self._outbox.put(*curve.take())

    def send_waiting(self) -> None:
        """Send what needs no exchange."""
        best = [self._best] if self._best is not None else []
        self._outbox.put(*self._validation.take(), *best, *self._waiting)
        self._waiting, self._best = [], None

    def _progress(self, epoch: int, step: int, rate: float, memory_bytes: int) -> Progress:
        elapsed, training = self.clock.elapsed_s, self.clock.training_s
        speed = (self._samples - self._samples_before) / max(training - self._training_s_before, 1e-9)
        self._samples_before, self._training_s_before = self._samples, training
        return Progress(
            epoch=epoch,
            iteration=step,
            elapsed_s=round(elapsed, 3),
            remaining_s=round(elapsed / step * (self._total_steps - step), 3),
            rate=rate,
            samples_per_second=round(speed, 1),
            memory_bytes=memory_bytes,
        )
