import math

import pytest
import torch
from torch import nn

from netwright.engine.layers.weighted import ParameterOptions
from netwright.engine.lowering.initialization import initialize


def states_equal(one: nn.Module, other: nn.Module) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def small() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 3), nn.LSTM(3, 5), nn.Conv2d(2, 4, 3), nn.Embedding(7, 3), nn.BatchNorm2d(3))


def test_the_seed_decides_whatever_came_before() -> None:
    one, other = small(), small()
    torch.manual_seed(1)
    initialize(one, 5)
    torch.rand(3)
    initialize(other, 5)
    assert states_equal(one, other)
    initialize(other, 6)
    assert not states_equal(one, other)


def test_the_global_random_state_is_left_alone() -> None:
    torch.manual_seed(1)
    wanted = torch.rand(3)
    torch.manual_seed(1)
    module = small()
    torch.manual_seed(1)
    initialize(module, 0)
    assert torch.equal(torch.rand(3), wanted)


def test_weights_are_glorot_uniform_and_biases_zero() -> None:
    for layer, inputs, outputs in (
        (nn.Linear(300, 100), 300, 100),
        (nn.Conv2d(20, 30, 3), 180, 270),
        (nn.ConvTranspose2d(20, 30, 3), 180, 270),
    ):
        initialize(layer, 0)
        bound = math.sqrt(6 / (inputs + outputs))
        assert layer.weight.abs().max() <= bound
        assert math.isclose(layer.weight.std().item(), bound / math.sqrt(3), rel_tol=0.05)
        assert layer.bias is not None
        assert not layer.bias.any()


def test_an_lstm_remembers_at_first() -> None:
    lstm = nn.LSTM(6, 5, bidirectional=True)
    initialize(lstm, 0)
    state = lstm.state_dict()
    bias = state["bias_ih_l0"] + state["bias_hh_l0"]
    assert torch.equal(bias, torch.tensor([0.0] * 5 + [1.0] * 5 + [0.0] * 10))
    assert torch.equal(state["bias_ih_l0_reverse"], state["bias_ih_l0"])
    recurrent = state["weight_hh_l0"]
    assert torch.allclose(recurrent.T @ recurrent, torch.eye(5), atol=1e-5)


def test_a_gru_has_no_bias_at_first() -> None:
    gru = nn.GRU(6, 5)
    initialize(gru, 0)
    state = gru.state_dict()
    assert not state["bias_ih_l0"].any()
    assert not state["bias_hh_l0"].any()


def test_an_embedding_keeps_its_padding_at_zero() -> None:
    embedding = nn.Embedding(500, 20, padding_idx=3)
    initialize(embedding, 0)
    assert not embedding.weight[3].any()
    assert math.isclose(embedding.weight.std().item(), 0.01, rel_tol=0.05)


def test_attention_gets_glorot_projections_one_by_one() -> None:
    attention = nn.MultiheadAttention(8, 2)
    initialize(attention, 0)
    assert attention.in_proj_weight.abs().max() <= math.sqrt(6 / 16)
    assert attention.in_proj_weight.abs().max() > math.sqrt(6 / 32)
    assert not attention.in_proj_bias.any()
    assert not attention.out_proj.bias.any()


def test_normalisation_stays_neutral() -> None:
    norm = nn.BatchNorm2d(3)
    initialize(norm, 0)
    assert torch.equal(norm.weight, torch.ones(3))
    assert not norm.bias.any()


def started(part: nn.Module, name: str, initializer: str) -> torch.Tensor:
    """The parameter's initial value, where this initializer is asked for."""
    module = nn.Sequential(part)
    initialize(module, 0, {f"0.{name}": ParameterOptions(initializer)})
    return part.get_parameter(name).detach()


@pytest.mark.parametrize(
    ("part", "inputs"),
    [
        (nn.Linear(300, 200), 300),
        (nn.Conv2d(20, 60, 3), 180),
        (nn.Conv2d(40, 60, 3, groups=2), 180),
        (nn.ConvTranspose2d(20, 60, 3), 180),
        (nn.ConvTranspose2d(40, 60, 3, groups=2), 180),
        (nn.Embedding(300, 200), 300),
    ],
)
def test_he_is_normal_with_a_variance_of_two_by_the_inputs(part: nn.Module, inputs: int) -> None:
    value = started(part, "weight", "he")
    assert math.isclose(value.var().item(), 2 / inputs, rel_tol=0.1)
    beyond_two_deviations = (value.abs() > 2 * math.sqrt(2 / inputs)).double().mean().item()
    assert math.isclose(beyond_two_deviations, 0.0455, rel_tol=0.2), "as normal numbers are, and uniform ones are not"


@pytest.mark.parametrize("part", [nn.Linear(300, 20), nn.Conv2d(20, 30, 3), nn.LSTM(30, 20), nn.BatchNorm2d(2000)])
def test_narrow_normal_has_a_deviation_of_one_hundredth(part: nn.Module) -> None:
    value = started(part, "weight_ih_l0" if isinstance(part, nn.LSTM) else "weight", "narrow-normal")
    assert math.isclose(value.std().item(), 0.01, rel_tol=0.1)
    assert abs(value.mean().item()) < 0.001


def test_orthogonal_filters_are_at_right_angles() -> None:
    rows = started(nn.Conv2d(4, 10, 3), "weight", "orthogonal").flatten(1)
    assert torch.allclose(rows @ rows.T, torch.eye(10), atol=1e-5)
    tall = started(nn.Linear(4, 10), "weight", "orthogonal")
    assert torch.allclose(tall.T @ tall, torch.eye(4), atol=1e-5)


@pytest.mark.parametrize(("initializer", "wanted"), [("zeros", 0.0), ("ones", 1.0)])
def test_all_zero_or_all_one(initializer: str, wanted: float) -> None:
    for part, name in ((nn.Conv1d(3, 4, 2), "weight"), (nn.Linear(3, 4), "bias"), (nn.GRU(3, 4), "bias_hh_l0")):
        assert (started(part, name, initializer) == wanted).all()
    for norm in (nn.BatchNorm1d(3), nn.LayerNorm(3)):
        assert (started(norm, "weight", initializer) == wanted).all()
        assert (started(norm, "bias", initializer) == wanted).all()


@pytest.mark.parametrize("initializer", ["ones", "narrow-normal", "zeros"])
def test_the_two_biases_of_an_lstm_start_as_one(initializer: str) -> None:
    """MATLAB has one bias; torch adds two. Their sum is what was asked for."""
    lstm = nn.LSTM(3, 500)
    said = ParameterOptions(initializer)
    initialize(lstm, 0, {"bias_ih_l0": said, "bias_hh_l0": said})
    state = lstm.state_dict()
    total = state["bias_ih_l0"] + state["bias_hh_l0"]
    assert not state["bias_hh_l0"].any()
    wanted = {"ones": 1.0, "zeros": 0.0}.get(initializer)
    if wanted is None:
        assert math.isclose(total.std().item(), 0.01, rel_tol=0.1)
    else:
        assert (total == wanted).all()


def test_the_padding_of_an_embedding_is_zero_however_the_rest_starts() -> None:
    value = started(nn.Embedding(5, 2, padding_idx=3), "weight", "ones")
    assert not value[3].any()
    assert value.sum() == 8


def test_what_one_layer_says_does_not_touch_another() -> None:
    module = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2))
    initialize(module, 0, {"1.weight": ParameterOptions("ones")})
    is_one = {name: value == 1 for name, value in module.state_dict().items()}
    assert not is_one["0.weight"].any()
    assert is_one["1.weight"].all()
