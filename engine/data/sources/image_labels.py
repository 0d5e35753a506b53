"""A folder of images and a CSV table that names the class of each file.

One column holds the names of the files, another one the classes; their names do not matter. A file is named by its path
in the folder, by its name, or by its name without suffix.
"""

import os
from collections import Counter
from collections.abc import Collection, Hashable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from engine.core.errors import UserError, did_you_mean, plural
from engine.core.fields import quoted
from engine.data.sources.csv_file import read_columns
from engine.data.sources.csv_table import EXPECTED, Columns
from engine.data.sources.images import (
    excluded_note,
    file_groups,
    files_below,
    first_shape,
    image_input,
    read_images,
    stream_images,
)
from engine.data.sources.source import Array, Outline, Readers, Samples, Source, file_stamp, listed, unreadable
from engine.data.sources.targets import texts_as_classes
from engine.project.data import DataOptions
from engine.project.dataset_info import classes_of
from engine.project.sources.images import is_image

LOOKED_AT = 1000
"""Number of rows by which the column of the files is found."""
USUAL = ("label", "labels", "class", "category", "target", "y")


@dataclass(frozen=True)
class Labelled(Source):
    """Images with their classes in a table."""

    labels: Path

    def stamp(self, path: Path) -> Hashable:
        """Return a hash of names, sizes and times of all files, and of the table."""
        if not path.is_dir():
            raise UserError(f"{path} is a file. Expected a folder of images.")
        try:
            files = [(entry.path, entry.stat().st_mtime_ns, entry.stat().st_size) for entry in files_below(path)]
        except OSError as error:
            raise unreadable(Path(error.filename or path), error) from None
        return hash((tuple(sorted(files)), file_stamp(self.labels, EXPECTED)))

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """Return the outline, from the table and the header of the first image."""
        names, texts, notes = self._rows(options, path)
        targets, classes = texts_as_classes(texts, f"The table of classes {self.labels}")
        shape, more = first_shape(options, path, names)
        return Outline(
            inputs=(image_input(shape),),
            targets=(targets,),
            wanted=classes_of(*classes, name="class"),
            notes=(*notes, *more),
            split_keys=file_groups(options, names),
        )

    def samples(self, options: DataOptions, path: Path, outline: Outline, chosen: Array | None = None) -> Samples:
        """Return the images (N, C, H, W): uint8, or float32 where the first one has 16 bits per channel."""
        return read_images(path, self._rows(options, path)[0], outline, chosen)

    def readers(self, options: DataOptions, path: Path, outline: Outline) -> Readers:
        """Return a reader that decodes files on demand."""
        return stream_images(path, self._rows(options, path)[0], outline)

    def _rows(self, options: DataOptions, path: Path) -> tuple[list[str], list[str], list[str]]:
        """Return the files in the order of the table, their classes, and notes. Raises `UserError`."""
        names, texts, notes = labelled_files(path, self.labels, options.label_column, options.excluded_files)
        return names, texts, notes


def labelled_files(
    folder: Path, table: Path, label_column: str, excluded: Collection[str]
) -> tuple[list[str], list[str], list[str]]:
    """Return the image files that a table names, in its order, their classes as texts, and notes. Raises `UserError`
    where it names files that do not exist, or one twice."""
    columns = read_columns(table)
    found = _known(folder)
    column = _file_column(columns, found, folder, table)
    texts = _texts(columns, _label_column(columns, column, label_column, table))
    rows = [(cell, found.get(_key(cell), "")) for cell in _texts(columns, column)]
    missing = [cell for cell, name in rows if not name]
    if missing:
        count = f"{len(missing):,} of {len(rows):,} files" if len(missing) > 1 else f"1 of {len(rows):,} files"
        raise UserError(
            f"{count} of the table {table} {'is' if len(missing) == 1 else 'are'} not in {folder}: "
            f"{listed([quoted(cell) for cell in missing])}. Put them there, or remove their rows."
        )
    twice = [name for name, count in Counter(name for _, name in rows).items() if count > 1]
    if twice:
        count = plural(len(twice), "file")
        raise UserError(f"{table} names {count} more than once: {listed(twice)}. Keep one row each.")
    left_out = frozenset(excluded)
    kept = [(name, text) for (_, name), text in zip(rows, texts, strict=True) if name not in left_out]
    notes = [*columns.notes, *excluded_note(len(rows) - len(kept))]
    named = {name for _, name in rows}
    if spare := sorted(set(found.values()) - named):
        lie = "1 image has" if len(spare) == 1 else f"{len(spare):,} images have"
        notes.append(f"{lie} no row in the table of classes, left out: {listed(spare)}.")
    if not kept:
        raise UserError(f"All files of the table {table} are left out. Leave some as samples.")
    return [name for name, _ in kept], [text for _, text in kept], notes


def _known(folder: Path) -> dict[str, str]:
    """Return the path of each image below a folder by what a table may call it: its path, its name, its stem; names
    that several files have are left out."""
    try:
        paths = sorted(
            PurePosixPath(os.path.relpath(entry.path, folder)).as_posix()
            for entry in files_below(folder)
            if is_image(entry.name)
        )
    except OSError as error:
        raise unreadable(Path(error.filename or folder), error) from None
    if not paths:
        raise UserError(f"{folder} has no images. With a table of classes, the images lie there or in folders inside.")
    known: dict[str, str] = {}
    files = [PurePosixPath(path) for path in paths]
    for calls in ([file.stem for file in files], [file.name for file in files]):
        several = {name for name, count in Counter(calls).items() if count > 1}
        known |= {name: path for name, path in zip(calls, paths, strict=True) if name not in several}
    return known | {path: path for path in paths}


def _key(cell: str) -> str:
    """Return a cell as the path of a file: slashes forward, without those at the start."""
    return cell.strip().replace("\\", "/").removeprefix("./").lstrip("/")


def _texts(columns: Columns, name: str) -> list[str]:
    """Return a column as texts; whole numbers without a point."""
    if name in columns.texts:
        return list(columns.texts[name])
    return [str(int(value)) if float(value).is_integer() else str(value) for value in columns.numbers[name].tolist()]


def _file_column(columns: Columns, found: dict[str, str], folder: Path, table: Path) -> str:
    """Return the column most of whose cells name a file. Raises `UserError` where none does."""
    hits = {
        name: int(np.count_nonzero([_key(cell) in found for cell in _texts(columns, name)[:LOOKED_AT]]))
        for name in columns.names
    }
    best = max(hits, key=lambda name: hits[name])
    if not hits[best]:
        first = _texts(columns, columns.names[0])[0]
        raise UserError(
            f"No column of {table} names images in {folder}: its columns are {listed(list(columns.names), 20)}, the "
            f"first cell is {quoted(first)}. Expected paths in the folder, or names with or without suffix."
        )
    return best


def _label_column(columns: Columns, files: str, wanted: str, table: Path) -> str:
    """Return the column of the classes: the one that is asked for, the only other one, or one with a usual name. Raises
    `UserError`."""
    others = [name for name in columns.names if name != files]
    if wanted:
        if wanted not in others:
            hint = did_you_mean(wanted, others)
            raise UserError(f"{table} has no column {quoted(wanted)} for classes.{hint} It has: {listed(others, 20)}.")
        return wanted
    usual = [name for name in others if name.strip().lower() in USUAL]
    if len(others) == 1 or len(usual) == 1:
        return (usual or others)[0]
    raise UserError(
        f"{table} has several columns beside that of the files, '{files}': {listed(others, 20)}. Choose the column of "
        "the classes (data.label_column)."
    )
