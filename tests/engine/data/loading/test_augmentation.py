"""Batches whose images are changed: which samples, with whom, on how many workers."""

from dataclasses import replace

import pytest
import torch

from netwright.engine.core.types import features, image
from netwright.engine.data.loading.augmentation import augmentation_for
from netwright.engine.data.loading.batches import BatchLoader, ResidentDataset, SampleOrder
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.project.bindings import alone
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import IGNORED, InputInfo, TargetInfo, classes_of
from netwright.engine.project.training import TrainingOptions

SAMPLES = 23
OPTIONS = TrainingOptions(
    rand_x_reflection=0.5,
    rand_rotation=30,
    rand_crop_padding=1,
    jitter_brightness=0.2,
    jitter_hue=0.1,
    noise_deviation=0.5,
    erasing_probability=0.3,
    seed=4,
)
INPUTS = (InputInfo("pose", features(3)), InputInfo("image", image(3, 6, 7)))
MASK = TargetInfo("mask", image(2, 6, 7), "classes", ("a", "b"))


class Place(SingleProcess):
    """One of several workers, as far as the data is concerned."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size


def part() -> ResidentDataset:
    """A vector and an image a sample, its class, and a mask of small numbers."""
    generator = torch.Generator().manual_seed(0)
    pose, pictures = torch.randn(SAMPLES, 3, generator=generator), torch.rand(SAMPLES, 3, 6, 7, generator=generator)
    masks = (pictures[:, 0] > 0.5).to(torch.int8)
    return ResidentDataset((pose, pictures * 255), (torch.arange(SAMPLES), masks))


def batches(
    options: TrainingOptions = OPTIONS, rank: int = 0, size: int = 1, micro_batches: int = 1, batch: int = 6
) -> BatchLoader:
    known = part()
    wanted = alone(*classes_of("a", "b"), MASK)
    change = augmentation_for(options, DataOptions(source="arrays"), INPUTS, wanted, known)
    order = SampleOrder(SAMPLES, batch, "every-epoch", 1)
    return BatchLoader(known, order, Place(rank, size), micro_batches=micro_batches, transform=change)


def by_sample(*workers: BatchLoader, epoch: int = 1, first: int = 0) -> dict[int, tuple[torch.Tensor, ...]]:
    """What each sample became, by its number, which stands in the first target."""
    found: dict[int, tuple[torch.Tensor, ...]] = {}
    for worker in workers:
        for batch in worker.of_epoch(epoch, first):
            for row in range(batch.count):
                number = int(batch.targets[0][row])
                found[number] = (batch.inputs[0][row], batch.inputs[1][row], batch.targets[1][row])
    return found


def alike(one: dict[int, tuple[torch.Tensor, ...]], other: dict[int, tuple[torch.Tensor, ...]]) -> bool:
    return one.keys() == other.keys() and all(
        torch.equal(a, b) for number in one for a, b in zip(one[number], other[number], strict=True)
    )


def test_a_sample_becomes_the_same_on_any_number_of_workers_in_any_batches_and_pieces() -> None:
    whole = by_sample(batches())
    assert len(whole) == SAMPLES
    assert alike(by_sample(batches(rank=0, size=2), batches(rank=1, size=2)), whole)
    assert alike(by_sample(batches(micro_batches=3)), whole)
    assert alike(by_sample(batches(batch=1)), whole)
    rest = by_sample(batches(), first=2)
    assert len(rest) == SAMPLES - 12
    assert alike(rest, {number: whole[number] for number in rest})


def test_each_epoch_and_seed_changes_them_anew() -> None:
    one, two, other = by_sample(batches()), by_sample(batches(), epoch=2), by_sample(batches(OPTIONS.replace(seed=5)))
    for number in range(SAMPLES):
        assert not torch.equal(one[number][1], two[number][1])
        assert not torch.equal(one[number][1], other[number][1])


def test_only_images_and_the_targets_of_their_pixels_change() -> None:
    plain, changed = by_sample(batches(TrainingOptions())), by_sample(batches())
    for number in range(SAMPLES):
        assert torch.equal(plain[number][0], changed[number][0])
        assert not torch.equal(plain[number][1], changed[number][1])
    assert {int(value) for each in changed.values() for value in each[2].unique()} == {0, 1, IGNORED}
    colours = by_sample(batches(TrainingOptions(jitter_contrast=0.5)))
    for number in range(SAMPLES):
        assert torch.equal(plain[number][2], colours[number][2]), "colours move no pixel"


def test_masks_stay_with_their_pixels() -> None:
    options = TrainingOptions(rand_x_reflection=0.5, rand_y_reflection=0.5, rand_crop_padding=2, fill_value=[-1])
    for _, picture, mask in by_sample(batches(options)).values():
        inside = picture[0] >= 0
        assert torch.equal(mask == IGNORED, ~inside)
        assert torch.equal(mask[inside] == 1, picture[0][inside] > 127.5)


def test_what_looks_at_all_samples_sees_them_as_they_are() -> None:
    seen = {int(n): x for batch in batches().one_pass() for n, x in zip(batch.targets[0], batch.inputs[1], strict=True)}
    assert all(torch.equal(seen[number], part().inputs[1][number]) for number in range(SAMPLES))
    assert not alike(by_sample(batches()), by_sample(batches(TrainingOptions())))


@pytest.mark.parametrize(("source", "white"), [("arrays", 200.0), ("images", 255.0)])
def test_white_is_255_in_picture_files_and_else_the_largest_number(source: str, white: float) -> None:
    options = TrainingOptions(jitter_brightness=10.0)
    pictures = torch.full((50, 1, 2, 2), 100.0)
    pictures[0], pictures[1] = 0.0, 200.0
    facts = (InputInfo("image", image(1, 2, 2)),)
    change = augmentation_for(
        options,
        DataOptions(source=source),
        facts,
        alone(*classes_of("a", "b")),
        ResidentDataset((pictures,), ()),
    )
    assert change is not None
    (bright,), _ = change((pictures,), (torch.zeros(50),), torch.arange(50), 1)
    assert float(bright.max()) == white


def test_with_no_option_nothing_is_made() -> None:
    assert augmentation_for(TrainingOptions(), DataOptions(), INPUTS, alone(MASK), part()) is None


def test_sequences_of_any_length_beside_images_are_left_alone() -> None:
    known = part()
    lengths = torch.full((SAMPLES,), 3)
    mixed = replace(known, lengths=(lengths, None))
    change = augmentation_for(OPTIONS, DataOptions(), INPUTS, alone(*classes_of("a", "b"), MASK), known)
    order = SampleOrder(SAMPLES, 6, "every-epoch", 1)
    found = by_sample(BatchLoader(mixed, order, SingleProcess(), transform=change))
    assert alike(found, by_sample(batches()))
