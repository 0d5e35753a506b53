"""The record in `data.json` of a run folder: the files that its data came from, and which samples were in which split.

    {"version": 1, "source": "images",
     "places": [{"option": "path", "path": "/data/pets", "suffixes": [".jpg", ...], "files": 1797, "bytes": 4711,
                 "stamps": "<hash of names, sizes and times>", "listing": "<packed>",
                 "content": {"sha256": "...", "files": 32, "bytes": 2097152, "is_whole": false}}],
     "split": {"kind": "random", "samples": {"training": 1257, ...}, "total": 1797, "parts": "<packed>"},
     "versions": {"netwright": "1.4.0"}, "written": 1790000000.0, "replaced": []}

Packed values are zlib, then base64: `listing` holds name, size and time (ns) of each file, each ended by a zero byte;
`parts` two bits per sample in the order of the source, lowest first: 0 training, 1 validation, 2 test, 3 in none. For
too many files there is `folders` instead of `listing`: number, bytes and hash of the files of each subfolder.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.fields import printable
from netwright.engine.core.files import read_object, write_checked_json
from netwright.engine.runs.data_files import DataPlace, pack, typed, unpack

VERSION = 1
FILE = "data.json"
LIMIT_BYTES = 2**26
"""Largest `data.json` that is read: that of a hundred million samples has 30 MiB."""
PARTS = ("training", "validation", "test")


@dataclass(frozen=True)
class DataRecord:
    """Content of `data.json`. `parts` has one byte per sample, see the module; `replaced` says in words how the data
    had changed each time the run was resumed with other data."""

    source: str
    places: tuple[DataPlace, ...] = ()
    split: str = "random"
    parts: bytes = field(default=b"", repr=False)
    versions: Mapping[str, str] = field(default_factory=dict)
    written: float = 0.0
    replaced: tuple[str, ...] = ()

    def write(self) -> dict[str, Any]:
        """Return the record as JSON."""
        return {
            "version": VERSION,
            "source": self.source,
            "places": [place.write() for place in self.places],
            "split": {
                "kind": self.split,
                "samples": self.samples,
                "total": len(self.parts),
                "parts": pack(_two_bits(self.parts)),
            },
            "versions": dict(self.versions),
            "written": self.written,
            "replaced": list(self.replaced),
        }

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """Return the record of JSON. Raises `ValueError`, `KeyError`, `TypeError` or `AttributeError` for other
        JSON."""
        if typed(data, "version", int) != VERSION:
            raise ValueError("version")
        split = data["split"]
        return cls(
            typed(data, "source", str),
            tuple(map(DataPlace.read, data["places"])),
            typed(split, "kind", str),
            _from_two_bits(unpack(typed(split, "parts", str)), typed(split, "total", int)),
            {str(name): str(version) for name, version in data["versions"].items()},
            float(data["written"]),
            tuple(map(str, data["replaced"])),
        )

    @cached_property
    def split_hash(self) -> str:
        """SHA-256 of the split of each sample."""
        return hashlib.sha256(self.parts).hexdigest()

    @property
    def fingerprint(self) -> str:
        """SHA-256 that is equal for the same contents in the same splits, wherever they lie."""
        contents = [
            (place.option, place.files, place.bytes, place.content.sha256 or place.stamps) for place in self.places
        ]
        return hashlib.sha256(repr((self.source, contents, self.split_hash)).encode()).hexdigest()

    @property
    def samples(self) -> dict[str, int]:
        """Number of samples per split."""
        return {name: self.parts.count(code) for code, name in enumerate(PARTS)}

    def numbers(self, part: str) -> list[int]:
        """Return the sample indices of a split, ascending."""
        code = PARTS.index(part)
        return [number for number, value in enumerate(self.parts) if value == code]

    def changes(self) -> tuple[str, ...]:
        """Return a sentence for each place that has changed since."""
        return tuple(text for place in self.places if (text := place.changes()))

    def against(self, other: "DataRecord") -> tuple[str, ...]:
        """Return a sentence for each difference between the data of two runs, this one first; none where both had the
        same samples in the same splits."""
        if self.source != other.source:
            return (f"The data sources differ: {self.source} and {other.source}.",)
        here, there = ({place.option: place for place in record.places} for record in (self, other))
        texts = [
            f"Only {'the first' if option in here else 'the second'} run has data.{option}."
            for option in sorted(here.keys() ^ there.keys())
        ]
        for option, place in here.items():
            if option in there and (text := _apart(place, there[option])):
                texts.append(text)
        if self.split_hash != other.split_hash:
            counted = [", ".join(f"{name} {record.samples[name]:,}" for name in PARTS) for record in (self, other)]
            same = "The splits hold other samples, as many in each."
            texts.append(same if counted[0] == counted[1] else f"The splits differ: {counted[0]}; and {counted[1]}.")
        return tuple(texts)


def read_record(folder: Path) -> DataRecord | None:
    """Return the record of a run folder; None for a run of a version that wrote none. Raises `UserError` where it is
    damaged."""
    path = folder / FILE
    try:
        data = read_object(path, LIMIT_BYTES)
        if data is None and not path.exists():
            return None
        return DataRecord.read(data or {})
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise UserError(
            f"{path} is damaged, so that it cannot be told whether the data of the run is still the same. Restore it "
            "from a copy, or remove it: then nothing is compared."
        ) from None


def write_record(folder: Path, record: DataRecord) -> None:
    """Write the record into a run folder. Raises `OSError`."""
    write_checked_json(folder / FILE, record.write(), follow_link=False)


def changes_since(folder: Path) -> tuple[str, ...]:
    """Return the changes in the data of a run since it was recorded, one sentence per place; nothing for a run
    without a record. Raises `UserError` for a damaged record."""
    record = read_record(folder)
    return record.changes() if record is not None else ()


def _apart(own: DataPlace, other: DataPlace) -> str:
    """Return the difference of an option's data between two runs; empty where files and contents are the same."""
    if own.path == other.path:
        text = own.differences(other)
        return f"data.{own.option} has changed between the runs: {text}" if text else ""
    alike = own.content.sha256 == other.content.sha256 and own.bytes == other.bytes and own.files == other.files
    if alike:
        return ""
    sizes = [
        f"{printable(place.path)} ({plural(place.files, 'file')}, {place.bytes:,} bytes)" for place in (own, other)
    ]
    return f"data.{own.option} differs: {sizes[0]} and {sizes[1]}."


_PAIRS = bytes((byte >> shift) & 3 for byte in range(256) for shift in (0, 2, 4, 6))


def _two_bits(parts: bytes) -> bytes:
    """Return values from 0 to 3 packed, four per byte."""
    filled = parts + bytes(-len(parts) % 4)
    whole = int.from_bytes  # of strides: four numbers, each of a byte per packed byte
    low = [whole(filled[place::4], "little") << (2 * place) for place in range(4)]
    return (low[0] | low[1] | low[2] | low[3]).to_bytes(len(filled) // 4, "little")


def _from_two_bits(packed: bytes, count: int) -> bytes:
    """Return the values of `_two_bits`. Raises `ValueError` where there are not as many."""
    if len(packed) != (count + 3) // 4:
        raise ValueError("parts")
    strides = [packed.translate(_PAIRS[place::4]) for place in range(4)]
    values = bytearray(4 * len(packed))
    for place, stride in enumerate(strides):
        values[place::4] = stride
    return bytes(values[:count])
