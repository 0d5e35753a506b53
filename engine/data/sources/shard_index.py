"""Index of a shard: its samples in order, and where the bytes of each of their members lie.

A sample of a tar file is its members of one key, as WebDataset writes them: `some/000123.jpg` and `some/000123.cls`
are the members `jpg` and `cls` of `some/000123`. Members are read at their places and never extracted. The rows of a
Parquet file are converted into a file of values, one after another, since its compressed columns allow no random reads.
"""

import io
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import printable
from netwright.engine.core.platform_files import read_at
from netwright.engine.core.text import format_bytes
from netwright.engine.data.sources.source import Array, listed

BLOCK = 512
MOST_MEMBERS = 5_000_000
MOST_SUFFIXES = 64
MOST_MEMBER_BYTES = 2**28
MOST_RECORD_BYTES = 2**20
"""Largest record of a tar file that carries a long name."""
MOST_LABEL_BYTES = 4096
MOST_ARRAY_LABEL_BYTES = 512
MOST_LABELS_BYTES = 2**27
"""Limit of all targets of a shard."""
MOST_GROUP_BYTES = 2**31
"""Largest row group of a Parquet file, without compression."""
BATCH_ROWS = 256
LABELS = frozenset({"cls", "txt", "text", "json", "id"})
NUMBER = re.compile(rb"[0-7]{1,11}")


@dataclass
class Texts:
    """Byte strings, one after another; None for one that is missing."""

    data: bytes = b""
    ends: Array = field(default_factory=lambda: np.empty(0, np.int64))
    is_there: Array = field(default_factory=lambda: np.empty(0, bool))

    @classmethod
    def of(cls, texts: Sequence[bytes | None]) -> "Texts":
        """Return the texts joined."""
        ends = np.cumsum([len(text or b"") for text in texts], dtype=np.int64)
        return cls(b"".join(text or b"" for text in texts), ends, np.array([text is not None for text in texts], bool))

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, number: int) -> bytes | None:
        if not self.is_there[number]:
            return None
        return self.data[int(self.ends[number - 1]) if number else 0 : int(self.ends[number])]


@dataclass
class ShardIndex:
    """Samples of a shard. `places` holds offset and size (2, N) of the members of each suffix, -1 where a sample lacks
    it; `labels` the contents of small members; `columns` the names of the numbers of a row."""

    keys: Texts
    places: Mapping[str, Array]
    labels: Mapping[str, Texts]
    columns: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.keys)

    def write(self) -> bytes:
        """Return the index as a file of NumPy arrays."""
        meta = {"places": list(self.places), "labels": list(self.labels), "columns": list(self.columns)}
        arrays: dict[str, Any] = {"meta": np.frombuffer(json.dumps(meta).encode(), np.uint8)}
        arrays |= {f"p{number}": places for number, places in enumerate(self.places.values())}
        for name, texts in {"k": self.keys, **{f"l{n}": each for n, each in enumerate(self.labels.values())}}.items():
            arrays[f"{name}_data"] = np.frombuffer(texts.data, np.uint8)
            arrays[f"{name}_ends"], arrays[f"{name}_there"] = texts.ends, texts.is_there
        file = io.BytesIO()
        np.savez(file, allow_pickle=False, **arrays)
        return file.getvalue()

    @classmethod
    def read(cls, path: Path) -> "ShardIndex":
        """Read what `write` returned. Raises `OSError`, `ValueError` or `KeyError` for another file."""
        with np.load(path, allow_pickle=False) as file:
            meta = json.loads(file["meta"].tobytes())

            def texts(name: str) -> Texts:
                return Texts(file[f"{name}_data"].tobytes(), file[f"{name}_ends"], file[f"{name}_there"])

            places = {name: file[f"p{number}"] for number, name in enumerate(meta["places"])}
            labels = {name: texts(f"l{number}") for number, name in enumerate(meta["labels"])}
            return cls(texts("k"), places, labels, meta["columns"])


def index_tar(file: BinaryIO, place: str) -> ShardIndex:
    """Return the index of a tar file. `place` names it in errors. Raises `UserError` for a damaged file."""
    keys: dict[str, int] = {}
    places: dict[str, dict[int, tuple[int, int]]] = {}
    labels: dict[str, dict[int, bytes]] = {}
    labels_bytes = count = 0
    for name, offset, size in _members(file, place):
        folder, _, base = name.rpartition("/")
        stem, _, suffix = base.partition(".")
        if not stem or not suffix or base.startswith("__"):
            continue
        suffix, count = suffix.lower(), count + 1
        if count > MOST_MEMBERS:
            raise UserError(f"{place} has more than {MOST_MEMBERS:,} members. Write several smaller shards.")
        number = keys.setdefault(f"{folder}/{stem}" if folder else stem, len(keys))
        of_suffix = places.setdefault(suffix, {})
        if len(places) > MOST_SUFFIXES:
            raise UserError(
                f"{place} has members with more than {MOST_SUFFIXES} different suffixes, such as "
                f"{printable(suffix[:60])}. A sample's members are named 000123.jpg, 000123.cls."
            )
        if number in of_suffix:
            raise UserError(f"{place} holds {printable(name[:200])} twice. Write the shard anew.")
        of_suffix[number] = (offset, size)
        most = MOST_ARRAY_LABEL_BYTES if suffix.endswith("npy") else MOST_LABEL_BYTES
        if size <= most and suffix.rpartition(".")[2] in LABELS | {"npy"}:
            labels_bytes += size
            if labels_bytes > MOST_LABELS_BYTES:
                limit = format_bytes(MOST_LABELS_BYTES)
                raise UserError(f"{place} has more than {limit} of targets. Write several smaller shards.")
            labels.setdefault(suffix, {})[number] = read_at(file.fileno(), size, offset)
    if not keys:
        raise UserError(f"{place} has no samples. Expected members such as 000123.jpg and 000123.cls.")
    return ShardIndex(
        Texts.of([key.encode("utf-8", "surrogateescape") for key in keys]),
        {suffix: _placed(members, len(keys)) for suffix, members in places.items()},
        {suffix: Texts.of([members.get(n) for n in range(len(keys))]) for suffix, members in labels.items()},
    )


def _placed(members: Mapping[int, tuple[int, int]], count: int) -> Array:
    places = np.full((2, count), -1, np.int64)
    if members:
        places[:, np.fromiter(members, np.int64, len(members))] = np.array(list(members.values()), np.int64).T
    return places


def _members(file: BinaryIO, place: str) -> Iterator[tuple[str, int, int]]:
    """Yield name, offset and size of each ordinary file in a tar file (ustar, pax, GNU)."""
    end = os.fstat(file.fileno()).st_size
    at = 0
    extended: dict[str, bytes] = {}
    while at < end:
        header = read_at(file.fileno(), BLOCK, at)
        if header == bytes(BLOCK):
            return
        size = _size(header, extended, at, end, place)
        data, kind = at + BLOCK, header[156:157]
        at = data + -(-size // BLOCK) * BLOCK
        if kind in b"xLKg":
            if size > MOST_RECORD_BYTES:
                raise _damaged(place, f"a name at byte {data:,} takes {size:,} bytes")
            record = read_at(file.fileno(), size, data)
            if kind == b"L":
                extended["path"] = record.split(b"\0", 1)[0]
            elif kind == b"x":
                extended |= dict(_pax(record, place))
            continue
        own = header[:100].split(b"\0", 1)[0]
        if header[257:263] == b"ustar\0" and header[345]:
            own = header[345:500].split(b"\0", 1)[0] + b"/" + own
        name = extended.get("path", own).decode("utf-8", "surrogateescape")
        if any(key.startswith("GNU.sparse") for key in extended) or kind == b"S":
            raise _damaged(place, f"{printable(name[:200])} is sparse, which is not read")
        extended = {}
        if kind in (b"\0", b"0", b"7") and not name.endswith("/"):
            if size > MOST_MEMBER_BYTES:
                limit = format_bytes(MOST_MEMBER_BYTES)
                name = printable(name[:200])
                raise UserError(f"{name} of {place} has {format_bytes(size)}; at most {limit} are read.")
            yield name, data, size


def _size(header: bytes, extended: Mapping[str, bytes], at: int, end: int, place: str) -> int:
    """Return the size of a member after checking its header. Raises `UserError`."""
    if header.startswith(b"\x1f\x8b"):
        raise UserError(f"{place} is compressed, which allows no random reads. Unpack it: gunzip makes a tar file.")
    if len(header) < BLOCK:
        raise _damaged(place, f"it ends in the middle of a header, at byte {at:,}")
    stored = NUMBER.search(header[148:156])
    if stored is None or int(stored[0], 8) != sum(header[:148]) + 8 * 32 + sum(header[156:]):
        raise _damaged(place, f"no header of a member stands at byte {at:,}")
    text = header[124:136]
    number = NUMBER.search(text)
    size = int(number[0], 8) if number else 0
    if text[0] & 0x80:  # too large for octal digits
        size = int.from_bytes(text[1:], "big")
    if "size" in extended:
        if not extended["size"].isdigit() or len(extended["size"]) > 18:
            raise _damaged(place, f"the size of the member at byte {at:,} is not understood")
        size = int(extended["size"])
    if header[156:157] in b"123456":  # links, folders and devices have no content, whatever the size says
        return 0
    if at + BLOCK + size > end:
        name = printable(header[:100].split(b"\0", 1)[0].decode("utf-8", "replace"))
        missing = f"{max(0, end - at - BLOCK):,} of {size:,} bytes"
        raise _damaged(place, f"it ends in the middle of its member {name}, after {missing}")
    return size


def _pax(record: bytes, place: str) -> Iterator[tuple[str, bytes]]:
    """Yield name and value of the entries of a pax header that matter."""
    while record.strip(b"\0"):
        length, space, _ = record.partition(b" ")
        if not space or not length.isdigit() or len(length) > 7 or not len(length) < int(length) <= len(record):
            raise _damaged(place, "an extended header is not understood")
        name, _, value = record[len(length) + 1 : int(length) - 1].partition(b"=")
        text = name.decode("utf-8", "replace")
        if text in ("path", "size") or text.startswith("GNU.sparse"):
            yield text, value
        record = record[int(length) :]


def _damaged(place: str, why: str) -> UserError:
    return UserError(f"{place} is no tar file, or a damaged one: {why}. Copy or download it again, or leave it out.")


def convert_parquet(path: Path, out: BinaryIO, place: str, column: str, response: str) -> ShardIndex:
    """Write the input of each row to `out`, and return their places and the responses as JSON.

    `column` names the column of the input, `response` that of the target; empty: as `ShardOptions` and `Shards` say.
    Raises `UserError` for files that cannot be read.
    """
    import pyarrow as arrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path, memory_map=True) as file:
            return _converted(file, arrow, out, place, column, response)
    except (arrow.ArrowException, OSError, ValueError, TypeError, MemoryError, KeyError) as error:
        words = printable(str(error).strip().partition("\n")[0][:200])
        raise UserError(f"{place} is no Parquet file, or a damaged one: {words}. Write it again.") from None


def _converted(file: Any, arrow: Any, out: BinaryIO, place: str, column: str, response: str) -> ShardIndex:
    schema, meta = file.schema_arrow, file.metadata
    for number in range(meta.num_row_groups):
        if (size := meta.row_group(number).total_byte_size) > MOST_GROUP_BYTES:
            limit = format_bytes(MOST_GROUP_BYTES)
            raise UserError(f"A row group of {place} has {format_bytes(size)}; at most {limit} can be read.")
    if not 0 < meta.num_rows <= MOST_MEMBERS:
        raise UserError(f"{place} has {meta.num_rows:,} rows. Expected 1 to {MOST_MEMBERS:,} per shard.")
    target = _response(list(schema.names), response, place)
    is_image, columns = _input_columns(arrow, schema, column, target, place)
    sizes: list[int] = []
    labels: list[bytes | None] = []
    label_bytes = 0
    for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=[*columns, target], use_threads=False):
        rows = _values(batch, columns, is_image, place, len(sizes))
        for row, response_value in zip(rows, batch.column(target).to_pylist(), strict=True):
            if len(row) > MOST_MEMBER_BYTES:
                raise UserError(f"Row {len(sizes) + 1:,} of {place} has {format_bytes(len(row))}, which is too much.")
            out.write(row)
            sizes.append(len(row))
            label = None if response_value is None else json.dumps(response_value, default=str).encode()
            label_bytes += len(label or b"")
            if label_bytes > MOST_LABELS_BYTES:
                raise UserError(f"The responses of {place} take more than {format_bytes(MOST_LABELS_BYTES)}.")
            labels.append(label)
    ends = np.cumsum(sizes, dtype=np.int64)
    keys = Texts.of([f"row {number + 1}".encode() for number in range(len(sizes))])
    places = np.stack([ends - np.array(sizes, np.int64), np.array(sizes, np.int64)])
    return ShardIndex(keys, {"image" if is_image else "numbers": places}, {target: Texts.of(labels)}, columns)


def _response(names: list[str], response: str, place: str) -> str:
    column = response or next((name for name in ("label", "cls", "class", "target") if name in names), names[-1])
    if column not in names:
        hint = did_you_mean(column, names)
        raise UserError(
            f"{place} has no column '{printable(column)}' to predict.{hint} Its columns are: {listed(names, 20)}."
        )
    return column


def _input_columns(arrow: Any, schema: Any, column: str, target: str, place: str) -> tuple[bool, list[str]]:
    """Return whether the input is an image, and its columns."""

    def is_image(type: Any) -> bool:
        if arrow.types.is_struct(type):
            return any(type.field(n).name == "bytes" for n in range(type.num_fields))
        return bool(arrow.types.is_binary(type) or arrow.types.is_large_binary(type))

    def is_number(type: Any) -> bool:
        return bool(arrow.types.is_integer(type) or arrow.types.is_floating(type) or arrow.types.is_boolean(type))

    def is_vector(type: Any) -> bool:
        of = arrow.types
        is_list = of.is_list(type) or of.is_large_list(type) or of.is_fixed_size_list(type)
        return bool(is_list and is_number(type.value_type))

    kinds = {name: schema.field(name).type for name in schema.names if name != target}
    if column:
        if column not in kinds:
            raise UserError(
                f"{place} has no column '{printable(column)}' for the input.{did_you_mean(column, list(kinds))} Its "
                f"other columns are: {listed(list(kinds), 20)}."
            )
        kinds = {column: kinds[column]}
    if images := [name for name, type in kinds.items() if is_image(type)]:
        return True, images[:1]
    if vectors := [name for name, type in kinds.items() if is_vector(type)]:
        return False, vectors[:1]
    if numbers := [name for name, type in kinds.items() if is_number(type)]:
        return False, numbers
    raise UserError(f"{place} has no images, lists of numbers or numbers in the columns beside '{printable(target)}'.")


def _values(batch: Any, columns: Sequence[str], is_image: bool, place: str, before: int) -> Iterator[bytes]:
    """Yield the input of each row as bytes: an image file, or float64."""
    if not is_image and len(columns) > 1:
        rows: Any = zip(*(batch.column(name).to_pylist() for name in columns), strict=True)
    else:
        rows = batch.column(columns[0]).to_pylist()
    for number, row in enumerate(rows):
        cell = row.get("bytes") if isinstance(row, dict) else row
        values: Any = [cell] if isinstance(cell, int | float) else cell
        if values is None or (not is_image and any(value is None for value in values)):
            raise UserError(f"Row {before + number + 1:,} of {place} lacks {listed(list(columns), 3)}. Leave it out.")
        yield bytes(values) if is_image else np.asarray(values, np.float64).tobytes()
