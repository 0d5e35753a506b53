"""The patterns of several operators that exporters write for one layer."""

from engine.exchange.importing.graph import Node
from engine.exchange.importing.rewrites import Match, merged, rewrite


@rewrite("MatMul")
def matmul_and_add(match: Match, node: Node) -> Node | None:
    """x W + b: a fully connected layer."""
    matrix = match.constant(node.inputs[1])
    add = match.only_user(node.outputs[0], "Add")
    if matrix is None or len(matrix.shape) != 2 or add is None:
        return None
    bias = match.other(add, node.outputs[0])
    numbers = match.constant(bias)
    if numbers is None or numbers.shape != (matrix.shape[1],):
        return None
    return merged(add, "Dense", [node.inputs[0], node.inputs[1], bias], (node, add), scope_of=node)


@rewrite("Conv")
def pad_and_conv(match: Match, node: Node) -> Node | None:
    """Zeros around a convolution that pads nothing itself."""
    pad = match.maker(node.inputs[0], "Pad")
    if (
        pad is None
        or match.only_user(pad.outputs[0]) is not node
        or node.attributes.get("auto_pad", "NOTSET") != "NOTSET"
    ):
        return None
    pads = pad.attributes.get("pads")
    if pads is None and len(pad.inputs) > 1 and (given := match.constant(pad.inputs[1])) is not None:
        pads = [int(one) for one in given.array().reshape(-1)]
    value = match.number(pad.inputs[2]) if len(pad.inputs) > 2 and pad.inputs[2] else pad.attributes.get("value", 0.0)
    if not pads or value != 0.0 or pad.attributes.get("mode", "constant") != "constant" or len(pad.inputs) > 3:
        return None
    half = len(pads) // 2
    own = node.attributes.get("pads", [0] * (2 * half - 4))
    if any(pads[:2]) or any(pads[half : half + 2]) or min(pads) < 0 or len(own) != 2 * half - 4:
        return None
    added = [*pads[2:half], *pads[half + 2 :]]
    if added[: half - 2] != added[half - 2 :]:
        return None
    sides = [a + b for a, b in zip(own, added, strict=True)]
    found = merged(node, "Conv", [pad.inputs[0], *node.inputs[1:]], (pad, node), **{**node.attributes, "pads": sides})
    found.domain = ""
    return found
