"""What an input of a network takes: kind and range of the numbers, dtype, shape, columns and preparation, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.core.types import TensorType
from engine.layers.attention import Embedding
from engine.layers.inputs import InputLayer
from engine.layers.reshape_layouts import OneHot
from engine.network.network import Layer, Network
from engine.project.bindings import match_inputs
from engine.project.data import DataOptions
from engine.project.dataset_info import DatasetInfo, InputInfo

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

    @property
    def shape(self) -> tuple[int | str, ...]:
        """Sizes with the batch first: N, and T for any number of steps."""
        return ("N", *(size if isinstance(size, int) else "T" for size in self.type.sizes))

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
        if self.range is None:
            return noun
        low, high = self.range.bounds
        return f"{noun} {spelled(low)} to {spelled(high)}{f' {self.range.basis}' if self.range.basis else ''}"

    def lines(self) -> tuple[str, ...]:
        """Return the whole description: `short`, the preparation, and each column with its range."""
        return (self.short(), *self.preparation, *self._columns())

    def _columns(self) -> tuple[str, ...]:
        if self.range is None or len(self.range.low) != len(self.columns):
            return self.columns
        pairs = zip(self.columns, self.range.low, self.range.high, strict=True)
        return tuple(f"{name}: {spelled(low)} to {spelled(high)}" for name, low, high in pairs)

    def write(self) -> dict[str, Any]:
        """Return the value as JSON, for `export --json` and the metadata of an ONNX file."""
        low, high = self.range.bounds if self.range else (None, None)
        described: dict[str, Any] = {
            "name": self.name,
            "text": self.short(),
            "values": "columns" if self.columns else NOUNS.get(self.type.layout, "numbers"),
            "low": low,
            "high": high,
            "range_basis": self.range.basis if self.range else "",
            "dtype": self.dtype,
            "shape": list(self.shape),
            "axes": ["batch", *(AXES.get(axis, axis.lower()) for axis in self.type.axes)],
            "preparation": list(self.preparation),
        }
        if self.columns:
            described["columns"] = list(self.columns)
        if self.columns and self.range and len(self.range.low) == len(self.columns):
            described["column_ranges"] = [list(pair) for pair in zip(self.range.low, self.range.high, strict=True)]
        if self.lengths:
            described["lengths"] = list(self.lengths)
        return described


def spelled(number: float) -> str:
    """Return a number for a reader: four significant digits, whole numbers in full."""
    return f"{number:,.0f}" if number == int(number) and abs(number) < 1e15 else f"{number:.4g}"


def input_formats(
    network: Network,
    data: DataOptions,
    facts: DatasetInfo | None,
    ranges: Mapping[str, Range] | None = None,
    *,
    doubles: Sequence[str] = (),
    index_dtype: str = "float32",
) -> tuple[InputFormat, ...]:
    """Return the format of each input of the network. `ranges` are those measured, by the layer's id; the data source's
    own come first. `doubles` are the ids of inputs that need float64."""
    matched = match_inputs(network, facts) if facts is not None else {}
    return tuple(
        _format(network, layer, data, matched.get(layer.id), (ranges or {}).get(layer.id), doubles, index_dtype)
        for layer in network.inputs
    )


def _format(
    network: Network,
    layer: Layer,
    data: DataOptions,
    info: InputInfo | None,
    measured: Range | None,
    doubles: Sequence[str],
    index_dtype: str,
) -> InputFormat:
    type, values = layer.type.output(), measured
    dtype = "float64" if layer.id in doubles else "float32"
    if type.kind == "index":
        dtype = index_dtype
        if limits := _vocabularies(network):
            values = Range((0.0,), (min(limits) - 1.0,))
    elif (span := _span(data, info)) is not None:
        values = Range((span[0],), (span[1],))
    columns, lengths = (info.columns, info.lengths) if info is not None else ((), None)
    if info is not None and type.is_open and lengths is None and info.type.has("T") and isinstance(info.type["T"], int):
        lengths = info.type["T"], info.type["T"]
    return InputFormat(layer.name, type, dtype, values, columns, lengths, _preparation(layer, data, columns, lengths))


def _span(data: DataOptions, info: InputInfo | None) -> tuple[float, float] | None:
    """Return the range of an input as its source defines it."""
    if info is not None:
        return info.span
    return data.source_type.span if data.source_type is not None else None


def _vocabularies(network: Network) -> list[int]:
    types = [layer.type for layer in network.layers.values()]
    return [t.vocabulary for t in types if isinstance(t, Embedding)] + [
        t.classes for t in types if isinstance(t, OneHot)
    ]


def _preparation(
    layer: Layer, data: DataOptions, columns: tuple[str, ...], lengths: tuple[int, int] | None
) -> tuple[str, ...]:
    type = layer.type.output()
    said = list(data.source_type.preparation(type, columns)) if data.source_type is not None else []
    if type.is_open:
        said.append(f"T is any number of steps, the same for all sequences of a batch{_steps(lengths)}.")
    if isinstance(layer.type, InputLayer) and type.kind != "index":
        kind = layer.type.normalization_kind
        said.append(
            "The network does not normalise this input."
            if kind == "none"
            else f"The network normalises this input itself ({kind}): feed the numbers of the data as they are."
        )
    return tuple(said)


def _steps(lengths: tuple[int, int] | None) -> str:
    """Return the part of a sentence on the steps in the data; empty where they are not known."""
    if lengths is None:
        return ""
    low, high = lengths
    return f"; the data has {low:,} steps" if low == high else f"; the data has {low:,} to {high:,} steps"
