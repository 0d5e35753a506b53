"""A CSV table with a header: one column is the response, or several are; the others are the inputs, together one vector
per sample. Several responses of numbers are one target; where some are classes, each column is a target of its own.

Columns of numbers are taken as they are. A column of texts becomes one input per category, 1 where the row has it and 0
elsewhere, in sorted order; the categories are those of the training rows, and all inputs are 0 for any other.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from netwright.engine.core.errors import UserError, did_you_mean, plural
from netwright.engine.core.fields import quoted
from netwright.engine.core.types import features
from netwright.engine.data.sources.source import Array, Column, Outline, Samples, Source, file_stamp, listed
from netwright.engine.data.sources.split_keys import keys_of
from netwright.engine.data.sources.targets import as_classes, is_whole_and_few, rounding_note, texts_as_classes
from netwright.engine.data.tables import histograms
from netwright.engine.data.tables.columns import (
    Cells,
    LeftOutColumn,
    encode,
    fit_column,
    inputs_of,
    notes_on,
    refuse_huge,
)
from netwright.engine.data.tables.csv_file import LARGEST_EXACT, Columns, read_columns
from netwright.engine.data.tables.csv_table import EXPECTED, Gaps
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import TargetInfo, classes_of, numbers_of
from netwright.engine.project.preparation import ColumnPreparation

TRUTH_VALUES = (("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"))
GAPS: Mapping[str, Gaps] = {"auto": "keep", "refuse": "refuse", "leave-out": "leave-out", "impute": "keep"}


class Table(Source):
    """Table of numeric and categorical columns."""

    def stamp(self, path: Path) -> Hashable:
        """Return time, size and inode of the file. Raises `UserError`."""
        return file_stamp(path, EXPECTED)

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """Return the outline with all samples: the type of a column is known only when it has been read."""
        if options.response in (left_out := options.columns_left_out) and options.response:
            raise UserError(f"Column '{options.response}' is the response and is left out, too. Choose one of them.")
        table = read_columns(path, left_out, GAPS[options.missing_values], options.written)
        dividing = options.dividing_column
        columns = without(table, dividing, path) if dividing else table
        responses = responses_of(options.response, columns, path)
        table = answered(table, responses, path)
        columns = without(table, dividing, path) if dividing else table
        targets, infos = targets_of(options.task, responses, columns, path)
        notes = list(columns.notes)
        notes += [
            note
            for info in infos
            if info.task == "numbers"
            for name in responses
            if name in columns.numbers and info.name in (name, ", ".join(responses))
            for note in rounding_note(name, columns.numbers[name])
        ]
        return Outline(
            inputs=(),
            targets=targets,
            wanted=infos,
            notes=tuple(notes),
            columns=tuple(_column(name, responses, table, dividing) for name in table.names),
            rows=tuple(rows_shown(table)),
            raw=columns,
            split_keys=keys_by(options, table, dividing, path) if dividing else None,
            resident_because="a table is read whole, since what a column holds shows only then",
        )

    def fit(self, options: DataOptions, path: Path, outline: Outline, training: Array) -> Outline:
        """Return the outline with the inputs: their categories are those of the training rows."""
        columns = outline.raw
        assert isinstance(columns, Columns)
        responses = responses_of(options.response, columns, path)
        cells = _cells(columns)
        fitted = [
            fit_column(name, cells[name], training, options, f"Column '{name}' of {path}", columns.decimal)
            for name in columns.names
            if name not in responses
        ]
        notes = [note for column in fitted for note in notes_on(column, cells[column.name], options)]
        return with_inputs(outline, fitted, notes, path)

    def samples(self, options: DataOptions, path: Path, outline: Outline, indices: Array | None = None) -> Samples:
        """Return the inputs, one row per sample."""
        assert isinstance(outline.raw, Columns)
        return Samples(tuple(encode(input.prepared, _cells(outline.raw, indices)) for input in outline.inputs))


def with_inputs(
    outline: Outline, fitted: Sequence[ColumnPreparation | LeftOutColumn], notes: Sequence[str], path: Path
) -> Outline:
    """Return the outline with the inputs that columns become, and notes on them. Raises `UserError` without any."""
    prepared = [column for column in fitted if isinstance(column, ColumnPreparation)]
    if not prepared:
        raise UserError(f"No column of {path} is left as an input. {' '.join(notes)}")
    left_out = {column.name for column in fitted if isinstance(column, LeftOutColumn)}
    columns = tuple(replace(item, role="left out") if item.name in left_out else item for item in outline.columns)
    return replace(outline, inputs=inputs_of(prepared), notes=(*outline.notes, *notes), columns=columns)


def read_answered(options: DataOptions, path: Path) -> tuple[Columns, tuple[str, ...]]:
    """Return the columns of a table of texts or files, without rows that lack a response, and the responses. Raises
    `UserError`."""
    columns = read_columns(path, gaps="keep", written=options.written)
    responses = responses_of(options.response, columns, path)
    return answered(columns, responses, path), responses


def answered(columns: Columns, names: Sequence[str], path: Path, subject: str = "a response") -> Columns:
    """Return the rows that have a value in all of these columns. Raises `UserError` where there are none."""
    has_all = np.ones(columns.rows, bool)
    for name in names:
        texts = columns.texts.get(name)
        has_all &= ~np.isnan(columns.numbers[name]) if texts is None else np.array([bool(text) for text in texts])
    return columns if has_all.all() else columns.only(has_all, without_value(has_all, path, subject))


def without_value(has_all: Array, path: Path, subject: str = "a response") -> str:
    """Return the note on rows (N) that lack a value. Raises `UserError` where none has it."""
    if not has_all.any():
        raise UserError(f"Each row of {path} lacks {subject}. Choose another column.")
    return f"Left out because {subject} is missing: {plural(int((~has_all).sum()), 'row')}."


def _cells(columns: Columns, indices: Array | None = None) -> dict[str, Cells]:
    """Return the cells of all columns, or those of the chosen rows."""
    if indices is None:
        return {**columns.numbers, **columns.texts}
    texts = {name: [cells[row] for row in indices.tolist()] for name, cells in columns.texts.items()}
    return {**{name: numbers[indices] for name, numbers in columns.numbers.items()}, **texts}


def without(columns: Columns, name: str, path: Path) -> Columns:
    """Return the columns without the one that divides the samples. Raises `UserError` where it is missing."""
    if name not in columns.names:
        hint = did_you_mean(name, columns.names)
        raise UserError(f"{path} has no column {quoted(name)} to divide the data by (data.split_column).{hint}")
    if len(columns.names) < 3:
        raise UserError(
            f"Column '{name}' of {path} divides the data; one column is left. Expected inputs and a response."
        )
    return columns.without(name)


def keys_by(options: DataOptions, columns: Columns, name: str, path: Path) -> Array:
    """Return the keys by which a column divides the rows (N), as `split_keys` of `Outline`. Raises `UserError`."""
    return keys_of(options.split, _cells(columns)[name], f"Column '{name}' of {path}")


def responses_of(option: str, columns: Columns, path: Path) -> tuple[str, ...]:
    """Return the columns to predict. Names are separated by commas; a single name may contain commas."""
    if not option:
        return columns.names[-1:]
    if option in columns.names:
        return (option,)
    responses = tuple(dict.fromkeys(name.strip() for name in option.split(",")))
    for name in responses:
        if name not in columns.names:
            hint = did_you_mean(name, columns.names)
            names = listed(list(columns.names), 20)
            raise UserError(f"{path} has no column {quoted(name)}.{hint} Its columns are: {names}.")
    if len(responses) == len(columns.names):
        raise UserError(f"All columns of {path} are responses. Leave some as inputs.")
    return responses


def targets_of(
    task: str, names: tuple[str, ...], columns: Columns, path: Path
) -> tuple[tuple[Array, ...], tuple[TargetInfo, ...]]:
    """Return one target of numbers, or of labels, for all response columns, or one per column where some are classes.

    Several columns that hold nothing but truth values are labels. Raises `UserError`.
    """
    if task == "transcripts":
        raise UserError(f"A table has no {task}: its responses are classes, numbers or labels. Choose one of them.")
    if task == "labels" or (task == "auto" and len(names) > 1):
        labels = [_label(name, columns) for name in names]
        if (strange := next((name for name, label in zip(names, labels, strict=True) if label is None), None)) is None:
            array = np.stack([label for label in labels if label is not None], axis=1)
            return (array,), (TargetInfo(", ".join(names), features(len(names)), "labels", names),)
        if task == "labels":
            raise UserError(f"Column '{strange}' of {path} holds no truth values. Labels are 0 or 1, or yes or no.")
    targets = [_target(task, name, columns, path) for name in names]
    if not any(classes for _, classes in targets):
        array = np.concatenate([numbers for numbers, _ in targets], axis=1) if len(names) > 1 else targets[0][0]
        return (array,), (TargetInfo(", ".join(names), features(len(names)), "numbers"),)
    pairs = zip(names, targets, strict=True)
    facts = [classes_of(*classes, name=name) if classes else numbers_of(name=name) for name, (_, classes) in pairs]
    return tuple(array for array, _ in targets), tuple(info for (info,) in facts)


def _label(name: str, columns: Columns) -> Array | None:
    """Return the truth values of a column (N), 0 or 1; None where it holds others."""
    if name in columns.numbers:
        numbers = columns.numbers[name]
        is_signed = np.isin(numbers, (-1, 1)).all()
        return (numbers > 0).astype(np.float32) if is_signed or np.isin(numbers, (0, 1)).all() else None
    texts = [text.lower() for text in columns.texts[name]]
    if not any(set(texts) <= {no, yes} for no, yes in TRUTH_VALUES):
        return None
    return np.array([any(text == yes for _, yes in TRUTH_VALUES) for text in texts], np.float32)


def _target(task: str, name: str, columns: Columns, path: Path) -> tuple[Array, tuple[str, ...]]:
    subject = f"Column '{name}' of {path}"
    if name in columns.texts:
        if task == "numbers":
            first = columns.texts[name][0]
            raise UserError(
                f"{subject} holds texts, such as {quoted(first)}. Expected numbers to predict. "
                "Predict classes, or choose another response."
            )
        return texts_as_classes(columns.texts[name], subject)
    numbers = columns.numbers[name]
    if task == "classes" or (task == "auto" and is_whole_and_few(numbers)):
        if float(np.abs(numbers).max()) >= LARGEST_EXACT:
            raise UserError(
                f"{subject} holds numbers above {LARGEST_EXACT:,}, not all of which can be told apart in double "
                "precision. To take them as classes, write them as texts, such as id_1."
            )
        return as_classes(numbers, subject)
    refuse_huge(numbers, subject)
    return numbers.astype(np.float32)[:, np.newaxis], ()


def _column(name: str, responses: tuple[str, ...], columns: Columns, dividing: str) -> Column:
    role = "response" if name in responses else "split" if name == dividing else "input"
    if name in columns.texts:
        different = len({text for text in columns.texts[name] if text})
        gaps = sum(not text for text in columns.texts[name])
        kind = "text" if different == 1 else f"text, {different:,} different"
        counted = histograms.of_texts(columns.texts[name])
        return Column(name, role, f"{kind}, {gaps:,} missing" if gaps else kind, histogram=counted)
    numbers = columns.numbers[name]
    values = numbers[~np.isnan(numbers)]
    kind = f"number, {len(numbers) - len(values):,} missing" if len(values) < len(numbers) else "number"
    if not len(values):
        return Column(name, role, kind)
    spans = float(values.min()), float(values.mean()), float(values.max())
    return Column(name, role, kind, *spans, histograms.of_numbers(numbers))


def rows_shown(columns: Columns) -> Iterator[tuple[str | float, ...]]:
    """Yield the first rows for display: numbers, and texts as they stand in the file."""
    for place, row in enumerate(columns.first_rows):
        pairs = zip(columns.names, row, strict=True)
        yield tuple(
            float(columns.numbers[name][place]) if name in columns.numbers and cell.strip() else cell.strip()
            for name, cell in pairs
        )
