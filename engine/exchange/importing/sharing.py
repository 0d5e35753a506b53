"""Weights that several layers share in a file: they stay one set, or each layer gets a copy, which the report says."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from netwright.engine.core.errors import listed
from netwright.engine.exchange.importing.context import Placed
from netwright.engine.exchange.importing.graph import Constant, Graph
from netwright.engine.network.block import Block
from netwright.engine.network.network import Network, sharing_refusal

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


def with_shared_weights(network: Network, placed: Mapping[str, Placed], constants: Mapping[str, Constant]) -> Network:
    """Return the network in which layers of one type whose weights are the same tensors of the file share them, where
    they stand in the same network. `placed` are the layers by id."""
    owners: dict[object, list[Placed]] = {}
    layers = dict(network.layers)
    for id, layer in network.layers.items():
        if isinstance(layer.type, Block):
            inner = with_shared_weights(layer.type.network, placed, constants)
            layers[id] = replace(layer, type=layer.type.with_network(inner))
        own = placed.get(id)
        if own is None or not any(_tells_apart(constants[name]) for name in own.stored if name in constants):
            continue
        others = owners.setdefault((own.type, own.stored), [])
        owner = next((other for other in others if _is_same(own.weights, other.weights)), None)
        if owner is None:
            others.append(own)
        elif sharing_refusal(layer, layers[owner.id]) is None:
            layers[id] = replace(layer, weights_of=owner.id)
    return Network(layers, network.connections)


def _is_same(weights: Mapping[str, np.ndarray], others: Mapping[str, np.ndarray]) -> bool:
    return weights.keys() == others.keys() and all(
        np.array_equal(array, others[name], equal_nan=array.dtype.kind == "f") for name, array in weights.items()
    )


def copied_weights(
    layers: Iterable[Placed], owners: Mapping[str, str], constants: Mapping[str, Constant]
) -> Iterator[str]:
    """Yield a sentence on each group of layers that have tensors of the file in common, and copies of them here.
    `owners` are the names of the layers in the network with their weights, by id."""
    users: dict[str, dict[str, None]] = {}
    for layer in layers:
        for name in sorted(layer.stored) if layer.id in owners else ():
            users.setdefault(name, {})[owners[layer.id]] = None
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
            f"training, because they differ in type or settings or stand in different blocks: {count:,} parameters "
            f"became {count * len(several):,}."
        )


def _tells_apart(constant: Constant) -> bool:
    """Return whether a tensor holds more than one number again and again: exporters store equal ones, such as initial
    biases, once."""
    return constant.dtype.kind == "f" and constant.count > 1 and bool(np.ptp(constant.array()))
