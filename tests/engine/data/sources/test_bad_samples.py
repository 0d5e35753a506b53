"""Samples that cannot be read while they are streamed: another one of the split stands in, always the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from netwright.engine.data.loading.batches import BatchLoader, SampleOrder
from netwright.engine.data.loading.load import load
from netwright.engine.data.loading.reader_processes import ReaderProcesses
from netwright.engine.data.loading.sequences import Padding
from netwright.engine.data.loading.streaming import StreamedDataset, streamed
from netwright.engine.data.sources import bad_samples
from netwright.engine.data.sources.bad_samples import MOST_TRIED
from netwright.engine.data.sources.source import BadSampleError
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.project.data import DataOptions

CPU = torch.device("cpu")
OPTIONS = DataOptions(source="arrays", path="a.npz", validation_share=0.0, test_share=0.0)


def write(folder: Path, bad: list[int], **more: Any) -> None:
    x = np.arange(40, dtype=np.float32).reshape(20, 2)
    x[bad, 0] = np.nan
    np.savez(folder / "a.npz", x=x, y=np.arange(20, dtype=np.float32), **more)


def dataset(folder: Path, bad: str = "skip") -> StreamedDataset:
    part = load(OPTIONS.replace(bad_samples=bad), folder, is_streamed=True).split("training")
    return streamed(part.inputs, ["real"], part.targets, CPU, [], Padding(), [None])


@pytest.fixture
def skipped() -> Any:
    told: list[tuple[str, str]] = []
    bad_samples.on_skipped(lambda *values: told.append(values))
    yield told
    bad_samples.on_skipped(bad_samples._ignore)


def test_the_next_sample_that_can_be_read_stands_in_with_its_target(tmp_path: Path, skipped: Any) -> None:
    write(tmp_path, [3, 7, 8, 19])
    data = dataset(tmp_path)
    for _ in range(2):  # the second time it is known
        inputs, targets = data.at(slice(0, 20))
        expected = [0, 1, 2, 4, 4, 5, 6, 9, 9, 9, *range(10, 19), 0]
        assert targets[0].flatten().tolist() == expected
        assert inputs[0][:, 0].tolist() == [2 * number for number in expected]
    assert skipped == [(str(number), "it holds numbers that are not finite") for number in (3, 7, 8, 19)]


def test_batches_do_not_matter_nor_what_was_read_before(tmp_path: Path) -> None:
    write(tmp_path, [3, 7, 8, 19])

    def seen(size: int, first: int, rank: int = 0, workers: int = 1) -> dict[int, float]:
        group = SingleProcess()
        group.rank, group.size = rank, workers
        loader = BatchLoader(dataset(tmp_path), SampleOrder(20, size, "every-epoch", 3), group)
        order = SampleOrder(20, size, "every-epoch", 3).of_epoch(2).tolist()
        batches = list(loader.of_epoch(2, first))
        targets = [value for batch in batches for value in batch.targets[0][: batch.count].flatten().tolist()]
        return dict(zip(order[first * size :], targets, strict=False)) if workers == 1 else dict(enumerate(targets))

    whole = seen(4, 0)
    assert seen(10, 0) == whole
    resumed = seen(4, 3)
    assert resumed == {place: whole[place] for place in resumed}
    parts = sorted([*seen(4, 0, 0, 2).values(), *seen(4, 0, 1, 2).values()])
    assert parts == sorted(whole.values()), "two workers see the same samples"


def test_without_skipping_it_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, [3])
    with pytest.raises(BadSampleError, match="sample 3 holds numbers"):
        dataset(tmp_path, "fatal").at(slice(0, 20))


def test_where_nothing_can_be_read_something_else_is_wrong(tmp_path: Path) -> None:
    write(tmp_path, list(range(20)))
    assert MOST_TRIED >= 20
    with pytest.raises(BadSampleError):
        dataset(tmp_path).at(slice(0, 4))


def test_statistics_of_a_split_pass_over_it(tmp_path: Path) -> None:
    write(tmp_path, [3])
    part = load(OPTIONS.replace(bad_samples="skip"), tmp_path, is_streamed=True).split("training")
    values = np.concatenate(list(part.inputs[0].chunks(6)))
    assert values[3].tolist() == [8.0, 9.0]
    assert np.isfinite(values).all()


def test_a_sequence_is_cut_to_the_length_of_the_one_it_stands_in_for(tmp_path: Path) -> None:
    lengths = np.array([4, 2, 1, 3, 5, 4])
    x = np.ones((6, 5, 1), np.float32) * np.arange(1, 7)[:, np.newaxis, np.newaxis]
    x[1, 0] = np.nan
    y = np.where(np.arange(5) < lengths[:, np.newaxis], 1.0, np.nan)[..., np.newaxis] * x * 10
    y[1, :2] = 20
    np.savez(tmp_path / "a.npz", x=x, y=y.astype(np.float32), x_lengths=lengths, y_lengths=lengths)
    part = load(OPTIONS.replace(bad_samples="skip"), tmp_path, is_streamed=True).split("training")
    data = streamed(part.inputs, ["real"], part.targets, CPU, list(part.lengths), Padding(), [0])
    (inputs, *_), (targets,) = data.at(slice(0, 6))
    assert inputs[1, :, 0].tolist() == [4.0, 4.0, 0.0, 0.0, 0.0], "the third is too short; the fourth is cut"
    assert targets[1, :2, 0].tolist() == [40.0, 40.0]
    assert targets[1, 2:].isnan().all()


def test_reader_processes_tell_which_sample_is_bad(tmp_path: Path) -> None:
    write(tmp_path, [3])
    reader = load(OPTIONS, tmp_path, is_streamed=True).inputs[0]
    assert not isinstance(reader, np.ndarray)
    processes = ReaderProcesses(reader)
    with pytest.raises(BadSampleError) as error:
        processes.read(np.arange(20), np.empty((20, 2), np.float32))
    assert (error.value.sample, error.value.reason) == ("3", "it holds numbers that are not finite")
    processes.close()
