"""Columns of a table as numbers: what is fitted on the training rows, and how cells are encoded with it."""

from collections.abc import Mapping, Sequence

import numpy as np

from engine.core.errors import UserError, plural
from engine.core.fields import quoted
from engine.data.sources.source import Array, listed
from engine.project.preparation import ColumnPreparation

MOST_CATEGORIES = 50
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
