"""The readers of further formats of data; `tests.fuzz.state_readers` has those of tables, NumPy's arrays and images."""

import gzip
import io
import random
import struct
import tarfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.io
import soundfile
import tokenizers
from safetensors.numpy import save

from netwright.engine.data.loading.load import load
from netwright.engine.project.data import DataOptions
from tests.engine.data.sources.shard_files import parquet_pictures, pictures, write_tar
from tests.fuzz import mutate
from tests.fuzz.fuzzed_readers import reader
from tests.fuzz.state_readers import read_data

COUNT = 6
Y = np.array([0, 1, 0, 1, 2, 2])


def _read_arrays(folder: Path, path: str, generator: random.Random) -> None:
    """Whole, and sample by sample."""
    options = DataOptions(source="arrays", path=path, task=generator.choice(["auto", "auto", "classes", "numbers"]))
    read_data(options, folder)
    load(options, folder, is_streamed=True).split("training").inputs[0][:]


def _drawn(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal(shape)


def _safetensors(folder: Path) -> list[bytes]:
    images = (_drawn(COUNT, 1, 4, 4) * 50).astype(np.uint8)
    return [save({"x": _drawn(COUNT, 3).astype(np.float32), "y": Y}), save({"x": images, "y": Y > 1})]


@reader("data in safetensors", "d.safetensors", mutate.tensors_file, _safetensors)
def read_safetensors(folder: Path, generator: random.Random) -> None:
    _read_arrays(folder, "d.safetensors", generator)


def _hdf5(folder: Path) -> list[bytes]:
    found = []
    for how in ({}, {"chunks": (2, 3, 2), "compression": "gzip"}):
        whole = io.BytesIO()
        with h5py.File(whole, "w") as file:
            file.create_dataset("x", data=_drawn(COUNT, 5, 2), **how)
            file.create_dataset("y", data=["a", "b", "a", "b", "c", "c"] if how else Y)
            file.create_dataset("group/more", data=_drawn(COUNT, 2).astype(np.float32))
        found.append(whole.getvalue())
    return found


@reader("hdf5", "d.h5", mutate.any_bytes, _hdf5)
def read_hdf5(folder: Path, generator: random.Random) -> None:
    _read_arrays(folder, "d.h5", generator)


def _matlab(folder: Path) -> list[bytes]:
    names = np.empty((COUNT, 1), object)
    names[:, 0] = ["cat", "dog"] * 3
    walks = np.empty(COUNT, object)
    walks[:] = [_drawn(2 + number, 2) for number in range(COUNT)]
    found = []
    for content, how in (
        ({"x": _drawn(4, 4, 1, COUNT), "y": Y[:, np.newaxis] + 1.0}, {}),
        ({"data": {"x": _drawn(COUNT, 3), "walks": walks}, "y": names, "rate": 8000.0}, {"do_compression": True}),
        ({"x": _drawn(COUNT, 3), "y": Y + 1.0}, {"format": "4"}),
    ):
        whole = io.BytesIO()
        scipy.io.savemat(whole, content, **how)
        found.append(whole.getvalue())
    whole = io.BytesIO()
    with h5py.File(whole, "w", userblock_size=512) as file:
        file["x"], file["y"] = _drawn(COUNT, 1, 4, 4), Y[np.newaxis] * 1.0
        file["x"].attrs["MATLAB_class"] = file["y"].attrs["MATLAB_class"] = np.bytes_("double")
    return [*found, b"MATLAB 7.3 MAT-file".ljust(512) + whole.getvalue()[512:]]


@reader("matlab", "d.mat", mutate.any_bytes, _matlab)
def read_matlab(folder: Path, generator: random.Random) -> None:
    _read_arrays(folder, "d.mat", generator)


def _idx(folder: Path) -> list[bytes]:
    labels = struct.pack(">BBBBI", 0, 0, 8, 1, COUNT) + Y.astype(np.uint8).tobytes()
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(labels))
    images = struct.pack(">BBBBIII", 0, 0, 8, 3, COUNT, 4, 4) + bytes(range(96))
    return [images, images, gzip.compress(images)]


@reader("idx", "train-images-idx3-ubyte", mutate.any_bytes, _idx)
def read_idx(folder: Path, generator: random.Random) -> None:
    file, packed = folder / "train-images-idx3-ubyte", folder / "train-images-idx3-ubyte.gz"
    packed.unlink(missing_ok=True)
    if file.read_bytes()[:1] == b"\x1f":
        file.rename(packed)
    _read_arrays(folder, ".", generator)


def _cifar(folder: Path) -> list[bytes]:
    (folder / "batches.meta.txt").write_text("\n".join("abcdefghij"), encoding="utf-8")
    drawn = np.random.default_rng(0).integers(0, 256, (COUNT, 3073), dtype=np.uint8)
    drawn[:, 0] = Y
    return [drawn.tobytes(), b"\x80\x04N."]


@reader("cifar", "data_batch_1.bin", mutate.any_bytes, _cifar)
def read_cifar(folder: Path, generator: random.Random) -> None:
    _read_arrays(folder, "data_batch_1.bin", generator)


def _sounds(folder: Path) -> list[bytes]:
    """One of each format, and two classes around them."""
    samples = _drawn(400, 1).clip(-3, 3) / 4
    for place in ("sounds/a/b.wav", "sounds/b/a.wav"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(folder / place, samples, 8000)
    found = []
    for form, subtype in (("WAV", "PCM_16"), ("WAV", "PCM_24"), ("WAV", "FLOAT"), ("FLAC", None), ("OGG", None)):
        whole = io.BytesIO()
        soundfile.write(whole, samples, 8000 if form != "FLAC" else 16000, format=form, subtype=subtype)
        found.append(whole.getvalue())
    return found


@reader("sounds", "sounds/a/a.wav", mutate.any_bytes, _sounds)
def read_sounds(folder: Path, generator: random.Random) -> None:
    features, layout = generator.choice(["mel", "spectrogram", "waveform"]), generator.choice(["image", "sequence"])
    duration = generator.choice([0, 0, 0.03])
    options = DataOptions(
        source="audio", path="sounds", sound_features=features, sound_layout=layout, sound_duration=duration
    )
    read_data(options, folder)


def _texts(folder: Path) -> list[bytes]:
    text = "".join(f"Line {number}: the cat sat on the mat, and slept.\n" for number in range(30))
    return [text.encode(), text.encode("utf-16"), "Ä ö 日本語 \u202e\U0001f600\n".encode() * 40]


@reader("texts", "d.txt", mutate.any_bytes, _texts)
def read_texts(folder: Path, generator: random.Random) -> None:
    options = DataOptions(
        source="text",
        path="d.txt",
        tokens=generator.choice(["word", "byte", "piece"]),
        text_samples=generator.choice(["blocks", "lines"]),
        text_encoding=generator.choice(["utf-8", "utf-8", "latin-1", "utf-16"]),
        block_length=generator.choice([1, 8, 20]),
        vocabulary_limit=300,
    )
    read_data(options, folder)


def _tokenizers(folder: Path) -> list[bytes]:
    (folder / "d.csv").write_text("text,y\n" + "".join(f"the cat {number},{'ab'[number % 2]}\n" for number in range(9)))
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(
        ["the cat sat"] * 9, tokenizers.trainers.BpeTrainer(vocab_size=40, show_progress=False)
    )
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"the": 0, "cat": 1, "?": 2}, unk_token="?"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return [tokenizer.to_str().encode(), words.to_str().encode()]


@reader("tokenizer.json", "tokenizer.json", mutate.json_file, _tokenizers)
def read_tokenizer(folder: Path, generator: random.Random) -> None:
    read_data(DataOptions(source="text", path="d.csv", tokens="file", tokenizer_file="tokenizer.json"), folder)


def _shards(folder: Path) -> list[bytes]:
    return [
        write_tar(folder / "d.tar", pictures(0, 3), form).read_bytes()
        for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT)
    ]


@reader("shards", "d.tar", mutate.any_bytes, _shards)
def read_shards(folder: Path, generator: random.Random) -> None:
    """Mostly with right checksums: others are refused at the first header."""
    path = folder / "d.tar"
    if generator.random() < 0.8:
        blocks = bytearray(path.read_bytes())
        for at in range(0, len(blocks) - 511, 512):
            if blocks[at + 257 : at + 262] == b"ustar":
                total = sum(blocks[at : at + 148]) + 8 * 32 + sum(blocks[at + 156 : at + 512])
                blocks[at + 148 : at + 156] = b"%06o\0 " % total
        path.write_bytes(blocks)
    response = generator.choice(["", "cls", "json:size", "json:name"])
    options = DataOptions(source="shards", path="d.tar", response=response)
    read_data(options, folder)
    load(options, folder, is_streamed=True).split("training").inputs[0][:]


def _parquet_shards(folder: Path) -> list[bytes]:
    parquet_pictures(folder / "d.parquet", COUNT)
    return [(folder / "d.parquet").read_bytes()]


@reader("shards of parquet", "d.parquet", mutate.any_bytes, _parquet_shards)
def read_parquet_shards(folder: Path, generator: random.Random) -> None:
    read_data(DataOptions(source="shards", path="d.parquet"), folder)
