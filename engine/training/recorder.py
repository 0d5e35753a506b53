"""Records steps on the device, and all-reduces them over workers a few times per second.

A step only keeps references to its results. At a report point one all-reduce sums losses, metrics and memory of all
workers; in it the first worker also passes on requests, and the number of steps to the next report point. In between
there is no communication, and nothing waits for the device.
"""

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch

from netwright.engine.data.loading.batches import Batch
from netwright.engine.parallel.process_group import ProcessGroup
from netwright.engine.runs.requests import PendingRequests
from netwright.engine.training.metrics import Metric, on_curve
from netwright.engine.training.state import StepResult

REPORT_EVERY_S = 0.25
LATE_S = 2.0
"""A report is late after this time."""
MAX_STEPS = 2000
"""Steps between two reports, at most."""
MAX_HELD_BYTES = 32 * 2**20
MAX_GROWTH = 8
"""Factor from one interval to the next, at most."""
CPU = torch.device("cpu")


class Clock:
    """Measures the time of the run without pauses, and how much of it is training rather than validating and saving.

    Of the training it measures the time spent waiting for data and for other workers.
    """

    def __init__(self, limit_s: float = math.inf, communication_s: Callable[[], float] = lambda: 0.0) -> None:
        """`communication_s` returns the seconds of all communication so far; NaN where that is unknown."""
        self._limit_s = limit_s
        self._all_communication_s = communication_s
        self._communication_aside_s = 0.0
        self.data_s = 0.0
        self._start_s = time.perf_counter()
        self._aside_s = 0.0

    @property
    def elapsed_s(self) -> float:
        """Return the seconds since training began."""
        return time.perf_counter() - self._start_s

    @property
    def training_s(self) -> float:
        """Return the seconds of training."""
        return self.elapsed_s - self._aside_s

    @property
    def left_s(self) -> float:
        """Return the seconds until the time limit."""
        return self._limit_s - self.elapsed_s

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Exclude the time in this context from training."""
        start_s, communication_s = time.perf_counter(), self._all_communication_s()
        try:
            yield
        finally:
            self._aside_s += time.perf_counter() - start_s
            self._communication_aside_s += self._all_communication_s() - communication_s

    @property
    def communication_s(self) -> float:
        """Return the seconds of training spent on communication; NaN where that is unknown."""
        return self._all_communication_s() - self._communication_aside_s

    def fetching(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Yield the batches, and measure the time spent waiting for each."""
        while True:
            start_s = time.perf_counter()
            batch = next(batches, None)
            self.data_s += time.perf_counter() - start_s
            if batch is None:
                return
            yield batch

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Exclude the time in this context altogether."""
        start_s = time.perf_counter()
        try:
            yield
        finally:
            self._start_s += time.perf_counter() - start_s

    def restore(self, elapsed_s: float, aside_s: float, data_s: float = 0.0, communication_s: float = 0.0) -> None:
        """Restore the timers from a checkpoint."""
        self._start_s -= elapsed_s
        self._aside_s += aside_s
        self.data_s += data_s
        self._communication_aside_s -= communication_s


@dataclass(frozen=True)
class Report:
    """The steps since the last report point, summed over workers.

    `metrics` are sums over samples: by the metric's name, those of each step.
    """

    first_step: int
    losses: list[float]
    metrics: dict[str, list[list[float]]]
    totals: list[int]
    requests: PendingRequests
    memory_bytes: int
    end_requests: int = 0
    """Number of workers whose hooks end the run."""
    gradient_norms: Sequence[float] = ()
    """Of each step, where they are recorded."""
    utilisation: float = math.nan
    """From 0 to 1; NaN where it is unknown."""


class Recorder:
    """Holds the results of steps until the next report point."""

    def __init__(
        self,
        metrics: Sequence[Metric],
        group: ProcessGroup,
        memory: Callable[[], int],
        clock: Clock,
        device: torch.device = CPU,
        utilisation: Callable[[], float] | None = None,
    ) -> None:
        """`memory` and `utilisation` are called at each report, and summed over workers."""
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
        """End the run on request of this worker's hook: at the next report point, for all workers.

        Returns whether that is now, as it is in a single process.
        """
        self._is_end_requested = True
        return self._group.size == 1

    def hold(self, result: StepResult) -> bool:
        """Hold the result of a step, and return whether this is a report point; the same on all workers.

        A single process also reports when steps have become slow, as they do where data comes late, so that a request
        to stop does not wait for many of them.
        """
        self._held.append(result)
        return len(self._held) >= self._interval or self._clock.elapsed_s > self._late_at

    @property
    def has_steps(self) -> bool:
        """Return whether any step is held."""
        return bool(self._held)

    @property
    def next_step(self) -> int:
        """Return the first step (from 1) that was not reported."""
        return self._first_step

    def begin_at(self, step: int) -> None:
        """Continue with this step (from 1)."""
        self._first_step = step
        self._held.clear()

    def broadcast_requests(self, pending: PendingRequests) -> PendingRequests:
        """Return the requests to the first worker, without any steps. A collective."""
        numbers = self._on_device(self._of_first(pending.to_numbers()))
        return PendingRequests.from_numbers(self._group.all_reduce(numbers).tolist())

    def exchange(self, pending: PendingRequests) -> Report:
        """Return the sums of the held steps over workers, and release the steps. A collective."""
        count = len(self._held)
        losses = torch.stack([result.loss for result in self._held]).double()
        squares = self._squared_gradients()
        head = [losses, *squares, *(sums.flatten() for sums in self._metric_sums())]
        first = self._of_first([*pending.to_numbers(), self._next_interval()])
        tail = [*first, self._memory(), self._utilisation(), self._is_end_requested]
        sums = self._group.all_reduce(torch.cat([*head, self._on_device(tail)])).tolist()
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
        """Return this worker's parts of the squared gradient norms, where they are recorded, which is the same on all
        workers."""
        results = [result.squared_gradient for result in self._held]
        if not any(square is not None for square in results):
            return []
        none = torch.zeros((), dtype=torch.float64, device=self._held[0].loss.device)
        return [torch.stack([none if square is None else square for square in results])]

    def _metric_sums(self) -> list[torch.Tensor]:
        """Return for each metric the sums of each held step over this worker's samples `(steps, width)`.

        One pass over all of them where the outputs of all steps have the same sizes.
        """
        if not self._metrics:
            return []
        results = self._held
        lengths = self._on_device([result.count for result in results], torch.int64)
        try:
            outputs = tuple(torch.cat(pieces) for pieces in zip(*(result.outputs for result in results), strict=True))
            targets = tuple(torch.cat(pieces) for pieces in zip(*(result.targets for result in results), strict=True))
        except RuntimeError:  # sizes differ, as of sequences: faster to find out than to compare the sizes of each step
            steps = list(zip(results, torch.split(lengths, 1), strict=True))
            return [
                torch.cat([m.sums(result.outputs, result.targets, n) for result, n in steps]) for m in self._metrics
            ]
        return [metric.sums(outputs, targets, lengths) for metric in self._metrics]

    def _by_name(self, numbers: list[float], count: int) -> dict[str, list[list[float]]]:
        """Return the sums of each step by the metric's name."""
        by_name, start = {}, 0
        for metric in self._metrics:
            starts = range(start, start + count * metric.width, metric.width)
            by_name[metric.name] = [numbers[begin : begin + metric.width] for begin in starts]
            start = starts.stop
        return by_name

    def _next_interval(self) -> int:
        """Return the number of steps until the next report: a few reports per second, with little memory held."""
        now = self._clock.elapsed_s
        spent, self._last_exchange_s = now - self._last_exchange_s, now
        count = len(self._held)
        last = self._held[-1]
        # The first worker of a pipeline has none of the samples that the last one holds.
        count_held = last.count or last.total
        sample_bytes = sum(math.prod(x.shape[1:]) * x.element_size() for x in (*last.outputs, *last.targets))
        step_bytes = count_held * sample_bytes + 64
        ahead = min(REPORT_EVERY_S, max(0.0, self._clock.left_s))  # the time limit falls on a report point
        steps = int(count * ahead / max(spent, 1e-6))
        return max(1, min(steps, count * MAX_GROWTH, MAX_STEPS, MAX_HELD_BYTES // step_bytes))

    def _of_first(self, numbers: list[float]) -> list[float]:
        """Return the numbers on the first worker and zeros on the others, whose sum is a broadcast."""
        return numbers if self._group.rank == 0 else [0.0] * len(numbers)

    def _on_device(self, numbers: Sequence[float], kind: torch.dtype = torch.float64) -> torch.Tensor:
        """Return a tensor of the numbers; the device gets it in turn with its work and is not waited for."""
        return torch.tensor(numbers, dtype=kind).to(self._device, non_blocking=True)
