"""Event files that TensorBoard reads, written without it.

A file is a sequence of records (TFRecord): length, its checksum, an `Event` in the encoding of protocol buffers, its
checksum. See `tensorflow/core/util/event.proto`, `tensorflow/core/framework/summary.proto` and
`tensorflow/core/lib/io/record_writer.cc` of TensorFlow (Apache 2.0), whose field numbers stand below.
"""

import math
import struct
from collections.abc import Iterable
from functools import cache

FILE_VERSION = b"brain.Event:2"
_CASTAGNOLI = 0x82F63B78
_WALL_TIME, _STEP, _VERSION, _SUMMARY = 1, 2, 3, 5
_SUMMARY_VALUE, _TAG, _SIMPLE_VALUE = 1, 1, 2
_VARINT, _DOUBLE, _BYTES, _FLOAT = 0, 1, 2, 5
_LARGEST_FLOAT = 3.4028234663852886e38


def log(time: float, events: Iterable[bytes]) -> bytes:
    """A whole file: the version first, then the events."""
    head = _double(_WALL_TIME, time) + _bytes(_VERSION, FILE_VERSION)
    return b"".join(_record(event) for event in (head, *events))


def scalar(tag: str, step: int, value: float, time: float) -> bytes:
    """One point of a curve."""
    value = max(-_LARGEST_FLOAT, min(_LARGEST_FLOAT, value)) if math.isfinite(value) else value
    number = _key(_SIMPLE_VALUE, _FLOAT) + struct.pack("<f", value)
    summary = _bytes(_SUMMARY_VALUE, _bytes(_TAG, tag.encode("utf-8", "replace")) + number)
    return _double(_WALL_TIME, time) + _key(_STEP, _VARINT) + _varint(step) + _bytes(_SUMMARY, summary)


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + _checksum(length) + data + _checksum(data)


def crc32c(data: bytes) -> int:
    """The checksum of Castagnoli, as in RFC 3720."""
    table, crc = _table(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _checksum(data: bytes) -> bytes:
    """Masked, as TFRecord does it."""
    crc = crc32c(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


@cache
def _table() -> tuple[int, ...]:
    found = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (_CASTAGNOLI if number & 1 else 0)
        found.append(number)
    return tuple(found)


def _key(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _varint(value: int) -> bytes:
    """A whole number in groups of seven bits; a negative one as 64 bits."""
    value &= 0xFFFFFFFFFFFFFFFF
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


def _double(field: int, value: float) -> bytes:
    return _key(field, _DOUBLE) + struct.pack("<d", value)


def _bytes(field: int, data: bytes) -> bytes:
    return _key(field, _BYTES) + _varint(len(data)) + data
