"""Kinds of files that can be imported as a project: suffixes, labels, extras."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.part_registry import entries, has_entry, imported


@dataclass(frozen=True)
class ImportKind:
    """A kind of file. A part has its reader, in the table `imports` of the manifest: a function from a path to a graph,
    which only an engine process imports. With `has_layers`, it also takes the sizes that a person gives, by name, and
    may return a network."""

    key: str
    label: str
    suffixes: tuple[str, ...]
    extra: str = ""
    """Extra of Netwright that installs what the reader needs, or nothing."""
    has_layers: bool = False


_ALL = (
    ImportKind("onnx", "ONNX", (".onnx",)),
    ImportKind("pt2", "torch.export", (".pt2",)),
    ImportKind("source", "PyTorch source of Netwright", (".py",), has_layers=True),
    ImportKind("keras", "Keras", (".keras",), "hdf5", has_layers=True),
)
KINDS = tuple(kind for kind in _ALL if has_entry("imports", kind.key))
WITHOUT_GRAPH = (".pt", ".pth", ".bin", ".ckpt", ".safetensors")
"""Suffixes of weights alone, from which no network can be made."""
WITHOUT_GRAPH_HINT = (
    "Open or build the network first, then start it from these weights: the section 'weights' of the project names the "
    "file (--set weights.file=FILE). Or save the model with torch.export as .pt2, or as ONNX, and import that."
)


def kind_of(path: Path) -> ImportKind:
    """Return the kind of a file by its suffix. Raises `UserError` for a suffix that is not known."""
    for kind in KINDS:
        if path.suffix.lower() in kind.suffixes:
            return kind
    if path.suffix.lower() in WITHOUT_GRAPH:
        raise UserError(
            f"{path.name} holds weights alone, which do not say how layers are connected, so no network can be made of "
            "it.",
            hint=WITHOUT_GRAPH_HINT,
            code="usage",
        )
    suffixes = ", ".join(suffix for kind in KINDS for suffix in kind.suffixes)
    raise UserError(
        f"{path.name or path} holds no network that can be imported: the names of such files end in {suffixes}.",
        code="usage",
    )


def can_import(path: Path) -> bool:
    """Return whether a file has a suffix that can be imported."""
    return any(path.suffix.lower() in kind.suffixes for kind in KINDS)


def reader(kind: ImportKind) -> Callable[..., Any]:
    """Return the function that reads files of a kind. It imports heavy libraries."""
    function: Callable[..., Any] = imported(entries("imports")[kind.key])
    return function
