import math
from typing import Any

import pytest
import torch
from torch import nn

from engine.build.init import initialize
from engine.build.module import build, prefixes, resolve
from engine.build.parameters import parameter_options
from engine.errors import MisfitError
from engine.layers.base import Call
from engine.layers.types import Symbol, features, image, sequence
from engine.network.analysis import analyse
from tests.builders import chain, layer
from tests.lowered import Lowered, assert_as_declared, run

T, S = Symbol("T"), Symbol("S")
ENCODER, DECODER = "transformer_encoder_layer", "transformer_decoder_layer"


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
        (ENCODER, {"norm": "before", "mask": "causal"}, (sequence(6, 8),)),
        (ENCODER, {"feedforward": 5, "activation": "gelu"}, (sequence(T, 8),)),
        (DECODER, {}, (sequence(5, 8), sequence(7, 6))),
        ("patch_embedding", {"patch": (2, 3), "dimension": 5}, (image(3, 8, 9),)),
        ("patch_embedding", {"bias": False}, (image(3, 8, 12),)),
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


def take(theirs, query, key, value, result):
    """Gives torch's attention the weights of ours."""
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([query.weight, key.weight, value.weight]))
        theirs.in_proj_bias.copy_(torch.cat([query.bias, key.bias, value.bias]))
        theirs.out_proj.load_state_dict(result.state_dict())


@pytest.mark.parametrize("norm", ["after", "before"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("mask", ["none", "causal"])
def test_encoder_and_decoder_layers_are_torchs(norm, activation, mask):
    given = {"heads": 2, "feedforward": 12, "norm": norm, "activation": activation, "mask": mask}
    made = {"dim_feedforward": 12, "activation": activation, "batch_first": True, "norm_first": norm == "before"}
    x, memory = torch.randn(3, 5, 8), torch.randn(3, 7, 8)
    causal = nn.Transformer.generate_square_subsequent_mask(5) if mask == "causal" else None
    for is_decoder in (False, True):
        types = [sequence(T, 8), sequence(S, 8)][: 1 + is_decoder]
        ours = Lowered(layer(DECODER if is_decoder else ENCODER, **given), *types).eval()
        theirs: Any = (nn.TransformerDecoderLayer if is_decoder else nn.TransformerEncoderLayer)(8, 2, **made).eval()
        part = shuffled(ours)
        take(theirs.self_attn, part.query, part.key, part.value, part.result)
        pairs: list[tuple[nn.Module, nn.Module]] = [(theirs.linear1, part.expand), (theirs.linear2, part.reduce)]
        pairs += [(theirs.norm1, part.norm_1), (theirs.norm2, part.norm_2)]
        if is_decoder:
            take(theirs.multihead_attn, part.cross_query, part.cross_key, part.cross_value, part.cross_result)
            pairs.append((theirs.norm3, part.norm_3))
        for one, other in pairs:
            one.load_state_dict(other.state_dict())
        wanted = theirs(x, memory, tgt_mask=causal) if is_decoder else theirs(x, src_mask=causal)
        torch.testing.assert_close(ours(*(x, memory)[: 1 + is_decoder]), wanted)


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


@pytest.mark.parametrize("mask", ["none", "causal"])
@pytest.mark.parametrize("key", ["attention", "multihead_attention", "grouped_attention", ENCODER, DECODER, "linear"])
def test_a_padded_sequence_gives_what_it_gives_alone(key, mask):
    kind = layer("grouped_attention", mask=mask, positions="linear") if key == "linear" else layer(key, mask=mask)
    ports = len(kind.input_ports())
    call = kind.lower_padded(*[sequence(T, 8)] * ports)
    assert isinstance(call, Call)
    assert call.lengths == "before"
    module = resolve(call.target)(**call.kwargs).eval()
    ends = torch.tensor([7, 4, 1])
    x = [torch.randn(3, 7, 8) for _ in range(ports)]
    padded = module(*x, lengths=ends if ports == 1 else (ends,) * ports)
    for number, end in enumerate(ends.tolist()):
        alone = module(*(part[number : number + 1, :end] for part in x))
        torch.testing.assert_close(padded[number, :end], alone[0])


def test_patches_are_counted_row_by_row():
    kind = layer("patch_embedding", patch=(2, 3), dimension=2)
    assert kind.output(image(1, 4, 6)) == sequence(4, 2)
    module = Lowered(kind, image(1, 4, 6))
    part = shuffled(module)
    x = torch.randn(1, 1, 4, 6)
    patches = [x[0, 0, r : r + 2, c : c + 3].flatten() for r in (0, 2) for c in (0, 3)]
    wanted = torch.stack(patches) @ part.weight.flatten(1).T + part.bias
    torch.testing.assert_close(module(x)[0], wanted)


def test_each_part_of_an_encoder_layer_starts_as_it_should():
    network = chain(layer("sequence_input", channels=8, normalization="none"), layer(ENCODER, bias_initializer="ones"))
    module = build(network, analyse(network))
    options = parameter_options(module, prefixes(network, analyse(network)), lambda id: network.layers[id].type)
    initialize(module, 0, options)
    state = {name.rpartition("encoder_layer_1.")[2]: value for name, value in module.state_dict().items()}
    found = {name.split(".", 1)[1] if name.startswith("transformer") else name: v for name, v in state.items()}
    assert (found["norm_1.weight"] == 1).all()
    assert (found["norm_2.bias"] == 0).all()
    assert (found["query.bias"] == 1).all()
    assert found["query.weight"].abs().max() <= math.sqrt(6 / 16)


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
        (ENCODER, {"heads": 3}, (sequence(5, 8),), None, "heads", "The 8 channels cannot"),
        (DECODER, {}, (sequence(5, 8), image(1, 2, 2)), "memory", None, "Expected a sequence"),
        ("patch_embedding", {"patch": 5}, (image(1, 10, 12),), None, "patch", "along axis W"),
    ],
)  # fmt: skip
def test_what_is_refused(key, values, types, port, field, words):
    with pytest.raises(MisfitError, match=words) as caught:
        layer(key, **values).output(*types)
    assert caught.value.port == port
    assert caught.value.field == field


def test_lengths_that_are_not_known():
    assert layer("attention").flops(sequence(T, 4), sequence(S, 4), sequence(S, 4)) == 0
    assert layer(DECODER).flops(sequence(T, 8), sequence(5, 8)) == 0
    assert layer(ENCODER).flops(sequence(T, 8)) == 0
    assert layer("patch_embedding").output(image(1, S, 8)).axes == ("T", "C")
