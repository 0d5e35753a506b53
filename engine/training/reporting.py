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
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch

from engine.environments.gang import Gang
from engine.runs.events import Best, EpochEnded, Event, Points, Progress, split_points
from engine.training.batches import Batch
from engine.training.metrics.metric import Metric, on_curve
from engine.training.requests import NOTHING, Asked
from engine.training.step import Done, Scores
from engine.training.watching import Watch

REPORT_EVERY_S = 0.25
LATE_S = 2.0
"""A report is late after so long."""
MOST_STEPS = 2000
MOST_HELD_BYTES = 32 * 2**20
GROWTH = 8
CPU = torch.device("cpu")


class Outbox(Protocol):
    """Takes events to whoever follows the run."""

    def put(self, *events: Event) -> None:
        """Send these, in their order."""


class Requests(Protocol):
    """Where requests to the run come in."""

    def pending(self) -> Asked:
        """What was asked for since the last call, at once."""


class NoOutbox:
    """Of all workers but the first."""

    def put(self, *events: Event) -> None:
        """Nothing is sent."""


class NoRequests:
    """Of all workers but the first."""

    def pending(self) -> Asked:
        """Never anything."""
        return NOTHING


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
    def sending_s(self) -> float:
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

    def go_on(self, elapsed_s: float, aside_s: float) -> None:
        """So much was counted before the run was broken off."""
        self._began -= elapsed_s
        self._aside += aside_s


@dataclass(frozen=True)
class Report:
    """The steps since the last report point, summed over workers. `metrics` are sums over samples: for each metric that
    is made of them, by its name, those of each step."""

    first_step: int
    losses: list[float]
    metrics: dict[str, list[list[float]]]
    totals: list[int]
    asked: Asked
    memory_bytes: int
    wishes_to_end: int = 0
    """How many workers' hooks want the run to end."""
    gradient_norms: Sequence[float] = ()
    """Of each step, where that is watched."""
    utilisation: float = math.nan
    """From 0 to 1; NaN where it is not known."""


def _share(part_s: float, whole_s: float) -> float:
    """How much of the whole a part was, or NaN where that is not known."""
    return part_s if math.isnan(part_s) else round(min(1.0, max(0.0, part_s / whole_s)), 3)


class Recorder:
    """Holds what steps gave until the next report point."""

    def __init__(
        self,
        metrics: Sequence[Metric],
        gang: Gang,
        memory: Callable[[], int],
        clock: Clock,
        device: torch.device = CPU,
        utilisation: Callable[[], float] | None = None,
    ) -> None:
        """`memory` and `utilisation` are asked at each report; their answers of all workers are added."""
        self._metrics = on_curve(metrics)
        self._utilisation = utilisation or (lambda: math.nan)
        self._gang = gang
        self._memory = memory
        self._clock = clock
        self._device = device
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
        """Whether this is a report point. The same on all workers. One that is alone also reports where steps have
        become slow, as they do where data comes late: it is to hear of a stop without waiting for many of them."""
        if len(self._held) >= self._interval:
            return True
        return self._gang.size == 1 and self._clock.elapsed_s - self._last_exchange_s > LATE_S

    @property
    def next_step(self) -> int:
        """The first step (from 1) that was not exchanged."""
        return self._first_step

    def begin_at(self, step: int) -> None:
        """The next step to hold is this one (from 1)."""
        self._first_step = step
        self._held.clear()

    def ask(self, asked: Asked) -> Asked:
        """What the first worker was asked for, without any steps. A collective."""
        return Asked.of(self._gang.sum(self._of_first(asked.numbers())).tolist())

    def exchange(self, asked: Asked) -> Report:
        """Sum over workers and start afresh. A collective."""
        count = len(self._held)
        losses = torch.stack([done.loss for done in self._held]).double()
        squares = self._squared_gradients()
        head = [losses, *squares, *(sums.flatten() for sums in self._metric_sums())]
        first = self._of_first([*asked.numbers(), self._next_interval()])
        tail = torch.cat([first, losses.new_tensor([self._memory(), self._utilisation(), self._wishes_to_end])])
        sums = self._gang.sum(torch.cat([*head, tail])).tolist()
        totals = [done.total for done in self._held]
        begin = 2 * count if squares else count
        norms = [math.sqrt(square) if square >= 0 else math.nan for square in sums[count:begin]]
        metrics = self._by_name(sums[begin : -len(tail)], count)
        *numbers, interval, memory, busy, ends = sums[-len(tail) :]
        report = Report(
            self._first_step,
            sums[:count],
            metrics,
            totals,
            Asked.of(numbers),
            int(memory),
            int(ends),
            norms,
            busy,
        )
        self._first_step += count
        self._interval = max(1, interval)
        self._wishes_to_end = False
        self._held.clear()
        return report

    def _squared_gradients(self) -> list[torch.Tensor]:
        """This worker's parts of the squared norms of the gradients, where they are watched. The same on all workers:
        every one of them has gradients, or none has."""
        held = [done.squared_gradient for done in self._held]
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
        if len({tuple(x.shape[1:] for x in (*done.outputs, *done.targets)) for done in held}) > 1:
            counts = [torch.tensor([done.count], device=device) for done in held]
            steps = list(zip(held, counts, strict=True))
            return [torch.cat([m.sums(done.outputs, done.targets, n) for done, n in steps]) for m in self._metrics]
        outputs = tuple(torch.cat(pieces) for pieces in zip(*(done.outputs for done in held), strict=True))
        targets = tuple(torch.cat(pieces) for pieces in zip(*(done.targets for done in held), strict=True))
        lengths = torch.tensor([done.count for done in held], device=device)
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
        given = numbers if self._gang.rank == 0 else [0.0] * len(numbers)
        return torch.tensor(given, dtype=torch.float64, device=self._device)


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
        watch: Watch | None = None,
    ) -> None:
        self.clock = clock
        self._watch = watch
        self._metrics = on_curve(metrics)
        self._recorder = recorder
        self._outbox = outbox
        self._requests = requests
        self.total_steps = total_steps
        self._validation = Curve("validation")
        self._waiting: list[Event] = []
        self._best: Best | None = None
        self._samples = 0
        self._samples_before = 0
        self._training_s_before = 0.0
        self._data_s_before, self._sending_s_before = 0.0, 0.0

    @property
    def samples_per_second(self) -> float:
        """Over the whole run."""
        return self._samples / max(self.clock.training_s, 1e-9)

    def time_shares(self) -> dict[str, float]:
        """Of the time of all steps: what went to data, to other workers, to computing; NaN where that is not known."""
        whole = max(self.clock.training_s, 1e-9)
        data, sending = _share(self.clock.data_s, whole), _share(self.clock.sending_s, whole)
        return {"data": data, "communication": sending, "computing": round(1 - data - sending, 3)}

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

    def ask(self) -> Asked:
        """What is asked for while nothing is trained. A collective."""
        return self._recorder.ask(self._requests.pending())

    def tell(self, *events: Event) -> None:
        """Send these behind what waits."""
        self.send_waiting()
        self._outbox.put(*events)

    def report(self, epoch: int, step: int, rate: float, *, save_now: bool = False) -> Report:
        """Exchange with the other workers, and send what has gathered. `save_now` reaches all of them."""
        time_is_up = self.clock.left_s <= 0
        report = self._recorder.exchange(replace(self._requests.pending(), save_now=save_now, time_is_up=time_is_up))
        values = {"loss": report.losses}
        for metric in self._metrics:
            values[metric.name] = [metric.value(sums) for sums in report.metrics[metric.name]]
        if report.gradient_norms:
            values["gradient_norm"] = list(report.gradient_norms)
        points = Points(split="training", first_step=report.first_step, steps_apart=1, values=values)
        seen = self._watch.take() if self._watch is not None else []
        self._outbox.put(*split_points(points), *seen, self._progress(epoch, step, rate, report))
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

    def state_dict(self) -> dict[str, Any]:
        """How far it is, and how long that took. Everything else has been sent."""
        elapsed = self.clock.elapsed_s
        return {
            "next_step": self._recorder.next_step,
            "samples": self._samples,
            "elapsed_s": elapsed,
            "aside_s": elapsed - self.clock.training_s,
            "watch": self._watch.state_dict() if self._watch is not None else {},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self._recorder.begin_at(int(state["next_step"]))
        self.clock.go_on(float(state["elapsed_s"]), float(state["aside_s"]))
        self._samples = self._samples_before = int(state["samples"])
        self._training_s_before = self.clock.training_s
        if self._watch is not None:
            self._watch.load_state_dict(state.get("watch", {}))

    def _progress(self, epoch: int, step: int, rate: float, report: Report) -> Progress:
        elapsed, training = self.clock.elapsed_s, self.clock.training_s
        steps_s = max(training - self._training_s_before, 1e-9)
        speed = (self._samples - self._samples_before) / steps_s
        data, sending = self.clock.data_s - self._data_s_before, self.clock.sending_s - self._sending_s_before
        self._samples_before, self._training_s_before = self._samples, training
        self._data_s_before, self._sending_s_before = self.clock.data_s, self.clock.sending_s
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
        )
