"""Shards: WebDataset tar files and Parquet files, read sample by sample.

Each shard is read once for its index (`netwright.engine.data.sources.shard_index`), which lies in the cache folder.
Samples are then read at their places, in any order. `Outline.shards` lets a training keep to a few shards at a time.
"""

import builtins
import io
import json
import math
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import printable
from netwright.engine.core.progress import report
from netwright.engine.core.types import TensorType, features, image, sequence, volume
from netwright.engine.data.sources import image_file
from netwright.engine.data.sources.image_file import BadPictureError
from netwright.engine.data.sources.prefetch import LazyArray
from netwright.engine.data.sources.shard_index import MOST_ARRAY_LABEL_BYTES, MOST_LABEL_BYTES, ShardIndex
from netwright.engine.data.sources.shard_places import Shard, find_shards
from netwright.engine.data.sources.shard_store import ShardStore
from netwright.engine.data.sources.source import (
    Array,
    BadSampleError,
    Outline,
    Readers,
    Samples,
    Source,
    listed,
    refuse_too_large,
)
from netwright.engine.data.sources.targets import (
    as_classes,
    is_whole_and_few,
    refuse_strange,
    rounding_note,
    texts_as_classes,
)
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import InputInfo, TargetInfo, classes_of, numbers_of
from netwright.engine.project.sources.images import IMAGE_SUFFIXES
from netwright.engine.project.sources.images import Images as ImageFiles
from netwright.engine.project.sources.shards import PARQUET, REMOTE_WINDOW

MOST_SAMPLES = 100_000_000
INDEXED_AT_ONCE = 4
JSON = "json:"
DEFAULT_TARGETS = ("cls", "json", "txt")
NUMBERS = "numbers"
LAYOUTS: dict[int, Callable[..., TensorType]] = {1: features, 2: sequence, 3: image, 4: volume}
MOST_AXES = max(LAYOUTS)
LARGEST_CLASS = 2**53


class Shards(Source):
    """Samples of tar or Parquet files, on disk or behind a URL."""

    def __init__(self, pattern: str, base: Path) -> None:
        self._pattern, self._base = pattern, base

    @cached_property
    def _shards(self) -> tuple[Shard, ...]:
        return tuple(find_shards(self._pattern, self._base))

    def stamp(self, path: Path) -> Hashable:
        """Return the places of all shards with size and ETag or time. Raises `UserError`."""
        return self._shards

    def _store(self, options: DataOptions) -> ShardStore:
        window = window_of(options, len(self._shards))
        return ShardStore(self._shards, options.shard_cache * 2**30, window, options.sample_input, options.response)

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """Return the outline, from the index of each shard and the first sample."""
        store = self._store(options)
        with ThreadPoolExecutor(INDEXED_AT_ONCE) as pool:
            indices = []
            for count, index in enumerate(pool.map(store.index, range(len(self._shards))), start=1):
                report(count, len(self._shards), "shards")
                indices.append(index)
        if (total := sum(map(len, indices))) > MOST_SAMPLES:
            raise UserError(f"The shards hold {total:,} samples; at most {MOST_SAMPLES:,} can be read.")
        field = _input_field(options, indices, self._shards)
        located = _located(store, field, indices)
        targets, info, notes = _targets(options, field, indices, self._shards)
        first = located.contents([0])[0]
        columns: tuple[str, ...] = ()
        if field in IMAGE_FIELDS:
            type = _image_type(options, located, first)
        elif field == NUMBERS:
            type = features(len(first) // 8)
            columns = tuple(indices[0].columns) if len(indices[0].columns) > 1 else ()
        else:
            shape = _sample_array(first, located, 0).shape
            type = LAYOUTS[len(shape)](*shape)
        name = "image" if field in IMAGE_FIELDS else "features" if field == NUMBERS else field
        input = InputInfo(name, type, columns, span=ImageFiles.span if field in IMAGE_FIELDS else None)
        return Outline((input,), targets, info, notes=notes, raw=located, shards=located.shard_of)

    def samples(self, options: DataOptions, path: Path, outline: Outline, indices: Array | None = None) -> Samples:
        """Return the inputs: uint8 for images of 8 bits, else float32 or float64."""
        readers = self.readers(options, path, outline)
        (reader,) = readers.inputs
        numbers = np.arange(len(outline)) if indices is None else indices
        needed = math.prod((len(numbers), *reader.shape[1:])) * 4
        refuse_too_large(needed, f"{len(numbers):,} samples", "Stream them: loading (data.loading) auto or stream.")
        lazy = LazyArray(reader, numbers, reader.kind)
        out = np.empty(lazy.shape, reader.kind)
        start = 0
        for block in lazy.chunks(1024):
            out[start : start + len(block)] = block
            start += len(block)
            report(start, len(out), "samples")
        return Samples((out,), readers.notes)

    def readers(self, options: DataOptions, path: Path, outline: Outline) -> Readers:
        """Return a reader that reads and decodes members on demand."""
        located, (input,) = outline.raw, outline.inputs
        assert isinstance(located, Located)
        image_file.be_strict()
        shape = (len(outline), *(size for size in input.type.sizes if isinstance(size, int)))
        first = located.contents([0])[0]
        if located.field in IMAGE_FIELDS:
            kind = np.dtype(np.float32 if image_file.header_of(io.BytesIO(first)).is_deep else np.uint8)
        else:
            stored = np.float64 if located.field == NUMBERS else _sample_array(first, located, 0).dtype
            kind = np.dtype(np.float32 if np.can_cast(stored, np.float32) else np.float64)
        located = Located(self._store(options), located.field, located.shard_of, located.offsets, located.sizes)
        return Readers((ShardReader(located, shape, kind),))


IMAGE_FIELDS = frozenset({"image", *(suffix[1:] for suffix in IMAGE_SUFFIXES)})


def window_of(options: DataOptions, count: int) -> int:
    """Return the number of shards that are shuffled together, at most `count`."""
    declared = options.source_type
    is_remote = declared is not None and declared.is_remote(options)
    return min(count, options.shuffle_window or (REMOTE_WINDOW if is_remote else count))


@dataclass(frozen=True)
class Located:
    """Where the input of each sample lies: shard, offset and size (N)."""

    store: ShardStore
    field: str
    shard_of: Array
    offsets: Array
    sizes: Array

    @property
    def bytes(self) -> int:
        """Memory of the places in bytes."""
        return self.shard_of.nbytes + self.offsets.nbytes + self.sizes.nbytes

    def name_of(self, number: int) -> str:
        """Return key and shard of a sample, for messages."""
        shard = int(self.shard_of[number])
        within = number - int(np.searchsorted(self.shard_of, shard))
        key = (self.store.index(shard).keys[within] or b"").decode("utf-8", "replace")
        return f"{printable(key[:200])} of {self.store.shards[shard].shown}"

    def contents(self, numbers: Sequence[int]) -> list["builtins.bytes"]:
        """Return the content of the inputs of some samples. Raises `UserError`."""
        indices = np.asarray(numbers)
        members = [b""] * len(indices)
        for shard in np.unique(self.shard_of[indices]).tolist():
            places = np.flatnonzero(self.shard_of[indices] == shard)
            places = places[self.offsets[indices[places]].argsort(kind="stable")]
            inside = indices[places]
            contents = self.store.read(shard, self.offsets[inside].tolist(), self.sizes[inside].tolist())
            for place, content in zip(places.tolist(), contents, strict=True):
                members[place] = content
        return members


@dataclass(frozen=True)
class ShardReader:
    """Reader of the inputs of samples in shards, which decodes them on demand."""

    located: Located
    shape: tuple[int, ...]
    kind: np.dtype[Any]
    at_once: int = 8
    largest: int = 0

    @property
    def where(self) -> str:
        """The shards, for messages."""
        shards = self.located.store.shards
        return shards[0].shown if len(shards) == 1 else f"{len(shards):,} shards from {shards[0].shown} on"

    def name_of(self, number: int) -> str:
        """Return key and shard of a sample."""
        return self.located.name_of(number)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set Pillow's filters in another process, too, to which the reader was sent."""
        self.__dict__.update(state)
        image_file.be_strict()

    def read(self, indices: Array, out: Array) -> None:
        """Read and decode the chosen samples into `out`. Raises `UserError`, `BadSampleError` for a damaged sample."""
        numbers = indices.tolist()
        for place, content in enumerate(self.located.contents(numbers)):
            number = numbers[place]
            if self.located.field in IMAGE_FIELDS:
                values = self._image(content, number)
            elif self.located.field == NUMBERS:
                values = np.frombuffer(content, np.float64)
            else:
                values = _sample_array(content, self.located, number)
            if values.shape != out.shape[1:]:
                name = self.name_of(number)
                sizes = [" × ".join(map(str, shape)) for shape in (values.shape, out.shape[1:])]
                message = f"{name} has {sizes[0]} numbers; the first sample has {sizes[1]}. All need the same sizes."
                raise BadSampleError(message, name, f"it has {sizes[0]} numbers")
            if values.dtype.kind == "f" and not np.isfinite(values).all():
                refuse_strange(values, self.name_of(number))
            is_rounded = self.kind == np.uint8 and values.dtype != np.uint8
            out[place] = np.rint(values) if is_rounded else values

    def _image(self, content: bytes, number: int) -> Array:
        try:
            return image_file.read(io.BytesIO(content), "grey" if self.shape[1] == 1 else "rgb", *self.shape[2:])
        except BadPictureError as error:
            name = self.name_of(number)
            message = f"The image {name} cannot be used: {error}. Replace it, or leave it out."
            raise BadSampleError(message, name, str(error)) from None


def _input_field(options: DataOptions, indices: Sequence[ShardIndex], shards: Sequence[Shard]) -> str:
    """Return the suffix of the members that are the input. Raises `UserError`."""
    ends = list(indices[0].places)
    if shards[0].suffix == PARQUET:
        return ends[0]
    if suffix := options.sample_input.lower().removeprefix("."):
        if suffix in ends and (suffix in IMAGE_FIELDS or suffix.endswith("npy")):
            return suffix
        raise UserError(
            f"{shards[0].shown} has no images or arrays (npy) ending in {printable(suffix[:60])}."
            f"{did_you_mean(suffix, ends)} Its members end in: {listed(ends, 20)}."
        )
    response = options.response.lower().removeprefix(".")
    for field in (*(f for f in ends if f in IMAGE_FIELDS), *(f for f in ends if f.endswith("npy"))):
        if field != response:
            return field
    raise UserError(f"{shards[0].shown} has neither images nor arrays (npy). Its members end in: {listed(ends, 20)}.")


def _located(store: ShardStore, field: str, indices: Sequence[ShardIndex]) -> Located:
    for shard, index in zip(store.shards, indices, strict=True):
        if field not in index.places:
            raise UserError(
                f"{shard.shown} has no members {field}, which other shards have. Its members end in: "
                f"{listed(list(index.places), 20)}."
            )
        _refuse_gap(index.places[field][0] >= 0, index, shard, field)
    counts = [len(index) for index in indices]
    places = np.concatenate([index.places[field] for index in indices], axis=1)
    return Located(store, field, np.repeat(np.arange(len(indices), dtype=np.int32), counts), places[0], places[1])


def _refuse_gap(is_there: Array, index: ShardIndex, shard: Shard, field: str) -> None:
    """Raise `UserError` for the first sample without a member."""
    if not is_there.all():
        missing = np.flatnonzero(~is_there)
        key = printable((index.keys[int(missing[0])] or b"").decode("utf-8", "replace")[:200])
        more = f" and of {len(missing) - 1:,} more" if len(missing) > 1 else ""
        part = f"member {key}.{field}" if shard.suffix != PARQUET else f"response '{printable(field)}' of {key}"
        raise UserError(
            f"{shard.shown} lacks the {part}{more}. Write the shard anew with all of them, or leave it out."
        )


def _image_type(options: DataOptions, located: Located, first: bytes) -> TensorType:
    try:
        with image_file.strictly():
            channels, height, width, _ = image_file.header_of(io.BytesIO(first))
    except BadPictureError as error:
        raise UserError(f"The image {located.name_of(0)} cannot be used: {error}.") from None
    height, width = (options.image_size,) * 2 if options.image_size else (height, width)
    channels = channels if options.channels == "auto" else options.channels
    return image(1 if channels == "grey" else 3, height, width)


def _array(content: bytes) -> Array:
    """Return a NumPy array of numbers; its sizes are checked before memory is taken. Raises `ValueError`."""
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        parse = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, kind = parse(file)
    except Exception as error:  # NumPy parses the header as Python's literals, which raise what they like
        raise ValueError(f"it is no NumPy array ({printable(str(error).partition(chr(10))[0][:100])})") from None
    if kind.kind not in "biuf" or len(shape) > MOST_AXES or 0 in shape:
        raise ValueError(f"it has the shape {shape} and the type {kind}; expected up to {MOST_AXES} axes of numbers")
    if math.prod(shape) * kind.itemsize > len(content):
        raise ValueError("it is shorter than its header says")
    file.seek(0)
    array: Array = np.load(file, allow_pickle=False)
    return array


def _sample_array(content: bytes, located: Located, number: int) -> Array:
    """Return the array of a sample. Raises `BadSampleError`."""
    try:
        array = _array(content)
        if not array.ndim:
            raise ValueError("it is a single number; expected an array")
    except ValueError as error:
        name = located.name_of(number)
        raise BadSampleError(f"The array {name} cannot be used: {error}.", name, str(error)) from None
    return array


def _targets(
    options: DataOptions, field: str, indices: Sequence[ShardIndex], shards: Sequence[Shard]
) -> tuple[tuple[Array, ...], tuple[TargetInfo, ...], tuple[str, ...]]:
    """Return the target of all samples. Raises `UserError`."""
    if options.task in ("labels", "transcripts"):
        raise UserError(f"Shards have no {options.task}: their targets are classes or numbers. Choose one, or auto.")
    is_parquet = shards[0].suffix == PARQUET
    name, _, key = options.response.partition(":") if not is_parquet else ("", "", "")
    target = next(iter(indices[0].labels)) if is_parquet else name.lower().removeprefix(".")
    suffixes = [suffix for suffix in indices[0].places if suffix != field]
    if not target:
        target = next((suffix for suffix in DEFAULT_TARGETS if suffix in suffixes), "")
    if not is_parquet and target not in suffixes:
        members = f"members {printable(target[:60])}" if target else f"members {listed(list(DEFAULT_TARGETS))}"
        raise UserError(
            f"{shards[0].shown} has no {members} with the target.{did_you_mean(target, suffixes)} Its other members "
            f"end in: {listed(suffixes, 20) or 'nothing else'}. Name one in the field Response (data.response)."
        )
    values: list[Any] = []
    for index, shard in zip(indices, shards, strict=True):
        texts = index.labels.get(target)
        if texts is None and target not in index.places:
            _refuse_gap(np.zeros(len(index), bool), index, shard, target)
        there = texts.is_there if texts is not None else np.zeros(len(index), bool)
        if not is_parquet and (index.places[target][0][~there] >= 0).any():
            number = int(np.flatnonzero(~there & (index.places[target][0] >= 0))[0])
            key_of = printable((index.keys[number] or b"").decode("utf-8", "replace")[:200])
            most = f"{MOST_LABEL_BYTES:,} bytes ({MOST_ARRAY_LABEL_BYTES} for npy)"
            raise UserError(f"{key_of}.{target} of {shard.shown} is no target: it is larger than {most}, or no text.")
        _refuse_gap(there, index, shard, target)
        assert texts is not None
        for number in range(len(texts)):
            try:
                values.append(_label(texts[number] or b"", target, key, is_parquet=is_parquet))
            except Exception as error:  # JSON and NumPy raise what they like
                key_of = printable((index.keys[number] or b"").decode("utf-8", "replace")[:200])
                words = printable(str(error).partition("\n")[0][:200])
                raise UserError(f"The target {target} of {key_of} in {shard.shown} cannot be read: {words}.") from None
    return _encoded(options, values, key or (target if is_parquet else "class" if target == "cls" else target), shards)


def _label(content: bytes, field: str, key: str, *, is_parquet: bool) -> Any:
    """Return the value of a target: a text, a number, or a list of numbers."""
    if field.endswith("npy") and not is_parquet:
        return _array(content).reshape(-1).tolist()
    text = content.decode("utf-8")
    if not is_parquet and field.rpartition(".")[2] != "json":
        return text.strip()
    value = json.loads(text)
    if key:
        value = value[key] if isinstance(value, dict) and key in value else _no_key(key, value)
    elif isinstance(value, dict):
        raise ValueError(
            f"it is an object; name the key of the target: data.response={JSON}{next(iter(value), 'label')}"
        )
    is_list = isinstance(value, list) and value and all(isinstance(each, int | float) for each in value)
    if not isinstance(value, str | int | float) and not is_list:
        raise ValueError(f"expected a text, a number or a list of numbers, found {json.dumps(value)[:60]}")
    return value


def _no_key(key: str, value: Any) -> Any:
    has = f" It has: {listed(list(map(str, value)), 20)}" if isinstance(value, dict) else ""
    raise ValueError(f"it has no key '{printable(key)}'.{has}")


def _encoded(
    options: DataOptions, values: list[Any], name: str, shards: Sequence[Shard]
) -> tuple[tuple[Array, ...], tuple[TargetInfo, ...], tuple[str, ...]]:
    """Return class indices, or numbers (N, R)."""
    subject = f"The target '{printable(name)}' of {shards[0].shown}" + (
        " and the other shards" if len(shards) > 1 else ""
    )
    if any(isinstance(value, list) for value in values):
        sizes = {len(value) if isinstance(value, list) else 1 for value in values}
        if len(sizes) > 1 or options.task == "classes":
            raise UserError(
                f"{subject} has {listed(sorted(map(str, sizes)))} numbers per sample, which are no classes."
            )
        numbers = np.array([value if isinstance(value, list) else [value] for value in values], np.float64)
    else:
        try:
            numbers = np.array([float(value) for value in values], np.float64)[:, np.newaxis]
        except (ValueError, OverflowError):
            numbers = None
    if numbers is None:
        if options.task == "numbers":
            strange = next(str(value) for value in values if not _is_number(value))
            raise UserError(f"{subject} holds texts, such as '{printable(strange[:60])}'. Predict classes.")
        array, classes = texts_as_classes([str(value) for value in values], subject)
        return (array,), classes_of(*classes, name=name), ()
    refuse_strange(numbers, subject)
    is_named = name == "class" or all(isinstance(value, int) for value in values)
    is_one = numbers.shape[1] == 1
    if is_one and options.task != "numbers" and (options.task == "classes" or is_named or is_whole_and_few(numbers)):
        if float(np.abs(numbers).max()) < LARGEST_CLASS:
            array, classes = as_classes(numbers[:, 0], subject)
            return (array,), classes_of(*classes, name=name), ()
        array, classes = texts_as_classes([str(value) for value in values], subject)
        return (array,), classes_of(*classes, name=name), ()
    return (numbers.astype(np.float32),), numbers_of(numbers.shape[1], name=name), tuple(rounding_note(name, numbers))


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
