"""Layers that change the size of an image, a sequence or a volume: by interpolation, by exchanging places for channels,
or by taking it apart into windows."""

import math
from typing import Any, ClassVar

from netwright.engine.core import types
from netwright.engine.core.errors import FieldError, ShapeError
from netwright.engine.core.fields import Choice, Float
from netwright.engine.core.list_fields import Size
from netwright.engine.core.types import Sizes, Symbol, TensorType, derive, image, sequence
from netwright.engine.layers import windows
from netwright.engine.layers.base import (
    LENGTHS,
    Call,
    LayerType,
    Lowered,
    as_chain,
    channels_first,
    expect,
    function,
    method,
    module,
    with_lengths,
)
from netwright.engine.layers.convolution import dilation_field, kernel_field, stride_field

BY = {
    "scale": "Every axis grows by the same factor",
    "size": "A fixed size, for any size of the input",
    "like": "The size of another input, whose values are not used; MATLAB: EnableReferenceInput",
}
METHODS = {
    "nearest": "The nearest position",
    "linear": "Linear interpolation between the positions on both sides, along each axis",
    "cubic": "Cubic interpolation of two positions on each side, along each axis; may overshoot",
}
COORDINATES = {
    "half-pixel": "Positions are the centres of cells at 0.5, 1.5, ...; the default of torch and MATLAB",
    "align-corners": "The first and the last position coincide",
    "asymmetric": "The first position coincides",
}
ROUNDINGS = {"round": "To the nearest position, halves up", "floor": "Down to the position before"}


def _methods(*names: str) -> Choice:
    return Choice("nearest", options=names, notes=METHODS, help="Interpolation method")


def _size(dims: int) -> Size:
    help = "Output size along each axis, for any size of the input"
    return Size(8, length=dims, high=100_000, help=help, visible_when=lambda layer: layer.by == "size")


class _Resize(LayerType):
    """Base of resizing in 1, 2 and 3 dimensions."""

    dims: ClassVar[int] = 2
    linear: ClassVar[str] = "bilinear"
    by = Choice("scale", options=tuple(BY), notes=BY, label="Resize by", help="How the output size is chosen")
    scale = Float(
        2.0,
        above=0.0,
        high=1000.0,
        help="Factor of the size; the result is rounded down",
        visible_when=lambda layer: layer.by == "scale",
    )
    size = _size(2)
    method = _methods("nearest", "linear", "cubic")
    coordinates = Choice(
        "half-pixel",
        options=tuple(COORDINATES),
        notes=COORDINATES,
        help="Mapping from output positions to input positions",
    )
    rounding = Choice(
        "round",
        options=tuple(ROUNDINGS),
        notes=ROUNDINGS,
        help="Rounding to the nearest position",
        visible_when=lambda layer: layer.method == "nearest",
    )

    def problems(self) -> list[FieldError]:
        if self.method == "cubic" and self.coordinates == "asymmetric":
            return [FieldError("coordinates", "cubic takes half-pixel or align-corners, received asymmetric.")]
        return []

    def input_ports(self) -> tuple[str, ...]:
        return ("in", "like") if self.by == "like" else ("in",)

    def output(self, x: TensorType, like: TensorType | None = None) -> TensorType:
        expect(x, windows.LAYOUT_OF[self.dims])
        if self.by == "scale":
            return x.with_sizes(**{axis: self._grown(x[axis], axis) for axis in x.spatial})
        sizes = self._wanted(x, like)
        for axis, size in zip(x.spatial, sizes, strict=True):
            if isinstance(x[axis], Symbol):
                raise ShapeError(
                    f"The size of axis {axis} is not known before the network runs, and so is the factor to "
                    f"{size:,}. Resize by a whole scale, or give the input a length.",
                    field="by",
                )
        return x.with_sizes(**dict(zip(x.spatial, sizes, strict=True)))

    def _wanted(self, x: TensorType, like: TensorType | None) -> Sizes:
        """The sizes along each axis, where they are given."""
        if like is None:
            return self.size
        if like.axes != x.axes:
            raise ShapeError(f"Expected something of the same layout as {x}, received {like}.", port="like")
        if 0 in like.sizes:
            raise ShapeError(f"Expected at least one number along each axis, received {like}.", port="like")
        return tuple(like.known(axis, "the output becomes as large") for axis in like.spatial)

    def _grown(self, size: types.Size, axis: str) -> types.Size:
        if isinstance(size, Symbol) and not (self.scale.is_integer() and self._torch_mode):
            raise ShapeError(
                f"The size of axis {axis} is not known before the network runs. Expected a whole scale, and "
                "coordinates and rounding that torch has; or give the input a length.",
                field="coordinates" if self.scale.is_integer() else "scale",
            )
        return derive(self._scaled, size)

    def _scaled(self, size: int) -> int:
        scaled = math.floor(size * self.scale + 1e-9)  # 100 · 0.29 is a hair below 29
        if scaled < 1:
            raise ShapeError(
                f"Nothing is left: {size:,} · {self.scale:g} is below 1. Use a larger scale.", field="scale"
            )
        return scaled

    @property
    def _torch_mode(self) -> str:
        """Torch's name of this interpolation, or an empty text where it has none."""
        if self.method == "nearest":
            modes = {("half-pixel", "round"): "nearest-exact", ("asymmetric", "floor"): "nearest"}
            return modes.get((self.coordinates, self.rounding), "")
        if self.coordinates == "asymmetric":
            return ""
        return "bicubic" if self.method == "cubic" else self.linear

    def lower(self, x: TensorType, like: TensorType | None = None) -> Lowered:
        out = self.output(x, like)
        sizes = [out[axis] for axis in out.spatial]
        out_sizes = tuple(size for size in sizes if isinstance(size, int))
        if self._torch_mode:
            arguments: dict[str, Any] = (
                {"size": out_sizes} if len(out_sizes) == len(sizes) else {"scale_factor": int(self.scale)}
            )
            arguments["mode"] = self._torch_mode
            if self.method != "nearest" and self.coordinates == "align-corners":
                arguments["align_corners"] = True
            call = module("Upsample", **arguments)
        else:
            rounding = self.rounding if self.method == "nearest" else ""
            own = {"size": out_sizes, "coordinates": self.coordinates, "rounding": rounding}
            call = module("netwright.engine.lowering.modules.resizing.Resize", **own)
        calls = channels_first(x, call)
        if like is None:
            return calls
        first = function("netwright.engine.lowering.modules.resizing.first_of")
        return (first, calls) if isinstance(calls, Call) else (first, *calls)

    def short_value(self) -> str:
        match self.by:
            case "scale":
                return f"× {self.scale:g}"
            case "size":
                return " × ".join(map(str, self.size))
        return self.by


class Resize1d(_Resize):
    """Makes a sequence longer or shorter by interpolation. (Upsample, interpolate)

        y[i] is x at half-pixel: (i + 0.5) · n / m - 0.5, align-corners: i · (n - 1) / (m - 1), asymmetric: i · n / m

    with n steps before and m after, from the scale too: what lies beyond the ends is the step at the end. Downsampling
    looks at no other steps than the nearest ones: it does not smooth before.

    Input: (N, T, C). Output: (N, T', C) with S' = floor(scale · S), or the sizes of `size` or `like`.

    Source: MATLAB's documentation of resize layers and ONNX's of Resize, which agree on the coordinates.
    """

    key, label, family, dims, linear = "resize1d", "1-D resizing", "Reshape", 1, "linear"
    found_as = "upsample interpolate UpSampling1D"
    size = _size(1)
    method = _methods("nearest", "linear")

    def lower_padded(self, x: TensorType, like: TensorType | None = None) -> Lowered:
        if like is not None and not x.is_open:
            return self.lower(x, like)
        if self.method == "linear" and self.coordinates == "align-corners":
            return with_lengths(function(f"{LENGTHS}stretch_steps", factor=int(self.scale)))
        last = with_lengths(function(f"{LENGTHS}pad_steps", before=0, after=0, mode="replication"))
        return last, *as_chain(self.lower(x))

    def lengths_after(self, *x: TensorType) -> Call:
        return function(f"{LENGTHS}linear_lengths", factor=int(self.scale))


class Resize2d(_Resize):
    """Makes an image larger or smaller by interpolation. (Upsample, interpolate)

        y[i] is x at half-pixel: (i + 0.5) · n / m - 0.5, align-corners: i · (n - 1) / (m - 1), asymmetric: i · n / m

    along each axis, with n places before and m after, from the scale too: what lies beyond the border is the place at
    the border. Downsampling looks at no other places than the nearest ones: it does not smooth before.

    Torch's `nearest` is asymmetric with floor, its `nearest-exact` and MATLAB's default are half-pixel with round.

    Input: (N, C, H, W). Output: (N, C, H', W') with S' = floor(scale · S), or the sizes of `size` or `like`.

    Source: MATLAB's documentation of resize layers and ONNX's of Resize, which agree on the coordinates. Cubic: Keys:
    Cubic convolution interpolation for digital image processing, 1981, with a = -0.75 as in torch.
    """

    key, label, family, dims = "resize2d", "2-D resizing", "Reshape", 2
    matlab = "resize2dLayer"
    found_as = "upsample interpolate UpSampling2D"


class Resize3d(_Resize):
    """Makes a volume larger or smaller by interpolation. (Upsample, interpolate)

        y[i] is x at half-pixel: (i + 0.5) · n / m - 0.5, align-corners: i · (n - 1) / (m - 1), asymmetric: i · n / m

    along each axis, with n places before and m after, from the scale too: what lies beyond the border is the place at
    the border. Downsampling looks at no other places than the nearest ones: it does not smooth before.

    Torch's `nearest` is asymmetric with floor, its `nearest-exact` and MATLAB's default are half-pixel with round.

    Input: (N, C, D, H, W). Output: (N, C, D', H', W') with S' = floor(scale · S), or the sizes of `size` or `like`.

    Source: MATLAB's documentation of resize layers and ONNX's of Resize, which agree on the coordinates.
    """

    key, label, family, dims, linear = "resize3d", "3-D resizing", "Reshape", 3, "trilinear"
    matlab = "resize3dLayer"
    found_as = "upsample interpolate UpSampling3D"
    size = _size(3)
    method = _methods("nearest", "linear")


ORDERS = {
    "crd": "The positions of a channel are adjacent: channel · block + position; torch: PixelShuffle",
    "dcr": (
        "The channels of a position are adjacent: position · channels + channel; the default of MATLAB and TensorFlow"
    ),
}


def _order() -> Choice:
    return Choice("crd", options=tuple(ORDERS), notes=ORDERS, help="Order of the channels")


def _block() -> Size:
    return Size(2, length=2, high=1000, help="Height × width of the block of pixels that the channels become")


class DepthToSpace2d(LayerType):
    """Exchanges channels for places: each place becomes a block of places. (Pixel shuffle, sub-pixel convolution)

        crd: y[c, i · h + a, j · w + b] = x[(c · h + a) · w + b, i, j]
        dcr: y[c, i · h + a, j · w + b] = x[(a · w + b) · channels + c, i, j]

    with blocks of h × w. Behind a convolution it enlarges an image without the pattern that a transposed one may leave.

    Input: (N, C, H, W). Output: (N, C / (h w), h H, w W) with blocks of h × w.

    Source: Shi et al.: Real-time single image and video super-resolution using an efficient sub-pixel convolutional
    neural network, 2016.
    """

    key, label, family = "depth_to_space2d", "2-D depth to space", "Reshape"
    matlab = "depthToSpace2dLayer"
    found_as = "PixelShuffle"
    block = _block()
    order = _order()

    def output(self, x: TensorType) -> TensorType:
        expect(x, "image")
        places = math.prod(self.block)
        if x.channels % places:
            raise ShapeError(
                f"The {x.channels:,} channels of the input cannot be divided into blocks of "
                f"{' × '.join(map(str, self.block))} places. Use a multiple of {places:,} channels.",
                field="block",
            )
        height, width = self.block
        return image(x.channels // places, derive(height.__mul__, x["H"]), derive(width.__mul__, x["W"]))

    def lower(self, x: TensorType) -> Lowered:
        height, width = self.block
        if self.order == "crd" and height == width:
            return module("PixelShuffle", upscale_factor=height)
        channels = x.channels // (height * width)
        if self.order == "crd":
            apart = method("unflatten", 1, (channels, height, width)), method("permute", 0, 1, 4, 2, 5, 3)
        else:
            apart = method("unflatten", 1, (height, width, channels)), method("permute", 0, 3, 4, 1, 5, 2)
        return *apart, method("flatten", 4, 5), method("flatten", 2, 3)

    def short_value(self) -> str:
        return " × ".join(map(str, self.block))


class SpaceToDepth2d(LayerType):
    """Exchanges places for channels: each block of places becomes one place. (Pixel unshuffle)

        crd: y[(c · h + a) · w + b, i, j] = x[c, i · h + a, j · w + b]
        dcr: y[(a · w + b) · channels + c, i, j] = x[c, i · h + a, j · w + b]

    with blocks of h × w. The image becomes smaller and nothing is lost.

    Input: (N, C, H, W). Output: (N, h w C, H / h, W / w) with blocks of h × w.

    Source: Redmon, Farhadi: YOLO9000: better, faster, stronger, 2017 (there a reorganisation layer).
    """

    key, label, family = "space_to_depth2d", "2-D space to depth", "Reshape"
    matlab = "spaceToDepthLayer"
    found_as = "PixelUnshuffle"
    block = Size(2, length=2, high=1000, help="Height × width of the block of pixels that becomes channels")
    order = _order()

    def output(self, x: TensorType) -> TensorType:
        expect(x, "image")
        sizes = {axis: self._divided(x[axis], axis, parts) for axis, parts in zip("HW", self.block, strict=True)}
        return x.with_sizes(C=x.channels * math.prod(self.block), **sizes)

    def _divided(self, size: types.Size, axis: str, parts: int) -> types.Size:
        if isinstance(size, int) and size % parts:
            raise ShapeError(
                f"Axis {axis} has {size:,}, which cannot be divided by {parts:,}. Use another block, crop or pad.",
                field="block",
            )
        return derive(lambda n: n // parts, size)

    def lower(self, x: TensorType) -> Lowered:
        height, width = self.block
        if self.order == "crd" and height == width:
            return module("PixelUnshuffle", downscale_factor=height)
        # height and width apart: N C H/h h W/w w
        apart = method("unflatten", 3, (-1, width)), method("unflatten", 2, (-1, height))
        order = (0, 1, 3, 5, 2, 4) if self.order == "crd" else (0, 3, 5, 1, 2, 4)
        return *apart, method("permute", *order), method("flatten", 1, 3)

    def short_value(self) -> str:
        return " × ".join(map(str, self.block))


def _zeros() -> Size:
    return Size(0, length=2, low=0, high=100_000, help="Zeros added on both sides of each axis")


class Unfold(LayerType):
    """Reads an image as a sequence of its windows: each step is one window, with all its channels. (im2col)

        y[i · columns + j, (c · kernel height + a) · kernel width + b] = x[c, s · i + d · a - p, s · j + d · b - p]

    with stride s, dilation d and padding p along each axis. Windows may overlap. A fully connected layer behind it is a
    convolution.
    Input: (N, C, H, W). Output: (N, P, C · kernel size) with P windows.

    Source: Chellapilla, Puri, Simard: High performance convolutional neural networks for document processing, 2006.
    """

    key, label, family = "unfold", "Unfold", "Reshape"
    kernel = kernel_field(2, default=2)
    stride = stride_field(2, default=2)
    padding = _zeros()
    dilation = dilation_field(2)

    def output(self, x: TensorType) -> TensorType:
        expect(x, "image")
        sizes = windows.window_sizes(
            x, kernel=self.kernel, stride=self.stride, padding=self.padding, dilation=self.dilation
        )
        return sequence(derive(int.__mul__, sizes["H"], sizes["W"]), x.channels * math.prod(self.kernel))

    def lower(self, *x: TensorType) -> Lowered:
        return module("Unfold", **_windows(self)), method("transpose", 1, 2)

    def short_value(self) -> str:
        return " × ".join(map(str, self.kernel))


class Fold(LayerType):
    """Lays windows, the steps of a sequence, over each other to an image; where they overlap they are added. (col2im)

        y[c, s · i + d · a - p, s · j + d · b - p] += x[i · columns + j, (c · kernel height + a) · kernel width + b]

    with stride s, dilation d and padding p along each axis. The size must be the one whose windows these are. Behind an
    unfolding with the same fields each place is multiplied by the number of windows that it lies in.
    Input: (N, P, C · kernel size) with P windows. Output: (N, C, H, W) with the sizes of `size`.

    Source: torch's documentation of Fold.
    """

    key, label, family = "fold", "Fold", "Reshape"
    size = Size(16, length=2, high=100_000, help="Height × width of the image")
    kernel = kernel_field(2, default=2)
    stride = stride_field(2, default=2)
    padding = _zeros()
    dilation = dilation_field(2)

    def output(self, x: TensorType) -> TensorType:
        expect(x, "sequence")
        places = math.prod(self.kernel)
        if x.channels % places:
            raise ShapeError(
                f"Each step should be a window of {' × '.join(map(str, self.kernel))} places: expected a multiple of "
                f"{places:,} channels, received {x.channels:,}.",
                field="kernel",
            )
        whole = image(x.channels // places, *self.size)
        sizes = windows.window_sizes(
            whole, kernel=self.kernel, stride=self.stride, padding=self.padding, dilation=self.dilation
        )
        count = derive(int.__mul__, sizes["H"], sizes["W"])
        steps = x.known("T", "it must be the number of windows")
        if steps != count:
            raise ShapeError(
                f"An image of {' × '.join(map(str, self.size))} has {count:,} such windows "
                f"({sizes['H']} × {sizes['W']}), received a sequence of {steps:,} steps.",
                field="size",
            )
        return whole

    def lower(self, *x: TensorType) -> Lowered:
        return method("transpose", 1, 2), module("Fold", output_size=self.size, **_windows(self))

    def short_value(self) -> str:
        return " × ".join(map(str, self.size))


def _windows(layer: Unfold | Fold) -> dict[str, Any]:
    """Return the arguments of torch's Unfold and Fold that are not their defaults."""
    arguments: dict[str, Any] = {"kernel_size": windows.compact(layer.kernel)}
    for name, value, usual in (
        ("dilation", layer.dilation, 1),
        ("padding", layer.padding, 0),
        ("stride", layer.stride, 1),
    ):
        if set(value) != {usual}:
            arguments[name] = windows.compact(value)
    return arguments
