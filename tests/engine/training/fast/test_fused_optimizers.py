"""The kernels called directly give what the public optimizers give, and are not trusted blindly."""

import copy
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.fast import fused_optimizers
from netwright.engine.training.solvers import Solver, public_optimizer

CASES: list[dict[str, Any]] = [
    {"solver": "adam"},
    {"solver": "adamw", "epsilon": 1e-4, "gradient_decay_factor": 0.8},
    {"solver": "sgdm"},
    {"solver": "sgdm", "nesterov": True},
    {"solver": "sgdm", "momentum": 0.0},
]


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    fused_optimizers.refusal.cache_clear()
    yield
    fused_optimizers.refusal.cache_clear()


def network() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(2, 2))


def groups(model: nn.Module) -> list[dict[str, Any]]:
    weights = [p for p in model.parameters() if p.dim() > 1]
    biases = [p for p in model.parameters() if p.dim() == 1]
    rate = {"learn_rate_factor": 1.0}
    return [
        {"params": weights, "lr": 0.01, "weight_decay": 0.1, **rate},
        {"params": biases, "lr": 0.02, "weight_decay": 0.0, **rate},
    ]


def move(model: nn.Module, optimizer: Any, steps: range) -> list[float]:
    """Some steps; at every third one the last layer has no gradient."""
    for step in steps:
        for number, parameter in enumerate(model.parameters()):
            torch.manual_seed(100 * step + number)
            parameter.grad = torch.randn_like(parameter) if step % 3 or number < 4 else None
        optimizer.step()
    return nn.utils.parameters_to_vector(model.parameters()).tolist()


def both(options: TrainingOptions, model: nn.Module) -> tuple[Any, Any, nn.Module]:
    """The direct one on the model, and the public one on its copy."""
    other = copy.deepcopy(model)
    direct = Solver(options, model)._optimizer
    assert isinstance(direct, fused_optimizers.FusedAdam | fused_optimizers.FusedSgd)
    return type(direct)(groups(model), **_settings(options)), public_optimizer(options, groups(other)), other


def _settings(options: TrainingOptions) -> dict[str, Any]:
    if options.solver == "sgdm":
        return {"momentum": options.momentum, "nesterov": options.nesterov}
    betas = (options.gradient_decay_factor, options.squared_gradient_decay_factor)
    return {"betas": betas, "eps": options.epsilon, "decoupled": options.solver == "adamw"}


@pytest.mark.parametrize("given", CASES, ids=lambda case: "-".join(map(str, case.values())))
def test_the_weights_are_those_of_the_public_optimizer(given: dict[str, Any]) -> None:
    model = network()
    direct, public, other = both(TrainingOptions(**given), model)
    assert move(model, direct, range(1, 8)) == move(other, public, range(1, 8))


@pytest.mark.parametrize("given", CASES, ids=lambda case: "-".join(map(str, case.values())))
def test_each_goes_on_from_the_others_state(given: dict[str, Any]) -> None:
    options, model = TrainingOptions(**given), network()
    direct, public, other = both(options, model)
    move(model, direct, range(1, 5))
    move(other, public, range(1, 5))
    again, and_again, copied = both(options, model)
    again.load_state_dict(copy.deepcopy(public.state_dict()))
    and_again.load_state_dict(copy.deepcopy(direct.state_dict()))
    assert move(model, again, range(5, 9)) == move(other, public, range(5, 9))
    assert move(copied, and_again, range(5, 9)) == move(model, again, range(0))


def test_a_saved_state_shares_no_memory() -> None:
    model = network()
    solver = Solver(TrainingOptions(solver="adam"), model)._optimizer
    state = solver.state_dict()["state"]
    places = [tensor.data_ptr() for kept in state.values() for tensor in kept.values()]
    assert len(set(places)) == len(places) == 3 * 6


def test_the_state_of_another_network_is_refused() -> None:
    solver = Solver(TrainingOptions(solver="adam"), network())._optimizer
    with pytest.raises(ValueError, match="other parameters"):
        solver.load_state_dict(Solver(TrainingOptions(solver="adam"), nn.Linear(2, 2))._optimizer.state_dict() | {
            "param_groups": [{"params": [0]}]
        })  # fmt: skip


def test_a_kernel_that_does_something_else_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "_fused_adam_", lambda *args, **kwargs: None)
    assert isinstance(Solver(TrainingOptions(solver="adam"), network())._optimizer, torch.optim.Adam)


@pytest.mark.parametrize("name", ["_fused_adam_", "_fused_sgd_"])
def test_a_torch_without_the_kernels_will_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch, name)
    assert isinstance(Solver(TrainingOptions(), network())._optimizer, torch.optim.SGD)


def test_parameters_of_several_types_take_the_public_one() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).double())
    assert isinstance(Solver(TrainingOptions(), model)._optimizer, torch.optim.SGD)


def test_the_compiler_is_not_imported_for_them_nor_by_workers() -> None:
    code = """
import sys, torch
import netwright.engine.launch.worker
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.solvers import Solver
Solver(TrainingOptions(solver="adam"), torch.nn.Linear(2, 2)).step(0.1)
print("torch._dynamo" in sys.modules)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"
