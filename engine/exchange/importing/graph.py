"""The graph that every reader produces, with the operators of ONNX: nodes, constants, inputs, outputs.

A reader of another format (`.pt2`, `.keras`) writes its operators as those of ONNX, so that one set of lifts serves
all.
"""

import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netwright.engine.exchange.onnx_opset import outer_names

if TYPE_CHECKING:
    import onnx

OWN_DOMAIN = "netwright"
"""Domain of operators that a rewrite makes of several nodes, such as a GELU that was written out."""
MICROSOFT = "com.microsoft"
"""Domain of ONNX Runtime's own operators, which its optimiser and its tools write."""


class Constant:
    """Numbers of a file, read when they are needed: `load` returns the array, of `shape` and `dtype`. `is_stored` is
    false for those that were computed at the import; `origin` then names the tensor that they are in another
    layout."""

    def __init__(
        self,
        shape: Sequence[int],
        dtype: np.dtype[Any],
        load: Callable[[], np.ndarray],
        *,
        is_stored: bool = True,
        origin: str = "",
    ) -> None:
        self.shape, self.dtype, self.is_stored, self.origin = tuple(shape), dtype, is_stored, origin
        self._load = load
        self._array: np.ndarray | None = None

    @classmethod
    def of(cls, array: np.ndarray, origin: str = "") -> "Constant":
        """Return a constant of numbers that were computed."""
        return cls(array.shape, array.dtype, lambda: array, is_stored=False, origin=origin)

    @property
    def count(self) -> int:
        """Return the number of elements."""
        return math.prod(self.shape)

    def array(self) -> np.ndarray:
        """Return the numbers. Raises `UserError` where the file does not hold them."""
        if self._array is None:
            self._array = self._load()
        return self._array


@dataclass
class Node:
    """One operator. An input that is left out has an empty name.

    `scope` are the names of the modules that it was part of, outermost first, such as `("layer1", "0", "conv1")`; empty
    where the file does not say. `attributes` hold numbers, texts, lists of them, and a `Constant` for each tensor.
    """

    op: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any] = field(default_factory=dict)
    name: str = ""
    domain: str = ""
    scope: tuple[str, ...] = ()
    raw: Any = None
    """The node as the file has it (an `onnx.NodeProto`), for an operator that is kept as it is; None where a reader or
    a rewrite made the node."""
    parts: tuple[str, ...] = ()
    """Operators that a rewrite made this node of, or that it holds."""
    members: tuple["Node", ...] = ()
    """Nodes that it holds because they can only be kept together (`subgraphs.py`)."""
    is_across: bool = False
    """Whether it holds one that gives something for all samples of a batch together."""

    @property
    def label(self) -> str:
        """Return the operator for a table, with its domain if that is not ONNX's own."""
        return f"{self.domain}:{self.op}" if self.domain and self.domain != OWN_DOMAIN else self.op

    def outer_names(self) -> list[str]:
        """Return the values around it that the subgraphs of the node take."""
        graphs = [
            item for value in self.attributes.values() for item in (value if isinstance(value, list) else [value])
        ]
        return [name for graph in graphs if hasattr(graph, "initializer") for name in outer_names(graph)]


@dataclass(frozen=True)
class Value:
    """An input or output of a graph: its sizes, None or a name where they are free, and its numpy data type."""

    name: str
    sizes: tuple[int | str | None, ...] | None
    dtype: str = "float32"

    @property
    def is_real(self) -> bool:
        """Return whether it may hold real numbers: not whole numbers or texts."""
        return self.dtype != "object" and not self.dtype.startswith(("int", "uint", "bool"))


@dataclass
class Graph:
    """A network as its file has it, with nodes in topological order."""

    nodes: list[Node]
    constants: dict[str, Constant]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    opset: int
    opsets: Mapping[str, int] = field(default_factory=dict)
    """Version of the operators of each domain; `opset` is that of ONNX's own."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Names of outputs that a person gave, by the value. An exporter names the others after operators."""
    title: str = ""
    producer: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    compute: Callable[[Mapping[str, np.ndarray], Sequence[str]], list[np.ndarray]] | None = None
    """Compute values of the graph by name with the program that the file is for (ONNX Runtime), from its inputs by
    name. None where no such program is here."""
    plain: dict[str, Node] = field(default_factory=dict)
    """The operators as the file has them, by what they give, before rewrites made one of several."""
    read_branch: Callable[["onnx.GraphProto"], tuple[list[Node], dict[str, Constant]]] | None = None
    """Read the nodes and the constants of a subgraph. None where a reader has none."""
    tried: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    """The results of trying operators that are kept as they are."""
    helper: Any = None
    """The child process that tries them (`onnx_runner.Helper`), while the graph is lifted."""
    folder: Path | None = None
    """Folder of files that `compute` needs, which goes with the graph."""

    def close(self) -> None:
        """Remove the files that belong to the graph, which cannot be computed afterwards."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def origin(self, name: str) -> str:
        """Return the name of the tensor of the file that a constant is, maybe in another layout; empty for all else."""
        constant = self.constants.get(name)
        return "" if constant is None else constant.origin or (name if constant.is_stored else "")

    def names(self) -> set[str]:
        """Return the names of all values."""
        start = {*self.constants, *(value.name for value in self.inputs)}
        return start.union(*(node.outputs for node in self.nodes))

    def makers(self) -> dict[str, Node]:
        """Return the node that computes each value."""
        return {name: node for node in self.nodes for name in node.outputs if name}

    def users(self) -> dict[str, list[Node]]:
        """Return the nodes that take each value, also in their subgraphs, in order, once per node."""
        users_by_name: dict[str, list[Node]] = {}
        for node in self.nodes:
            for name in dict.fromkeys((*node.inputs, *node.outer_names())):
                if name:
                    users_by_name.setdefault(name, []).append(node)
        return users_by_name
