"""Compare an imported network with the program that the file is for, on random inputs of several scales."""

import contextlib
import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import fx

from netwright.engine.core import progress
from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.types import Symbol
from netwright.engine.exchange.importing.graph import Graph, Value
from netwright.engine.exchange.importing.values import BATCH, ONE, Tensor
from netwright.engine.exchange.onnx_check import ERRORS_OF_TORCH, distances
from netwright.engine.exchange.onnx_layers import seen_outputs
from netwright.engine.exchange.onnx_runner import PATIENCE_S, arrays_from_child
from netwright.engine.lowering.module import LAYER
from netwright.engine.lowering.modules.onnx_operator import OnnxOperator
from netwright.engine.network.free_lengths import accepted_lengths
from netwright.engine.network.network import Network

TOLERANCE = 1e-4
"""Largest accepted difference, relative to the spread of the output."""
ROUNDING = 4 * 2**-23
"""Accepted besides, relative to the largest absolute value: four units in the last place of float32. Probabilities of
4,096 classes from initial weights are 2e-4 with a spread of 7e-8, of which one unit is 4e-4."""
MOST_NUMBERS = 2**40
"""Numbers of an input that no memory holds."""
SCALES = (1.0, 0.1, 10.0)
BATCHES = 2
SAMPLES = 3
STEPS = 12
TOKENS = 1000
FEW = (2, 1)
"""Bounds of whole numbers that are tried where ONNX Runtime refuses larger ones; with 1, all are 1."""
MOST_BYTES_AT_ONCE = 2**21
"""Largest size of the inputs of all batches for them to be computed as one."""
MOST_BYTES_ALONE = 2**18
"""Largest size of the inputs that one thread computes with: several would wait for each other after each layer, for
minutes in a network of 5,000 operators where other programs take a core."""

MOST_BYTES_IN_FLOAT64 = 2**29
"""Largest size of the weights of a network that is computed in float64 as well, which takes twice as much."""


@dataclass(frozen=True)
class Compared:
    """An output: its largest difference, the spread of its values (standard deviation over all of them), and whether
    that is close enough."""

    name: str
    difference: float
    spread: float
    is_close: bool
    varies: bool = True


@dataclass(frozen=True)
class Parity:
    """The outputs compared, the number of samples, and a reason where nothing could be compared."""

    outputs: tuple[Compared, ...] = ()
    samples: int = 0
    refusal: str = ""
    first: str = ""
    """A sentence on the first layer whose output differs, where one does."""

    @property
    def agrees(self) -> bool:
        """Return whether every output is close to that of the original."""
        return bool(self.outputs) and all(output.is_close for output in self.outputs)

    @property
    def share(self) -> float:
        """Return the largest difference relative to the spread of its output; infinity where nothing was compared."""
        return max(map(_share, self.outputs), default=float("inf"))

    @property
    def says_much(self) -> bool:
        """Return whether there was a comparison, and an output that varies over the random inputs or differs."""
        return not self.refusal and any(output.varies or not output.is_close for output in self.outputs)


def compare(
    graph: Graph,
    module: fx.GraphModule,
    network: Network,
    inputs: Sequence[tuple[Value, Tensor]],
    outputs: Sequence[tuple[str, Tensor, int]],
    fixed_batch: int | None = None,
) -> Parity:
    """Compare outputs on random inputs. `outputs` are names in the file, tensors, and places among the module's
    outputs."""
    if graph.compute is None:
        return Parity(refusal="There is no program here that computes the file.")
    parity = _compare(graph, module, network, inputs, outputs, fixed_batch, TOKENS)
    if parity.says_much or not any(tensor.is_whole or tensor.type.kind == "index" for _, tensor in inputs):
        return parity
    # Lengths, places and masks are bounded by what the file does not say: small ones fit.
    for few in FEW:
        again = _compare(graph, module, network, inputs, outputs, fixed_batch, few)
        if again.says_much or (parity.refusal and not again.refusal):
            return again
    return parity


def _compare(
    graph: Graph,
    module: fx.GraphModule,
    network: Network,
    inputs: Sequence[tuple[Value, Tensor]],
    outputs: Sequence[tuple[str, Tensor, int]],
    fixed_batch: int | None,
    whole: int,
) -> Parity:
    assert graph.compute is not None
    generator = np.random.default_rng(1)
    names = [name for name, _, _ in outputs]
    count = fixed_batch or SAMPLES
    steps = _steps(network, inputs)
    batches = [
        {
            value.name: _random(value, tensor, generator, float(scale), count, network, steps, whole)
            for value, tensor in inputs
        }
        for scale in np.repeat(SCALES, BATCHES)
    ]
    theirs: list[list[np.ndarray]] = [[] for _ in names]
    ours: list[list[np.ndarray]] = [[] for _ in names]
    runs = [batches] if fixed_batch is None and _are_small(batches) else [[batch] for batch in batches]
    run_feeds = [
        {value.name: _joined([batch[value.name] for batch in several], tensor) for value, tensor in inputs}
        for several in runs
    ]
    for number, (several, feeds) in enumerate(zip(runs, run_feeds, strict=True)):
        progress.report(number, len(runs), "comparisons")
        try:
            expected = graph.compute({**_unused(graph, feeds, count * len(several)), **feeds}, names)
            own = _computed_apart(module, inputs, outputs, feeds)
        except RunError as error:
            return Parity(refusal=str(error))
        for at, (_, tensor, _) in enumerate(outputs):
            theirs[at] += _apart(expected[at], tensor, len(several))
            ours[at] += _apart(own[at], tensor, len(several))
    rows = [_compared(name, theirs[at], ours[at]) for at, name in enumerate(names)]
    if not all(row.is_close for row in rows) and all(math.isfinite(row.difference) for row in rows):
        exact = _in_float64(module, inputs, outputs, run_feeds, len(runs[0]))
        if exact is not None:
            rows = [_compared(name, theirs[at], ours[at], exact[at]) for at, name in enumerate(names)]
    return Parity(tuple(rows), len(batches) * count)


def _in_float64(
    module: fx.GraphModule,
    inputs: Sequence[tuple[Value, Tensor]],
    outputs: Sequence[tuple[str, Tensor, int]],
    run_feeds: Sequence[dict[str, np.ndarray]],
    count: int,
) -> list[list[np.ndarray]] | None:
    """Return the outputs of our module in float64, `count` batches of each run; None where it cannot compute them."""
    is_large = sum(weight.nbytes for weight in module.state_dict().values()) > MOST_BYTES_IN_FLOAT64
    if is_large or any(isinstance(part, OnnxOperator) for part in module.modules()):
        return None  # ONNX Runtime computes its operators in float32
    try:
        precise = copy.deepcopy(module).double()
        results = [computed(precise, inputs, outputs, feeds, np.float64) for feeds in run_feeds]
    except RuntimeError:  # tensors that a part makes in float32 do not mix with float64
        return None
    return [
        [array for own in results for array in _apart(own[at], tensor, count)]
        for at, (_, tensor, _) in enumerate(outputs)
    ]


def _computed_apart(
    module: fx.GraphModule,
    inputs: Sequence[tuple[Value, Tensor]],
    outputs: Sequence[tuple[str, Tensor, int]],
    feeds: dict[str, np.ndarray],
) -> list[np.ndarray]:
    """Return the outputs of our module; where ONNX Runtime computes a part of it, from a child process. Raises
    `RunError`."""
    is_small = sum(array.nbytes for array in feeds.values()) <= MOST_BYTES_ALONE
    with _threads(1 if is_small else torch.get_num_threads()):
        return _apart_from_us(module, lambda: computed(module, inputs, outputs, feeds))


def _apart_from_us(module: fx.GraphModule, work: Callable[[], list[np.ndarray]]) -> list[np.ndarray]:
    """Return the arrays of a computation with a module; where ONNX Runtime computes a part of it, from a child process.
    Raises `RunError`."""
    if not any(isinstance(part, OnnxOperator) for part in module.modules()):
        return work()

    def alone() -> list[np.ndarray]:
        torch.set_num_threads(1)  # the threads of OpenMP do not survive a fork
        return work()

    return arrays_from_child(alone, "it computed the operators that are kept as they are", PATIENCE_S)


@contextlib.contextmanager
def _threads(count: int) -> Iterator[None]:
    """Let torch compute with a number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _are_small(batches: Sequence[dict[str, np.ndarray]]) -> bool:
    """Return whether all batches may be computed as one, which saves the time between the operators."""
    return sum(array.nbytes for feeds in batches for array in feeds.values()) <= MOST_BYTES_AT_ONCE


def _joined(arrays: Sequence[np.ndarray], tensor: Tensor) -> np.ndarray:
    return np.concatenate(arrays, tensor.dims.index(BATCH)) if len(arrays) > 1 else arrays[0]


def _apart(array: np.ndarray, tensor: Tensor, count: int) -> list[np.ndarray]:
    """Return an output of several batches for each of them."""
    at = next((at for at, dim in enumerate(tensor.dims) if dim.split("*")[0] == BATCH), 0)
    return np.split(array, count, at) if array.ndim > at and not array.shape[at] % count else [array] * count


def _unused(graph: Graph, feeds: Mapping[str, np.ndarray], count: int) -> dict[str, np.ndarray]:
    """Return zeros for the inputs of the file that no output depends on: they are none of the network."""
    others = {value.name: value for value in graph.inputs if value.name not in feeds}
    shapes = {
        name: [size if isinstance(size, int) else count for size in value.sizes or ()] for name, value in others.items()
    }
    for shape in shapes.values():
        _refuse_huge(shape)
    return {name: np.zeros(shape, others[name].dtype) for name, shape in shapes.items()}


def _refuse_huge(shape: Sequence[int]) -> None:
    """Raise `MemoryError` for an array that numpy refuses with another error."""
    if math.prod(shape) > MOST_NUMBERS:
        raise MemoryError


def first_difference(
    graph: Graph,
    module: fx.GraphModule,
    network: Network,
    inputs: Sequence[tuple[Value, Tensor]],
    values: Sequence[tuple[str, Tensor]],
    fixed_batch: int | None = None,
) -> str:
    """Return a sentence on the first layer whose output differs from the value of the file; empty if there is none.

    `values` are the layers by their path of names, in the order of computation, and the tensors of the file that leave
    them.
    """
    nodes = {node.meta[LAYER]: node for node in module.graph.nodes if LAYER in node.meta}
    pairs = [(layer, tensor) for layer, tensor in values if layer in nodes]
    generator = np.random.default_rng(1)
    count = fixed_batch or SAMPLES
    steps = _steps(network, inputs)
    feeds = {value.name: _random(value, tensor, generator, 1.0, count, network, steps) for value, tensor in inputs}
    if not pairs or graph.compute is None:
        return ""
    try:
        theirs = graph.compute({**_unused(graph, feeds, count), **feeds}, [tensor.name for _, tensor in pairs])
    except RunError:
        return ""
    targets = [nodes[layer] for layer, _ in pairs]

    def work() -> list[np.ndarray]:
        outputs = seen_outputs(module, set(targets), tuple(_given(inputs, feeds)))
        return [outputs.get(node, np.zeros(())) for node in targets]

    try:
        ours = _apart_from_us(module, work)
    except RunError:
        return ""
    for (layer, tensor), array, expected in zip(pairs, ours, theirs, strict=True):
        if array.ndim != tensor.type.rank + 1 or expected.dtype.kind not in "fiub":
            continue
        row = _compared(layer, [expected] * BATCHES, [as_file(torch.from_numpy(array), tensor)] * BATCHES)
        if not row.is_close:
            share = f", {row.difference / row.spread:.2g} times its spread" if row.spread else ""
            where = f"'{layer}' ('{tensor.name}' in the file)"
            return f"The first layer that differs is {where}, by {row.difference:.3g}{share}."
    return ""


def _steps(network: Network, inputs: Sequence[tuple[Value, Tensor]]) -> int:
    """Return a number of steps that the network takes, for sequences of any length."""
    if all(tensor.type.is_known for _, tensor in inputs):
        return STEPS
    try:
        lengths = accepted_lengths(network)
    except UserError:
        return STEPS
    return STEPS if lengths[0] <= STEPS <= lengths[-1] else lengths[0]


def _random(
    value: Value,
    tensor: Tensor,
    generator: np.random.Generator,
    scale: float,
    count: int,
    network: Network,
    steps: int,
    whole: int = TOKENS,
) -> np.ndarray:
    """Return random numbers for an input of the file; whole numbers from 0 for indices, less than `whole`."""
    sizes = {
        axis: steps if isinstance(size, Symbol) else size
        for axis, size in zip(tensor.type.axes, tensor.type.sizes, strict=True)
    }
    shape = [count if dim == BATCH else 1 if dim == ONE else sizes[dim] for dim in tensor.dims]
    _refuse_huge(shape)
    if tensor.type.kind == "index":
        high = min(vocabulary(network, value.name), whole)
        return generator.integers(int(whole == 1), max(high, int(whole == 1) + 1), shape).astype(value.dtype)
    if tensor.is_whole:
        low, high = (0, 2) if value.dtype == "bool" else (0, 100) if whole > 100 else (1, whole + 1)
        return generator.integers(low, high, shape).astype(value.dtype)
    return (generator.standard_normal(shape) * scale).astype(value.dtype)


def vocabulary(network: Network, name: str) -> int:
    """Return the number of indices that every embedding of a network knows."""
    sizes = [int(size) for size in _vocabularies(network)]
    return min(sizes, default=TOKENS)


def _vocabularies(network: Network) -> list[int]:
    sizes = []
    for layer in network.layers.values():
        inner = getattr(layer.type, "network", None)
        if isinstance(inner, Network):
            sizes += _vocabularies(inner)
        sizes += [
            value for name in ("vocabulary", "classes") if isinstance(value := getattr(layer.type, name, None), int)
        ]
    return sizes


def computed(
    module: fx.GraphModule,
    inputs: Sequence[tuple[Value, Tensor]],
    outputs: Sequence[tuple[str, Tensor, int]],
    feeds: dict[str, np.ndarray],
    real: type[np.floating[Any]] = np.float32,
) -> list[np.ndarray]:
    """Return the outputs of our module, whose numbers are `real`, with their dimensions as in the file."""
    arguments = [torch.from_numpy(array) for array in _given(inputs, feeds, real)]
    with torch.no_grad():
        result = module(*arguments)
    results = result if isinstance(result, tuple) else (result,)
    return [as_file(results[place], tensor) for _, tensor, place in outputs]


def _given(
    inputs: Sequence[tuple[Value, Tensor]], feeds: dict[str, np.ndarray], real: type[np.floating[Any]] = np.float32
) -> list[np.ndarray]:
    """Return the inputs of the file as those of our module."""
    arrays = []
    for value, tensor in inputs:
        numbers = feeds[value.name]
        if tensor.dims == (BATCH,):
            numbers = numbers[:, None]  # one number per sample is one channel
        else:
            numbers = numbers.transpose([tensor.dims.index(dim) for dim in (BATCH, *tensor.type.axes)])
        dtype = numbers.dtype if tensor.type.kind == "index" else real
        arrays.append(np.ascontiguousarray(numbers, dtype))
    return arrays


def as_file(array: torch.Tensor, tensor: Tensor) -> np.ndarray:
    """Return an output of ours with its dimensions in the order of the file, and joined as there."""
    names = [name for dim in tensor.dims for name in dim.split("*") if name != ONE]
    ours = (BATCH, *tensor.type.axes)
    absent = [axis for axis in ours if axis not in names]  # of size 1
    output = array.permute([ours.index(name) for name in (*names, *absent)])
    sizes = dict(zip(names, output.shape, strict=False))
    shape = [int(np.prod([sizes.get(name, 1) for name in dim.split("*")])) for dim in tensor.dims]
    return output.reshape(shape).numpy()


def _compared(
    name: str, theirs: list[np.ndarray], ours: list[np.ndarray], exact: list[np.ndarray] | None = None
) -> Compared:
    """Compare an output at each scale by itself, relative to its spread over the samples of that scale. `exact` are our
    outputs in float64, which tell the rounding errors of torch."""
    worst = Compared(name, 0.0, 0.0, True, varies=False)
    for start in range(0, len(theirs), BATCHES):
        pairs = list(zip(theirs[start : start + BATCHES], ours[start : start + BATCHES], strict=True))
        if any(expected.shape != output.shape for expected, output in pairs):
            return Compared(name, float("inf"), 0.0, False)
        a = np.concatenate([_real(expected) for expected, _ in pairs])
        b = np.concatenate([_real(output) for _, output in pairs])
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        with np.errstate(invalid="ignore"):
            apart = np.where(same, 0.0, np.abs(a - b))
        difference = float(np.nan_to_num(apart, nan=np.inf).max(initial=0.0))
        finite = a[np.isfinite(a)]
        spread = float(finite.std()) if finite.size else 0.0
        size = float(np.abs(finite).max(initial=0.0))
        varies = spread > 1e-6 * size and spread > 0
        accepted = TOLERANCE * (spread if varies else size) + ROUNDING * size
        if difference > accepted and exact is not None:
            noise = ERRORS_OF_TORCH * _largest_error(ours[start : start + BATCHES], exact[start : start + BATCHES])
            varies, accepted = varies and noise < 0.1 * spread, accepted + noise
        is_close = difference <= accepted
        row = Compared(name, difference, spread, is_close, worst.varies or varies)
        if (worst.is_close, -_share(worst)) >= (row.is_close, -_share(row)) or start == 0:
            worst = row
    return worst


def _real(array: np.ndarray) -> np.ndarray:
    """Return the numbers of an output in a row; of complex ones the real and the imaginary parts."""
    flat = array.reshape(-1)
    return (np.stack([flat.real, flat.imag]).reshape(-1) if np.iscomplexobj(flat) else flat).astype(np.float64)


def _largest_error(ours: list[np.ndarray], exact: list[np.ndarray]) -> float:
    """Return the largest rounding error of finite outputs."""
    errors = [distances(_real(output), _real(precise)) for output, precise in zip(ours, exact, strict=True)]
    return max(float(error[np.isfinite(error)].max(initial=0.0)) for error in errors)


def _share(row: Compared) -> float:
    return row.difference / row.spread if row.spread else row.difference
