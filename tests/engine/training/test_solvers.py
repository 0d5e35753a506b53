"""Each solver against its update written out by hand, over several steps, with L2 on weights alone."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from netwright.engine.layers.weighted import ParameterOptions
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.solvers import Solver

Update = Callable[[torch.Tensor, torch.Tensor, int, dict], torch.Tensor]
RATE, L2, EPSILON = 0.1, 0.05, 1e-6


def sgdm(weight, gradient, step, memory):
    memory["v"] = 0.8 * memory.get("v", 0) + gradient + memory["l2"] * weight
    return weight - RATE * memory["v"]


def nesterov(weight, gradient, step, memory):
    """torch's form: the gradient plus what the momentum will add."""
    gradient = gradient + memory["l2"] * weight
    memory["v"] = 0.8 * memory.get("v", 0) + gradient
    return weight - RATE * (gradient + 0.8 * memory["v"])


def nadam(weight, gradient, step, memory):
    """Dozat's Nadam as torch has it, with a momentum that grows: mu_t = beta1 (1 - 0.96^(t psi) / 2)."""
    gradient = gradient + memory["l2"] * weight
    now, after = (0.7 * (1 - 0.5 * 0.96 ** (t * 0.02)) for t in (step, step + 1))
    memory["product"] = memory.get("product", 1.0) * now
    memory["m"] = 0.7 * memory.get("m", 0) + 0.3 * gradient
    memory["s"] = 0.95 * memory.get("s", 0) + 0.05 * gradient**2
    mean = after * memory["m"] / (1 - memory["product"] * after) + (1 - now) * gradient / (1 - memory["product"])
    return weight - RATE * mean / ((memory["s"] / (1 - 0.95**step)).sqrt() + EPSILON)


def _adam(weight: torch.Tensor, gradient: torch.Tensor, step: int, memory: dict) -> torch.Tensor:
    memory["m"] = 0.7 * memory.get("m", 0) + 0.3 * gradient
    memory["s"] = 0.95 * memory.get("s", 0) + 0.05 * gradient**2
    mean, square = memory["m"] / (1 - 0.7**step), memory["s"] / (1 - 0.95**step)
    moved: torch.Tensor = weight - RATE * mean / (square.sqrt() + EPSILON)
    return moved


def adam(weight, gradient, step, memory):
    return _adam(weight, gradient + memory["l2"] * weight, step, memory)


def adamw(weight, gradient, step, memory):
    return _adam(weight, gradient, step, memory) - RATE * memory["l2"] * weight


def rmsprop(weight, gradient, step, memory):
    gradient = gradient + memory["l2"] * weight
    memory["s"] = 0.95 * memory.get("s", 0) + 0.05 * gradient**2
    return weight - RATE * gradient / (memory["s"].sqrt() + EPSILON)


@pytest.mark.parametrize("update", [sgdm, nesterov, adam, adamw, nadam, rmsprop])
def test_a_solver_follows_its_formula(update: Update) -> None:
    torch.manual_seed(1)
    options = TrainingOptions(
        solver="sgdm" if update is nesterov else update.__name__,
        nesterov=update is nesterov,
        momentum_decay=0.02,
        initial_learn_rate=RATE,
        momentum=0.8,
        gradient_decay_factor=0.7,
        squared_gradient_decay_factor=0.95,
        epsilon=EPSILON,
        l2_regularization=L2,
    )
    layer = nn.Linear(3, 2)
    solver = Solver(options, layer)
    expected = {name: p.detach().clone() for name, p in layer.named_parameters()}
    memories: dict[str, dict] = {"weight": {"l2": L2}, "bias": {"l2": 0.0}}
    for step in range(1, 5):
        for name, parameter in layer.named_parameters():
            parameter.grad = torch.randn(parameter.shape)
            expected[name] = update(expected[name], parameter.grad, step, memories[name])
        solver.step(RATE)
    for name, parameter in layer.named_parameters():
        torch.testing.assert_close(parameter.detach(), expected[name], rtol=1e-5, atol=1e-6)


def test_the_rate_of_the_step_is_used() -> None:
    layer = nn.Linear(1, 1, bias=False)
    solver = Solver(TrainingOptions(momentum=0.0, l2_regularization=0.0, initial_learn_rate=0.5), layer)
    for rate in (0.5, 0.25, 0.125):
        before = float(layer.weight.detach())
        layer.weight.grad = torch.ones(1, 1)
        solver.step(rate)
        assert before - float(layer.weight.detach()) == pytest.approx(rate, rel=1e-5)


@pytest.mark.parametrize(
    ("module", "regularised"),
    [
        (nn.Conv2d(2, 3, 3), {"weight"}),
        (nn.BatchNorm2d(3), set()),
        (nn.LayerNorm([3, 4]), set()),
        (nn.LSTM(3, 4), {"weight_ih_l0", "weight_hh_l0"}),
        (nn.Embedding(5, 2), {"weight"}),
        (nn.MultiheadAttention(4, 2), {"in_proj_weight", "out_proj.weight"}),
    ],
)
def test_weights_are_regularised_and_nothing_else(module: nn.Module, regularised: set[str]) -> None:
    network = nn.Sequential(module)
    before = {name: p.detach().clone() for name, p in network.named_parameters()}
    for parameter in network.parameters():
        parameter.grad = torch.zeros_like(parameter)
        parameter.data.add_(1.0)
        before = {name: p.detach().clone() for name, p in network.named_parameters()}
    Solver(TrainingOptions(l2_regularization=0.5, initial_learn_rate=0.5), network).step(0.5)
    moved = {name[2:] for name, p in network.named_parameters() if not torch.equal(p.detach(), before[name])}
    assert moved == regularised


def one_step(options: TrainingOptions, said: dict[str, ParameterOptions], rate: float) -> dict[str, float]:
    """How far a step at this rate moves weight and bias, both one at first, both with a gradient of one."""
    layer = nn.Linear(1, 1)
    for parameter in layer.parameters():
        parameter.data.fill_(1.0)
        parameter.grad = torch.ones_like(parameter)
    Solver(options, layer, said).step(rate)
    return {name: 1.0 - float(p.detach()) for name, p in layer.named_parameters()}


@pytest.mark.parametrize("solver", ["sgdm", "adam", "adamw", "nadam", "rmsprop"])
@pytest.mark.parametrize("rate", [0.01, 0.003], ids=["initial", "later"])
def test_a_factor_multiplies_the_learn_rate_of_one_parameter(solver: str, rate: float) -> None:
    options = TrainingOptions(solver=solver, initial_learn_rate=0.01, l2_regularization=0.0)
    usual = one_step(options, {}, rate)
    assert usual["weight"] == pytest.approx(usual["bias"]) != 0
    for factor in (0.0, 2.0, 10.0):
        moved = one_step(options, {"weight": ParameterOptions("", factor, 1.0)}, rate)
        assert moved["weight"] == pytest.approx(factor * usual["weight"], rel=1e-4)
        assert moved["bias"] == pytest.approx(usual["bias"])


def test_a_factor_multiplies_the_regularisation_of_one_parameter() -> None:
    options = TrainingOptions(solver="sgdm", initial_learn_rate=0.1, l2_regularization=0.5)
    assert one_step(options, {}, 0.1) == {"weight": pytest.approx(0.15), "bias": pytest.approx(0.1)}
    for factor in (0.0, 1.0, 2.0, 10.0):
        both = dict.fromkeys(("weight", "bias"), ParameterOptions("", 1.0, factor))
        moved = one_step(options, both, 0.1)
        assert moved == dict.fromkeys(("weight", "bias"), pytest.approx(0.1 * (1 + 0.5 * factor)))


def test_a_frozen_layer_stays_and_takes_no_memory() -> None:
    frozen = nn.Linear(2, 2).requires_grad_(False)
    network = nn.Sequential(frozen, nn.Linear(2, 1))
    before = frozen.weight.clone()
    solver = Solver(TrainingOptions(solver="adam", l2_regularization=1.0), network)
    torch.autograd.backward(network(torch.ones(1, 2)).sum())
    solver.step(1.0)
    assert torch.equal(frozen.weight, before)
    assert frozen.weight.grad is None
    assert len(solver._optimizer.state_dict()["state"]) == 2
