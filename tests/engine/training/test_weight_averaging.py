"""What an average of the weights is judged and kept as, beyond the numbers of `test_reference`."""

from typing import Any

import pytest
import torch
from torch import nn

from netwright.engine.data.loading.batches import BatchLoader, ResidentDataset, SampleOrder
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.strategies.single import Single
from netwright.engine.parallel.sync_batch_norm import Share, freeze, join_batch_norms
from netwright.engine.project.schedules import rate_at
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.evaluation import Evaluator
from netwright.engine.training.losses import SingleOutputLoss, half_mse
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.precision import Precision
from netwright.engine.training.solvers import Schedule, Solver
from netwright.engine.training.step import TrainStep
from netwright.engine.training.weight_averaging import BatchStatistics, average_for

PER_EPOCH = 3


def network() -> nn.Sequential:
    torch.manual_seed(5)
    return nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 4), nn.BatchNorm1d(4))


class Run:
    """Nine samples, three a step; each part of what it takes can be looked at."""

    def __init__(self, *frozen: int, **given: Any) -> None:
        options = TrainingOptions(mini_batch_size=3, max_epochs=4, initial_learn_rate=0.1, **given)
        self.network, group, share = network(), SingleProcess(), Share()
        join_batch_norms(self.network, group, share)
        freeze(self.network[number] for number in frozen)
        drawn = torch.Generator().manual_seed(6)
        self.part = ResidentDataset((torch.randn(9, 2, generator=drawn),), (torch.randn(9, 4, generator=drawn),))
        self.batches = BatchLoader(self.part, SampleOrder(9, 3, "never", 0), group)
        precision = Precision("fp32", torch.device("cpu"), group)
        self.statistics = BatchStatistics(self.network, share, precision, self.batches.one_pass)
        self.model = TrainedModel(
            self.network,
            Single(self.network),
            Solver(options, self.network),
            group,
            precision,
            average=average_for(options, self.network, PER_EPOCH, self.statistics, Schedule(options, PER_EPOCH, 12)),
            statistics=self.statistics if options.batch_normalization_statistics == "population" else None,
        )
        loss = SingleOutputLoss(half_mse)
        self.step = TrainStep(self.model, loss, lambda step: rate_at(options, step, PER_EPOCH, 12), share)
        self.evaluator = Evaluator(self.model, loss, [])

    def epochs(self, *numbers: int) -> list[list[torch.Tensor]]:
        """Train for these; the weights after each step."""
        seen = []
        for epoch in numbers:
            for number, batch in enumerate(self.batches.of_epoch(epoch)):
                self.step(batch, (epoch - 1) * PER_EPOCH + number)
                seen.append([p.detach().clone() for p in self.network.parameters()])
        return seen


def weights_in(run: Run, state: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    return [state[name] for name, _ in run.network.named_parameters()]


def test_the_average_is_judged_and_kept_and_training_goes_on_without_it() -> None:
    plain, run = Run(), Run(weight_averaging="ema", ema_decay=0.9)
    torch.manual_seed(1)
    expected = plain.epochs(1)
    torch.manual_seed(1)
    found = run.epochs(1)
    before = run.model.state()
    score = run.evaluator.evaluate(run.part).loss
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    torch.testing.assert_close([p.detach() for p in run.network.parameters()], expected[-1], rtol=0, atol=0)
    assert score != plain.evaluator.evaluate(plain.part).loss
    run.model.finalize()
    torch.testing.assert_close(dict(run.network.state_dict()), before, rtol=0, atol=0)
    assert run.evaluator.evaluate(run.part).loss == score


def test_swa_is_the_mean_over_ends_of_epochs_with_statistics_of_its_own() -> None:
    run = Run(weight_averaging="swa", swa_start_epoch=2)
    steps = run.epochs(1, 2, 3)
    moving = [tensor.clone() for tensor in run.statistics.statistics]
    run.evaluator.evaluate(run.part)
    ends = (steps[5], steps[8])
    state = run.model.state()
    torch.testing.assert_close(weights_in(run, state), [(a + b) / 2 for a, b in zip(*ends, strict=True)])
    torch.testing.assert_close(run.statistics.statistics, moving, rtol=0, atol=0)
    entering = nn.functional.linear(run.part.inputs[0], state["0.weight"], state["0.bias"])
    torch.testing.assert_close(state["1.running_mean"], entering.mean(0))
    torch.testing.assert_close(state["1.running_var"], entering.var(0, correction=0))


def test_before_its_first_epoch_swa_changes_nothing() -> None:
    run = Run(weight_averaging="swa", swa_start_epoch=2)
    *_, last = run.epochs(1)
    torch.testing.assert_close(weights_in(run, run.model.state()), last, rtol=0, atol=0)


def test_a_run_that_goes_on_has_the_average_it_would_have_had() -> None:
    swa = {"weight_averaging": "swa", "swa_start_epoch": 1}
    for given in ({"weight_averaging": "ema"}, swa, {"weight_averaging": "lookahead", "lookahead_power": 1.0}):
        whole, first, second = Run(**given), Run(**given), Run(**given)
        for run in (whole, first):
            torch.manual_seed(1)
            run.epochs(1, 2)
            run.evaluator.evaluate(run.part)
        state = torch.get_rng_state()
        second.model.load_state_dict(first.model.state_dict())
        for run in (whole, second):
            torch.set_rng_state(state)
            run.epochs(3)
            run.model.finalize()
        torch.testing.assert_close(second.model.state(), whole.model.state(), rtol=0, atol=0)


def test_population_statistics_leave_frozen_layers_and_come_without_dropout() -> None:
    run = Run(1, batch_normalization_statistics="population")
    frozen = run.model.state()["1.running_mean"]
    run.epochs(1)
    assert run.model.finalize()
    first = run.model.state()
    run.model.finalize()
    torch.testing.assert_close(run.model.state(), first, rtol=0, atol=0)  # no mask was drawn
    torch.testing.assert_close(first["1.running_mean"], frozen, rtol=0, atol=0)
    run.network.eval()
    with torch.no_grad():
        entering = run.network[:4](run.part.inputs[0])
    torch.testing.assert_close(first["4.running_mean"], entering.mean(0))
    torch.testing.assert_close(first["4.running_var"], entering.var(0, correction=0))


def test_a_network_without_batch_normalisation_has_no_statistics_to_make() -> None:
    bare = nn.Linear(2, 1)
    measured = BatchStatistics(bare, Share(), Precision("fp32", torch.device("cpu"), SingleProcess()), lambda: iter(()))
    assert not measured.measure()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"solver": "lbfgs", "weight_averaging": "ema"}, "lbfgs looks for the lowest loss by itself"),
        ({"schedule": "plateau", "weight_averaging": "swa"}, "swa has a separate learn rate"),
        ({"weight_averaging": "swa", "swa_start_epoch": 9, "max_epochs": 4}, "nothing would be averaged"),
    ],
)
def test_averages_that_make_no_sense_are_refused(given: dict[str, Any], words: str) -> None:
    assert any(words in str(error) for error in TrainingOptions(**given).problems())
