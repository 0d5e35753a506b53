"""Cells of a column of a table, as an array of pyarrow: plain numbers, texts, and the places of distinct texts.

pyarrow is imported when the first table is read.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from netwright.engine.data.sources.source import Array
from netwright.engine.project.sources.number_texts import MISSING

T = TypeVar("T", bound=float)
COMMA_DECIMALS = {ord(","): ".", ord("."): "p"}
"""Makes plain numbers of those with decimal commas, and no numbers of those with points."""

MARKS = sorted({how(mark) for mark in MISSING for how in (str, str.upper, str.title, str.capitalize)} | {"NaN"})
"""Marks of missing values as pyarrow takes them, which compares letter by letter."""


def plain_numbers(cells: Any, decimal: str = ".") -> Array | None:
    """Return the numbers of cells (N, float64), NaN for an empty one; None where Python refuses a cell as a number,
    with the `decimal` mark."""
    import pyarrow
    from pyarrow import compute

    types = pyarrow.types
    if types.is_decimal(cells.type):
        return np.array([math.nan if cell is None else float(cell) for cell in cells.to_pylist()], np.float64)
    if types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if types.is_null(cells.type):
        return np.full(len(cells), np.nan)
    if types.is_boolean(cells.type):
        cells = compute.cast(cells, pyarrow.int8())
    if _is_text(cells.type):
        cells = compute.if_else(compute.equal(cells, ""), pyarrow.scalar(None, cells.type), cells)
        if decimal == ",":
            cells = compute.replace_substring(compute.replace_substring(cells, ".", "p"), ",", ".")
    elif not (types.is_integer(cells.type) or types.is_floating(cells.type)):
        return None
    try:
        numbers: Array = compute.cast(cells, pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False)
    except pyarrow.ArrowInvalid:
        try:  # Python knows more ways, such as +1
            return by_distinct(cells, lambda texts: [float(text or "nan") for text in texts], np.float64)
        except ValueError:
            return None
    return numbers


def texts_of(cells: Any) -> list[str]:
    """Return cells as a CSV table has them: dates in ISO form, truth values as 0 and 1, missing ones empty."""
    return ["" if cell is None else _text(cell) for cell in cells.to_pylist()]


def by_distinct(cells: Any, values: Callable[[Sequence[str]], Sequence[T]], kind: type[np.generic]) -> Array:
    """Return a value for each cell (N) of a `kind`, from those of the distinct texts in order of appearance."""
    import pyarrow

    if not pyarrow.types.is_dictionary(cells.type):
        cells = cells.dictionary_encode("encode")
    else:
        cells = cells.dictionary_decode().dictionary_encode("encode")  # in order of appearance, without unused ones
    distinct = values(texts_of(cells.dictionary))
    numbers: Array = np.array(distinct, kind)[cells.indices.to_numpy(zero_copy_only=False)]
    return numbers


def are_missing(cells: Any) -> Any:
    """Return whether each cell marks a missing value, as an array of pyarrow; among numbers each null does."""
    import pyarrow
    from pyarrow import compute

    if not _is_text(cells.type):
        return cells.is_null()
    texts = compute.utf8_lower(compute.utf8_trim_whitespace(cells))
    return compute.is_in(texts, pyarrow.array(sorted(MISSING), cells.type))


def are_blank(cells: Any) -> Any:
    """Return whether each cell is empty or holds blanks alone, as an array of pyarrow; among numbers each null is."""
    from pyarrow import compute

    return compute.equal(compute.utf8_trim_whitespace(cells), "") if _is_text(cells.type) else cells.is_null()


def without_blank_rows(batch: Any, parsed: Sequence[str]) -> Any:
    """Return a batch of pyarrow without rows of separators alone. Raises `ArrowInvalid` where columns that are `parsed`
    as numbers hide them, as a null may have been a mark, or hold others than finite numbers."""
    import pyarrow
    from pyarrow import compute

    is_blank = are_blank(batch.column(0))
    if compute.any(is_blank).as_py():
        for cells in batch.columns[1:]:
            is_blank = compute.and_(is_blank, are_blank(cells))
        if parsed and compute.any(is_blank).as_py():
            raise pyarrow.ArrowInvalid("a row without any value")
        batch = batch.filter(compute.invert(is_blank))
    if not all(compute.all(compute.is_finite(batch.column(name)), min_count=0).as_py() for name in parsed):
        raise pyarrow.ArrowInvalid("infinity, or NaN in another spelling than `MARKS`")
    return batch


def columns_of_numbers(batch: Any, names: Sequence[str], decimal: str) -> list[str]:
    """Return the names of the columns whose cells are all plain numbers or empty."""
    return [name for name in names if plain_numbers(batch.column(name), decimal) is not None]


def behind(count: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows of batches but the first `count`."""
    for batch in batches:
        if batch.num_rows > count:
            yield batch.slice(count)
        count = max(0, count - batch.num_rows)


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    iso = getattr(value, "isoformat", None)
    return str(iso() if iso is not None else value)
