"""Each option of training against a loop of plain torch: the loss of every step, and all weights at the end."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from netwright.engine.layers.weighted import ParameterOptions
from netwright.engine.parallel.process_group import SingleProcess
from tests.engine.training import matlab_by_hand as by_hand
from tests.engine.training.lm_by_hand import BookLbfgs, BookLm
from tests.engine.training.plain_torch import SAMPLES, STEPS, Case, by_engine, by_torch, data, weights_and_biases
from tests.engine.training.target_cases import ENDINGS

ROOT = Path(__file__).parents[3]
SGD = partial(torch.optim.SGD, lr=0.1, momentum=0.9)
PLAIN = {"initial_learn_rate": 0.1, "l2_regularization": 0.01}


def sgd(model: nn.Module) -> torch.optim.Optimizer:
    return SGD(weights_and_biases(model, 0.01))


class PlainLookahead(torch.optim.SGD):
    """Steps forward, and one back, as the paper has them: the decay of the slow weights grows with the cube."""

    def step(self, closure: Any = None) -> Any:
        weights = [p for group in self.param_groups for p in group["params"]]
        if not hasattr(self, "slow"):
            self.slow, self.steps = [p.detach().clone() for p in weights], 0
        loss = super().step(closure)
        self.steps += 1
        if self.steps % 3 == 0:
            decay = 0.8 * (self.steps / STEPS) ** 3
            for slow, p in zip(self.slow, weights, strict=True):
                slow.copy_(decay * slow + (1 - decay) * p.detach())
                p.data.copy_(slow)
        return loss


def lookahead(model: nn.Module) -> torch.optim.Optimizer:
    return PlainLookahead(weights_and_biases(model, 0.01), lr=0.1, momentum=0.9)


LOOKAHEAD = {**PLAIN, "weight_averaging": "lookahead", "lookahead_interval": 3, "lookahead_decay": 0.8}
LOOKAHEAD["lookahead_power"] = 3.0


def half_squares(model: nn.Sequential) -> torch.Tensor:
    """L2 as a part of the loss."""
    return torch.stack([0.005 * p.square().sum() for n, p in model.named_parameters() if "weight" in n]).sum()


def of(name: str, optimizer: type[torch.optim.Optimizer], rate: float, **options: Any) -> Case:
    """A solver with its own default rate, which the options do not give; what is given has torch's words."""
    given = dict(options)
    if "betas" in given:
        given["gradient_decay_factor"], given["squared_gradient_decay_factor"] = given.pop("betas")
    words = {"alpha": "squared_gradient_decay_factor", "eps": "epsilon"}
    return Case(
        {"solver": name, "l2_regularization": 0.01, **{words.get(word, word): value for word, value in given.items()}},
        lambda model: optimizer(weights_and_biases(model, 0.01), lr=rate, **options),  # type: ignore[call-arg]
    )


def with_factors(model: nn.Sequential) -> torch.optim.Optimizer:
    first, last = model[0], model[2]
    return torch.optim.Adam(
        [
            {"params": [first.weight], "lr": 0.02, "weight_decay": 0.03},
            {"params": [first.bias], "weight_decay": 0.0},
            {"params": [last.weight], "weight_decay": 0.01},
            {"params": [last.bias], "lr": 0.0, "weight_decay": 0.0},
        ],
        lr=0.01,
    )


def warm_cosine(optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.LRScheduler:
    torchs = torch.optim.lr_scheduler
    rise = torchs.LinearLR(optimizer, start_factor=0.25, total_iters=3)
    return torchs.SequentialLR(optimizer, [rise, torchs.CosineAnnealingLR(optimizer, STEPS - 4)], milestones=[4])


def warm_stairs(optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.LRScheduler:
    torchs = torch.optim.lr_scheduler
    rise = torchs.LinearLR(optimizer, start_factor=1 / 3, total_iters=2)
    return torchs.SequentialLR(optimizer, [rise, torchs.StepLR(optimizer, 3, gamma=0.1)], milestones=[3])


def by_schedule(name: str, kind: Any, torchs: dict[str, Any], **options: object) -> Case:
    """One schedule, and torch's of the same name with what it takes."""
    return Case({**PLAIN, "schedule": name, **options}, sgd, scheduler=lambda optimizer: kind(optimizer, **torchs))


def clip_each(limit: float, parameters: list[nn.Parameter]) -> None:
    """MATLAB's l2norm: each parameter's gradient by itself."""
    for parameter in parameters:
        nn.utils.clip_grad_norm_([parameter], limit)


def weighted(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """MATLAB's mean, over samples; torch's own would be divided by the sum of their weights."""
    weights = torch.tensor([1.0, 3.0, 0.5])
    return functional.cross_entropy(output, target, weights, reduction="none", label_smoothing=0.1).mean()


def balanced(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Each class of all training samples counts the same."""
    _, classes = data(Case({}, sgd))
    counts = torch.bincount(classes, minlength=3)
    return functional.cross_entropy(output, target, SAMPLES / (3 * counts), reduction="none").mean()


def focal(output: torch.Tensor, target: torch.Tensor, gamma: float = 2.0) -> torch.Tensor:
    p = torch.softmax(output, 1)[range(len(target)), target]
    return ((1 - p) ** gamma * -p.log()).mean()


def marquardt(
    l2: float, mean: bool, factors: tuple[float, ...], damping: tuple[float, ...], model: nn.Sequential
) -> BookLm:
    """The four parameters have a factor each; weights are regularised, with factors the first ones three times."""
    sizes = [p.numel() for p in model.parameters()]
    decay = [l2 * (3.0 if factors != (1, 1, 1, 1) else 1.0), 0.0, l2, 0.0]
    w = nn.utils.parameters_to_vector(model.parameters()).detach().numpy()
    return BookLm(w, np.repeat(decay, sizes), np.repeat(factors, sizes), (4, 6, 3), mean, *damping)


def squares(
    loss: str,
    factors: tuple[float, ...] = (1, 1, 1, 1),
    damping: tuple[float, float, float] = (0.001, 10.0, 0.1),
    **case: Any,
) -> Case:
    """Levenberg-Marquardt; it goes on however flat it gets. Of the damping the start, the increase, the decrease."""
    words = ("initial_damping_factor", "damping_increase_factor", "damping_decrease_factor")
    options = {
        **dict(zip(words, damping, strict=True)),
        "solver": "lm",
        "l2_regularization": 0.01,
        "loss": loss,
        "gradient_tolerance": 0,
        "step_tolerance": 0,
    }
    book = partial(marquardt, 0.01, loss == "mse", factors, damping)
    return Case(options, sgd, task="numbers", dtype=torch.float64, by_hand=book, **case)


def searched(method: str, factor: float = 1.0, pieces: int = 1) -> Case:
    """L-BFGS with one of the searches that torch does not have; it goes on however flat it gets."""
    return Case(
        {
            "solver": "lbfgs",
            "line_search_method": method,
            "initial_inverse_hessian_factor": factor,
            "l2_regularization": 0.01,
            "gradient_tolerance": 0,
            "step_tolerance": 0,
        },
        lambda model: BookLbfgs(model.parameters(), 10, 1.0, method, factor),
        objective=half_squares,
        dtype=torch.float64,
        pieces=pieces,
    )


def numbers(loss: str, plain: object, **options: object) -> Case:
    return Case({**PLAIN, "loss": loss, **options}, sgd, plain, task="numbers")  # type: ignore[arg-type]


def matlab(
    moved: Callable[..., torch.Tensor],
    method: str = "l2norm",
    l2: tuple[float, ...] = (0.3, 0.0, 0.3, 0.0),
    factors: tuple[float, ...] = (1, 1, 1, 1),
    **case: Any,
) -> Case:
    """A solver by MathWorks' formulas; of the four parameters the factors of L2 regularisation and of the rate."""
    own = case.pop("options")
    options = {"convention": "matlab", "initial_learn_rate": 0.1, "l2_regularization": 0.3, "gradient_threshold": 0.4}

    def solver(model: nn.Module) -> torch.optim.Optimizer:
        groups = [{"params": [p], "factor": factor} for p, factor in zip(model.parameters(), factors, strict=True)]
        return by_hand.BookSolver(groups, 0.1, moved)

    def clip(parameters: list[nn.Parameter]) -> None:
        by_hand.limited(parameters, list(l2), 0.4, method)

    given = {"dtype": torch.float64, "rounding": 1e-13, **case}
    return Case({**options, "gradient_threshold_method": method, **own}, solver, clip=clip, **given)


TORCHS = torch.optim.lr_scheduler
SHARDED = {"strategy": "fully-sharded"}
CASES = {
    "sgdm": of("sgdm", torch.optim.SGD, 0.01, momentum=0.9),
    "nesterov": Case({"nesterov": True, **PLAIN}, lambda model: SGD(weights_and_biases(model, 0.01), nesterov=True)),
    "adam": of("adam", torch.optim.Adam, 0.001),
    "sgdm without momentum": of("sgdm", torch.optim.SGD, 0.01, momentum=0.0),
    "adam, its own": of("adam", torch.optim.Adam, 0.001, betas=(0.7, 0.95), eps=1e-3),
    "rmsprop, its own": of("rmsprop", torch.optim.RMSprop, 0.001, alpha=0.7, eps=1e-3),
    "nadam, its own": of("nadam", torch.optim.NAdam, 0.002, momentum_decay=0.1),
    "adamw": of("adamw", torch.optim.AdamW, 0.001),
    "nadam": of("nadam", torch.optim.NAdam, 0.002),
    "rmsprop": of("rmsprop", torch.optim.RMSprop, 0.001, alpha=0.9),
    "lbfgs": Case(
        {"solver": "lbfgs", "line_search_method": "strong-wolfe", "l2_regularization": 0.01},
        lambda model: torch.optim.LBFGS(
            model.parameters(), max_iter=1, max_eval=21, history_size=10, line_search_fn="strong_wolfe"
        ),
        objective=half_squares,
        dtype=torch.float64,  # each search passes its rounding on to all that follow
    ),
    "lbfgs weak-wolfe": searched("weak-wolfe", pieces=2),
    "lbfgs backtracking": searched("backtracking", factor=0.3),
    "lm": squares("half-mse"),
    "lm mse": squares("mse"),
    "lm, its own damping": squares("half-mse", damping=(1e-6, 3.0, 0.4)),
    "lm factors": squares(
        "half-mse",
        (2, 1, 1, 0),
        said={"0.weight": ParameterOptions("", 2.0, 3.0), "2.bias": ParameterOptions("", 0.0, 0.0)},
    ),
    "factors": Case(
        {"solver": "adam", "initial_learn_rate": 0.01, "l2_regularization": 0.01},
        with_factors,
        said={"0.weight": ParameterOptions("", 2.0, 3.0), "2.bias": ParameterOptions("", 0.0, 0.0)},
    ),
    "warm cosine": Case({**PLAIN, "schedule": "cosine", "warmup_iterations": 4}, sgd, scheduler=warm_cosine),
    "one-cycle": Case(
        {**PLAIN, "schedule": "one-cycle"},
        sgd,
        scheduler=lambda optimizer: torch.optim.lr_scheduler.OneCycleLR(
            optimizer, 0.1, total_steps=STEPS, cycle_momentum=False
        ),
    ),
    "cyclical": Case(
        {**PLAIN, "schedule": "cyclical", "cycle_top_factor": 2.0, "cycle_rise": 1 / 3},
        sgd,
        scheduler=lambda optimizer: torch.optim.lr_scheduler.CyclicLR(
            optimizer, 0.1, 0.2, step_size_up=2, step_size_down=4, cycle_momentum=False
        ),
    ),
    "warmup": by_schedule("warmup", TORCHS.LinearLR, {"start_factor": 0.2, "total_iters": 4}, warmup_iterations=5),
    "piecewise": by_schedule(
        "piecewise",
        TORCHS.StepLR,
        {"step_size": 6, "gamma": 0.3},
        learn_rate_drop_period=2,
        learn_rate_drop_factor=0.3,
    ),
    "exponential": by_schedule("exponential", TORCHS.ExponentialLR, {"gamma": 0.8 ** (1 / 3)}, learn_rate_decay=0.8),
    "polynomial": by_schedule(
        "polynomial", TORCHS.PolynomialLR, {"total_iters": STEPS, "power": 2.0}, polynomial_power=2.0
    ),
    "restarts": by_schedule(
        "cosine",
        TORCHS.CosineAnnealingWarmRestarts,
        {"T_0": 3, "T_mult": 2, "eta_min": 0.01},
        restart_period=1,
        restart_period_factor=2,
        lowest_rate_factor=0.1,
    ),
    "plateau": by_schedule(
        "plateau",
        TORCHS.ReduceLROnPlateau,
        {"factor": 0.5, "patience": 0, "threshold": 0.3, "min_lr": 0.03},
        learn_rate_drop_factor=0.5,
        plateau_patience=0,
        plateau_threshold=0.3,
        lowest_rate_factor=0.3,
    ),
    "chain": Case(
        {**PLAIN, "schedule": "chain", "schedule_chain": "warmup 3 iterations, piecewise learn_rate_drop_period=1"},
        sgd,
        scheduler=warm_stairs,
    ),
    "l2norm": Case({**PLAIN, "gradient_threshold": 0.1}, sgd, clip=partial(clip_each, 0.1)),
    "global-l2norm": Case(
        {**PLAIN, "gradient_threshold": 0.2, "gradient_threshold_method": "global-l2norm"},
        sgd,
        clip=lambda parameters: nn.utils.clip_grad_norm_(parameters, 0.2),
    ),
    "absolute-value": Case(
        {**PLAIN, "gradient_threshold": 0.05, "gradient_threshold_method": "absolute-value"},
        sgd,
        clip=lambda parameters: nn.utils.clip_grad_value_(parameters, 0.05),
    ),
    # Of the last piece of five, the second worker has nothing.
    "in pieces": Case({**PLAIN, "gradient_threshold": 0.1}, sgd, clip=partial(clip_each, 0.1), pieces=5),
    "in pieces, normalised": Case(PLAIN, sgd, pieces=2, normalises=True),
    "in pieces, ddp": Case(PLAIN, sgd, pieces=3, strategy="ddp"),
    "bf16": Case(PLAIN, sgd, precision="bf16", normalises=True, rounding=2e-2),
    # The first scale is too large for these gradients: all workers leave the first step out.
    "fp16": Case(
        {**PLAIN, "loss": "mse", "gradient_threshold": 0.2, "gradient_threshold_method": "global-l2norm"},
        sgd,
        functional.mse_loss,
        clip=lambda parameters: nn.utils.clip_grad_norm_(parameters, 0.2),
        task="numbers",
        precision="fp16",
        rounding=1e-3,
    ),
    "fp64": Case(PLAIN, sgd, precision="fp64", dtype=torch.float64, rounding=1e-14),
    "ema": Case(
        {**PLAIN, "weight_averaging": "ema", "ema_decay": 0.8, "ema_warmup": False},
        sgd,
        average=lambda model: AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.8)),
        normalises=True,
    ),
    "ema, warming up": Case(
        {**PLAIN, "weight_averaging": "ema", "ema_decay": 0.5},
        sgd,
        average=lambda model: AveragedModel(
            model, avg_fn=lambda mean, new, n: mean + (new - mean) * (1 - min(0.5, (1 + int(n)) / (10 + int(n))))
        ),
    ),
    "swa": Case(
        {**PLAIN, "weight_averaging": "swa", "swa_start_epoch": 2, "swa_learn_rate": 0.05, "swa_anneal_epochs": 2},
        sgd,
        average=AveragedModel,
        averages_from=2,
    ),
    "lookahead": Case(LOOKAHEAD, lookahead, normalises=True),
    "sharded, lookahead": Case(LOOKAHEAD, lookahead, environment=SHARDED),
    "population": Case({**PLAIN, "batch_normalization_statistics": "population"}, sgd, normalises=True, pieces=2),
    "sharded": Case(
        {**PLAIN, "gradient_threshold": 0.1}, sgd, clip=partial(clip_each, 0.1), environment=SHARDED, normalises=True
    ),
    "sharded, adamw, global-l2norm": Case(
        {
            "solver": "adamw",
            "initial_learn_rate": 0.01,
            "l2_regularization": 0.0,
            "gradient_threshold": 0.2,
            "gradient_threshold_method": "global-l2norm",
        },
        lambda model: torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.0),
        clip=lambda parameters: nn.utils.clip_grad_norm_(parameters, 0.2),
        environment=SHARDED,
    ),
    "sharded, ema": Case(
        {**PLAIN, "weight_averaging": "ema", "ema_decay": 0.8, "ema_warmup": False},
        sgd,
        average=lambda model: AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.8)),
        environment=SHARDED,
        normalises=True,
    ),
    "sharded, swa": Case(
        {**PLAIN, "weight_averaging": "swa", "swa_start_epoch": 2, "swa_learn_rate": 0.05, "swa_anneal_epochs": 2},
        sgd,
        average=AveragedModel,
        averages_from=2,
        environment=SHARDED,
    ),
    "sharded, in pieces": Case(PLAIN, sgd, pieces=2, environment=SHARDED),
    "local, interval of one": Case(PLAIN, sgd, environment={"strategy": "local-sgd", "averaging_interval": 1}),
    "computed again": Case(PLAIN, sgd, normalises=True, recomputes=True, pieces=2, strategy="ddp"),
    "class weights, smoothing": Case(
        {**PLAIN, "class_weighting": "given", "class_weights": (1, 3, 0.5), "label_smoothing": 0.1}, sgd, weighted
    ),
    "balanced classes": Case({**PLAIN, "class_weighting": "balanced"}, sgd, balanced),
    "focal": Case({**PLAIN, "loss": "focal"}, sgd, focal),
    "focal, its own gamma": Case({**PLAIN, "loss": "focal", "focal_gamma": 0.5}, sgd, partial(focal, gamma=0.5)),
    "half-mse": numbers("half-mse", lambda output, target: 0.5 * (output - target).square().sum(1).mean()),
    "mse": numbers("mse", functional.mse_loss),
    "mae": numbers("mae", functional.l1_loss),
    "huber": numbers("huber", partial(functional.huber_loss, delta=0.7), huber_delta=0.7),
}
DROPS = {"schedule": "piecewise", "learn_rate_drop_period": 2, "learn_rate_drop_factor": 0.1}
STAIRS = partial(TORCHS.StepLR, step_size=6, gamma=0.1)
OWN_ADAM = {"solver": "adam", "gradient_decay_factor": 0.7, "squared_gradient_decay_factor": 0.95, "epsilon": 0.05}
OWN_RMSPROP = {"solver": "rmsprop", "squared_gradient_decay_factor": 0.7, "epsilon": 0.05}
MATLAB = {
    "matlab, sgdm": matlab(by_hand.sgdm(0.9), options=DROPS, scheduler=STAIRS),
    "matlab, sgdm, sharded": matlab(by_hand.sgdm(0.9), options=DROPS, scheduler=STAIRS, environment=SHARDED),
    "matlab, sgdm, factors": matlab(
        by_hand.sgdm(0.8),
        "global-l2norm",
        (0.9, 0.0, 0.3, 0.0),
        (2, 1, 1, 0),
        options={"momentum": 0.8, **DROPS},
        scheduler=STAIRS,
        said={"0.weight": ParameterOptions("", 2.0, 3.0), "2.bias": ParameterOptions("", 0.0, 0.0)},
    ),
    "matlab, sgdm, in pieces": matlab(by_hand.sgdm(0.9), options={}, pieces=5),
    "matlab, sgdm, fp16": matlab(
        by_hand.sgdm(0.9),
        options={"loss": "mse"},
        loss=functional.mse_loss,
        task="numbers",
        precision="fp16",
        dtype=torch.float32,
        rounding=1e-3,
    ),
    "matlab, adam": matlab(by_hand.adam(0.7, 0.95, 0.05), "absolute-value", options=OWN_ADAM),
    "matlab, adam, sharded": matlab(by_hand.adam(0.7, 0.95, 0.05), options=OWN_ADAM, environment=SHARDED),
    "matlab, rmsprop": matlab(by_hand.rmsprop(0.7, 0.05), "global-l2norm", options=OWN_RMSPROP),
}
CASES |= MATLAB
CASES |= {name: Case({**PLAIN, **ending.options}, sgd, ending.loss, ending=ending) for name, ending in ENDINGS.items()}


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[float], list[float]]]:
    """What two processes make of all cases. The last batch has 7 samples, which they share as 4 and 3."""
    folder = tmp_path_factory.mktemp("two")
    command = [sys.executable, "-m", "tests.engine.training.plain_torch", str(folder)]
    own = {**os.environ, "PYTHONPATH": str(ROOT)}
    workers = [subprocess.Popen([*command, str(rank), "2"], cwd=ROOT, env=own) for rank in range(2)]
    assert [worker.wait(250) for worker in workers] == [0, 0]
    found: dict[str, tuple[list[float], list[float]]] = json.loads((folder / "found.json").read_text("utf-8"))
    return found


@cache
def expected(name: str) -> tuple[list[float], list[float]]:
    """What plain torch makes of a case."""
    return by_torch(CASES[name])


def same(found: tuple[list[float], list[float]], expected: tuple[list[float], list[float]], tolerance: float) -> None:
    assert len(found[0]) == STEPS
    assert found[0] == pytest.approx(expected[0], rel=tolerance), "losses"
    assert found[1] == pytest.approx(expected[1], rel=tolerance, abs=tolerance), "weights"


@pytest.mark.parametrize("name", CASES)
def test_one_worker_is_plain_torch(name: str) -> None:
    case = CASES[name]
    same(by_engine(case, SingleProcess()), expected(name), min(2e-6, 200 * case.rounding))


@pytest.mark.parametrize("name", MATLAB)
def test_matlabs_formulas_need_no_accelerations(name: str) -> None:
    case = MATLAB[name]
    same(by_engine(case, SingleProcess(), accelerated=False), expected(name), min(2e-6, 200 * case.rounding))


@pytest.mark.parametrize("name", CASES)
def test_two_workers_are_plain_torch(name: str, two_workers: dict[str, tuple[list[float], list[float]]]) -> None:
    same(two_workers[name], expected(name), 5 * CASES[name].rounding)
