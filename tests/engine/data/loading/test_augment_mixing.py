"""Images mixed with others, and the shares of their classes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from netwright.engine.core.types import image
from netwright.engine.data.loading.augment_mixing import Mixing
from netwright.engine.data.loading.augmentation import EpochChange, augmentation_for
from netwright.engine.data.loading.batches import BatchLoader, ResidentDataset, SampleOrder
from netwright.engine.data.loading.counter_rng import CounterRng
from netwright.engine.data.loading.load import load
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.project.bindings import alone
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import InputInfo, classes_of
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.losses import OutputAdapters, cross_entropy

SAMPLES, CLASSES = 19, 3
WANTED = alone(*classes_of("a", "b", "c"))
BOTH = TrainingOptions(mixup_alpha=0.4, cutmix_alpha=1.0, rand_x_reflection=0.5, seed=2)


class Place(SingleProcess):
    """One of several workers, as far as the data is concerned."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size


def part() -> ResidentDataset:
    pictures = torch.rand(SAMPLES, 2, 6, 8, generator=torch.Generator().manual_seed(0))
    return ResidentDataset((pictures,), (torch.arange(SAMPLES) % CLASSES,))


def batches(options: TrainingOptions, rank: int = 0, size: int = 1, **given: Any) -> BatchLoader:
    known, facts = part(), (InputInfo("image", image(2, 6, 8)),)
    change = augmentation_for(options, DataOptions(source="arrays"), facts, WANTED, known)
    return BatchLoader(known, SampleOrder(SAMPLES, 5, "never", 1), Place(rank, size), transform=change, **given)


def all_of(*workers: BatchLoader) -> tuple[torch.Tensor, torch.Tensor]:
    """Images and shares of an epoch, in the order of the samples."""
    images, shares = [], []
    for step in zip(*(worker.of_epoch(3) for worker in workers), strict=True):
        images += [batch.inputs[0][: batch.count] for batch in step]
        shares += [batch.targets[0][: batch.count] for batch in step]
    return torch.cat(images), torch.cat(shares)


def test_mixup_is_the_sum_of_two_by_their_shares() -> None:
    numbers = torch.arange(SAMPLES)
    options = TrainingOptions(mixup_alpha=0.7, seed=2)
    images, shares = all_of(batches(options))
    draws = CounterRng(2, 3, numbers)
    partner = (draws.unit("partner") * SAMPLES).long()
    share = Mixing(options, SAMPLES, CLASSES)._drawn(0.7, draws, images)
    own = part().inputs[0]
    for number in range(SAMPLES):
        part_of, other = float(share[number]), int(partner[number])
        assert torch.allclose(images[number], part_of * own[number] + (1 - part_of) * own[other], atol=1e-6)
        wanted = [0.0] * CLASSES
        wanted[number % CLASSES] += part_of
        wanted[other % CLASSES] += 1 - part_of
        assert shares[number].tolist() == pytest.approx(wanted, abs=1e-6)


def test_cutmix_takes_a_rectangle_and_counts_what_it_took() -> None:
    numbers = torch.arange(SAMPLES)
    images, shares = all_of(batches(TrainingOptions(cutmix_alpha=1.0, seed=2)))
    partner = (CounterRng(2, 3, numbers).unit("partner") * SAMPLES).long()
    own, sizes = part().inputs[0], set()
    for number in range(SAMPLES):
        if int(partner[number]) == number:
            continue
        is_own = (images[number] == own[number]).all(0)
        taken = (images[number] == own[partner[number]]).all(0)
        assert bool((is_own ^ taken).all()), "each pixel is of one of the two"
        rows, columns = taken.any(1), taken.any(0)
        assert torch.equal(taken, rows.unsqueeze(1) & columns), "what was taken is a rectangle"
        sizes.add(int(taken.sum()))
        wanted = torch.zeros(CLASSES)
        wanted[number % CLASSES] += is_own.float().mean()
        wanted[int(partner[number]) % CLASSES] += taken.float().mean()
        assert torch.allclose(shares[number], wanted, atol=1e-6)
    assert len(sizes) > 5


def test_shares_follow_beta_and_rectangles_their_shares() -> None:
    draws, many = CounterRng(0, 1, torch.arange(20_000)), torch.zeros(20_000, 1, 8, 8)
    mixing = Mixing(TrainingOptions(mixup_alpha=0.5), 20_000, 2)
    _, share = mixing.images(many, many, draws)
    assert float(share.mean()) == pytest.approx(0.5, abs=0.01)
    assert float(share.var()) == pytest.approx(1 / (4 * (2 * 0.5 + 1)), abs=0.005), "1 / (4 · (2 · alpha + 1))"
    found = mixing.partners(draws)
    assert int(found.min()) < 20
    assert int(found.max()) > 19_980
    one = torch.ones(20_000, 1, 8, 8)
    both = Mixing(BOTH, 20_000, 2).images(many, one, draws)
    assert torch.allclose(both[0].mean((1, 2, 3)), 1 - both[1], atol=1e-6)
    is_cut = ((both[0] == 0) | (both[0] == 1)).flatten(1).all(1)
    assert 0.45 < float(is_cut.float().mean()) < 0.65, "half of them, and what mixup leaves as it is"


def test_neither_workers_nor_pieces_decide_who_is_mixed() -> None:
    images, shares = all_of(batches(BOTH))
    for other in ((batches(BOTH, 0, 2), batches(BOTH, 1, 2)), (batches(BOTH, micro_batches=3),)):
        found = all_of(*other)
        assert torch.equal(found[0], images)
        assert torch.equal(found[1], shares)
    plain = [batch.targets[0] for batch in batches(BOTH).one_pass()]
    assert torch.equal(torch.cat(plain), torch.arange(SAMPLES) % CLASSES), "as they are, for statistics"


def test_cross_entropy_takes_each_class_by_its_share() -> None:
    generator = torch.Generator().manual_seed(0)
    output, own, other = torch.randn(7, CLASSES, generator=generator), torch.arange(7) % 3, torch.arange(7) % 2
    share = torch.rand(7, generator=generator)
    shares = Mixing(BOTH, 7, CLASSES).shares(own, other, share)
    for weight, smoothing in ((None, 0.0), (torch.tensor([1.0, 2.0, 0.5]), 0.0), (None, 0.1)):
        by_hand = 0.0
        for row in range(7):
            for numbers, part_of in ((own, share[row]), (other, 1 - share[row])):
                one, target = output[row : row + 1], numbers[row : row + 1]
                by_hand += float(part_of * functional.cross_entropy(one, target, weight, label_smoothing=smoothing))
                if weight is not None:  # torch's mean of one sample divides by its weight
                    by_hand += float(part_of * functional.cross_entropy(one, target)) * (float(weight[target]) - 1)
        assert float(cross_entropy(output, shares, weight, smoothing)) == pytest.approx(by_hand, rel=1e-5)
    assert float(cross_entropy(output.double(), shares)) == pytest.approx(
        float(cross_entropy(output, shares)), rel=1e-5
    )


def test_metrics_go_by_the_larger_share() -> None:
    ends = OutputAdapters(WANTED, mixes=True)
    output = torch.zeros(2, CLASSES)
    assert ends((output,), (torch.tensor([[0.4, 0.6, 0.0], [0.1, 0.2, 0.7]]),))[1][0].tolist() == [1, 2]
    assert ends((output,), (torch.tensor([2, 0]),))[1][0].tolist() == [2, 0], "what is judged is not mixed"


def test_the_look_at_an_epoch_shows_the_mixed_images(tmp_path: Path) -> None:
    data, options = DataOptions(source="digits"), BOTH.replace(rand_x_reflection=0.0)
    known = load(data, tmp_path)
    given = known.split("training")
    count = len(given.targets[0])
    resident = ResidentDataset((torch.from_numpy(given.inputs[0]),), (torch.from_numpy(given.targets[0]),))
    wanted = alone(*known.facts.targets)
    change = augmentation_for(options, data, known.facts.inputs, wanted, resident)
    seen = torch.cat(
        [
            b.inputs[0]
            for b in BatchLoader(
                resident, SampleOrder(count, 100, "never", 1), SingleProcess(), transform=change
            ).of_epoch(4)
        ]
    )
    places = np.array([3, 800])
    looked, _ = EpochChange(options, data, epoch=4)(
        given.inputs[0][places], None, places, count, lambda some: given.inputs[0][some]
    )
    assert np.array_equal(looked, seen[places].numpy())
    assert not np.array_equal(looked, given.inputs[0][places])
