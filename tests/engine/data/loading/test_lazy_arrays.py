"""Samples that are read when they are wanted, beside the same ones in memory."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.load import load
from netwright.engine.data.loading.normalization import fit
from netwright.engine.data.sources.prefetch import ALIGNMENT, LazySteps, SampleCache, aligned_array
from netwright.engine.data.sources.source import Array
from netwright.engine.project.data import DataOptions

PICTURES = DataOptions(source="images", path="pets", image_size=5)
ARRAYS = DataOptions(source="arrays", path="some.npz", validation_share=0.2, test_share=0.2)
SPLITS = ("training", "validation", "test")


def pictures(folder: Path, count: int = 9) -> None:
    drawn = np.random.default_rng(2)
    for name in ("cat", "dog"):
        (folder / "pets" / name).mkdir(parents=True)
        for index in range(count):
            numbers = drawn.integers(0, 256, (7, 6, 3), dtype=np.uint8)
            Image.fromarray(numbers).save(folder / "pets" / name / f"{index}.jpg")


def assert_alike(options: DataOptions, folder: Path, *, cache_bytes: int = 0) -> None:
    held, read = load(options, folder), load(options, folder, is_streamed=True, cache_bytes=cache_bytes)
    assert read.facts == held.facts
    for name in SPLITS:
        one, other = held.split(name), read.split(name)
        for number, array in enumerate(one.inputs):
            for _ in range(2):  # the second time from the cache, if there is one
                found = other.inputs[number][:]
                assert found.dtype == array.dtype
                np.testing.assert_array_equal(found, array)
        for given, wanted in zip((*other.targets, *other.lengths), (*one.targets, *one.lengths), strict=True):
            np.testing.assert_array_equal(given, wanted)


@pytest.mark.parametrize("cache_bytes", [0, 500, 2**20])
def test_streamed_pictures_are_those_in_memory(tmp_path: Path, cache_bytes: int) -> None:
    pictures(tmp_path)
    assert_alike(PICTURES, tmp_path, cache_bytes=cache_bytes)


def test_pictures_with_masks_are_streamed_too(tmp_path: Path) -> None:
    drawn = np.random.default_rng(3)
    for name in "abcdefgh":
        for folder, most in (("pets", 256), ("masks", 3)):
            (tmp_path / folder).mkdir(exist_ok=True)
            numbers = drawn.integers(0, most, (6, 6), dtype=np.uint8)
            Image.fromarray(numbers).save(tmp_path / folder / f"{name}.png")
    assert_alike(DataOptions(source="images", path="pets", masks="masks"), tmp_path)


@pytest.mark.parametrize("kind", ["float32", "float64", "uint8", "int16", ">f4", "bool", "complex64", "one", "tokens"])
def test_streamed_arrays_are_those_in_memory(tmp_path: Path, kind: str) -> None:
    drawn = np.random.default_rng(4)
    x = drawn.normal(size=(20, 3, 4, 5)) * 50
    given: dict[str, Array] = {"one": x[:, 0, 0, 0].astype(np.float32), "tokens": drawn.integers(0, 7, (20, 6))}
    array: Array = given[kind] if kind in given else (x + 1j * x[::-1] if kind == "complex64" else x).astype(kind)
    np.savez(tmp_path / "some.npz", first=array, second=x[:, 0], y=np.arange(20) % 2)
    assert_alike(ARRAYS, tmp_path)


def test_a_folder_of_npy_files_holds_what_one_npz_file_does(tmp_path: Path) -> None:
    drawn = np.random.default_rng(4)
    arrays = {"x": drawn.normal(size=(20, 3, 4, 5)), "y": np.arange(20) % 2}
    np.savez(tmp_path / "some.npz", x=arrays["x"], y=arrays["y"])
    (tmp_path / "apart").mkdir()
    for name, array in arrays.items():
        np.save(tmp_path / "apart" / f"{name}.npy", array)
    apart = ARRAYS.replace(path="apart")
    assert_alike(apart, tmp_path)
    one, other = load(ARRAYS, tmp_path), load(apart, tmp_path)
    assert one.facts == other.facts
    np.testing.assert_array_equal(one.split("training").inputs[0], other.split("training").inputs[0])
    np.save(tmp_path / "apart" / "x.npy", np.asfortranarray(arrays["x"]))
    assert "array 'x' cannot be read sample by sample" in load(apart, tmp_path).facts.resident_because
    assert_alike(apart, tmp_path)


@pytest.mark.parametrize("damage", ["cut", "objects", "none"])
def test_a_folder_of_arrays_that_cannot_be_used_says_why(tmp_path: Path, damage: str) -> None:
    (tmp_path / "apart").mkdir()
    file = tmp_path / "apart" / "x.npy"
    match damage:
        case "cut":
            np.save(file, np.ones((20, 3)))
            file.write_bytes(file.read_bytes()[:300])
            why = "x.npy is damaged: array 'x' should have 480 bytes and has 172"
        case "objects":
            np.save(file, np.array([{}] * 20), allow_pickle=True)
            why = "holds Python objects, which are not loaded"
        case _:
            why = "apart is a folder without files of arrays"
    with pytest.raises(UserError, match=why):
        load(ARRAYS.replace(path="apart"), tmp_path)


def test_streamed_sequences_end_where_their_lengths_say(tmp_path: Path) -> None:
    drawn = np.random.default_rng(4)
    x, lengths = drawn.normal(size=(20, 9, 2)), drawn.integers(1, 8, 20)
    x[np.arange(9) >= lengths[:, np.newaxis]] = np.nan  # which nobody looks at
    tokens = np.where(np.arange(9) < lengths[:, np.newaxis], 3, -7)
    np.savez(tmp_path / "some.npz", x=x, x_lengths=lengths, t=tokens, t_lengths=lengths, y=np.arange(20) % 2)
    assert_alike(ARRAYS, tmp_path)
    held, read = (load(ARRAYS, tmp_path, is_streamed=how).split("training") for how in (False, True))
    assert isinstance(read.real(0), LazySteps)
    for step in (1, 7, 1000):
        np.testing.assert_array_equal(np.concatenate(list(read.real(0).chunks(step))), held.real(0))


@pytest.mark.parametrize("kind", ["zerocenter", "zscore", "rescale-zero-one", "rescale-symmetric"])
def test_a_normalisation_is_fitted_to_the_same_bits(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.engine.data.loading.normalization.CHUNK_NUMBERS", 200)
    pictures(tmp_path)
    held, read = (load(PICTURES, tmp_path, is_streamed=how).split("training").real(0) for how in (False, True))
    for one, other in zip(fit(kind, held, 1), fit(kind, read, 1), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_picture_that_is_gone_is_named(tmp_path: Path) -> None:
    pictures(tmp_path)
    options = PICTURES.replace(validation_share=0.0, test_share=0.0)
    part = load(options, tmp_path, is_streamed=True).split("training")
    (tmp_path / "pets" / "dog" / "4.jpg").unlink()
    with pytest.raises(UserError, match=r"dog/4.jpg: it is missing"):
        part.inputs[0][:]


def test_an_array_that_was_cut_off_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "some.npz", x=np.ones((20, 3)), y=np.arange(20) % 2)
    part = load(ARRAYS, tmp_path, is_streamed=True).split("training")
    with open(tmp_path / "some.npz", "r+b") as file:
        file.truncate(300)
    with pytest.raises(UserError, match="was cut off while it was read"):
        part.inputs[0][:]


def test_what_was_given_back_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.engine.data.sources.array_files.MOST_TOUCHED", 100)
    np.savez(tmp_path / "some.npz", x=np.random.default_rng(0).normal(size=(20, 3)), y=np.arange(20) % 2)
    assert_alike(ARRAYS, tmp_path)
    assert_alike(ARRAYS, tmp_path)


@pytest.mark.parametrize("page", [1, 2**20])
def test_samples_far_apart_are_read_each_by_itself_or_from_a_map(
    tmp_path: Path, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.engine.data.sources.array_files.mmap.PAGESIZE", page)
    x = np.random.default_rng(0).normal(size=(50, 3, 2)).astype(np.float32)
    np.savez(tmp_path / "some.npz", x=x, y=np.arange(50) % 2)
    stored = load(ARRAYS, tmp_path, is_streamed=True).split("training").inputs[0].stored
    chosen = np.array([41, 3, 20])
    out = np.empty((3, 3, 2), np.float32)
    stored.read(chosen, out)
    np.testing.assert_array_equal(out, x[chosen])
    with open(tmp_path / "some.npz", "r+b") as file:
        file.truncate(400)
    with pytest.raises(UserError, match="was cut off while it was read"):
        stored.read(chosen, out)


def test_a_sample_that_is_no_number_is_named(tmp_path: Path) -> None:
    x = np.ones((20, 3))
    x[11, 2] = np.inf
    np.savez(tmp_path / "some.npz", x=x, y=np.arange(20) % 2)
    data = load(ARRAYS.replace(validation_share=0.0, test_share=0.0), tmp_path, is_streamed=True)
    with pytest.raises(UserError, match="sample 11 holds numbers that are not finite"):
        data.split("training").inputs[0][:]


@pytest.mark.parametrize("is_by_column", [False, True])
def test_what_cannot_be_streamed_says_why(tmp_path: Path, *, is_by_column: bool) -> None:
    x = np.ones((20, 3))
    if is_by_column:
        np.savez(tmp_path / "some.npz", x=np.asfortranarray(x), y=np.arange(20) % 2)
    else:
        np.savez_compressed(tmp_path / "some.npz", x=x, y=np.arange(20) % 2)
    data = load(ARRAYS, tmp_path, is_streamed=True)
    assert "array 'x' cannot be read sample by sample" in data.facts.resident_because
    assert isinstance(data.split("training").inputs[0], np.ndarray)


def test_no_more_is_kept_than_there_is_room_for() -> None:
    class Counted:
        shape, kind, at_once, largest, where = (10, 4), np.dtype(np.uint8), 3, 0, "here"

        def __init__(self) -> None:
            self.read_numbers: list[int] = []

        def read(self, chosen: Array, out: Array) -> None:
            self.read_numbers += chosen.tolist()
            out[...] = chosen[:, np.newaxis]

    counted = Counted()
    kept = SampleCache(counted, most_bytes=27)
    for _ in range(3):
        for first in (0, 5):
            out = np.empty((5, 4), np.float32)
            kept.read(np.arange(first, first + 5), out)
            np.testing.assert_array_equal(out[:, 0], np.arange(first, first + 5))
    assert sorted(counted.read_numbers) == sorted([*range(10), *range(6, 10), *range(6, 10)])


def test_room_begins_where_torch_begins_its_own() -> None:
    assert all(aligned_array((3, n), np.dtype(np.float32)).ctypes.data % ALIGNMENT == 0 for n in range(1, 40))
