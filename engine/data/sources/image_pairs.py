"""A folder of images and a folder of target images of the same names: a number for each channel of each pixel.

For denoising, colouring, depth and the like. Names may differ in their suffix (`a.jpg`, `a.png`); both images are
resized to one size, bilinearly.
"""

from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.types import image
from netwright.engine.data.sources.image_file import BadPictureError, read, strictly
from netwright.engine.data.sources.image_reading import (
    MOST_THREADS,
    ImageSource,
    bad_pictures,
    common,
    common_shape,
    image_input,
    looked_at,
)
from netwright.engine.data.sources.images_reader import file_groups
from netwright.engine.data.sources.masks import pairs_of, stamp_of
from netwright.engine.data.sources.source import Outline, refuse_too_large
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import TargetInfo

WHITE = 255.0


@dataclass(frozen=True)
class ImagePairs(ImageSource):
    """Images with target images in another folder."""

    target_images: Path

    def stamp(self, path: Path) -> Hashable:
        """Return a hash of names, sizes and times of all files of both folders."""
        return stamp_of(path, self.target_images)

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """Return the outline, from the headers of some images, and all target images."""
        pairs, notes, warnings = pairs_of(path, self.target_images, options, "target image")
        names, targets = [name for name, _ in pairs], [target for _, target in pairs]
        shape, files, more = common_shape(options, path, names)
        target_channels, *_ = common(looked_at(self.target_images, targets))
        with strictly():
            values = self._read(targets, target_channels, *shape[1:])
        if options.target_values == "zero-one":
            values /= WHITE
        return Outline(
            inputs=(image_input(shape),),
            targets=(values,),
            wanted=(TargetInfo("target", image(values.shape[1], *shape[1:]), "numbers"),),
            notes=(*notes, *more),
            warnings=tuple(warnings),
            raw=files,
            split_keys=file_groups(options, names),
        )

    def _read(self, names: list[str], channels: str, height: int, width: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return all target images (N, C, H, W) in float32, 0 to 255. Raises `UserError`."""
        planes = 1 if channels == "grey" else 3
        subject = f"{len(names):,} {'grey' if planes == 1 else 'colour'} target images of {width:,} × {height:,}"
        refuse_too_large(8 * len(names) * planes * height * width, subject, "Choose a smaller image size.")
        values = np.empty((len(names), planes, height, width), np.float32)

        def read_one(item: tuple[int, str]) -> tuple[str, str] | None:
            number, name = item
            try:
                values[number] = read(self.target_images / name, channels, height, width)
            except BadPictureError as error:
                return name, str(error)
            return None

        with ThreadPoolExecutor(MOST_THREADS) as pool:
            bad = [flaw for flaw in pool.map(read_one, enumerate(names)) if flaw is not None]
        if bad:
            raise bad_pictures(bad, len(names), self.target_images)
        return values
