"""What is learned from other formats of data, each written by its reference writer."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.io
import soundfile
from safetensors.numpy import save_file

from tests.builders import chain, layer
from tests.runs import train
from tests.system.test_training_kinds import project_of

COUNT = 60
DRAWN = np.random.default_rng(3)
Y = DRAWN.integers(0, 2, COUNT)
"""Dark and bright images."""


def images(*sizes: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return (DRAWN.integers(0, 100, (COUNT, *sizes)) + 150 * Y.reshape(-1, *(1 for _ in sizes))).astype(np.uint8)


def safetensors(folder: Path) -> str:
    save_file({"x": images(1, 8, 8), "y": Y}, folder / "d.safetensors")
    return "d.safetensors"


def hdf5(folder: Path) -> str:
    with h5py.File(folder / "d.h5", "w") as file:
        file.create_dataset("x", data=images(1, 8, 8), chunks=(7, 1, 8, 8), compression="gzip")
        file["y"] = ["dark" if is_dark else "bright" for is_dark in Y == 0]
    return "d.h5"


def matlab(folder: Path) -> str:
    scipy.io.savemat(folder / "d.mat", {"x": images(1, 8, 8).transpose(2, 3, 1, 0), "y": Y[:, np.newaxis] + 1.0})
    return "d.mat"


def mnist(folder: Path) -> str:
    for name, values in (("images-idx3", images(8, 8)), ("labels-idx1", Y)):
        head = struct.pack(f">BBBB{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
        (folder / f"train-{name}-ubyte").write_bytes(head + values.astype(np.uint8).tobytes())
    return "train-images-idx3-ubyte"


def cifar(folder: Path) -> str:
    records = np.concatenate((Y[:, np.newaxis].astype(np.uint8), images(3 * 32 * 32)), 1)
    (folder / "data_batch_1.bin").write_bytes(records.tobytes())
    return "."


@pytest.mark.parametrize("write", [safetensors, hdf5, matlab, mnist, cifar])
def test_bright_images_are_told_from_dark_ones(tmp_path: Path, write: Callable[[Path], str]) -> None:
    data = {"source": "arrays", "path": write(tmp_path), "loading": "auto" if write is matlab else "stream"}
    channels, size = (3, (32, 32)) if write is cifar else (1, (8, 8))
    network = chain(
        layer("image_input", channels=channels, size=size),
        layer("flatten"),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    training = {"solver": "adam", "initial_learn_rate": 0.01, "max_epochs": 4, "mini_batch_size": 10}
    done = train(project_of(network, data, {}, training), tmp_path / "run")
    assert done.result["state"] == "finished"
    assert done.result["test"]["accuracy"] >= 0.9


def test_high_tones_are_told_from_low_ones(tmp_path: Path) -> None:
    """Spectrograms of FLAC files as sequences, streamed."""
    for name, frequency in (("high", 1500), ("low", 300)):
        (tmp_path / "d" / name).mkdir(parents=True)
        for number in range(20):
            time = np.arange(1600) / 8000
            sound = 0.5 * np.sin(2 * np.pi * (frequency + number) * time) + DRAWN.normal(size=1600) * 0.05
            soundfile.write(tmp_path / "d" / name / f"{number}.flac", sound, 8000)
    data = {"source": "audio", "path": "d", "sound_layout": "sequence", "mel_bands": 12, "loading": "stream"}
    network = chain(
        layer("sequence_input", channels=12),
        layer("lstm", hidden_units=8, output_mode="last"),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    training = {"solver": "adam", "initial_learn_rate": 0.02, "max_epochs": 6, "mini_batch_size": 7}
    done = train(project_of(network, data, {}, training), tmp_path / "run")
    assert done.result["state"] == "finished"
    assert done.result["test"]["accuracy"] >= 0.9


@pytest.mark.parametrize("tokens", ["word", "piece"])
def test_reviews_are_classified(tmp_path: Path, tokens: str) -> None:
    """Texts of unequal lengths; one word tells the class."""
    filler = ["the", "film", "was", "seen", "by", "us", "today", "and", "then"]
    rows = []
    for number in range(60):
        words = [*DRAWN.choice(filler, DRAWN.integers(2, 8)), ("dull", "great")[number % 2], *DRAWN.choice(filler, 2)]
        rows.append(f"{' '.join(words)},{('bad', 'good')[number % 2]}")
    (tmp_path / "d.csv").write_text("\n".join(["review,label", *rows]) + "\n")
    data = {"source": "text", "path": "d.csv", "tokens": tokens, "vocabulary_limit": 300}
    network = chain(
        layer("sequence_input", content="indices"),
        layer("embedding", vocabulary=300, dimension=8),
        layer("lstm", hidden_units=16, output_mode="last"),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    training = {"solver": "adam", "initial_learn_rate": 0.02, "max_epochs": 15, "mini_batch_size": 10}
    done = train(project_of(network, data, {}, training), tmp_path / "run")
    assert done.result["state"] == "finished"
    assert done.result["test"]["accuracy"] >= 0.8


def test_the_next_byte_is_predicted(tmp_path: Path) -> None:
    """Of a text that repeats itself, each byte but the first few of a block follows from those before."""
    (tmp_path / "d.txt").write_text("the cat sat on a mat. " * 60)
    data = {"source": "text", "path": "d.txt", "tokens": "byte", "block_length": 32, "block_stride": 8}
    network = chain(
        layer("sequence_input", content="indices"),
        layer("embedding", vocabulary=256, dimension=16),
        layer("lstm", hidden_units=32, output_mode="sequence"),
        layer("fully_connected", outputs=256),
        layer("softmax"),
    )
    training = {"solver": "adam", "initial_learn_rate": 0.02, "max_epochs": 20, "mini_batch_size": 8}
    done = train(project_of(network, data, {}, training), tmp_path / "run")
    assert done.result["state"] == "finished"
    assert done.result["test"]["accuracy"] >= 0.8
