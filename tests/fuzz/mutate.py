"""Hostile files from real ones: bytes changed at random, JSON and zip files changed where it hurts. All from a seed."""

import contextlib
import copy
import io
import json
import pickle
import random
import warnings
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Mutation = Callable[[random.Random, Sequence[bytes]], bytes]
BIG = "@@BIG@@"
"""Stands for a number of 5,000 digits, which `json.dumps` refuses to write."""
TEXTS = (
    "",
    " ",
    "../../escaped",
    "/etc/passwd",
    "a\0b",
    "\x1b]0;owned\x07\x9b2J",
    "\u202egnp.exe",
    "\ud800",
    "x" * 100_000,
    "NaN",
    "Infinity",
    "1e999",
    "__class__",
    "$tensor",
    "<b>bold</b><img src='file:///etc/passwd'>",
    "%s%n{0}{x}",
    "日本語",
    "\n\r\n",
    "-1",
)
NUMBERS = (0, -1, 1, 2, 255, 2**31, -(2**31), 2**32, 2**53 + 1, 2**63, -(2**63) - 1, 2**64, 10**30, 10**400)
FRACTIONS = (0.5, -0.0, 1e-320, 1e308, -1e308, float("nan"), float("inf"), float("-inf"))


def hostile_value(generator: random.Random) -> Any:
    """Some JSON that nobody expects."""
    nested: Any = generator.choice([0, "x", {}])
    for _ in range(generator.choice([3, 70, 400])):
        nested = [nested] if generator.random() < 0.5 else {"a": nested}
    return generator.choice(
        [
            None,
            True,
            False,
            BIG,
            generator.choice(NUMBERS),
            generator.choice(FRACTIONS),
            generator.choice(TEXTS),
            [],
            {},
            nested,
            [generator.choice(NUMBERS)] * generator.choice([1, 3, 2000]),
            {generator.choice(TEXTS): generator.choice(NUMBERS)},
            {str(number): number for number in range(generator.choice([2, 500]))},
        ]
    )


MOST_PLACES = 5_000


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in a JSON value with each of its keys."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        items = one.items() if isinstance(one, dict) else enumerate(one) if isinstance(one, list) else ()
        for key, inner in list(items):
            found.append((one, key))
            waiting.append(inner)
    return found


def mutated_value(generator: random.Random, value: Any) -> Any:
    """A JSON value with some of its parts replaced, removed, renamed, repeated or exchanged."""
    for _ in range(generator.choice([1, 1, 1, 2, 5])):
        places = _places(value)
        if not places or generator.random() < 0.01:
            return hostile_value(generator)
        if len(places) > MOST_PLACES:  # parts that are repeated again and again take all memory
            return value
        inside, key = generator.choice(places)
        match generator.randrange(7):
            case 0 | 1 | 2:
                inside[key] = hostile_value(generator)
            case 3:
                del inside[key]
            case 4 if isinstance(inside, dict):
                inside[generator.choice([*TEXTS, *map(str, inside)])] = inside.pop(key)
            case 4 | 5 if isinstance(inside, list):
                with contextlib.suppress(RecursionError):
                    inside[key:key] = [copy.deepcopy(inside[key]) for _ in range(generator.choice([1, 2, 300]))]
            case _:
                other, name = generator.choice(places)
                with contextlib.suppress(RecursionError, ValueError):  # parts in each other, more deeply each time
                    inside[key] = json.loads(json.dumps(other[name])) if name in _keys(other) else None
    return value


def _keys(value: Any) -> Sequence[Any]:
    return list(value) if isinstance(value, dict) else range(len(value))


def as_bytes(generator: random.Random, value: Any, **how: Any) -> bytes:
    """The value as JSON, sometimes with a key that stands twice."""
    try:
        text = json.dumps(value, ensure_ascii=generator.random() < 0.5, **how).replace(f'"{BIG}"', "9" * 5000)
    except RecursionError:  # parts were put into each other again and again
        text = "[" * 5000
    if generator.random() < 0.02 and text.startswith("{") and len(text) > 2:
        text = '{"kind": 1, "state": 2, ' + text[1:]
    return text.encode("utf-8", "surrogatepass")


def json_file(generator: random.Random, seeds: Sequence[bytes]) -> bytes:
    """A JSON file changed in its structure, or in its bytes."""
    if generator.random() < 0.25:
        return any_bytes(generator, seeds)
    return as_bytes(generator, mutated_value(generator, json.loads(generator.choice(seeds))))


def json_lines(generator: random.Random, seeds: Sequence[bytes]) -> bytes:
    """A file with a JSON value on each line."""
    if generator.random() < 0.2:
        return any_bytes(generator, seeds)
    lines = generator.choice(seeds).splitlines()
    for _ in range(generator.choice([1, 1, 3, 8])):
        at = generator.randrange(len(lines))
        match generator.randrange(5):
            case 0:
                lines.insert(generator.randrange(len(lines)), lines[at])
            case 1 if len(lines) > 1:
                del lines[at]
            case _:
                value: Any = 0
                with contextlib.suppress(ValueError, RecursionError):  # it may have been changed before
                    value = mutated_value(generator, json.loads(lines[at]))
                lines[at] = as_bytes(generator, value) if generator.random() < 0.97 else b"\xff"
    return b"\n".join(lines) + (b"\n" if generator.random() < 0.9 else b"")


def any_bytes(generator: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Bits flipped, parts cut off, doubled, taken out of another file, integers made extreme."""
    data = bytearray(generator.choice(seeds))
    for _ in range(generator.choice([1, 1, 2, 4, 16])):
        size = len(data)
        at = generator.randrange(size + 1)
        end = min(size, at + generator.choice([1, 2, 4, 16, 200, 5000]))
        match generator.randrange(9):
            case 0 | 1 if size:
                data[at % size] ^= 1 << generator.randrange(8)
            case 2:
                del data[at:]
            case 3:
                del data[at:end]
            case 4:
                data[at:at] = data[at:end] * generator.choice([1, 2, 50])
            case 5:
                other = generator.choice(seeds)
                start = generator.randrange(len(other) + 1)
                data[at:end] = other[start : start + generator.choice([1, 8, 300, len(other)])]
            case 6:
                width = generator.choice([1, 2, 4, 8])
                number = generator.choice([0, 1, 2 ** (8 * width) - 1, 2 ** (8 * width - 1), 2 ** (8 * width - 1) - 1])
                data[at : at + width] = number.to_bytes(width, generator.choice(["little", "big"]))
            case 7:
                data[at:at] = generator.choice(TEXTS).encode("utf-8", "surrogatepass")
            case _:
                data[at:end] = generator.randbytes(end - at)
    return bytes(data)


def csv_file(generator: random.Random, seeds: Sequence[bytes]) -> bytes:
    """A table with strange cells, rows of other lengths, other separators."""
    if generator.random() < 0.3:
        return any_bytes(generator, seeds)
    rows = [line.split(b",") for line in generator.choice(seeds).splitlines()]
    strange = [b"", b'"', b'""', b"nan", b"inf", b"-1e309", b"1_000", b"9" * 5000, b"0x10", b"\xff", b"1,5", b'"a\nb"']
    for _ in range(generator.choice([1, 2, 5, 40])):
        row = generator.choice(rows)
        at = generator.randrange(len(row) + 1)
        cell = generator.choice([*strange, generator.choice(TEXTS).encode("utf-8", "surrogatepass"), b"a", b"2"])
        match generator.randrange(6):
            case 0 | 1 | 2 if row:
                row[at % len(row)] = cell
            case 3:
                row.insert(at, cell)
            case 4:
                del row[at:]
            case _:
                rows.insert(generator.randrange(len(rows)), list(row))
    between = generator.choice([b",", b",", b",", b";", b"\t"])
    ends = generator.choice([b"\n", b"\n", b"\r\n", b"\r"])
    return generator.choice([b"", b"", b"\xef\xbb\xbf"]) + ends.join(between.join(row) for row in rows)


class Trap:
    """What a pickle of it does when it is loaded: make the file `executed` in the folder where the program runs."""

    def __reduce__(self) -> tuple[Any, ...]:
        return open, ("executed", "w")


DESCRIPTIONS = [
    "<f4",
    ">f8",
    "<i8",
    "|u1",
    "|b1",
    "<c8",
    "<U3",
    "|S4",
    "|O",
    "<M8[s]",
    "<f2",
    "<f16",
    "|V8",
    "<U0",
    "|S0",
    "|V0",
    "<U999999999",
    "(3,)<f4",
    "<i4,<f4",
    "<i3",
    "x",
]
SIZES = (0, 1, 2, 6, 60, -1, -6, 2**31, 2**40, 2**62, 2**64)


def npz_file(generator: random.Random, seeds: Sequence[bytes]) -> bytes:
    """A zip file of arrays whose headers, names and sizes are other than they should be."""
    if generator.random() < 0.3:
        return any_bytes(generator, seeds)
    with zipfile.ZipFile(io.BytesIO(generator.choice(seeds))) as file:
        parts = [(entry.filename, file.read(entry)) for entry in file.infolist()]
    for _ in range(generator.choice([1, 1, 2, 3])):
        at = generator.randrange(len(parts))
        name, content = parts[at]
        match generator.randrange(14):
            case 0 | 1 | 2:
                parts[at] = (name, _with_header(generator, content))
            case 3:
                names = [
                    "x.npy",
                    "y.npy",
                    "y_.npy",
                    "x_lengths.npy",
                    "y_lengths.npy",
                    "x.npy.npy",
                    ".npy",
                    "../../e.npy",
                ]
                parts[at] = (generator.choice([*names, "a\x1bb.npy", "x" * 60_000 + ".npy"]), content)
            case 4:
                parts.append((generator.choice([name, "z.npy", "y_b.npy"]), content))
            case 5:
                parts[at] = (name, any_bytes(generator, [content]))
            case 6:
                whole = np.lib.format.magic(1, 0) + _header_text("|O", "(6,)") + pickle.dumps([Trap()] * 6)
                parts[at] = (name, whole)
            case 7:
                parts[at] = (name, content[: len(content) // 2])
            case _:
                with contextlib.suppress(Exception):  # of a header that was changed before
                    parts[at] = (name, _with_values(generator, content))
    return _zipped(generator, parts)


def npy_file(generator: random.Random, seeds: Sequence[bytes]) -> bytes:
    """One array in a file of its own, with another header, other numbers or objects in it."""
    content = generator.choice(seeds)
    match generator.randrange(10):
        case 0 | 1 | 2:
            return any_bytes(generator, seeds)
        case 3 | 4 | 5:
            return _with_header(generator, content)
        case 6:
            return np.lib.format.magic(1, 0) + _header_text("|O", "(6,)") + pickle.dumps([Trap()] * 6)
    return _with_values(generator, content)


def _zipped(generator: random.Random, parts: list[tuple[str, bytes]]) -> bytes:
    whole = io.BytesIO()
    kinds = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
    with zipfile.ZipFile(whole, "w") as file:
        for name, content in parts:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = generator.choice(kinds[:3] if generator.random() < 0.9 else kinds)
            if name not in file.NameToInfo:
                file.writestr(entry, content)
            elif generator.random() < 0.5:
                file.NameToInfo.pop(name)
                file.writestr(entry, content)
        if generator.random() < 0.2:
            entry = generator.choice(file.infolist())
            entry.file_size = generator.choice([2**31, 2**40, 0])
            entry.compress_size = generator.choice([entry.compress_size, 2**40, 0])
    return whole.getvalue()


def _with_header(generator: random.Random, content: bytes) -> bytes:
    """Another type of number, another shape, or a header that is no header."""
    start = 10 + int.from_bytes(content[8:10], "little")
    shape = tuple(generator.choice(SIZES) for _ in range(generator.choice([0, 1, 1, 2, 3, 4, 5, 33])))
    text = str(shape)
    if generator.random() < 0.1:
        text = generator.choice(
            ["(6", "()" * 4000, "(" * 3000, "(6L,)", "6", "(True, 6)", "(1e3,)", "None", "__import__('os')"]
        )
    data = content[start:]
    if generator.random() < 0.3:
        data = b"\0" * generator.choice([0, 6, 24, 48, 96])
    return (
        b"\x93NUMPY"
        + generator.choice([b"\1\0", b"\1\0", b"\2\0", b"\3\0"])
        + _header_text(generator.choice(DESCRIPTIONS), text)
        + data
    )


def _with_values(generator: random.Random, content: bytes) -> bytes:
    """A sound array of the same samples with other axes, another type of number, extreme values."""
    array = np.atleast_1d(np.lib.format.read_array(io.BytesIO(content), allow_pickle=False))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if generator.random() < 0.5:
            array = array.astype(generator.choice(["f4", "f8", "f2", "i1", "i8", "u8", "?", "c8", "U3", "S2", ">i4"]))
        if generator.random() < 0.4:
            sizes = [generator.choice([1, 1, 2, 3, 4, 5]) for _ in range(generator.choice([0, 1, 2, 3, 4]))]
            array = np.resize(array, (len(array) + generator.choice([0, 0, 0, 1]), *sizes))
        for _ in range(generator.choice([0, 1, 1, 9])):
            value = generator.choice([*FRACTIONS, -1, 0, 1, 2, 7, 255, 2**24, 2**31, 2**62, -(2**62), 2**63])
            with contextlib.suppress(OverflowError, IndexError, TypeError, ValueError):
                array.reshape(-1)[generator.randrange(max(1, array.size))] = value
    whole = io.BytesIO()
    np.lib.format.write_array(whole, array)
    return whole.getvalue()


def _header_text(description: str, shape: str) -> bytes:
    text = f"{{'descr': '{description}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117)[:60_000] + "\n"
    return len(text).to_bytes(2, "little") + text.encode()


def tensors_file(generator: random.Random, seeds: Sequence[bytes]) -> bytes:
    """A file of safetensors: eight bytes with the length of a JSON header, the header, the numbers."""
    if generator.random() < 0.4:
        return any_bytes(generator, seeds)
    whole = generator.choice(seeds)
    size = int.from_bytes(whole[:8], "little")
    header = as_bytes(generator, mutated_value(generator, json.loads(whole[8 : 8 + size])))
    told = len(header) if generator.random() < 0.95 else generator.choice([0, 1, 2**31, 2**63, 2**64 - 1])
    return told.to_bytes(8, "little") + header + whole[8 + size :]
