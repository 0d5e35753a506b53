import math
from typing import Any

import pytest
import torch
from torch import nn

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.types import Symbol, image, sequence
from netwright.engine.layers.base import Call
from netwright.engine.layers.weighted import Weighted
from netwright.engine.lowering.initialization import initialize, parameter_options
from netwright.engine.lowering.module import build, prefixes, resolve
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from tests.builders import add, chain, layer
from tests.lowered import Lowered, assert_as_declared

T, S = Symbol("T"), Symbol("S")
ENCODER, DECODER, WHOLE = "transformer_encoder_layer", "transformer_decoder_layer", "transformer"
FEW = {"encoder_layers": 2, "decoder_layers": 1}


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
        (ENCODER, {"norm": "before", "mask": "causal"}, (sequence(6, 8),)),
        (ENCODER, {"feedforward": 5, "activation": "gelu"}, (sequence(T, 8),)),
        (DECODER, {}, (sequence(5, 8), sequence(7, 6))),
        (WHOLE, FEW, (sequence(5, 8), sequence(7, 8))),
        (WHOLE, {**FEW, "norm": "before", "memory_mask": "causal"}, (sequence(T, 8), sequence(S, 8))),
        ("patch_embedding", {"patch": (2, 3), "dimension": 5}, (image(3, 8, 9),)),
        ("patch_embedding", {"bias": False}, (image(3, 8, 12),)),
    ],
)  # fmt: skip
def test_sizes_learnables_and_work_are_as_declared(key, values, types):
    assert_as_declared(layer(key, **values), *types)


def take(theirs, query, key, value, result):
    """Gives torch's attention the weights of ours."""
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([query.weight, key.weight, value.weight]))
        theirs.in_proj_bias.copy_(torch.cat([query.bias, key.bias, value.bias]))
        theirs.out_proj.load_state_dict(result.state_dict())


def take_layer(theirs, part, *, is_decoder):
    """Gives a layer of torch's the weights of ours."""
    take(theirs.self_attn, part.query, part.key, part.value, part.result)
    pairs: list[tuple[nn.Module, nn.Module]] = [(theirs.linear1, part.expand), (theirs.linear2, part.reduce)]
    pairs += [(theirs.norm1, part.norm_1), (theirs.norm2, part.norm_2)]
    if is_decoder:
        take(theirs.multihead_attn, part.cross_query, part.cross_key, part.cross_value, part.cross_result)
        pairs.append((theirs.norm3, part.norm_3))
    for one, other in pairs:
        one.load_state_dict(other.state_dict())


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
        take_layer(theirs, part, is_decoder=is_decoder)
        wanted = theirs(x, memory, tgt_mask=causal) if is_decoder else theirs(x, src_mask=causal)
        torch.testing.assert_close(ours(*(x, memory)[: 1 + is_decoder]), wanted)


@pytest.mark.parametrize("norm", ["after", "before"])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("masks", [("none", "causal", "none"), ("causal", "none", "causal")])
def test_a_whole_transformer_is_torchs(norm, masks):
    given = dict(zip(("source_mask", "mask", "memory_mask"), masks, strict=True))
    ours = Lowered(layer(WHOLE, heads=2, feedforward=12, norm=norm, **FEW, **given), sequence(S, 8), sequence(T, 8))
    part = shuffled(ours.eval())
    theirs: Any = nn.Transformer(8, 2, 2, 1, 12, batch_first=True, norm_first=norm == "before").eval()
    for name, is_decoder in (("encoder", False), ("decoder", True)):
        for one, other in zip(getattr(theirs, name).layers, getattr(part, name), strict=True):
            take_layer(one, other, is_decoder=is_decoder)
        getattr(theirs, name).norm.load_state_dict(getattr(part, f"{name}_norm").state_dict())
    source, target = torch.randn(3, 7, 8), torch.randn(3, 5, 8)
    sizes = {"src_mask": (7, 7), "tgt_mask": (5, 5), "memory_mask": (5, 7)}
    hidden = {
        name: torch.arange(keys) > torch.arange(queries)[:, None]
        for (name, (queries, keys)), mask in zip(sizes.items(), masks, strict=True)
        if mask == "causal"
    }
    torch.testing.assert_close(ours(source, target), theirs(source, target, **hidden))


def test_source_and_target_of_a_transformer_have_lengths_of_their_own():
    network = Network.empty()
    network, source = add(network, layer("sequence_input", channels=8, normalization="none"), name="source")
    network, target = add(network, layer("sequence_input", channels=8, normalization="none"), name="target")
    network, _ = add(network, layer(WHOLE, **FEW, dropout=0.0), source, target, name="whole")
    module = build(network, analyse(network), lengths=True).eval()
    reads, writes = torch.tensor([7, 3]), torch.tensor([2, 5])
    x, y = torch.randn(2, 7, 8), torch.randn(2, 5, 8)
    found, lengths = module(x, y, reads, writes)
    assert lengths.tolist() == [2, 5]
    for number, (read, written) in enumerate(zip(reads.tolist(), writes.tolist(), strict=True)):
        one = slice(number, number + 1)
        alone, _ = module(x[one, :read], y[one, :written], reads[one], writes[one])
        torch.testing.assert_close(found[one, :written], alone)


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


def test_each_part_of_a_whole_transformer_has_a_role():
    roles = {"encoder.0.norm_1.weight": "scale", "encoder.1.query.weight": "weight", "decoder.0.reduce.bias": "bias"}
    roles |= {"decoder_norm.bias": "offset", "encoder_norm.weight": "scale"}
    whole = layer(WHOLE)
    assert isinstance(whole, Weighted)
    assert {name: whole.role(name) for name in roles} == roles


@pytest.mark.parametrize(
    ("key", "values", "types", "port", "field", "words"),
    [
        (ENCODER, {"heads": 3}, (sequence(5, 8),), None, "heads", "The 8 channels cannot"),
        (DECODER, {}, (sequence(5, 8), image(1, 2, 2)), "memory", None, "Expected a sequence"),
        (WHOLE, {}, (sequence(5, 8), sequence(5, 4)), "target", None, "as many channels as the source, 8"),
        (WHOLE, {"heads": 3}, (sequence(5, 8), sequence(5, 8)), None, "heads", "The 8 channels cannot"),
        ("patch_embedding", {"patch": 5}, (image(1, 10, 12),), None, "patch", "along axis W"),
    ],
)  # fmt: skip
def test_what_is_refused(key, values, types, port, field, words):
    with pytest.raises(ShapeError, match=words) as caught:
        layer(key, **values).output(*types)
    assert caught.value.port == port
    assert caught.value.field == field


def test_lengths_that_are_not_known():
    assert layer(DECODER).flops(sequence(T, 8), sequence(5, 8)) == 0
    assert layer(ENCODER).flops(sequence(T, 8)) == 0
    assert layer(WHOLE).flops(sequence(5, 8), sequence(T, 8)) == 0
    assert layer("patch_embedding").output(image(1, S, 8)).axes == ("T", "C")
