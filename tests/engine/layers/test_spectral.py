import cmath
import itertools
import math

import pytest
import torch

from netwright.engine.core.errors import ShapeError, UserError
from netwright.engine.core.types import Symbol, TensorType, features, image, sequence, volume
from netwright.engine.layers.weighted import ParameterOptions
from netwright.engine.lowering.initialization import initialize
from netwright.engine.lowering.modules.signal import SpectralConv
from netwright.engine.lowering.plan import plan
from netwright.engine.network.analysis import analyse
from tests.builders import chain, layer
from tests.lowered import Lowered, assert_as_declared

T = Symbol("T")


def by_definition(x: torch.Tensor, weight: torch.Tensor, modes: tuple[int, ...]) -> torch.Tensor:
    """One sample (channels, places ...): the sums written out, each kept frequency and its mirror image."""
    sizes = tuple(x.shape[1:])
    given = x.flatten(1).to(torch.complex128)
    matrices = torch.view_as_complex(weight).to(torch.complex128).flatten(2)
    places = list(itertools.product(*map(range, sizes)))
    halves = [[*range(count), *range(-count, 0)] for count in modes[:-1]] + [list(range(modes[-1]))]
    y = torch.zeros(weight.shape[0], len(places), dtype=torch.float64)
    for number, k in enumerate(itertools.product(*halves)):
        turns = [sum(a * b / n for a, b, n in zip(k, place, sizes, strict=True)) for place in places]
        wave = torch.tensor([cmath.exp(2j * math.pi * turn) for turn in turns], dtype=torch.complex128)
        mixed = matrices[:, :, number] @ (given @ wave.conj())
        twice = 1 if k[-1] == 0 or 2 * k[-1] == sizes[-1] else 2
        y += twice * (mixed.unsqueeze(1) * wave).real / len(places)
    return y.view(-1, *sizes).float()


@pytest.mark.parametrize(
    ("sizes", "modes"), [((8,), (5,)), ((7,), (3,)), ((4, 5), (2, 3)), ((5, 6), (1, 4)), ((4, 2, 3), (1, 1, 2))]
)
def test_the_frequencies_are_multiplied_as_the_definition_says(sizes, modes):
    torch.manual_seed(0)
    conv = SpectralConv(2, 3, modes)
    x = torch.randn(2, 2, *sizes)
    with torch.no_grad():
        found = conv(x)
        expected = torch.stack([by_definition(sample, conv.weight, modes) for sample in x])
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
        # the form for export
        torch.testing.assert_close(conv.real_inverse(*conv.mix(*conv.real_transform(x)), x.shape[2:]), found)


def test_a_short_sequence_uses_the_frequencies_it_has():
    conv = SpectralConv(1, 1, (8,))
    x = torch.randn(1, 1, 5)
    with torch.no_grad():
        short = SpectralConv(1, 1, (3,))
        short.weight.copy_(conv.weight[..., :3, :])
        torch.testing.assert_close(conv(x), short(x))
        torch.testing.assert_close(conv.real_inverse(*conv.mix(*conv.real_transform(x)), x.shape[2:]), short(x))


@pytest.mark.parametrize(
    ("key", "x"),
    [("spectral_conv1d", sequence(T, 3)), ("spectral_conv2d", image(3, 6, 5)), ("spectral_conv3d", volume(2, 6, 7, 5))],
)
def test_declared_as_built(key, x):
    type = layer(key, modes=3, filters=4)
    assert type.output(x) == x.with_sizes(C=4)
    assert_as_declared(type, x)
    assert type.short_value() == "4 filters"


@pytest.mark.parametrize(
    ("key", "x", "words"),
    [
        ("spectral_conv1d", sequence(10, 3), "8 modes along axis T, which has 6 frequencies"),
        ("spectral_conv2d", image(3, 14, 28), "8 modes along axis H, which has 7 frequencies"),
        ("spectral_conv3d", features(3), "Expected a volume"),
        ("spectral_conv2d", TensorType(("C", "H", "W"), (2, 28, 28), "complex"), "complex-to-real"),
    ],
)
def test_what_does_not_fit_is_said_in_words(key, x, words):
    with pytest.raises(ShapeError, match=words):
        layer(key).output(x)


def test_each_frequency_starts_as_a_matrix_of_its_own():
    conv = SpectralConv(20, 30, (10, 10))
    for initializer, variance in (("glorot", 2 / 50), ("he", 2 / 20), ("fourier", 2 / 12 / 600**2)):
        initialize(conv, 0, {"weight": ParameterOptions(initializer)})
        found = conv.weight.detach().var(dim=tuple(range(5))[:-1]).sum().item()
        assert found == pytest.approx(variance, rel=0.03)
    assert conv.weight.min() >= 0
    assert conv.weight.max() <= 1 / 600


def test_padded_sequences_are_refused():
    network = chain(layer("sequence_input", channels=2), layer("spectral_conv1d"))
    with pytest.raises(UserError, match="depends on the length of the whole sequence"):
        plan(network, analyse(network), lengths=True)
    assert Lowered(layer("spectral_conv1d"), sequence(T, 2)).made
