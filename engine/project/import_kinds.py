"""Kinds of files that can be imported as a project: suffixes, labels, extras."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core.errors import UserError


@dataclass(frozen=True)
class ImportKind:
    """A kind of file. `reader` is the qualified name of a function from a path to a graph, which only an engine process
    imports."""

    key: str
    label: str
    suffixes: tuple[str, ...]
    reader: str
    extra: str = ""
    """Extra of Netwright that installs what the reader needs, or nothing."""


KINDS = (ImportKind("onnx", "ONNX", (".onnx",), "engine.exchange.importing.onnx_file.read"),)


def kind_of(path: Path) -> ImportKind:
    """Return the kind of a file by its suffix. Raises `UserError` for a suffix that is not known."""
    for kind in KINDS:
        if path.suffix.lower() in kind.suffixes:
            return kind
    known = ", ".join(suffix for kind in KINDS for suffix in kind.suffixes)
    raise UserError(f"{path.name} cannot be imported: files that can end in {known}.", code="usage")


def can_import(path: Path) -> bool:
    """Return whether a file has a suffix that can be imported."""
    return any(path.suffix.lower() in kind.suffixes for kind in KINDS)


def reader(kind: ImportKind) -> Callable[[Path], Any]:
    """Return the function that reads files of a kind. It imports heavy libraries."""
    module, _, name = kind.reader.rpartition(".")
    function: Callable[[Path], Any] = getattr(importlib.import_module(module), name)
    return function
