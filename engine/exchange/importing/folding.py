"""Compute what is known before the network runs: constants, and the arithmetic with sizes that exporters leave.

Sizes that depend on the batch or on a length stay symbols (`sizes.py`). onnx's reference evaluator computes numbers;
`MOST_BYTES` bounds before what one node may make. The optimizer of onnxscript is no substitute: its limit on outputs
holds after a node was computed, so that a file of 1 KB takes all memory, and its symbols for sizes know neither
products nor quotients, which reshapes of batch and steps need.
"""

import math
import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import Constant, Node
from netwright.engine.exchange.importing.sizes import MOST_BYTES, simplified, symbolic
from netwright.engine.exchange.importing.values import Dim, Headed, Held, Known, NotLiftable, Sizes, Tensor, product

MOST_INPUTS_OF_REFERENCE = 10_000_000
"""Elements of the inputs of an operator that onnx's reference evaluator computes."""
ELEMENTWISE = (
    *("Add", "Sub", "Mul", "Div", "Equal", "Less", "Greater", "And", "Or", "Where", "Sqrt", "Neg", "Exp", "Log", "Abs"),
    *("Floor", "Ceil", "Reciprocal", "Not", "Identity", "Cast"),
)
PLAIN = (
    *ELEMENTWISE,
    *(
        "Gather",
        "Concat",
        "Unsqueeze",
        "Squeeze",
        "Slice",
        "Reshape",
        "Transpose",
        "ConstantOfShape",
        "Expand",
        "Range",
    ),
    *("MatMul", "DequantizeLinear"),
)
"""Operators that are one function of numpy, of tensors of any size: exporters turn weights with them."""
FIRST_VERSION = {"DequantizeLinear": 19}
"""Versions of operators before which the evaluator has none; whole numbers become real ones as before."""
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
    "If": "with a condition that is known, or follows from sizes: the branch that is taken comes in",
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
    if node.op == "CastLike" and (numbers := _cast_like(ctx, node)) is not None:
        return (numbers,)
    names = [name for name in node.inputs if name]
    if any(isinstance(ctx.values.get(name), Headed) for name in names):
        return None  # it comes from a layer, and need not be laid out for it
    values = [ctx.optional(node, index) for index, name in enumerate(node.inputs) if name]
    if any(isinstance(value, Tensor) for value in values) or (not names and node.op in RANDOM):
        return None
    if any(isinstance(value, Sizes) for value in values):
        sizes = symbolic(ctx, node)
        return None if sizes is None else (sizes,)
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


def _cast_like(ctx: Context, node: Node) -> Known | None:
    """Return known numbers in the number format of a tensor of the network, None where they or that are something
    else. torch's exporter writes the limits of a clipping and the bias of a convolution without one so."""
    numbers, like = (ctx.values.get(name, ctx.graph.constants.get(name)) for name in node.inputs)
    tensor = like.tensor if isinstance(like, Headed) else like
    if isinstance(numbers, Tensor | Headed) or not isinstance(tensor, Tensor) or tensor.type.kind == "complex":
        return None
    value, is_whole = ctx.held(node, 0), tensor.is_whole or tensor.type.kind == "index"
    if isinstance(value, np.ndarray):
        return value.astype(np.int64 if is_whole else np.float32) if value.dtype.kind in "fiub" else None
    return value if isinstance(value, Sizes) else None


def _shape(ctx: Context, node: Node) -> tuple[Held, ...] | None:
    headed = ctx.values.get(node.inputs[0])
    value = headed if isinstance(headed, Headed) else ctx.held(node, 0)
    sizes: tuple[Dim, ...] = value.sizes if isinstance(value, Tensor | Headed) else _sizes_of(value)
    if node.op == "Size":
        return (simplified(Sizes((product(sizes),), is_scalar=True)),)
    start, end = node.attributes.get("start", 0), node.attributes.get("end", len(sizes))
    return (simplified(Sizes(sizes[slice(start, end)])),)


def _sizes_of(value: Known) -> tuple[int, ...]:
    if isinstance(value, Sizes):
        return () if value.is_scalar else (len(value.items),)
    return value.shape


# ---- numbers ----


def _computed(ctx: Context, node: Node) -> tuple[Held, ...] | None:
    """Return the outputs of a node whose inputs are numbers."""
    arrays = [value if isinstance(value, np.ndarray) else None for value in _values(ctx, node)]
    shape = _grown_shape(node, arrays)
    if shape is not None and math.prod(shape) * 8 > MOST_BYTES:
        raise NotLiftable(f"would make {math.prod(shape):,} numbers")
    if node.op in GROWING and node.op not in PLAIN and shape is None:
        return None
    is_whole = len(arrays) == 2 and all(array is not None and array.dtype.kind in "iu" for array in arrays)
    if node.op == "Div" and is_whole and not np.all(arrays[1]):
        raise NotLiftable("has inputs that do not fit (it divides by zero)")
    try:
        return _by_reference(ctx, node, arrays)
    except Exception as error:  # the evaluator raises what it likes, for operators that it does not know too
        if node.op in PLAIN:
            raise NotLiftable(f"has inputs that do not fit ({error})") from None
        return None


def _values(ctx: Context, node: Node) -> list[Held | None]:
    return [ctx.optional(node, index) for index in range(len(node.inputs))]


def _grown_shape(node: Node, arrays: Sequence[np.ndarray | None]) -> Sequence[int] | None:
    """Return the shape of the output of an operator that may make much of little, or None."""
    operands = [operand for operand in arrays if operand is not None]
    match node.op:
        case "ConstantOfShape":
            return [int(size) for size in operands[0].reshape(-1)]
        case "Expand" if len(operands) > 1:
            shape = [int(size) for size in operands[1].reshape(-1)]
            padded = [1] * (len(shape) - operands[0].ndim) + list(operands[0].shape)
            return [max(a, b) for a, b in zip(padded, shape[-len(padded) :] or [1], strict=False)]
        case "Tile" if len(operands) > 1:
            return [
                int(size) * int(times) for size, times in zip(operands[0].shape, operands[1].reshape(-1), strict=False)
            ]
        case "Range" if len(operands) == 3 and operands[2]:
            return [max(0, math.ceil((float(operands[1]) - float(operands[0])) / float(operands[2])))]
        case "EyeLike":
            return operands[0].shape
        case "Concat":
            return [sum(operand.size for operand in operands)]
        case "OneHot" if len(operands) > 1:
            return [*operands[0].shape, int(np.max(operands[1]))]
        case "Pad" if len(operands) > 1 and operands[1].dtype.kind == "i":
            half = operands[1].size // 2
            return [
                s + int(b) + int(e)
                for s, b, e in zip(operands[0].shape, operands[1][:half], operands[1][half:], strict=False)
            ]
        case "MatMul" | "Gemm" | "Einsum":
            return (
                [operand.size for operand in operands[:2]]
                if max(operand.size for operand in operands) > 2**22
                else None
            )
        case "Gather" if len(operands) > 1:
            return [operands[1].size, operands[0].size // max(1, operands[0].shape[0] if operands[0].ndim else 1)]
    if node.op in ELEMENTWISE and len(operands) > 1:
        try:
            return np.broadcast_shapes(*(operand.shape for operand in operands))
        except ValueError:
            raise NotLiftable("has inputs whose sizes do not fit") from None
    return None


def _by_reference(ctx: Context, node: Node, arrays: Sequence[np.ndarray | None]) -> tuple[Held, ...] | None:
    """Return the outputs as onnx's reference evaluator computes them; None for inputs that would take it long, or
    outputs that are no arrays."""
    is_large = sum(array.size for array in arrays if array is not None) > MOST_INPUTS_OF_REFERENCE
    if is_large and node.op not in PLAIN:
        return None
    from onnx import ValueInfoProto, helper
    from onnx.reference import ReferenceEvaluator

    if node.raw is not None:
        proto = helper.make_node(node.op, node.inputs, node.outputs)
        proto.attribute.extend(node.raw.attribute)
    else:
        proto = helper.make_node(node.op, node.inputs, node.outputs, **node.attributes)
    inputs, outputs = (
        [ValueInfoProto(name=name) for name in dict.fromkeys(names) if name] for names in (node.inputs, node.outputs)
    )
    version = max(ctx.opset, FIRST_VERSION.get(node.op, 1))
    graph = helper.make_graph([proto], "one", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        feeds = {name: array for name, array in zip(node.inputs, arrays, strict=True) if name}
        results = iter(ReferenceEvaluator(model).run(None, feeds))
    values = [next(results) if name else np.zeros(0) for name in node.outputs]
    if not all(isinstance(value, np.ndarray | np.generic) for value in values):
        return None
    return tuple(map(np.asarray, values))
