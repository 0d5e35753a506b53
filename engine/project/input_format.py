"""The format of a network's input: kind and range of the numbers, dtype, shape, columns and preparation, in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from netwright.engine.core.text import format_number
from netwright.engine.core.types import TensorType
from netwright.engine.project.preparation import InputPreparation, Preparation
from netwright.engine.project.sources.source_catalog import SOURCES
from netwright.engine.project.stored_facts import type_of

AXES = {"C": "channel", "T": "step", "D": "depth", "H": "height", "W": "width"}
NOUNS = {"image": "pixels", "volume": "voxels", "tokens": "whole numbers"}
MOST_COLUMNS = 8
"""Columns that `InputFormat.short` names; `lines` names all."""


@dataclass(frozen=True)
class Range:
    """Smallest and largest values, one pair for all numbers, or one per column. `basis` says where they are from; empty
    where the data source defines them."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    basis: str = ""

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest value of all."""
        return min(self.low), max(self.high)


@dataclass(frozen=True)
class InputFormat:
    """One input of a network as whoever runs it has to feed it. `range` is None where it is not known."""

    name: str
    type: TensorType
    dtype: str = "float32"
    range: Range | None = None
    columns: tuple[str, ...] = ()
    lengths: tuple[int, int] | None = None
    preparation: tuple[str, ...] = field(default=())
    """What is done to the data before and in the network, one sentence each."""
    batch: int = 0
    """Number of samples that a file of a fixed batch size takes; 0: any."""
    is_normalized: bool = False
    """Whether the numbers are to be normalised before; `range` is then that of the data."""

    @property
    def shape(self) -> tuple[int | str, ...]:
        """Sizes with the batch first: N, and T for any number of steps."""
        return (self.batch or "N", *(size if isinstance(size, int) else "T" for size in self.type.sizes))

    def short(self) -> str:
        """Return `pixels 0 to 255, float32, N × 1 × 28 × 28 (batch, channel, height, width)`."""
        axes = ", ".join(("batch", *(AXES.get(axis, axis.lower()) for axis in self.type.axes)))
        shape = " × ".join(size if isinstance(size, str) else f"{size:,}" for size in self.shape)
        return f"{self._values()}, {self.dtype}, {shape} ({axes})"

    def _values(self) -> str:
        if self.columns:
            names = ", ".join(self.columns[:MOST_COLUMNS])
            more = len(self.columns) - MOST_COLUMNS
            count = f"{len(self.columns):,} columns in this order" if len(self.columns) > 1 else "1 column"
            return f"{count} ({names}{f' and {more:,} more' if more > 0 else ''})"
        noun = NOUNS.get(self.type.layout, "numbers")
        if self.range is None or self.is_normalized:
            return f"normalised {noun}" if self.is_normalized else noun
        low, high = self.range.bounds
        basis = f" {self.range.basis}" if self.range.basis else ""
        return f"{noun} {format_number(low, 4)} to {format_number(high, 4)}{basis}"

    def lines(self) -> tuple[str, ...]:
        """Return the whole description: `short`, the preparation, and each column with its range."""
        return (self.short(), *self.preparation, *self._columns())

    def _columns(self) -> tuple[str, ...]:
        if self.range is None or self.is_normalized or len(self.range.low) != len(self.columns):
            return self.columns
        pairs = zip(self.columns, self.range.low, self.range.high, strict=True)
        return tuple(f"{name}: {format_number(low, 4)} to {format_number(high, 4)}" for name, low, high in pairs)

    def write(self) -> dict[str, Any]:
        """Return the value as JSON, for `export --json` and the metadata of an ONNX file."""
        low, high = self.range.bounds if self.range and not self.is_normalized else (None, None)
        described: dict[str, Any] = {
            "name": self.name,
            "text": self.short(),
            "values": "columns" if self.columns else NOUNS.get(self.type.layout, "numbers"),
            "low": low,
            "high": high,
            "range_basis": self.range.basis if self.range and not self.is_normalized else "",
            "dtype": self.dtype,
            "shape": list(self.shape),
            "axes": ["batch", *(AXES.get(axis, axis.lower()) for axis in self.type.axes)],
            "preparation": list(self.preparation),
        }
        if self.columns:
            described["columns"] = list(self.columns)
        if self.columns and self.range and len(self.range.low) == len(self.columns) and not self.is_normalized:
            described["column_ranges"] = [list(pair) for pair in zip(self.range.low, self.range.high, strict=True)]
        if self.lengths:
            described["lengths"] = list(self.lengths)
        return described


def input_formats(record: Preparation, ranges: Mapping[str, Range] | None = None) -> tuple[InputFormat, ...]:
    """Return the format of each input of a network. `ranges` are those measured, by the name of the input; the data
    source's own come first."""
    return tuple(_format(record, entry, (ranges or {}).get(entry.name)) for entry in record.inputs)


def _format(record: Preparation, entry: InputPreparation, measured: Range | None) -> InputFormat:
    values = measured
    if entry.content == "indices":
        values = Range((0.0,), (entry.vocabulary - 1.0,)) if entry.vocabulary else measured
    elif entry.span:
        values = Range(entry.span[:1], entry.span[1:])
    type = type_of(entry)
    lengths = (int(entry.lengths[0]), int(entry.lengths[1])) if entry.lengths else None
    sentences = tuple(_preparation(record, entry, type, lengths))
    return InputFormat(entry.name, type, entry.dtype, values, entry.column_names, lengths, sentences)


def _preparation(
    record: Preparation, entry: InputPreparation, type: TensorType, lengths: tuple[int, int] | None
) -> Iterator[str]:
    """Yield a sentence on each thing that is done to the data, before the network and in it."""
    if record.kind in SOURCES and entry.reads == SOURCES[record.kind].reads:
        yield from SOURCES[record.kind].preparation(type, entry.column_names)
    yield from _columns(entry)
    if type.is_open:
        yield f"T is any number of steps, the same for all sequences of a batch{_steps(lengths)}."
    if entry.content == "numbers":
        method = entry.normalization.method if entry.normalization else "none"
        yield (
            "The network does not normalise this input."
            if method == "none"
            else f"The network normalises this input itself ({method}): feed the numbers of the data as they are."
        )


def _columns(entry: InputPreparation) -> Iterator[str]:
    """Yield how cells of a table become numbers."""
    if any("=" in name for name in entry.column_names):
        yield (
            "A column such as 'facing=west' is 1 where the table has that text in that column, else 0; a text that no "
            "training row has is 0 in all."
        )
    for column in entry.columns:
        if column.kind == "category" and column.encoding == "index":
            labels = [f"{place} {category}" for place, category in enumerate(column.categories, 1)]
            more = len(labels) - MOST_COLUMNS
            yield (
                f"The index of '{column.name}' is {', '.join(labels[:MOST_COLUMNS])}"
                f"{f' and {more:,} more' if more > 0 else ''}; 0 for any other text."
            )
        if column.kind == "date":
            since = f", counted from {column.origin}" if "elapsed days" in column.parts else ""
            yield f"The date '{column.name}' becomes {', '.join(column.parts)}{since}; Monday is day 1."
    gaps = [
        f"'{column.name}' {format_number(column.missing, 4) if isinstance(column.missing, float) else column.missing}"
        for column in entry.columns
        if column.missing is not None
    ]
    if gaps:
        more = len(gaps) - MOST_COLUMNS
        yield (
            f"Missing values are {', '.join(gaps[:MOST_COLUMNS])}{f' and {more:,} more' if more > 0 else ''}, from the "
            "training rows."
        )


def _steps(lengths: tuple[int, int] | None) -> str:
    """Return the part of a sentence on the steps in the data; empty where they are not known."""
    if lengths is None:
        return ""
    low, high = lengths
    return f"; the data has {low:,} steps" if low == high else f"; the data has {low:,} to {high:,} steps"
