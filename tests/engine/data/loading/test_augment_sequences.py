"""Shift, noise and masking of sequences: by sample and epoch, on real steps only, with targets per step along."""

from dataclasses import replace

import pytest
import torch

from netwright.engine.core.types import sequence
from netwright.engine.data.loading.augmentation import Augmentation, EpochChange, augmentation_for
from netwright.engine.data.loading.batches import BatchLoader, ResidentDataset, SampleOrder
from netwright.engine.data.loading.sequences import Padding
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.project.bindings import alone
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import InputInfo, TargetInfo, classes_of
from netwright.engine.project.training import TrainingOptions

COUNT, STEPS = 12, 9
LENGTHS = torch.arange(COUNT) % STEPS + 1
INPUTS = (InputInfo("x", sequence(STEPS, 2)),)
PER_STEP = TargetInfo("y", sequence(STEPS, 3), "classes", ("a", "b", "c"))
ALL = TrainingOptions(rand_time_shift=(-3, 3), sequence_noise=0.5, time_mask=4, seed=2)


def dataset(*, varied: bool = False, is_left: bool = False) -> ResidentDataset:
    """Sequences that count their steps, and targets that say the same."""
    x = torch.arange(float(STEPS)).view(1, STEPS, 1).repeat(COUNT, 1, 2) + 10 * torch.arange(COUNT).view(-1, 1, 1)
    y = torch.arange(STEPS).repeat(COUNT, 1)
    if not varied:
        return ResidentDataset((x,), (y,), (None,), follows=(0,))
    is_padding = torch.arange(STEPS) >= LENGTHS.unsqueeze(1)
    x[is_padding], y[is_padding] = 0.0, -100
    padding = Padding(is_seen=True, is_left=True, value=-7.0) if is_left else Padding()
    return ResidentDataset((x,), (y,), (LENGTHS,), padding, (0,))


def made(options: TrainingOptions, part: ResidentDataset, target: TargetInfo = PER_STEP) -> Augmentation:
    change = augmentation_for(options, DataOptions(source="arrays"), INPUTS, alone(target), part)
    assert change is not None
    return change


def by_sample(options: TrainingOptions, part: ResidentDataset, batch: int, epoch: int = 1) -> dict[int, list[float]]:
    """The values of each sample without its padding, by its number."""
    numbered = replace(part, targets=(torch.arange(COUNT),), follows=(None,))
    order = SampleOrder(COUNT, batch, "every-epoch", 1)
    loader = BatchLoader(numbered, order, SingleProcess(), transform=made(options, part, *classes_of("a", "b")))
    found = {}
    for one in loader.of_epoch(epoch):
        for number, x in zip(one.targets[0].tolist(), one.inputs[0], strict=True):
            kept = int(LENGTHS[number]) if part.lengths[0] is not None else STEPS
            real = x[-kept:] if part.padding.is_left else x[:kept]
            found[number] = real.flatten().tolist()
    return found


@pytest.mark.parametrize("varied", [False, True])
def test_a_sample_is_changed_by_its_number_and_epoch_alone(varied: bool) -> None:
    part = dataset(varied=varied)
    first = by_sample(ALL, part, 4)
    assert by_sample(ALL, part, 5) == first, "in whatever batch it is"
    assert by_sample(ALL, part, 4, epoch=2) != first
    assert by_sample(ALL.replace(seed=3), part, 4) != first
    left = by_sample(ALL, dataset(varied=varied, is_left=True), 4) if varied else first
    for number, values in first.items():
        assert left[number] == pytest.approx(values, rel=1e-6), "on whatever side padding is"


def test_a_shift_takes_targets_along_and_repeats_the_ends() -> None:
    part = dataset(varied=True)
    change = made(TrainingOptions(rand_time_shift=(2, 2)), part)
    (x,), (y,) = change((part.inputs[0],), (part.targets[0],), torch.arange(COUNT), 1)
    assert y[8].tolist() == [0, 0, 0, 1, 2, 3, 4, 5, 6]
    assert x[8, :, 0].tolist() == [80, 80, 80, 81, 82, 83, 84, 85, 86]
    assert y[2].tolist() == [0, 0, 0, *[-100] * 6], "padding stays"
    assert x[2, 3:].abs().max() == 0
    back = made(TrainingOptions(rand_time_shift=(-2, -2)), part)
    _, (y,) = back((part.inputs[0],), (part.targets[0],), torch.arange(COUNT), 1)
    assert y[4].tolist() == [2, 3, 4, 4, 4, *[-100] * 4]


def test_masked_steps_get_the_mean_of_their_channel() -> None:
    part = dataset()
    change = made(TrainingOptions(time_mask=4), part)
    (x,), (y,) = change(part.inputs, part.targets, torch.arange(COUNT), 1)
    assert torch.equal(y, part.targets[0])
    changed = (x != part.inputs[0])[:, :, 0]
    means = part.inputs[0].mean(1)
    assert 0 < changed.sum(1).max() <= 4
    for number in range(COUNT):
        places = changed[number].nonzero().flatten()
        assert torch.equal(x[number, places], means[number].expand(len(places), 2))
        assert len(places) < 2 or int(places[-1] - places[0]) <= 4


def test_noise_has_its_deviation_and_leaves_padding() -> None:
    part = dataset(varied=True)
    (x,), _ = made(TrainingOptions(sequence_noise=0.5), part)(part.inputs, part.targets, torch.arange(COUNT), 1)
    real = torch.arange(STEPS) < LENGTHS.unsqueeze(1)
    noise = x - part.inputs[0]
    assert 0.35 < float(noise[real].std()) < 0.65
    assert float(noise[~real].abs().max()) == 0.0


def test_a_preview_shows_what_an_epoch_trains_with() -> None:
    part = dataset(varied=True)
    seen = by_sample(ALL, part, 4, epoch=3)
    places = torch.tensor([7, 2, 5])
    change = EpochChange(ALL, DataOptions(source="arrays"), 3)
    given, wanted = (tensors[0][places].numpy() for tensors in (part.inputs, part.targets))
    x, y = change.sequences(given, wanted, LENGTHS[places].numpy(), places.numpy(), STEPS)
    assert y is not None
    for number, shown in zip(places.tolist(), x, strict=True):
        assert shown[: LENGTHS[number]].flatten().tolist() == seen[number]
