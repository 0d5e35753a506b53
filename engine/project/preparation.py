"""How raw data becomes the inputs of a trained network, and its outputs become answers: a record beside the weights.

`preparation.json` lies in the run folder and in `best/` and `last/`; an ONNX file holds the same JSON in its metadata
under `preparation`. What it holds was fitted on the training split only.
`netwright.engine.data.loading.apply_preparation` applies it.

A network carries its normalisation as a layer, with the numbers in its weights: `prepare` does not apply it. The record
repeats it for readers who have no weights at hand.
"""

import contextlib
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Self

from netwright.engine.core.dataclass_json import JsonShapeError, from_json, to_json
from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted
from netwright.engine.core.files import read_file, read_object

VERSION = 1
FILE = "preparation.json"
LIMIT_BYTES = 2**26
"""Largest record that is read: a table of 100,000 columns takes 10 MB."""
MOST_NUMBERS = 4096
"""Numbers of a normalisation that the record repeats; more are in the weights alone."""
MOST_VALUES = 2**31
"""Largest number of values per sample of an input or a target."""
AXES = "CTDHW"
Reads = Literal["columns", "image", "array", "sound", "text"]
DATE_PARTS = ("year", "month", "day of week", "hour", "elapsed days")
MONTH_FORMS = ("2024-01", "01/2024", "Jan 2024", "2024-Q1")
TIME_FORM = "23:59"
DATE_FORMS = (
    *("2024-01-31", "2024/01/31", "31.01.2024", "31/01/2024", "01/31/2024", "31-Jan-2024", "Jan 31, 2024"),
    *("31.01.24", "31/01/24", "01/31/24", "31-Jan-24", *MONTH_FORMS, TIME_FORM),
)
"""Forms in which dates are written, each by an example; a time may follow a day. Months and quarters are their first
day."""

PIXELS = ("0 to 1", "0 to 255", "-1 to 1", "ImageNet")
"""Ranges of the pixels that a network without a record may take; `ImageNet` is scaled by mean and deviation."""


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Part of the record that is also written by itself."""

    def write(self) -> dict[str, Any]:
        """Return the part as JSON; values equal to their default are left out."""
        written: dict[str, Any] = to_json(self)
        return written

    @classmethod
    def read(cls, data: object) -> Self:
        """Return the part from JSON. Raises `ValueError`."""
        part: Self = from_json(cls, data)
        return part


@dataclass(frozen=True, kw_only=True)
class ColumnPreparation(_Part):
    """One column of a table and the numbers that it becomes.

    `number`: the number itself. `category`: with the encoding `one-hot` one number per category, 1 where the cell is
    that category, all 0 for a category that the training split did not have; with `index` a whole number from 1, and 0
    for such a category. `date`: one number per item of `parts`, of which `elapsed days` count from `origin`; hours
    have fractions and Monday is day 1.
    """

    name: str
    kind: Literal["number", "category", "date"] = "number"
    categories: tuple[str, ...] = ()
    encoding: Literal["one-hot", "index"] = "one-hot"
    parts: tuple[str, ...] = ()
    form: str = "2024-01-31"
    """How dates are written, one of `DATE_FORMS`."""
    origin: str = ""
    """Date in ISO form from which `elapsed days` are counted."""
    decimal: Literal[".", ","] = "."
    """Decimal mark of the table that it was fitted on, for new tables whose numbers do not show theirs."""
    missing: float | str | None = None
    """Value of an empty cell, fitted on the training split, for a date in ISO form; None where such a cell is
    refused."""
    span: tuple[float, ...] = ()
    """Smallest number, median and largest number of the training split; empty where they are not known."""
    numbers: Literal["any", "whole"] = "any"
    """`whole` where the training split has whole numbers alone."""

    @classmethod
    def read(cls, data: object) -> Self:
        """Return the column from JSON. Raises `ValueError`."""
        column = super().read(data)
        _check_column(column, "")
        return column

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numbers that the column becomes: `facing=west` for a category, `sold: year` for a date."""
        if self.kind == "category" and self.encoding == "one-hot":
            return tuple(f"{self.name}={category}" for category in self.categories)
        return tuple(f"{self.name}: {part}" for part in self.parts) if self.kind == "date" else (self.name,)


@dataclass(frozen=True, kw_only=True)
class Normalization:
    """A layer inside the network: `y = (x - shift) * scale` for an input, `y = x * scale + shift` for an output.

    One shift and one scale per channel, per element (in the order of the tensor), or one for all. Both are empty where
    there are more than `MOST_NUMBERS`; the weights have them.
    """

    method: str
    per: Literal["channel", "element", "all"] = "channel"
    shift: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SoundPreparation(_Part):
    """How an audio file becomes numbers; `netwright.engine.data.sources.sound` does it and has the formulas.

    A waveform is a sequence (length, channels). Of a spectrogram, `window`, `hop` and `transform` are counts of
    samples, `bands` is 0 where it has all frequencies; it is an image (channels, bands, steps) or a sequence (steps,
    channels x bands).
    """

    rate: int
    """Samples per second."""
    channels: int
    length: int
    """Samples per sound."""
    features: Literal["waveform", "spectrogram", "mel"]
    layout: Literal["image", "sequence"]
    window: int = 1
    hop: int = 1
    transform: int = 1
    """Length of the Fourier transform, a power of two."""
    bands: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one sound."""
        if self.features == "waveform":
            return self.length, self.channels
        steps = 1 + (self.length - self.window) // self.hop
        bands = self.bands if self.features == "mel" else self.transform // 2 + 1
        return (self.channels, bands, steps) if self.layout == "image" else (steps, self.channels * bands)


@dataclass(frozen=True, kw_only=True)
class TextPreparation(_Part):
    """How a text becomes indices of tokens; `netwright.engine.data.sources.tokens` does it.

    `byte`: the bytes of UTF-8, 0 to 255. `word`: words and signs; those of `words` count from 1, in their order, others
    are 0. `piece`: what `tokenizer` says, the JSON of a tokenizer of the library tokenizers.
    """

    tokens: Literal["byte", "word", "piece"]
    vocabulary: int
    """Number of indices, from 0."""
    lower_case: Literal["no", "yes"] = "no"
    words: tuple[str, ...] = ()
    tokenizer: str = ""
    most: int = 0
    """Tokens of a text that are kept, from its beginning; 0: all."""
    column: str = ""
    """Column of a table that the texts were in; empty where they were in files of text."""


@dataclass(frozen=True, kw_only=True)
class InputPreparation:
    """One input of the network, in the order of the network: its source in the data and its tensor.

    `reads` is `columns` (of a row of a table), `image` (a picture file), `sound` (an audio file), `text`, or `array`.
    The tensor has the axes of `axes` behind that of the samples, of the sizes of `sizes`; None where sequences may have
    any length.
    """

    name: str
    source: str = ""
    """Name in the data, where it differs from that in the network."""
    reads: Reads = "array"
    axes: tuple[str, ...]
    sizes: tuple[int | None, ...]
    content: Literal["numbers", "indices"] = "numbers"
    dtype: Literal["float32", "float64", "int64"] = "float32"
    columns: tuple[ColumnPreparation, ...] = ()
    span: tuple[float, ...] = ()
    """Smallest and largest value that the source allows, such as 0 and 255."""
    lengths: tuple[int, ...] = ()
    """Shortest and longest sequence of the data, where they differ."""
    vocabulary: int = 0
    """Number of indices that the network takes, from 0; 0: any, or no indices."""
    normalization: Normalization | None = None
    sound: SoundPreparation | None = None
    text: TextPreparation | None = None

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the numbers of the vector, in order; empty where the input is not made of columns."""
        return tuple(name for column in self.columns for name in column.names)


@dataclass(frozen=True, kw_only=True)
class TargetPreparation:
    """One output of the network, in the order of the network, and the meaning of its numbers.

    `activation` is what remains to be applied to the output so that it gives probabilities: `softmax`, `sigmoid` or
    nothing. One channel for two classes is the probability of the second one.
    """

    name: str
    source: str = ""
    """Name in the data, where it differs from that in the network."""
    task: Literal["classes", "numbers", "labels", "transcripts"]
    axes: tuple[str, ...]
    sizes: tuple[int | None, ...]
    classes: tuple[str, ...] = ()
    activation: Literal["", "softmax", "sigmoid"] = ""
    threshold: float = 0.5
    """Probability from which a label is true, and the second of two classes is chosen."""
    thresholds: tuple[float, ...] = ()
    """Probability from which each label is true, where they have thresholds of their own."""
    temperature: float = 1.0
    """Divisor of the logits, which calibrates the probabilities."""
    least_confidence: float = 0.0
    """Largest probability below which a sample counts as unlike the training data; 0: none does."""
    blank: Literal["first", "last"] = "first"
    """Channel of the blank of transcripts."""
    columns: tuple[str, ...] = ()
    """Names of the numbers, where they have any."""
    span: tuple[float, ...] = ()
    """Numbers of black and white, where the targets are pictures; empty where they are not known."""
    normalization: Normalization | None = None

    @property
    def fits(self) -> bool:
        """Whether classes and columns are as many as the channels of the output say."""
        channels, classes = dict(zip(self.axes, self.sizes, strict=True)).get("C"), len(self.classes)
        if channels is None:
            return False
        match self.task:
            case "classes":
                return channels == classes or (channels == 1 and classes == 2)
            case "labels":
                return channels == classes
            case "transcripts":
                return channels == classes + 1 and self.axes == ("T", "C")
        return len(self.columns) in (0, channels)


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """The preparation of all inputs and targets of a trained network."""

    version: int = VERSION
    kind: str
    """The data source, such as `table` or `images`."""
    inputs: tuple[InputPreparation, ...]
    targets: tuple[TargetPreparation, ...] = ()
    group_column: str = ""
    """Column that tells series or sequences apart in a table; empty where there is one alone."""
    season: int = 0
    """Period of the series that are forecast, in steps, which their baseline repeats; 0 for none."""

    def write(self) -> dict[str, Any]:
        """Return the record as JSON; values equal to their default are left out."""
        return {"version": self.version, **to_json(self)}

    def for_onnx(self, outputs: Sequence[str]) -> Self:
        """Return the record of the ONNX file of the network, whose outputs have these names: they give probabilities,
        and indices are float32."""
        return replace(
            self,
            inputs=tuple(replace(part, dtype="float32") if part.content == "indices" else part for part in self.inputs),
            targets=tuple(
                replace(part, name=name, activation="") for part, name in zip(self.targets, outputs, strict=False)
            ),
        )

    def text(self) -> str:
        """Return the record as text of JSON on one line, for metadata."""
        return json.dumps(self.write(), ensure_ascii=False, allow_nan=False)

    def content(self) -> bytes:
        """Return the content of `preparation.json`."""
        text = json.dumps(self.write(), ensure_ascii=False, allow_nan=False, indent=1)
        return f"{text}\n".encode("utf-8", "backslashreplace")

    @classmethod
    def read(cls, data: object, where: str) -> Self:
        """Return the record from JSON. `where` names the file for messages. Raises `UserError`."""
        version = data.get("version") if isinstance(data, Mapping) else None
        if isinstance(version, int) and version > VERSION:
            raise UserError(
                f"{where} has version {version}; this version of Netwright reads up to {VERSION}. Update Netwright."
            )
        if version != VERSION:
            raise UserError(f"{where} is damaged: expected an object with the version {VERSION}. {_WAY_OUT}")
        try:
            record = from_json(cls, data)
            assert isinstance(record, cls)
            _check(record)
        except JsonShapeError as error:
            raise UserError(f"{where} is damaged: {error}. {_WAY_OUT}") from None
        return record

    @classmethod
    def parse(cls, text: bytes | str, where: str) -> Self:
        """Return the record from text of JSON. Raises `UserError`."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise UserError(f"{where} is damaged: it is not JSON. {_WAY_OUT}") from None
        return cls.read(data, where)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the record of a folder of weights, or of a run. Raises `UserError`, also where there is none."""
        path = folder / FILE
        try:
            content = read_file(path, LIMIT_BYTES)
            manifest = read_object(folder / "manifest.json", LIMIT_BYTES, may_be_deep=True)
        except FileNotFoundError:
            raise UserError(
                f"{folder} has no {FILE}: the version of Netwright that trained it did not store how the data is "
                "prepared. Train again to have it."
            ) from None
        except OSError as error:
            raise UserError(f"{path} cannot be read: {error.strerror or error}.") from None
        with contextlib.suppress(KeyError, TypeError):
            if (manifest or {})["files"][FILE]["sha256"] != hashlib.sha256(content).hexdigest():
                raise UserError(f"{path} is damaged: its checksum is not the one in manifest.json. {_WAY_OUT}")
        return cls.parse(content, str(path))


_WAY_OUT = "Use the file of another checkpoint, or train again."


def _check(record: Preparation) -> None:
    """Raise `JsonShapeError` for values that contradict each other."""
    if not record.inputs:
        raise JsonShapeError("inputs: expected at least one")
    entries: list[tuple[str, InputPreparation | TargetPreparation]] = [
        *((f"inputs[{place}]", entry) for place, entry in enumerate(record.inputs)),
        *((f"targets[{place}]", entry) for place, entry in enumerate(record.targets)),
    ]
    for where, entry in entries:
        _check_sizes(entry.axes, entry.sizes, where)
        layer = entry.normalization
        if layer is not None and (len(layer.shift) != len(layer.scale) or len(layer.shift) > MOST_NUMBERS):
            raise JsonShapeError(f"{where}.normalization: expected as many shifts as scales, at most {MOST_NUMBERS:,}")
    for place, target in enumerate(record.targets):
        if target.temperature <= 0 or len(target.thresholds) not in (0, len(target.classes)):
            raise JsonShapeError(f"targets[{place}]: expected a positive temperature, and a threshold per label")
    for place, input_part in enumerate(record.inputs):
        where = f"inputs[{place}]"
        axis = "T" if input_part.content == "indices" else "C"
        count = dict(zip(input_part.axes, input_part.sizes, strict=True)).get(axis)
        if input_part.columns and count != len(input_part.column_names):
            numbers = len(input_part.column_names)
            raise JsonShapeError(f"{where}: its columns give {numbers:,} numbers, its size is {count}")
        for name, pair in (("span", input_part.span), ("lengths", input_part.lengths)):
            if len(pair) not in (0, 2) or (pair and pair[0] > pair[1]):
                raise JsonShapeError(f"{where}.{name}: expected the smallest and the largest value")
        _check_columns(input_part, where)
        reads = input_part.reads
        if (input_part.sound is not None, input_part.text is not None) != (reads == "sound", reads == "text"):
            raise JsonShapeError(f"{where}: what it reads, {reads}, needs a preparation of that kind, and no other")
        if input_part.sound is not None:
            _check_sound(input_part.sound, input_part.sizes, f"{where}.sound")
        if input_part.text is not None:
            _check_text(input_part.text, f"{where}.text")


def _check_columns(input_part: InputPreparation, where: str) -> None:
    names_channels = (
        input_part.reads == "array" and "T" in input_part.axes and all(c.kind == "number" for c in input_part.columns)
    )
    if (input_part.reads == "columns") != bool(input_part.columns) and not names_channels:
        raise JsonShapeError(f"{where}.columns: expected columns where columns are read, or channels of sequences")
    indices = [column for column in input_part.columns if column.kind == "category" and column.encoding == "index"]
    is_alone = len(indices) == len(input_part.columns) == 1
    if (input_part.columns and is_alone != (input_part.content == "indices")) or (indices and not is_alone):
        raise JsonShapeError(f"{where}.columns: a column of indices is an input of its own, of whole numbers")
    for number, column in enumerate(input_part.columns):
        _check_column(column, f"{where}.columns[{number}]")


def _check_sizes(axes: tuple[str, ...], sizes: tuple[int | None, ...], where: str) -> None:
    if len(axes) != len(sizes) or len(set(axes)) != len(axes) or not set(axes) <= set(AXES):
        raise JsonShapeError(f"{where}: expected a size for each axis, axes of {', '.join(AXES)}")
    numbers = [1 if size is None else size for size in sizes]
    if min(numbers, default=1) < 1 or math.prod(numbers) > MOST_VALUES:
        raise JsonShapeError(f"{where}.sizes: expected sizes from 1, of at most {MOST_VALUES:,} values together")


def _check_sound(how: SoundPreparation, sizes: tuple[int | None, ...], where: str) -> None:
    counts = (how.rate, how.channels, how.length, how.window, how.hop, how.transform)
    if min(counts) < 1 or max(counts) > MOST_VALUES or how.channels > 2 or how.bands < 0 or how.bands > MOST_NUMBERS:
        raise JsonShapeError(f"{where}: expected positive numbers, and one or two channels")
    if not how.window <= min(how.length, how.transform) or (how.features == "mel") != (how.bands > 0):
        raise JsonShapeError(f"{where}: expected a window within the sound and the transform, and bands for mel alone")
    if len(how.shape) != len(sizes) or any(size not in (None, has) for has, size in zip(how.shape, sizes, strict=True)):
        raise JsonShapeError(f"{where}: a sound has the sizes {how.shape}, the input has {sizes}")


def _check_text(how: TextPreparation, where: str) -> None:
    sizes = {"byte": 256, "word": len(how.words) + 1}
    if how.vocabulary < 1 or how.vocabulary != sizes.get(how.tokens, how.vocabulary) or how.most < 0:
        raise JsonShapeError(f"{where}.vocabulary: {how.vocabulary} does not fit the tokens")
    if len(set(how.words)) < len(how.words) or (how.tokens == "piece") != bool(how.tokenizer):
        raise JsonShapeError(f"{where}: expected different words, and a tokenizer for pieces alone")


def _check_column(column: ColumnPreparation, where: str) -> None:
    if len(set(column.categories)) < len(column.categories):
        raise JsonShapeError(f"{where}.categories: two are the same")
    if strange := [part for part in column.parts if part not in DATE_PARTS]:
        raise JsonShapeError(f"{where}.parts: there is no part {quoted(strange[0])}")
    if len(column.span) not in (0, 3) or list(column.span) != sorted(column.span):
        raise JsonShapeError(f"{where}.span: expected the smallest number, the median and the largest number")
    if column.kind == "date":
        _check_dates(column, where)
    value_type = float if column.kind == "number" else str
    if column.missing is not None and not isinstance(column.missing, value_type):
        raise JsonShapeError(f"{where}.missing: {quoted(column.missing)} is no {column.kind}")


def _check_dates(column: ColumnPreparation, where: str) -> None:
    if column.form not in DATE_FORMS:
        raise JsonShapeError(f"{where}.form: expected one of {', '.join(DATE_FORMS)}, received {quoted(column.form)}")
    if "elapsed days" in column.parts:
        _check_date(column.origin, f"{where}.origin")
    if column.missing is not None:
        _check_date(column.missing, f"{where}.missing")


def _check_date(value: object, where: str) -> None:
    with contextlib.suppress(ValueError):
        if isinstance(value, str) and datetime.fromisoformat(value).tzinfo is None:
            return
    raise JsonShapeError(f"{where}: expected a date such as 2024-01-31, received {quoted(value)}")
