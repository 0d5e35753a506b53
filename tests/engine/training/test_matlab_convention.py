"""MATLAB's convention beyond the numbers of `test_reference`: one LSTM bias, checkpoints, and what it leaves alone."""

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn

from netwright.engine.lowering.modules.lengths import PaddedLstm
from netwright.engine.lowering.modules.recurrent import GruLoop, LstmLoop, StatefulLstm
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.gradient_clipping import gradient_clip
from netwright.engine.training.matlab_convention import join_biases
from netwright.engine.training.solvers import Solver
from tests.engine.training import matlab_by_hand as by_hand

RATES = (0.1, 0.1, 0.1, 0.01, 0.01, 0.01)
MATLAB = {"convention": "matlab", "initial_learn_rate": 0.1, "l2_regularization": 0.3, "gradient_threshold": 0.05}
ADAM = {"solver": "adam", "gradient_decay_factor": 0.9, "squared_gradient_decay_factor": 0.99, "epsilon": 0.01}


def learn(solver: Solver, clip: Callable[[], None] | None, gradients: Callable[[], None], rate: float) -> None:
    """One step in the order of `TrainStep`."""
    gradients()
    solver.regularize()
    if clip is not None:
        clip()
    solver.step(rate)


@pytest.mark.parametrize("kind", ["sgdm", "adam"])
@pytest.mark.parametrize("make", [partial(nn.LSTM, batch_first=True), LstmLoop, StatefulLstm])
def test_an_lstm_learns_as_one_with_matlabs_single_bias(make: Callable[..., nn.Module], kind: str) -> None:
    """Bias regularised too, from a network whose two biases both hold numbers."""
    torch.manual_seed(2)
    torch.set_default_dtype(torch.float64)
    try:
        lstm, x, wanted = make(3, 4), torch.randn(6, 5, 3), torch.randn(6, 4)
    finally:
        torch.set_default_dtype(torch.float32)
    said = dict(lstm.named_parameters())
    bias = said["bias_ih_l0"] + said["bias_hh_l0"]
    book = by_hand.BookLstm(said["weight_ih_l0"].detach(), said["weight_hh_l0"].detach(), bias.detach())
    join_biases(lstm)
    options = TrainingOptions(**{**MATLAB, **(ADAM if kind == "adam" else {})})
    solver, clip = Solver(options, lstm), gradient_clip(options, lstm.parameters())
    moved = by_hand.adam(0.9, 0.99, 0.01) if kind == "adam" else by_hand.sgdm(0.9)
    parameters = list(book.parameters())
    expected = by_hand.BookSolver(parameters, 0.1, moved)

    def gradients(network: nn.Module) -> None:
        network.zero_grad()
        y = network(x)
        y = y[0] if isinstance(y, tuple) else y
        last = y[:, -1] if y.dim() == 3 else y
        torch.autograd.backward((last - wanted).square().sum())

    for rate in RATES:
        learn(solver, clip, partial(gradients, lstm), rate)
        gradients(book)
        by_hand.limited(parameters, [0.3, 0.3, 0.0], 0.05, "l2norm")
        expected.param_groups[0]["lr"] = rate
        expected.step()
    for name, found in zip(("weight_ih_l0", "weight_hh_l0", "bias_ih_l0"), parameters, strict=True):
        torch.testing.assert_close(said[name], found, rtol=1e-11, atol=1e-12)
    assert not said["bias_hh_l0"].any()


def test_what_has_one_bias_or_two_in_matlab_is_left_alone() -> None:
    frozen = nn.LSTM(2, 3).requires_grad_(False)
    before = copy.deepcopy(frozen.state_dict())
    layers = [
        nn.GRU(2, 3),
        GruLoop(2, 3),
        GruLoop(2, 3, recurrent_bias=False),
        LstmLoop(2, 3, recurrent_bias=False, peephole=True),
        frozen,
        nn.Linear(2, 3),
    ]
    network = nn.ModuleList(layers)
    learning = [name for name, p in network.named_parameters() if p.requires_grad]
    join_biases(network)
    assert [name for name, p in network.named_parameters() if p.requires_grad] == learning
    torch.testing.assert_close(dict(frozen.state_dict()), dict(before), rtol=0, atol=0)


def test_each_direction_and_layer_has_one_bias() -> None:
    network = nn.ModuleList(
        [
            nn.LSTM(2, 3, 2, bidirectional=True),
            PaddedLstm(input_size=2, hidden_size=3, bidirectional=True, batch_first=True),
        ]
    )
    join_biases(network)
    biases = {name: p.requires_grad for name, p in network.named_parameters() if "bias" in name}
    assert len(biases) == 12
    assert all(learns == ("_ih_" in name) for name, learns in biases.items())


@pytest.mark.parametrize("kind", ["sgdm", "adam", "rmsprop", "nadam", "adamw"])
@pytest.mark.parametrize("fused", [(True, False), (False, True)], ids=["to torch's own", "from torch's own"])
def test_a_run_goes_on_where_it_was(kind: str, fused: tuple[bool, bool]) -> None:
    """Between the two kinds of optimizers, over a drop of the rate, with what is kept of the first steps."""
    options = TrainingOptions(**{**MATLAB, "solver": kind, "epsilon": 0.01})
    torch.manual_seed(3)
    whole, rest = nn.Linear(3, 2), nn.Linear(3, 2)
    drawn = [{name: torch.randn(p.shape) for name, p in whole.named_parameters()} for _ in RATES]

    def set_gradients(layer: nn.Module, step: int) -> None:
        for name, parameter in layer.named_parameters():
            parameter.grad = drawn[step][name].clone()

    first = Solver(options, whole, fused=fused[0])
    for step, rate in enumerate(RATES):
        if step == 4:
            rest.load_state_dict(whole.state_dict())
            second = Solver(options, rest, fused=fused[1])
            second.load_state_dict(copy.deepcopy(first.state_dict()))
        learn(first, gradient_clip(options, whole.parameters()), partial(set_gradients, whole, step), rate)
        if step >= 4:
            learn(second, gradient_clip(options, rest.parameters()), partial(set_gradients, rest, step), rate)
    torch.testing.assert_close(rest.state_dict(), whole.state_dict(), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "given", [{"solver": "adamw"}, {"solver": "rmsprop"}, {"solver": "adam", "epsilon": 1e-30}, {}]
)
def test_without_a_limit_and_a_change_of_rate_both_conventions_agree(given: dict[str, Any]) -> None:
    """Also AdamW, whose decay is no part of the gradient, and Adam without an epsilon to speak of."""
    after = []
    for convention in ("pytorch", "matlab"):
        torch.manual_seed(4)
        layer = nn.Linear(3, 2)
        options = TrainingOptions(convention=convention, l2_regularization=0.3, initial_learn_rate=0.05, **given)
        solver = Solver(options, layer)
        for _ in range(4):
            for parameter in layer.parameters():
                parameter.grad = torch.randn(parameter.shape)
            learn(solver, None, lambda: None, 0.05)
        after.append(layer.state_dict())
    torch.testing.assert_close(after[1], after[0], rtol=1e-5, atol=1e-6)
