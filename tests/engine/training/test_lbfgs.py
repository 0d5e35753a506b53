"""L-BFGS against torch's own, and the other searches against the book's rules written out."""

import math
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import nn

from netwright.engine.layers.weighted import ParameterOptions
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.lbfgs import Tolerance
from netwright.engine.training.solvers import Solver
from tests.engine.training.lm_by_hand import BookLbfgs

INPUTS = torch.randn(40, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
TARGETS = (INPUTS[:, :2].sin() + 0.1 * INPUTS[:, 1:] ** 2).detach()


def network() -> nn.Sequential:
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)).double()


def run(
    steps: int, said: dict[str, ParameterOptions] | None = None, rate: float = 1.0, **options: Any
) -> tuple[list[float], nn.Sequential]:
    """The loss before each step, and the network."""
    trained = network()
    solver = Solver(TrainingOptions(solver="lbfgs", initial_learn_rate=rate, **options), trained, said)
    losses: list[float] = []

    def look() -> float:
        trained.zero_grad()
        loss = (trained(INPUTS) - TARGETS).square().mean()
        torch.autograd.backward(loss)
        return float(loss.detach())

    for _ in range(steps):
        losses.append(look())
        solver.step(rate, look)
    return losses, trained


@pytest.mark.parametrize("l2", [0.0, 0.01])
def test_strong_wolfe_is_torchs(l2: float) -> None:
    """L2 on weights alone is half their square in the loss."""
    losses, trained = run(
        25, line_search_method="strong-wolfe", l2_regularization=l2, history_size=4, max_line_search_iterations=9
    )
    plain = network()
    optimizer = torch.optim.LBFGS(
        plain.parameters(), max_iter=1, max_eval=10, history_size=4, line_search_fn="strong_wolfe"
    )
    expected: list[float] = []

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (plain(INPUTS) - TARGETS).square().mean()
        whole = loss + 0.5 * l2 * sum(p.square().sum() for n, p in plain.named_parameters() if "weight" in n)
        torch.autograd.backward(whole)
        seen.append(float(loss.detach()))
        return whole

    for _ in range(25):
        seen: list[float] = []
        optimizer.step(closure)
        expected.append(seen[0])
    assert losses == pytest.approx(expected, rel=1e-8)
    assert losses[-1] < 0.1 * losses[0]
    for name, parameter in plain.named_parameters():
        torch.testing.assert_close(trained.get_parameter(name), parameter, rtol=1e-6, atol=1e-8)


def by_the_book(steps: int, history: int, rate: float, method: str, factor: float = 1.0) -> list[float]:
    plain = network()
    optimizer = BookLbfgs(plain.parameters(), history, rate, method, factor)
    losses: list[float] = []

    def closure() -> torch.Tensor:
        plain.zero_grad()
        loss = (plain(INPUTS) - TARGETS).square().mean()
        torch.autograd.backward(loss)
        return loss

    for _ in range(steps):
        losses.append(float(optimizer.step(closure)))
    return losses


@pytest.mark.parametrize("method", ["weak-wolfe", "backtracking"])
@pytest.mark.parametrize("rate", [1.0, 40.0, 1e-3], ids=["rarely halved", "halved often", "too short"])
def test_the_search_is_the_books(rate: float, method: str) -> None:
    losses, _ = run(12, rate=rate, l2_regularization=0.0, line_search_method=method, history_size=3)
    assert losses == pytest.approx(by_the_book(12, 3, rate, method), rel=1e-6)
    assert all(after < before for before, after in pairwise(losses))


@pytest.mark.parametrize("method", ["weak-wolfe", "backtracking"])
@pytest.mark.parametrize("factor", [0.02, 30.0])
def test_the_inverse_hessian_begins_as_a_multiple_of_one(factor: float, method: str) -> None:
    """MATLAB's InitialInverseHessianFactor: the first direction is so many times the gradient."""
    options: dict[str, Any] = {"l2_regularization": 0.0, "history_size": 3, "line_search_method": method}
    losses, _ = run(8, initial_inverse_hessian_factor=factor, **options)
    assert losses == pytest.approx(by_the_book(8, 3, 1.0, method, factor), rel=1e-6)
    assert losses[1] != pytest.approx(run(2, **options)[0][1], rel=1e-3)
    assert run(3, initial_inverse_hessian_factor=factor, **{**options, "line_search_method": "strong-wolfe"})[0]


def test_without_a_history_the_factor_stays() -> None:
    """A line has no curvature: every step is the factor times the gradient."""
    weight = nn.Linear(1, 1, bias=False).double()
    options: dict[str, Any] = {"l2_regularization": 0.0, "line_search_method": "backtracking", "step_tolerance": 0.0}
    solver = Solver(TrainingOptions(solver="lbfgs", initial_inverse_hessian_factor=0.25, **options), weight)

    def look() -> float:
        weight.weight.grad = torch.full_like(weight.weight, -0.5)
        return -0.5 * weight.weight.item()

    places = []
    for _ in range(4):
        places.append(weight.weight.item())
        solver.step(1.0, look)
    assert [b - a for a, b in pairwise(places)] == pytest.approx([0.125] * 3)


def test_weak_wolfe_doubles_what_is_too_short_where_backtracking_creeps() -> None:
    assert run(6, rate=1e-3)[0][-1] < 0.5 * run(6, rate=1e-3, line_search_method="backtracking")[0][-1]


def ended(rate: float = 1.0, most: int = 400, **options: Any) -> tuple[str, nn.Sequential, float]:
    """Why it ended, the network there, and the largest gradient of the whole loss at the start."""
    trained, start = network(), network()
    solver = Solver(TrainingOptions(solver="lbfgs", l2_regularization=0.0, **options), trained)
    for _ in range(most):
        if solver.finished:
            break
        solver.step(rate, lambda: look(trained))
    look(start)
    return solver.finished, trained, largest(start)


def look(model: nn.Sequential) -> float:
    model.zero_grad()
    loss = (model(INPUTS) - TARGETS).square().mean()
    torch.autograd.backward(loss)
    return float(loss.detach())


def largest(model: nn.Sequential) -> float:
    return max(float(p.grad.abs().max()) for p in model.parameters() if p.grad is not None)


def test_it_ends_where_the_gradient_is_below_its_tolerance() -> None:
    """MATLAB's relative gradient: max |g| <= tolerance · max(1, min(loss, max |g0|)); both are below 1 here."""
    why, trained, first = ended(gradient_tolerance=1e-3, step_tolerance=0.0)
    assert first < 1.0
    loss = look(trained)
    assert why == f"the gradient ({largest(trained):.2g}) is below its tolerance"
    assert largest(trained) <= 1e-3 * max(1.0, min(loss, first))


def test_the_gradient_is_relative_where_loss_and_first_gradient_are_large() -> None:
    tolerance = Tolerance(TrainingOptions(solver="lbfgs", gradient_tolerance=0.1))
    assert not tolerance.of_gradient(50.0, 1000.0)
    assert not tolerance.of_gradient(5.1, 400.0)  # 0.1 · min(400, 50) = 5
    assert tolerance.of_gradient(4.9, 400.0)
    assert not tolerance.of_gradient(4.9, 40.0)  # 0.1 · min(40, 50) = 4
    assert not tolerance.of_gradient(0.11, 0.5)
    assert tolerance.of_gradient(0.1, 0.5)


def test_it_ends_after_a_step_no_longer_than_the_tolerance() -> None:
    why, _, _ = ended(gradient_tolerance=0.0, step_tolerance=0.05)
    assert why.startswith("the step (0.0")


def test_it_ends_where_the_search_finds_nothing() -> None:
    why, trained, _ = ended(rate=1000.0, line_search_method="backtracking", max_line_search_iterations=1)
    assert why == "the line search found no lower loss"
    for name, parameter in network().named_parameters():
        torch.testing.assert_close(trained.get_parameter(name), parameter)


@pytest.mark.parametrize("search", ["weak-wolfe", "strong-wolfe", "backtracking"])
def test_a_learn_rate_factor_scales_its_axis(search: str) -> None:
    """The first step goes along the gradient: twice the factor is twice as far; a factor of 0 is frozen for good."""
    chosen: dict[str, Any] = {"line_search_method": search, "l2_regularization": 0.0}
    start = network()
    usual = run(1, rate=1e-3, **chosen)[1]
    said = {"0.weight": ParameterOptions("", 2.0, 1.0), "2.bias": ParameterOptions("", 0.0, 1.0)}
    scaled = run(1, said, rate=1e-3, **chosen)[1]
    moved = {n: (scaled.get_parameter(n) - p, usual.get_parameter(n) - p) for n, p in start.named_parameters()}
    ratio = moved["2.weight"][0].norm() / moved["2.weight"][1].norm()  # the whole step has another length
    torch.testing.assert_close(moved["0.weight"][0], 2 * ratio * moved["0.weight"][1], rtol=0.2, atol=1e-9)
    assert moved["2.bias"][0].abs().sum() == 0
    assert moved["2.bias"][1].abs().sum() > 0
    later = run(10, said, **chosen)[1]
    assert torch.equal(later.get_parameter("2.bias"), start.get_parameter("2.bias"))


@pytest.mark.parametrize("search", ["weak-wolfe", "strong-wolfe", "backtracking"])
def test_where_the_gradient_is_flat_nothing_moves(search: str) -> None:
    layer = nn.Linear(2, 1)
    before = [p.detach().clone() for p in layer.parameters()]
    solver = Solver(TrainingOptions(solver="lbfgs", line_search_method=search, l2_regularization=0.0), layer)

    def look() -> float:
        for p in layer.parameters():
            p.grad = torch.zeros_like(p)
        return 1.0

    for _ in range(3):
        solver.step(1.0, look)
    assert all(torch.equal(p, q) for p, q in zip(layer.parameters(), before, strict=True))


def test_a_loss_that_is_no_number_makes_the_step_shorter() -> None:
    weight = nn.Linear(1, 1, bias=False).double()
    weight.weight.data.fill_(1.0)
    options = TrainingOptions(
        solver="lbfgs", line_search_method="backtracking", initial_learn_rate=8.0, l2_regularization=0.0
    )
    solver = Solver(options, weight)

    def look() -> float:
        w = weight.weight
        w.grad = w.detach().clone()
        value = float(w.detach())
        return 0.5 * value**2 if abs(value) < 2 else math.nan

    solver.step(8.0, look)
    assert abs(float(weight.weight.detach())) < 1.0
