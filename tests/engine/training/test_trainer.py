"""The story of a training, with a network of one layer, no processes and no files."""

from typing import Any

import pytest
import torch
from torch import nn

from netwright.engine.core.errors import RunError
from netwright.engine.data.loading.batches import BatchLoader, ResidentDataset, SampleOrder
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.strategies.single import Single
from netwright.engine.project.training import TrainingLength, TrainingOptions
from netwright.engine.runs.events import EpochEnded, Event, Points
from netwright.engine.runs.requests import NOTHING, PendingRequests
from netwright.engine.training.best_model import BestModelTracker, NullStore
from netwright.engine.training.evaluation import Evaluator
from netwright.engine.training.losses import SingleOutputLoss, half_mse
from netwright.engine.training.metrics import Rmse
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.recorder import Clock, Recorder
from netwright.engine.training.reporter import Reporter
from netwright.engine.training.solvers import Solver
from netwright.engine.training.state import StepResult, TrainingPlan
from netwright.engine.training.step import TrainStep
from netwright.engine.training.trainer import Outcome, Trainer

STEPS_PER_EPOCH = 3


class Listener:
    """Keeps events, and asks for something once the training has come to a step."""

    def __init__(self, ask: PendingRequests = NOTHING, at: int = 0) -> None:
        self.events: list[Event] = []
        self.step = 0
        self._ask, self._at = ask, at

    def put(self, *events: Event) -> None:
        self.events += events

    def pending(self) -> PendingRequests:
        return self._ask if self.step == self._at else NOTHING

    @property
    def epochs(self) -> list[int]:
        return [event.epoch for event in self.events if isinstance(event, EpochEnded)]

    @property
    def validated(self) -> list[int]:
        points = [event for event in self.events if isinstance(event, Points) and event.split == "validation"]
        return [p.first_step + i * p.steps_apart for p in points for i in range(len(p.values["loss"]))]


class EveryStep(Recorder):
    """Each step is a report point, so that a request is met where the test says."""

    def hold(self, done: StepResult) -> bool:
        super().hold(done)
        return True


def train(
    listener: Listener, *, rate: float = 0.0, epochs: int = 4, seen: ResidentDataset | None = None, **given: Any
) -> Outcome:
    """Nine samples in three steps per epoch. A rate of zero learns nothing: no validation is better than the first."""
    options = TrainingOptions(mini_batch_size=3, max_epochs=epochs, **given)
    torch.manual_seed(0)
    network, group, metric, clock = nn.Linear(2, 1), SingleProcess(), Rmse(), Clock()
    part = seen or ResidentDataset((torch.randn(9, 2),), (torch.randn(9, 1),))

    def rate_at(step: int) -> float:
        listener.step = step + 1
        return rate

    solver = Solver(options, network)
    model, loss = TrainedModel(network, Single(network), solver, group), SingleOutputLoss(half_mse)
    recorder = EveryStep([metric], group, lambda: 0, clock)
    reporter = Reporter([metric], recorder, listener, listener, clock, epochs * STEPS_PER_EPOCH)
    tracker = BestModelTracker(model, options, metric, NullStore(), has_validation=True)
    length = TrainingLength(3, STEPS_PER_EPOCH, epochs)
    plan = TrainingPlan(length, options.validation_frequency, options.validation_patience, part, None)
    batches = BatchLoader(part, SampleOrder(9, 3, "never", 0), group)
    step, evaluator = TrainStep(model, loss, rate_at), Evaluator(model, loss, [metric])
    return Trainer(plan, step, evaluator, batches, reporter, tracker).run()


def test_validation_comes_before_the_first_step_in_between_and_at_the_end() -> None:
    listener = Listener()
    outcome = train(listener, validation_frequency=5)
    assert listener.validated == [0, 5, 10, 12]
    assert (outcome.state, outcome.reason) == ("finished", "all 4 epochs completed")
    assert outcome.seconds > 0


def test_a_solver_that_has_arrived_ends_the_run() -> None:
    outcome = train(Listener(), rate=1.0, solver="lbfgs", gradient_tolerance=1.0)
    assert (outcome.state, outcome.iterations) == ("finished", 1)
    assert outcome.reason.startswith("the gradient (")


def test_an_epoch_that_patience_ends_with_is_complete() -> None:
    listener = Listener()
    outcome = train(listener, validation_frequency=STEPS_PER_EPOCH, validation_patience=2)
    assert (outcome.state, outcome.reason) == ("finished", "no better loss in 2 validations")
    assert (outcome.epochs, outcome.iterations) == (2, 6)
    assert listener.epochs == [1, 2]


def test_a_stop_in_the_middle_of_an_epoch_leaves_it_incomplete() -> None:
    listener = Listener(PendingRequests({"stop": 1}), at=5)
    outcome = train(listener)
    assert (outcome.state, outcome.epochs, outcome.iterations) == ("stopped", 1, 5)
    assert listener.epochs == [1]


def test_a_stop_after_the_epoch_lets_it_end() -> None:
    listener = Listener(PendingRequests({"stop_after_epoch": 1}), at=5)
    outcome = train(listener)
    assert (outcome.state, outcome.epochs, outcome.iterations) == ("stopped", 2, 6)


@pytest.mark.parametrize("asked", [PendingRequests({"stop": 1}), PendingRequests({"stop_after_epoch": 1})])
def test_a_request_that_comes_with_the_last_step_stops_nothing(asked: PendingRequests) -> None:
    outcome = train(Listener(asked, at=12))
    assert (outcome.state, outcome.reason, outcome.epochs) == ("finished", "all 4 epochs completed", 4)


def test_one_epoch_is_said_in_the_singular() -> None:
    assert train(Listener(), epochs=1).reason == "1 epoch completed"


def test_a_loss_that_is_no_number_names_its_iteration_and_the_way_out() -> None:
    inputs = torch.randn(9, 2)
    inputs[4] = torch.nan  # in the second batch
    with pytest.raises(RunError, match=r"NaN at iteration 2 .* Use a lower initial learn rate"):
        train(Listener(), seen=ResidentDataset((inputs,), (torch.randn(9, 1),)))
