"""Compute what is known before the network runs: constants, and the arithmetic with sizes that exporters leave.

Sizes that depend on the batch or on a length stay symbols (`Free`), so that Shape, Gather, Concat, Reshape of a free
batch vanish too. What is computed is bounded: a node that would make more than `MOST_BYTES` is not.
"""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from engine.exchange.importing.context import Context
from engine.exchange.importing.graph import Constant, Node
from engine.exchange.importing.heads import Headed
from engine.exchange.importing.values import Dim, Free, Held, Known, NotLiftable, Sizes, Tensor, divided, product

MOST_BYTES = 2**31
MOST_INPUTS_OF_REFERENCE = 10_000_000
"""Elements of the inputs of an operator that onnx's reference evaluator computes."""
LONGEST_SHAPE = 64
RANDOM = ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli")
GROWING = (
    "Loop",
    "Scan",
    "If",
    "SequenceMap",
    "Range",
    "EyeLike",
    "Resize",
    "Upsample",
    "NonMaxSuppression",
    "Pad",
    "DFT",
)
"""Operators whose output may be far larger than their inputs."""
FOLDED: Mapping[str, str] = {
    "Constant": "the number itself",
    "ConstantOfShape": "",
    "Shape": "sizes that are known only when the network runs stay symbols",
    "Size": "",
    "Range": "with known ends",
    "EyeLike": "of known numbers",
    "HannWindow": "",
    "HammingWindow": "",
    "BlackmanWindow": "",
    "MelWeightMatrix": "",
}
"""Operators that are always computed at the import, with limits in words, for the table in docs/onnx.md."""


def fold(ctx: Context, node: Node) -> tuple[Held, ...] | None:
    """Return the values of a node that can be computed now, None for one that needs the network."""
    if node.domain:
        return None
    if node.op == "Constant":
        return (_constant(node),)
    if node.op in ("Shape", "Size"):
        return _shape(ctx, node)
    names = [name for name in node.inputs if name]
    held = [ctx.optional(node, index) for index, name in enumerate(node.inputs) if name]
    if any(isinstance(one, Tensor) for one in held) or (not names and node.op in RANDOM):
        return None
    if any(isinstance(one, Sizes) for one in held):
        found = _symbolic(ctx, node)
        return None if found is None else (found,)
    if node.op in RANDOM:
        return None
    return _computed(ctx, node)


def _constant(node: Node) -> np.ndarray:
    for name, value in node.attributes.items():
        if name == "value" and isinstance(value, Constant):
            return value.array()
        if name in ("value_float", "value_floats"):
            return np.asarray(value, np.float32)
        if name in ("value_int", "value_ints"):
            return np.asarray(value, np.int64)
        if name in ("value_string", "value_strings"):
            return np.asarray(value, object)
    raise NotLiftable("holds no numbers that are read")


def _shape(ctx: Context, node: Node) -> tuple[Held, ...] | None:
    given = ctx.values.get(node.inputs[0])
    value = given if isinstance(given, Headed) else ctx.held(node, 0)
    sizes: tuple[Dim, ...] = value.sizes if isinstance(value, Tensor | Headed) else _sizes_of(value)
    if node.op == "Size":
        return (_simplified(Sizes((product(sizes),), is_scalar=True)),)
    start, end = node.attributes.get("start", 0), node.attributes.get("end", len(sizes))
    return (_simplified(Sizes(sizes[slice(start, end)])),)


def _sizes_of(value: Known) -> tuple[int, ...]:
    if isinstance(value, Sizes):
        return () if value.is_scalar else (len(value.items),)
    return value.shape


def _simplified(value: Sizes) -> Held:
    """Return an array where all sizes are known."""
    if any(isinstance(item, Free) for item in value.items):
        return value
    numbers = np.asarray(value.items, np.int64)
    return numbers.reshape(()) if value.is_scalar else numbers


# ---- sizes with symbols ----


def as_sizes(value: Held | None) -> Sizes | None:
    """Return whole numbers of at most one dimension as sizes, None for anything else."""
    if isinstance(value, Sizes):
        return value
    if not isinstance(value, np.ndarray) or value.ndim > 1 or value.size > LONGEST_SHAPE:
        return None
    if value.dtype.kind in "iub" or (value.dtype.kind == "f" and np.all(value == np.round(value))):
        return Sizes(tuple(int(one) for one in value.reshape(-1)), is_scalar=value.ndim == 0)
    return None


def _symbolic(ctx: Context, node: Node) -> Held | None:
    if node.op == "ConstantOfShape":
        return _filled(ctx, node)
    given = [as_sizes(ctx.optional(node, index)) for index in range(len(node.inputs))]
    rule = SYMBOLIC.get(node.op)
    if rule is None:
        return None
    found = rule(ctx, node, given)
    return None if found is None else _simplified(found)


Given = Sequence[Sizes | None]


def _same(ctx: Context, node: Node, given: Given) -> Sizes | None:
    return given[0]


def _gather(ctx: Context, node: Node, given: Given) -> Sizes | None:
    data, at = given[0], given[1]
    if data is None or at is None or data.is_scalar:
        return None
    places = [item for item in at.items if isinstance(item, int)]
    if len(places) != len(at.items) or any(not -len(data.items) <= place < len(data.items) for place in places):
        return None
    return Sizes(tuple(data.items[place] for place in places), is_scalar=at.is_scalar)


def _concat(ctx: Context, node: Node, given: Given) -> Sizes | None:
    if any(one is None or one.is_scalar for one in given):
        return None
    items = tuple(item for one in given if one is not None for item in one.items)
    return Sizes(items) if len(items) <= LONGEST_SHAPE else None


def _unsqueeze(ctx: Context, node: Node, given: Given) -> Sizes | None:
    return Sizes(given[0].items) if given[0] is not None and given[0].is_scalar else None


def _squeeze(ctx: Context, node: Node, given: Given) -> Sizes | None:
    data = given[0]
    return Sizes(data.items, is_scalar=True) if data is not None and len(data.items) == 1 else None


def _slice(ctx: Context, node: Node, given: Given) -> Sizes | None:
    data = given[0]
    starts, ends = ctx.ints(node, 1, "starts"), ctx.ints(node, 2, "ends")
    steps = ctx.ints(node, 4, "steps") or [1]
    if data is None or data.is_scalar or not starts or not ends or len(starts) != 1 or not steps[0]:
        return None
    return Sizes(data.items[slice(starts[0], _python_end(ends[0], steps[0]), steps[0])])


def _python_end(end: int, step: int) -> int | None:
    return None if step < 0 and end < -(2**31) else end


def _reshape(ctx: Context, node: Node, given: Given) -> Sizes | None:
    data, shape = given[0], given[1]
    if data is None or shape is None or len(shape.items) > 1:
        return None
    return Sizes(data.items, is_scalar=not shape.items)


def _elementwise(rule: Callable[[Dim, Dim], Dim | None]) -> Callable[[Context, Node, Given], Sizes | None]:
    def compute(ctx: Context, node: Node, given: Given) -> Sizes | None:
        a, b = given[0], given[1]
        if a is None or b is None or (len(a.items) != len(b.items) and 1 not in (len(a.items), len(b.items))):
            return None
        length = max(len(a.items), len(b.items))
        left, right = ((one.items * length)[:length] for one in (a, b))
        found = [rule(x, y) for x, y in zip(left, right, strict=True)]
        if any(one is None for one in found):
            return None
        return Sizes(tuple(one for one in found if one is not None), is_scalar=a.is_scalar and b.is_scalar)

    return compute


def _plus(sign: int) -> Callable[[Dim, Dim], Dim | None]:
    def rule(a: Dim, b: Dim) -> Dim | None:
        if isinstance(a, int) and isinstance(b, int):
            return a + sign * b
        if b == 0:
            return a
        if isinstance(a, Free) and isinstance(b, Free) and a.names == b.names and (f := a.factor + sign * b.factor):
            return Free(a.names, f)
        return 0 if a == b and sign < 0 else a if a == 0 and sign > 0 else None

    return rule


def _equal(a: Dim, b: Dim) -> Dim | None:
    """Compare sizes: a free one is never -1 or 0, and otherwise not known."""
    if isinstance(a, int) and isinstance(b, int):
        return int(a == b)
    other = b if isinstance(a, Free) else a
    return 1 if a == b else 0 if isinstance(other, int) and other <= 0 else None


def _where(ctx: Context, node: Node, given: Given) -> Sizes | None:
    condition, a, b = given
    if condition is None or a is None or b is None or any(isinstance(one, Free) for one in condition.items):
        return None
    length = max(len(one.items) for one in (condition, a, b))
    if any(len(one.items) not in (1, length) for one in (condition, a, b)):
        return None
    rows = zip(*((one.items * length)[:length] for one in (condition, a, b)), strict=True)
    return Sizes(tuple(x if c else y for c, x, y in rows), is_scalar=all(one.is_scalar for one in (condition, a, b)))


def _reduce_product(ctx: Context, node: Node, given: Given) -> Sizes | None:
    data = given[0]
    if data is None:
        return None
    return Sizes((product(data.items),), is_scalar=not node.attributes.get("keepdims", 1))


def _divide(a: Dim, b: Dim) -> Dim | None:
    if isinstance(a, int) and isinstance(b, int):
        return int(a / b) if b else None
    return divided(a, b)


def _filled(ctx: Context, node: Node) -> np.ndarray | None:
    """Return equal numbers of sizes that depend on the batch: 1 there, for everything that takes them broadcasts."""
    sizes = as_sizes(ctx.optional(node, 0))
    if sizes is None:
        return None
    known = [1 if isinstance(item, Free) else item for item in sizes.items]
    if any(size < 0 for size in known) or math.prod(known) * 8 > MOST_BYTES:
        raise NotLiftable(f"would make {math.prod(known):,} numbers")
    value = node.attributes.get("value")
    return np.full(known, value.array().reshape(-1)[0] if isinstance(value, Constant) else np.float32(0))


SYMBOLIC: Mapping[str, Callable[[Context, Node, Given], Sizes | None]] = {
    "Cast": _same,
    "Identity": _same,
    "Floor": _same,
    "Ceil": _same,
    "Gather": _gather,
    "Concat": _concat,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Slice": _slice,
    "Reshape": _reshape,
    "Mul": _elementwise(lambda a, b: product((a, b))),
    "Div": _elementwise(_divide),
    "Add": _elementwise(_plus(1)),
    "Sub": _elementwise(_plus(-1)),
    "Equal": _elementwise(_equal),
    "Where": _where,
    "ReduceProd": _reduce_product,
}


# ---- numbers ----


def _computed(ctx: Context, node: Node) -> tuple[Held, ...] | None:
    """Return the outputs of a node whose inputs are numbers."""
    arrays = [value if isinstance(value, np.ndarray) else None for value in _values(ctx, node)]
    shape = _grown_shape(node, arrays)
    if shape is not None and math.prod(shape) * 8 > MOST_BYTES:
        raise NotLiftable(f"would make {math.prod(shape):,} numbers")
    quick = NUMPY.get(node.op)
    if quick is not None:
        with np.errstate(all="ignore"):
            try:
                found = quick(node, arrays)
            except (ValueError, TypeError, IndexError, AttributeError) as error:
                raise NotLiftable(f"has inputs that do not fit ({error})") from None
        if found is not None:
            return (np.asarray(found),)
    if node.op in GROWING and shape is None:
        return None
    return _by_reference(ctx, node, arrays)


def _values(ctx: Context, node: Node) -> list[Held | None]:
    return [ctx.optional(node, index) for index in range(len(node.inputs))]


def _grown_shape(node: Node, arrays: Sequence[np.ndarray | None]) -> Sequence[int] | None:
    """Return the shape of the output of an operator that may make much of little, or None."""
    given = [one for one in arrays if one is not None]
    match node.op:
        case "ConstantOfShape":
            return [int(one) for one in given[0].reshape(-1)]
        case "Expand" if len(given) > 1:
            shape = [int(one) for one in given[1].reshape(-1)]
            padded = [1] * (len(shape) - given[0].ndim) + list(given[0].shape)
            return [max(a, b) for a, b in zip(padded, shape[-len(padded) :] or [1], strict=False)]
        case "Tile" if len(given) > 1:
            return [int(size) * int(times) for size, times in zip(given[0].shape, given[1].reshape(-1), strict=False)]
        case "Range" if len(given) == 3 and given[2]:
            return [max(0, math.ceil((float(given[1]) - float(given[0])) / float(given[2])))]
        case "EyeLike":
            return given[0].shape
        case "OneHot" if len(given) > 1:
            return [*given[0].shape, int(np.max(given[1]))]
        case "Pad" if len(given) > 1 and given[1].dtype.kind == "i":
            half = given[1].size // 2
            return [
                s + int(b) + int(e) for s, b, e in zip(given[0].shape, given[1][:half], given[1][half:], strict=False)
            ]
        case "MatMul" | "Gemm" | "Einsum":
            return [one.size for one in given[:2]] if max(one.size for one in given) > 2**22 else None
        case "Gather" if len(given) > 1:
            return [given[1].size, given[0].size // max(1, given[0].shape[0] if given[0].ndim else 1)]
    if node.op in ELEMENTWISE and len(given) > 1:
        try:
            return np.broadcast_shapes(*(one.shape for one in given))
        except ValueError:
            raise NotLiftable("has inputs whose sizes do not fit") from None
    return None


def _by_reference(ctx: Context, node: Node, arrays: Sequence[np.ndarray | None]) -> tuple[Held, ...] | None:
    """Return the outputs as onnx's reference evaluator computes them; None for an operator that it does not know."""
    if node.raw is None or sum(one.size for one in arrays if one is not None) > MOST_INPUTS_OF_REFERENCE:
        return None
    import onnx
    from onnx.reference import ReferenceEvaluator

    names = [name for name in dict.fromkeys(node.inputs) if name]
    try:
        graph = onnx.helper.make_graph(
            [node.raw],
            "one",
            [onnx.ValueInfoProto(name=name) for name in names],
            [onnx.ValueInfoProto(name=name) for name in node.outputs if name],
        )
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", ctx.opset)])
        feeds = {name: array for name, array in zip(node.inputs, arrays, strict=True) if name}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = iter(ReferenceEvaluator(model).run(None, feeds))
    except Exception:  # the evaluator raises what it likes, for operators that it does not know too
        return None
    found = [next(results) if name else np.zeros(0) for name in node.outputs]
    return (
        tuple(np.asarray(one) for one in found)
        if all(isinstance(one, np.ndarray | np.generic) for one in found)
        else None
    )


Arrays = Sequence[np.ndarray | None]


def _a(arrays: Arrays, index: int) -> np.ndarray:
    array = arrays[index]
    if array is None:
        raise ValueError("an input is left out")
    return array


def _axes(node: Node, arrays: Arrays) -> tuple[int, ...] | None:
    if "axes" in node.attributes:
        return tuple(node.attributes["axes"])
    return tuple(int(one) for one in _a(arrays, 1).reshape(-1)) if len(arrays) > 1 and arrays[1] is not None else None


def _cast(node: Node, arrays: Arrays) -> np.ndarray | None:
    from onnx import helper

    try:
        to = np.dtype(helper.tensor_dtype_to_np_dtype(node.attributes["to"]))
    except (KeyError, ValueError):
        return None
    return (
        _a(arrays, 0).astype(to)
        if to.kind in "fiub" and to.itemsize <= 8 and _a(arrays, 0).dtype.kind in "fiub"
        else None
    )


def _constant_of_shape(node: Node, arrays: Arrays) -> np.ndarray:
    value = node.attributes.get("value")
    filled = value.array().reshape(-1)[0] if isinstance(value, Constant) else np.float32(0)
    return np.full(tuple(int(one) for one in _a(arrays, 0).reshape(-1)), filled)


def _sliced(node: Node, arrays: Arrays) -> np.ndarray:
    data = _a(arrays, 0)

    def given(index: int, name: str) -> list[int] | None:
        if name in node.attributes:
            return [int(one) for one in node.attributes[name]]
        array = arrays[index] if index < len(arrays) else None
        return None if array is None else [int(one) for one in array.reshape(-1)]

    starts, ends = given(1, "starts") or [], given(2, "ends") or []
    axes, steps = given(3, "axes") or list(range(len(starts))), given(4, "steps") or [1] * len(starts)
    cut = [slice(None)] * data.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        cut[axis] = slice(start, _python_end(end, step), step)
    return data[tuple(cut)]


def _unsqueezed(node: Node, arrays: Arrays) -> np.ndarray:
    axes = _axes(node, arrays)
    return np.expand_dims(_a(arrays, 0), axes if axes is not None else ())


def _squeezed(node: Node, arrays: Arrays) -> np.ndarray:
    return np.squeeze(_a(arrays, 0), _axes(node, arrays))


def _reshaped(node: Node, arrays: Arrays) -> np.ndarray:
    data, shape = _a(arrays, 0), [int(one) for one in _a(arrays, 1).reshape(-1)]
    if not node.attributes.get("allowzero"):
        shape = [data.shape[at] if size == 0 and at < data.ndim else size for at, size in enumerate(shape)]
    return data.reshape(shape)


def _divided(node: Node, arrays: Arrays) -> Any:
    a, b = _a(arrays, 0), _a(arrays, 1)
    if a.dtype.kind in "iu" and not np.all(b):
        raise ValueError("it divides by zero")
    return (np.trunc(a / b)).astype(a.dtype) if a.dtype.kind in "iu" else a / b


def _expanded(node: Node, arrays: Arrays) -> np.ndarray:
    data, shape = _a(arrays, 0), tuple(int(one) for one in _a(arrays, 1).reshape(-1))
    return np.broadcast_to(data, np.broadcast_shapes(data.shape, shape))


def _concatenated(node: Node, arrays: Arrays) -> np.ndarray:
    return np.concatenate([_a(arrays, index) for index in range(len(arrays))], node.attributes.get("axis", 0))


def _ranged(node: Node, arrays: Arrays) -> np.ndarray:
    start, end, step = (_a(arrays, index).reshape(()).item() for index in range(3))
    return np.arange(start, end, step, dtype=_a(arrays, 0).dtype)


def _dequantised(node: Node, arrays: Arrays) -> np.ndarray | None:
    """Return scale · (x - zero point), with one scale, or one along an axis; None for scales of blocks."""
    x, scale = _a(arrays, 0), _a(arrays, 1)
    zero = arrays[2] if len(arrays) > 2 else None
    if x.dtype.kind not in "iu" or scale.ndim > 1 or node.attributes.get("block_size", 0):
        return None
    shape = [1] * x.ndim
    if scale.size > 1:
        shape[node.attributes.get("axis", 1)] = scale.size
    whole = x.astype(np.float32) - (0 if zero is None else zero.astype(np.float32).reshape(shape))
    return np.asarray(whole * (scale.reshape(shape) if x.ndim else scale.reshape(())))


Rule = Callable[[Node, Arrays], Any]


def _of_two(function: Callable[..., Any]) -> Rule:
    return lambda node, arrays: function(_a(arrays, 0), _a(arrays, 1))


def _of_one(function: Callable[..., Any]) -> Rule:
    return lambda node, arrays: function(_a(arrays, 0)).astype(_a(arrays, 0).dtype)


ELEMENTWISE: Mapping[str, Rule] = {
    "Add": _of_two(np.add),
    "Sub": _of_two(np.subtract),
    "Mul": _of_two(np.multiply),
    "Div": _divided,
    "Equal": _of_two(np.equal),
    "Less": _of_two(np.less),
    "Greater": _of_two(np.greater),
    "And": _of_two(np.logical_and),
    "Or": _of_two(np.logical_or),
    "Where": lambda node, arrays: np.where(_a(arrays, 0), _a(arrays, 1), _a(arrays, 2)),
    "Sqrt": _of_one(np.sqrt),
    "Neg": _of_one(np.negative),
    "Exp": _of_one(np.exp),
    "Log": _of_one(np.log),
    "Abs": _of_one(np.abs),
    "Floor": _of_one(np.floor),
    "Ceil": _of_one(np.ceil),
    "Reciprocal": lambda node, arrays: (1 / _a(arrays, 0)).astype(_a(arrays, 0).dtype),
    "Not": lambda node, arrays: np.logical_not(_a(arrays, 0)),
    "Identity": lambda node, arrays: _a(arrays, 0),
    "Cast": _cast,
}
NUMPY: Mapping[str, Rule] = {
    **ELEMENTWISE,
    "Gather": lambda node, arrays: np.take(_a(arrays, 0), _a(arrays, 1), axis=node.attributes.get("axis", 0)),
    "Concat": _concatenated,
    "Unsqueeze": _unsqueezed,
    "Squeeze": _squeezed,
    "Slice": _sliced,
    "Reshape": _reshaped,
    "Transpose": lambda node, arrays: np.transpose(_a(arrays, 0), node.attributes.get("perm")),
    "ConstantOfShape": _constant_of_shape,
    "Expand": _expanded,
    "Range": _ranged,
    "MatMul": _of_two(np.matmul),
    "DequantizeLinear": _dequantised,
}
