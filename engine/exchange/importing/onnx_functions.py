"""Functions that an ONNX file defines: what they stand for is counted before a program puts them in the place of their
calls. Forty that call each other twice stand for more operators than any memory holds."""

import mmap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import open_file
from netwright.engine.core.text import format_bytes
from netwright.engine.exchange.importing.onnx_tensors import AGAIN

if TYPE_CHECKING:
    import onnx

ONNX_DOMAINS = ("", "ai.onnx")
LIMIT_BYTES = 2**31
"""Limit of a protobuf message: larger models have their tensors in other files."""
MOST_NODES = 200_000
DEEPEST = 50
"""Most functions that call one another in a row."""
FUNCTIONS = 25
"""Number of the field of a model that holds a function."""
FIXED = {1: 8, 5: 4}
"""Bytes of a field, by its type, where they do not stand before it."""
Key = tuple[str, str, str]


def refuse_functions_of(path: Path) -> None:
    """Refuse a file whose functions stand for too much. Raises `UserError`; a file that is damaged is left to whoever
    reads all of it."""
    if not has_functions(path):
        return
    import onnx

    model = None
    with suppress(Exception):  # protobuf raises classes of its own, by its implementation
        model = onnx.load(str(path), load_external_data=False)
    if model is not None:
        refuse_large_functions(model)


def has_functions(path: Path) -> bool:
    """Return whether an ONNX file defines functions, or may do so. Only the beginning of each part of it is read."""
    with (
        suppress(OSError, ValueError),
        open_file(path) as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        at = 0
        while at < len(data):
            tag, at = _varint(data, at)
            if tag >> 3 == FUNCTIONS:
                return True
            length = FIXED.get(tag & 7, 0)
            if tag & 7 not in FIXED:
                number, at = _varint(data, at)
                length = number if tag & 7 else 0
            at += length
    return False


def _varint(data: mmap.mmap, at: int) -> tuple[int, int]:
    """Return a number as protobuf writes it, and the place behind it. Raises `ValueError`."""
    value = 0
    for place, byte in enumerate(data[at : at + 10]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    raise ValueError("no number of protobuf")


def refuse_large_functions(model: "onnx.ModelProto") -> None:
    """Refuse functions that call each other, or that stand for more operators or bytes than a file may have. Raises
    `UserError`."""
    functions = {_key(function.domain, function.name, function): function for function in model.functions}
    sizes: dict[Key, tuple[int, int]] = {}

    def size(key: Key, within: tuple[Key, ...]) -> tuple[int, int]:
        if key in within or len(within) > DEEPEST:
            raise UserError("The functions in the file call themselves, which ONNX does not allow.", hint=AGAIN)
        if key not in sizes:
            sizes[key] = whole(functions[key].node, (*within, key))
        return sizes[key]

    def whole(nodes: "Iterator[onnx.NodeProto]", within: tuple[Key, ...]) -> tuple[int, int]:
        count = length = 0
        for node in nodes:
            length += node.ByteSize()
            for inner in _with_inner(node):
                key = _key(inner.domain, inner.op_type, inner)
                more = size(key, within) if key in functions else (1, 0)
                count, length = count + more[0], length + more[1]
        return count, length

    count, length = whole(model.graph.node, ())
    if count > MOST_NODES:
        raise UserError(f"The functions in the file stand for {count:,} operators; at most {MOST_NODES:,} are read.")
    if length > LIMIT_BYTES:
        raise UserError(
            f"The functions in the file stand for {format_bytes(length)}; at most {format_bytes(LIMIT_BYTES)} are read."
        )


def _with_inner(node: "onnx.NodeProto") -> "Iterator[onnx.NodeProto]":
    """Yield a node and those of its subgraphs."""
    yield node
    for attribute in node.attribute:
        for graph in (*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs):
            for inner in graph.node:
                yield from _with_inner(inner)


def _key(domain: str, name: str, holder: "onnx.NodeProto | onnx.FunctionProto") -> Key:
    """Return the identity of a function: domain, name and overload."""
    return "" if domain in ONNX_DOMAINS else domain, name, holder.overload
