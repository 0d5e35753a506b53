"""Built-in digits: 1,797 handwritten ones of 8 × 8 pixels. Origin: resources/data/ATTRIBUTION.md."""

from collections.abc import Hashable
from pathlib import Path

import numpy as np

from netwright.engine.core.files import RESOURCES
from netwright.engine.core.types import image
from netwright.engine.data.sources.source import Array, Outline, Samples, Source
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import InputInfo, classes_of
from netwright.engine.project.sources import digits as declaration

PATH = RESOURCES / "data" / "digits.npz"


class Digits(Source):
    """Grey images with values from 0 to 16, as in the original set."""

    def stamp(self, path: Path) -> Hashable:
        """Return 0, since the data comes with the program and does not change."""
        return 0

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """Return the outline with all samples, since they are few."""
        with np.load(PATH, allow_pickle=False) as file:
            images, labels = file["images"], file["labels"]
        _, height, width = images.shape
        return Outline(
            inputs=(InputInfo("image", image(1, height, width), span=declaration.Digits.span),),
            targets=(labels.astype(np.int64),),
            wanted=classes_of(*(str(digit) for digit in range(10)), name="digit"),
            samples=Samples((images[:, np.newaxis],)),
            resident_because="the digits are small",
        )

    def samples(self, options: DataOptions, path: Path, outline: Outline, indices: Array | None = None) -> Samples:
        """Return the images (N, C, H, W)."""
        assert outline.samples is not None
        (images,) = outline.samples.arrays
        return Samples((images if indices is None else images[indices],))
