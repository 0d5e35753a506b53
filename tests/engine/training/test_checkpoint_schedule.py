"""When automatic checkpoints are saved, by a clock that the test sets."""

from typing import Any

import pytest

from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.checkpoint_schedule import (
    AUTO_INTERVAL_S,
    MAX_TIME_SHARE,
    CheckpointSchedule,
    automatic_interval,
    expected_cost_s,
)
from netwright.engine.training.checkpoints import CheckpointSaver


class Run:
    """Steps of a run whose time is that of its steps and checkpoints."""

    def __init__(self, cost_s: float, expected_s: float, *, begin_s: float = 0.0, **options: Any) -> None:
        self.now_s = self._begin_s = begin_s
        self._cost_s = cost_s
        self.saved_s: list[float] = []
        self._schedule = CheckpointSchedule(TrainingOptions().replace(**options), lambda: self.now_s, expected_s)

    def train(self, seconds: float, step_s: float = 0.25) -> list[float]:
        """The times of the checkpoints, each at the end of a step."""
        end_s = self._begin_s + seconds
        while self.now_s < end_s:
            self.now_s += step_s
            if self._schedule.is_due:
                self.saved_s.append(self.now_s)
                self.now_s += self._cost_s
                self._schedule.save(self._cost_s)
        return self.saved_s

    @property
    def share(self) -> float:
        """The share of checkpoints in the time up to the moment at which the next one begins."""
        return self._cost_s * len(self.saved_s) / (self.now_s - self._begin_s)


@pytest.mark.parametrize(
    ("cost_s", "elapsed_s", "since_s", "interval_s"),
    [
        (0.0, 0.0, 0.0, 2.0),
        (0.0, 4.0, 4.0, 4.0),  # as long as it has trained
        (0.05, 100_000.0, 100_000.0, 10.0),  # cheap: 0.5 % of the time
        (0.01, 100_000.0, 0.0, 2.0),  # it was resumed just now
        (0.5, 0.0, 0.0, 10.0),
        (0.5, 400.0, 400.0, 20.0),  # 5 % of what was trained may be repeated
        (0.5, 100_000.0, 100_000.0, 50.0),  # 1 % of the time
        (4.0, 0.0, 0.0, 80.0),  # no more than 5 % of the time
        (4.0, 100_000.0, 100_000.0, 400.0),
    ],
)
def test_automatic_checkpoints_weigh_their_cost_against_the_work_that_a_restart_repeats(
    cost_s: float, elapsed_s: float, since_s: float, interval_s: float
) -> None:
    assert automatic_interval(cost_s, elapsed_s, since_s) == interval_s


def test_automatic_checkpoints_come_early_and_then_less_often() -> None:
    assert Run(cost_s=0.0, expected_s=0.0).train(40.0) == [2.0, 4.0, 8.0, 16.0, 26.0, 36.0]


def test_a_run_that_is_resumed_saves_its_first_steps_soon() -> None:
    """Of a run that is killed every few seconds each attempt comes further."""
    assert Run(cost_s=0.0, expected_s=0.0, begin_s=1000.0).train(10.0) == [1002.0, 1004.0, 1008.0]


@pytest.mark.parametrize("cost_s", [0.01, 0.1, 0.4, 2.0])
def test_early_checkpoints_take_no_more_than_their_share_of_the_time(cost_s: float) -> None:
    run = Run(cost_s, expected_s=cost_s)
    first_s, second_s, *_ = run.train(120.0)
    assert first_s == min(AUTO_INTERVAL_S, max(2.0, cost_s / MAX_TIME_SHARE))
    assert second_s - first_s >= cost_s / MAX_TIME_SHARE
    if first_s < AUTO_INTERVAL_S:
        assert run.share <= MAX_TIME_SHARE


def test_the_first_checkpoint_of_a_large_network_waits_until_it_is_worth_its_time() -> None:
    assert Run(1.0, expected_cost_s(10_000)).train(3.0) == [2.0]
    assert Run(1.0, expected_cost_s(3_000_000)).train(12.0) == [5.0]
    assert Run(1.0, expected_cost_s(1_000_000_000)).train(12.0) == [AUTO_INTERVAL_S]


def test_checkpoints_by_seconds_come_as_often_as_the_option_says() -> None:
    options: dict[str, Any] = {"checkpoint_unit": "seconds", "checkpoint_frequency": 15}
    assert Run(0.0, 0.0, **options).train(40.0) == [15.0, 30.0]
    assert Run(0.5, 0.0, **options).train(80.0) == [15.0, 65.5]  # 1 % of the time
    assert not Run(0.0, 0.0, checkpoint_unit="epochs").train(40.0)


def test_automatic_checkpoints_are_the_default_and_come_by_run_time() -> None:
    now = [0.0]
    saver = CheckpointSaver(TrainingOptions(), now=lambda: now[0])
    due = []
    for now[0] in (1.9, 2.1):
        due.append(saver.is_due_by_time)
    assert due == [False, True]
    saver.register(unit=Network())
    saver.save(1)
    assert not saver.is_due_by_time


class Network:
    def state_dict(self) -> dict[str, Any]:
        return {"network": {}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        pass
