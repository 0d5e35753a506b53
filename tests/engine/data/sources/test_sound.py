"""Spectrograms: by hand, beside SciPy, and the mel scale by its published values."""

import numpy as np
import pytest
import scipy.signal

from netwright.engine.data.sources.sound import (
    hertz,
    mel,
    mel_bands,
    prepare_sound,
    resample,
    spectrogram,
    with_channels,
)
from netwright.engine.project.preparation import SoundPreparation

FOUR = SoundPreparation(
    rate=4, channels=1, length=6, features="spectrogram", layout="image", window=4, hop=2, transform=4
)
NOISE = np.random.default_rng(0).normal(size=4000) * 0.1


def test_a_transform_of_four_samples_by_hand() -> None:
    """The window is 0, 1/2, 1, 1/2, its sum 2. Of 1, 2, 3, 4 it leaves 0, 1, 3, 2, whose transform is 6, -3 + i, 0."""
    power = spectrogram(np.array([1.0, 2, 3, 4, 0, 0]), FOUR)
    np.testing.assert_allclose(power[0], [36 / 4, 10 / 4, 0], atol=1e-15)
    np.testing.assert_allclose(power[1], [1, 1, 1])  # of 3, 4, 0, 0 it leaves 0, 2, 0, 0


def test_a_sine_has_a_quarter() -> None:
    how = SoundPreparation(
        rate=64, channels=1, length=64, features="spectrogram", layout="image", window=64, hop=1, transform=64
    )
    power = spectrogram(np.sin(2 * np.pi * 8 * np.arange(64) / 64), how)
    assert power[0, 8] == pytest.approx(0.25)
    assert power[0, 20] < 1e-20


def test_it_is_that_of_scipy() -> None:
    how = SoundPreparation(
        rate=8000, channels=1, length=4000, features="spectrogram", layout="image", window=200, hop=80, transform=256
    )
    _, _, other = scipy.signal.spectrogram(
        NOISE, 8000, "hann", 200, 120, 256, detrend=False, scaling="spectrum", mode="psd"
    )
    other[1:-1] /= 2  # which adds the negative frequencies
    np.testing.assert_allclose(spectrogram(NOISE, how), other.T, rtol=1e-9)


def test_the_mel_scale_and_its_bands() -> None:
    assert mel(np.array(1000.0)) == pytest.approx(999.99, abs=0.01)
    assert hertz(mel(np.array(440.0))) == pytest.approx(440)
    bands = mel_bands(40, 512, 16000)
    assert bands.shape == (40, 257)
    peaks = bands.argmax(1) * 16000 / 512
    centres = hertz(np.linspace(0, mel(np.array(8000.0)), 42))[1:-1]
    assert np.abs(peaks - centres).max() <= 16000 / 512
    inner = slice(int(centres[0] * 512 / 16000) + 1, int(centres[-1] * 512 / 16000))
    np.testing.assert_allclose(bands[:, inner].sum(0), 1.0)  # triangles overlap by half


@pytest.mark.parametrize("features", ["waveform", "spectrogram", "mel"])
@pytest.mark.parametrize("layout", ["image", "sequence"])
@pytest.mark.parametrize("channels", [1, 2])
def test_shapes_are_those_of_the_record(features, layout, channels) -> None:
    how = SoundPreparation(
        rate=8000,
        channels=channels,
        length=4000,
        features=features,
        layout=layout,
        window=200,
        hop=80,
        transform=256,
        bands=20 if features == "mel" else 0,
    )
    for count in (3000, 4000, 9000):
        sound = prepare_sound(how, np.resize(NOISE, (count, 2)), 8000)
        assert (sound.shape, sound.dtype) == (how.shape, np.float32)


def test_levels_are_decibels_from_silence_on() -> None:
    how = SoundPreparation(
        rate=64, channels=1, length=64, features="spectrogram", layout="image", window=64, hop=64, transform=64
    )
    loud = prepare_sound(how, np.sin(2 * np.pi * 8 * np.arange(64) / 64)[:, np.newaxis], 64)
    assert loud[0, 8, 0] == pytest.approx(-6.02, abs=0.01)
    assert (prepare_sound(how, np.zeros((64, 1)), 64) == -100).all()


@pytest.mark.parametrize(("rate", "wanted"), [(44100, 16000), (8000, 16000), (47999, 16001)])
def test_a_tone_keeps_its_pitch_when_resampled(rate: int, wanted: int) -> None:
    tone = np.sin(2 * np.pi * 440 * np.arange(rate) / rate)[:, np.newaxis]
    found = resample(tone, rate, wanted)
    assert len(found) == pytest.approx(wanted, abs=2)
    expected = np.sin(2 * np.pi * 440 * np.arange(len(found)) / wanted)
    assert np.abs(found[:, 0] - expected)[200:-200].max() < 5e-3


def test_channels() -> None:
    stereo = np.array([[1.0, 3.0], [0.0, 1.0]])
    assert with_channels(stereo, 1).tolist() == [[2.0], [0.5]]
    assert with_channels(stereo[:, :1], 2).tolist() == [[1.0, 1.0], [0.0, 0.0]]
