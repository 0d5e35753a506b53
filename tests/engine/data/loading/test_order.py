"""The order of samples is a function of seed and epoch, and each worker's share one of step and rank."""

import numpy as np
import pytest
import torch

from netwright.engine.data.loading.batches import EPOCHS_LIMIT, BatchLoader, ResidentDataset, SampleOrder, shard_range
from netwright.engine.parallel.process_group import SingleProcess


class Place(SingleProcess):
    """One of several workers, as far as the data is concerned."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size


def order(shuffle: str = "every-epoch", seed: int = 3, samples: int = 11, batch: int = 4, keep_last: bool = True):
    return SampleOrder(samples, batch, shuffle, seed, keep_last=keep_last)


def test_the_same_seed_and_epoch_give_the_same_order() -> None:
    assert order().of_epoch(5).tolist() == order().of_epoch(5).tolist()
    assert sorted(order().of_epoch(5).tolist()) == list(range(11))


def test_indices_of_32_bits_are_in_the_order_of_64() -> None:
    drawn = torch.randperm(1000, generator=torch.Generator().manual_seed(3 * EPOCHS_LIMIT + 5))
    assert order(samples=1000).of_epoch(5).dtype == torch.int32
    assert order(samples=1000).of_epoch(5).tolist() == drawn.tolist()


def test_epochs_and_seeds_differ() -> None:
    assert order().of_epoch(1).tolist() != order().of_epoch(2).tolist()
    assert order(seed=3).of_epoch(1).tolist() != order(seed=4).of_epoch(1).tolist()


def test_once_keeps_its_order_and_never_has_none() -> None:
    assert order("once").of_epoch(1).tolist() == order("once").of_epoch(9).tolist() != list(range(11))
    assert order("never").of_epoch(2).tolist() == list(range(11))


def test_the_last_batch_is_kept_or_discarded() -> None:
    assert order().steps_per_epoch == 3
    assert order().batch(2) == (8, 11)
    assert order(keep_last=False).steps_per_epoch == 2
    assert order(samples=12, keep_last=False).steps_per_epoch == 3


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_shares_are_contiguous_and_complete(size: int) -> None:
    ranges = [shard_range(10, 13, rank, size) for rank in range(size)]
    assert [n for begin, end in ranges for n in range(begin, end)] == [10, 11, 12]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_workers_together_see_each_batch_of_one_worker(size: int) -> None:
    numbers = torch.arange(9)
    part = ResidentDataset((numbers.float()[:, None],), (numbers,))
    whole = [batch.targets[0].tolist() for batch in BatchLoader(part, order(samples=9), Place(0, 1)).of_epoch(2)]
    each = [list(BatchLoader(part, order(samples=9), Place(rank, size)).of_epoch(2)) for rank in range(size)]
    joined = [[n for b in step for n in b.targets[0][: b.count].tolist()] for step in zip(*each, strict=True)]
    assert joined == whole
    assert [batch.total for batch in each[0]] == [4, 4, 1]


def test_an_empty_share_brings_one_sample_that_does_not_count() -> None:
    part = ResidentDataset((torch.arange(5.0)[:, None],), (torch.arange(5),))
    *_, last = BatchLoader(part, order("never", samples=5), Place(1, 2)).of_epoch(1)
    assert (last.count, last.total, len(last.targets[0])) == (0, 1, 1)


def test_shard_batches_of_all_workers_cover_the_data_once() -> None:
    part = ResidentDataset((torch.arange(7.0)[:, None],), (torch.arange(7),))
    seen = [
        n
        for rank in range(3)
        for piece in part.shard_batches(rank, 3, 2)
        for n in piece.targets[0][: piece.count].tolist()
    ]
    assert seen == list(range(7))


def test_padding_is_cut_to_the_longest_of_a_share_and_lengths_follow_the_inputs() -> None:
    lengths = np.array([2, 5, 1, 3, 4])
    x, features = np.zeros((5, 9, 2), np.float32), np.zeros((5, 3), np.float32)
    x[:, :, 0] = np.arange(1, 6)[:, np.newaxis]
    part = ResidentDataset.of([x, features], ["real", "real"], [np.arange(5)], torch.device("cpu"), [lengths, None])
    batches = [*BatchLoader(part, order(samples=5, batch=2), Place(0, 1)).of_epoch(1), *part.shard_batches(0, 1, 2)]
    for batch in batches:
        sequences, others, steps = batch.inputs
        assert steps.tolist() == lengths[batch.targets[0].numpy()].tolist()
        assert sequences.shape == (len(steps), int(steps.max()), 2)
        assert sequences[:, 0, 0].tolist() == (batch.targets[0] + 1).tolist()
        assert len(others) == len(steps)


@pytest.mark.parametrize("samples", [400, 403, 9000])
def test_buckets_bring_like_lengths_together_and_lose_nothing(samples: int) -> None:
    lengths = torch.randint(1, 100, (samples,), generator=torch.Generator().manual_seed(1))
    plain = SampleOrder(samples, 10, "every-epoch", 3)
    near = SampleOrder(samples, 10, "every-epoch", 3, lengths=lengths)

    def padded(numbers: torch.Tensor) -> int:
        return sum(int(lengths[batch].max()) * len(batch) for batch in numbers.split(10))

    numbers = near.of_epoch(1)
    assert sorted(numbers.tolist()) == list(range(samples))
    assert padded(numbers) < 1.1 * int(lengths.sum()) < padded(plain.of_epoch(1))
    assert torch.equal(numbers, near.of_epoch(1))
    assert not torch.equal(numbers, near.of_epoch(2))
    means = torch.stack([lengths[batch].double().mean() for batch in numbers.split(10)])
    assert not torch.equal(means, means.sort().values)


def test_a_cut_batch_ends_with_its_shortest_sequence_on_every_worker() -> None:
    lengths = np.array([4, 7, 3, 9])
    part = ResidentDataset.of(
        [np.zeros((4, 9, 2), np.float32)], ["real"], [np.arange(4)], torch.device("cpu"), [lengths]
    )
    for rank in (0, 1):
        (batch,) = BatchLoader(part, order("never", samples=4), Place(rank, 2), cut=True).of_epoch(1)
        assert batch.inputs[0].shape == (2, 3, 2)
        assert batch.inputs[1].tolist() == [3, 3]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_micro_batch_holds_the_same_samples_on_any_number_of_workers(size: int) -> None:
    numbers = torch.arange(9)
    part = ResidentDataset((numbers.float()[:, None],), (numbers,))
    each = [
        list(BatchLoader(part, order(samples=9), Place(rank, size), micro_batches=3).of_epoch(2))
        for rank in range(size)
    ]
    whole = [batch.targets[0] for batch in BatchLoader(part, order(samples=9), Place(0, 1)).of_epoch(2)]
    for step, samples in enumerate(whole):
        pieces = zip(*(list(batches[step].micro_batches()) for batches in each), strict=True)
        found = [[n for piece in workers for n in piece.targets[0][: piece.count].tolist()] for workers in pieces]
        assert found == [some.tolist() for some in samples.tensor_split(min(3, len(samples)))]
        assert {piece.total for batches in each for piece in batches[step].micro_batches()} == {len(samples)}
        assert all(len(piece.targets[0]) for batches in each for piece in batches[step].micro_batches())


SHARDS = torch.arange(12).repeat_interleave(10)


@pytest.mark.parametrize("sizes", [[10] * 12, [3, 17, 5, 9, 40, 1, 2, 11, 8, 4]])
def test_a_window_of_shards_holds_every_sample_once(sizes: list[int]) -> None:
    shards = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
    near = SampleOrder(len(shards), 8, "every-epoch", 3, shards=shards, window=4)
    numbers = near.of_epoch(1)
    assert sorted(numbers.tolist()) == list(range(len(shards)))
    assert torch.equal(numbers, near.of_epoch(1))
    assert not torch.equal(numbers, near.of_epoch(2))
    seen = shards[numbers].tolist()
    last = {shard: place for place, shard in enumerate(seen)}
    first = {shard: place for place, shard in reversed(list(enumerate(seen)))}
    for place in range(0, len(seen), 8):  # the batch between two windows holds samples of both
        assert sum(first[shard] < place + 8 and last[shard] >= place for shard in last) <= 8


@pytest.mark.parametrize("size", [1, 2, 4])
def test_each_worker_reads_shards_of_its_own(size: int) -> None:
    near = SampleOrder(120, 8, "every-epoch", 3, shards=SHARDS, window=4)
    numbers = torch.arange(120)
    part = ResidentDataset((numbers.float()[:, None],), (numbers,))
    each = [list(BatchLoader(part, near, Place(rank, size)).of_epoch(2)) for rank in range(size)]
    read = [{int(SHARDS[n]) for batch in batches for n in batch.targets[0].tolist()} for batches in each]
    assert sum(map(len, read)) == 12, "no shard is read by two workers"
    assert all(len(shards) == 12 // size for shards in read)
    samples = [n for batches in each for batch in batches for n in batch.targets[0].tolist()]
    assert sorted(samples) == list(range(120)), "together they read every sample once"
    together = [sorted(n for batch in step for n in batch.targets[0].tolist()) for step in zip(*each, strict=True)]
    alone = BatchLoader(part, near, Place(0, 1)).of_epoch(2)
    assert together == [sorted(batch.targets[0].tolist()) for batch in alone], "a batch is the same on any number"


def test_an_epoch_of_windows_goes_on_where_it_stopped() -> None:
    near = SampleOrder(120, 8, "every-epoch", 3, shards=SHARDS, window=4)
    numbers = torch.arange(120)
    batches = BatchLoader(ResidentDataset((numbers.float()[:, None],), (numbers,)), near, Place(1, 2))
    whole = [batch.targets[0].tolist() for batch in batches.of_epoch(2)]
    assert [batch.targets[0].tolist() for batch in batches.of_epoch(2, 9)] == whole[9:]
