"""Operators of ONNX on known numbers, computed by numpy: those that exporters leave most often.

onnx's reference evaluator computes the others; a call of it takes some hundred times as long.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from netwright.engine.exchange.importing.graph import Constant, Node
from netwright.engine.exchange.importing.sizes import python_end

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
        cut[axis] = slice(start, python_end(end, step), step)
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
