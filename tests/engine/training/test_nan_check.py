"""Steps with a non-finite loss change nothing, and the first layer that is to blame is named."""

import math
from typing import Any

import pytest
import torch
from torch import fx, nn

from netwright.engine.data.loading.batches import Batch
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.strategies.single import Single
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.losses import SingleOutputLoss, half_mse
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.nan_check import nan_check_for
from netwright.engine.training.nan_diagnosis import first_non_finite, recording
from netwright.engine.training.precision import Precision
from netwright.engine.training.solvers import Solver
from netwright.engine.training.step import StepOptions, TrainStep


class Root(nn.Module):
    """The square root, whose slope at zero is infinite."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sqrt()


def network() -> nn.Module:
    torch.manual_seed(0)
    layers = nn.Sequential()
    layers.add_module("fc_1", nn.Linear(2, 3))
    layers.add_module("norm", nn.BatchNorm1d(3))
    layers.add_module("root", Root())
    layers.add_module("fc_2", nn.Linear(3, 1))
    return fx.symbolic_trace(layers)


def batch(value: float = 1.0) -> Batch:
    inputs = torch.arange(8.0).reshape(4, 2) * value
    return Batch((inputs,), (torch.ones(4, 1),), 4, 4)


def train_step(module: nn.Module, **options: Any) -> TrainStep:
    chosen, group = TrainingOptions(**options), SingleProcess()
    precision = Precision(chosen.fitting_precision, torch.device("cpu"), group)
    model = TrainedModel(module, Single(module), Solver(chosen, module), group, precision)
    step_options = StepOptions(nan_check=nan_check_for(chosen, module, group))
    return TrainStep(model, SingleOutputLoss(half_mse), lambda step: 0.01, options=step_options)


def test_a_bad_step_changes_nothing_and_a_good_one_goes_on() -> None:
    module = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    step = train_step(module, non_finite_loss="skip")
    before = {key: value.clone() for key, value in module.state_dict().items()}
    assert math.isnan(float(step(batch(math.nan), 0).loss))
    assert step.skips
    assert step.num_skipped == 1
    assert all(torch.equal(before[key], value) for key, value in module.state_dict().items())
    step(batch(), 1)
    assert step.num_skipped == 0
    assert not torch.equal(before["0.weight"], module.state_dict()["0.weight"])


def test_skipped_steps_of_fp16_leave_the_scale_as_it_is() -> None:
    """Two in a row, and good ones after them: a loss that is not finite is not the fault of its scale."""
    module = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    step = train_step(module, non_finite_loss="skip", precision="fp16")
    scale = step.model.precision.scale
    assert scale is not None
    step(batch(), 0)
    start = scale.get_scale()
    before = {key: value.clone() for key, value in module.state_dict().items()}
    for number in (1, 2):
        step(batch(math.nan), number)
        assert step.num_skipped == number
    assert all(torch.equal(before[key], value) for key, value in module.state_dict().items())
    step(batch(), 3)
    assert step.num_skipped == 0
    assert not torch.equal(before["0.weight"], module.state_dict()["0.weight"])
    assert scale.get_scale() == start


@pytest.mark.parametrize("policy", ["stop", "go-back"])
def test_other_policies_leave_no_step_out(policy: str) -> None:
    assert not train_step(network(), non_finite_loss=policy).skips


def test_the_first_layer_that_goes_wrong_is_named() -> None:
    """Normalisation with another mean gives numbers below zero, which have no root."""
    module = network()
    module.get_submodule("fc_1").load_state_dict({"weight": torch.zeros(3, 2), "bias": torch.ones(3)})
    assert first_non_finite(module, batch()) == ""
    module.get_submodule("norm").load_state_dict({"running_mean": torch.full((3,), 50.0)}, strict=False)
    assert first_non_finite(module, batch()) == "The first layer with a non-finite output is sqrt."
    assert "the data itself" in first_non_finite(module, batch(math.inf))
    for parameter in module.parameters():
        parameter.data.fill_(math.nan)
    assert first_non_finite(module, batch()) == "", "when all weights have gone no layer is to blame"


def test_a_record_of_what_is_computed_together_names_the_same_layer_and_goes_on() -> None:
    module = network()
    module.get_submodule("fc_1").load_state_dict({"weight": torch.zeros(3, 2), "bias": torch.ones(3)})
    with recording(module) as record:
        plain = module(*batch().inputs)
    assert record.first_non_finite() == (0, "")
    assert torch.equal(module(*batch().inputs), plain)
    module.eval()
    module.get_submodule("norm").load_state_dict({"running_mean": torch.full((3,), 50.0)}, strict=False)
    with recording(module) as record:
        whole = module(*batch().inputs)
        module(*batch().inputs)  # another piece of the same batch
    assert whole.isnan().any(), "it went through all of it"
    number, words = record.first_non_finite()
    assert number > 0
    assert words == "The first layer with a non-finite output is sqrt."
    assert "forward" not in vars(module), "nobody records it any more"
