"""Choosing a number of threads by trying, with work whose time is known."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from netwright.engine.core.platform import keep_to
from netwright.engine.core.process import module_environment
from netwright.engine.hardware import threads

ROOT = Path(__file__).parents[3]


class Work:
    """Takes as long as it is told to with each number of threads, on a clock of its own."""

    def __init__(self, seconds: dict[int, float]) -> None:
        self.now, self.count, self.rounds, self._seconds = 0.0, 0, 0, seconds

    def set_count(self, count: int) -> None:
        self.count = count

    def __call__(self) -> None:
        self.now += self._seconds[self.count]
        self.rounds += 1


@pytest.mark.parametrize(
    ("seconds", "best"),
    [({1: 0.01, 4: 0.004}, 4), ({1: 0.01, 4: 0.05}, 1), ({1: 0.01, 4: 0.0096}, 1), ({1: 0.01, 2: 0.006, 4: 0.005}, 4)],
)
def test_the_fastest_is_chosen_if_it_is_worth_it(seconds: dict[int, float], best: int) -> None:
    work = Work(seconds)
    chosen, measured = threads.fastest(tuple(seconds), work.set_count, work, now=lambda: work.now)
    assert chosen == work.count == best
    assert measured == pytest.approx(seconds)


def test_long_work_is_tried_once() -> None:
    work = Work({1: 9.0, 2: 5.0})
    assert threads.fastest((1, 2), work.set_count, work, now=lambda: work.now)[0] == 2
    assert work.rounds == 2


def test_calm_threads_respects_what_the_user_has_set() -> None:
    code = (
        "import os; from netwright.engine.hardware.threads import calm_threads; calm_threads(); print(os.environ[{!r}])"
    )
    code = code.format("GOMP_SPINCOUNT")

    def spins(**variables: str) -> str:
        environment = {k: v for k, v in os.environ.items() if k != "GOMP_SPINCOUNT"} | variables
        return subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        ).stdout.strip()

    assert spins() == "2000"
    assert spins(GOMP_SPINCOUNT="7") == "7"


def test_modules_started_as_processes_have_calm_threads_before_they_import_torch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    assert module_environment()["GOMP_SPINCOUNT"] == "2000"
    monkeypatch.setenv("GOMP_SPINCOUNT", "7")
    assert module_environment()["GOMP_SPINCOUNT"] == "7"


def test_a_worker_keeps_to_its_cores() -> None:
    """In a thread of its own, whose end undoes it."""
    before, seen = os.sched_getaffinity(0), []

    def look() -> None:
        keep_to([min(before)])
        seen.append(os.sched_getaffinity(0))
        keep_to(())
        keep_to([100_000])  # a core that is not there
        seen.append(os.sched_getaffinity(0))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [{min(before)}] * 2
    assert os.sched_getaffinity(0) == before
