"""Samples that are read in processes of their own: the same numbers, and errors that name the sample."""

import gc
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from PIL import Image

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading import load as loading
from netwright.engine.data.loading.load import load, reads_in_processes
from netwright.engine.data.loading.reader_processes import ReaderProcesses
from netwright.engine.data.sources.source import Array
from netwright.engine.project.data import DataOptions

BYTES = np.dtype(np.uint8)
OPTIONS = DataOptions(
    source="images", path="pictures", image_size=8, loading="stream", validation_share=0.0, test_share=0.0
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    drawn = np.random.default_rng(0)
    for number in range(20):
        place = tmp_path / "pictures" / f"class_{number % 2}"
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(drawn.integers(0, 256, (12, 10, 3), dtype=np.uint8)).save(place / f"{number}.png")
    return tmp_path


@dataclass(frozen=True)
class Fragile:
    """Samples that hold their own number; one of them ends the process, one is refused, one meets a defect."""

    shape: tuple[int, ...] = (10, 3)
    kind: np.dtype[Any] = BYTES
    at_once: int = 4
    largest: int = 0
    where: str = "some folder"

    def name_of(self, number: int) -> str:
        return f"{number}.png"

    def read(self, chosen: np.ndarray, out: np.ndarray) -> None:
        if 7 in chosen:
            os.kill(os.getpid(), signal.SIGSEGV)
        if 8 in chosen:
            raise UserError("8.png is damaged.")
        if 9 in chosen:
            raise ValueError("no such codec")
        out[...] = chosen[:, np.newaxis]


def test_processes_read_what_threads_do(folder: Path) -> None:
    by_threads = load(OPTIONS.replace(readers="threads"), folder, is_streamed=True).split("training").inputs[0]
    by_processes = load(OPTIONS.replace(readers="processes"), folder, is_streamed=True).split("training").inputs[0]
    assert isinstance(by_processes.stored, ReaderProcesses)
    np.testing.assert_array_equal(by_processes[:], by_threads[:])
    assert by_processes[:].std() > 10


def test_a_damaged_image_is_named_as_threads_name_it(folder: Path) -> None:
    samples = load(OPTIONS.replace(readers="processes"), folder, is_streamed=True).split("training").inputs[0]
    (folder / "pictures" / "class_1" / "13.png").write_bytes(b"\x89PNG\r\n\x1a\n damaged")
    with pytest.raises(UserError, match=r"class_1/13\.png: it is damaged"):
        samples[:]
    samples.stored.close()


@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_samples_arrive_in_the_type_that_is_asked_for(kind: type) -> None:
    out: Array = np.empty((3, 3), kind)
    ReaderProcesses(Fragile()).read(np.array([5, 0, 3]), out)
    assert out.tolist() == [[5] * 3, [0] * 3, [3] * 3]


def test_a_sample_that_crashes_its_process_is_named_and_others_are_read() -> None:
    reader = ReaderProcesses(Fragile())
    out = np.full((3, 3), 99, np.uint8)
    with pytest.raises(UserError, match=r"7\.png of some folder cannot be read: the process .* crashed \(SIGSEGV\)"):
        reader.read(np.array([6, 7, 5]), out)
    assert out[0].tolist() == [6] * 3
    reader.read(np.array([5]), out[:1])
    assert out[0].tolist() == [5] * 3


def test_errors_keep_their_words_and_the_process_goes_on() -> None:
    reader = ReaderProcesses(Fragile())
    out = np.empty((1, 3), np.uint8)
    with pytest.raises(UserError, match=r"^8\.png is damaged\.$"):
        reader.read(np.array([8]), out)
    with pytest.raises(RuntimeError, match=r"^ValueError: no such codec$"):
        reader.read(np.array([9]), out)
    first = {child.pid for child in psutil.Process().children()}
    reader.read(np.array([4]), out)
    assert {child.pid for child in psutil.Process().children()} == first


def test_processes_end_with_the_reader() -> None:
    reader = ReaderProcesses(Fragile())
    before = {child.pid for child in psutil.Process().children()}
    reader.read(np.array([1]), np.empty((1, 3), np.uint8))
    (started,) = {child.pid for child in psutil.Process().children()} - before
    del reader
    gc.collect()
    assert not psutil.pid_exists(started)


@pytest.mark.parametrize(
    ("options", "cores", "samples", "expected"),
    [
        (OPTIONS, 2, 2000, True),
        (OPTIONS, 1, 2000, False),
        (OPTIONS, 8, 1999, False),
        (OPTIONS.replace(readers="processes"), 1, 1, True),
        (OPTIONS.replace(readers="threads"), 8, 5000, False),
        (DataOptions(source="arrays", path="x.npz", loading="stream"), 8, 5000, False),
    ],
)
def test_processes_are_taken_on_several_cores_for_many_images(
    options: DataOptions, cores: int, samples: int, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "num_threads", lambda: cores)
    assert reads_in_processes(options, samples) is expected


@pytest.mark.timeout(60)
def test_a_fork_that_holds_the_pipes_does_not_keep_the_end_waiting() -> None:
    readers = ReaderProcesses(Fragile())
    out = np.empty((2, 3), np.uint8)
    readers.read(np.array([1, 2]), out)

    if not (child := os.fork()):  # by a library: a child of ours has no pipes of its parent
        signal.pause()
    try:
        readers.close()
        assert out[:, 0].tolist() == [1, 2]
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
