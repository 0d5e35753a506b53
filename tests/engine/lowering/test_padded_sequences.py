"""Sequences of different lengths, padded at their ends: each one gives what it gives alone."""

from collections.abc import Sequence

import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from torch import fx, nn

from netwright.engine.core.errors import ShapeError, UserError
from netwright.engine.core.fields import Choice
from netwright.engine.core.types import Symbol, TensorType, sequence, tokens
from netwright.engine.layers.base import LayerType, Lowered, module
from netwright.engine.lowering.initialization import initialize
from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.network.catalog import catalog
from netwright.engine.network.network import Network
from tests.blocks import behind, row
from tests.builders import add, chain, layer
from tests.strategies import STEPS, Case, accepts, cases

LENGTHS = (9, 14, 12)
GARBAGE = 2
"""Steps behind the end of the longest."""
OPEN = (sequence(STEPS, 6), tokens(STEPS), sequence(STEPS, 8))


def takes_open(kind: type[LayerType]) -> bool:
    """Whether some sequence of any length may enter, with the usual values or another word in one of them."""
    words = [(name, word) for name, field in kind.fields.items() if isinstance(field, Choice) for word in field.options]
    kinds = [kind(), *(kind(**{name: word}) for name, word in words)]
    return any(accepts(type, (x,) * len(type.input_ports())) for type in kinds for x in OPEN)


KEYS = tuple(
    key
    for key, kind in catalog().items()
    if not kind().is_measured and not kind.is_input and kind.family != "Block" and takes_open(kind)
)
RULES = settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow], max_examples=3)


def refused(case: Case) -> bool:
    """Whether steps leave along another axis than the steps, or the layer says that it cannot tell padding."""
    leaving = case.type.output_types(*case.inputs)
    sizes = [pair for out in leaving for pair in zip(out.axes, out.sizes, strict=True)]
    if any(isinstance(size, Symbol) and axis != "T" for axis, size in sizes):
        return True
    try:
        case.type.lower_padded(*case.inputs)
    except ShapeError:
        return True
    return False


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
            longest = max(part.shape[1] for part in parts) + GARBAGE
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
    analysis = analyse(network)
    leaving = [analysis.shapes[port.layer].at(port.name) for port in network.output_ports]
    total = torch.zeros((), dtype=torch.float64)
    after = iter(found[count:])
    for number, output in enumerate(found[:count]):
        wanted = [parts[number] for parts in expected]
        is_open = leaving[number].is_open
        steps = next(after).tolist() if is_open else []
        for sample, part in enumerate(wanted):
            real = output[sample : sample + 1, : steps[sample]] if is_open else output[sample : sample + 1]
            torch.testing.assert_close(real, part, rtol=1e-9, atol=1e-9, equal_nan=True)
            if real.requires_grad:
                numbers = torch.view_as_real(real) if real.is_complex() else real
                total = total + numbers.sin().sum()
        assert torch.isfinite(output).all() or not all(torch.isfinite(part).all() for part in wanted)
    if total.requires_grad:
        total.backward()
    for type, x in zip(types, given, strict=True):
        if type.is_open and x.grad is not None:
            for sample, length in enumerate(LENGTHS):
                assert not x.grad[sample, length:].any()


def open_input(**values: object) -> LayerType:
    return layer("sequence_input", channels=3, normalization="none", **values)


def test_convolutions_in_a_row() -> None:
    network = chain(
        open_input(),
        layer("conv1d", filters=4, kernel=(3,)),
        layer("relu"),
        layer("conv1d", filters=2, kernel=(4,), stride=(2,), padding=(1,), padding_mode="reflection"),
    )
    agree(network, [analyse(network).shapes[network.inputs[0].id].output])


@pytest.mark.parametrize("key", KEYS)
def test_a_padded_sequence_gives_what_it_gives_alone(key: str) -> None:
    @settings(RULES)
    @given(cases(key, OPEN))
    def check(case: Case) -> None:
        assume(case.with_steps(min(LENGTHS)) is not None)
        assume(key != "position_embedding" or getattr(case.type, "positions", 0) >= max(LENGTHS) + GARBAGE)
        if refused(case):
            with pytest.raises(UserError, match="layer_1: Sequences of different lengths cannot be padded here"):
                build(case.network(), analyse(case.network()), lengths=True)
        else:
            agree(case.network(), case.inputs)

    check()


def test_batch_normalisation_in_training_counts_real_steps_only() -> None:
    network = chain(open_input(), layer("batch_norm"))
    plain, told = (module.train() for module in both(network))
    singles = [alone([sequence(STEPS, 3)], length, sample) for sample, length in enumerate(LENGTHS)]
    (batch,) = padded([sequence(STEPS, 3)], singles)
    found = told(batch, torch.tensor(LENGTHS))[0]
    joined = plain(torch.cat([x for (x,) in singles], 1))
    real = torch.cat([found[sample, :length] for sample, length in enumerate(LENGTHS)])
    torch.testing.assert_close(real, joined[0])
    for one, other in zip(plain.state_dict().values(), told.state_dict().values(), strict=True):
        torch.testing.assert_close(one, other)


def test_weights_get_finite_gradients_where_padding_is_zero() -> None:
    power, largest = layer("power", exponent=-1.0), layer("reduction", function="max", keep=True)
    for risky in (layer("division"), power, layer("max_pool1d"), largest):
        network = Network.empty()
        network, entry = add(network, open_input())
        network, before = add(network, layer("conv1d", filters=3, bias=False), entry)
        network, middle = add(network, risky, *[before] * len(risky.input_ports()))
        network, _ = add(network, layer("fully_connected"), middle)
        _, told = both(network)
        lengths = torch.tensor(LENGTHS)
        x = torch.zeros(3, 20, 3, dtype=torch.float64)
        for sample, length in enumerate(LENGTHS):
            x[sample, :length] = 1 + torch.rand(length, 3)
        output = as_tuple(told(x, lengths))[0]
        output[:, 0].sum().backward()
        assert all(p.grad is not None and p.grad.isfinite().all() for p in told.parameters()), risky


def test_lengths_go_through_blocks_and_their_copies() -> None:
    inner = layer("conv1d", filters=3), layer("gru", hidden_units=3), layer("flip")
    for repeat in (1, 3):
        agree(behind(open_input(), row(*inner, repeat=repeat), layer("select_step")), [sequence(STEPS, 3)])


def test_two_inputs_have_lengths_of_their_own() -> None:
    network = Network.empty()
    network, one = add(network, open_input(), name="x")
    network, other = add(network, open_input(), name="x_lengths")
    network, joined = add(network, layer("concatenation", axis="T"), one, other)
    network, _ = add(network, layer("global_average_pool"), joined)
    plain, told = both(network)
    generator = torch.Generator().manual_seed(0)
    first = [torch.randn(1, length, 3, generator=generator, dtype=torch.float64) for length in (4, 7)]
    second = [torch.randn(1, length, 3, generator=generator, dtype=torch.float64) for length in (5, 2)]
    types = [sequence(STEPS, 3)] * 2
    batch = padded(types, list(map(list, zip(first, second, strict=True))))
    found = told(*batch, torch.tensor([4, 7]), torch.tensor([5, 2]))
    torch.testing.assert_close(found, torch.cat([plain(a, b) for a, b in zip(first, second, strict=True)]))


def test_what_an_add_on_does_with_padding_must_be_said() -> None:
    network = chain(open_input(), Unsaid())
    with pytest.raises(UserError, match="does not say what it does with padded sequences"):
        build(network, analyse(network), lengths=True)


class Unsaid(LayerType):
    """A layer of an add-on."""

    def output(self, x: TensorType) -> TensorType:
        return x

    def lower(self, *x: TensorType) -> Lowered:
        return module("ReLU")
