import math

import torch
from torch import nn

from engine.build.init import initialize


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
