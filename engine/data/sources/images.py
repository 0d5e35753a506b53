"""A folder of images with one subfolder per class.

Classes are the subfolders in sorted order, samples their image files in sorted order. What is hidden is ignored, other
files are left out with a note; a damaged image is an error, because leaving it out would silently change the split.
"""

import os
from collections.abc import Collection, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import UserError, plural
from engine.core.progress import report
from engine.core.types import image
from engine.data.sources.image_file import BadPictureError, be_strict, is_deep, read, shape_of, strictly
from engine.data.sources.source import (
    MOST_CLASSES,
    Array,
    BadSampleError,
    Outline,
    Readers,
    Samples,
    Source,
    listed,
    refuse_too_large,
    unreadable,
)
from engine.data.split_keys import groups_of_names
from engine.project.data import DataOptions
from engine.project.dataset_info import InputInfo, classes_of
from engine.project.sources import images as declaration
from engine.project.sources.base import is_hidden
from engine.project.sources.images import IMAGE_SUFFIXES, is_image

MOST_THREADS = 8
LOOKED_AT = 32
"""Number of images, evenly spaced, that are compared with the first one."""
DEEPEST = 8
"""Levels of folders that are read."""
WAY_OUT = "Expected one subfolder per class, with the images in it."


def bad_pictures(bad: list[tuple[str, str]], total: int, folder: Path, out_of: int = 0) -> UserError:
    """Return the error for images that cannot be used, with the first five and their number.

    `total` images were read; where these are only some of all, the number of bad ones among the rest is not known.
    """
    lines = "".join(f"\n  {name}: {why}" for name, why in bad[:5])
    more = f"\n  and {len(bad) - 5:,} more" if len(bad) > 5 else ""
    files = "file" if total == 1 else "files"
    looked = f" ({total:,} of {out_of:,} were looked at)" if out_of > total else ""
    return UserError(
        f"{len(bad):,} of {total:,} image {files} in {folder} cannot be used{looked}:{lines}{more}\n"
        "Expected whole pictures, such as PNG or JPEG. Replace or remove what is damaged, or leave it out on the Data "
        "tab (data.excluded_files)."
    )


@dataclass(frozen=True)
class _Listing:
    """Image files of each class, in order, and the files left out."""

    files: dict[str, tuple[str, ...]]
    left_out: tuple[str, ...]
    outside: int
    num_excluded: int = 0

    def names(self) -> list[str]:
        return [f"{name}/{file}" for name, files in self.files.items() for file in files]

    def notes(self) -> list[str]:
        notes = excluded_note(self.num_excluded)
        if self.left_out:
            count = len(self.left_out)
            what = f"{count:,} entries are not image files" if count > 1 else "1 entry is not an image file"
            notes.append(f"Left out: {listed(list(self.left_out))} ({what}).")
        if self.outside:
            lie = "1 file lies" if self.outside == 1 else f"{self.outside:,} files lie"
            notes.append(f"{lie} beside the class folders, left out.")
        return notes


class Images(Source):
    """Grey or colour images with values from 0 to 255, all resized to one size."""

    def stamp(self, path: Path) -> Hashable:
        """Return a hash of names, sizes and times of all files."""
        try:
            if not path.is_dir():
                raise UserError(f"{path} is a file. Expected a folder. {WAY_OUT}")
            return hash(tuple(sorted((entry.path, *status(entry)) for entry in files_below(path))))
        except OSError as error:
            raise unreadable(Path(error.filename or path), error) from None

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """Return the outline, from the list of files and the header of the first image."""
        listing = _list(path, options.excluded_files, options.inner_folders)
        shape, notes = first_shape(options, path, listing.names())
        sizes = [len(files) for files in listing.files.values()]
        return Outline(
            inputs=(image_input(shape),),
            targets=(np.repeat(np.arange(len(sizes), dtype=np.int64), sizes),),
            wanted=classes_of(*listing.files, name="class"),
            notes=(*listing.notes(), *notes),
            split_keys=file_groups(options, listing.names()),
        )

    def samples(self, options: DataOptions, path: Path, outline: Outline, chosen: Array | None = None) -> Samples:
        """Return the images (N, C, H, W): uint8, or float32 where the first one has 16 bits per channel."""
        return read_images(path, image_names(options, path), outline, chosen)

    def readers(self, options: DataOptions, path: Path, outline: Outline) -> Readers:
        """Return a reader that decodes files on demand."""
        return stream_images(path, image_names(options, path), outline)


def first_shape(options: DataOptions, folder: Path, names: list[str]) -> tuple[tuple[str, int, int], list[str]]:
    """Return `grey` or `rgb`, height and width that all images become, from the first one and the options, and notes
    where others differ. Raises `UserError` where none can be read."""
    with strictly():
        _, first = first_whole(folder, names)
        notes = _unlike(options, folder, names, first)
    channels, height, width = first
    height, width = (options.image_size,) * 2 if options.image_size else (height, width)
    return (channels if options.channels == "auto" else options.channels, height, width), notes


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

    def read(self, chosen: Array, out: Array) -> None:
        """Decode the chosen images into `out`. Raises `BadSampleError` for the first that cannot be decoded."""
        channels = "grey" if self.shape[1] == 1 else "rgb"
        for place, number in enumerate(chosen.tolist()):
            name = self.names[number]
            try:
                numbers = read(self.folder / name, channels, *self.shape[2:])
            except BadPictureError as error:
                message = str(bad_pictures([(name, str(error))], len(self.names), self.folder))
                raise BadSampleError(message, name, str(error)) from None
            is_rounded = self.kind == np.uint8 and numbers.dtype != np.uint8
            out[place] = np.rint(numbers) if is_rounded else numbers


def stream_images(folder: Path, names: Sequence[str], outline: Outline) -> Readers:
    """Return a reader of the images with these names. Raises `UserError` where the first one cannot be read."""
    be_strict()
    shape = (len(names), *(size for size in outline.inputs[0].type.sizes if isinstance(size, int)))
    first, _ = first_whole(folder, names)
    kind = np.dtype(np.float32 if is_deep(folder / first) else np.uint8)
    return Readers((ImageReader(folder, names, shape, kind),))


def read_images(folder: Path, names: list[str], outline: Outline, chosen: Array | None = None) -> Samples:
    """Return the images with these names (N, C, H, W): uint8, or float32 where the first has 16 bits per channel.

    Raises `UserError` for images that cannot be used. With `chosen`, images with these indices are read, for a look at
    them: those that cannot be used are black, with a note.
    """
    channels, height, width = (size for size in outline.inputs[0].type.sizes if isinstance(size, int))
    wanted = names if chosen is None else [names[i] for i in chosen.tolist()]
    with strictly():
        first, _ = first_whole(folder, names)
        kind = np.dtype(np.float32 if is_deep(folder / first) else np.uint8)
        # As the parts will need it, in float32.
        needed = len(wanted) * channels * height * width * 4
        what = f"{len(wanted):,} images of {channels} × {height:,} × {width:,}"
        refuse_too_large(needed, what, "Choose a smaller image size, or use fewer images.")
        array = np.zeros((len(wanted), channels, height, width), kind)
        bad = _fill(array, folder, wanted, "grey" if channels == 1 else "rgb")
    if bad and (chosen is None or len(bad) == len(wanted)):
        raise bad_pictures(bad, len(wanted), folder, len(names))
    return Samples((array,), tuple(f"Cannot be read, and is shown black: {name}, {why}." for name, why in bad[:5]))


def status(entry: os.DirEntry[str]) -> tuple[int, int]:
    """Return time and size of a file."""
    try:
        result = entry.stat()
    except FileNotFoundError:
        return 0, 0  # a link that leads nowhere; it is named when the images are read
    return result.st_mtime_ns, result.st_size


def image_names(options: DataOptions, folder: Path) -> list[str]:
    """Return the names of the image files, `class/file`, in order. Raises `UserError`."""
    return _list(folder, options.excluded_files, options.inner_folders).names()


def files_below(folder: Path | str, level: int = 0) -> Iterator[os.DirEntry[str]]:
    """Yield the files in a folder and in those inside it, without hidden ones; links to folders are followed at the
    first level only, and `DEEPEST` levels are read. Raises `OSError`."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if is_hidden(entry.name):
                continue
            if entry.is_dir(follow_symlinks=level == 0):
                if level < DEEPEST:
                    yield from files_below(entry.path, level + 1)
            else:
                yield entry


def file_groups(options: DataOptions, names: Sequence[str]) -> Array | None:
    """Return the group of each file where the split goes by groups. Raises `UserError`."""
    has_groups = options.is_visible("group_pattern") and options.group_pattern
    return groups_of_names(names, options.group_pattern) if has_groups else None


def excluded_note(count: int) -> list[str]:
    """Return a note on files that the options exclude, if there are any."""
    return [f"Left out as you chose: {plural(count, 'file')}."] if count else []


def _list(folder: Path, excluded: Collection[str], inner: str) -> _Listing:
    """Return the class folders with their files; `inner` is the option `inner_folders`. Raises `UserError` without at
    least two that hold images."""
    excluded = frozenset(excluded)
    num_files = 0
    try:
        entries = sorted((e for e in os.scandir(folder) if not is_hidden(e.name)), key=lambda e: e.name)
        classes = [entry for entry in entries if entry.is_dir()]
        files: dict[str, tuple[str, ...]] = {}
        left_out: list[str] = []
        kept: dict[str, list[str]] = {}
        for entry in classes:
            pictures, others = _pictures_in(Path(entry.path), is_deep=inner != "leave-out")
            num_files += len(pictures)
            left_out += [f"{entry.name}/{name}" for name in others]
            files |= {entry.name: ()} if inner != "path" or not pictures else {}
            for name in pictures:
                owner = f"{entry.name}/{name}".rpartition("/")[0] if inner == "path" else entry.name
                path = f"{entry.name}/{name}"
                files.setdefault(owner, ())
                if path not in excluded:
                    kept.setdefault(owner, []).append(path.removeprefix(f"{owner}/"))
        files = {name: tuple(kept.get(name, ())) for name in (sorted(files) if inner == "path" else files)}
    except OSError as error:
        raise unreadable(Path(error.filename or folder), error) from None
    _refuse_poor(folder, files, left_out, outside=len(entries) - len(classes))
    num_excluded = num_files - sum(map(len, files.values()))
    return _Listing(files, tuple(left_out), len(entries) - len(classes), num_excluded)


def _pictures_in(folder: Path, *, is_deep: bool) -> tuple[list[str], list[str]]:
    """Return the image files in a folder, sorted, with `is_deep` also those in folders inside it, and what else is
    there."""
    if not is_deep:
        names = sorted((e for e in os.scandir(folder) if not is_hidden(e.name)), key=lambda e: e.name)
        return [e.name for e in names if is_picture(e)], [e.name for e in names if not is_picture(e)]
    paths = sorted(Path(entry.path).relative_to(folder).as_posix() for entry in files_below(folder, 1))
    return [path for path in paths if is_image(path)], [path for path in paths if not is_image(path)]


def is_picture(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is an image file, by its suffix."""
    return is_image(entry.name) and not entry.is_dir()


def _refuse_poor(folder: Path, files: dict[str, tuple[str, ...]], left_out: list[str], outside: int) -> None:
    if not files:
        why = f"it holds files ({outside:,}) and no subfolder" if outside else "it is empty"
        raise UserError(f"{folder} has no classes: {why}. {WAY_OUT}")
    if empty := [name for name, names in files.items() if not names]:
        inside = [name for name in left_out if name.partition("/")[0] == empty[0]]
        there = f" It holds {listed(inside, 3)}." if inside else ""
        count = f"{len(empty)} class folders" if len(empty) > 1 else "The class folder"
        have = "have" if len(empty) > 1 else "has"
        raise UserError(
            f"{count} in {folder} {have} no images: {listed(empty)}.{there} {WAY_OUT} "
            f"Put images there ({', '.join(IMAGE_SUFFIXES)}), or remove the folder."
        )
    if len(files) == 1:
        raise UserError(f"{folder} has one class only, '{next(iter(files))}'. At least two are needed. {WAY_OUT}")
    if len(files) > MOST_CLASSES:
        raise UserError(f"{folder} has {len(files):,} subfolders; at most {MOST_CLASSES:,} classes can be told apart.")


def first_whole(folder: Path, names: Sequence[str]) -> tuple[str, tuple[str, int, int]]:
    """Return the name of the first image whose header can be read, with `grey` or `rgb`, height and width.

    Raises `UserError` where the first `LOOKED_AT` cannot be read.
    """
    bad = []
    for name in names[:LOOKED_AT]:
        try:
            return name, shape_of(folder / name)
        except BadPictureError as error:
            bad.append((name, str(error)))
    raise bad_pictures(bad, len(bad), folder, len(names))


def _unlike(options: DataOptions, folder: Path, names: list[str], first: tuple[str, int, int]) -> list[str]:
    """Return notes where images differ from the first one: they are resized, or lose their colours."""
    shapes = []
    for name in names[:: 1 + len(names) // LOOKED_AT]:
        with suppress(BadPictureError):  # named when the images are read
            shapes.append(shape_of(folder / name))
    notes = []
    other = next((shape for shape in shapes if shape[1:] != first[1:]), None)
    if other and not options.image_size:
        notes.append(
            f"Images differ in size, such as {other[1]:,} × {other[2]:,}: all are resized to that of the first one, "
            f"{first[1]:,} × {first[2]:,}. The image size sets another."
        )
    if options.channels == "auto" and first[0] == "grey" and any(shape[0] == "rgb" for shape in shapes):
        notes.append("The first image is grey, others have colours: all are taken as grey. Channels: rgb keeps them.")
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

    found = []
    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        for done, bad in enumerate(pool.map(read_one, enumerate(names)), start=1):
            report(done, len(names), "images")
            if bad is not None:
                found.append(bad)
    return found
