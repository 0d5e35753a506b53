"""What a run tells of itself: every step once, a few times per second, and what it is asked."""

import math
import os

import pytest
import torch

from netwright.engine.core.process import MessageReader
from netwright.engine.launch.channel import ReportPipe, RequestPipe
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.runs.events import Best, EpochEnded, Event, Points, Progress
from netwright.engine.runs.requests import NOTHING, PendingRequests
from netwright.engine.training.metrics import Accuracy, Rmse
from netwright.engine.training.recorder import LATE_S, MAX_STEPS, Clock, Recorder
from netwright.engine.training.reporter import Curve, Reporter
from netwright.engine.training.state import Evaluation, StepResult


class FakeClock(Clock):
    """Time as the test says."""

    now = 0.0

    @property
    def elapsed_s(self) -> float:
        return self.now


class Kept:
    """An outbox and requests in one."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.asked = NOTHING

    def put(self, *events: Event) -> None:
        self.events += events

    def pending(self) -> PendingRequests:
        return self.asked

    def take(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


class Setup:
    """A reporter with everything around it."""

    def __init__(self) -> None:
        self.clock, self.kept = FakeClock(), Kept()
        self.recorder = Recorder([Accuracy()], SingleProcess(), lambda: 7, self.clock)
        self.reporter = Reporter([Accuracy()], self.recorder, self.kept, self.kept, self.clock, 1000)
        self.steps = 0

    def step(self, right: int, of: int) -> bool:
        """A step with so many samples, so many of them right; its loss is its number."""
        self.steps += 1
        self.clock.now += 0.01
        output = torch.eye(2)[torch.tensor([1] * right + [0] * (of - right), dtype=torch.long)]
        targets = torch.ones(of, dtype=torch.long)
        return self.reporter.record(StepResult(torch.tensor(float(self.steps)), (output,), (targets,), of, of))


def test_where_steps_become_slow_a_report_does_not_wait_for_as_many_as_before() -> None:
    setup = Setup()
    while not (is_due := setup.step(1, 1)) or setup.steps <= 20:
        if is_due:
            setup.reporter.report(1, setup.steps, 0.1)
    setup.reporter.report(1, setup.steps, 0.1)
    assert not setup.step(1, 1)
    setup.clock.now += LATE_S
    assert setup.step(1, 1), "many more would be due at the speed of before"


def test_every_step_is_told_once_with_its_own_figures() -> None:
    setup = Setup()
    rights = [(1, 4), (4, 4), (0, 4), (3, 4), (0, 1), (2, 3), (1, 1)]
    for right, of in rights:
        if setup.step(right, of):
            setup.reporter.report(1, setup.steps, 0.1)
    if setup.reporter.has_steps:
        setup.reporter.report(1, setup.steps, 0.1)
    points = [event for event in setup.kept.take(Points) if isinstance(event, Points)]
    losses = [value for event in points for value in event.values["loss"]]
    figures = [value for event in points for value in event.values["accuracy"]]
    assert losses == [1, 2, 3, 4, 5, 6, 7]
    assert figures == pytest.approx([right / of for right, of in rights])
    assert points[0].first_step == 1
    assert not setup.reporter.has_steps


def test_what_is_no_number_or_huge_stays_in_its_own_step() -> None:
    recorder = Recorder([Rmse()], SingleProcess(), lambda: 0, FakeClock())
    for error in (1e12, 0.5, math.nan, 0.25, math.inf, 2.0):
        output = torch.full((2, 1), error, dtype=torch.float64)
        recorder.hold(StepResult(torch.tensor(0.0), (output,), (torch.zeros_like(output),), 2, 2))
    recorder.hold(StepResult(torch.tensor(0.0), (torch.zeros(0, 1),), (torch.zeros(0, 1),), 0, 2))  # an empty share
    sums = recorder.exchange(NOTHING).metrics["rmse"]
    squares = [2e24, 0.5, math.nan, 0.125, math.inf, 8.0, 0.0]
    assert [square for square, _ in sums] == pytest.approx(squares, rel=1e-12, nan_ok=True)
    assert [count for _, count in sums] == [2] * 6 + [0]


def test_reports_come_a_few_times_a_second() -> None:
    setup = Setup()
    for _ in range(1000):
        if setup.step(1, 2):
            setup.reporter.report(1, setup.steps, 0.1)
    reports = setup.kept.take(Progress)
    assert setup.steps == 1000
    assert 20 < len(reports) < 60, "ten seconds, four a second"


def test_a_fast_step_is_not_held_without_end() -> None:
    setup = Setup()
    setup.recorder._interval = 10**9
    setup.step(1, 1)
    setup.clock.now = 0.0
    assert setup.recorder._next_interval() <= MAX_STEPS


def test_a_request_is_passed_on() -> None:
    setup = Setup()
    setup.kept.asked = PendingRequests({"stop": 1, "set.rate_factor": 0.1, "set.epochs": 7})
    setup.step(1, 1)
    asked = setup.reporter.report(1, 1, 0.1, save_now=True).requests
    assert asked == PendingRequests({"stop": 1, "set.rate_factor": 0.1, "set.epochs": 7, "save_now": 1})
    assert setup.reporter.pending_requests() == PendingRequests({"stop": 1, "set.rate_factor": 0.1, "set.epochs": 7})


def test_progress_in_numbers() -> None:
    setup = Setup()
    for _ in range(10):
        setup.step(1, 5)
    setup.reporter.report(2, 10, 0.25)
    (progress,) = setup.kept.take(Progress)
    assert isinstance(progress, Progress)
    assert (progress.epoch, progress.iteration, progress.rate, progress.memory_bytes) == (2, 10, 0.25, 7)
    assert progress.elapsed_s == pytest.approx(0.1)
    assert progress.remaining_s == pytest.approx(9.9)
    assert progress.samples_per_second == pytest.approx(500)


def test_validations_best_and_epochs_wait_for_the_next_report() -> None:
    setup = Setup()
    setup.reporter.validated(0, Evaluation(2.0, {"accuracy": 0.1}))
    for step in (50, 100):
        setup.reporter.validated(step, Evaluation(1.0, {"accuracy": 0.5}))
        setup.reporter.found_best(step, "loss", 1.0)
    setup.reporter.epoch_ended(1, 100)
    assert setup.kept.events == []
    setup.reporter.send_waiting()
    assert [type(event) for event in setup.kept.events] == [Points, Best, EpochEnded]
    points, best, _ = setup.kept.events
    assert isinstance(points, Points)
    assert (points.split, points.first_step, points.steps_apart) == ("validation", 0, 50)
    assert points.values == {"loss": [2.0, 1.0, 1.0], "accuracy": [0.1, 0.5, 0.5]}
    assert isinstance(best, Best)
    assert best.iteration == 100


def test_points_off_the_grid_become_an_event_of_their_own() -> None:
    curve = Curve("validation")
    for step in (0, 50, 100, 120):
        curve.add(step, {"loss": float(step)})
    events = [(e.first_step, e.steps_apart, e.values["loss"]) for e in curve.take() if isinstance(e, Points)]
    assert events == [(0, 50, [0.0, 50.0, 100.0]), (120, 1, [120.0])]
    assert curve.take() == []


def test_time_set_aside_is_not_training() -> None:
    clock = Clock()
    with clock.aside():
        spent = clock.elapsed_s
    assert clock.training_s <= clock.elapsed_s
    assert clock._aside_s >= 0 <= spent


def test_worker_and_coordinator_talk_over_pipes() -> None:
    reading, writing = os.pipe()
    reports, lines = ReportPipe(writing), MessageReader(reading)
    assert lines.read() == []
    reports.put(EpochEnded(epoch=3, iteration=30))
    reports.send({"done": {"ü": 1}})
    first, second = lines.read()
    assert first["event"]["epoch"] == 3
    assert second == {"done": {"ü": 1}}
    os.close(writing)
    assert lines.read() == []
    assert not lines.is_open
    os.close(reading)


def test_a_heartbeat_goes_between_other_reports_and_tears_none() -> None:
    reading, writing = os.pipe()
    reports, lines = ReportPipe(writing), MessageReader(reading)
    said: list[dict[str, object]] = []
    with reports.heartbeat(every_s=0.001):
        while sum("alive" in message for message in said) < 20:
            reports.send({"done": {"long": "x" * 5000}})
            said += lines.read()
    os.close(writing)
    while lines.is_open:
        said += lines.read()
    os.close(reading)
    assert all(message.keys() <= {"alive", "done"} for message in said)
    assert any("done" in message for message in said)


def test_requests_come_through_the_pipe_whole_and_once() -> None:
    reading, writing = os.pipe()
    requests = RequestPipe(reading)
    assert requests.pending() == NOTHING
    os.write(writing, b'{"do": "stop_after_epoch"}\n{"do": "st')
    assert requests.pending() == PendingRequests({"stop_after_epoch": 1})
    os.write(writing, b'op"}\n')
    assert requests.pending() == PendingRequests({"stop": 1})
    assert requests.pending() == NOTHING
    os.close(reading)
    os.close(writing)
