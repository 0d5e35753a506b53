"""Makes the drum sounds of an example project, WAV files of 8 bits: one folder per instrument. The same bytes each
time."""

import wave
from pathlib import Path
from typing import Any

import numpy as np

Sound = np.ndarray[Any, Any]
RATE_HZ, STEPS, PER_KIND = 8_000, 2_400, 40
KINDS = ("bell", "clap", "hat", "kick", "snare", "tom")
TIMES = np.arange(STEPS) / RATE_HZ


def _fall(duration_s: float) -> Sound:
    return np.exp(-TIMES / duration_s)


def _tone(frequencies_hz: Sound) -> Sound:
    return np.sin(2 * np.pi * np.cumsum(np.broadcast_to(frequencies_hz, STEPS)) / RATE_HZ)


def _hiss(random: np.random.Generator, share: float) -> Sound:
    """Return noise without its low frequencies, by a filter of one pole."""
    noise, low = random.standard_normal(STEPS), 0.0
    for step, value in enumerate(noise):
        low += share * (value - low)
        noise[step] -= low
    return noise


def make_sound(kind: str, random: np.random.Generator) -> Sound:
    """Return a beat on an instrument, bytes with 128 as silence: of random pitch, length, loudness and beginning, in a
    noisy room."""
    if kind == "kick":
        sound = _tone(random.uniform(45, 75) + random.uniform(40, 120) * _fall(0.02)) * _fall(
            random.uniform(0.05, 0.12)
        )
    elif kind == "tom":
        sound = _tone(random.uniform(70, 170) * (1 + 0.5 * _fall(0.04))) * _fall(random.uniform(0.06, 0.15))
    elif kind == "snare":
        sound = 0.4 * _tone(np.full(STEPS, random.uniform(150, 240))) * _fall(random.uniform(0.03, 0.07))
        sound += 0.5 * _hiss(random, 0.4) * _fall(random.uniform(0.04, 0.12))
    elif kind == "clap":
        hands = np.cumsum(random.uniform(0.007, 0.014, 3))
        beats = sum(np.where(hand <= TIMES, np.exp((hand - TIMES) / 0.006), 0.0) for hand in hands)
        sound = _hiss(random, 0.4) * (beats + 0.4 * _fall(random.uniform(0.04, 0.1)))
    elif kind == "hat":
        sound = _hiss(random, 0.7) * _fall(random.uniform(0.02, 0.1))
    else:
        pitch, parts = random.uniform(300, 900), ((0.4, 1.0), (0.3, 2.76), (0.2, 3.24))
        sound = sum((height * _tone(np.full(STEPS, pitch * part)) for height, part in parts), np.zeros(STEPS))
        sound *= _fall(random.uniform(0.05, 0.25))
    start = int(random.integers(0, 400))
    sound = np.concatenate([np.zeros(start), sound])[:STEPS]
    sound = sound / np.abs(sound).max() * random.uniform(0.2, 0.8) + random.uniform(0.02, 0.15) * _hiss(random, 0.2)
    levels: Sound = np.clip(np.rint(sound * 100 + 128), 0, 255)
    return levels.astype(np.uint8)


def write_sounds(folder: Path) -> None:
    """Write the files."""
    random = np.random.default_rng(10)
    for kind in KINDS:
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for number in range(PER_KIND):
            with wave.open(str(folder / kind / f"{number:02d}.wav"), "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(1)
                file.setframerate(RATE_HZ)
                file.writeframes(make_sound(kind, random).tobytes())
