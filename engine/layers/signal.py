"""Transforms of signals: short-time Fourier and wavelet transforms, and their inverses. Nothing in them is learned."""

import math
from typing import Any, Final

from netwright.engine.core.errors import FieldError, ShapeError
from netwright.engine.core.fields import Choice, Float, Int
from netwright.engine.core.types import Size, TensorType, derive, image, sequence
from netwright.engine.layers.base import LENGTHS, Call, LayerType, Lowered, expect, function, module

OWN: Final = "netwright.engine.lowering.modules.signal."
MOST_OCTAVES, MOST_VOICES = 24, 48

WINDOWS = {
    "hann": "(1 - cos(2π n / length)) / 2",
    "hamming": "0.54 - 0.46 cos(2π n / length)",
    "rectangular": "1 everywhere",
}
LAYOUTS = {
    "image": "Channels × rows × columns: rows are frequencies or scales, columns are times (C × H × W)",
    "sequence": "A sequence: all rows of a channel at each step, then those of the next one (T × C)",
}
SIZES = {
    "magnitude": "√(real² + imaginary² + 10⁻¹²)",
    "power": "real² + imaginary² + 10⁻¹²",
}
LOGARITHMS = {
    "log-magnitude": "The natural logarithm of the magnitude",
    "log-power": "The natural logarithm of the power",
}
PARTS = {"parts": "Real and imaginary parts as adjacent channels, as a real-to-complex layer reads them"}


def _layout() -> Choice:
    return Choice("image", options=tuple(LAYOUTS), notes=LAYOUTS, help="Layout of the output")


def _arranged(x: TensorType, layout: str, channels: int, rows: int, columns: Size) -> TensorType:
    return image(channels, rows, columns) if layout == "image" else sequence(columns, channels * rows)


class _Windowed(LayerType):
    """Base of the short-time Fourier transform and its inverse."""

    window = Choice("hann", options=tuple(WINDOWS), notes=WINDOWS, help="Weights of the steps in a window, periodic")
    window_length = Int(128, low=2, high=1_000_000, unit="steps", help="Number of steps per window")
    overlap = Int(96, low=0, high=999_999, unit="steps", help="Number of steps that a window shares with the next one")
    fft_length = Int(
        0,
        low=0,
        high=4_000_000,
        label="FFT length",
        unit="steps",
        help=(
            "Length to which each window is zero-padded; 0: the window length. The output has half as many "
            "frequencies, plus one"
        ),
    )

    @property
    def hop(self) -> int:
        """Steps from one window to the next."""
        return self.window_length - self.overlap

    @property
    def _length(self) -> int:
        return self.fft_length or self.window_length

    @property
    def frequencies(self) -> int:
        """Frequencies of a window, zero included."""
        return self._length // 2 + 1

    def problems(self) -> list[FieldError]:
        errors = []
        if self.overlap >= self.window_length:
            errors.append(
                FieldError(
                    "overlap",
                    f"must be smaller than the window of {self.window_length:,} steps, received {self.overlap:,}.",
                )
            )
        if self.fft_length and self.fft_length < self.window_length:
            errors.append(
                FieldError(
                    "fft_length",
                    f"must be at least the window of {self.window_length:,} steps, received {self.fft_length:,}.",
                )
            )
        return errors

    def _refuse(self) -> None:
        for problem in self.problems():
            raise ShapeError(f"The field {problem}", field=problem.path)

    @property
    def _given(self) -> dict[str, Any]:
        return {"window": self.window, "length": self.window_length, "hop": self.hop, "fft_length": self._length}

    def short_value(self) -> str:
        return f"{self.window_length:,} steps"


STFT_GIVES = {**SIZES, **LOGARITHMS, **PARTS}


class Stft(_Windowed):
    """Splits a signal into the frequencies of overlapping windows: a spectrogram.

        X[m, k] = sum over n of window[n] · x[m · hop + n] · exp(-2πi k n / FFT length)

    for each channel, with hop = window length - overlap, m from 0 to (steps - window length) / hop rounded down, and k
    from 0 to FFT length / 2. There is no padding: what does not fill a window at the end is left out. As an image, rows
    are frequencies from zero up and columns are windows. MATLAB's layer gives the same numbers in the format SCBT;
    its window may be learned, this one is fixed.

    Exported to ONNX the transform becomes a convolution with cosines and sines.

    Input: (N, T, C). Output: (N, C', F, M) as an image or (N, M, C' F) as a sequence, with F = FFT length / 2 + 1
    frequencies, M windows and C' = C, or 2 C for both parts.

    Source: Allen, Rabiner: A unified approach to short-time Fourier analysis and synthesis, 1977.
    """

    key, label, family = "stft", "Short-time Fourier transform", "Signal"
    matlab = "stftLayer"
    gives = Choice("magnitude", options=tuple(STFT_GIVES), notes=STFT_GIVES, help="Output for each coefficient X[m, k]")
    layout = _layout()

    def output(self, x: TensorType) -> TensorType:
        expect(x, "sequence")
        self._refuse()
        steps = x["T"]
        if isinstance(steps, int) and steps < self.window_length:
            raise ShapeError(
                f"The window has {self.window_length:,} steps, the signal {steps:,}. "
                f"Use a window of at most {steps:,}.",
                field="window_length",
            )
        windows = derive(lambda count: (count - self.window_length) // self.hop + 1, steps)
        channels = x.channels * (2 if self.gives == "parts" else 1)
        return _arranged(x, self.layout, channels, self.frequencies, windows)

    def lower(self, *x: TensorType) -> Lowered:
        as_sequence = {"as_sequence": True} if self.layout == "sequence" else {}
        return module(f"{OWN}Stft", **self._given, gives=self.gives, **as_sequence)

    def lengths_after(self, *x: TensorType) -> Call:
        return function(f"{LENGTHS}window_lengths", reach=self.window_length, stride=self.hop, padding=0)


class InverseStft(_Windowed):
    """Makes a signal of its short-time Fourier transform: of the parts that the layer for it gives.

        x[t] = sum over m of window[t - m hop] · v[m, t - m hop] / sum over m of window[t - m hop]²

    where v[m] is the inverse transform of window m: the signal whose transform comes nearest in least squares. It takes
    real and imaginary parts as channels beside each other, as an image or as a sequence. Give it the window, the
    overlap and the FFT length of the transform. Steps whose sum below is under 10⁻⁴ become zero, because rounding
    errors would drown them: the first ones of a Hann window. What filled no window is missing at the end.

    Exported to ONNX the transform becomes a transposed convolution.

    Input: (N, 2 C, F, M) or (N, M, 2 C F). Output: (N, T, C) with T = (M - 1) hop + window length.

    Source: Griffin, Lim: Signal estimation from modified short-time Fourier transform, 1984.
    """

    key, label, family = "inverse_stft", "Inverse short-time Fourier transform", "Signal"
    matlab = "istftLayer"

    def output(self, x: TensorType) -> TensorType:
        expect(x, "image", "sequence")
        self._refuse()
        channels = _channels_of_parts(x, self.frequencies, "frequencies", "fft_length")
        windows = x["W"] if x.layout == "image" else x["T"]
        return sequence(derive(lambda count: (count - 1) * self.hop + self.window_length, windows), channels)

    def lower(self, *x: TensorType) -> Lowered:
        return module(f"{OWN}InverseStft", **self._given)

    def lower_padded(self, x: TensorType) -> Lowered:
        if x.is_open:
            raise ShapeError("Windows behind the end of a sequence would overlap its last steps.")
        return self.lower(x)


def _channels_of_parts(x: TensorType, rows: int, noun: str, field: str) -> int:
    """Return the number of channels of the signal that has these parts. Raises `ShapeError`."""
    if x.layout == "image" and isinstance(x["H"], int) and x["H"] != rows:
        raise ShapeError(f"Expected {rows:,} {noun} (rows), received {x}.", field=field)
    if x.layout == "image" and x.channels % 2:
        raise ShapeError(f"Expected real and imaginary parts as an even number of channels, received {x}.", port="in")
    if x.layout == "sequence" and x.channels % (2 * rows):
        raise ShapeError(
            f"Expected real and imaginary parts of {rows:,} {noun} a channel: a multiple of {2 * rows:,} channels, "
            f"received {x}.",
            port="in",
        )
    return x.channels // 2 if x.layout == "image" else x.channels // (2 * rows)


WAVELETS = {
    "morse": "Generalised Morse wavelet, with a symmetry and a time-bandwidth product",
    "morlet": "Analytic Morlet (Gabor) wavelet with a centre of 6 radians per step",
}


class _Wavelets(LayerType):
    """The wavelets of a continuous transform and of its inverse."""

    wavelet = Choice("morse", options=tuple(WAVELETS), notes=WAVELETS, help="Shape of the wavelets")
    octaves = Int(6, low=1, high=MOST_OCTAVES, help="Number of octaves from the shortest to the longest wavelet")
    voices = Int(10, low=1, high=MOST_VOICES, label="Voices per octave", help="Number of wavelets per octave")
    symmetry = Float(
        3.0, low=1.0, high=20.0, help="Gamma of the Morse wavelet", visible_when=lambda layer: layer.wavelet == "morse"
    )
    time_bandwidth = Float(
        60.0,
        low=3.0,
        high=120.0,
        label="Time-bandwidth product",
        help="P² of the Morse wavelet: larger is longer in time and sharper in frequency; more than the symmetry",
        visible_when=lambda layer: layer.wavelet == "morse",
    )

    @property
    def rows(self) -> int:
        """Number of wavelets."""
        return self.octaves * self.voices

    def problems(self) -> list[FieldError]:
        if self.wavelet != "morse" or self.symmetry <= self.time_bandwidth <= 40 * self.symmetry:
            return []
        low, high = self.symmetry, 40 * self.symmetry
        message = f"must be from the symmetry, {low:g}, to 40 times it, {high:g}; received {self.time_bandwidth:g}."
        return [FieldError("time_bandwidth", message)]

    def _bank(self, steps: int) -> dict[str, Any]:
        morse = {"symmetry": self.symmetry, "time_bandwidth": self.time_bandwidth} if self.wavelet == "morse" else {}
        return {"steps": steps, "wavelet": self.wavelet, "octaves": self.octaves, "voices": self.voices, **morse}

    def short_value(self) -> str:
        return f"{self.rows:,} scales"


CWT_GIVES = {**SIZES, **PARTS}


class Cwt(_Wavelets):
    """Compares a signal with wavelets of many lengths, at each step: a scalogram.

        W[s, t] = the inverse Fourier transform of X(ω) · ψ(s ω)
        morse: ψ(ω) = 2 (e γ / β)^(β / γ) · ω^β · exp(-ω^γ), with β = time-bandwidth / γ
        morlet: ψ(ω) = 2 exp(-(ω - 6)² / 2)

    for ω above zero, else 0. Scales grow by 2^(1 / voices) from one to the next; the shortest wavelet has half its
    height at half the sampling rate. A sine of amplitude 1 gives the magnitude 1 at its scale. The signal counts as
    periodic. As an image, rows are scales from the highest frequency down, columns are steps. MATLAB's layer chooses
    its scales by the length of the signal; here they are octaves × voices.

    The length must be known: the wavelets are made for it. Exported to ONNX the transform becomes a convolution with
    the wavelets.

    Input: (N, T, C). Output: (N, C', S, T) as an image or (N, T, C' S) as a sequence, with S = octaves · voices scales
    and C' = C, or 2 C for both parts.

    Source: Lilly, Olhede: Generalized Morse wavelets as a superfamily of analytic wavelets, 2012.
    """

    key, label, family = "cwt", "Continuous wavelet transform", "Signal"
    matlab = "cwtLayer"
    gives = Choice("magnitude", options=tuple(CWT_GIVES), notes=CWT_GIVES, help="Output for each coefficient W[s, t]")
    layout = _layout()

    def output(self, x: TensorType) -> TensorType:
        expect(x, "sequence")
        for problem in self.problems():
            raise ShapeError(f"The field {problem}", field=problem.path)
        steps = x.known("T", "the wavelets are made for it. Give the sequence input a length")
        channels = x.channels * (2 if self.gives == "parts" else 1)
        return _arranged(x, self.layout, channels, self.rows, steps)

    def lower(self, x: TensorType) -> Lowered:
        as_sequence = {"as_sequence": True} if self.layout == "sequence" else {}
        return module(f"{OWN}Cwt", **self._bank(x.known("T", "")), gives=self.gives, **as_sequence)


class InverseCwt(_Wavelets):
    """Makes a signal of its continuous wavelet transform: of the parts that the layer for it gives.

        X(ω) = sum over s of ψ(s ω) W[s](ω) / sum over s of ψ(s ω)²

    by least squares: each frequency that some wavelet covers comes back as it was; where the sum below is under a
    thousandth of its largest value, also at zero (the mean), it becomes zero. MATLAB's layer integrates over the scales
    instead, which is close to it. Take real and imaginary parts as channels beside each other, as an image or as a
    sequence, and the wavelets of the transform.

    The length must be known. Exported to ONNX the transform becomes a convolution.

    Input: (N, 2 C, S, T) or (N, T, 2 C S). Output: (N, T, C).

    Source: Torrence, Compo: A practical guide to wavelet analysis, 1998; least squares in place of a delta function.
    """

    key, label, family = "inverse_cwt", "Inverse continuous wavelet transform", "Signal"
    matlab = "icwtLayer"

    def output(self, x: TensorType) -> TensorType:
        expect(x, "image", "sequence")
        for problem in self.problems():
            raise ShapeError(f"The field {problem}", field=problem.path)
        return sequence(self._steps(x), _channels_of_parts(x, self.rows, "scales", "octaves"))

    def _steps(self, x: TensorType) -> int:
        return x.known("W" if x.layout == "image" else "T", "the wavelets are made for it")

    def lower(self, x: TensorType) -> Lowered:
        return module(f"{OWN}Cwt", **self._bank(self._steps(x)), inverse=True)


_ROOT3 = math.sqrt(3.0)
SCALING: Final[dict[str, tuple[float, ...]]] = {
    "haar": (math.sqrt(0.5), math.sqrt(0.5)),
    "db2": tuple(c / (4 * math.sqrt(2.0)) for c in (1 + _ROOT3, 3 + _ROOT3, 3 - _ROOT3, 1 - _ROOT3)),
    "db4": (
        0.2303778133088965,
        0.7148465705529157,
        0.6308807679298589,
        -0.0279837694168599,
        -0.1870348117190931,
        0.0308413818355607,
        0.0328830116668852,
        -0.0105974017850690,
    ),
    "sym4": (
        0.0322231006040427,
        -0.0126039672620378,
        -0.0992195435768472,
        0.2978577956052774,
        0.8037387518059161,
        0.4976186676320155,
        -0.0296355276459985,
        -0.0757657147892733,
    ),
}
"""Scaling filters of orthogonal wavelets, whose squares sum to 1."""
ORTHOGONAL = {
    "haar": "Two steps: jumps",
    "db2": "Daubechies, two vanishing moments, four steps",
    "db4": "Daubechies, four vanishing moments, eight steps",
    "sym4": "Daubechies' least asymmetric, four vanishing moments, eight steps",
}
MODWT_GIVES = {
    "analysis": "What each level adds to the signal: the rows sum up to it (multiresolution analysis)",
    "coefficients": "The coefficients of each level; their squares sum up to those of the signal",
}


class Modwt(LayerType):
    """Splits a signal into details from fine to coarse and a smooth rest, at every step. (Maximal overlap DWT)

        V[0] = x
        D[j, t] = sum over l of h[l] · V[j - 1, t - 2^(j - 1) l]
        V[j, t] = sum over l of g[l] · V[j - 1, t - 2^(j - 1) l]

    with the wavelet's scaling filter g, divided by √2, and h[l] = (-1)^l g[L - 1 - l]. The signal counts as periodic.
    Rows are D[1], ..., D[levels], V[levels], or what each of them adds to the signal. Levels above log2(steps) are
    refused where the length is known.

    Input: (N, T, C). Output: (N, C, L + 1, T) as an image or (N, T, C (L + 1)) as a sequence, for L levels.

    Source: Percival, Walden: Wavelet methods for time series analysis, 2000, chapter 5.
    """

    key, label, family = "modwt", "Maximal overlap wavelet transform", "Signal"
    matlab = "modwtLayer"
    levels = Int(5, low=1, high=20, help="Number of decomposition levels; details of level j are about 2^j steps long")
    wavelet = Choice("sym4", options=tuple(ORTHOGONAL), notes=ORTHOGONAL, help="Wavelet of the details")
    gives = Choice("analysis", options=tuple(MODWT_GIVES), notes=MODWT_GIVES, help="Content of the rows")
    layout = _layout()

    def output(self, x: TensorType) -> TensorType:
        expect(x, "sequence")
        steps = x["T"]
        if isinstance(steps, int) and steps < 2**self.levels:
            most = steps.bit_length() - 1
            way_out = f"Use at most {most}." if most else "Use a longer signal."
            raise ShapeError(
                f"{self.levels} levels need at least {2**self.levels:,} steps, the signal has {steps:,}. {way_out}",
                field="levels",
            )
        return _arranged(x, self.layout, x.channels, self.levels + 1, steps)

    def flops(self, x: TensorType) -> int:
        steps = x["T"]
        if not isinstance(steps, int):
            return 0
        products = 2 * self.levels
        if self.gives == "analysis":
            products += sum(2 + self.levels - level for level in range(1, self.levels + 1))
        return 2 * products * len(SCALING[self.wavelet]) * steps * x.channels

    def lower(self, *x: TensorType) -> Lowered:
        arguments: dict[str, Any] = {} if self.gives == "analysis" else {"analysis": False}
        arguments |= {"as_sequence": True} if self.layout == "sequence" else {}
        return module(f"{OWN}Modwt", levels=self.levels, scaling=SCALING[self.wavelet], **arguments)

    def lower_padded(self, x: TensorType) -> Lowered:
        if x.is_open:
            raise ShapeError("The signal counts as periodic, so its first steps follow the last ones.")
        return self.lower(x)

    def short_value(self) -> str:
        return f"{self.levels} level{'s' * (self.levels > 1)}"
