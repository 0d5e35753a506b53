"""Columns of a table as numbers: what is fitted on the training rows, and how cells are encoded with it."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from typing import Literal, SupportsFloat

import numpy as np

from engine.core.errors import UserError, plural
from engine.core.fields import quoted
from engine.core.text import format_number
from engine.core.types import features, tokens
from engine.data.dates import CALENDAR, ELAPSED, forms_of, is_date
from engine.data.dates import numbers as date_numbers
from engine.data.dates import read as read_date
from engine.data.sources.cells import COMMAS, THOUSANDS, as_number, is_missing
from engine.data.sources.csv_file import SAMPLE_ROWS
from engine.data.sources.source import Array, listed
from engine.project.data import DataOptions
from engine.project.dataset_info import InputInfo
from engine.project.preparation import ColumnPreparation

MOST_CATEGORIES = 50
"""Categories that are encoded as one input each."""
MOST_INDICES = 100_000
"""Categories that are encoded as indices."""
OWN_CATEGORY = "(missing)"
LARGEST = float(np.finfo(np.float32).max)
_WAY_OUT = "Correct the value, or leave the row out."
Cells = Array | Sequence[str]
"""Cells of a column: numbers (N), or texts."""


def fit_column(name: str, cells: Cells, training: Array, options: DataOptions, what: str) -> ColumnPreparation:
    """Return how a column becomes numbers, fitted on the training rows. NaN and empty texts are missing values.

    `what` names the column in errors. Raises `UserError`.
    """
    imputes = options.missing_values == "impute"
    if isinstance(cells, np.ndarray):
        refuse_huge(cells, what)
        known = cells[training][~np.isnan(cells[training])]
        if not len(known):
            if imputes:
                raise _nothing_known(what)
            return ColumnPreparation(name=name)
        mean = np.mean if options.impute_numbers == "mean" else np.median
        return ColumnPreparation(
            name=name,
            missing=float(mean(known)) if imputes else None,
            span=(float(known.min()), float(np.median(known)), float(known.max())),
            numbers="whole" if np.array_equal(known, np.rint(known)) else "any",
        )
    texts = [text for row in training.tolist() if (text := cells[row])]
    if not texts:
        raise _nothing_known(what)
    forms = forms_of(texts) if options.dates != "texts" else ()
    if forms:
        return _fit_dates(name, cells, texts, forms, options, what)
    is_own = imputes and options.impute_texts == "category"
    categories = sorted({*texts, *([OWN_CATEGORY] if is_own and len(texts) < len(training) else ())})
    encoding: Literal["one-hot", "index"] = "index" if options.category_encoding == "indices" else "one-hot"
    _refuse_many(categories, encoding, what)
    # Of equally frequent ones the first.
    frequent = max(sorted(set(texts)), key=Counter(texts).__getitem__)
    missing = (OWN_CATEGORY if is_own else frequent) if imputes else None
    return ColumnPreparation(
        name=name, kind="category", categories=tuple(categories), encoding=encoding, missing=missing
    )


def _nothing_known(what: str) -> UserError:
    return UserError(f"{what} has no value in any training row. Leave the column out, or make the split larger.")


def refuse_huge(numbers: Array, what: str) -> None:
    """Raise `UserError` for numbers beyond the range of float32."""
    if (largest := float(np.nanmax(np.abs(numbers)))) > LARGEST:
        raise UserError(f"{what} holds {largest:.3g}; expected numbers up to {LARGEST:.3g}. Use another unit.")


def _refuse_many(categories: Sequence[str], encoding: str, what: str) -> None:
    limit = MOST_INDICES if encoding == "index" else MOST_CATEGORIES
    if len(categories) <= limit:
        return
    first = ", ".join(quoted(c) for c in categories[:3])
    way_out = "Remove the column, or replace its texts with numbers or fewer categories."
    if forms_of(categories[:SAMPLE_ROWS]):
        way_out = "They are dates: have them taken as such (data.dates=all)."
    elif encoding == "one-hot":
        way_out = (
            "Remove the column, replace its texts with numbers or fewer categories, or encode them as indices for an "
            "embedding (data.category_encoding=indices)."
        )
    raise UserError(
        f"{what} holds {len(categories):,} different texts, such as {first}; at most {limit:,} can be "
        f"encoded as inputs. {way_out}"
    )


def _fit_dates(
    name: str, cells: Sequence[str], known: Sequence[str], forms: Sequence[str], options: DataOptions, what: str
) -> ColumnPreparation:
    form = forms[0]
    if len(forms) > 1:
        raise UserError(
            f"{what} holds dates such as {quoted(known[0])}, in which day and month cannot be told apart: no training "
            "row has a day above 12. Write them as 2024-01-31, or have dates taken as texts (data.dates=texts)."
        )
    for row, text in enumerate(cells):
        if text and not is_date(text, form):
            raise UserError(
                f"{what}, row {row + 1:,}: expected a date such as {form}, as in the training rows, received "
                f"{quoted(text)}. Write all dates of the column alike, or have them taken as texts (data.dates=texts)."
            )
    moments = sorted(read_date(text, form) for text in known)
    calendar = [part for part in CALENDAR if part != "hour" or any(moment.time() != time.min for moment in moments)]
    parts = [*(calendar if options.dates != "elapsed" else ()), *((ELAPSED,) if options.dates != "calendar" else ())]
    middle = moments[len(moments) // 2].isoformat() if options.missing_values == "impute" else None
    return ColumnPreparation(
        name=name, kind="date", parts=tuple(parts), form=form, origin=moments[0].date().isoformat(), missing=middle
    )


def inputs_of(columns: Sequence[ColumnPreparation]) -> tuple[InputInfo, ...]:
    """Return the inputs that columns become: `features`, and one input for each column of indices."""
    indices = [column for column in columns if column.kind == "category" and column.encoding == "index"]
    rest = tuple(column for column in columns if column not in indices)
    names = tuple(name for column in rest for name in column.names)
    vectors = (InputInfo("features", features(len(names)), names, prepared=rest),) if rest else ()
    return (*vectors, *(InputInfo(one.name, tokens(1), one.names, prepared=(one,)) for one in indices))


def notes_on(column: ColumnPreparation, cells: Cells, options: DataOptions) -> list[str]:
    """Return notes on how a column is encoded, and on cells that are missing or that the training rows do not have."""
    notes = []
    shown = listed(list(column.categories))
    if column.kind == "date":
        notes.append(f"Column '{column.name}' holds dates such as {column.form}: encoded as {', '.join(column.parts)}.")
    elif column.kind == "category" and column.encoding == "one-hot":
        count = len(column.categories)
        notes.append(f"Column '{column.name}' holds texts: encoded as {count} inputs of 0 or 1 ({shown}).")
    elif column.kind == "category":
        count = len(column.categories)
        notes.append(
            f"Column '{column.name}' holds texts: an input of its own, with the indices 1 to {count:,} ({shown}) and 0 "
            f"for any other. An embedding needs a vocabulary of {count + 1:,}."
        )
    gaps = int(np.isnan(cells).sum()) if isinstance(cells, np.ndarray) else sum(not cell for cell in cells)
    if gaps:
        how = {"number": f"the {options.impute_numbers}", "date": "the median"}.get(column.kind, "the most frequent")
        value = format_number(column.missing) if isinstance(column.missing, float) else str(column.missing)
        of = "a category of its own" if column.missing == OWN_CATEGORY else f"{how} of the training rows"
        notes.append(f"Column '{column.name}': {plural(gaps, 'missing value')} taken as {value}, {of}.")
    if column.kind != "category":
        return notes
    known = frozenset(column.categories)
    if strange := [str(cell) for cell in cells if cell and cell not in known]:
        others, rows = listed(sorted(set(strange))), plural(len(strange), "row")
        becomes = "All its inputs are 0" if column.encoding == "one-hot" else "Its index is 0"
        notes.append(f"Column '{column.name}': no training row has {others}. {becomes} in {rows} of the other splits.")
    return notes


def parse(column: ColumnPreparation, given: Sequence[object], places: Sequence[str]) -> Cells:
    """Return the cells of a column as numbers or texts; NaN and empty texts where they are missing and may be.
    `places` name the rows in errors. Raises `UserError`."""
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
    if is_gap and column.missing is not None:
        return math.nan
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
    expected = "a text" if column.kind == "category" else f"a date such as {column.form}"
    if column.kind == "date" and isinstance(value, date):
        value = (value if isinstance(value, datetime) else datetime.combine(value, time.min)).isoformat()
    text = "" if value is None or value != value else str(value).strip()
    if not text or (column.missing is not None and is_missing(text)):
        if column.missing is None:
            raise UserError(f"{_at(column, place)}: expected {expected}, there is no value. {_WAY_OUT}")
        return ""
    if column.kind == "date" and not is_date(text, column.form):
        raise UserError(f"{_at(column, place)}: expected {expected}, received {quoted(text)}. {_WAY_OUT}")
    return text


def _at(column: ColumnPreparation, place: str) -> str:
    return f"Column '{column.name}', {place}"


def encode(columns: Sequence[ColumnPreparation], cells: Mapping[str, Cells]) -> Array:
    """Return the numbers of all columns side by side (N, numbers): float64 where any column has numbers or dates,
    int64 for indices, else float32."""
    count = len(cells[columns[0].name])
    is_index = columns[0].kind == "category" and columns[0].encoding == "index"
    is_wide = any(column.kind != "category" for column in columns)
    kind = np.int64 if is_index else np.float64 if is_wide else np.float32
    out = np.zeros((count, sum(len(column.names) for column in columns)), kind)
    start = 0
    for column in columns:
        block, given = out[:, start : start + len(column.names)], cells[column.name]
        start += len(column.names)
        if column.kind == "number":
            numbers = np.asarray(given)
            block[:, 0] = numbers if column.missing is None else np.where(np.isnan(numbers), column.missing, numbers)
        elif column.kind == "date":
            filled = datetime.fromisoformat(str(column.missing)) if column.missing is not None else datetime.min
            for text in given:
                if text and not is_date(str(text), column.form):
                    raise UserError(
                        f"Column '{column.name}' holds {quoted(text)}; expected a date such as {column.form}, as in "
                        "the training rows."
                    )
            moments = [read_date(str(text), column.form) if text else filled for text in given]
            block[:] = date_numbers(moments, column.parts, column.origin)
        else:
            places = {category: place for place, category in enumerate(column.categories)}
            texts = (str(text) or str(column.missing) for text in given)
            numbers = np.fromiter((places.get(text, -1) for text in texts), np.int64, count)
            if is_index:
                block[:, 0] = numbers + 1
            else:
                rows = np.flatnonzero(numbers >= 0)
                block[rows, numbers[rows]] = 1.0
    return out
