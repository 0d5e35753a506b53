"""Sequences of different lengths, padded at their ends: each one gives what it gives alone."""

from collections.abc import Sequence

import torch
from hypothesis import HealthCheck, settings
from torch import fx, nn

from engine.build.init import initialize
from engine.build.module import build
from engine.layers.types import TensorType
from engine.network.analysis import analyse
from engine.network.network import Network
from tests.builders import chain, layer

LENGTHS = (9, 14, 12)
RULES = settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow], max_examples=12)


def both(network: Network) -> tuple[fx.GraphModule, fx.GraphModule]:
    """The module that is told lengths and the one that is not, with the same weights, in double precision."""
    analysis = analyse(network)
    plain, told = build(network, analysis), build(network, analysis, lengths=True)
    initialize(plain, 0)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in plain.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    assert list(plain.state_dict()) == list(told.state_dict())
    told.load_state_dict(plain.state_dict())
    return plain.double().eval(), told.double().eval()


def alone(types: Sequence[TensorType], length: int, sample: int) -> list[torch.Tensor]:
    """One sample for each input, sequences of any length with this one."""
    generator = torch.Generator().manual_seed(sample)
    tensors = []
    for type in types:
        shape = (1, *(size if isinstance(size, int) else length for size in type.sizes))
        if type.kind == "index":
            tensors.append(torch.zeros(shape, dtype=torch.long))
        else:
            tensors.append(torch.randn(shape, generator=generator, dtype=torch.float64))
    return tensors


def padded(types: Sequence[TensorType], samples: Sequence[list[torch.Tensor]]) -> list[torch.Tensor]:
    """The samples as one batch, with garbage behind the ends of the sequences."""
    batch = []
    for type, parts in zip(types, zip(*samples, strict=True), strict=True):
        if type.is_open:
            longest = max(part.shape[1] for part in parts) + 2
            garbage = 0 if type.kind == "index" else 7.0
            filled = [
                nn.functional.pad(x, [0, 0] * (x.dim() - 2) + [0, longest - x.shape[1]], value=garbage) for x in parts
            ]
            batch.append(torch.cat(filled))
        else:
            batch.append(torch.cat(parts))
    return batch


def as_tuple(found: torch.Tensor | tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return found if isinstance(found, tuple) else (found,)


def agree(network: Network, types: Sequence[TensorType]) -> None:
    """Each sequence of the padded batch gives what it gives alone, and no gradient goes to the padding."""
    plain, told = both(network)
    singles = [alone(types, length, sample) for sample, length in enumerate(LENGTHS)]
    batch = padded(types, singles)
    given = [x.requires_grad_() if x.is_floating_point() else x for x in batch]
    lengths = [torch.tensor(LENGTHS) for type in types if type.is_open]
    found = as_tuple(told(*given, *lengths))
    expected = [as_tuple(plain(*single)) for single in singles]
    count = len(expected[0])
    total = torch.zeros((), dtype=torch.float64)
    after = iter(found[count:])
    for number, output in enumerate(found[:count]):
        wanted = [parts[number] for parts in expected]
        is_open = len({part.shape for part in wanted}) > 1
        steps = next(after).tolist() if is_open else []
        for sample, part in enumerate(wanted):
            real = output[sample : sample + 1, : steps[sample]] if is_open else output[sample : sample + 1]
            torch.testing.assert_close(real, part, rtol=1e-9, atol=1e-9, equal_nan=True)
            if real.requires_grad:
                total = total + real.sin().sum()
        assert torch.isfinite(output).all() or not all(torch.isfinite(part).all() for part in wanted)
    if total.requires_grad:
        total.backward()
    for type, x in zip(types, given, strict=True):
        if type.is_open and x.grad is not None:
            for sample, length in enumerate(LENGTHS):
                assert not x.grad[sample, length:].any()


def test_convolutions_in_a_row() -> None:
    network = chain(
        layer("sequence_input", channels=3, normalization="none"),
        layer("conv1d", filters=4, kernel=(3,)),
        layer("relu"),
        layer("conv1d", filters=2, kernel=(4,), stride=(2,), padding=(1,), padding_mode="reflection"),
    )
    agree(network, [analyse(network).facts[network.inputs[0].id].output])
