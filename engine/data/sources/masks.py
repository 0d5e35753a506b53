"""A folder of images and a folder of masks, for segmentation: one mask per image, of the same name.

Samples are the image files in sorted order. The value of a pixel of a mask is its class: a grey level, the index in
the palette, or the colour (`#800000`). Names may differ in their suffix (`a.jpg`, `a.png`), and those of masks may end
in `_mask` or the like. Masks have the size of their image; both are resized to one size, masks without interpolation.
"""

import os
from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.text import format_percent
from netwright.engine.core.types import image
from netwright.engine.data.sources.image_file import COLOUR, BadPictureError, read_mask, strictly
from netwright.engine.data.sources.image_reading import (
    MOST_THREADS,
    ImageSource,
    bad_pictures,
    common_shape,
    image_input,
    whole_files,
)
from netwright.engine.data.sources.images_reader import excluded_note, file_groups, is_picture, status
from netwright.engine.data.sources.source import Array, Outline, listed, refuse_too_large, unreadable
from netwright.engine.data.sources.targets import as_class_numbers
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import IGNORED, TargetInfo
from netwright.engine.project.sources.images import image_of_mask
from netwright.engine.project.sources.source_type import is_hidden

WAY_OUT = "Expected one mask for each image, of the same name."


@dataclass(frozen=True)
class Masks(ImageSource):
    """Images with the masks in another folder."""

    masks: Path

    def stamp(self, path: Path) -> Hashable:
        """Return a hash of names, sizes and times of all files of both folders."""
        return stamp_of(path, self.masks)

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """Return the outline, from the list of files, the headers of some images, and all masks for the classes."""
        pairs, notes, warnings = pairs_of(path, self.masks, options)
        names = [name for name, _ in pairs]
        shape, files, more = common_shape(options, path, names)
        height, width = shape[1:]
        with strictly():
            values = _read_masks(self.masks, [mask for _, mask in pairs], height, width)
        subject = f"The folder of masks {self.masks}"
        numbers, classes = as_class_numbers(values, subject, options.ignored_value)
        classes = tuple(f"#{int(name) - COLOUR:06x}" if int(name) >= COLOUR else name for name in classes)
        if share := float((numbers == IGNORED).mean()):
            notes.append(f"{format_percent(share, 1)} of the pixels of the masks do not count.")
        return Outline(
            inputs=(image_input(shape),),
            targets=(numbers,),
            wanted=(TargetInfo("mask", image(len(classes), height, width), "classes", classes),),
            notes=(*notes, *more),
            warnings=tuple(warnings),
            raw=files,
            split_keys=file_groups(options, names),
        )


def stamp_of(*folders: Path) -> Hashable:
    """Return a hash of names, sizes and times of all files of these folders. Raises `UserError`."""
    try:
        return hash(tuple((e.path, *status(e)) for folder in folders for e in _entries(folder)))
    except OSError as error:
        raise unreadable(Path(error.filename or folders[0]), error) from None


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    if not folder.is_dir():
        raise UserError(f"{folder} is a file. Expected a folder. {WAY_OUT}")
    return sorted((entry for entry in os.scandir(folder) if not is_hidden(entry.path)), key=lambda entry: entry.name)


def pairs_of(
    folder: Path, masks: Path, options: DataOptions, noun: str = "mask"
) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    """Return the names of each image and its mask, or other image as `noun` says, notes, and warnings on images that
    are left out because they have none, or because of damage. Raises `UserError` where nothing is left."""
    excluded = frozenset(options.excluded_files)
    try:
        found_images = [entry.name for entry in _entries(folder) if is_picture(entry)]
        mask_names = [entry.name for entry in _entries(masks) if is_picture(entry)]
    except OSError as error:
        raise unreadable(Path(error.filename or folder), error) from None
    masks_by_name = {image_of_mask(Path(name).stem): name for name in mask_names}
    masks_by_name |= {Path(name).stem: name for name in mask_names}
    images = [name for name in found_images if name not in excluded]
    if not images:
        raise UserError(f"{folder} has no images. With a folder of {noun}s, images lie there without subfolders.")
    pairs = [(name, masks_by_name[Path(name).stem]) for name in images if Path(name).stem in masks_by_name]
    warnings = []
    if len(pairs) < len(images):
        lonely = [name for name in images if Path(name).stem not in masks_by_name]
        count = "1 image has" if len(lonely) == 1 else f"{len(lonely):,} of {len(images):,} images have"
        if not pairs:
            way_out = f"Expected one {noun} for each image, of the same name."
            raise UserError(f"{count} no {noun} in {masks}: {listed(lonely)}. {way_out}")
        are = "It is" if len(lonely) == 1 else "They are"
        warnings.append(f"{count} no {noun} in {masks}: {listed(lonely)}. {are} left out.")
    for place, where in enumerate((folder, masks)):
        whole, damage = whole_files(options, where, [pair[place] for pair in pairs])
        files = frozenset(whole)
        pairs, warnings = [pair for pair in pairs if pair[place] in files], [*warnings, *damage]
    spare = sorted(set(mask_names) - {masks_by_name.get(Path(name).stem, "") for name in found_images})
    notes = [f"{noun.capitalize()}s without an image, left out: {listed(spare)}."] if spare else []
    return pairs, [*excluded_note(len(found_images) - len(images)), *notes], warnings


def _read_masks(folder: Path, names: list[str], height: int, width: int) -> Array:
    subject = f"{len(names):,} masks of {height:,} × {width:,}"
    refuse_too_large(len(names) * height * width * 4, subject, "Choose a smaller image size, or use fewer images.")

    def read_one(name: str) -> Array | tuple[str, str]:
        try:
            return read_mask(folder / name, height, width)
        except BadPictureError as error:
            return name, str(error)

    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        results = list(pool.map(read_one, names))
    bad = [item for item in results if isinstance(item, tuple)]
    if bad:
        raise bad_pictures(bad, len(names), folder)
    return np.stack([item for item in results if not isinstance(item, tuple)])
