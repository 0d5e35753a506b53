"""What is sent of a gradient, and what is left for the next one; workers and restarts are test_alike's."""

import pytest
import torch
from torch import nn

from engine.parallel.process_group import SingleProcess
from engine.parallel.strategies.power_sgd import PowerSgd


class Holder(nn.Linear):
    """Stands for DDP: has parameters, and takes the hook."""

    def register_comm_hook(self, state: object, hook: object) -> None:
        self.hook = hook


@pytest.fixture
def power_sgd(monkeypatch: pytest.MonkeyPatch) -> PowerSgd:
    """Of one worker, whose mean is its own."""
    monkeypatch.setattr(PowerSgd, "_sum", lambda self, tensors: None)
    return PowerSgd(Holder(8, 6), SingleProcess())  # type: ignore[arg-type]


def test_what_is_of_rank_one_arrives_whole(power_sgd: PowerSgd) -> None:
    torch.manual_seed(0)
    gradient = torch.outer(torch.randn(6), torch.randn(8))
    sent = gradient.clone()
    power_sgd._approximate({0: sent})
    torch.testing.assert_close(sent, gradient)
    assert power_sgd._left_out[0].abs().max() < 1e-5


def test_nothing_is_lost_and_the_largest_part_goes_first(power_sgd: PowerSgd) -> None:
    """The same gradient again and again: what was sent adds up to all of it."""
    torch.manual_seed(0)
    gradient, arrived = torch.randn(6, 8), torch.zeros(6, 8)
    for step in range(1, 41):
        sent = gradient.clone()
        power_sgd._approximate({0: sent})
        assert torch.linalg.matrix_rank(sent, rtol=1e-4) == 1
        arrived += sent
        torch.testing.assert_close(arrived + power_sgd._left_out[0], step * gradient, rtol=1e-4, atol=1e-4)
    assert (arrived / 40 - gradient).norm() < 0.2 * gradient.norm()


def test_a_gradient_of_no_size_stays_one(power_sgd: PowerSgd) -> None:
    sent = torch.zeros(6, 8)
    power_sgd._approximate({0: sent})
    assert torch.equal(sent, torch.zeros(6, 8))
