"""Arithmetic with sizes, of which some are known only when the network runs: what exporters leave of shapes.

Such a size stays a symbol (`Free`), so that Shape, Gather, Concat, Reshape of a free batch vanish.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import Constant, Node
from netwright.engine.exchange.importing.values import (
    LONGEST_SHAPE,
    Dim,
    Free,
    Held,
    NotLiftable,
    Sizes,
    as_sizes,
    divided,
    product,
)

MOST_BYTES = 2**31
"""Limit of what one node may make."""


def simplified(value: Sizes) -> Held:
    """Return an array where all sizes are known."""
    if any(isinstance(item, Free) for item in value.items):
        return value
    numbers = np.asarray(value.items, np.int64)
    return numbers.reshape(()) if value.is_scalar else numbers


def symbolic(ctx: Context, node: Node) -> Held | None:
    """Return the sizes that a node computes from sizes with symbols; None where they have no form."""
    if node.op == "ConstantOfShape":
        return _filled(ctx, node)
    operands = [as_sizes(ctx.optional(node, index)) for index in range(len(node.inputs))]
    rule = SYMBOLIC.get(node.op)
    if rule is None:
        return None
    sizes = rule(ctx, node, operands)
    return None if sizes is None else simplified(sizes)


Given = Sequence[Sizes | None]


def _same(ctx: Context, node: Node, operands: Given) -> Sizes | None:
    return operands[0]


def _gather(ctx: Context, node: Node, operands: Given) -> Sizes | None:
    data, at = operands[0], operands[1]
    if data is None or at is None or data.is_scalar:
        return None
    places = [item for item in at.items if isinstance(item, int)]
    if len(places) != len(at.items) or any(not -len(data.items) <= place < len(data.items) for place in places):
        return None
    return Sizes(tuple(data.items[place] for place in places), is_scalar=at.is_scalar)


def _concat(ctx: Context, node: Node, operands: Given) -> Sizes | None:
    if any(part is None or part.is_scalar for part in operands):
        return None
    items = tuple(item for part in operands if part is not None for item in part.items)
    return Sizes(items) if len(items) <= LONGEST_SHAPE else None


def _unsqueeze(ctx: Context, node: Node, operands: Given) -> Sizes | None:
    return Sizes(operands[0].items) if operands[0] is not None and operands[0].is_scalar else None


def _squeeze(ctx: Context, node: Node, operands: Given) -> Sizes | None:
    data = operands[0]
    return Sizes(data.items, is_scalar=True) if data is not None and len(data.items) == 1 else None


def _slice(ctx: Context, node: Node, operands: Given) -> Sizes | None:
    data = operands[0]
    starts, ends = ctx.ints(node, 1, "starts"), ctx.ints(node, 2, "ends")
    steps = ctx.ints(node, 4, "steps") or [1]
    if data is None or data.is_scalar or not starts or not ends or len(starts) != 1 or not steps[0]:
        return None
    return Sizes(data.items[slice(starts[0], python_end(ends[0], steps[0]), steps[0])])


def python_end(end: int, step: int) -> int | None:
    """Return the end of a slice as Python has it: None for one before the first place, backwards."""
    return None if step < 0 and end < -(2**31) else end


def _reshape(ctx: Context, node: Node, operands: Given) -> Sizes | None:
    data, shape = operands[0], operands[1]
    if data is None or shape is None or len(shape.items) > 1:
        return None
    return Sizes(data.items, is_scalar=not shape.items)


def _elementwise(rule: Callable[[Dim, Dim], Dim | None]) -> Callable[[Context, Node, Given], Sizes | None]:
    def compute(ctx: Context, node: Node, operands: Given) -> Sizes | None:
        a, b = operands[0], operands[1]
        if a is None or b is None or (len(a.items) != len(b.items) and 1 not in (len(a.items), len(b.items))):
            return None
        length = max(len(a.items), len(b.items))
        first, second = ((operand.items * length)[:length] for operand in (a, b))
        results = [rule(x, y) for x, y in zip(first, second, strict=True)]
        if any(item is None for item in results):
            return None
        return Sizes(tuple(item for item in results if item is not None), is_scalar=a.is_scalar and b.is_scalar)

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


def _where(ctx: Context, node: Node, operands: Given) -> Sizes | None:
    condition, a, b = operands
    if condition is None or a is None or b is None or any(isinstance(item, Free) for item in condition.items):
        return None
    length = max(len(operand.items) for operand in (condition, a, b))
    if any(len(operand.items) not in (1, length) for operand in (condition, a, b)):
        return None
    rows = zip(*((operand.items * length)[:length] for operand in (condition, a, b)), strict=True)
    return Sizes(
        tuple(x if c else y for c, x, y in rows), is_scalar=all(operand.is_scalar for operand in (condition, a, b))
    )


def _reduce_product(ctx: Context, node: Node, operands: Given) -> Sizes | None:
    data = operands[0]
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
    shape = grown(ctx, node, sizes)
    if any(size < 0 for size in shape) or math.prod(shape) * 8 > MOST_BYTES:
        raise NotLiftable(f"would make {math.prod(shape):,} numbers")
    value = node.attributes.get("value")
    return np.full(shape, value.array().reshape(-1)[0] if isinstance(value, Constant) else np.float32(0))


def grown(ctx: Context, node: Node, sizes: Sizes) -> list[int]:
    """Return sizes that equal numbers are to have, 1 where they are free. Raises `NotLiftable` where an operator behind
    the node tells places in a free dimension apart, such as the triangle of a causal mask, and does not broadcast."""
    free = [at - len(sizes.items) for at, item in enumerate(sizes.items) if isinstance(item, Free)]
    for user in ctx.users.get(node.outputs[0], ()):
        if (user.op == "Trilu" and any(at >= -2 for at in free)) or (user.op in ("CumSum", "NonZero") and free):
            raise NotLiftable("has sizes that are known only when the network runs")
    return [1 if isinstance(item, Free) else item for item in sizes.items]


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
