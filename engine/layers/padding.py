"""Padding: a border of places around a sequence, an image or a volume, filled in one of five ways."""

from typing import Any, ClassVar

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.fields import Choice, Float
from netwright.engine.core.list_fields import Ints
from netwright.engine.core.types import TensorType, derive
from netwright.engine.layers import windows
from netwright.engine.layers.base import (
    LENGTHS,
    Call,
    LayerType,
    Lowered,
    channels_first,
    expect,
    function,
    module,
    with_lengths,
)

MODES = {
    "zeros": "Zeros",
    "constant": "One value everywhere",
    "reflection": "The input mirrored at its edge, without repeating the edge; torch: reflect",
    "replication": "The edge value repeated; torch: replicate",
    "circular": "The values from the opposite end, as in a ring",
}
TORCH_MODES = {
    "zeros": "ZeroPad",
    "constant": "ConstantPad",
    "reflection": "ReflectionPad",
    "replication": "ReplicationPad",
    "circular": "CircularPad",
}
SIDES = {
    1: "Steps added before and after",
    2: "Pixels added above, below, left and right",
    3: "Voxels added in front, behind, above, below, left and right",
}


def _border(dims: int) -> Ints:
    return Ints(1, length=2 * dims, low=0, high=100_000, help=SIDES[dims])


def refuse_wide(x: TensorType, axis: str, width: int, mode: str, field: str) -> None:
    """Refuse a border for which there is not enough to mirror or to repeat."""
    size = x[axis]
    most = {"reflection": -1, "circular": 0}.get(mode)
    if most is not None and isinstance(size, int) and width > size + most:
        raise ShapeError(
            f"A border of {width:,} is wider than what can fill it: along axis {axis} there are {size:,}, "
            f"so '{mode}' gives at most {size + most:,}. Use a smaller border or another mode.",
            field=field,
        )


class _Padding(LayerType):
    """Base of padding in 1, 2 and 3 dimensions."""

    dims: ClassVar[int] = 2
    border = _border(2)
    mode = Choice("zeros", options=tuple(MODES), notes=MODES, help="Values of the border")
    value = Float(
        0.0,
        low=-1e9,
        high=1e9,
        help="Value of the border",
        visible_when=lambda layer: layer.mode == "constant",
    )

    @property
    def _sides(self) -> windows.Borders:
        return tuple(zip(self.border[::2], self.border[1::2], strict=True))

    def output(self, x: TensorType) -> TensorType:
        expect(x, windows.LAYOUT_OF[self.dims])
        for axis, sides in zip(x.spatial, self._sides, strict=True):
            refuse_wide(x, axis, max(sides), self.mode, "border")
        return x.with_sizes(
            **{axis: derive(sum(sides).__add__, x[axis]) for axis, sides in zip(x.spatial, self._sides, strict=True)}
        )

    def lower(self, x: TensorType) -> Lowered:
        arguments: dict[str, Any] = {"padding": windows.torch_borders(self._sides)}
        if self.mode == "constant":
            arguments["value"] = self.value
        return channels_first(x, module(f"{TORCH_MODES[self.mode]}{self.dims}d", **arguments))

    def lower_padded(self, x: TensorType) -> Lowered:
        return padded(self._sides[0], self.mode, self.value)

    def lengths_after(self, x: TensorType) -> Call:
        return function(f"{LENGTHS}linear_lengths", added=sum(self._sides[0]))

    def short_value(self) -> str:
        return self.mode


def padded(sides: tuple[int, int], mode: str, value: float = 0.0) -> Call:
    """Steps before and behind sequences of different lengths: those behind follow the last real step of each."""
    arguments: dict[str, Any] = {"before": sides[0], "after": sides[1], "mode": mode}
    if mode == "constant":
        arguments["value"] = value
    return with_lengths(function(f"{LENGTHS}pad_steps", **arguments))


class Pad1d(_Padding):
    """Puts steps around a sequence: zeros, a constant, a reflection, a replication or circular.

        y[t] = x[t - before] inside; outside it x[m], with m = t - before and n steps:

        reflection: x[-m] in front, x[2 · (n - 1) - m] behind
        replication: x[0] in front, x[n - 1] behind
        circular: x[m mod n]

    A convolution can put zeros around by itself; this layer is for other borders, or to see them. Torch's ZeroPad1d,
    ConstantPad1d, ReflectionPad1d, ReplicationPad1d and CircularPad1d.

    Input: (N, T, C). Output: (N, T', C) with S' = before + S + after for each size S.

    Source: Liu et al.: Partial convolution based padding, 2018, compares the ways.
    """

    key, label, family, dims = "pad1d", "1-D padding", "Reshape", 1
    found_as = "ZeroPadding1D ZeroPad1d ReflectionPad1d ReplicationPad1d CircularPad1d ConstantPad1d"
    border = _border(1)


class Pad2d(_Padding):
    """Puts a border around an image: zeros, a constant, a reflection, a replication or circular.

        y[i] = x[i - before] inside; outside it x[m], along each axis with m = i - before and n places:

        reflection: x[-m] in front, x[2 · (n - 1) - m] behind
        replication: x[0] in front, x[n - 1] behind
        circular: x[m mod n]

    A convolution can put zeros around by itself; this layer is for other borders, or to see them. Torch's ZeroPad2d,
    ConstantPad2d, ReflectionPad2d, ReplicationPad2d and CircularPad2d.

    Input: (N, C, H, W). Output: (N, C, H', W') with S' = before + S + after for each size S.

    Source: Liu et al.: Partial convolution based padding, 2018, compares the ways.
    """

    key, label, family, dims = "pad2d", "2-D padding", "Reshape", 2
    found_as = "ZeroPadding2D ZeroPad2d ReflectionPad2d ReplicationPad2d CircularPad2d ConstantPad2d"


class Pad3d(_Padding):
    """Puts a border around a volume: zeros, a constant, a reflection, a replication or circular.

        y[i] = x[i - before] inside; outside it x[m], along each axis with m = i - before and n places:

        reflection: x[-m] in front, x[2 · (n - 1) - m] behind
        replication: x[0] in front, x[n - 1] behind
        circular: x[m mod n]

    A convolution can put zeros around by itself; this layer is for other borders, or to see them. Torch's ZeroPad3d,
    ConstantPad3d, ReflectionPad3d, ReplicationPad3d and CircularPad3d.

    Input: (N, C, D, H, W). Output: (N, C, D', H', W') with S' = before + S + after for each size S.

    Source: Liu et al.: Partial convolution based padding, 2018, compares the ways.
    """

    key, label, family, dims = "pad3d", "3-D padding", "Reshape", 3
    found_as = "ZeroPadding3D ZeroPad3d ReflectionPad3d ReplicationPad3d CircularPad3d ConstantPad3d"
    border = _border(3)
