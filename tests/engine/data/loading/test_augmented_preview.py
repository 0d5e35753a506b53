"""What a person is shown of an epoch is what that epoch trains with."""

from pathlib import Path

import numpy as np
import torch

from netwright.engine.data.loading.augmentation import EpochChange, augmentation_for
from netwright.engine.data.loading.batches import BatchLoader, ResidentDataset, SampleOrder
from netwright.engine.data.loading.load import load
from netwright.engine.data.loading.preview_data import preview
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.project.bindings import alone
from netwright.engine.project.data import DataOptions
from netwright.engine.project.training import TrainingOptions

OPTIONS = TrainingOptions(
    rand_rotation=20, rand_crop_padding=1, jitter_contrast=0.4, noise_deviation=0.5, erasing_probability=0.5, seed=3
)
DATA = DataOptions(source="digits")


def test_the_look_at_an_epoch_shows_what_it_trains_with(tmp_path: Path) -> None:
    data = load(DATA, tmp_path)
    part = data.split("training")
    count = len(part.targets[0])
    resident = ResidentDataset((torch.from_numpy(part.inputs[0]),), (torch.arange(count),))
    wanted = alone(*data.facts.targets)
    trained = augmentation_for(OPTIONS, DATA, data.facts.inputs, wanted, resident)
    batches = BatchLoader(resident, SampleOrder(count, 100, "every-epoch", 1), SingleProcess(), transform=trained)
    seen = {int(n): x for batch in batches.of_epoch(5) for n, x in zip(batch.targets[0], batch.inputs[0], strict=True)}
    places = np.array([7, 1200, 3])
    images = part.inputs[0][places].astype(np.uint8)
    change = EpochChange(OPTIONS, DATA, epoch=5)
    looked, maps = change(images, None, places, count, lambda some: part.inputs[0][some].astype(np.uint8))
    assert maps is None
    for place, image in zip(places.tolist(), looked, strict=True):
        assert np.array_equal(image, seen[place].numpy())
        assert not np.array_equal(image, part.inputs[0][place])


def test_a_preview_of_an_epoch_shows_training_samples_with_their_masks(tmp_path: Path) -> None:
    mask = np.zeros((30, 6, 6), np.int64)
    mask[:, :, 3:] = 1
    np.savez(tmp_path / "d.npz", x=(mask[:, np.newaxis] * 200.0).astype(np.float32), y=mask)
    options = DataOptions(source="arrays", path="d.npz")
    flipped = TrainingOptions(rand_x_reflection=1.0)
    found = preview(options, tmp_path, tmp_path / "look", 8, EpochChange(flipped, options, epoch=1))
    assert {picture["split"] for picture in found["pictures"]} == {"training"}
    from PIL import Image

    for picture in found["pictures"]:
        with Image.open(picture["file"]) as image, Image.open(picture["mask"]) as classes:
            assert np.array_equal(np.asarray(image) == 200, np.asarray(classes) == 1)
            assert np.asarray(classes)[:, :3].all(), "what was at the right is at the left"
