"""Comparisons and logic: true is 1, false is 0, as numbers of layers."""

import numpy as np

from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import Node
from netwright.engine.exchange.importing.lifts.arithmetic_lifts import affine, combined, operands
from netwright.engine.exchange.importing.lifts.layout_lifts import as_numbers
from netwright.engine.exchange.importing.lifts.lift_registry import lift
from netwright.engine.exchange.importing.values import NotLiftable, Tensor
from netwright.engine.layers.activation import Relu
from netwright.engine.layers.arithmetic import MathFunction, Scaling
from netwright.engine.layers.combination import Maximum, Multiplication, Subtraction, Where

NOT = Scaling(scale=-1.0, shift=1.0)
BY_SIGN = ("math_function", "relu", "subtraction")


def _difference(ctx: Context, node: Node, first: int, second: int) -> Tensor:
    """Return one input minus another, of which one may be known numbers."""
    a, b = ctx.held(node, first), ctx.held(node, second)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return combined(ctx, node, Subtraction(), as_numbers(ctx, node, a), as_numbers(ctx, node, b))
    if isinstance(a, Tensor):
        return affine(ctx, node, as_numbers(ctx, node, a), None, -ctx.numbers(node, second).astype(np.float32))
    if isinstance(b, Tensor):
        minus = np.asarray(-1.0, np.float32)
        return affine(ctx, node, as_numbers(ctx, node, b), minus, ctx.numbers(node, first).astype(np.float32))
    raise NotLiftable("takes no tensor")


@lift(
    "Greater",
    "Less",
    "GreaterOrEqual",
    "LessOrEqual",
    becomes=BY_SIGN,
    note="1 where true, by the sign of the difference",
)
def compare(ctx: Context, node: Node) -> Tensor:
    """max(0, sign(a - b)) is 1 where a > b."""
    is_greater = node.op in ("Greater", "LessOrEqual")
    apart = _difference(ctx, node, *((0, 1) if is_greater else (1, 0)))
    sign = ctx.add(node, MathFunction(function="sign"), apart, name="sign")
    out = ctx.add(node, Relu(), sign)
    return ctx.add(node, NOT, out, name="not") if node.op.endswith("OrEqual") else out


@lift("Equal", becomes=BY_SIGN, note="1 where true, by the sign of the difference")
def equal(ctx: Context, node: Node) -> Tensor:
    """1 - |sign(a - b)|."""
    sign = ctx.add(node, MathFunction(function="sign"), _difference(ctx, node, 0, 1), name="sign")
    return ctx.add(node, NOT, ctx.add(node, MathFunction(function="abs"), sign, name="abs"))


@lift("Not", becomes=("scaling",))
def negation(ctx: Context, node: Node) -> Tensor:
    """1 - x."""
    return ctx.add(node, NOT, as_numbers(ctx, node, ctx.tensor(node, 0)))


@lift("And", "Or", "Xor", becomes=("multiplication", "maximum", "subtraction"))
def logic(ctx: Context, node: Node) -> Tensor:
    """Product, maximum, or distance of what is 0 or 1."""
    a, b = operands(ctx, node)
    if node.op == "Xor":
        return ctx.add(node, MathFunction(function="abs"), combined(ctx, node, Subtraction(), a, b))
    return combined(ctx, node, Multiplication() if node.op == "And" else Maximum(), a, b)


@lift("Where", becomes=("where",))
def where(ctx: Context, node: Node) -> Tensor:
    """Numbers from one of two inputs, by a condition."""
    inputs = [as_numbers(ctx, node, x) for x in operands(ctx, node, _finite)]
    return combined(ctx, node, Where(), *inputs)


def _finite(numbers: np.ndarray) -> np.ndarray:
    """Return numbers as floating point; infinite ones as the largest there are."""
    return np.nan_to_num(numbers.astype(np.float32), posinf=3e38, neginf=-3e38)


@lift("Ceil", becomes=("math_function",))
def ceil(ctx: Context, node: Node) -> Tensor:
    """-floor(-x)."""
    negate = MathFunction(function="negate")
    down = ctx.add(node, MathFunction(function="floor"), ctx.add(node, negate, ctx.tensor(node, 0), name="negate"))
    return ctx.add(node, negate, down, name="negate")
