"""The patterns of several operators that exporters write for one layer."""

import math

import numpy as np

from netwright.engine.exchange.importing.graph import Constant, Node
from netwright.engine.exchange.importing.rewrites import Match, merged, rewrite
from netwright.engine.layers import activation
from netwright.engine.layers.base import LayerType

LONGEST_CHAIN = 8
SAME_ROWS = ("Unsqueeze", "Expand", "Identity", "Cast")
"""Operators that leave the rows of a table, or their places, in their order."""
HIDDEN = -1e4
"""A number that is added to a score and hides it."""


@rewrite("MatMul")
def matmul_and_add(match: Match, node: Node) -> Node | None:
    """x W + b: a fully connected layer."""
    matrix = match.constant(node.inputs[1])
    add = match.only_user(node.outputs[0], "Add")
    if matrix is None or len(matrix.shape) != 2 or add is None or match.is_known(node.inputs[0]):
        return None  # the initial state of a recurrent layer that was written out is known
    bias = match.other(add, node.outputs[0])
    numbers = match.constant(bias)
    if numbers is None or numbers.shape not in ((matrix.shape[1],), (1, matrix.shape[1])):
        return None
    return merged(add, "Dense", [node.inputs[0], node.inputs[1], bias], (node, add), scope_of=node)


@rewrite("Where")
def counted_from_the_end(match: Match, node: Node) -> Node | None:
    """An index of a table's row that may be negative, as Keras writes it: Gather itself counts such from the end."""
    less = match.maker(node.inputs[0], "Less")
    add = match.maker(node.inputs[1], "Add")
    x = node.inputs[2]
    rows = match.with_number(add)
    users = match.users.get(node.outputs[0], ())
    if less is None or less.inputs[0] != x or match.number(less.inputs[1]) != 0 or rows is None or rows[0] != x:
        return None
    tables = [match.constant(user.inputs[0]) for user in users if user.op == "Gather" and user.inputs[1] != x]
    if (
        add is None
        or len(tables) < len(users)
        or any(table is None or table.shape[:1] != (rows[1],) for table in tables)
    ):
        return None
    identity = merged(node, "Identity", [x], (less, add, node))
    identity.domain = ""
    return identity


@rewrite("Conv")
def pad_and_conv(match: Match, node: Node) -> Node | None:
    """Zeros around a convolution that pads nothing itself."""
    pad = match.maker(node.inputs[0], "Pad")
    if pad is None or match.only_user(pad.outputs[0]) is not node:
        return None
    pads = pad.attributes.get("pads")
    if pads is None and len(pad.inputs) > 1 and (numbers := match.whole(pad.inputs[1])) is not None:
        pads = [int(number) for number in numbers.array().reshape(-1)]
    value = match.number(pad.inputs[2]) if len(pad.inputs) > 2 and pad.inputs[2] else pad.attributes.get("value", 0.0)
    if not pads or value != 0.0 or pad.attributes.get("mode", "constant") != "constant" or len(pad.inputs) > 3:
        return None
    half = len(pads) // 2
    own = node.attributes.get("pads", [0] * (2 * half - 4))
    if node.attributes.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID") or len(own) != 2 * half - 4:
        return None
    before, after = pads[2:half], pads[half + 2 :]
    if any(pads[:2]) or any(pads[half : half + 2]) or min(pads) < 0 or before != after:
        return None
    sides = [a + b for a, b in zip(own, [*before, *after], strict=True)]
    attributes = {name: value for name, value in node.attributes.items() if name not in ("pads", "auto_pad")}
    conv = merged(node, "Conv", [pad.inputs[0], *node.inputs[1:]], (pad, node), **attributes, pads=sides)
    conv.domain = ""
    return conv


def _activation(last: Node, x: str, parts: list[Node], type: LayerType) -> Node:
    return merged(last, "Activation", [x], parts, type=type)


# ---- activations ----


@rewrite("Erf")
def gelu(match: Match, node: Node) -> Node | None:
    """x / 2 · (1 + erf(x / √2)), with its factors in any order."""
    scaled = match.maker(node.inputs[0], "Div", "Mul")
    if scaled is None:
        return None
    root = math.sqrt(2.0) if scaled.op == "Div" else math.sqrt(0.5)
    operands = match.with_number(scaled, root)
    plus = match.only_user(node.outputs[0], "Add")
    if operands is None or plus is None or match.with_number(plus, 1.0) is None:
        return None
    return _half_product(match, operands[0], plus, [scaled, node, plus], activation.Gelu())


def _half_product(match: Match, x: str, plus: Node, parts: list[Node], type: LayerType) -> Node | None:
    """Return the node for x · 0.5 · (what `plus` gives), in any order of the two products."""
    first = match.only_user(plus.outputs[0], "Mul")
    if first is None:
        return None
    other = match.other(first, plus.outputs[0])
    if match.number(other) == 0.5:
        last = match.only_user(first.outputs[0], "Mul")
        if last is not None and match.other(last, first.outputs[0]) == x:
            return _activation(last, x, [*parts, first, last], type)
        return None
    if other == x:
        last = match.only_user(first.outputs[0], "Mul", "Div")
        if last is not None and match.with_number(last, 0.5 if last.op == "Mul" else 2.0) is not None:
            return _activation(last, x, [*parts, first, last], type)
        return None
    half = match.maker(other, "Mul", "Div")
    operands = match.with_number(half, 0.5 if half is not None and half.op == "Mul" else 2.0)
    if half is not None and operands is not None and operands[0] == x:
        return _activation(first, x, [*parts, half, first], type)
    return None


@rewrite("Tanh")
def tanh_gelu(match: Match, node: Node) -> Node | None:
    """x / 2 · (1 + tanh(√(2 / π) · (x + 0.044715 x³)))."""
    scaled = match.maker(node.inputs[0], "Mul")
    operands = match.with_number(scaled, math.sqrt(2.0 / math.pi))
    inner = match.maker(operands[0], "Add") if operands is not None else None
    plus = match.only_user(node.outputs[0], "Add")
    if scaled is None or inner is None or plus is None or match.with_number(plus, 1.0) is None:
        return None
    for x, cubed in (inner.inputs, inner.inputs[::-1]):
        parts = _cube(match, x, match.maker(cubed, "Mul"))
        if parts:
            operators = [*parts, inner, scaled, node, plus]
            return _half_product(match, x, plus, operators, activation.Gelu(approximation="tanh"))
    return None


def _cube(match: Match, x: str, node: Node | None) -> list[Node]:
    """Return the operators of 0.044715 x³, none where they are not that."""
    operands = match.with_number(node, 0.044715)
    if node is None or operands is None:
        return []
    power = match.maker(operands[0], "Pow", "Mul")
    if power is None:
        return []
    if power.op == "Pow":
        return [power, node] if power.inputs[0] == x and match.number(power.inputs[1]) == 3.0 else []
    other = match.other(power, x)
    square = match.maker(other, "Mul")
    if x not in power.inputs or square is None or square.inputs != [x, x]:
        return []
    return [square, power, node]


@rewrite("Sigmoid")
def swish(match: Match, node: Node) -> Node | None:
    """x · sigmoid(x)."""
    last = match.only_user(node.outputs[0], "Mul")
    if last is None or match.other(last, node.outputs[0]) != node.inputs[0]:
        return None
    return _activation(last, node.inputs[0], [node, last], activation.Swish())


@rewrite("HardSigmoid")
def hard_swish(match: Match, node: Node) -> Node | None:
    """x · hardsigmoid(x)."""
    last = match.only_user(node.outputs[0], "Mul")
    if last is None or match.other(last, node.outputs[0]) != node.inputs[0]:
        return None
    if abs(node.attributes.get("alpha", 0.2) - 1 / 6) > 1e-6 or node.attributes.get("beta", 0.5) != 0.5:
        return None
    return _activation(last, node.inputs[0], [node, last], activation.Hardswish())


@rewrite("Add")
def hard_sigmoid(match: Match, node: Node) -> Node | None:
    """relu6(x + 3) / 6, and x · relu6(x + 3) / 6."""
    operands = match.with_number(node, 3.0)
    clip = match.only_user(node.outputs[0], "Clip")
    if operands is None or clip is None or _limits(match, clip) != (0.0, 6.0):
        return None
    x = operands[0]
    after = match.only_user(clip.outputs[0], "Mul", "Div")
    if after is None:
        return None
    if match.with_number(after, 6.0 if after.op == "Div" else 1 / 6) is not None:
        last = match.only_user(after.outputs[0], "Mul")
        if last is not None and match.other(last, after.outputs[0]) == x:
            return _activation(last, x, [node, clip, after, last], activation.Hardswish())
        return _activation(after, x, [node, clip, after], activation.Hardsigmoid())
    if after.op == "Mul" and match.other(after, clip.outputs[0]) == x:
        last = match.only_user(after.outputs[0], "Div", "Mul")
        if last is not None and match.with_number(last, 6.0 if last.op == "Div" else 1 / 6) is not None:
            return _activation(last, x, [node, clip, after, last], activation.Hardswish())
    return None


def _limits(match: Match, clip: Node) -> tuple[float | None, float | None]:
    limits = []
    for index, name in ((1, "min"), (2, "max")):
        limit = clip.attributes.get(name)
        if limit is None and len(clip.inputs) > index:
            limit = match.number(clip.inputs[index])
        limits.append(limit)
    return limits[0], limits[1]


@rewrite("Softplus")
def mish(match: Match, node: Node) -> Node | None:
    """x · tanh(softplus(x))."""
    tanh = match.only_user(node.outputs[0], "Tanh")
    last = match.only_user(tanh.outputs[0], "Mul") if tanh is not None else None
    if tanh is None or last is None or match.other(last, tanh.outputs[0]) != node.inputs[0]:
        return None
    return _activation(last, node.inputs[0], [node, tanh, last], activation.Mish())


@rewrite("Softplus")
def log_sigmoid(match: Match, node: Node) -> Node | None:
    """-softplus(-x)."""
    before, last = match.maker(node.inputs[0], "Neg"), match.only_user(node.outputs[0], "Neg")
    if before is None or last is None:
        return None
    return _activation(last, before.inputs[0], [before, node, last], activation.LogSigmoid())


# ---- arithmetic ----


@rewrite("Add", "Sub", "Mul", "Div")
def affine(match: Match, node: Node) -> Node | None:
    """A chain of sums and products with known numbers that have the same sizes, or are single: one scale and shift."""
    chain: list[Node] = []
    factor, shift = np.ones((), np.float64), np.zeros((), np.float64)
    at: Node | None = node
    x = ""
    while at is not None and len(chain) < LONGEST_CHAIN:
        step = _step(match, at)
        if step is None or (chain and step[0] != chain[-1].outputs[0]):
            break
        source, times, plus = step
        if len({array.shape for array in (factor, shift, times, plus)} - {()}) > 1:
            break
        x = x or source
        factor, shift = factor * times, shift * times + plus
        chain.append(at)
        at = match.only_user(at.outputs[0], "Add", "Sub", "Mul", "Div")
    if len(chain) < 2 or not (np.isfinite(factor).all() and np.isfinite(shift).all()):
        return None
    names = [f"{chain[-1].outputs[0]}.{word}" for word in ("factor", "shift")]
    for name, numbers in zip(names, (factor, shift), strict=True):
        match.graph.constants[name] = Constant.of(np.asarray(numbers, np.float32))
    return merged(chain[-1], "Affine", [x, *names], chain, scope_of=chain[0])


def _step(match: Match, node: Node) -> tuple[str, np.ndarray, np.ndarray] | None:
    """Return the tensor, the factor and the summand of a node that combines a tensor with known numbers."""
    for at in (0, 1):
        constant = match.constant(node.inputs[at])
        if constant is None or match.constant(node.inputs[1 - at]) is not None or constant.dtype.kind != "f":
            continue
        numbers = constant.array().astype(np.float64)
        numbers = numbers.reshape(()) if numbers.size == 1 else numbers
        unit, zero = np.ones(()), np.zeros(())
        if node.op == "Div" and (at == 0 or not np.all(numbers)):
            return None
        match node.op:
            case "Add":
                return node.inputs[1 - at], unit, numbers
            case "Sub":
                return (node.inputs[0], unit, -numbers) if at else (node.inputs[1], -unit, numbers)
            case "Mul":
                return node.inputs[1 - at], numbers, zero
            case "Div":
                return node.inputs[0], 1.0 / numbers, zero
    return None


# ---- attention ----


@rewrite("Slice", "Gather")
def position_embedding(match: Match, node: Node) -> Node | None:
    """The first rows of a table, as many as there are steps, added to the steps. The table has no other rows that fit
    them: sizes that are not 1 are equal in a sum."""
    table = match.constant(node.inputs[0])
    if table is None or table.dtype.kind != "f" or len(table.shape) < 2 or math.prod(table.shape[:-2]) != 1:
        return None
    parts = [node]
    start = _first_row(match, node, len(table.shape)) if node.op == "Slice" else _first_index(match, node, parts)
    value = node.outputs[0]
    while (user := match.only_user(value, *SAME_ROWS)) is not None:
        parts.append(user)
        value = user.outputs[0]
    add = match.only_user(value, "Add")
    if start is None or add is None or match.is_known(x := match.other(add, value)):
        return None
    return merged(add, "PositionEmbedding", [x, node.inputs[0]], [*parts, add], scope_of=node, start=start)


def _first_row(match: Match, node: Node, rank: int) -> int | None:
    """Return the first row of a slice of a table that ends at a row which follows from sizes, None for another."""
    numbers = [match.whole(name) if name else None for name in (*node.inputs, "", "", "", "")[1:5]]
    starts, ends, axes, steps = (
        None if constant is None else constant.array().reshape(-1).tolist() for constant in numbers
    )
    is_plain = steps in (None, [1]) and axes in ([rank - 2], [-2]) and starts is not None and starts[0] >= 0
    return int(starts[0]) if is_plain and starts and ends is None and match.is_known(node.inputs[2]) else None


def _first_index(match: Match, node: Node, parts: list[Node]) -> int | None:
    """Return the first of the indices of a table's rows that count up to one that follows from sizes, None for
    others. Operators that make these are added to `parts`."""
    name = node.inputs[1]
    while (before := match.maker(name, *SAME_ROWS)) is not None:
        parts.append(before)
        name = before.inputs[0]
    counted = match.maker(name, "Range")
    if counted is None or node.attributes.get("axis", 0) or match.constant(counted.inputs[1]) is not None:
        return None
    makers = [match.maker(name, "CastLike") for name in counted.inputs]
    ends = [name if maker is None else maker.inputs[0] for maker, name in zip(makers, counted.inputs, strict=True)]
    start, step = match.number(ends[0]), match.number(ends[2])
    parts.append(counted)
    return int(start) if start is not None and step == 1 and match.is_known(counted.inputs[1]) else None


@rewrite("Softmax")
def attention(match: Match, node: Node) -> Node | None:
    """softmax(scale · Q Kᵀ + mask) V, with the scale at queries, keys or scores, and a mask that does not depend on
    numbers of the network."""
    weights = node.outputs[0]
    dropped = match.only_user(weights, "nn.Dropout")  # as a program of torch says
    weights = weights if dropped is None else dropped.outputs[0]
    last = match.only_user(weights, "MatMul")
    if last is None or last.inputs[0] != weights or node.attributes.get("axis", -1) != -1:
        return None
    factors: list[tuple[str, str]] = []
    parts, mask = [node, *([] if dropped is None else [dropped]), last], ""
    at = node.inputs[0]
    hidden = match.maker(at, "Where")
    if hidden is not None and match.only_user(at) is node and _is_causal(match, hidden):
        parts.append(hidden)
        at = hidden.inputs[2]
    else:
        hidden = None
    while (before := match.maker(at, "Add", "Mul", "Div")) is not None and len(parts) < LONGEST_CHAIN:
        if match.only_user(at) is None or (before.op == "Add" and (mask or hidden is not None)):
            return None
        other = next((side for side in (1, 0) if match.is_known(before.inputs[side])), None)
        if other is None or (before.op == "Div" and other == 0):
            return None
        if before.op == "Add":
            mask = before.inputs[other]
        elif mask:
            return None  # the mask would be scaled
        else:
            factors.append((before.inputs[other], before.op))
        parts.append(before)
        at = before.inputs[1 - other]
    scores = match.maker(at, "MatMul")
    if scores is None or match.only_user(at) is None:
        return None
    ends = [_unscaled(match, name, factors, parts) for name in scores.inputs]
    where = match.maker(mask, "Where") if mask else hidden
    is_causal = where is not None and _is_causal(match, where) and (not mask or match.number(where.inputs[2]) == 0.0)
    inputs = [*ends, last.inputs[1], "" if is_causal else mask, *(name for name, _ in factors)]
    kinds = [kind for _, kind in factors]
    return merged(last, "Attention", inputs, [scores, *parts], scope_of=scores, kinds=kinds, causal=int(is_causal))


def _is_causal(match: Match, where: Node) -> bool:
    """Return whether a Where gives a large negative number for all later steps, and only there."""
    cast = match.maker(where.inputs[1], "CastLike")
    number = match.number(where.inputs[1] if cast is None else cast.inputs[0])
    if number is None or number > HIDDEN:
        return False
    mask = match.constant(where.inputs[0])
    if mask is not None:
        rows, columns = mask.shape[-2:] if len(mask.shape) > 1 else (0, 0)
        return 0 < mask.count == rows * columns and np.array_equal(
            mask.array().reshape(rows, columns), ~np.tri(rows, columns, dtype=bool)
        )
    lower = match.maker(where.inputs[0], "Equal", "Not")
    if lower is not None and lower.op == "Equal":
        operands = match.with_number(lower, 0.0)
        lower = match.maker(operands[0]) if operands is not None else None
    elif lower is not None:
        lower = match.maker(lower.inputs[0])
    if lower is None or lower.op != "Trilu" or lower.attributes.get("upper", 1):
        return False
    ones = match.maker(lower.inputs[0], "Expand")
    value = match.constant(ones.inputs[0]) if ones is not None else None
    is_main = len(lower.inputs) < 2 or match.number(lower.inputs[1]) == 0.0
    return is_main and value is not None and value.count == 1 and bool(value.array().reshape(()) == 1)


def _unscaled(match: Match, name: str, factors: list[tuple[str, str]], parts: list[Node]) -> str:
    """Return the value before products with a single known number, which are added to the factors."""
    while (before := match.maker(name, "Mul", "Div")) is not None and len(parts) < LONGEST_CHAIN:
        if not match.is_known(before.inputs[1]) or match.only_user(name) is None:
            break
        numbers = match.constant(before.inputs[1])
        if numbers is not None and numbers.count != 1:
            break
        factors.append((before.inputs[1], before.op))
        parts.append(before)
        name = before.inputs[0]
    return name


# ---- quantisation ----


@rewrite("QuantizeLinear")
def quantised_and_back(match: Match, node: Node) -> Node | None:
    """QuantizeLinear and DequantizeLinear with the same scale and zero point."""
    back = match.only_user(node.outputs[0], "DequantizeLinear")
    if back is None or len(node.inputs) != len(back.inputs) or node.attributes.get("output_dtype"):
        return None
    pairs = zip(node.inputs[1:], back.inputs[1:], strict=True)
    if not all(first == second or _are_equal(match.constant(first), match.constant(second)) for first, second in pairs):
        return None
    return merged(back, "FakeQuantization", node.inputs, (node, back), scope_of=node)


def _are_equal(a: Constant | None, b: Constant | None) -> bool:
    return a is not None and b is not None and a.dtype == b.dtype and np.array_equal(a.array(), b.array())
