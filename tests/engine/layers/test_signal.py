import cmath
import math

import pytest
import torch

from netwright.engine.core.errors import ShapeError, UserError
from netwright.engine.core.types import Symbol, TensorType, features, image, sequence
from netwright.engine.layers.signal import SCALING
from netwright.engine.lowering.plan import plan
from netwright.engine.network.analysis import analyse
from tests.builders import chain, layer
from tests.lowered import Lowered, assert_as_declared, run

T = Symbol("T")
WINDOWS = {
    "hann": lambda n, length: 0.5 - 0.5 * math.cos(2 * math.pi * n / length),
    "hamming": lambda n, length: 0.54 - 0.46 * math.cos(2 * math.pi * n / length),
    "rectangular": lambda n, length: 1.0,
}
SMALL = {"window_length": 6, "overlap": 4, "fft_length": 9}


def signal(steps: int, channels: int = 2) -> torch.Tensor:
    return torch.randn(1, steps, channels, generator=torch.Generator().manual_seed(0))


def spectrum(x: list[float], window: str, length: int, hop: int, size: int) -> list[list[complex]]:
    """Frequencies of each window, by the definition."""
    weights = [WINDOWS[window](n, length) for n in range(length)]
    return [
        [
            sum(weights[n] * x[at + n] * cmath.exp(-2j * math.pi * k * n / size) for n in range(length))
            for k in range(size // 2 + 1)
        ]
        for at in range(0, len(x) - length + 1, hop)
    ]


@pytest.mark.parametrize("window", list(WINDOWS))
def test_the_short_time_fourier_transform_is_the_sum_of_its_definition(window):
    x = signal(11)
    type = layer("stft", window=window, gives="parts", **SMALL)
    found = run(type, x, x=[sequence(11, 2)])[0]
    for channel in range(2):
        expected = torch.tensor(spectrum(x[0, :, channel].tolist(), window, 6, 2, 9)).T
        torch.testing.assert_close(found[2 * channel], expected.real, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(found[2 * channel + 1], expected.imag, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("gives", ["magnitude", "power", "log-magnitude", "log-power"])
def test_sizes_of_the_numbers_of_a_spectrum(gives):
    x = [sequence(11, 2)]
    parts = run(layer("stft", gives="parts", **SMALL), signal(11), x=x)
    power = parts[:, 0::2].square() + parts[:, 1::2].square() + 1e-12
    expected = power if "power" in gives else power.sqrt()
    found = run(layer("stft", gives=gives, **SMALL), signal(11), x=x)
    torch.testing.assert_close(found, expected.log() if "log" in gives else expected)
    rows = run(layer("stft", gives=gives, layout="sequence", **SMALL), signal(11), x=x)
    assert torch.equal(rows, found.flatten(1, 2).transpose(1, 2))


@pytest.mark.parametrize("window", list(WINDOWS))
@pytest.mark.parametrize("layout", ["image", "sequence"])
def test_the_inverse_of_the_short_time_fourier_transform(window, layout):
    x = signal(12)
    forward = layer("stft", window=window, gives="parts", layout=layout, **SMALL)
    backward = layer("inverse_stft", window=window, **SMALL)
    there = run(forward, x, x=[sequence(12, 2)])
    back = run(backward, there, x=[forward.output(sequence(12, 2))])
    first = 1 if window == "hann" else 0  # a Hann window begins with zero
    torch.testing.assert_close(back[:, first:], x[:, first:], atol=1e-5, rtol=1e-5)
    assert backward.output(forward.output(sequence(12, 2))) == sequence(12, 2)


def wavelet(kind: str, omega: float) -> float:
    """The Fourier transform of a wavelet, by its definition."""
    if kind == "morlet":
        return 2 * math.exp(-((omega - 6) ** 2) / 2)
    beta, gamma = 20.0, 3.0
    return 2 * (math.e * gamma / beta) ** (beta / gamma) * omega**beta * math.exp(-(omega**gamma))


def shortest(kind: str) -> float:
    """The scale at which the wavelet has half its height, which is 2, at half the sampling rate."""
    low, high = 6.0 if kind == "morlet" else (20 / 3) ** (1 / 3), 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if wavelet(kind, middle) > 1 else (low, middle)
    return low / math.pi


@pytest.mark.parametrize("kind", ["morse", "morlet"])
@pytest.mark.parametrize("steps", [16, 17])
def test_the_continuous_wavelet_transform_is_the_sum_of_its_definition(kind, steps):
    x = signal(steps, 1)
    values = x[0, :, 0].tolist()
    type = layer("cwt", wavelet=kind, octaves=2, voices=3, gives="parts")
    found = run(type, x, x=[sequence(steps, 1)])[0]
    for row in range(6):
        scale = shortest(kind) * 2 ** (row / 3)
        for t in range(0, steps, 5):
            total = 0j
            for k in range(1, steps // 2 + 1):
                omega = 2 * math.pi * k / steps
                at_k = sum(value * cmath.exp(-1j * omega * n) for n, value in enumerate(values))
                total += at_k * wavelet(kind, scale * omega) * cmath.exp(1j * omega * t) / steps
            assert complex(found[0, row, t], found[1, row, t]) == pytest.approx(total, rel=1e-4, abs=1e-5)


def test_a_sine_has_its_amplitude_at_its_scale():
    steps = 256
    x = (3 * torch.sin(2 * math.pi * 32 * torch.arange(steps) / steps)).view(1, steps, 1)
    found = run(layer("cwt", octaves=4, voices=12), x, x=[sequence(steps, 1)])[0, 0]
    assert found.amax(0).tolist() == pytest.approx([3.0] * steps, rel=0.03)  # no scale is just its own
    power = run(layer("cwt", octaves=4, voices=12, gives="power"), x, x=[sequence(steps, 1)])[0, 0]
    torch.testing.assert_close(power, found.square(), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", ["morse", "morlet"])
@pytest.mark.parametrize("layout", ["image", "sequence"])
def test_the_inverse_of_the_continuous_wavelet_transform(kind, layout):
    x = signal(40)
    x = x - x.mean(1, keepdim=True)
    forward = layer("cwt", wavelet=kind, octaves=6, voices=4, gives="parts", layout=layout)
    backward = layer("inverse_cwt", wavelet=kind, octaves=6, voices=4)
    there = run(forward, x, x=[sequence(40, 2)])
    back = run(backward, there, x=[forward.output(sequence(40, 2))])
    torch.testing.assert_close(back, x, atol=1e-4, rtol=1e-4)
    assert backward.output(forward.output(sequence(40, 2))) == sequence(40, 2)


@pytest.mark.parametrize("name", list(SCALING))
def test_wavelet_filters_are_orthogonal(name):
    g = SCALING[name]
    assert sum(g) == pytest.approx(math.sqrt(2))
    for shift in range(len(g) // 2):
        found = sum(g[i] * g[i + 2 * shift] for i in range(len(g) - 2 * shift))
        assert found == pytest.approx(float(shift == 0), abs=1e-10)


def details(x: list[float], name: str, levels: int) -> list[list[float]]:
    """D[1], ..., D[levels], V[levels], by the definition."""
    g = [c / math.sqrt(2) for c in SCALING[name]]
    h = [(-1) ** index * c for index, c in enumerate(reversed(g))]
    rows = []
    for level in range(levels):
        at = [[x[(t - 2**level * index) % len(x)] for index in range(len(g))] for t in range(len(x))]
        rows.append([sum(a * b for a, b in zip(h, past, strict=True)) for past in at])
        x = [sum(a * b for a, b in zip(g, past, strict=True)) for past in at]
    return [*rows, x]


@pytest.mark.parametrize("wavelet", list(SCALING))
def test_the_maximal_overlap_transform_keeps_the_signal(wavelet):
    x = signal(11)
    type = layer("modwt", wavelet=wavelet, levels=3, gives="coefficients")
    found = run(type, x, x=[sequence(11, 2)])
    for channel in range(2):
        expected = torch.tensor(details(x[0, :, channel].tolist(), wavelet, 3))
        torch.testing.assert_close(found[0, channel], expected, atol=1e-5, rtol=1e-5)
    assert found.square().sum().item() == pytest.approx(x.square().sum().item(), rel=1e-5)
    rows = run(type.replace(gives="analysis"), x, x=[sequence(11, 2)])
    torch.testing.assert_close(rows.sum(2).transpose(1, 2), x, atol=1e-5, rtol=1e-5)
    flat = run(type.replace(layout="sequence"), x, x=[sequence(11, 2)])
    assert torch.equal(flat, found.flatten(1, 2).transpose(1, 2))


def test_a_constant_is_no_detail():
    rows = run(layer("modwt", levels=2), torch.full((1, 9, 1), 3.0), x=[sequence(9, 1)])
    assert rows[0, 0, :2].abs().max() < 1e-5
    assert rows[0, 0, 2].tolist() == pytest.approx([3.0] * 9)


@pytest.mark.parametrize("layout", ["image", "sequence"])
@pytest.mark.parametrize("steps", [T, 20])
def test_declared_as_built(layout, steps):
    x = sequence(steps, 2)
    for type in (
        layer("stft", layout=layout, **SMALL),
        layer("stft", layout=layout, gives="parts", **SMALL),
        layer("modwt", layout=layout, levels=3),
        layer("modwt", layout=layout, levels=2, gives="coefficients"),
    ):
        assert_as_declared(type, x)
    if steps is not T:
        for gives in ("magnitude", "parts"):
            assert_as_declared(layer("cwt", layout=layout, gives=gives), x)


@pytest.mark.parametrize(
    ("type", "x", "words"),
    [
        (layer("stft"), sequence(100, 1), "Use a window of at most 100"),
        (layer("stft", window_length=16), sequence(100, 1), "smaller than the window of 16 steps, received 96"),
        (layer("stft", fft_length=16), sequence(200, 1), "at least the window of 128 steps"),
        (layer("stft"), features(3), "Expected a sequence"),
        (layer("inverse_stft"), image(2, 60, 5), "Expected 65 frequencies"),
        (layer("inverse_stft"), image(3, 65, 5), "even number of channels"),
        (layer("inverse_stft"), sequence(5, 65), "a multiple of 130 channels"),
        (layer("cwt"), sequence(T, 1), "Give the sequence input a length"),
        (layer("cwt", time_bandwidth=3, symmetry=5), sequence(9, 1), "must be from the symmetry, 5"),
        (layer("inverse_cwt"), image(2, 50, 9), "Expected 60 scales"),
        (layer("inverse_cwt"), TensorType(("C", "H", "W"), (2, 60, T)), "not known before the network runs"),
        (layer("modwt"), sequence(20, 1), "5 levels need at least 32 steps, the signal has 20. Use at most 4."),
        (layer("modwt", levels=1), sequence(1, 1), "Use a longer signal"),
    ],
)
def test_what_does_not_fit_is_said_in_words(type, x, words):
    with pytest.raises(ShapeError, match=words):
        type.output(x)


@pytest.mark.parametrize(
    "types",
    [
        (layer("modwt"),),
        (layer("stft", gives="parts", layout="sequence"), layer("inverse_stft")),
        (layer("stft"),),
    ],
)
def test_what_depends_on_the_end_of_a_sequence_refuses_padding(types):
    network = chain(layer("sequence_input", channels=1), *types)
    with pytest.raises(UserError, match="cannot be padded here"):
        plan(network, analyse(network), lengths=True)


def test_windows_of_padded_sequences_are_counted():
    type = layer("stft", layout="sequence", **SMALL)
    x = sequence(T, 1)
    call = type.lengths_after(x)
    assert call is not None
    assert (call.kwargs["reach"], call.kwargs["stride"]) == (6, 2)
    short, long = signal(9, 1), signal(14, 1)
    long[:, :9] = short
    module = Lowered(type, x)
    assert torch.equal(module(short), module(long)[:, : module(short).shape[1]])


def test_what_is_told_on_the_canvas():
    told = [layer(key).short_value() for key in ("stft", "inverse_stft", "cwt", "inverse_cwt", "modwt")]
    assert told == ["128 steps", "128 steps", "60 scales", "60 scales", "5 levels"]
