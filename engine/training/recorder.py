"""What steps gave, gathered on the device and summed over workers a few times a second.

A step only keeps references to what it gave. At a report point all workers sum losses, metrics and memory in one go; in
the same go the first worker passes on a request and says after how many steps the next report point is due. Nothing is
sent, nothing waits for the device in between.
"""

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch

from engine.data.batches import Batch
from engine.parallel.process_group import ProcessGroup
from engine.runs.requests import PendingRequests
from engine.training.metrics import Metric, on_curve
from engine.training.state import StepResult


class Clock:
    """How long the run takes, pauses left out, and how much of that is training rather than validating and
    saving; and its limit. Of the training it knows what went to waiting for data and for other workers."""

    def __init__(self, limit_s: float = math.inf, sending: Callable[[], float] = lambda: 0.0) -> None:
        """`sending` tells the seconds that have gone to other workers so far, whatever for; NaN where nobody knows."""
        self._limit_s = limit_s
        self._sending = sending
        self._sent_aside = 0.0
        self.data_s = 0.0
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
        began, sent = time.perf_counter(), self._sending()
        try:
            yield
        finally:
            self._aside += time.perf_counter() - began
            self._sent_aside += self._sending() - sent

    @property
    def communication_s(self) -> float:
        """Seconds of training that went to other workers; NaN where that is not known."""
        return self._sending() - self._sent_aside

    def fetching(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """The batches, with the time that each lets wait counted."""
        while True:
            began = time.perf_counter()
            batch = next(batches, None)
            self.data_s += time.perf_counter() - began
            if batch is None:
                return
            yield batch

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Time in here does not count at all."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._began += time.perf_counter() - began

    def go_on(self, elapsed_s: float, aside_s: float, data_s: float = 0.0, communication_s: float = 0.0) -> None:
        """So much was counted before the run was broken off."""
        self._began -= elapsed_s
        self._aside += aside_s
        self.data_s += data_s
        self._sent_aside -= communication_s


REPORT_EVERY_S = 0.25
LATE_S = 2.0
"""A report is late after so long."""
MOST_STEPS = 2000
MOST_HELD_BYTES = 32 * 2**20
GROWTH = 8
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Report:
    """The steps since the last report point, summed over workers. `metrics` are sums over samples: for each metric that
    is made of them, by its name, those of each step."""

    first_step: int
    losses: list[float]
    metrics: dict[str, list[list[float]]]
    totals: list[int]
    requests: PendingRequests
    memory_bytes: int
    end_requests: int = 0
    """How many workers' hooks want the run to end."""
    gradient_norms: Sequence[float] = ()
    """Of each step, where that is watched."""
    utilisation: float = math.nan
    """From 0 to 1; NaN where it is not known."""


class Recorder:
    """Holds what steps gave until the next report point."""

    def __init__(
        self,
        metrics: Sequence[Metric],
        group: ProcessGroup,
        memory: Callable[[], int],
        clock: Clock,
        device: torch.device = CPU,
        utilisation: Callable[[], float] | None = None,
    ) -> None:
        """`memory` and `utilisation` are asked at each report; their answers of all workers are added."""
        self._metrics = on_curve(metrics)
        self._utilisation = utilisation or (lambda: math.nan)
        self._group = group
        self._memory = memory
        self._clock = clock
        self._device = device
        self._held: list[StepResult] = []
        self._interval = 1
        self._first_step = 1
        self._last_exchange_s = 0.0
        self._late_at = math.inf
        self._is_end_requested = False

    def request_end(self) -> bool:
        """A hook of this worker wants the run to end: all hear of it at the next report point. Returns whether that is
        now, as it is for one that is alone."""
        self._is_end_requested = True
        return self._group.size == 1

    def hold(self, result: StepResult) -> bool:
        """Keep what a step gave. Whether this is a report point, which is the same on all workers. One that is alone
        also reports where steps have become slow, as they do where data comes late: it is to hear of a stop without
        waiting for many of them."""
        self._held.append(result)
        return len(self._held) >= self._interval or self._clock.elapsed_s > self._late_at

    @property
    def has_steps(self) -> bool:
        """Whether anything is held."""
        return bool(self._held)

    @property
    def next_step(self) -> int:
        """The first step (from 1) that was not exchanged."""
        return self._first_step

    def begin_at(self, step: int) -> None:
        """The next step to hold is this one (from 1)."""
        self._first_step = step
        self._held.clear()

    def broadcast_requests(self, pending: PendingRequests) -> PendingRequests:
        """Return what the first worker was asked, without any steps. A collective."""
        return PendingRequests.from_numbers(self._group.all_reduce(self._of_first(pending.to_numbers())).tolist())

    def exchange(self, pending: PendingRequests) -> Report:
        """Sum over workers and start afresh. A collective."""
        count = len(self._held)
        losses = torch.stack([result.loss for result in self._held]).double()
        squares = self._squared_gradients()
        head = [losses, *squares, *(sums.flatten() for sums in self._metric_sums())]
        first = self._of_first([*pending.to_numbers(), self._next_interval()])
        tail = torch.cat([first, losses.new_tensor([self._memory(), self._utilisation(), self._is_end_requested])])
        sums = self._group.all_reduce(torch.cat([*head, tail])).tolist()
        totals = [result.total for result in self._held]
        begin = 2 * count if squares else count
        norms = [math.sqrt(square) if square >= 0 else math.nan for square in sums[count:begin]]
        metrics = self._by_name(sums[begin : -len(tail)], count)
        *numbers, interval, memory, busy, ends = sums[-len(tail) :]
        report = Report(
            self._first_step,
            sums[:count],
            metrics,
            totals,
            PendingRequests.from_numbers(numbers),
            int(memory),
            int(ends),
            norms,
            busy,
        )
        self._first_step += count
        self._interval = max(1, interval)
        self._is_end_requested = False
        self._held.clear()
        if self._group.size == 1:
            self._late_at = self._clock.elapsed_s + LATE_S
        return report

    def _squared_gradients(self) -> list[torch.Tensor]:
        """This worker's parts of the squared norms of the gradients, where they are watched. The same on all workers:
        every one of them has gradients, or none has."""
        held = [result.squared_gradient for result in self._held]
        if not any(square is not None for square in held):
            return []
        none = torch.zeros((), dtype=torch.float64, device=self._held[0].loss.device)
        return [torch.stack([none if square is None else square for square in held])]

    def _metric_sums(self) -> list[torch.Tensor]:
        """For each metric the sums of each held step over this worker's samples, by one pass over all of them where the
        outputs of all steps have the same sizes."""
        if not self._metrics:
            return []
        held = self._held
        device = held[0].loss.device
        columns = zip(*((*result.outputs, *result.targets) for result in held), strict=True)
        if not all(_are_alike(column) for column in columns):
            counts = [torch.tensor([result.count], device=device) for result in held]
            steps = list(zip(held, counts, strict=True))
            return [
                torch.cat([m.sums(result.outputs, result.targets, n) for result, n in steps]) for m in self._metrics
            ]
        outputs = tuple(torch.cat(pieces) for pieces in zip(*(result.outputs for result in held), strict=True))
        targets = tuple(torch.cat(pieces) for pieces in zip(*(result.targets for result in held), strict=True))
        lengths = torch.tensor([result.count for result in held], device=device)
        return [metric.sums(outputs, targets, lengths) for metric in self._metrics]

    def _by_name(self, numbers: list[float], count: int) -> dict[str, list[list[float]]]:
        """The sums of each step, metric by metric."""
        found, start = {}, 0
        for metric in self._metrics:
            starts = range(start, start + count * metric.width, metric.width)
            found[metric.name] = [numbers[begin : begin + metric.width] for begin in starts]
            start = starts.stop
        return found

    def _next_interval(self) -> int:
        """So many steps that reports come a few times a second and little memory is held."""
        now = self._clock.elapsed_s
        spent, self._last_exchange_s = now - self._last_exchange_s, now
        count = len(self._held)
        last = self._held[-1]
        # The first worker of a pipeline has none of the samples that the last one holds.
        count_held = last.count or last.total
        a_sample = sum(math.prod(x.shape[1:]) * x.element_size() for x in (*last.outputs, *last.targets))
        a_step = count_held * a_sample + 64
        ahead = min(REPORT_EVERY_S, max(0.0, self._clock.left_s))  # the time limit falls on a report point
        wanted = int(count * ahead / max(spent, 1e-6))
        return max(1, min(wanted, count * GROWTH, MOST_STEPS, MOST_HELD_BYTES // a_step))

    def _of_first(self, numbers: list[float]) -> torch.Tensor:
        """These numbers of the first worker, zeros of the others, so that their sum is what the first one says."""
        given = numbers if self._group.rank == 0 else [0.0] * len(numbers)
        return torch.tensor(given, dtype=torch.float64, device=self._device)


def _are_alike(tensors: Sequence[torch.Tensor]) -> bool:
    """Whether they have the same sizes, numbers of samples left out."""
    inside = tensors[0].shape[1:]
    return all(x.shape[1:] == inside for x in tensors)
