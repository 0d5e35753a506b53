"""A folder of images with one subfolder per class, or whose names hold the class.

Classes are the subfolders in sorted order, samples their image files in sorted order. What is hidden is ignored; other
files, and image files that are cut off or no images, are left out with a note before the split. Damage that shows only
when an image is decoded is an error, because leaving it out then would change the split.
"""

import os
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from netwright.engine.core.errors import UserError, plural
from netwright.engine.data.sources.image_reading import ImageSource, common_shape, image_input, whole_files
from netwright.engine.data.sources.labelled_files import files_below
from netwright.engine.data.sources.source import MOST_CLASSES, Array, Outline, listed, unreadable
from netwright.engine.data.sources.split_keys import groups_of_names
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import classes_of
from netwright.engine.project.sources.images import CLASS, IMAGE_SUFFIXES, is_image
from netwright.engine.project.sources.source_type import is_hidden

WAY_OUT = (
    "Expected one subfolder per class, with the images in it, a CSV table beside them with a column of file names "
    "and one of classes, or names that hold the class (data.class_pattern)."
)


@dataclass(frozen=True)
class _Listing:
    """Image files of each class, by their paths in the folder, in order, and the entries that are left out."""

    files: dict[str, tuple[str, ...]]
    left_out: tuple[str, ...]
    outside: int
    num_excluded: int = 0
    empty: tuple[str, ...] = ()

    def names(self) -> list[str]:
        return [file for files in self.files.values() for file in files]

    def only(self, names: Collection[str]) -> "_Listing":
        """Return the listing with some of the files."""
        members = frozenset(names)
        files = {name: tuple(file for file in files if file in members) for name, files in self.files.items()}
        return replace(self, files={name: some for name, some in files.items() if some})

    def notes(self) -> list[str]:
        notes = excluded_note(self.num_excluded)
        if self.left_out:
            count = len(self.left_out)
            entries = f"{count:,} entries are not image files" if count > 1 else "1 entry is not an image file"
            notes.append(f"Left out: {listed(list(self.left_out))} ({entries}).")
        if self.empty:
            folders = "folder has" if len(self.empty) == 1 else "folders have"
            notes.append(f"Left out because the {folders} no images: {listed(list(self.empty))}.")
        if self.outside:
            lie = "1 file lies" if self.outside == 1 else f"{self.outside:,} files lie"
            notes.append(f"{lie} beside the class folders, left out.")
        return notes


class Images(ImageSource):
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
        """Return the outline, from the list of files and the headers of some images."""
        listing = _list(path, options)
        names, warnings = whole_files(options, path, listing.names())
        listing = listing.only(names)
        _refuse_few_classes(path, listing.files)
        shape, files, notes = common_shape(options, path, listing.names())
        sizes = [len(files) for files in listing.files.values()]
        return Outline(
            inputs=(image_input(shape),),
            targets=(np.repeat(np.arange(len(sizes), dtype=np.int64), sizes),),
            wanted=classes_of(*listing.files, name="class"),
            notes=(*listing.notes(), *notes),
            warnings=tuple(warnings),
            raw=files,
            split_keys=file_groups(options, listing.names()),
        )


def status(entry: os.DirEntry[str]) -> tuple[int, int]:
    """Return time and size of a file."""
    try:
        result = entry.stat()
    except FileNotFoundError:
        return 0, 0  # a link that leads nowhere; it is named when the images are read
    return result.st_mtime_ns, result.st_size


def image_names(options: DataOptions, folder: Path) -> list[str]:
    """Return the names of the image files, `class/file`, in order. Raises `UserError`."""
    return _list(folder, options).names()


def file_groups(options: DataOptions, names: Sequence[str]) -> Array | None:
    """Return the group of each file where the split goes by groups. Raises `UserError`."""
    has_groups = options.is_visible("group_pattern") and options.group_pattern
    return groups_of_names(names, options.group_pattern) if has_groups else None


def excluded_note(count: int) -> list[str]:
    """Return a note on files that the options exclude, if there are any."""
    return [f"Left out as you chose: {plural(count, 'file')}."] if count else []


def _by_names(folder: Path, options: DataOptions) -> _Listing:
    """Return the files by the classes that their names hold. Raises `UserError`."""
    try:
        pictures, others = _pictures_in(folder, is_deep=options.inner_folders != "leave-out")
    except OSError as error:
        raise unreadable(Path(error.filename or folder), error) from None
    excluded = frozenset(options.excluded_files)
    names = [name for name in pictures if name not in excluded]
    if not names:
        raise _no_classes(folder, (), (), 0)
    files: dict[str, list[str]] = {}
    for name, label in zip(
        names, groups_of_names(names, options.class_pattern, CLASS, "classes").tolist(), strict=True
    ):
        files.setdefault(label, []).append(name)
    others = [name for name in others if not (folder / name).is_dir()]
    return _Listing(
        {label: tuple(files[label]) for label in sorted(files)}, tuple(others), 0, len(pictures) - len(names)
    )


def _list(folder: Path, options: DataOptions) -> _Listing:
    """Return the classes with their files. Raises `UserError` where no folder holds images."""
    if options.class_pattern:
        return _by_names(folder, options)
    excluded, inner = frozenset(options.excluded_files), options.inner_folders
    num_files = 0
    try:
        entries = sorted((e for e in os.scandir(folder) if not is_hidden(e.path)), key=lambda e: e.name)
        classes = [entry for entry in entries if entry.is_dir()]
        files: dict[str, tuple[str, ...]] = {}
        left_out: list[str] = []
        images: dict[str, list[str]] = {}
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
                    images.setdefault(owner, []).append(path)
        files = {name: tuple(images.get(name, ())) for name in (sorted(files) if inner == "path" else files)}
    except OSError as error:
        raise unreadable(Path(error.filename or folder), error) from None
    outside = len(entries) - len(classes)
    num_excluded = num_files - sum(map(len, files.values()))
    empty = tuple(name for name, names in files.items() if not names)
    files = {name: names for name, names in files.items() if names}
    if not files:
        raise _no_classes(folder, empty, left_out, outside)
    return _Listing(files, tuple(left_out), outside, num_excluded, empty)


def _pictures_in(folder: Path, *, is_deep: bool) -> tuple[list[str], list[str]]:
    """Return the image files in a folder, sorted, with `is_deep` also those in folders inside it, and what else is
    there."""
    if not is_deep:
        names = sorted((e for e in os.scandir(folder) if not is_hidden(e.path)), key=lambda e: e.name)
        return [e.name for e in names if is_picture(e)], [e.name for e in names if not is_picture(e)]
    paths = sorted(Path(entry.path).relative_to(folder).as_posix() for entry in files_below(folder, 1))
    return [path for path in paths if is_image(path)], [path for path in paths if not is_image(path)]


def is_picture(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is an image file, by its suffix."""
    return is_image(entry.name) and not entry.is_dir()


def _no_classes(folder: Path, empty: Sequence[str], left_out: Sequence[str], outside: int) -> UserError:
    """Return the error for a folder without images in subfolders."""
    why = f"it holds files ({outside:,}) and no subfolder" if outside else "it is empty"
    if empty:
        inside = [name for name in left_out if name.partition("/")[0] == empty[0]]
        there = f", which holds {listed(inside, 3)}" if inside else ""
        why = f"no subfolder has images, such as {empty[0]}{there}"
    return UserError(f"{folder} has no classes: {why}. {WAY_OUT} Images end in {', '.join(IMAGE_SUFFIXES)}.")


def _refuse_few_classes(folder: Path, files: dict[str, tuple[str, ...]]) -> None:
    if len(files) == 1:
        raise UserError(f"{folder} has one class only, '{next(iter(files))}'. At least two are needed. {WAY_OUT}")
    if len(files) > MOST_CLASSES:
        raise UserError(f"{folder} has {len(files):,} subfolders; at most {MOST_CLASSES:,} classes can be told apart.")
