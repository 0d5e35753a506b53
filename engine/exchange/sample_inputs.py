"""Sample inputs for testing an export: real samples in the order of the network's inputs, or random ones."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import fx

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import TensorType
from netwright.engine.layers.attention import Embedding
from netwright.engine.layers.reshape_layouts import OneHot
from netwright.engine.lowering.modules.normalization import Normalize
from netwright.engine.network.free_lengths import lengths_by_input
from netwright.engine.network.network import Network
from netwright.engine.project.bindings import match_inputs
from netwright.engine.project.dataset_info import DatasetInfo

Arrays = tuple[np.ndarray, ...]
BATCH_SIZES = (1, 2, 5)


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
        expected = layer.type.output()
        type = TensorType(expected.axes, array.shape[1:], expected.kind) if array.ndim == expected.rank + 1 else None
        if type is None or not expected.fits(type):
            sizes = " × ".join(map(str, array.shape[1:]))
            raise UserError(f"'{layer.name}' takes {expected}; the data gives {sizes}.")
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


def random_samples(network: Network, seed: int = 0, scale: float = 1.0) -> Iterator[Arrays]:
    """Yield random batches of several sizes, and of two lengths where sequences may have any; indices are any of the
    vocabulary. Samples differ in size and in the mean of each channel, so that also averages over them vary."""
    first, other = lengths_by_input(network)
    types = [layer.type for layer in network.layers.values()]
    limits = [type.vocabulary for type in types if isinstance(type, Embedding)]
    limits += [type.classes for type in types if isinstance(type, OneHot)]
    limit = min(limits, default=2)
    rng = np.random.default_rng(seed)
    for size, lengths in zip(BATCH_SIZES, (first, other, first), strict=True):
        yield tuple(
            _random(layer.type.output(), size, lengths.get(layer.id, 0), limit, scale, rng) for layer in network.inputs
        )


def _random(
    type: TensorType, size: int, steps: int, limit: int, scale: float, numbers: np.random.Generator
) -> np.ndarray:
    shape = (size, *(axis if isinstance(axis, int) else steps for axis in type.sizes))
    if type.kind == "index":
        return numbers.integers(0, limit, shape).astype(np.float32)
    means = [shape[0], *(count if axis == "C" else 1 for axis, count in zip(type.axes, shape[1:], strict=True))]
    sizes = numbers.permutation(np.geomspace(0.5, 2.0, size) if size > 1 else np.ones(1)).reshape(-1, *[1] * type.rank)
    values = numbers.standard_normal(shape) + numbers.standard_normal(means)
    return (scale * sizes * values).astype(np.float32)
