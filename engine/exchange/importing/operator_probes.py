"""Try an operator that is kept as it is: which number formats it takes, what sizes it gives, and whether it keeps the
samples of a batch apart."""

import contextlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from netwright.engine.core.errors import RunError
from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.folding import RANDOM
from netwright.engine.exchange.importing.graph import Graph, Node
from netwright.engine.exchange.importing.values import AcrossSamples, NotLiftable, Tensor
from netwright.engine.exchange.onnx_runner import Helper, arrays_from_child
from netwright.engine.layers.onnx_operator import KINDS, OMITTED, OnnxOperator
from netwright.engine.lowering.module import resolve
from netwright.engine.lowering.modules.onnx_operator import OnnxOperator as OperatorModule
from netwright.engine.lowering.modules.onnx_runtime import onnx_runtime
from netwright.engine.training.out_of_memory import is_out_of_memory

BATCH_SIZES = (2, 3)
STEPS = (11, 13)
"""Sizes that an operator is tried with, to see which sizes of its results depend on them."""
TRIED_SIZES = ((2, 11), (3, 11), (2, 13))
"""Samples and steps of each try."""

REAL = ("float32", "float64", "float16")
INDEX = ("int64", "bool", "int32", "uint8", "int8")
"""Number formats that are tried for an input, in this order."""
MOST_TRIES = 40
TRIES = len(TRIED_SIZES)
"""Times that an operator is computed with number formats that it takes."""
PATIENCE_S = 60.0
SMALL = 4096
"""Elements of a constant up to which its numbers tell a trial from another."""
MOST_BYTES_PIPED = 2**26
"""Constants of an operator that go through a pipe; an operator with more is tried in a process forked for it."""
TRYING = "it tried the operator"


class NotComputed(NotLiftable):
    """ONNX Runtime cannot compute the operator with these number formats."""


KINDS_OF_REFUSAL = {one.__name__: one for one in (NotLiftable, AcrossSamples, NotComputed)}


@dataclass(frozen=True)
class Original:
    """An operator as a file for `count` samples has it, whose constants are for so many."""

    type: OnnxOperator
    constants: dict[str, np.ndarray]
    count: int


def tried_formats(
    ctx: Context,
    node: Node,
    reason: str,
    type: OnnxOperator,
    tensors: list[Tensor],
    constants: dict[str, np.ndarray],
    original: "Original | None" = None,
) -> tuple[OnnxOperator, list[list[np.ndarray]]]:
    """Return the layer with number formats of its inputs that the operator takes, and what it gives.

    The file does not say the formats of values inside; an operator that takes several gives equal numbers for them. A
    child process tries it, for an operator may crash ONNX Runtime. What came of it is kept for the next time that the
    graph is lifted. With an `original` the layer has to give what that gives.
    """
    candidates = _candidates(type, tensors)
    key: tuple[Any, ...] = (
        id(node),
        type.input_tensors,
        type.operands.count(OMITTED),
        type.one_by_one,
        type.whole_batch,
        type.results,
    )
    if original is not None:
        key = (*key, *(array.tobytes() if array.size <= SMALL else array.shape for array in constants.values()))
    if key not in ctx.graph.tried:
        try:
            outcome = _from_child(ctx, (_plain(node), reason, candidates, tensors, constants, original))
        except RunError as error:
            ctx.graph.tried[key] = node, _told(reason, error)
        else:
            ctx.graph.tried[key] = node, outcome  # the node, so that its id is no other's
    outcome = ctx.graph.tried[key][1]
    if isinstance(outcome, NotLiftable):
        raise outcome
    at, passes, *arrays = outcome
    layer = candidates[int(at)]
    layer = layer.replace(gradients=tuple(itertools.compress(layer.input_ports(), passes)))
    each = len(arrays) // TRIES
    return layer, [arrays[start : start + each] for start in range(0, len(arrays), each)]


def _from_child(ctx: Context, arguments: tuple[Any, ...]) -> list[np.ndarray]:
    """Return the arrays of `_first_computed` from the child process that tries all operators; where that dies, from one
    for this operator, which tells whether it is the reason. Raises `RunError`."""
    constants = arguments[4].values()
    if ctx.graph.helper is not None and sum(array.nbytes for array in constants) <= MOST_BYTES_PIPED:
        arrays = ctx.graph.helper.arrays(PATIENCE_S, *arguments)
        if arrays is not None:
            return list(arrays)
    return arrays_from_child(lambda: _first_computed(*arguments), TRYING, PATIENCE_S)


@contextlib.contextmanager
def helped(graph: Graph) -> Iterator[None]:
    """Try the operators of a graph that are kept in one child process, for a process each takes long where they are
    many."""
    graph.helper = Helper(_first_computed)
    try:
        yield
    finally:
        graph.helper.close()
        graph.helper = None


def _plain(node: Node) -> Node:
    """Return a node with its operator and outputs alone, all that a trial needs."""
    return Node(node.op, [], list(node.outputs), domain=node.domain)


def _candidates(type: OnnxOperator, tensors: list[Tensor]) -> list[OnnxOperator]:
    """Return the layer with each choice of number formats for its inputs, the likely ones first."""
    formats = {"real": REAL, "index": INDEX, "complex": ("complex64",)}
    kinds = [(*INDEX, *REAL) if x.is_whole else formats[x.type.kind] for x in tensors]
    uniform = itertools.product(REAL, INDEX)
    alike = [
        tuple({"real": real, "index": index}.get("index" if x.is_whole else x.type.kind, "complex64") for x in tensors)
        for real, index in uniform
    ]
    choices = itertools.islice(dict.fromkeys(itertools.chain(alike, itertools.product(*kinds))), MOST_TRIES)
    return [
        type.replace(
            input_tensors=tuple(
                " ".join([dtype, *text.split()[1:]]) for dtype, text in zip(dtypes, type.input_tensors, strict=True)
            )
        )
        for dtypes in choices
    ]


def _told(reason: str, error: RunError) -> NotLiftable:
    """Return the refusal of an operator that a child process wrote (`_said`)."""
    try:
        kind, text, leaving = json.loads(str(error))
    except ValueError:
        return NotLiftable(f"{reason}, and {error}")
    return KINDS_OF_REFUSAL[kind](text, leaving=leaving)


def _said(error: NotLiftable) -> RunError:
    return RunError(json.dumps([type(error).__name__, str(error), error.leaving]))


def _first_computed(
    node: Node,
    reason: str,
    types: list[OnnxOperator],
    tensors: list[Tensor],
    constants: dict[str, np.ndarray],
    original: Original | None,
) -> list[np.ndarray]:
    """Return the place of the first layer that can be computed, for each input whether a gradient passes to it, and the
    results of all tries one after another. Raises `RunError` with the reason."""
    torch.set_num_threads(1)  # threads do not survive a fork
    onnx_runtime().set_default_logger_severity(4)  # its complaints about what it refuses are in the reason
    first: NotLiftable | None = None
    for at, type in enumerate(types):
        try:
            trials = _tried(node, reason, type, tensors, constants)
            if original is not None:
                _refuse_other(node, reason, type, tensors, constants, original)
        except NotComputed as error:
            first = first or error
        except NotLiftable as error:
            raise _said(error) from None
        else:
            passes = _gradients(node, type, tensors, constants)
            return [np.asarray(at), passes, *(array for several in trials for array in several)]
    raise _said(first or NotLiftable(reason))


def _tried(
    node: Node, reason: str, type: OnnxOperator, tensors: list[Tensor], constants: dict[str, np.ndarray]
) -> list[list[np.ndarray]]:
    """Return the results of the operator for two batch sizes, and for two lengths where sizes are free."""
    module = _module(type, tensors, constants)
    generator = np.random.default_rng(0)
    results: list[list[np.ndarray]] = []
    sample: list[torch.Tensor] = []
    try:
        if type.one_by_one:
            _refuse_joined(node, reason, type, module, [_made_up(x, 1, STEPS[0], generator) for x in tensors])
        for batch, steps in TRIED_SIZES:
            inputs = [_made_up(x, batch, steps, generator) for x in tensors]
            results.append([np.asarray(array) for array in module.computed(*inputs)])
            sample = inputs if len(results) == 1 else sample
    except NotLiftable:
        raise
    except Exception as error:  # onnx, ONNX Runtime and numpy raise classes of their own
        raise NotComputed(f"{reason}, and cannot be computed by itself ({type_name(error)})") from None
    names = _kept(node, type)
    for number, (two, three) in enumerate(zip(results[0], results[1], strict=True)):
        if two.dtype.kind not in "fiubc" or str(two.dtype) not in KINDS:
            text = f"{reason}, and gives {two.dtype} as its output {number + 1}, which a layer cannot hold"
            raise NotLiftable(text, leaving=[names[number]])
        if batch_axis(two, three) is None:
            # Numbers of samples may be apart in another dimension, such as steps that are joined with the batch.
            is_joined = two.size * BATCH_SIZES[1] == three.size * BATCH_SIZES[0]
            kind = NotLiftable if is_joined else AcrossSamples
            raise kind(f"{reason}, and gives no result for each sample", leaving=[names[number]])
    is_apart = type.whole_batch or _keeps_apart(node, module, sample, results)
    if not is_apart or not (type.whole_batch or _keeps_apart(node, module, _signed(tensors, sample), results)):
        raise AcrossSamples(f"{reason}, and computes across the samples of a batch")
    return results


def _gradients(node: Node, type: OnnxOperator, tensors: list[Tensor], constants: dict[str, np.ndarray]) -> np.ndarray:
    """Return for each input whether torch computes the operator with the numbers of ONNX Runtime, and with a gradient
    for it that is not 0 everywhere."""
    module, ours = _module(type, tensors, constants), _module(type.replace(gradients=("in",)), tensors, constants)
    generator = np.random.default_rng(2)
    none = np.zeros(len(tensors), bool)
    passes = none
    try:
        for (batch, steps), factor in itertools.product(TRIED_SIZES, (1.0, -3.0)):
            inputs = [_made_up(x, batch, steps, generator) for x in tensors]
            inputs = [
                value * factor if value.is_floating_point() and not x.is_whole else value
                for x, value in zip(tensors, inputs, strict=True)
            ]
            leaves = [value.requires_grad_(value.is_floating_point()) for value in inputs]
            results = ours.tensors(*leaves)
            for result, expected in zip(results, module.computed(*leaves), strict=True):
                numbers = result.detach().numpy()
                if (
                    numbers.dtype != expected.dtype
                    or numbers.shape != expected.shape
                    or not is_alike(numbers, expected)
                ):
                    return none
            passes = passes | _reached(results, leaves) | _unread(ours, results, leaves)
    except Exception:  # torch raises what it likes for what is not quite its function
        return none
    return passes if node.op not in RANDOM else none


def _unread(module: OperatorModule, results: list[torch.Tensor], inputs: list[torch.Tensor]) -> np.ndarray:
    """Return for each input whether the results do not depend on its numbers, but on its sizes alone: no gradient is
    stopped there."""
    with torch.no_grad():
        others = [
            module.tensors(*inputs[:at], -2 * value, *inputs[at + 1 :]) if value.is_floating_point() else []
            for at, value in enumerate(inputs)
        ]
    return np.array([bool(several) and all(map(torch.equal, several, results)) for several in others])


def _reached(results: list[torch.Tensor], inputs: list[torch.Tensor]) -> np.ndarray:
    """Return for each input whether it gets a gradient that is not 0 everywhere."""
    ends = [tensor for tensor in results if tensor.requires_grad]
    starts = [tensor for tensor in inputs if tensor.requires_grad]
    if not ends or not starts:
        return np.zeros(len(inputs), bool)
    weights = [torch.linspace(0.5, 1.5, tensor.numel(), dtype=tensor.dtype).reshape(tensor.shape) for tensor in ends]
    slopes = iter(torch.autograd.grad(ends, starts, weights, allow_unused=True))
    return np.array(
        [tensor.requires_grad and (slope := next(slopes)) is not None and bool(slope.any()) for tensor in inputs]
    )


def is_alike(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether results are equal but for rounding."""
    return np.allclose(a, b, 1e-4, 1e-5, equal_nan=True)


def _module(type: OnnxOperator, tensors: list[Tensor], constants: dict[str, np.ndarray]) -> OperatorModule:
    call = type.lower(*(x.type for x in tensors))
    assert not isinstance(call, tuple)
    module: OperatorModule = resolve(call.target)(**call.kwargs)
    module.load_state_dict(
        {f"constant_{n}": torch.from_numpy(array.copy()) for n, array in enumerate(constants.values())}
    )
    return module


def _refuse_other(
    node: Node,
    reason: str,
    type: OnnxOperator,
    tensors: list[Tensor],
    constants: dict[str, np.ndarray],
    original: Original,
) -> None:
    """Refuse an operator that gives something else than the original does for as many samples as that is for. Raises
    `NotComputed`."""
    before = original.type.replace(input_tensors=type.input_tensors)
    generator = np.random.default_rng(1)
    inputs = [_made_up(x, original.count, STEPS[0], generator) for x in tensors]
    try:
        theirs = _module(before, tensors, original.constants).computed(*inputs)
        ours = _module(type, tensors, constants).computed(*inputs)
    except Exception as error:  # onnx, ONNX Runtime and numpy raise classes of their own
        raise NotComputed(f"{reason}, and cannot be computed by itself ({type_name(error)})") from None
    is_same = node.op in RANDOM or all(
        a.shape == b.shape and is_alike(a, b)
        for a, b in zip(map(np.asarray, ours), map(np.asarray, theirs), strict=True)
    )
    if not is_same:
        raise NotComputed(f"{reason}, and is for {original.count} samples together")


def _signed(tensors: list[Tensor], sample: list[torch.Tensor]) -> list[torch.Tensor]:
    """Return samples of which the first has negative numbers, and the second larger ones: what depends on all of them
    gives something else for each."""
    factors = torch.tensor([-3.0, 2.0])
    return [
        x * factors.view(-1, *[1] * (x.dim() - 1)) if tensor.type.kind == "real" and not tensor.is_whole else x
        for tensor, x in zip(tensors, sample, strict=True)
    ]


def _keeps_apart(
    node: Node, module: OperatorModule, sample: list[torch.Tensor], results: list[list[np.ndarray]]
) -> bool:
    """Return whether each of two samples by itself gives what it gives beside the other. `results` are those for two
    and for three samples."""
    try:
        together = [np.asarray(result) for result in module.computed(*sample)]
        alone = [module.computed(*(x[at : at + 1] for x in sample)) for at in range(BATCH_SIZES[0])]
    except Exception:  # onnx, ONNX Runtime and numpy raise classes of their own
        return False
    for *ones, both, two, three in zip(*alone, together, results[0], results[1], strict=True):
        axis = batch_axis(two, three)
        assert axis is not None
        if any(result.shape != (*both.shape[:axis], 1, *both.shape[axis + 1 :]) for result in ones):
            return False
        if node.op not in RANDOM and not is_alike(np.concatenate(ones, axis), both):
            return False
    return True


def _kept(node: Node, type: OnnxOperator) -> list[str]:
    """Return the names of the results that are kept."""
    return [name for name, text in zip(node.outputs, type.results, strict=True) if text != OMITTED]


def _refuse_joined(
    node: Node, reason: str, type: OnnxOperator, module: OperatorModule, sample: list[torch.Tensor]
) -> None:
    """Refuse a result for one sample that has no dimension for it."""
    module.one_by_one = False
    shapes = [np.shape(value) for value in module.computed(*sample)]
    module.one_by_one = True
    for name, shape in zip(_kept(node, type), shapes, strict=True):
        if shape[:1] != (1,):
            raise NotLiftable(f"{reason}, and gives no result for each sample", leaving=[name])


def type_name(error: Exception) -> str:
    """Return the class and the first line of an error of another program; where memory ran out, that."""
    if is_out_of_memory(error):
        return "there is not enough memory for it"
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:160]}"


def _made_up(x: Tensor, batch: int, steps: int, generator: np.random.Generator) -> torch.Tensor:
    type = x.type
    shape = [batch, *(size if isinstance(size, int) else steps for size in type.sizes)]
    if type.kind == "index":
        return torch.from_numpy(generator.integers(0, 2, shape))
    if x.is_whole:
        return torch.from_numpy(generator.integers(1, 3, shape).astype(np.float32))
    values = torch.from_numpy(generator.uniform(0.1, 0.9, shape).astype(np.float32))
    return values.to(torch.complex64) if type.kind == "complex" else values


def batch_axis(two: np.ndarray, three: np.ndarray) -> int | None:
    """Return the dimension of a result that is the batch, from what it is for `BATCH_SIZES`; None where none is."""
    differing = [at for at, sizes in enumerate(zip(two.shape, three.shape, strict=False)) if sizes[0] != sizes[1]]
    if two.ndim != three.ndim or len(differing) != 1:
        return None
    (at,) = differing
    return at if (two.shape[at], three.shape[at]) == BATCH_SIZES else None
