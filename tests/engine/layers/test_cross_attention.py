import math

import pytest
import torch
from torch import nn

from netwright.engine.core.errors import ShapeError, UserError
from netwright.engine.core.types import Symbol, features, image, sequence
from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from tests.builders import chain, layer
from tests.lowered import Lowered, assert_as_declared, run

T, S = Symbol("T"), Symbol("S")


def shuffled(module):
    """Random weights, so that biases and normalisations count too."""
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape) * 0.4)
    return module.made[0]


@pytest.mark.parametrize(
    ("key", "values", "types"),
    [
        ("attention", {}, (sequence(5, 8), sequence(7, 8), sequence(7, 6))),
        ("multihead_attention", {}, (sequence(5, 8), sequence(7, 3), sequence(7, 6))),
        ("multihead_attention", {"heads": 2, "key_channels": 6, "value_channels": 4, "outputs": 5, "bias": False},
         (sequence(5, 8), sequence(7, 3), sequence(7, 6))),
        ("grouped_attention", {}, (sequence(6, 8),)),
        ("grouped_attention", {"groups": 1, "head_channels": 6, "positions": "linear"}, (sequence(6, 7),)),
    ],
)  # fmt: skip
def test_sizes_learnables_and_work_are_as_declared(key, values, types):
    assert_as_declared(layer(key, **values), *types)


@pytest.mark.parametrize("mask", ["none", "causal"])
@pytest.mark.parametrize("scale", [0.0, 0.3])
def test_attention_by_definition(mask, scale):
    types = sequence(T, 6), sequence(S, 6), sequence(S, 4)
    q, k, v = torch.randn(2, 5, 6), torch.randn(2, 7, 6), torch.randn(2, 7, 4)
    found = run(layer("attention", heads=2, mask=mask, scale=scale), q, k, v, x=types)
    heads = []
    for head in range(2):
        a, b, c = q[..., 3 * head : 3 * head + 3], k[..., 3 * head : 3 * head + 3], v[..., 2 * head : 2 * head + 2]
        scores = a @ b.mT * (scale or 1 / math.sqrt(3))
        if mask == "causal":
            scores = scores.masked_fill(torch.arange(7) > torch.arange(5)[:, None], -math.inf)
        heads.append(scores.softmax(-1) @ c)
    torch.testing.assert_close(found, torch.cat(heads, 2))


def test_multihead_attention_is_torchs():
    ours = Lowered(layer("multihead_attention", heads=2), sequence(T, 8), sequence(S, 6), sequence(S, 4))
    part = shuffled(ours)
    theirs = nn.MultiheadAttention(8, 2, batch_first=True, kdim=6, vdim=4)
    with torch.no_grad():
        for name, own in (("q", part.query), ("k", part.key), ("v", part.value)):
            getattr(theirs, f"{name}_proj_weight").copy_(own.weight)
        theirs.in_proj_bias.copy_(torch.cat([part.query.bias, part.key.bias, part.value.bias]))
        theirs.out_proj.load_state_dict(part.result.state_dict())
    q, k, v = torch.randn(3, 5, 8), torch.randn(3, 7, 6), torch.randn(3, 7, 4)
    torch.testing.assert_close(ours(q, k, v), theirs(q, k, v)[0])


def by_definition(part, x, *, heads, groups, size, positions, causal):
    """Grouped attention step by step and head by head, from the formulas in the help."""
    q, k, v = (p(x) for p in (part.query, part.key, part.value))
    steps, mixed = x.shape[1], []
    for head in range(heads):
        group = head * groups // heads
        a = q[..., head * size : (head + 1) * size].clone()
        b = k[..., group * size : (group + 1) * size].clone()
        if positions == "rotary":
            for part_of in (a, b):
                for t in range(steps):
                    for i in range(size // 2):
                        angle = t * 10000 ** (-2 * i / size)
                        one, two = part_of[:, t, 2 * i].clone(), part_of[:, t, 2 * i + 1].clone()
                        part_of[:, t, 2 * i] = one * math.cos(angle) - two * math.sin(angle)
                        part_of[:, t, 2 * i + 1] = one * math.sin(angle) + two * math.cos(angle)
        scores = a @ b.mT / math.sqrt(size)
        for t in range(steps):
            for s in range(steps):
                if positions == "linear":
                    scores[:, t, s] -= 2 ** (-8 * (head + 1) / heads) * abs(t - s)
                if causal and s > t:
                    scores[:, t, s] = -math.inf
        mixed.append(scores.softmax(-1) @ v[..., group * size : (group + 1) * size])
    return part.result(torch.cat(mixed, 2))


@pytest.mark.parametrize("positions", ["none", "rotary", "linear"])
@pytest.mark.parametrize("mask", ["none", "causal"])
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_grouped_attention_by_definition(positions, mask, groups):
    module = Lowered(layer("grouped_attention", groups=groups, positions=positions, mask=mask), sequence(T, 16))
    part = shuffled(module)
    x = torch.randn(2, 5, 16)
    with torch.no_grad():
        shape = {"heads": 4, "groups": groups, "size": 4, "positions": positions, "causal": mask == "causal"}
        torch.testing.assert_close(module(x), by_definition(part, x, **shape))


def test_rotary_scores_know_only_how_far_steps_are_apart():
    module = Lowered(layer("grouped_attention", mask="none"), sequence(T, 16))
    part = shuffled(module)
    one = torch.randn(1, 1, 9, 8)
    turned = part.turned(one[:, :, :1].expand(-1, -1, 9, -1))
    scores = (turned @ turned.mT)[0, 0]
    torch.testing.assert_close(scores[1:, 1:], scores[:-1, :-1])


@pytest.mark.parametrize(
    ("key", "values", "types", "port", "field", "words"),
    [
        ("attention", {}, (sequence(T, 4), features(4), sequence(T, 4)), "key", None, "Expected a sequence"),
        ("attention", {}, (sequence(5, 4), sequence(5, 6), sequence(5, 4)), "key", None, "as many channels"),
        ("attention", {}, (sequence(5, 4), sequence(6, 4), sequence(7, 4)), "value", None, "one value for each key"),
        ("attention", {"heads": 3}, (sequence(5, 4),) * 3, None, "heads", "cannot be divided among 3 heads"),
        ("multihead_attention", {"value_channels": 6}, (sequence(5, 4),) * 3, None, "value_channels", "6 value"),
        ("grouped_attention", {"groups": 3}, (sequence(5, 8),), None, "groups", "among 3 groups"),
        ("grouped_attention", {"heads": 8, "groups": 8}, (sequence(5, 8),), None, "heads", "in pairs"),
    ],
)  # fmt: skip
def test_what_is_refused(key, values, types, port, field, words):
    with pytest.raises(ShapeError, match=words) as caught:
        layer(key, **values).output(*types)
    assert caught.value.port == port
    assert caught.value.field == field


def test_work_of_a_length_that_is_not_known():
    assert layer("attention").flops(sequence(T, 4), sequence(S, 4), sequence(S, 4)) == 0


@pytest.mark.parametrize("mask", ["none", "causal"])
@pytest.mark.parametrize("scores", ["heads", "mean"])
def test_scores_are_torchs_and_the_result_is_the_same(mask, scores):
    types = sequence(T, 8), sequence(S, 6), sequence(S, 4)
    kind = layer("multihead_attention", heads=2, mask=mask, scores=scores)
    ours, plain = Lowered(kind, *types).eval(), Lowered(layer("multihead_attention", heads=2, mask=mask), *types).eval()
    part = shuffled(ours)
    plain.load_state_dict(ours.state_dict())
    theirs = nn.MultiheadAttention(8, 2, batch_first=True, kdim=6, vdim=4)
    with torch.no_grad():
        for name, own in (("q", part.query), ("k", part.key), ("v", part.value)):
            getattr(theirs, f"{name}_proj_weight").copy_(own.weight)
        theirs.in_proj_bias.copy_(torch.cat([part.query.bias, part.key.bias, part.value.bias]))
        theirs.out_proj.load_state_dict(part.result.state_dict())
    q, k, v = torch.randn(3, 5, 8), torch.randn(3, 7, 6), torch.randn(3, 7, 4)
    hidden = torch.arange(7) > torch.arange(5)[:, None] if mask == "causal" else None
    wanted, weights = theirs(q, k, v, attn_mask=hidden, average_attn_weights=scores == "mean")
    result, found = ours(q, k, v)
    torch.testing.assert_close(result, wanted)
    torch.testing.assert_close(result, plain(q, k, v))
    torch.testing.assert_close(found, weights.unsqueeze(1) if scores == "mean" else weights)
    assert kind.output_types(*types) == (sequence(T, 8), image(1 if scores == "mean" else 2, T, S))


@pytest.mark.parametrize("key", ["self_attention", "attention", "grouped_attention"])
def test_scores_are_those_that_mix_the_values(key):
    kind, plain = layer(key, heads=2, scores="heads", mask="causal"), layer(key, heads=2, mask="causal")
    types = [sequence(T, 8)] * len(kind.input_ports())
    module, other = Lowered(kind, *types).eval(), Lowered(plain, *types).eval()
    other.load_state_dict(module.state_dict())
    x = [torch.randn(2, 6, 8) for _ in types]
    result, scores = module(*x)
    torch.testing.assert_close(result, other(*x))
    torch.testing.assert_close(scores.sum(3), torch.ones(2, 2, 6))
    assert not scores.triu(1).any()
    if key == "attention":
        mixed = [scores[:, head] @ x[2][..., 4 * head : 4 * head + 4] for head in range(2)]
        torch.testing.assert_close(result, torch.cat(mixed, 2))


def test_scores_are_an_output_only_where_something_takes_them():
    attention = layer("self_attention", scores="mean", heads=1)
    network = chain(layer("sequence_input", channels=4, length=5, normalization="none"), attention)
    assert [port.name for port in network.output_ports] == ["out"]
    assert build(network, analyse(network))(torch.zeros(2, 5, 4)).shape == (2, 5, 4)


def test_scores_of_padded_sequences_are_refused_in_words():
    network = chain(layer("sequence_input", channels=4, normalization="none"), layer("self_attention", scores="heads"))
    with pytest.raises(UserError, match="The steps do not stay the steps of a sequence: an image of 4 × T × T"):
        build(network, analyse(network), lengths=True)
