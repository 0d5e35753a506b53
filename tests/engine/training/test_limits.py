"""What ends a run before its epochs are done: time and a target."""

import math

import pytest
import torch
from torch import nn

from netwright.engine.data.loading.batches import BatchLoader, ResidentDataset, SampleOrder
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.strategies.single import Single
from netwright.engine.project.options.metric_options import METRICS
from netwright.engine.project.training import TrainingLength, TrainingOptions
from netwright.engine.runs.events import Event
from netwright.engine.training.best_model import BestModelTracker, NullStore
from netwright.engine.training.evaluation import Evaluator
from netwright.engine.training.losses import SingleOutputLoss, half_mse
from netwright.engine.training.metrics import Rmse
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.recorder import Clock, Recorder
from netwright.engine.training.reporter import NoRequests, Reporter
from netwright.engine.training.solvers import Solver
from netwright.engine.training.state import Evaluation, Target, TrainingPlan, limits_for, validation_steps
from netwright.engine.training.step import TrainStep
from netwright.engine.training.trainer import Outcome, Trainer

STEP_S = 0.1


class Ticking(Clock):
    """A step takes a tenth of a second."""

    now = 0.0

    @property
    def elapsed_s(self) -> float:
        return self.now


class Nobody:
    """Takes events nowhere."""

    def put(self, *events: Event) -> None:
        pass


def train(epochs: int = 8, **given: object) -> Outcome:
    """Nine samples in three steps per epoch, on a clock of its own, towards a network that exists."""
    options = TrainingOptions(mini_batch_size=3, max_epochs=epochs, solver="sgdm", momentum=0.0, **given)
    torch.manual_seed(0)
    network, group, metric = nn.Linear(2, 1), SingleProcess(), Rmse()
    limits = limits_for(options, metric)
    clock = Ticking(limits.time_s)
    inputs = torch.randn(9, 2)
    part = ResidentDataset((inputs,), (inputs.sum(1, keepdim=True),))

    def rate_at(step: int) -> float:
        clock.now = (step + 1) * STEP_S
        return 0.3

    model = TrainedModel(network, Single(network), Solver(options, network), group)
    loss = SingleOutputLoss(half_mse)
    reporter = Reporter(
        [metric], Recorder([metric], group, lambda: 0, clock), Nobody(), NoRequests(), clock, epochs * 3
    )
    tracker = BestModelTracker(model, options, metric, NullStore(), has_validation=True)
    length = TrainingLength(3, 3, epochs)
    plan = TrainingPlan(length, validation_steps(options, 3), options.validation_patience, part, None, limits=limits)
    batches = BatchLoader(part, SampleOrder(9, 3, "never", 0), group)
    step, evaluator = TrainStep(model, loss, rate_at), Evaluator(model, loss, [metric])
    return Trainer(plan, step, evaluator, batches, reporter, tracker).run()


def test_the_time_limit_ends_the_run_at_the_step_that_it_falls_into() -> None:
    outcome = train(max_time=0.75, max_time_unit="seconds")
    assert (outcome.state, outcome.reason) == ("finished", "time limit of 0.75 seconds reached")
    assert outcome.iterations == 8
    assert outcome.validation is not None


def test_a_limit_that_is_not_reached_ends_nothing() -> None:
    outcome = train(epochs=2, max_time=1.0, max_time_unit="hours", target_metric="loss", target_value=1e-12)
    assert (outcome.state, outcome.reason) == ("finished", "all 2 epochs completed")


def test_a_target_ends_the_run_at_the_first_validation_that_reaches_it() -> None:
    outcome = train(target_metric="metric", target_value=0.5, validation_frequency=1)
    assert outcome.reason.startswith("target reached: validation rmse 0.")
    assert outcome.reason.endswith(", at most 0.5 was asked for")
    assert outcome.validation is not None
    assert outcome.validation.metrics["rmse"] <= 0.5
    before = train(target_metric="metric", target_value=0.5, validation_frequency=1000, epochs=8)
    assert 1 <= outcome.iterations < before.iterations == 24


@pytest.mark.parametrize(("metric", "value", "found", "is_reached"), [
    ("accuracy", 0.9, 0.9, True),
    ("accuracy", 0.9, 0.89, False),
    ("rmse", 0.1, 0.1, True),
    ("rmse", 0.1, math.nan, False),
])  # fmt: skip
def test_the_target_knows_which_way_is_up(metric: str, value: float, found: float, is_reached: bool) -> None:
    target = Target(metric, value, METRICS[metric].higher_is_better)
    assert bool(target.reached(Evaluation(0.0, {metric: found}))) == is_reached


def test_what_a_network_can_before_its_first_step_ends_no_run() -> None:
    limits = limits_for(TrainingOptions(target_metric="loss", target_value=9.0), Rmse())
    assert not limits.reached(0, Evaluation(1.0, {"rmse": 1.0}))
    assert (
        limits.reached(1, Evaluation(1.0, {"rmse": 1.0}))
        == "target reached: validation loss 1, at most 9 was asked for"
    )


def test_the_units() -> None:
    minutes = limits_for(TrainingOptions(max_time=2), Rmse())
    assert (minutes.time_s, minutes.time_is_up) == (120.0, "time limit of 2 minutes reached")
    assert limits_for(TrainingOptions(max_time=1, max_time_unit="hours"), Rmse()).time_is_up.endswith("1 hour reached")
    assert limits_for(TrainingOptions(), Rmse()).time_s == math.inf
    assert validation_steps(TrainingOptions(validation_frequency=4), 30) == 4
    assert validation_steps(TrainingOptions(validation_frequency=2, validation_frequency_unit="epochs"), 30) == 60
