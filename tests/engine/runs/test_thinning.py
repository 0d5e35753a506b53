"""Long logs: they stay small, and nothing that anybody needs is lost."""

import errno
import math
import random
from itertools import pairwise
from pathlib import Path

import pytest

from netwright.engine.runs import log as log_module
from netwright.engine.runs import thinning
from netwright.engine.runs.events import (
    Best,
    Checkpointed,
    EpochEnded,
    Event,
    Message,
    Points,
    Progress,
    Resumed,
    ThinnedPoints,
    UnknownEvent,
    standing,
)
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import EventLog, EventReader, read_all
from netwright.engine.runs.log_lines import LINE_LIMIT_BYTES, split_points
from netwright.engine.runs.thinning import bucket_width, extreme_points

WHOLE = 256
LIMIT = 2**15


@pytest.fixture(autouse=True)
def young(monkeypatch: pytest.MonkeyPatch) -> None:
    """Points are old soon, so that short logs have buckets of several widths."""
    monkeypatch.setattr(thinning, "WHOLE_STEPS", WHOLE)


def train(log: EventLog, values: list[float], first_step: int = 1) -> None:
    """Report the loss and the accuracy of steps, as a run does."""
    for start in range(0, len(values), 100):
        part, step = values[start : start + 100], first_step + start
        curves = {"loss": part, "accuracy": [value / 2 for value in part]}
        for points in split_points(Points(split="training", first_step=step, steps_apart=1, values=curves)):
            log.append(points)
        at = step + len(part) - 1
        log.append(Points(split="validation", first_step=at, steps_apart=1, values={"loss": [part[-1]]}))
        log.append(
            Progress(epoch=at, iteration=at, elapsed_s=at, remaining_s=0, rate=1, samples_per_second=1, memory_bytes=1)
        )
        log.append(EpochEnded(epoch=at, iteration=at))


def noise(count: int, seed: int = 0) -> list[float]:
    dice = random.Random(seed)
    return [dice.uniform(1, 2) for _ in range(count)]


def points_of(events: list[Event], split: str = "training", name: str = "loss") -> dict[int, float]:
    """The values that are left, by their steps."""
    found: dict[int, float] = {}
    for event in events:
        if isinstance(event, ThinnedPoints) and event.split == split and name in event.curves:
            found |= dict(extreme_points(event, name))
        elif isinstance(event, Points) and event.split == split and name in event.values:
            found |= {event.first_step + i * event.steps_apart: v for i, v in enumerate(event.values[name])}
    return found


def test_buckets_grow_with_age() -> None:
    ages = (0, WHOLE - 1, WHOLE, 16 * WHOLE - 1, 16 * WHOLE, 256 * WHOLE)
    assert [bucket_width(age) for age in ages] == [1, 1, 16, 16, 256, 4096]


def test_a_long_log_stays_small_and_keeps_its_extremes(run: RunFolder) -> None:
    values = noise(40_000)
    values[1_234], values[5_000], values[5_001], values[20_000] = math.nan, 1e6, -1e6, math.inf
    log = EventLog(run, LIMIT)
    train(log, values)
    last = log.last
    log.close()
    assert run.events.stat().st_size < 8 * LIMIT
    assert max(map(len, run.events.read_bytes().splitlines(keepends=True))) <= LINE_LIMIT_BYTES
    events = read_all(run)
    assert not any(isinstance(event, UnknownEvent) for event in events)
    assert [event.n for event in events] == sorted(event.n for event in events)
    assert events[-1].n == last
    left = points_of(events)
    assert (left[5_001], left[5_002]) == (1e6, -1e6)
    assert math.isnan(left[1_235])
    assert math.isnan(left[20_001])
    for step in range(len(values) - WHOLE // 2, len(values)):
        assert left[step] == values[step - 1], "what is new stays as it was written"
    for step, value in left.items():
        assert math.isnan(value) or math.isclose(value, values[step - 1], rel_tol=1e-8), "each is a value of its step"


def test_every_bucket_tells_what_its_points_were(run: RunFolder) -> None:
    values = [value if i % 97 else math.nan for i, value in enumerate(noise(20_000))]
    log = EventLog(run, LIMIT)
    train(log, values)
    log.close()
    buckets = [event for event in read_all(run) if isinstance(event, ThinnedPoints) and event.split == "training"]
    assert {last - first + 1 for e in buckets for first, last in zip(e.first_steps, e.last_steps, strict=True)} >= {
        16,
        256,
    }
    covered = 0
    for event in buckets:
        curve = event.curves["loss"]
        for i, (first, last) in enumerate(zip(event.first_steps, event.last_steps, strict=True)):
            assert first == covered + 1
            covered = last
            part = values[first - 1 : last]
            finite = [value for value in part if math.isfinite(value)]
            assert event.counts[i] == len(part)
            assert curve["nonfinite"][i] == len(part) - len(finite)
            assert math.isclose(curve["lowest"][i], min(finite), rel_tol=1e-8)
            assert math.isclose(curve["highest"][i], max(finite), rel_tol=1e-8)
            assert math.isclose(curve["mean"][i], sum(finite) / len(finite), rel_tol=1e-7)
    assert covered > 15_000


def test_a_reader_beside_it_gets_every_point_as_it_was_written(run: RunFolder) -> None:
    values, log, reader = noise(30_000), EventLog(run, LIMIT), EventReader(run, limit_bytes=2**16)
    run.events.touch()
    seen: list[Event] = []
    inodes = set()
    for start in range(0, len(values), 100):
        train(log, values[start : start + 100], start + 1)
        while events := reader.read():
            seen += events
        inodes.add(run.events.stat().st_ino)
    log.close()
    assert len(inodes) > 1, "the log was replaced meanwhile"
    assert not any(isinstance(event, ThinnedPoints) for event in seen)
    assert [event.n for event in seen] == list(range(1, log.last + 1))


def test_a_reader_that_was_left_behind_misses_no_stretch(run: RunFolder) -> None:
    values, log, reader = noise(30_000), EventLog(run, LIMIT), EventReader(run, limit_bytes=2**16)
    train(log, values[:400])
    seen = list[Event]()
    while events := reader.read():
        seen += events
    train(log, values[400:], 401)
    log.close()
    while events := reader.read():
        seen += events
    ends = [(1, 0)]
    for event in seen:
        if isinstance(event, ThinnedPoints) and event.split == "training":
            ends += zip(event.first_steps, event.last_steps, strict=True)
        elif isinstance(event, Points) and event.split == "training":
            ends.append((event.first_step, event.first_step + len(event.values["loss"]) - 1))
    assert all(first <= before + 1 for (_, before), (first, _) in pairwise(ends))
    assert ends[-1][1] == len(values)


def test_what_a_run_is_resumed_from_stays_and_cuts_buckets(run: RunFolder) -> None:
    values, log = noise(5_000), EventLog(run, LIMIT)
    train(log, values[:1_000])
    log.append(Best(iteration=900, objective="loss", value=1.0))
    kept = log.append(Checkpointed(iteration=1_000, epoch=1, seconds=0.1))
    (run.checkpoints / "000001000").mkdir(parents=True)
    log.append(Message(severity="note", text="stays"))
    train(log, values[1_000:], 1_001)
    log.append(Checkpointed(iteration=5_000, epoch=1, seconds=0.1))
    log.append(Resumed(iteration=1_000, after=kept.n, reason="again"))
    again = noise(20_000, seed=1)
    train(log, again, 1_001)
    log.close()
    events = read_all(run)
    assert kept in events
    assert [event.text for event in events if isinstance(event, Message)] == ["stays"]
    assert points_of(events, "validation")[900] == values[899], "the validation of the best network"
    for step, value in points_of(events).items():
        assert math.isclose(value, values[step - 1] if step <= 1_000 else again[step - 1_001], rel_tol=1e-8)
    later = standing([*events, Resumed(n=log.last + 1, iteration=1_000, after=kept.n, reason="once more")])
    assert 1_000 - 16 < max(points_of(later)) <= 1_000
    assert min(points_of(later)) <= 256


def test_a_log_that_is_continued_is_thinned_again(run: RunFolder) -> None:
    for start in range(5):
        log = EventLog(run, LIMIT)
        assert log.last == 0 or start
        train(log, noise(6_000), 1 + 6_000 * start)
        log.close()
    assert run.events.stat().st_size < 6 * LIMIT
    assert len(points_of(read_all(run))) > WHOLE


def test_a_full_disk_leaves_the_log_as_it_is(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, content: bytes, **_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(log_module, "write_atomically", refuse)
    values, log = noise(3_000), EventLog(run, LIMIT)
    train(log, values)
    log.close()
    assert list(points_of(read_all(run)).values()) == values


def test_a_log_is_thinned_in_slices_so_that_no_event_waits_for_all_of_it(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "SLICE_BYTES", LIMIT // 16)
    values, log = noise(2_000), EventLog(run, LIMIT)
    steps = iter(range(0, len(values), 10))
    while run.events.stat().st_size < LIMIT:
        at = next(steps)
        log.append(Points(split="training", first_step=at + 1, steps_apart=1, values={"loss": values[at : at + 10]}))
    inode, meanwhile = run.events.stat().st_ino, 0
    while run.events.stat().st_ino == inode:
        log.append(Message(severity="note", text=f"meanwhile {meanwhile}"))
        meanwhile += 1
    assert meanwhile >= 30, "two passes of 16 slices, one per event"
    log.append(Message(severity="note", text="after"))
    log.close()
    events = read_all(run)
    assert [event.text for event in events if isinstance(event, Message)] == [
        *(f"meanwhile {number}" for number in range(meanwhile)),
        "after",
    ]
    assert any(isinstance(event, ThinnedPoints) for event in events)
    assert run.events.stat().st_size < LIMIT


def test_many_curves_fit_in_lines(run: RunFolder) -> None:
    names = [f"a metric with a long name, number {number}" for number in range(60)]
    log = EventLog(run, LIMIT)
    for step in range(1, 1_500, 5):
        curves = {name: [float(step + number)] * 5 for number, name in enumerate(["loss", *names])}
        for points in split_points(Points(split="training", first_step=step, steps_apart=1, values=curves)):
            log.append(points)
    log.close()
    events = read_all(run)
    assert max(map(len, run.events.read_bytes().splitlines(keepends=True))) <= LINE_LIMIT_BYTES
    assert any(isinstance(event, ThinnedPoints) for event in events)
    for number, name in enumerate(["loss", *names]):
        assert all(value == (step - 1) // 5 * 5 + 1 + number for step, value in points_of(events, name=name).items())
