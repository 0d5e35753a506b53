"""Batches of data that is streamed, beside those of the same data in memory: the same numbers at like addresses."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from netwright.engine.data.loading.batches import Batch, BatchLoader, ResidentDataset, SampleOrder, Tensors
from netwright.engine.data.loading.load import load
from netwright.engine.data.loading.loaded import Split
from netwright.engine.data.loading.sequences import Padding
from netwright.engine.data.loading.streaming import StreamedDataset, streamed
from netwright.engine.parallel.process_group import ProcessGroup, SingleProcess
from netwright.engine.project.data import DataOptions
from netwright.engine.training.precision import Precision

CPU = torch.device("cpu")
OPTIONS = DataOptions(source="arrays", path="some.npz", validation_share=0.0, test_share=0.0)


class Second(SingleProcess):
    """The second of two workers, alone."""

    rank, size = 1, 2


def both(folder: Path, *, has_lengths: bool = False) -> tuple[ResidentDataset, StreamedDataset]:
    drawn = np.random.default_rng(0)
    arrays: dict[str, Any] = {
        "x": drawn.normal(size=(37, 5, 3)),
        "t": drawn.integers(0, 9, (37, 4)),
        "y": np.arange(37) % 2,
    }
    if has_lengths:
        arrays["x_lengths"] = drawn.integers(1, 6, 37)
    np.savez(folder / "some.npz", **arrays)
    held, read = (_part(folder, is_streamed=how) for how in (False, True))
    kinds, padding, follows = ["real", "index"], Padding(), [None]
    lengths = [held.lengths[0], None] if has_lengths else []
    one = ResidentDataset.of(held.inputs, kinds, held.targets, CPU, lengths, padding, follows)
    return one, streamed(read.inputs, kinds, read.targets, CPU, lengths, padding, follows)


def _part(folder: Path, *, is_streamed: bool) -> Split:
    return load(OPTIONS, folder, is_streamed=is_streamed).split("training")


def assert_alike(one: Batch, other: Batch) -> None:
    assert (one.count, one.total, one.micro_batch_sizes) == (other.count, other.total, other.micro_batch_sizes)
    for a, b in zip((*one.inputs, *one.targets), (*other.inputs, *other.targets), strict=True):
        assert (a.dtype, a.stride()) == (b.dtype, b.stride())
        assert torch.equal(a, b)
    a, b = one.inputs[0], other.inputs[0]
    assert a.data_ptr() % 64 == b.data_ptr() % 64, "sums of what lies otherwise may round in another way"


class Added:
    """A change that shows in which epoch a sample was seen, and under which number."""

    def wanted(self, places: torch.Tensor, epoch: int) -> torch.Tensor:
        return places

    def __call__(self, inputs: Tensors, targets: Tensors, places: torch.Tensor, epoch: int) -> tuple[Tensors, Tensors]:
        return (inputs[0] + epoch * places.view(-1, 1, 1), *inputs[1:]), targets


@pytest.mark.parametrize("has_lengths", [False, True])
@pytest.mark.parametrize("group", [SingleProcess(), Second()])
def test_batches_are_those_of_data_in_memory(tmp_path: Path, group: ProcessGroup, *, has_lengths: bool) -> None:
    held, read = both(tmp_path, has_lengths=has_lengths)
    order = SampleOrder(37, 8, "every-epoch", 3)

    one, other = (BatchLoader(part, order, group, micro_batches=2, transform=Added()) for part in (held, read))
    assert one._at_once == other._at_once
    for epoch, first in ((1, 0), (2, 3)):
        pairs = list(zip(one.of_epoch(epoch, first), other.of_epoch(epoch, first), strict=True))
        assert len(pairs) == 5 - first
        for pair in pairs:
            assert_alike(*pair)


@pytest.mark.parametrize("precision", ["fp32", "fp64"])
def test_what_is_judged_is_what_is_in_memory(tmp_path: Path, precision: str) -> None:
    doubled = Precision(precision, CPU, SingleProcess())
    held, read = map(doubled.data, both(tmp_path))
    pieces = [list(part.shard_batches(1, 2, 4)) for part in (held, read)]
    for pair in zip(*pieces, strict=True):
        assert_alike(*pair)


def test_a_few_samples_by_themselves(tmp_path: Path) -> None:
    held, read = both(tmp_path)
    for chosen in (slice(3, 9), torch.tensor([5, 1, 8])):
        for a, b in zip(held.at(chosen), read.at(chosen), strict=True):
            assert all(torch.equal(x, y) for x, y in zip(a, b, strict=True))
    assert len(read) == 37
    assert read.sample_bytes == held.sample_bytes
    assert read.span(0) == held.span(0)


def test_a_few_samples_take_no_memory_for_all_others(tmp_path: Path) -> None:
    _, read = both(tmp_path)
    many = replace(read, targets=(torch.ones(1).expand(10**12),))  # an index for each would take 8 TB
    inputs, targets = many.at(slice(3, 9))
    assert torch.equal(inputs[0], read.at(slice(3, 9))[0][0])
    assert targets[0].tolist() == [1.0] * 6


def test_an_epoch_that_is_left_in_the_middle_leaves_no_reader(tmp_path: Path) -> None:
    _, read = both(tmp_path)
    epoch = BatchLoader(read, SampleOrder(37, 4, "never", 0), SingleProcess()).of_epoch(1)
    read_at_once = next(epoch)
    assert read_at_once.count == 4
    del epoch
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("reader")]
