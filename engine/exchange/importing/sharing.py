"""Weights that several layers share in a file: here each layer gets a copy, which the report says."""

import re
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from netwright.engine.core.errors import listed
from netwright.engine.exchange.importing.context import Placed
from netwright.engine.exchange.importing.graph import Constant, Graph

MOST_NAMED = 6
EXPORTED = re.compile(r"(val|onnx::\w+)_\d+")
"""Names that torch's exporters give to tensors which they computed, such as a weight that they transposed."""


def note_transposed(graph: Graph) -> None:
    """Note the origin of tensors that an exporter transposed beside the weight itself, such as the head of a language
    model that has the weights of its embedding."""
    matrices = {
        name: constant
        for name, constant in graph.constants.items()
        if constant.is_stored and constant.dtype.kind == "f" and len(constant.shape) == 2
    }
    by_shape: dict[tuple[int, ...], list[str]] = {}
    for name, matrix in matrices.items():
        if not EXPORTED.fullmatch(name):
            by_shape.setdefault(matrix.shape, []).append(name)
    for name, matrix in matrices.items():
        for other in by_shape.get(matrix.shape[::-1], ()) if EXPORTED.fullmatch(name) else ():
            if np.array_equal(matrix.array(), graph.constants[other].array().T):
                matrix.origin = other


def shared_weights(
    layers: Iterable[Placed], names: Mapping[str, str], constants: Mapping[str, Constant]
) -> Iterator[str]:
    """Yield a sentence on each group of layers that have tensors of the file in common. `names` are those of the layers
    in the network, by id."""
    users: dict[str, list[str]] = {}
    for layer in layers:
        for name in sorted(layer.stored) if layer.id in names else ():
            users.setdefault(name, []).append(names[layer.id])
    groups: dict[tuple[str, ...], int] = {}
    for name, paths in users.items():
        if len(paths) > 1 and _tells_apart(constants[name]):
            groups[tuple(paths)] = groups.get(tuple(paths), 0) + constants[name].count
    for several, count in groups.items():
        texts = [f"'{name}'" for name in several[:MOST_NAMED]]
        if len(several) > MOST_NAMED:
            texts.append(f"{len(several) - MOST_NAMED:,} more")
        yield (
            f"{listed(texts)} share their weights in the file. Here each has its own, and they can drift apart in "
            f"training: {count:,} parameters became {count * len(several):,}."
        )


def _tells_apart(constant: Constant) -> bool:
    """Return whether a tensor holds more than one number again and again: exporters store equal ones, such as initial
    biases, once."""
    return constant.dtype.kind == "f" and constant.count > 1 and bool(np.ptp(constant.array()))
