"""Reading ahead: in order, no further than allowed, and with nothing left behind."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from functools import partial
from typing import Any

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.data.sources.prefetch import LEAST_AHEAD, ReadJob, prefetch


def jobs(count: int, task: Callable[[int], None], size: int = 1) -> Iterator[ReadJob[int]]:
    for number in range(count):
        yield ReadJob(number, [partial(task, number), partial(task, number)], size)


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("reader")]


def test_results_come_in_order_and_whole() -> None:
    done: list[int] = []
    for number in prefetch(jobs(20, done.append), threads=3):
        assert done.count(number) == 2
    assert sorted(done) == sorted([*range(20), *range(20)])
    assert not readers()


def test_no_more_is_read_ahead_than_the_bytes_allow() -> None:
    begun: set[int] = set()
    for number in prefetch(jobs(30, begun.add, size=100), threads=2, most_bytes=250):
        assert max(begun) <= number + 3


def test_it_reads_further_ahead_where_it_was_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    done = [threading.Event() for _ in range(30)]

    def slow() -> Iterator[ReadJob[int]]:
        for number in range(30):
            begun.append(number)
            yield ReadJob(number, [partial(done[number].wait, 60)], 1)

    def waits(futures: list[Future[None]], **how: Any) -> Any:
        done[len(seen)].set()  # only now, so that it is waited for
        return wait(futures, **how)

    monkeypatch.setattr("netwright.engine.data.sources.prefetch.wait", waits)
    seen: list[int] = []
    furthest = []
    reading = prefetch(slow(), threads=4)
    for _ in range(4):
        seen.append(next(reading))
        furthest.append(max(begun))
    for each in done:
        each.set()
    monkeypatch.undo()
    reading.close()  # type: ignore[attr-defined]
    assert furthest == [LEAST_AHEAD - 1 + 2 * n for n in range(4)]
    assert not readers()


def test_what_fails_is_raised_in_its_turn_and_ends_the_reading() -> None:
    def task(number: int) -> None:
        if number == 3:
            raise UserError("three")

    seen: list[int] = []
    with pytest.raises(UserError, match="three"):
        seen.extend(prefetch(jobs(20, task)))
    assert not seen or seen == [0, 1, 2]
    assert not readers()


def test_a_disk_that_does_not_answer_is_named_and_waited_for_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.engine.data.sources.prefetch.SILENCE_S", 0.05)
    monkeypatch.setattr("netwright.engine.data.sources.prefetch.PATIENCE_S", 0.05)
    answers = threading.Event()
    hung = iter([ReadJob(0, [answers.wait, lambda: None], 1, "/far/away")])
    with pytest.raises(UserError, match=r"Nothing was read from /far/away for 0\.1 s"):
        list(prefetch(hung, threads=1))
    left = readers()
    answers.set()
    for thread in left:
        thread.join(60)
    assert not readers()


def test_closing_in_the_middle_leaves_no_thread() -> None:
    seen = prefetch(jobs(100, lambda number: None))
    assert next(seen) == 0
    seen.close()  # type: ignore[attr-defined]
    assert not readers()
