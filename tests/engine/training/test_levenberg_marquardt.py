"""Levenberg-Marquardt: what the reference loop does not show, which compares every step with numpy."""

from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import nn

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.batches import Batch
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training import levenberg_marquardt
from netwright.engine.training.levenberg_marquardt import LevenbergMarquardt

INPUTS = torch.linspace(-1, 1, 40, dtype=torch.float64)[:, None]
TARGETS = torch.sin(3 * INPUTS)
BATCH = Batch((INPUTS,), (TARGETS,), len(INPUTS), len(INPUTS))


def network() -> nn.Sequential:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1)).double()


def train(
    model: nn.Module, most: int = 300, batch: Batch = BATCH, **options: Any
) -> tuple[list[float], LevenbergMarquardt]:
    """The loss before each step, until it ends."""
    given = {"l2_regularization": 0.0, **options}
    solver = LevenbergMarquardt(TrainingOptions(solver="lm", **given), model, {}, SingleProcess())
    losses: list[float] = []
    while not solver.finished and len(losses) < most:
        losses.append(float(solver.step(batch)[0]))
    return losses, solver


def weights(model: nn.Module) -> torch.Tensor:
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def test_it_fits_a_curve_far_better_than_a_first_order_solver_would() -> None:
    losses, solver = train(network(), gradient_tolerance=1e-3)
    assert losses[-1] < 1e-3 * losses[0]
    assert all(after < before for before, after in pairwise(losses))
    assert "below its tolerance" in solver.finished


def test_a_line_is_found_in_one_step_without_damping() -> None:
    """Gauss-Newton is exact where the network is linear."""
    line = nn.Linear(1, 1).double()
    batch = Batch((INPUTS,), (2 * INPUTS + 1,), 40, 40)
    losses, _ = train(line, 2, batch, initial_damping_factor=1e-14, gradient_tolerance=0.0, step_tolerance=0.0)
    assert losses[1] < 1e-20
    torch.testing.assert_close(weights(line), torch.tensor([2.0, 1.0], dtype=torch.float64))


def test_much_damping_is_a_short_step_along_the_gradient() -> None:
    model = network()
    before = weights(model)
    (0.5 * (model(INPUTS) - TARGETS).square().mean()).backward()
    slope = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
    train(model, 1, initial_damping_factor=1e7)
    torch.testing.assert_close(weights(model) - before, -slope / 1e7, rtol=1e-4, atol=1e-14)


def test_the_damping_has_its_factors() -> None:
    _, solver = train(network(), 1, initial_damping_factor=2.0, damping_decrease_factor=0.5)
    assert solver._damping == 1.0


def test_it_ends_where_no_damping_helps_and_leaves_the_weights() -> None:
    """A step that cannot help: the network's answer does not depend on its weights as its derivative says."""
    model = network()

    class Stubborn(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = model
            self.looks = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.looks += 1
            shift: torch.Tensor = self.inner(x) + (0.0 if self.looks == 1 else 5.0)
            return shift

    before = weights(model)
    _, solver = train(Stubborn(), 5, max_damping_factor=100.0)
    assert solver.finished == "no step lowers the loss, whatever the damping (up to 100)"
    assert torch.equal(weights(model), before)


def test_pieces_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = train(network(), 5)[0]
    monkeypatch.setattr(levenberg_marquardt, "_MAX_JACOBIAN", 3 * 19)
    assert train(network(), 5)[0] == pytest.approx(whole, rel=1e-9)


def test_a_convolution_and_a_recurrence_can_be_fitted() -> None:
    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm, self.last = nn.LSTM(2, 3, batch_first=True), nn.Linear(3, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self.last(self.lstm(x)[0][:, -1])
            return found

    torch.manual_seed(0)
    images = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Tanh(), nn.Flatten(), nn.Linear(8, 1))
    for model, x in ((images, torch.randn(12, 1, 4, 4)), (Recurrent(), torch.randn(12, 5, 2))):
        losses, _ = train(model, 6, Batch((x,), (x.flatten(1).mean(1, keepdim=True),), 12, 12))
        assert losses[-1] < 0.05 * losses[0]


def test_memory_that_runs_out_is_not_taken_for_a_layer_without_derivatives() -> None:
    class Greedy(nn.Linear):
        def forward(self, input: torch.Tensor) -> torch.Tensor:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    with pytest.raises(torch.OutOfMemoryError):
        train(Greedy(1, 1).double())


def test_a_layer_that_draws_is_refused_in_words() -> None:
    with pytest.raises(UserError, match="derivatives of each sample by itself"):
        train(nn.Sequential(nn.Linear(1, 1).double(), nn.Dropout()))
