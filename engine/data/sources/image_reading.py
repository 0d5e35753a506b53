"""Image files as samples: which can be used, the size and colours that all get, and their pixels."""

import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median_high
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.progress import report
from netwright.engine.core.types import image
from netwright.engine.data.sources.image_file import (
    BadPictureError,
    Header,
    be_strict,
    flaw_of,
    header_of,
    read,
    strictly,
)
from netwright.engine.data.sources.source import (
    Array,
    BadSampleError,
    Outline,
    Readers,
    Samples,
    Source,
    listed,
    refuse_too_large,
)
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DamageWarning, InputInfo
from netwright.engine.project.sources import images as declaration

MOST_THREADS = 8
LOOKED_AT = 32
"""Number of images, evenly spaced, by which size and colours of all are chosen."""
LEAST_ALIKE = 0.25
"""Fraction of these images that have the same size, where that becomes the size of all."""
MOST_FLAWS = 200_000
"""Files that are looked at for damage before the split; of more none is."""


def bad_pictures(bad: list[tuple[str, str]], total: int, folder: Path, out_of: int = 0) -> UserError:
    """Return the error for images that cannot be used, with the first five and their number.

    `total` images were read; where these are only some of all, the number of bad ones among the rest is not known.
    """
    lines = [f"  {name}: {why}" for name, why in bad[:5]]
    more_message = f"  and {len(bad) - 5:,} more"
    files = "file" if total == 1 else "files"
    sample = f" ({total:,} of {out_of:,} were looked at)" if out_of > total else ""
    message = f"{len(bad):,} of {total:,} image {files} in {folder} cannot be used{sample}:"
    way_out = (
        "Expected whole pictures, such as PNG or JPEG. Replace or remove what is damaged, or leave it out on the Data "
        "tab (data.excluded_files)."
    )
    return UserError.of_lines([message, *lines, *([more_message] if len(bad) > 5 else ()), way_out])


@dataclass(frozen=True)
class ImageFiles:
    """Image files in the order of the samples, and whether their numbers have fractions, as 16 bits per channel give
    them."""

    names: tuple[str, ...]
    is_deep: bool = False

    @property
    def bytes(self) -> int:
        """Memory in bytes, about."""
        return 100 * len(self.names)

    @property
    def kind(self) -> np.dtype[Any]:
        """Dtype of their pixels."""
        return np.dtype(np.float32 if self.is_deep else np.uint8)


def whole_files(options: DataOptions, folder: Path, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the files that are images, as far as their first and last bytes tell, and a warning that names the others.

    All files are returned where the options have damaged ones end a run, or be skipped. Raises `UserError` where none
    is an image.
    """
    if options.bad_samples != "leave-out" or len(names) > MOST_FLAWS:
        return list(names), []
    flaws: list[tuple[str, str]] = []
    with strictly(), ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        for count, (name, flaw) in enumerate(
            zip(names, pool.map(lambda name: flaw_of(folder / name), names), strict=True), start=1
        ):
            report(count, len(names), "files")
            flaws += [(name, flaw)] if flaw else []
    if not flaws:
        return list(names), []
    if len(flaws) == len(names):
        raise bad_pictures(flaws, len(names), folder)
    bad = {name for name, _ in flaws}
    examples = listed([f"{name} ({why})" for name, why in flaws])
    are = "1 image file is" if len(flaws) == 1 else f"{len(flaws):,} of {len(names):,} image files are"
    warning = f"{are} left out because of damage: {examples}; data.bad_samples=fatal has them end a run."
    return [name for name in names if name not in bad], [DamageWarning(warning, [name for name, _ in flaws])]


def common_shape(
    options: DataOptions, folder: Path, names: Sequence[str]
) -> tuple[tuple[str, int, int], ImageFiles, list[str]]:
    """Return `grey` or `rgb`, height and width that all images become, by most of those that are looked at and by the
    options; the files; and notes where images differ. Raises `UserError` where none can be read."""
    headers = looked_at(folder, names)
    channels, height, width = common(headers)
    is_deep = 2 * sum(header.is_deep for header in headers) >= len(headers)
    notes = _unlike(options, headers, (channels, height, width))
    height, width = (options.image_size,) * 2 if options.image_size else (height, width)
    shape = (channels if options.channels == "auto" else options.channels, height, width)
    return shape, ImageFiles(tuple(names), is_deep), notes


def looked_at(folder: Path, names: Sequence[str]) -> list[Header]:
    """Return the headers of the first image and of evenly spaced ones. Raises `UserError` where none can be read."""
    headers: list[Header] = []
    bad: list[tuple[str, str]] = []
    with strictly():
        for name in dict.fromkeys((*names[:: 1 + len(names) // LOOKED_AT], *names[:LOOKED_AT])):
            if len(headers) + len(bad) > LOOKED_AT and headers:
                break
            try:
                headers.append(header_of(folder / name))
            except BadPictureError as error:  # named when the images are read
                bad.append((name, str(error)))
    if not headers:
        raise bad_pictures(bad, len(bad), folder, len(names))
    return headers


def common(headers: Sequence[Header]) -> tuple[str, int, int]:
    """Return the colours that at least half of the images have, and the most frequent size; of equally frequent ones
    the first. Where fewer than `LEAST_ALIKE` of them have that, the median height and width."""
    channels = "rgb" if 2 * sum(header.channels == "rgb" for header in headers) >= len(headers) else "grey"
    size, count = Counter((header.height, header.width) for header in headers).most_common(1)[0]
    if count < LEAST_ALIKE * len(headers):
        size = (median_high(header.height for header in headers), median_high(header.width for header in headers))
    return channels, *size


def image_input(shape: tuple[str, int, int]) -> InputInfo:
    """Return the input of images that are `grey` or `rgb`, of this height and width."""
    channels, height, width = shape
    return InputInfo("image", image(1 if channels == "grey" else 3, height, width), span=declaration.Images.span)


@dataclass(frozen=True)
class ImageReader:
    """Reader of image files, which decodes and resizes them on demand."""

    folder: Path
    names: Sequence[str]
    shape: tuple[int, ...]
    kind: np.dtype[Any]
    at_once: int = 8
    largest: int = 0

    @property
    def where(self) -> str:
        """Folder of the images."""
        return str(self.folder)

    def name_of(self, number: int) -> str:
        """Return the file of a sample."""
        return self.names[number]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set Pillow's filters in another process, too, to which the reader was sent."""
        self.__dict__.update(state)
        be_strict()

    def read(self, indices: Array, out: Array) -> None:
        """Decode the chosen images into `out`. Raises `BadSampleError` for the first that cannot be decoded."""
        channels = "grey" if self.shape[1] == 1 else "rgb"
        for place, number in enumerate(indices.tolist()):
            name = self.names[number]
            try:
                numbers = read(self.folder / name, channels, *self.shape[2:])
            except BadPictureError as error:
                message = str(bad_pictures([(name, str(error))], len(self.names), self.folder))
                raise BadSampleError(message, name, str(error)) from None
            is_rounded = self.kind == np.uint8 and numbers.dtype != np.uint8
            out[place] = np.rint(numbers) if is_rounded else numbers


class ImageSource(Source):
    """A source whose samples are image files, with `ImageFiles` as what its outline keeps."""

    def readers(self, options: DataOptions, path: Path, outline: Outline) -> Readers:
        """Return a reader that decodes images on demand; targets that are images are held in memory."""
        be_strict()
        files = outline.raw
        assert isinstance(files, ImageFiles)
        shape = (len(files.names), *(size for size in outline.inputs[0].type.sizes if isinstance(size, int)))
        return Readers((ImageReader(path, files.names, shape, files.kind),))

    def samples(self, options: DataOptions, path: Path, outline: Outline, indices: Array | None = None) -> Samples:
        """Return the images of an outline (N, C, H, W): uint8, or float32 where most have 16 bits per channel.

        Raises `UserError` for images that cannot be used. With `indices`, images with these indices are read, for a
        look at them: those that cannot be used are black, with a note.
        """
        files = outline.raw
        assert isinstance(files, ImageFiles)
        channels, height, width = (size for size in outline.inputs[0].type.sizes if isinstance(size, int))
        names = list(files.names) if indices is None else [files.names[i] for i in indices.tolist()]
        # As the parts will need it, in float32.
        needed = len(names) * channels * height * width * 4
        subject = f"{len(names):,} {'grey' if channels == 1 else 'colour'} images of {width:,} × {height:,}"
        refuse_too_large(needed, subject, "Choose a smaller image size, or use fewer images.")
        array = np.zeros((len(names), channels, height, width), files.kind)
        with strictly():
            bad = _fill(array, path, names, "grey" if channels == 1 else "rgb")
        if bad and (indices is None or len(bad) == len(names)):
            raise bad_pictures(bad, len(names), path, len(files.names))
        return Samples((array,), tuple(f"Cannot be read, and is shown black: {name}, {why}." for name, why in bad[:5]))


def _unlike(options: DataOptions, headers: Sequence[Header], common: tuple[str, int, int]) -> list[str]:
    """Return notes where images differ from what all become: they are resized, or lose or get colours."""
    channels, height, width = common
    notes = []
    other = next((header for header in headers if (header.height, header.width) != (height, width)), None)
    if other is not None and not options.image_size:
        is_frequent = sum((h.height, h.width) == (height, width) for h in headers) >= LEAST_ALIKE * len(headers)
        notes.append(
            f"Images differ in size, such as {other.width:,} × {other.height:,}: all are resized to the "
            f"{'most frequent' if is_frequent else 'median'} one, {width:,} × {height:,} (data.image_size)."
        )
    if options.channels == "auto" and len({header.channels for header in headers}) > 1:
        count = sum(header.channels == channels for header in headers)
        some = f"{count:,} of {len(headers):,} images that were looked at"
        notes.append(
            f"{some} have colours: grey ones get three equal channels (data.channels)."
            if channels == "rgb"
            else f"{some} are grey: those with colours are taken as grey. data.channels=rgb keeps the colours."
        )
    return notes


def _fill(array: Array, folder: Path, names: list[str], channels: str) -> list[tuple[str, str]]:
    """Read all images into `array` by several threads, since decoders release the GIL; return the bad ones."""
    height, width = array.shape[2:]

    def read_one(item: tuple[int, str]) -> tuple[str, str] | None:
        index, name = item
        try:
            numbers = read(folder / name, channels, height, width)
            is_rounded = array.dtype == np.uint8 and numbers.dtype != np.uint8
            array[index] = np.rint(numbers) if is_rounded else numbers
        except BadPictureError as error:
            return name, str(error)
        except MemoryError:
            return name, "it does not fit into memory"
        return None

    flaws = []
    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        for count, bad in enumerate(pool.map(read_one, enumerate(names)), start=1):
            report(count, len(names), "images")
            if bad is not None:
                flaws.append(bad)
    return flaws
