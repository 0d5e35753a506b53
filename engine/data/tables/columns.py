"""Columns of a table as numbers: what is fitted on the training rows, and how cells are encoded with it."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from itertools import accumulate, islice
from typing import Literal, SupportsFloat, overload

import numpy as np

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.fields import quoted
from netwright.engine.core.text import format_number
from netwright.engine.core.types import features, tokens
from netwright.engine.data.sources.source import Array, chosen, is_whole, listed
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import InputInfo
from netwright.engine.project.dates import DAY_FIRST, forms_of, in_order, is_date, parts_in
from netwright.engine.project.dates import read as read_date
from netwright.engine.project.preparation import DATE_FORMS, DATE_PARTS, ColumnPreparation
from netwright.engine.project.sources.number_texts import is_missing, is_number, number_format

CALENDAR, ELAPSED = DATE_PARTS[:-1], DATE_PARTS[-1]
_SECONDS_A_DAY = 86_400.0
MOST_CATEGORIES = 50
"""Categories that are encoded as one input each."""
MOST_INDICES = 100_000
"""Categories that are encoded as indices."""
LOOKED_AT = 1000
"""Different texts of a column by which the form of dates is found."""
OWN_CATEGORY = "(missing)"
LARGEST = float(np.finfo(np.float32).max)
_WAY_OUT = "Correct the value, or leave the row out."


@dataclass(frozen=True, eq=False)
class CodedTexts(Sequence[str]):
    """Texts of a column as indices of `names` (N, int32), -1 where one is missing."""

    codes: Array
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> "CodedTexts": ...

    def __getitem__(self, place: int | slice) -> "str | CodedTexts":
        if isinstance(place, slice):
            return CodedTexts(self.codes[place], self.names)
        code = int(self.codes[place])
        return self.names[code] if code >= 0 else ""

    def __iter__(self) -> Iterator[str]:
        names = (*self.names, "")  # the last one for gaps
        return (names[code] for code in self.codes.tolist())

    def numbered(self, numbers: Mapping[str, int], missing: int) -> Array:
        """Return a number for each text (N): that of `numbers`, -1 for texts that are not there."""
        table = np.array([*(numbers.get(name, -1) for name in self.names), missing], np.int64)
        return table[self.codes]


Cells = Array | Sequence[str]
"""Cells of a column: numbers (N), or texts."""


def text_counts(cells: Sequence[str], rows: Array | None = None) -> Counter[str]:
    """Return the number of occurrences of each text, in some rows (N) or in all; missing ones do not count."""
    if isinstance(cells, CodedTexts):
        codes = cells.codes if rows is None else cells.codes[rows]
        counts = np.bincount(codes[codes >= 0], minlength=len(cells.names)).tolist()
        return Counter({name: count for name, count in zip(cells.names, counts, strict=True) if count})
    some = cells if rows is None else (cells[row] for row in rows.tolist())
    return Counter(text for text in some if text)


@dataclass(frozen=True)
class LeftOutColumn:
    """A column that is no input. `note` says why, and how to decide otherwise."""

    name: str
    note: str


def fit_column(
    name: str, cells: Cells, training: Array, options: DataOptions, subject: str, decimal: str = "."
) -> ColumnPreparation | LeftOutColumn:
    """Return the preparation of a column, fitted on the training rows. NaN and empty texts are missing values.

    `subject` names the column in errors, `decimal` is the mark of its table. Raises `UserError`.
    """
    everywhere = Counter[str]() if isinstance(cells, np.ndarray) else text_counts(cells)
    has_gap = bool(np.isnan(cells).any()) if isinstance(cells, np.ndarray) else everywhere.total() < len(cells)
    imputes = options.missing_values == "impute" or (options.missing_values == "auto" and has_gap)
    texts, numbers = Counter[str](), np.empty(0)
    if isinstance(cells, np.ndarray):
        numbers = chosen(cells, training)
        numbers = numbers[~np.isnan(numbers)] if has_gap else numbers
    else:
        texts = text_counts(cells, training)
    if not texts and not len(numbers):
        if options.missing_values == "auto":
            return LeftOutColumn(name, f"Column '{name}' is left out: it has no value in any training row.")
        raise _nothing_known(subject)
    if isinstance(cells, np.ndarray):
        refuse_huge(cells, subject)
        mean = float(np.mean(numbers)) if imputes and options.impute_numbers == "mean" else None
        median = float(np.median(numbers, overwrite_input=True))  # sorts, so last
        mark: Literal[".", ","] = "," if decimal == "," else "."
        return ColumnPreparation(
            name=name,
            missing=(median if mean is None else mean) if imputes else None,
            decimal=mark,
            span=(float(numbers.min()), median, float(numbers.max())),
            numbers="whole" if is_whole(numbers) else "any",
        )
    if forms := _date_forms(texts, options):
        form = in_order(forms, is_day_first=is_day_first(options, decimal))
        _refuse_other_forms(cells, everywhere, form, subject)
        return _fit_dates(name, texts, form, options, imputes=imputes)
    return _fit_texts(name, texts, options, subject, imputes=imputes, has_gap=texts.total() < len(training))


def _date_forms(texts: Mapping[str, int], options: DataOptions) -> tuple[str, ...]:
    """Return the forms of a column of dates, which more than half of its different texts have; empty for other
    texts."""
    if options.dates == "texts":
        return ()
    counts = Counter(form for text in islice(texts, LOOKED_AT) for form in forms_of([text]))
    best = max(counts.values(), default=0)
    if 2 * best <= min(len(texts), LOOKED_AT):
        return ()
    forms = tuple(form for form in DATE_FORMS if counts[form] == best)
    fitting = tuple(form for form in forms if len(forms) > 1 and all(is_date(text, form) for text in texts))
    return fitting or forms


def _fit_texts(
    name: str, counts: Counter[str], options: DataOptions, subject: str, *, imputes: bool, has_gap: bool
) -> ColumnPreparation | LeftOutColumn:
    """Return the categories of a column of texts, which occur so often: of too many the most frequent ones."""
    is_own = imputes and options.impute_texts == "category"
    total = counts.total()
    encoding: Literal["one-hot", "index"] = "index" if options.category_encoding == "indices" else "one-hot"
    if encoding == "index" and len(counts) > MOST_INDICES:
        raise _too_many(counts, subject)
    if encoding == "one-hot" and len(counts) > MOST_CATEGORIES:
        if 2 * len(counts) > total:
            examples = listed([quoted(text) for text in list(counts)[:3]])
            return LeftOutColumn(
                name,
                f"Column '{name}' is left out: it has {len(counts):,} different texts in {total:,} training rows, "
                f"such as {examples}. data.category_encoding=indices takes it for an embedding.",
            )
        frequent = sorted(counts, key=lambda text: (-counts[text], text))[:MOST_CATEGORIES]
        counts = Counter({text: counts[text] for text in frequent})
    categories = sorted({*counts, *([OWN_CATEGORY] if is_own and has_gap else ())})
    # Of equally frequent ones the first.
    frequent_one = max(sorted(counts), key=counts.__getitem__)
    missing = (OWN_CATEGORY if is_own else frequent_one) if imputes else None
    return ColumnPreparation(
        name=name, kind="category", categories=tuple(categories), encoding=encoding, missing=missing
    )


def _nothing_known(subject: str) -> UserError:
    return UserError(f"{subject} has no value in any training row. Leave the column out, or make the split larger.")


def refuse_huge(numbers: Array, subject: str) -> None:
    """Raise `UserError` for numbers beyond the range of float32."""
    if (largest := max(float(np.nanmax(numbers)), -float(np.nanmin(numbers)))) > LARGEST:
        raise UserError(f"{subject} holds {largest:.3g}; expected numbers up to {LARGEST:.3g}. Use another unit.")


def _too_many(texts: Collection[str], subject: str) -> UserError:
    first = ", ".join(quoted(text) for text in list(texts)[:3])
    return UserError(
        f"{subject} holds {len(texts):,} different texts, such as {first}; at most {MOST_INDICES:,} can be encoded as "
        "inputs. Leave the column out (data.left_out), or replace its texts with numbers or fewer categories."
    )


def _refuse_other_forms(cells: Sequence[str], texts: Mapping[str, int], form: str, subject: str) -> None:
    """Raise `UserError` for the first cell that is no date of a form."""
    strange = {text for text in texts if not is_date(text, form)}
    if strange:
        row, text = next((row, text) for row, text in enumerate(cells) if text in strange)
        raise UserError(
            f"{subject}, row {row + 1:,}: expected a date such as {form}, as in the training rows, received "
            f"{quoted(text)}. Write all dates of the column alike, or have them taken as texts (data.dates=texts)."
        )


def _fit_dates(
    name: str, texts: Mapping[str, int], form: str, options: DataOptions, *, imputes: bool
) -> ColumnPreparation:
    """Return the parts of dates that occur so often."""
    moments = sorted((read_date(text, form), count) for text, count in texts.items())
    has_times = any(moment.time() != time.min for moment, _ in moments)
    calendar = [part for part in CALENDAR if part != "hour" or has_times]
    parts = [*(calendar if options.dates != "elapsed" else ()), *((ELAPSED,) if options.dates != "calendar" else ())]
    return ColumnPreparation(
        name=name,
        kind="date",
        parts=parts_in(form, tuple(parts)),
        form=form,
        origin=moments[0][0].date().isoformat(),
        missing=_median(moments).isoformat() if imputes else None,
    )


def _median(moments: Sequence[tuple[datetime, int]]) -> datetime:
    """Return the upper median of dates in order, each of which occurs so often."""
    place = sum(count for _, count in moments) // 2
    ends = accumulate(count for _, count in moments)
    return next(moment for (moment, _), end in zip(moments, ends, strict=True) if end > place)


def is_day_first(options: DataOptions, decimal: str) -> bool:
    """Return whether dates such as 01/02/2024 begin with the day: as the options say, else where decimals have a
    comma."""
    return options.date_order == "day-first" if options.date_order != "auto" else decimal == ","


def inputs_of(columns: Sequence[ColumnPreparation]) -> tuple[InputInfo, ...]:
    """Return the inputs that columns become: `features`, and one input for each column of indices."""
    indices = [column for column in columns if column.kind == "category" and column.encoding == "index"]
    rest = tuple(column for column in columns if column not in indices)
    names = tuple(name for column in rest for name in column.names)
    vectors = (InputInfo("features", features(len(names)), names, prepared=rest),) if rest else ()
    return (*vectors, *(InputInfo(index.name, tokens(1), index.names, prepared=(index,)) for index in indices))


def notes_on(column: ColumnPreparation | LeftOutColumn, cells: Cells, options: DataOptions) -> list[str]:
    """Return notes on how a column is encoded, and on cells that are missing or that the training rows do not have."""
    if isinstance(column, LeftOutColumn):
        return [column.note]
    notes = []
    examples = listed(list(column.categories))
    if column.kind == "date":
        notes.append(
            f"Column '{column.name}' holds dates such as {column.form}: encoded as {', '.join(column.parts)} "
            "(data.dates)."
        )
        if not isinstance(cells, np.ndarray) and len(forms_of(text_counts(cells))) > 1:
            order = "day" if column.form in DAY_FIRST else "month"
            notes.append(
                f"Column '{column.name}': no date tells day and month apart; the {order} is taken to stand first "
                "(data.date_order)."
            )
    elif column.kind == "category" and column.encoding == "one-hot":
        count = len(column.categories)
        notes.append(f"Column '{column.name}' holds texts: encoded as {plural(count, 'input')} of 0 or 1 ({examples}).")
    elif column.kind == "category":
        count = len(column.categories)
        notes.append(
            f"Column '{column.name}' holds texts: an input of its own, with the indices 1 to {count:,} ({examples}) "
            f"and 0 for any other. An embedding needs a vocabulary of {count + 1:,}."
        )
    counts = Counter[str]() if isinstance(cells, np.ndarray) else text_counts(cells)
    gaps = int(np.isnan(cells).sum()) if isinstance(cells, np.ndarray) else len(cells) - counts.total()
    if gaps:
        how = {"number": f"the {options.impute_numbers}", "date": "the median"}.get(column.kind, "the most frequent")
        value = format_number(column.missing) if isinstance(column.missing, float) else str(column.missing)
        of = "a category of its own" if column.missing == OWN_CATEGORY else f"{how} of the training rows"
        notes.append(
            f"Column '{column.name}': {plural(gaps, 'missing value')} taken as {value}, {of} (data.missing_values)."
        )
    if column.kind != "category":
        return notes
    categories = frozenset(column.categories)
    if strange := {text: count for text, count in counts.items() if text not in categories}:
        others, rows = listed(sorted(strange)), plural(sum(strange.values()), "row")
        if column.encoding == "one-hot" and len(categories) >= MOST_CATEGORIES:
            notes.append(
                f"Column '{column.name}' has {len(categories) + len(strange):,} different texts: the "
                f"{len(categories)} most frequent are encoded, and all its inputs are 0 in {rows} with another one "
                "(data.category_encoding=indices takes all)."
            )
            return notes
        becomes = "All its inputs are 0" if column.encoding == "one-hot" else "Its index is 0"
        notes.append(f"Column '{column.name}': no training row has {others}. {becomes} in {rows} of the other splits.")
    return notes


def parse(column: ColumnPreparation, values: Sequence[object], places: Sequence[str], decimal: str = "") -> Cells:
    """Return the cells of a column as numbers or texts; NaN and empty texts where they are missing and may be.
    `places` name the rows in errors, `decimal` is the mark of texts, where it is known. Raises `UserError`."""
    pairs = zip(values, places, strict=True)
    if column.kind == "number":
        mark = decimal or column.decimal
        return np.array([_number(column, value, place, mark) for value, place in pairs], np.float64)
    return [_text(column, value, place) for value, place in pairs]


def _number(column: ColumnPreparation, value: object, place: str, decimal: str) -> float:
    """Return the number in a cell, or the value for an empty one."""
    if isinstance(value, str) and not is_missing(value):
        value = _number_in(value, decimal)
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


def _number_in(text: str, decimal: str) -> float | str:
    """Return the number in a text, however it is written; the text itself where it holds none."""
    if decimal == "." and is_number(text):
        return float(text)
    how = number_format((text,), decimal)
    if how is not None:
        return how.number(text)
    return float(text) if is_number(text) else text  # infinity


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
        block, values = out[:, start : start + len(column.names)], cells[column.name]
        start += len(column.names)
        if column.kind == "number":
            numbers = np.asarray(values)
            block[:, 0] = numbers if column.missing is None else np.where(np.isnan(numbers), column.missing, numbers)
        elif column.kind == "date":
            filled = datetime.fromisoformat(str(column.missing)) if column.missing is not None else datetime.min
            for text in values:
                if text and not is_date(str(text), column.form):
                    raise UserError(
                        f"Column '{column.name}' holds {quoted(text)}; expected a date such as {column.form}, as in "
                        "the training rows."
                    )
            moments = [read_date(str(text), column.form) if text else filled for text in values]
            block[:] = date_numbers(moments, column.parts, column.origin)
        else:
            places = {category: place for place, category in enumerate(column.categories)}
            if isinstance(values, CodedTexts):
                numbers = values.numbered(places, places.get(str(column.missing), -1))
            else:
                texts = (str(text) or str(column.missing) for text in values)
                numbers = np.fromiter((places.get(text, -1) for text in texts), np.int64, count)
            if is_index:
                block[:, 0] = numbers + 1
            else:
                rows = np.flatnonzero(numbers >= 0)
                block[rows, numbers[rows]] = 1.0
    return out


def date_numbers(dates: Sequence[datetime], parts: Sequence[str], origin: str) -> Array:
    """Return one number per date and part (N, parts). Monday is 1; elapsed days are counted from `origin`."""
    start = datetime.combine(date.fromisoformat(origin), datetime.min.time()) if origin else datetime.min
    of: Mapping[str, Callable[[datetime], float]] = {
        "year": lambda moment: moment.year,
        "month": lambda moment: moment.month,
        "day of week": lambda moment: moment.isoweekday(),
        "hour": lambda moment: moment.hour + moment.minute / 60,
        "elapsed days": lambda moment: (moment - start).total_seconds() / _SECONDS_A_DAY,
    }
    columns = [np.fromiter((of[part](moment) for moment in dates), np.float64, len(dates)) for part in parts]
    return np.stack(columns, axis=1)
