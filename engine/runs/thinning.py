"""Thinning of long event logs: old points become the lowest, highest and mean value of buckets of steps.

A log of up to `LOG_LIMIT_BYTES` holds everything. A longer one is thinned, by the age of its events in steps:

    age in steps           bucket
    below 65,536           none: everything stays as it was written
    below 1,048,576        16 steps
    below 16,777,216       256 steps
    and so on, by factors of 16

Of each curve a bucket keeps the lowest and the highest value and their steps, so that no spike is lost, the mean, and
how many values were not finite and where the first of them was (`ThinnedPoints`). Of progress, ended epochs, layer
statistics, best networks and checkpoints the last one of a bucket stays. All other events stay, and so do the
checkpoints that the run can be resumed from, and the validation of the best network. What a resumed run has superseded
is left out. It is thinned again when it has doubled.
"""

import math
import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from operator import itemgetter

from netwright.engine.runs.events import (
    SUPERSEDED,
    Best,
    Checkpointed,
    EpochEnded,
    Event,
    Health,
    Points,
    Progress,
    Resumed,
    ThinnedPoints,
)
from netwright.engine.runs.log_lines import POINTS_ROOM_BYTES, event_in, line_of

LOG_LIMIT_BYTES = 2**25
WHOLE_STEPS = 2**16
"""Events of less than this age, in steps, are kept whole."""
FACTOR = 16
BUCKET_BYTES, CURVE_BYTES, CURVE_HEAD_BYTES = 48, 112, 128
"""Maximum bytes in a line: of the steps of a bucket, of one curve in it, and of the words of a curve but its name."""
_HEAD = re.compile(rb'\{"n":(\d{1,18}),"time":[\d.]+,"kind":"points","split":"\w+","first_step":(\d{1,18}),')


def bucket_width(age: int) -> int:
    """Return the number of steps of a bucket of this age; 1 for events that are kept whole."""
    width, limit = 1, WHOLE_STEPS
    while age >= limit:
        width, limit = width * FACTOR, limit * FACTOR
    return width


def extreme_points(points: ThinnedPoints, name: str) -> list[tuple[int, float]]:
    """Return the values of a curve that were kept, with their steps: lowest, highest and first non-finite (as NaN)."""
    curve = points.curves[name]
    by_step: dict[int, float] = {}
    for kind in ("lowest", "highest"):
        by_step |= {int(s): v for s, v in zip(curve[f"{kind}_steps"], curve[kind], strict=True) if math.isfinite(v)}
    by_step |= {int(s): math.nan for s, n in zip(curve["nonfinite_steps"], curve["nonfinite"], strict=True) if n}
    return sorted(by_step.items())


@dataclass
class Extremes:
    """The values of one curve in a bucket."""

    lowest: float = math.inf
    lowest_step: int = 0
    highest: float = -math.inf
    highest_step: int = 0
    total: float = 0.0
    num_finite: int = 0
    num_nonfinite: int = 0
    nonfinite_step: int = 0

    def add(self, steps: range, values: list[float]) -> None:
        """Add the values at some steps."""
        total = sum(values)
        if math.isfinite(total):
            low, high = min(values), max(values)
            self._add_finite((low, steps[values.index(low)]), (high, steps[values.index(high)]), total, len(values))
            return
        for step, value in zip(steps, values, strict=True):
            if math.isfinite(value):
                self._add_finite((value, step), (value, step), value, 1)
            else:
                self._add_nonfinite(step, 1)

    def add_bucket(self, curve: dict[str, list[float]], index: int, count: int) -> None:
        """Add `count` values that are a bucket already."""
        num_nonfinite = int(curve["nonfinite"][index])
        if num_nonfinite:
            self._add_nonfinite(int(curve["nonfinite_steps"][index]), num_nonfinite)
        if num_finite := count - num_nonfinite:
            low, high = ((curve[kind][index], int(curve[f"{kind}_steps"][index])) for kind in ("lowest", "highest"))
            self._add_finite(low, high, curve["mean"][index] * num_finite, num_finite)

    def _add_finite(self, low: tuple[float, int], high: tuple[float, int], total: float, count: int) -> None:
        if low[0] < self.lowest:
            self.lowest, self.lowest_step = low
        if high[0] > self.highest:
            self.highest, self.highest_step = high
        self.total += total
        self.num_finite += count

    def _add_nonfinite(self, step: int, count: int) -> None:
        self.nonfinite_step = self.nonfinite_step if self.num_nonfinite else step
        self.num_nonfinite += count

    def write(self) -> dict[str, float]:
        """Return the bucket under the keys of `ThinnedPoints`, numbers with nine digits."""
        none = not self.num_finite
        return {
            "lowest": math.nan if none else float(f"{self.lowest:.9g}"),
            "lowest_steps": self.lowest_step,
            "highest": math.nan if none else float(f"{self.highest:.9g}"),
            "highest_steps": self.highest_step,
            "mean": math.nan if none else float(f"{self.total / self.num_finite:.9g}"),
            "nonfinite": self.num_nonfinite,
            "nonfinite_steps": self.nonfinite_step,
        }


@dataclass
class Bucket:
    """Consecutive points of one split; `n` and `time` are those of the newest event in it."""

    place: tuple[int, int]
    """Its width, and its number among those of this width."""
    first_step: int
    last_step: int = 0
    count: int = 0
    n: int = 0
    time: float = 0.0
    curves: dict[str, Extremes] = field(default_factory=dict)


Group = tuple[str, tuple[str, ...]]
"""A split, and the names of the curves that were written together."""


class Thinning:
    """Thins the lines of a log. `checkpoints`: the iterations that the run can be resumed from."""

    def __init__(self, newest_step: int, checkpoints: Container[int]) -> None:
        self._newest_step = newest_step
        self._checkpoints = checkpoints
        self._superseded: list[range] = []
        self._bests: list[Best] = []
        self._best_step = -1
        self._buckets: dict[Group, list[Bucket]] = {}
        """Those that wait to be written, by group; the last one of a group may grow."""
        self._last: dict[str, tuple[tuple[int, int], int, list[tuple[int, bytes]]]] = {}
        """By kind: the newest bucket of regular events, and the newest iteration in it with its lines."""
        self._lines: list[tuple[int, bytes]] = []

    def learn(self, lines: Iterable[bytes]) -> None:
        """Find the superseded events, and the best network, in a slice of the log. All slices are passed to this
        method, then all of them to `add`."""
        for line in lines:
            event = event_in(line) if b'"resumed"' in line or b'"best"' in line else None
            if isinstance(event, Resumed):
                self._superseded.append(range(event.after + 1, event.n))
            elif isinstance(event, Best):
                self._bests.append(event)
        self._best_step = next((best.iteration for best in reversed(self._bests) if not self._is_superseded(best)), -1)

    def add(self, lines: Iterable[bytes]) -> None:
        """Thin a slice of the log."""
        for line in lines:
            if (head := _HEAD.match(line)) and self._width(int(head[2])) == 1:
                self._lines.append((int(head[1]), line))
            elif (event := event_in(line)) is not None and not self._is_superseded(event):
                self._take(event, line)

    def lines(self) -> list[bytes]:
        """Return the lines of the thinned log, after its last slice."""
        self._end_buckets()
        return [line for _, line in sorted(self._lines, key=itemgetter(0))]

    def _is_superseded(self, event: Event) -> bool:
        return isinstance(event, SUPERSEDED) and any(event.n in numbers for numbers in self._superseded)

    def _width(self, step: int) -> int:
        return bucket_width(self._newest_step - step)

    def _take(self, event: Event, line: bytes) -> None:
        match event:
            case Points() if self._width(event.first_step) > 1 and _is_even(event):
                steps = range(event.first_step, _last_step(event) + 1, event.steps_apart)
                if event.split == "validation" and self._best_step in steps:
                    self._end_buckets()
                    self._lines.append((event.n, line))
                else:
                    self._add(event)
            case ThinnedPoints():
                self._add_thinned(event)
            case Checkpointed() if event.iteration in self._checkpoints:
                self._end_buckets()  # what a resumed run takes back begins here
                self._lines.append((event.n, line))
            case Progress() | Health() | EpochEnded() | Best() | Checkpointed():
                self._add_regular(event.kind, event.iteration, event.n, line)
            case _:
                self._lines.append((event.n, line))

    def _add_regular(self, kind: str, iteration: int, n: int, line: bytes) -> None:
        """Keep a line until a later one of the same kind comes in its bucket. One iteration may have several lines."""
        width = self._width(iteration)
        place = width, iteration // width
        last_place, last_iteration, lines = self._last.get(kind, ((0, 0), -1, []))
        if last_iteration == iteration and width > 1:
            lines.append((n, line))
            return
        if width == 1 or last_place != place:
            self._lines += lines
        self._last[kind] = place, iteration, [(n, line)]

    def _add(self, points: Points) -> None:
        """Put points into buckets."""
        group, apart = (points.split, tuple(points.values)), points.steps_apart
        count = (_last_step(points) - points.first_step) // apart + 1
        index = 0
        while index < count:
            step = points.first_step + index * apart
            width = max(FACTOR, self._width(step))  # the last points of a line may be too new for any
            end = min(count, index + max(1, -(-((step // width + 1) * width - step) // apart)))
            bucket = self._bucket(group, step)
            steps = range(step, step + (end - index) * apart, apart)
            for name, values in points.values.items():
                bucket.curves.setdefault(name, Extremes()).add(steps, values[index:end])
            bucket.last_step, bucket.n, bucket.time = steps[-1], points.n, points.time
            bucket.count += end - index
            index = end

    def _add_thinned(self, points: ThinnedPoints) -> None:
        """Put buckets into larger ones."""
        for index, count in enumerate(points.counts):
            bucket = self._bucket((points.split, tuple(points.curves)), points.first_steps[index])
            for name, curve in points.curves.items():
                bucket.curves.setdefault(name, Extremes()).add_bucket(dict(curve), index, count)
            bucket.last_step, bucket.n, bucket.time = points.last_steps[index], points.n, points.time
            bucket.count += count

    def _bucket(self, group: Group, step: int) -> Bucket:
        """Return the bucket of a step: the last one of the group, or a new one."""
        width = max(FACTOR, self._width(step))
        place = width, step // width
        buckets = self._buckets.setdefault(group, [])
        if not buckets or buckets[-1].place != place:
            if len(buckets) >= _room(group):
                self._write(group, buckets)
            buckets.append(Bucket(place, step))
        return buckets[-1]

    def _end_buckets(self) -> None:
        """Write all that waits, so that no bucket goes on beyond here."""
        for group, buckets in self._buckets.items():
            self._write(group, buckets)
        for _, _, lines in self._last.values():
            self._lines += lines
        self._last.clear()

    def _write(self, group: Group, buckets: list[Bucket]) -> None:
        """Write buckets in lines of at most `LINE_LIMIT_BYTES`, and forget them."""
        split, names = group
        for part in _names_of_a_line(names) if buckets else ():
            rows = {name: [bucket.curves[name].write() for bucket in buckets] for name in part}
            event = ThinnedPoints(
                split=split,
                first_steps=[bucket.first_step for bucket in buckets],
                last_steps=[bucket.last_step for bucket in buckets],
                counts=[bucket.count for bucket in buckets],
                curves={name: {key: [row[key] for row in rows[name]] for key in rows[name][0]} for name in part},
            )
            last = buckets[-1]
            self._lines.append((last.n, line_of(replace(event, n=last.n, time=last.time))))
        buckets.clear()


def _last_step(points: Points) -> int:
    return points.first_step + points.steps_apart * (len(next(iter(points.values.values()))) - 1)


def _is_even(points: Points) -> bool:
    """Return whether all curves have as many values, and any."""
    lengths = set(map(len, points.values.values()))
    return len(lengths) == 1 and lengths != {0}


def _room(group: Group) -> int:
    """Return the number of buckets of a group that fit in a line."""
    names = next(_names_of_a_line(group[1]))
    heads = sum(_head_bytes(name) for name in names)
    return max(1, (POINTS_ROOM_BYTES - heads) // (BUCKET_BYTES + CURVE_BYTES * len(names)))


def _head_bytes(name: str) -> int:
    return 6 * len(name) + CURVE_HEAD_BYTES


def _names_of_a_line(names: Iterable[str]) -> Iterator[list[str]]:
    """Yield groups of curves of which a bucket fits in a line."""
    group: list[str] = []
    room = POINTS_ROOM_BYTES - BUCKET_BYTES
    for name in names:
        needed = _head_bytes(name) + CURVE_BYTES
        if group and needed > room:
            yield group
            group, room = [], POINTS_ROOM_BYTES - BUCKET_BYTES
        group.append(name)
        room -= needed
    if group:
        yield group
