"""Files with a label each: in one subfolder per class, or named by a table of file and label."""

import os
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np

from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import quoted
from netwright.engine.data.sources.source import MOST_CLASSES, Array, Arrays, file_stamp, listed, unreadable
from netwright.engine.data.sources.table_reader import answered, read_answered, targets_of
from netwright.engine.data.tables.csv_file import Columns
from netwright.engine.data.tables.csv_table import EXPECTED as EXPECTED_TABLE
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import TargetInfo, classes_of
from netwright.engine.project.sources.source_type import is_hidden
from netwright.engine.project.sources.text import TABLES

DEEPEST = 8
"""Levels of folders that are read."""


@dataclass(frozen=True, eq=False)
class LabelledFiles:
    """Files in order, relative to `base`, with their targets. `columns` is the table that names them, if one does."""

    base: Path
    names: tuple[str, ...]
    targets: Arrays
    wanted: tuple[TargetInfo, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    columns: Columns | None = None

    def only(self, places: Array, warning: str) -> "LabelledFiles":
        """Return some of the files, by their places (N)."""
        names = tuple(self.names[place] for place in places.tolist())
        targets = tuple(target[places] for target in self.targets)
        return replace(self, names=names, targets=targets, warnings=(*self.warnings, warning))


def files_below(folder: Path | str, level: int = 0) -> Iterator[os.DirEntry[str]]:
    """Yield the files in a folder and in those inside it, without hidden ones; links to folders are followed at the
    first level only, and `DEEPEST` levels are read. Raises `OSError`."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if is_hidden(entry.path):
                continue
            if entry.is_dir(follow_symlinks=level == 0):
                if level < DEEPEST:
                    yield from files_below(entry.path, level + 1)
            else:
                yield entry


def files_by_name(folder: Path, is_wanted: Callable[[str], bool]) -> dict[str, str]:
    """Return the path of each file below a folder by what a table may call it: its path, its name, its stem; names that
    several files have are left out. Raises `UserError`."""
    try:
        paths = sorted(
            PurePosixPath(os.path.relpath(entry.path, folder)).as_posix()
            for entry in files_below(folder)
            if is_wanted(entry.name)
        )
    except OSError as error:
        raise unreadable(Path(error.filename or folder), error) from None
    by_name: dict[str, str] = {}
    files = [PurePosixPath(path) for path in paths]
    for calls in ([file.stem for file in files], [file.name for file in files]):
        several = {name for name, count in Counter(calls).items() if count > 1}
        by_name |= {name: path for name, path in zip(calls, paths, strict=True) if name not in several}
    return by_name | {path: path for path in paths}


def key_of(cell: str) -> str:
    """Return a cell as the path of a file: slashes forward, without those at the start."""
    return cell.strip().replace("\\", "/").removeprefix("./").lstrip("/")


def is_table(path: Path) -> bool:
    """Return whether the path is a table of files and labels, by its suffix."""
    return path.suffix.lower() in TABLES and not path.is_dir()


def stamp(path: Path, expected: str) -> Hashable:
    """Return a value that changes when the files of a folder, or a table, do. Raises `UserError`."""
    if not path.is_dir():
        return file_stamp(path, EXPECTED_TABLE if is_table(path) else expected)
    entries = []
    try:
        for folder in sorted(entry.path for entry in os.scandir(path) if entry.is_dir() and not is_hidden(entry.path)):
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


def of_classes(folder: Path, suffixes: Collection[str], noun: str, is_wanted: Callable[[str], bool]) -> LabelledFiles:
    """Return the files of a folder with one subfolder per class, both in sorted order. `noun`: such files, in the
    plural, with their usual `suffixes`. Raises `UserError`."""
    expected = f"Expected one subfolder per class, with {noun} in it ({', '.join(sorted(suffixes))})."
    classes: dict[str, list[str]] = {}
    left_out: list[str] = []
    try:
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if is_hidden(entry.path):
                continue
            if not entry.is_dir():
                left_out.append(entry.name)
                continue
            names = sorted(file.name for file in os.scandir(entry.path) if not is_hidden(file.path))
            classes[entry.name] = list(filter(is_wanted, names))
            left_out += [f"{entry.name}/{name}" for name in names if not is_wanted(name)]
    except OSError as error:
        raise unreadable(Path(error.filename or folder), error) from None
    if not classes:
        why = f"it holds files ({len(left_out):,}) and no subfolder" if left_out else "it is empty"
        raise UserError(f"{folder} has no classes: {why}. {expected}")
    empty = [name for name, files in classes.items() if not files]
    classes = {name: files for name, files in classes.items() if files}
    if not classes:
        raise UserError(f"{folder} has class folders without {noun}: {listed(empty)}. {expected}")
    if len(classes) == 1:
        raise UserError(f"{folder} has one class only, '{next(iter(classes))}'. At least two are needed. {expected}")
    if len(classes) > MOST_CLASSES:
        raise UserError(
            f"{folder} has {len(classes):,} subfolders; at most {MOST_CLASSES:,} classes can be told apart."
        )
    notes = [f"Left out, since they are no {noun}: {listed(left_out)}."] if left_out else []
    notes += [f"Left out because the folders have no {noun}: {listed(empty)}."] if empty else []
    sizes = [len(files) for files in classes.values()]
    paths = tuple(f"{name}/{file}" for name, files in classes.items() for file in files)
    target = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    return LabelledFiles(folder, paths, (target,), classes_of(*classes, name="class"), tuple(notes))


def of_table(
    options: DataOptions, path: Path, column: str, noun: str, is_wanted: Callable[[str], bool]
) -> LabelledFiles:
    """Return the files that a table names, by their path from its folder, their name, or their name without suffix, in
    its folder and those inside, else in the folder around it;
    `column` holds their names, else the first column of texts that is no response. Raises `UserError`."""
    columns, responses = read_answered(options, path)
    name = text_column(columns, responses, column, path, f"the names of {noun}")
    columns = answered(columns, (name,), path, f"the name of {noun}")
    targets, infos = targets_of(options.task, responses, columns, path)
    notes = (*columns.notes, *unread(columns, (name, *responses)))
    base, by_name = path.parent, files_by_name(path.parent, is_wanted)
    if not by_name and base.parent not in (Path.home(), Path(base.anchor)):  # they may lie beside the table's folder
        base, by_name = base.parent, files_by_name(base.parent, is_wanted)
    files = tuple(by_name.get(key_of(cell), cell) for cell in columns.texts[name])
    return LabelledFiles(base, files, targets, infos, notes, columns=columns)


def unread(columns: Columns, names: Collection[str]) -> list[str]:
    """Return a note on the columns of a table of files or texts beside those that are read."""
    rest = [name for name in columns.names if name not in names]
    return [f"Columns that are not read: {', '.join(rest)} (data.response names those to predict)."] if rest else []


def text_column(columns: Columns, responses: Collection[str], option: str, path: Path, holds: str) -> str:
    """Return the column of texts of this name, else the first that is no response. `holds`: its content, for messages.

    Raises `UserError`.
    """
    others = [name for name in columns.names if name in columns.texts and name not in responses]
    if option and option not in columns.names:
        hint = did_you_mean(option, columns.names)
        names = listed(list(columns.names), 20)
        raise UserError(f"{path} has no column {quoted(option)} with {holds}.{hint} Its columns are: {names}.")
    if option and option not in others:
        raise UserError(f"Column '{option}' of {path} holds numbers, or is the response. Expected {holds}.")
    if not others:
        raise UserError(
            f"{path} has no column with {holds}: its columns are {listed(list(columns.names), 20)}, of which "
            f"{listed(list(responses))} is the response. Expected a column of texts beside it."
        )
    return option or others[0]
