"""Columns of a table as numbers: what is fitted on the training rows, and how cells are encoded with it."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import SupportsFloat

import numpy as np

from engine.core.errors import UserError, plural
from engine.core.fields import quoted
from engine.data.sources.csv_file import COMMAS, THOUSANDS, as_number, is_missing
from engine.data.sources.source import Array, listed
from engine.project.preparation import ColumnPreparation

MOST_CATEGORIES = 50
LARGEST = float(np.finfo(np.float32).max)
_WAY_OUT = "Correct the value, or leave the row out."
Cells = Array | Sequence[str]
"""Cells of a column: numbers (N), or texts."""


def fit_categories(name: str, cells: Sequence[str], training: Array, what: str) -> ColumnPreparation:
    """Return the encoding of a column of texts: one number per category of the training rows, in sorted order.

    `what` names the column in errors. Raises `UserError`.
    """
    categories = sorted({cells[row] for row in training.tolist()})
    if not categories:
        raise UserError(f"{what} holds texts, and no row is left to train on. Make the training split larger.")
    if len(categories) > MOST_CATEGORIES:
        first = ", ".join(quoted(c) for c in categories[:3])
        raise UserError(
            f"{what} holds {len(categories):,} different texts, such as {first}; at most {MOST_CATEGORIES} can be "
            "encoded as inputs. Remove the column, or replace its texts with numbers or fewer categories."
        )
    return ColumnPreparation(name=name, kind="category", categories=tuple(categories))


def notes_on(column: ColumnPreparation, cells: Cells) -> list[str]:
    """Return notes on how a column is encoded, and on cells whose category the training rows do not have."""
    if column.kind != "category":
        return []
    known, shown = frozenset(column.categories), listed(list(column.categories))
    notes = [f"Column '{column.name}' holds texts: encoded as {len(known)} inputs of 0 or 1 ({shown})."]
    if strange := [str(cell) for cell in cells if cell not in known]:
        others, rows = listed(sorted(set(strange))), plural(len(strange), "row")
        notes.append(
            f"Column '{column.name}': no training row has {others}. All its inputs are 0 in {rows} of the other splits."
        )
    return notes


def parse(column: ColumnPreparation, given: Sequence[object], places: Sequence[str]) -> Cells:
    """Return the cells of a column as numbers or texts. `places` name the rows in errors. Raises `UserError`."""
    if column.kind == "number":
        return np.array([_number(column, value, place) for value, place in zip(given, places, strict=True)], np.float64)
    return [_text(column, value, place) for value, place in zip(given, places, strict=True)]


def _number(column: ColumnPreparation, value: object, place: str) -> float:
    """Return the number in a cell, or the value for an empty one."""
    if isinstance(value, str) and not is_missing(value):
        with suppress(ValueError):
            value = float(value) if not COMMAS.fullmatch(value.strip()) else _grouped(value)
    elif isinstance(value, SupportsFloat) and not isinstance(value, bool | np.bool_):
        value = float(value)
    is_gap = value is None or (isinstance(value, str) and is_missing(value)) or value != value
    if is_gap and isinstance(column.missing, float):
        return column.missing
    if isinstance(value, float) and math.isfinite(value):
        if abs(value) > LARGEST:
            raise UserError(
                f"{_at(column, place)}: received {value:.3g}; expected numbers up to {LARGEST:.3g}. Use another unit."
            )
        return value
    received = "there is no value" if is_gap else f"received {quoted(value)}"
    raise UserError(f"{_at(column, place)}: expected a finite number, {received}. {_WAY_OUT}")


def _grouped(text: str) -> float:
    if not THOUSANDS.fullmatch(text.strip()):
        raise ValueError
    return as_number(text)


def _text(column: ColumnPreparation, value: object, place: str) -> str:
    text = "" if value is None or value != value else str(value).strip()
    is_gap = not text or (column.missing is not None and is_missing(text))
    if not is_gap:
        return text
    if column.missing is None:
        raise UserError(f"{_at(column, place)}: expected a text, there is no value. {_WAY_OUT}")
    return str(column.missing)


def _at(column: ColumnPreparation, place: str) -> str:
    return f"Column '{column.name}', {place}"


def encode(columns: Sequence[ColumnPreparation], cells: Mapping[str, Cells]) -> Array:
    """Return the numbers of all columns side by side (N, numbers), in float64 where there are columns of numbers."""
    count = len(cells[columns[0].name])
    kind = np.float64 if any(column.kind == "number" for column in columns) else np.float32
    out = np.zeros((count, sum(len(column.names) for column in columns)), kind)
    start = 0
    for column in columns:
        block, given = out[:, start : start + len(column.names)], cells[column.name]
        start += len(column.names)
        if column.kind == "number":
            block[:, 0] = given
            continue
        places = {category: place for place, category in enumerate(column.categories)}
        numbers = np.fromiter((places.get(str(cell), -1) for cell in given), np.int64, count)
        rows = np.flatnonzero(numbers >= 0)
        block[rows, numbers[rows]] = 1.0
    return out
