"""Resizing by interpolation."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import Node
from netwright.engine.exchange.importing.lifts.lift_registry import lift
from netwright.engine.exchange.importing.values import Dim, NotLiftable, Sizes, Tensor
from netwright.engine.layers.resizing import Resize1d, Resize2d, Resize3d

LAYERS = {1: Resize1d, 2: Resize2d, 3: Resize3d}
BECOMES = ("resize1d", "resize2d", "resize3d")
COORDINATES = {
    "half_pixel": "half-pixel",
    "pytorch_half_pixel": "half-pixel",
    "align_corners": "align-corners",
    "asymmetric": "asymmetric",
}


@lift("Resize", becomes=BECOMES, note="over places, by whole results of the scales")
def resize(ctx: Context, node: Node) -> Tensor:
    """Version 10 has scales alone, and asymmetric coordinates; later ones a region, scales or sizes."""
    x = ctx.as_channels_first(node, ctx.tensor(node, 0))
    is_old = ctx.opset < 11
    coordinates = "asymmetric" if is_old else ctx.attribute(node, "coordinate_transformation_mode", "half_pixel")
    if coordinates not in COORDINATES:
        raise NotLiftable(f"has the coordinates {coordinates}")
    for name in ("antialias", "exclude_outside"):
        if ctx.attribute(node, name, 0):
            raise NotLiftable(f"has '{name}'")
    method = ctx.attribute(node, "mode", "nearest")
    if method == "cubic" and abs(ctx.attribute(node, "cubic_coeff_a", -0.75) + 0.75) > 1e-6:
        raise NotLiftable("has another coefficient than -0.75")
    if ctx.attribute(node, "keep_aspect_ratio_policy", "stretch") != "stretch":
        raise NotLiftable("keeps the aspect ratio")
    scales = ctx.optional_numbers(node, 1 if is_old else 2)
    sizes = None if is_old else _sizes(ctx, node)
    before = [x.known(dim) for dim in range(2, x.rank)]
    after = _after(ctx, node, x, before, scales, sizes)
    rounding = "floor" if is_old else ctx.attribute(node, "nearest_mode", "round_prefer_floor")
    return _resized(ctx, node, x, after, method, COORDINATES[coordinates], rounding, coordinates)


@lift("Upsample", becomes=BECOMES, note="by whole results of the scales")
def upsample(ctx: Context, node: Node) -> Tensor:
    """Scales are an attribute before version 9."""
    x = ctx.as_channels_first(node, ctx.tensor(node, 0))
    scales = np.asarray(node.attributes["scales"]) if "scales" in node.attributes else ctx.numbers(node, 1)
    before = [x.known(dim) for dim in range(2, x.rank)]
    after = _after(ctx, node, x, before, scales, None)
    return _resized(ctx, node, x, after, ctx.attribute(node, "mode", "nearest"), "asymmetric", "floor", "asymmetric")


def _sizes(ctx: Context, node: Node) -> Sequence[Dim] | None:
    """Return the sizes that are asked for; that of the batch may depend on the input."""
    value = ctx.optional(node, 3)
    if isinstance(value, Sizes):
        return value.items
    numbers = ctx.optional_numbers(node, 3)
    return None if numbers is None else [int(size) for size in numbers.reshape(-1)]


def _after(
    ctx: Context, node: Node, x: Tensor, before: list[int], scales: np.ndarray | None, sizes: Sequence[Dim] | None
) -> list[int]:
    """Return the sizes of the places afterwards; whole numbers, so that sizes and scales agree."""
    listed = [x.dims.index(x.dims[axis]) for axis in _axes(ctx, node, x)]
    if sizes:
        by_dim = dict(zip(listed, sizes, strict=True))
        if by_dim.get(1, x.size(1)) != x.size(1):
            raise NotLiftable("resizes the channels")
        targets = [by_dim.get(dim, size) for dim, size in enumerate(before, 2)]
        fixed = [size for size in targets if isinstance(size, int)]
        if len(fixed) < len(targets):
            raise NotLiftable("resizes to a size that is known only when the network runs")
        return fixed
    if scales is None or not scales.size:
        raise NotLiftable("has neither sizes nor scales")
    factors = dict(zip(listed, (float(scale) for scale in scales), strict=True))
    if any(factors.get(dim, 1.0) != 1.0 for dim in (0, 1)):
        raise NotLiftable("resizes batch or channels")
    lengths = []
    for dim, size in enumerate(before, 2):
        exact = size * factors.get(dim, 1.0)
        if abs(exact - round(exact)) > 1e-4:
            raise NotLiftable("has scales that give no whole sizes")
        lengths.append(round(exact))
    return lengths


def _axes(ctx: Context, node: Node, x: Tensor) -> Sequence[int]:
    axes = ctx.attribute(node, "axes", None)
    return range(x.rank) if axes is None else [x.axis(axis) for axis in axes]


def _resized(
    ctx: Context,
    node: Node,
    x: Tensor,
    after: list[int],
    method: str,
    coordinates: str,
    rounding: str,
    written: str,
) -> Tensor:
    before = [x.known(dim) for dim in range(2, x.rank)]
    if written == "pytorch_half_pixel" and any(m == 1 and n > 1 for n, m in zip(before, after, strict=True)):
        raise NotLiftable("makes a single place of several")
    values: dict[str, object] = {"by": "size", "size": tuple(after), "coordinates": coordinates}
    values["method"] = {"bilinear": "linear", "trilinear": "linear"}.get(method, method)
    if method == "nearest":
        values["rounding"] = _rounding(before, after, coordinates, rounding)
    kind = LAYERS.get(len(after))
    if kind is None:
        raise NotLiftable(f"resizes {len(after)} dimensions")
    type = ctx.make(kind, **values)
    if problems := type.problems():
        raise NotLiftable(f"does not fit a layer: {problems[0]}")
    return ctx.add(node, type, x)


def _rounding(before: list[int], after: list[int], coordinates: str, rounding: str) -> str:
    """Return how the layer rounds to the nearest place. It takes halves up; ONNX's default takes them down, which is
    the same where no position is a half."""
    if rounding in ("floor", "round_prefer_ceil"):
        return "floor" if rounding == "floor" else "round"
    places = [p for n, m in zip(before, after, strict=True) for p in _positions(n, m, coordinates)]
    if rounding == "round_prefer_floor" and not any(place % 1 == Fraction(1, 2) for place in places):
        return "round"
    raise NotLiftable(f"rounds by {rounding}")


def _positions(before: int, after: int, coordinates: str) -> list[Fraction]:
    match coordinates:
        case "half-pixel":
            return [(i + Fraction(1, 2)) * before / after - Fraction(1, 2) for i in range(after)]
        case "align-corners":
            return [Fraction(i * (before - 1), max(1, after - 1)) for i in range(after)]
    return [Fraction(i * before, after) for i in range(after)]
