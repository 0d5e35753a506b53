"""Cycles that steps leave behind are freed at report points, and Python looks for none in between."""

import gc
import weakref

from engine.training.garbage import look, looked_for_at_reports


class Cycle:
    def __init__(self) -> None:
        self.me = self


def test_cycles_are_found_when_asked_for() -> None:
    old = [Cycle()]
    before = gc.get_threshold()
    with looked_for_at_reports():
        looks = sum(generation["collections"] for generation in gc.get_stats())
        seen = weakref.ref(Cycle())
        held = [[number] for number in range(20 * before[0])]
        assert sum(generation["collections"] for generation in gc.get_stats()) == looks
        assert seen() is not None
        look()
        assert seen() is None
        assert len(held) == 20 * before[0]
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
    ended = weakref.ref(old.pop())
    gc.collect()
    assert ended() is None
