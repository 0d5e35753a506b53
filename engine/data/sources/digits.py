"""The built-in digits: 1,797 handwritten ones of 8 × 8 pixels. Where they come from: resources/data/ATTRIBUTION.md."""

from collections.abc import Hashable
from pathlib import Path

import numpy as np

from engine.core.files import ROOT
from engine.core.types import image
from engine.data.sources.source import Array, Outline, Readers, Samples
from engine.project.data import DataOptions
from engine.project.dataset_info import InputInfo, classes_of

PATH = ROOT / "resources" / "data" / "digits.npz"


class Digits:
    """Grey images with values from 0 to 16, as the set has them."""

    def stamp(self, path: Path) -> Hashable:
        """It comes with the program and does not change."""
        return 0

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """All of it, since it is small."""
        with np.load(PATH, allow_pickle=False) as file:
            images, labels = file["images"], file["labels"]
        _, height, width = images.shape
        return Outline(
            inputs=(InputInfo("image", image(1, height, width)),),
            targets=(labels.astype(np.int64),),
            wanted=classes_of(*(str(digit) for digit in range(10)), name="digit"),
            samples=Samples((images[:, np.newaxis],)),
            resident_because="the digits are small",
        )

    def samples(self, options: DataOptions, path: Path, outline: Outline, chosen: Array | None = None) -> Samples:
        """The images, N C H W."""
        assert outline.samples is not None
        (images,) = outline.samples.arrays
        return Samples((images if chosen is None else images[chosen],))

    def readers(self, options: DataOptions, path: Path, outline: Outline) -> Readers:
        """Never asked for."""
        raise NotImplementedError
