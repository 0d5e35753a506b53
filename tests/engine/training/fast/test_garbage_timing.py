"""Cycles that steps leave behind are freed at report points, and Python looks for none in between."""

import gc
import weakref

from engine.training.fast.garbage_timing import FULL_COLLECTION_SHARE, collect, collected_at_reports


class Cycle:
    def __init__(self) -> None:
        self.me = self


class Slow:
    """A clock by which any look takes a second."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        self.time += 1.0
        return self.time


def looks() -> list[int]:
    """How often Python has looked, at the newest objects, at newer ones, at all."""
    return [generation["collections"] for generation in gc.get_stats()]


def test_cycles_are_found_when_asked_for() -> None:
    old = [Cycle()]
    before = gc.get_threshold()
    with collected_at_reports():
        seen_before = looks()
        seen = weakref.ref(Cycle())
        held = [[number] for number in range(20 * before[0])]
        assert looks() == seen_before
        assert seen() is not None
        collect()
        assert seen() is None
        assert len(held) == 20 * before[0]
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
    ended = weakref.ref(old.pop())
    gc.collect()
    assert ended() is None


def test_where_looking_at_all_takes_long_a_report_looks_at_what_is_new() -> None:
    """Steps of a millisecond would else take as long as the look, since reports come by time."""
    clock = Slow()
    with collected_at_reports(clock):
        collect(clock)
        before = looks()
        for _ in range(10):
            seen = weakref.ref(Cycle())
            collect(clock)
            assert seen() is None
        assert looks()[2] == before[2]
        clock.time += 1 / FULL_COLLECTION_SHARE
        collect(clock)
        assert looks()[2] == before[2] + 1


def test_elsewhere_python_looks_by_itself() -> None:
    gc.disable()
    try:
        seen = weakref.ref(Cycle())
        collect()
        assert seen() is not None
    finally:
        gc.enable()
