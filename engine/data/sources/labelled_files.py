"""Files with a label each: in one subfolder per class, or named by a table of file and label."""

import os
from collections.abc import Collection, Hashable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.core.errors import UserError, did_you_mean
from engine.core.fields import quoted
from engine.data.sources.csv_table import EXPECTED as EXPECTED_TABLE
from engine.data.sources.csv_table import Columns
from engine.data.sources.source import MOST_CLASSES, Arrays, file_stamp, listed, unreadable
from engine.data.sources.table import answered, read_answered, targets_of
from engine.project.data import DataOptions
from engine.project.dataset_info import TargetInfo, classes_of
from engine.project.sources.base import is_hidden

TABLES = (".csv", ".tsv")


@dataclass(frozen=True, eq=False)
class LabelledFiles:
    """Files in order, relative to `base`, with their targets. `columns` is the table that names them, if one does."""

    base: Path
    names: tuple[str, ...]
    targets: Arrays
    wanted: tuple[TargetInfo, ...]
    notes: tuple[str, ...] = ()
    columns: Columns | None = None


def is_table(path: Path) -> bool:
    """Return whether the path is a table of files and labels, by its suffix."""
    return path.suffix.lower() in TABLES and not path.is_dir()


def stamp(path: Path, expected: str) -> Hashable:
    """Return a value that changes when the files of a folder, or a table, do. Raises `UserError`."""
    if not path.is_dir():
        return file_stamp(path, EXPECTED_TABLE if is_table(path) else expected)
    entries = []
    try:
        for folder in sorted(entry.path for entry in os.scandir(path) if entry.is_dir()):
            entries += [(entry.path, *_status(entry)) for entry in os.scandir(folder)]
    except OSError as error:
        raise unreadable(Path(error.filename or path), error) from None
    return hash(tuple(sorted(entries)))


def _status(entry: os.DirEntry[str]) -> tuple[int, int]:
    try:
        result = entry.stat()
    except OSError:
        return 0, 0  # a link that leads nowhere; it is named when the files are read
    return result.st_mtime_ns, result.st_size


def of_classes(folder: Path, suffixes: Collection[str], noun: str) -> LabelledFiles:
    """Return the files of a folder with one subfolder per class, both in sorted order. `noun`: such files, in the
    plural. Raises `UserError`."""
    expected = f"Expected one subfolder per class, with {noun} in it ({', '.join(sorted(suffixes))})."
    classes: dict[str, list[str]] = {}
    left_out: list[str] = []
    try:
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if is_hidden(entry.name):
                continue
            if not entry.is_dir():
                left_out.append(entry.name)
                continue
            names = sorted(file.name for file in os.scandir(entry.path) if not is_hidden(file.name))
            classes[entry.name] = [name for name in names if Path(name).suffix.lower() in suffixes]
            left_out += [f"{entry.name}/{name}" for name in names if Path(name).suffix.lower() not in suffixes]
    except OSError as error:
        raise unreadable(Path(error.filename or folder), error) from None
    if not classes:
        why = f"it holds files ({len(left_out):,}) and no subfolder" if left_out else "it is empty"
        raise UserError(f"{folder} has no classes: {why}. {expected}")
    if empty := [name for name, files in classes.items() if not files]:
        raise UserError(f"{folder} has class folders without {noun}: {listed(empty)}. {expected}")
    if len(classes) == 1:
        raise UserError(f"{folder} has one class only, '{next(iter(classes))}'. At least two are needed. {expected}")
    if len(classes) > MOST_CLASSES:
        raise UserError(
            f"{folder} has {len(classes):,} subfolders; at most {MOST_CLASSES:,} classes can be told apart."
        )
    notes = (f"Left out, since they are no {noun}: {listed(left_out)}.",) if left_out else ()
    sizes = [len(files) for files in classes.values()]
    paths = tuple(f"{name}/{file}" for name, files in classes.items() for file in files)
    target = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    return LabelledFiles(folder, paths, (target,), classes_of(*classes, name="class"), notes)


def of_table(options: DataOptions, path: Path, column: str, noun: str) -> LabelledFiles:
    """Return the files that a table names, relative to its folder; `column` holds their names, else the first column of
    texts that is no response. Raises `UserError`."""
    columns, responses = read_answered(options, path)
    name = text_column(columns, responses, column, path, f"the names of {noun}")
    columns = answered(columns, (name,), path, f"the name of {noun}")
    targets, wanted = targets_of(options.task, responses, columns, path)
    notes = (*columns.notes, *unread(columns, (name, *responses)))
    return LabelledFiles(path.parent, columns.texts[name], targets, wanted, notes, columns)


def unread(columns: Columns, names: Collection[str]) -> list[str]:
    """Return a note on the columns of a table of files or texts beside those that are read."""
    left = [name for name in columns.names if name not in names]
    return [f"Columns that are not read: {', '.join(left)} (data.response names those to predict)."] if left else []


def text_column(columns: Columns, responses: Collection[str], wanted: str, path: Path, holds: str) -> str:
    """Return the column of texts of this name, else the first that is no response. `holds`: its content, for messages.

    Raises `UserError`.
    """
    others = [name for name in columns.names if name in columns.texts and name not in responses]
    if wanted and wanted not in columns.names:
        hint = did_you_mean(wanted, columns.names)
        names = listed(list(columns.names), 20)
        raise UserError(f"{path} has no column {quoted(wanted)} with {holds}.{hint} Its columns are: {names}.")
    if wanted and wanted not in others:
        raise UserError(f"Column '{wanted}' of {path} holds numbers, or is the response. Expected {holds}.")
    if not others:
        raise UserError(
            f"{path} has no column with {holds}: its columns are {listed(list(columns.names), 20)}, of which "
            f"{listed(list(responses))} is the response. Expected a column of texts beside it."
        )
    return wanted or others[0]
