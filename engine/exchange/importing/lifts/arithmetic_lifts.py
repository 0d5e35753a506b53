"""Arithmetic of two tensors, or of a tensor and known numbers."""

from collections.abc import Callable, Sequence

import numpy as np

from netwright.engine.core.types import LAYOUTS, NAMES
from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import OWN_DOMAIN, Node
from netwright.engine.exchange.importing.lifts.lift_registry import lift
from netwright.engine.exchange.importing.values import (
    BATCH,
    ONE,
    NotLiftable,
    Tensor,
    apart,
    epsilon_of,
    joined_with_batch,
    together,
)
from netwright.engine.layers import combination
from netwright.engine.layers.arithmetic import LearnedParameter, LearnedScale, MathFunction, Power, Scaling
from netwright.engine.layers.base import LayerType

KINDS: dict[str, type[LayerType]] = {
    "Add": combination.Addition,
    "Sub": combination.Subtraction,
    "Mul": combination.Multiplication,
    "Div": combination.Division,
    "Sum": combination.Addition,
    "Max": combination.Maximum,
    "Min": combination.Minimum,
    "Mean": combination.Average,
}
LARGEST = 1e12
"""Limit of the numbers in the fields of a scaling."""
LEAST = float(np.finfo(np.float32).tiny)
"""Base of a power that is not whole where a smaller one, or none above 0, comes in."""


@lift(
    "Add",
    "Sub",
    "Mul",
    "Div",
    becomes=("addition", "subtraction", "multiplication", "division", "scaling", "learned_scale"),
)
def binary(ctx: Context, node: Node) -> Tensor:
    """Known numbers become a scaling, one number per channel a learned scale, others a learned parameter."""
    a, b = ctx.held(node, 0), ctx.held(node, 1)
    if node.op == "Div" and any(isinstance(operand, Tensor) and operand.is_whole for operand in (a, b)):
        raise NotLiftable("divides whole numbers without a remainder")
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return combined(ctx, node, KINDS[node.op](), a, b)
    if isinstance(a, Tensor):
        return _with_numbers(ctx, node, a, ctx.numbers(node, 1), is_second=True)
    if isinstance(b, Tensor):
        return _with_numbers(ctx, node, b, ctx.numbers(node, 0), is_second=False)
    raise NotLiftable("takes no tensor")


def _with_numbers(ctx: Context, node: Node, x: Tensor, numbers: np.ndarray, *, is_second: bool) -> Tensor:
    """Return x + numbers, x - numbers, numbers - x and so on. The numbers are 64-bit in between, for 1 / x."""
    if x.type.kind != "real":
        raise NotLiftable("computes with indices")
    if node.op == "Div" and not is_second:
        inverse = ctx.add(node, Power(exponent=-1.0), x, name="inverse")
        return affine(ctx, node, inverse, numbers, None)
    if node.op in ("Mul", "Div"):
        with np.errstate(divide="ignore"):
            factor = numbers if node.op == "Mul" else (1.0 / numbers.astype(np.float64)).astype(np.float32)
        if not np.isfinite(factor).all():
            raise NotLiftable("divides by zero")
        return affine(ctx, node, x, factor, None)
    if node.op == "Sub" and not is_second:
        return affine(ctx, node, x, np.asarray(-1.0, np.float32), numbers)
    return affine(ctx, node, x, None, numbers if node.op == "Add" else -numbers)


def affine(ctx: Context, node: Node, x: Tensor, factor: np.ndarray | None, shift: np.ndarray | None) -> Tensor:
    """Return factor · x + shift, with numbers that broadcast to x."""
    factor, shift = (None if numbers is None else _for_all(ctx, numbers, x) for numbers in (factor, shift))
    operands = [numbers for numbers in (factor, shift) if numbers is not None]
    count = joined_with_batch(x)
    if count and not any(np.ndim(numbers) > x.rank for numbers in operands):
        factor, shift = (_apart_numbers(numbers, x, count) for numbers in (factor, shift))
        return together(affine(ctx, node, apart(x), factor, shift), count)
    x = expanded(ctx, node, x, max(np.ndim(numbers) for numbers in operands))
    x = _widened(ctx, node, x, operands)
    shapes = [(1,) * (x.rank - np.ndim(numbers)) + np.shape(numbers) for numbers in operands]
    if all(np.size(numbers) == 1 for numbers in operands):
        values = [
            1.0 if factor is None else float(np.reshape(factor, ())),
            0.0 if shift is None else float(np.reshape(shift, ())),
        ]
        if all(abs(value) <= LARGEST for value in values):
            if values == [1.0, 0.0]:
                return x
            type = ctx.make(Scaling, scale=_short(values[0]), shift=_short(values[1]))
            return ctx.add(node, type, x)
    if all(size == 1 or x.dims[dim] == "C" for shape in shapes for dim, size in enumerate(shape)) and x.type.has("C"):
        channels = x.type.channels
        sizes = {int(size) for shape in shapes for size in shape} - {1}
        if not sizes - {channels}:
            weight, bias = (
                np.broadcast_to(np.reshape(default if numbers is None else numbers, -1), (channels,)).astype(np.float32)
                for numbers, default in ((factor, np.ones(1)), (shift, np.zeros(1)))
            )
            type = LearnedScale(bias=shift is not None)
            return ctx.add(node, type, x, weights={"weight": weight} | ({"bias": bias} if shift is not None else {}))
    for numbers, kind, name in ((factor, combination.Multiplication, "factor"), (shift, combination.Addition, "shift")):
        if numbers is not None:
            x = combined(ctx, node, kind(), x, parameter(ctx, node, numbers, x, name))
    return x


def _widened(ctx: Context, node: Node, x: Tensor, operands: Sequence[np.ndarray]) -> Tensor:
    """Return the tensor with an axis for each dimension of size 1 that known numbers broadcast to more, such as the
    frequencies of a time."""
    wide = {
        x.rank - np.ndim(numbers) + at for numbers in operands for at, size in enumerate(np.shape(numbers)) if size != 1
    }
    real = [at for at, dim in enumerate(x.dims) if dim not in (BATCH, ONE) or at in wide]
    layout = next((axes for axes in LAYOUTS.values() if len(axes) == len(real)), None)
    if layout is None or all(x.dims[at] != ONE for at in wide):
        return x
    names = dict(zip(real, layout, strict=True))
    return ctx.relayout(node, x, [names.get(at, dim) for at, dim in enumerate(x.dims)])


def _for_all(ctx: Context, numbers: np.ndarray, like: Tensor) -> np.ndarray:
    """Return known numbers with one for all samples, where they are equal for each of a fixed number."""
    batch = next((at for at, dim in enumerate(like.dims) if dim == BATCH), -1)
    return ctx.for_all(numbers, batch - like.rank + np.ndim(numbers)) if batch >= 0 else numbers


def _apart_numbers(numbers: np.ndarray | None, x: Tensor, count: int) -> np.ndarray | None:
    """Return numbers for a tensor whose first dimension joins others with the batch, for them apart."""
    if numbers is None or np.ndim(numbers) < x.rank:
        return numbers
    if numbers.shape[0] != 1:
        raise NotLiftable("takes known numbers that differ between the samples")
    return numbers.reshape((*(1,) * count, *numbers.shape))


def _short(value: float) -> float:
    """Return the shortest decimal that is the same number in single precision."""
    return epsilon_of(value) if np.isfinite(np.float32(value)) else value


def parameter(ctx: Context, node: Node, numbers: np.ndarray, like: Tensor, name: str) -> Tensor:
    """Return known numbers as a layer, with the dimensions of another tensor to which they broadcast."""
    numbers = _for_all(ctx, numbers, like)
    if count := joined_with_batch(like):
        apart_numbers = _apart_numbers(numbers, like, count)
        assert apart_numbers is not None
        return together(parameter(ctx, node, apart_numbers, apart(like), name), count)
    shape = (1,) * (like.rank - numbers.ndim) + numbers.shape
    batch = like.dims.index(BATCH) if BATCH in like.dims else -1
    if batch < 0 or shape[batch] != 1 or numbers.dtype.kind not in "fiub":
        raise NotLiftable("takes known numbers that differ between the samples")
    sizes = {dim: shape[at] for at, dim in enumerate(like.dims) if dim not in (BATCH, ONE)}
    extra = [at for at, dim in enumerate(like.dims) if dim == ONE and shape[at] != 1]
    axes = like.type.axes
    if extra or axes not in NAMES or axes == ("T",):
        raise NotLiftable("takes known numbers of more dimensions")
    order = [like.dims.index(axis) for axis in axes]
    array = np.transpose(numbers.reshape(shape), [*order, *(at for at in range(like.rank) if at not in order)])
    type = ctx.make(LearnedParameter, layout=NAMES[axes], sizes=tuple(sizes[axis] for axis in axes))
    weights = {"weight": array.reshape([sizes[axis] for axis in axes]).astype(np.float32)}
    return ctx.add(node, type, like, weights=weights, dims=like.dims, name=name)


def operands(ctx: Context, node: Node, prepare: Callable[[np.ndarray], np.ndarray] = np.asarray) -> list[Tensor]:
    """Return all inputs as tensors; known numbers, first changed by `prepare`, as a layer. Raises `NotLiftable` where
    all are known."""
    values = [ctx.held(node, index) for index in range(len(node.inputs))]
    tensors = [value for value in values if isinstance(value, Tensor)]
    if not tensors:
        raise NotLiftable("takes no tensor")
    like = max(tensors, key=lambda tensor: tensor.type.rank)
    return [
        value if isinstance(value, Tensor) else parameter(ctx, node, prepare(ctx.numbers(node, at)), like, "numbers")
        for at, value in enumerate(values)
    ]


def expanded(ctx: Context, node: Node, x: Tensor, rank: int) -> Tensor:
    """Return the tensor with dimensions of size 1 in front, up to a rank."""
    if rank <= x.rank:
        return x
    if x.dims[0] == BATCH:
        raise NotLiftable("broadcasts the batch against another dimension")
    return x.viewed((*(ONE,) * (rank - x.rank), *x.dims))


def combined(ctx: Context, node: Node, type: LayerType, *inputs: Tensor) -> Tensor:
    """Return a layer that computes element by element from tensors that broadcast to each other."""
    if count := joined_with_batch(*inputs):
        return together(ctx.add(node, type, *aligned(ctx, node, [apart(x) for x in inputs])), count)
    return ctx.add(node, type, *aligned(ctx, node, inputs))


def aligned(ctx: Context, node: Node, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Return the tensors with the same axes, so that they broadcast to each other as the file says."""
    rank = max(x.rank for x in inputs)
    inputs = [expanded(ctx, node, x, rank) for x in inputs]
    first = max(inputs, key=lambda x: (x.type.rank, sum(isinstance(s, int) and s > 1 for s in x.sizes)))
    if all(x.dims == first.dims and x.type.axes == first.type.axes for x in inputs):
        return list(inputs)
    want = list(first.dims)
    if any(want[at] == ONE and x.dims[at] != ONE for x in inputs for at in range(rank)):
        want = _union(inputs, rank)
    return [ctx.relayout(node, x, tuple(want)) for x in inputs]


def _union(inputs: Sequence[Tensor], rank: int) -> list[str]:
    """Return names for all dimensions that any of the tensors has, in the order of a layout."""
    real = [at for at in range(rank) if any(x.dims[at] not in (ONE, BATCH) for x in inputs)]
    batch = next(at for at in range(rank) if any(x.dims[at] == BATCH for x in inputs))
    layout = next((axes for axes in LAYOUTS.values() if len(axes) == len(real)), None)
    if layout is None:
        raise NotLiftable(f"combines {len(real)} dimensions")
    want = [ONE] * rank
    want[batch] = BATCH
    for at, axis in zip(real, layout, strict=True):
        want[at] = axis
    return want


@lift("Sum", "Max", "Min", "Mean", becomes=("addition", "maximum", "minimum", "average"))
def several(ctx: Context, node: Node) -> Tensor:
    """Element by element, of any number of tensors."""
    inputs = operands(ctx, node)
    if len(inputs) == 1:
        return inputs[0]
    return combined(ctx, node, ctx.make(KINDS[node.op], inputs=len(inputs)), *inputs)


@lift("Pow", becomes=("power",), note="with one known exponent, of positive numbers where it is no whole number")
def power(ctx: Context, node: Node) -> Tensor:
    """x to a known power."""
    exponent = ctx.numbers(node, 1)
    if exponent.size != 1:
        raise NotLiftable("has several exponents")
    x, number = ctx.tensor(node, 0), float(exponent.reshape(()))
    if number == 1.0:
        return x
    if number == 0.5:
        return ctx.add(node, MathFunction(function="sqrt"), x)
    limit = {} if _short(number).is_integer() else {"epsilon": LEAST}
    return ctx.add(node, ctx.make(Power, exponent=_short(number), **limit), x)


@lift("Affine", domain=OWN_DOMAIN, becomes=("scaling", "learned_scale"))
def chain(ctx: Context, node: Node) -> Tensor:
    """A chain of sums and products with known numbers."""
    x, factor, shift = ctx.tensor(node, 0), ctx.numbers(node, 1), ctx.numbers(node, 2)
    if x.type.kind != "real":
        raise NotLiftable("computes with indices")
    scale, summand = factor if (factor != 1.0).any() else None, shift if (shift != 0.0).any() else None
    return x if scale is None and summand is None else affine(ctx, node, x, scale, summand)


@lift("Mod", becomes=("division", "math_function", "multiplication", "subtraction"), note="of finite numbers")
def remainder(ctx: Context, node: Node) -> Tensor:
    """x - y · floor(x / y), with the sign of y; with `fmod` that of |x| and |y|, with the sign of x."""
    x, y = operands(ctx, node)
    if not ctx.attribute(node, "fmod", 0):
        return _remainder(ctx, node, x, y)
    size = MathFunction(function="abs")
    rest = _remainder(ctx, node, ctx.add(node, size, x, name="size"), ctx.add(node, size, y, name="size"))
    sign = ctx.add(node, MathFunction(function="sign"), x, name="sign")
    return combined(ctx, node, combination.Multiplication(), rest, sign)


def _remainder(ctx: Context, node: Node, x: Tensor, y: Tensor) -> Tensor:
    share = combined(ctx, node, combination.Division(), x, y)
    whole = ctx.add(node, MathFunction(function="floor"), share, name="whole")
    return combined(
        ctx, node, combination.Subtraction(), x, combined(ctx, node, combination.Multiplication(), whole, y)
    )


@lift("BitShift", becomes=("scaling", "multiplication", "math_function"), note="to the right, by known numbers")
def bit_shift(ctx: Context, node: Node) -> Tensor:
    """floor(x / 2^n)."""
    if ctx.attribute(node, "direction") != "RIGHT":
        raise NotLiftable("shifts to the left, out of its number format")
    places = ctx.numbers(node, 1)
    if (places.astype(np.int64) < 0).any():
        raise NotLiftable("shifts by numbers below zero")
    factor = np.exp2(-places.astype(np.float64)).astype(np.float32)
    return ctx.add(node, MathFunction(function="floor"), affine(ctx, node, ctx.tensor(node, 0), factor, None))
