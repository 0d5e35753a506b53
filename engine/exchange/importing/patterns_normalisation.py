"""The patterns of several operators that exporters write for one normalisation."""

from netwright.engine.exchange.importing.graph import Node
from netwright.engine.exchange.importing.rewrites import Match, merged, rewrite


@rewrite("ReduceMean")
def layer_norm(match: Match, node: Node) -> Node | None:
    """(x - mean) / sqrt(variance + epsilon) · scale + shift over the last dimension."""
    x = node.inputs[0]
    minus = match.user(node.outputs[0], "Sub")
    if not _is_last(match, node) or minus is None or minus.inputs != [x, node.outputs[0]]:
        return None
    centred = minus.outputs[0]
    square = next((user for user in match.users.get(centred, []) if _is_square(match, user)), None)
    mean = match.only_user(square.outputs[0], "ReduceMean") if square is not None else None
    if square is None or mean is None or not _is_last(match, mean):
        return None
    return _scaled(match, x, centred, mean, [node, minus, square, mean], "LayerNormalization")


@rewrite("ReduceMean")
def rms_norm(match: Match, node: Node) -> Node | None:
    """x / sqrt(mean of squares + epsilon) · scale over the last dimension."""
    square = match.maker(node.inputs[0], "Pow", "Mul")
    if square is None or not _is_square(match, square) or not _is_last(match, node):
        return None
    x = square.inputs[0]
    return _scaled(match, x, x, node, [square, node], "RMSNormalization")


def _is_square(match: Match, node: Node) -> bool:
    if node.op == "Pow":
        return match.number(node.inputs[1]) == 2.0
    return node.op == "Mul" and node.inputs[0] == node.inputs[1]


def _is_last(match: Match, node: Node) -> bool:
    """Return whether a reduction goes over the last dimension and keeps it."""
    axes = node.attributes.get("axes")
    if axes is None and len(node.inputs) > 1 and (constant := match.whole(node.inputs[1])) is not None:
        axes = [int(number) for number in constant.array().reshape(-1)]
    return axes == [-1] and bool(node.attributes.get("keepdims", 1))


def _scaled(match: Match, x: str, centred: str, mean: Node, parts: list[Node], op: str) -> Node | None:
    """Return a normalisation from the mean of squares of `centred` on: its division by the root, and the scale and the
    shift that follow."""
    plus = match.only_user(mean.outputs[0], "Add")
    epsilon = match.with_number(plus)
    root = match.only_user(plus.outputs[0], "Sqrt") if plus is not None else None
    last = match.only_user(root.outputs[0], "Div", "Reciprocal") if root is not None else None
    if plus is None or root is None or last is None or epsilon is None:
        return None
    parts = [*parts, plus, root, last]
    if last.op == "Reciprocal" or (last.inputs[0] != centred and match.number(last.inputs[0]) == 1.0):
        product = match.only_user(last.outputs[0], "Mul")
        if product is None or match.other(product, last.outputs[0]) != centred:
            return None
        parts, last = [*parts, product], product
    elif last.inputs[0] != centred:
        return None
    times = match.only_user(last.outputs[0], "Mul")
    if times is None:
        return None
    scale = match.other(times, last.outputs[0])
    numbers = match.constant(scale)
    if numbers is None or len(numbers.shape) != 1:
        return None
    parts, last = [*parts, times], times
    shift = ""
    if op == "LayerNormalization":
        plus = match.only_user(last.outputs[0], "Add")
        shift = match.other(plus, last.outputs[0]) if plus is not None else ""
        added = match.constant(shift)
        if plus is not None and added is not None and added.shape == numbers.shape:
            parts, last = [*parts, plus], plus
        else:
            shift = ""
    norm = merged(last, op, [x, scale, *([shift] if shift else [])], parts, axis=-1, epsilon=epsilon[1])
    norm.domain = ""
    return norm


@rewrite("InstanceNormalization")
def group_norm(match: Match, node: Node) -> Node | None:
    """An instance normalisation of groups of channels as one, between reshapes, with scale and shift behind it."""
    before, after = match.maker(node.inputs[0], "Reshape"), match.only_user(node.outputs[0], "Reshape")
    ones, zeros = (match.constant(name) for name in node.inputs[1:3])
    if before is None or after is None or ones is None or zeros is None or match.only_user(before.outputs[0]) is None:
        return None
    x, groups = before.inputs[0], ones.count
    sizes = match.whole(before.inputs[1])
    if sizes is None or sizes.shape != (3,) or sizes.array()[1] != groups:
        return None
    if (ones.array() != 1.0).any() or (zeros.array() != 0.0).any():
        return None
    times = match.only_user(after.outputs[0], "Mul")
    plus = match.only_user(times.outputs[0], "Add") if times is not None else None
    if times is None or plus is None:
        return None
    names = [match.other(times, after.outputs[0]), match.other(plus, times.outputs[0])]
    constants = [match.constant(name) for name in names]
    if any(
        constant is None or constant.shape != (constant.count, *[1] * (len(constant.shape) - 1))
        for constant in constants
    ):
        return None
    if (
        len({constant.shape for constant in constants if constant is not None}) > 1
        or constants[0] is None
        or constants[0].count % groups
    ):
        return None
    parts = (before, node, times, plus)
    # The second reshape comes first: it may be to other sizes than those of the input.
    match.users[node.outputs[0]].remove(after)
    match.users.setdefault(x, []).append(after)
    after.inputs[0] = x
    epsilon = node.attributes.get("epsilon", 1e-5)
    norm = merged(
        plus, "GroupNormalization", [after.outputs[0], *names], parts, scope_of=node, num_groups=groups, epsilon=epsilon
    )
    norm.domain = ""
    return norm
