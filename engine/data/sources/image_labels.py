"""A folder of images and a CSV table with one row per file: its name, and a class, labels or numbers.

The column whose cells name images holds the files; what it is called does not matter. A file is named by its path in
the folder, by its name, or by its name without suffix. The targets are the columns that the options name, else the one
with a usual name, else all that can be targets.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from netwright.engine.core.errors import UserError, did_you_mean, plural
from netwright.engine.core.fields import quoted
from netwright.engine.data.sources.image_reading import ImageSource, common_shape, image_input, whole_files
from netwright.engine.data.sources.images_reader import excluded_note, file_groups
from netwright.engine.data.sources.labelled_files import files_below, files_by_name, key_of
from netwright.engine.data.sources.source import Outline, file_stamp, listed, unreadable
from netwright.engine.data.sources.table_reader import answered, targets_of
from netwright.engine.data.tables.csv_file import Columns, read_columns
from netwright.engine.data.tables.csv_table import EXPECTED, CsvTable
from netwright.engine.project.data import DataOptions
from netwright.engine.project.sources.images import is_image
from netwright.engine.project.sources.table import CLASS_NAMES

LOOKED_AT = 1000
"""Number of rows by which the column of the files is found."""
SPLIT_WORDS = frozenset({"train", "training", "val", "valid", "validation", "dev", "test", "testing"})
FEW_ROWS = 2
"""Rows that each text of a column of classes has on average, at least."""


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Image files in the order of a table, the columns with a row for each of them, and the columns of the targets."""

    files: tuple[str, ...]
    columns: Columns
    targets: tuple[str, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Labelled(ImageSource):
    """Images with their targets in a table."""

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
        """Return the outline, from the table and the headers of some images."""
        table = label_table(options, path, self.labels)
        targets, infos = targets_of(options.task, table.targets, table.columns, self.labels)
        if len(infos) == 1 and infos[0].is_one_class:
            infos = (replace(infos[0], name="class"),)
        shape, files, more = common_shape(options, path, table.files)
        return Outline(
            inputs=(image_input(shape),),
            targets=targets,
            wanted=infos,
            notes=(*table.columns.notes, *table.notes, *more),
            warnings=table.warnings,
            raw=files,
            split_keys=file_groups(options, table.files),
        )


def label_table(options: DataOptions, folder: Path, path: Path) -> LabelTable:
    """Return the image files that a table names, in its order, and its columns. Rows without a file or a target are
    left out. Raises `UserError` where it names a file twice, or none."""
    columns = read_columns(path, gaps="keep", written=options.written)
    paths = files_by_name(folder, is_image)
    if not paths:
        raise UserError(f"{folder} has no images. With a table of targets, the images lie there or in folders inside.")
    column, cells = _file_column(columns, paths, folder, path, options)
    targets, notes = _targets(columns, column, options.label_column, path)
    files = [paths.get(key_of(cell), "") for cell in cells]
    columns = columns.with_texts(column, tuple(files))
    warnings = _missing(cells, files, folder, path)
    twice = [name for name, count in Counter(filter(None, files)).items() if count > 1]
    if twice:
        raise UserError(
            f"{path} names {plural(len(twice), 'file')} more than once: {listed(twice)}. Keep one row each."
        )
    if spare := sorted(set(paths.values()) - set(files)):
        lie = "1 image has" if len(spare) == 1 else f"{len(spare):,} images have"
        notes.append(f"{lie} no row in the table, left out: {listed(spare)}.")
    excluded = frozenset(options.excluded_files)
    notes += excluded_note(sum(file in excluded for file in files))
    names = [file for file in files if file and file not in excluded]
    if not names:
        raise UserError(f"All files of the table {path} are left out. Leave some as samples.")
    whole, damage = whole_files(options, folder, names)
    warnings += damage
    intact = frozenset(whole)
    is_used = np.array([file in intact for file in files])
    columns = answered(columns.only(is_used), targets, path)
    return LabelTable(tuple(columns.texts[column]), columns, targets, tuple(notes), tuple(warnings))


def _missing(cells: Sequence[str], files: Sequence[str], folder: Path, path: Path) -> list[str]:
    """Return a warning that names files of the table that do not exist."""
    missing = [cell for cell, file in zip(cells, files, strict=True) if cell and not file]
    if not missing:
        return []
    are = "is" if len(missing) == 1 else "are"
    return [
        f"{len(missing):,} of {len(cells):,} files of the table {path} {are} not in {folder}: "
        f"{listed([quoted(cell) for cell in missing])}. Their rows are left out."
    ]


def _file_column(
    columns: Columns, paths: dict[str, str], folder: Path, table: Path, options: DataOptions
) -> tuple[str, list[str]]:
    """Return the column most of whose cells name a file, and its cells as they stand in the table: `007` is a name.
    Raises `UserError` where none does."""
    written = CsvTable(table, (), written=options.written, least_columns=1).texts(list(columns.names))
    hits = {name: sum(key_of(cell) in paths for cell in cells[:LOOKED_AT]) for name, cells in written.items()}
    best = max(hits, key=lambda name: hits[name])
    if not hits[best]:
        raise UserError(
            f"No column of {table} names images in {folder}: its columns are {listed(list(columns.names), 20)}, the "
            f"first cell is {quoted(written[columns.names[0]][0])}. Expected paths in the folder, or names with or "
            "without suffix."
        )
    return best, list(written[best])


def _targets(columns: Columns, files: str, option: str, table: Path) -> tuple[tuple[str, ...], list[str]]:
    """Return the columns of the targets, and a note where they were chosen among several: those that are asked for, the
    only one, one with a usual name, or all that can be targets. Raises `UserError`."""
    others = [name for name in columns.names if name != files]
    if option:
        names = (option,) if option in others else tuple(name.strip() for name in option.split(",") if name.strip())
        for name in names:
            if name not in others:
                hint = did_you_mean(name, others)
                raise UserError(
                    f"{table} has no column {quoted(name)} for classes.{hint} It has: {listed(others, 20)}."
                )
        return names, []
    usual = [name for name in others if name.strip().lower() in CLASS_NAMES]
    if len(others) == 1 or len(usual) == 1:
        names = tuple((usual or others)[:1])
    else:
        names = tuple(name for name in others if _can_be_target(columns, name))
    if not names:
        raise UserError(
            f"{table} has no column of targets beside that of the files, '{files}': its columns are "
            f"{listed(others, 20)}. Choose one (data.label_column)."
        )
    unused = [name for name in others if name not in names]
    if not unused and len(names) == 1:
        return names, []
    rest = f", and not {listed(unused)}" if unused else ""
    return names, [f"The targets are {listed(list(names))} of the table{rest} (data.label_column)."]


def _can_be_target(columns: Columns, name: str) -> bool:
    """Return whether a column can be a target: it has several values, and is no name of rows or of splits."""
    if name in columns.numbers:
        values = columns.numbers[name][~np.isnan(columns.numbers[name])]
        is_row_number = len(values) > 1 and bool((np.diff(values) == 1).all())
        return len(values) > 0 and float(np.ptp(values)) > 0 and not is_row_number
    counts = Counter(filter(None, columns.texts[name]))
    is_split = {text.lower() for text in counts} <= SPLIT_WORDS
    return len(counts) > 1 and counts.total() >= FEW_ROWS * len(counts) and not is_split
