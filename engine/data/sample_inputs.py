"""Sample inputs for testing an export: real samples in the order of the network's inputs, or random ones."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import fx

from engine.core.errors import UserError
from engine.core.types import TensorType
from engine.layers.attention import Embedding
from engine.lowering.modules.normalization import Normalize
from engine.network import edits
from engine.network.analysis import analyse
from engine.network.network import Network
from engine.project.bindings import match_inputs
from engine.project.dataset_info import DatasetInfo

Arrays = tuple[np.ndarray, ...]
BATCH_SIZES = (1, 2, 5)
LENGTHS = (7, 16, 33, 64, 128, 256, 1024, 4096, 5, 4, 3, 2, 1)
"""Lengths to try for sequences of any length: windows may need many steps, position embeddings allow few."""


def at_sizes(samples: Arrays) -> list[Arrays]:
    """Return the samples as batches of several sizes, the largest last."""
    total = len(samples[0])
    sizes = [size for size in BATCH_SIZES if size < total]
    return [tuple(array[:size] for array in samples) for size in (*sizes, total)]


def fitting_samples(network: Network, facts: DatasetInfo | None, samples: Arrays) -> Arrays:
    """Return the samples in the order of the network's inputs, as float32, or float64 where they are.

    Raises `UserError` where they do not fit.
    """
    if facts is not None:
        matched = match_inputs(network, facts)
        if len(samples) != len(facts.inputs) or len(matched) != len(network.inputs):
            raise UserError(f"The network has {len(network.inputs)} input layers, the data has {len(samples)}.")
        places = [facts.inputs.index(matched[layer.id]) for layer in network.inputs]
        samples = tuple(samples[place] for place in places)
    if len(samples) != len(network.inputs) or not len(samples[0]):
        raise UserError(f"There are samples for {len(samples)} inputs; the network has {len(network.inputs)}.")
    for layer, array in zip(network.inputs, samples, strict=True):
        wanted = layer.type.output()
        given = TensorType(wanted.axes, array.shape[1:], wanted.kind) if array.ndim == wanted.rank + 1 else None
        if given is None or not wanted.fits(given):
            sizes = " × ".join(map(str, array.shape[1:]))
            raise UserError(f"'{layer.name}' takes {wanted}; the data gives {sizes}.")
    return tuple(np.ascontiguousarray(x, x.dtype if x.dtype == np.float64 else np.float32) for x in samples)


def in_input_types(module: fx.GraphModule, batch: Arrays) -> Arrays:
    """Return a batch in the types that the network takes: float64 where the normalisation has a shift that single
    precision cannot hold, else float32."""
    inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
    return tuple(array.astype(_input_type(module, node)) for node, array in zip(inputs, batch, strict=True))


def _input_type(module: fx.GraphModule, node: fx.Node) -> type[np.floating[Any]]:
    parts = [module.get_submodule(str(user.target)) for user in node.users if user.op == "call_module"]
    is_double = any(isinstance(part, Normalize) and part.shift.dtype == torch.float64 for part in parts)
    return np.float64 if is_double else np.float32


def random_samples(network: Network, seed: int = 0) -> Iterator[Arrays]:
    """Yield random batches of several sizes, and of two lengths where sequences may have any; indices are 0 or 1."""
    lengths = accepted_lengths(network)
    vocabularies = (layer.type.vocabulary for layer in network.layers.values() if isinstance(layer.type, Embedding))
    highest = min([1, *(size - 1 for size in vocabularies)])
    rng = np.random.default_rng(seed)
    for size, steps in zip(BATCH_SIZES, (lengths[0], lengths[-1], lengths[0]), strict=True):
        yield tuple(_random(layer.type.output(), size, steps, highest, rng) for layer in network.inputs)


def accepted_lengths(network: Network) -> tuple[int, ...]:
    """Return the first two of `LENGTHS` that the network accepts; networks of fixed length accept any.

    Raises `UserError` if the network accepts none.
    """
    free = [layer for layer in network.inputs if not layer.type.output().is_known]
    accepted = []
    for steps in LENGTHS:
        candidate = network
        for layer in free:
            candidate = edits.set_fields(candidate, layer.id, {"length": steps})
        if not analyse(candidate).has_errors:
            accepted.append(steps)
        if len(accepted) == 2:
            break
    if not accepted:
        raise UserError(f"The network takes no sequences of up to {max(LENGTHS):,} steps, so it cannot be tried out.")
    return tuple(accepted)


def _random(type: TensorType, size: int, steps: int, highest: int, numbers: np.random.Generator) -> np.ndarray:
    shape = (size, *(axis if isinstance(axis, int) else steps for axis in type.sizes))
    if type.kind == "index":
        return numbers.integers(0, highest + 1, shape).astype(np.float32)
    return numbers.standard_normal(shape).astype(np.float32)
