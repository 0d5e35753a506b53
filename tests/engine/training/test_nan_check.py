"""Steps whose loss is no number change nothing, and the first layer that is to blame is named."""

import math
from typing import Any

import pytest
import torch
from torch import fx, nn

from engine.data.batches import Batch
from engine.parallel.process_group import SingleProcess
from engine.parallel.strategies.single import Single
from engine.parallel.sync_batch_norm import Share
from engine.project.training import TrainingOptions
from engine.training.losses import SingleOutputLoss, half_mse
from engine.training.metrics import Rmse
from engine.training.nan_check import first_bad, nan_check_for, recording
from engine.training.solvers import Solver
from engine.training.step import Fittings, Unit


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


def unit(module: nn.Module, **options: Any) -> Unit:
    chosen, group = TrainingOptions(**options), SingleProcess()
    return Unit(
        module,
        Single(module),
        Solver(chosen, module),
        SingleOutputLoss(half_mse),
        [Rmse()],
        group,
        share=Share(),
        rate=lambda step: 0.01,
        fittings=Fittings(guard=nan_check_for(chosen, module, group)),
    )


def test_a_bad_step_changes_nothing_and_a_good_one_goes_on() -> None:
    module = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    one = unit(module, non_finite_loss="skip")
    before = {key: value.clone() for key, value in module.state_dict().items()}
    assert math.isnan(float(one.train(batch(math.nan), 0).loss))
    assert one.skips
    assert one.left_out == 1
    assert all(torch.equal(before[key], value) for key, value in module.state_dict().items())
    one.train(batch(), 1)
    assert one.left_out == 0
    assert not torch.equal(before["0.weight"], module.state_dict()["0.weight"])


@pytest.mark.parametrize("policy", ["stop", "go-back"])
def test_other_policies_leave_no_step_out(policy: str) -> None:
    assert not unit(network(), non_finite_loss=policy).skips


def test_the_first_layer_that_goes_wrong_is_named() -> None:
    """Normalisation with another mean gives numbers below zero, which have no root."""
    module = network()
    module.get_submodule("fc_1").load_state_dict({"weight": torch.zeros(3, 2), "bias": torch.ones(3)})
    assert first_bad(module, batch()) == ""
    module.get_submodule("norm").load_state_dict({"running_mean": torch.full((3,), 50.0)}, strict=False)
    assert first_bad(module, batch()) == "The first layer whose output is no number is sqrt."
    assert "the data itself" in first_bad(module, batch(math.inf))
    for parameter in module.parameters():
        parameter.data.fill_(math.nan)
    assert first_bad(module, batch()) == "", "when all weights have gone no layer is to blame"


def test_a_record_of_what_is_computed_together_names_the_same_layer_and_goes_on() -> None:
    module = network()
    module.get_submodule("fc_1").load_state_dict({"weight": torch.zeros(3, 2), "bias": torch.ones(3)})
    with recording(module) as record:
        plain = module(*batch().inputs)
    assert record.first_bad() == (0, "")
    assert torch.equal(module(*batch().inputs), plain)
    module.eval()
    module.get_submodule("norm").load_state_dict({"running_mean": torch.full((3,), 50.0)}, strict=False)
    with recording(module) as record:
        whole = module(*batch().inputs)
        module(*batch().inputs)  # another piece of the same batch
    assert whole.isnan().any(), "it went through all of it"
    number, words = record.first_bad()
    assert number > 0
    assert words == "The first layer whose output is no number is sqrt."
    assert "forward" not in vars(module), "nobody records it any more"
