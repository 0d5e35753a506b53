"""Sounds as numbers: samples of one rate and length, and spectrograms of them; for training and for new sounds alike.

The power of frequency k in window t is |sum_n w_n x_(t hop + n) exp(-2 pi i k n / F)|^2 / (sum_n w_n)^2, with a
periodic Hann window w and F the next power of two from the window's length on: a sine of amplitude 1 at the frequency
of a bin has the power 1/4. Windows lie within the sound; nothing is padded. The mel scale is that of O'Shaughnessy
(Speech Communication, 1987), as in HTK and torchaudio's `mel_scale="htk"`: mel(f) = 2595 log10(1 + f / 700). Its bands
are triangles of height 1, equally spaced in mel from 0 Hz to half the sample rate (Davis and Mermelstein, 1980).
Decibels are 10 log10(max(power, 1e-10)).
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np

from netwright.engine.core.extras import import_extra
from netwright.engine.data.sources.source import Array
from netwright.engine.project.preparation import SoundPreparation

LEAST_POWER = 1e-10
MOST_RATIO = 50_000
"""Largest numerator and denominator of a ratio of rates; others are rounded to one."""
WINDOWS_AT_ONCE = 4096


def prepare_sound(how: SoundPreparation, samples: Array, rate: int) -> Array:
    """Return samples (frames, channels) of any rate as the input of a network, float32 in the shape `how.shape`."""
    sound = with_channels(samples, how.channels)
    if rate != how.rate:
        sound = resample(sound, rate, how.rate)
    length = how.length
    if len(sound) < length:
        sound = np.concatenate((sound, np.zeros((length - len(sound), how.channels), sound.dtype)))
    sound = sound[:length]
    if how.features == "waveform":
        return sound.astype(np.float32)
    power = np.stack([spectrogram(sound[:, channel], how) for channel in range(how.channels)])
    if how.features == "mel":
        power = power @ mel_bands(how.bands, how.transform, how.rate).T
    levels = (10 * np.log10(np.maximum(power, LEAST_POWER))).astype(np.float32)  # channels, steps, bands
    if how.layout == "image":
        return np.asarray(levels.transpose(0, 2, 1))
    return np.asarray(levels.transpose(1, 0, 2).reshape(levels.shape[1], -1))


def with_channels(samples: Array, channels: int) -> Array:
    """Return samples (frames, any) with this number of channels: the mean of all for one, the first two for two."""
    if channels == 1:
        return np.asarray(samples.mean(1, keepdims=True))
    return np.repeat(samples, 2, 1) if samples.shape[1] == 1 else samples[:, :2]


def resample(samples: Array, rate: int, target_rate: int) -> Array:
    """Return samples (frames, channels) at another rate, by SciPy's polyphase filter (`scipy.signal.resample_poly`)."""
    signal = import_extra("scipy.signal", "audio", "Sounds of different sample rates")
    ratio = Fraction(target_rate, rate).limit_denominator(MOST_RATIO)
    if ratio.numerator > MOST_RATIO:
        ratio = 1 / Fraction(rate, target_rate).limit_denominator(MOST_RATIO)
    resampled: Array = signal.resample_poly(samples, ratio.numerator, ratio.denominator, axis=0)
    return resampled


def spectrogram(samples: Array, how: SoundPreparation) -> Array:
    """Return the power (steps, transform / 2 + 1) of samples (frames), which are at least one window long."""
    weights = np.hanning(how.window + 1)[:-1] if how.window > 1 else np.ones(1)
    windows = np.lib.stride_tricks.sliding_window_view(samples, how.window)[:: how.hop]
    power = np.empty((len(windows), how.transform // 2 + 1))
    for start in range(0, len(windows), WINDOWS_AT_ONCE):
        some = np.fft.rfft(windows[start : start + WINDOWS_AT_ONCE] * weights, how.transform)
        power[start : start + WINDOWS_AT_ONCE] = some.real**2 + some.imag**2
    return np.asarray(power / weights.sum() ** 2)


@lru_cache(maxsize=8)
def mel_bands(bands: int, transform: int, rate: int) -> Array:
    """Return the weights (bands, transform / 2 + 1) of the frequencies in each mel band."""
    edges = hertz(np.linspace(0.0, mel(np.array(rate / 2)), bands + 2))
    frequencies = np.arange(transform // 2 + 1) * (rate / transform)
    rising = (frequencies - edges[:-2, np.newaxis]) / np.diff(edges)[:-1, np.newaxis]
    falling = (edges[2:, np.newaxis] - frequencies) / np.diff(edges)[1:, np.newaxis]
    return np.asarray(np.maximum(0.0, np.minimum(rising, falling)))


def mel(frequency: Array) -> Array:
    """Return frequencies in Hz as mel."""
    return np.asarray(2595.0 * np.log10(1.0 + frequency / 700.0))


def hertz(mels: Array) -> Array:
    """Return mel as frequencies in Hz."""
    return np.asarray(700.0 * (10.0 ** (mels / 2595.0) - 1.0))
