"""Rules for convolution, pooling, padding, cropping and resizing layers of Keras."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from netwright.engine.core.fields import printable
from netwright.engine.exchange.importing.keras.archive import Array
from netwright.engine.exchange.importing.keras.layers_basic import with_activation
from netwright.engine.exchange.importing.keras.network_builder import Refused, Site, Value, rule


def dims_of(site: Site) -> int:
    """Return the number of dimensions that the class name says, and refuse an unusual order of axes."""
    name = site.layer.class_name.removesuffix("Transpose")
    dims = int(name[-2])
    data_format = site.config.get("data_format") or "channels_last"
    expected = "channels_first" if site.builder.channels_first and dims > 1 else "channels_last"
    if data_format != expected:
        raise Refused(f"its axes are {printable(str(data_format))[:60]}, those of the model {expected}")
    return dims


def _window(site: Site, dims: int) -> dict[str, Any]:
    padding = site.get("padding", str, "valid")
    if padding not in ("valid", "same", "causal"):
        raise Refused(f"its padding '{padding}' has no counterpart")
    return {"padding": (0,) * dims if padding == "valid" else padding}


def _weights(kernel: Array, bias: Sequence[Array], dims: int) -> dict[str, Array]:
    """Return a kernel (places, inputs, filters) with its last two axes in front, and the bias."""
    if kernel.ndim != dims + 2:
        raise Refused("its kernel has other axes than expected")
    weights = {"weight": np.ascontiguousarray(np.moveaxis(kernel, (-1, -2), (0, 1)))}
    return weights | ({"bias": bias[0]} if bias else {})


def _fields(site: Site, kernel: Array, bias: Sequence[Array], dims: int) -> dict[str, Any]:
    """Return our fields that every convolution has."""
    fields: dict[str, Any] = {"kernel": kernel.shape[:dims], "bias": bool(bias)}
    return fields | {"stride": site.sizes("strides", dims), "dilation": site.sizes("dilation_rate", dims)}


def _variables(site: Site, count: int = 1) -> list[Array]:
    """Return so many kernels of the layer, and its bias if it has one."""
    return site.variables(count=count + bool(site.get("use_bias", bool, True)))


@rule("Conv1D", "Conv2D", "Conv3D", "Convolution1D", "Convolution2D", "Convolution3D")
def convolution(site: Site) -> Value:
    """Plain or grouped; the kernel is turned to filters, channels, places."""
    dims, groups = dims_of(site), site.whole("groups", 1)
    kernel, *bias = _variables(site)
    weights = _weights(kernel, bias, dims)
    fields = {**_window(site, dims), **_fields(site, kernel, bias, dims)}
    key, filters = f"conv{dims}d", kernel.shape[-1]
    if groups > 1:
        key, filters, fields["groups"] = f"grouped_conv{dims}d", filters // groups, groups
    return with_activation(site, site.add(key, site.x, weights=weights, filters=filters, **fields))


def _depthwise(site: Site, kernel: Array, bias: Sequence[Array], suffix: str) -> Value:
    """Add a convolution of each channel by itself.

    Its kernel is (places, channels, multiplier) in Keras, and (channels · multiplier, 1, places) here.
    """
    dims = dims_of(site)
    weights = _weights(kernel, bias, dims)
    weights["weight"] = np.ascontiguousarray(weights["weight"].swapaxes(0, 1).reshape(-1, 1, *kernel.shape[:dims]))
    fields = {**_window(site, dims), **_fields(site, kernel, bias, dims), "filters": kernel.shape[-1]}
    return site.add(f"grouped_conv{dims}d", site.x, suffix=suffix, weights=weights, **fields)


@rule("DepthwiseConv1D", "DepthwiseConv2D")
def depthwise(site: Site) -> Value:
    """Each channel by itself."""
    kernel, *bias = _variables(site)
    return with_activation(site, _depthwise(site, kernel, bias, ""))


@rule("SeparableConv1D", "SeparableConv2D", "SeparableConvolution1D", "SeparableConvolution2D")
def separable(site: Site) -> Value:
    """Two layers: each channel by itself, then a mixture of the channels at each place."""
    dims, (kernel, pointwise, *bias) = dims_of(site), _variables(site, 2)
    x = _depthwise(site, kernel, [], "_depthwise")
    fields: dict[str, Any] = {"filters": pointwise.shape[-1], "kernel": (1,) * dims, "padding": (0,) * dims}
    weights = _weights(pointwise, bias, dims)
    out = site.add(f"conv{dims}d", x, suffix="_pointwise", weights=weights, bias=bool(bias), **fields)
    return with_activation(site, out)


@rule("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose", "Convolution2DTranspose")
def transposed(site: Site) -> Value:
    """Keras crops the odd place behind, our `same` before: such a layer gets a crop of its own."""
    dims, (kernel, *bias) = dims_of(site), _variables(site)
    weights = _weights(kernel, bias, dims)
    fields = {**_fields(site, kernel, bias, dims), "filters": kernel.shape[-2]}
    stride, is_same = fields["stride"], site.config.get("padding") == "same"
    reaches = [gap * (size - 1) + 1 for gap, size in zip(fields["dilation"], fields["kernel"], strict=True)]
    surplus = [reach - step for reach, step in zip(reaches, stride, strict=True)]
    fields |= {"cropping": (0,) * dims, "output_padding": tuple(max(0, -rest) for rest in surplus)}
    crops = is_same and any(rest > 0 for rest in surplus)
    if site.config.get("output_padding") is not None:
        fields |= {"cropping": tuple(reach // 2 for reach in reaches)} if is_same else {}
        fields["output_padding"], crops = site.sizes("output_padding", dims), False
    elif crops and all(rest % 2 == 0 and rest >= 0 for rest in surplus):
        fields["cropping"], crops = "same", False
        del fields["output_padding"]
    out = site.add(f"transposed_conv{dims}d", site.x, weights=weights, **fields)
    if crops:
        lengths = [site.x.type[axis] for axis in site.x.type.spatial]
        sizes = [size * step if isinstance(size, int) else 0 for size, step in zip(lengths, stride, strict=True)]
        out = crop(site, out, [max(0, rest) // 2 for rest in surplus], sizes, "_crop")
    return with_activation(site, out)


def crop(site: Site, x: Value, starts: list[int], sizes: list[int], suffix: str = "") -> Value:
    """Add a crop of the places from `starts` on, so many along each axis."""
    if any(size < 1 for size in sizes):
        raise Refused("a crop needs an input of a known size, of which something is left")
    if x.type.layout == "sequence":
        end = starts[0] + sizes[0]
        return site.add("slice", x, suffix=suffix, axis="T", start=starts[0], end=0 if x.type["T"] == end else end)
    key = f"crop{len(sizes)}d"
    return site.add(key, x, suffix=suffix, to="size", position="place", size=tuple(sizes), start=tuple(starts))


@rule(*(f"{kind}Pool{ing}{dims}D" for kind in ("Max", "Average", "Avg") for ing in ("ing", "") for dims in (1, 2, 3)))
def pooling(site: Site) -> Value:
    """Keras leaves padding out of an average."""
    dims = dims_of(site)
    kernel = site.sizes("pool_size", dims, 2)
    stride = site.sizes("strides", dims) if site.config.get("strides") is not None else kernel
    fields: dict[str, Any] = {"kernel": kernel, "stride": stride, **_window(site, dims)}
    if site.layer.class_name.startswith("Max"):
        return site.add(f"max_pool{dims}d", site.x, **fields)
    if fields["padding"] == "same":
        fields["padding_value"] = "mean"
    return site.add(f"average_pool{dims}d", site.x, **fields)


@rule(*(f"Global{kind}Pool{ing}{d}D" for kind in ("Max", "Average") for ing in ("ing", "") for d in (1, 2, 3)))
def global_pooling(site: Site) -> Value:
    """One number per channel."""
    dims_of(site)
    key = "global_max_pool" if "Max" in site.layer.class_name else "global_average_pool"
    return site.add(key, site.x, keep_axes=bool(site.get("keepdims", bool, False)))


def _sides(site: Site, name: str, dims: int) -> list[tuple[int, int]]:
    """Return how much is before and after each axis: one number, one per axis, or a pair per axis."""
    value = site.config.get(name, 1)
    if isinstance(value, int):
        value = [value] * (2 if dims == 1 else dims)
    if dims == 1:
        value = [value] if isinstance(value, list) and len(value) == 2 and isinstance(value[0], int) else value
    pairs = [[item, item] if isinstance(item, int) else item for item in value] if isinstance(value, list) else []
    if len(pairs) != dims or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise Refused(f"its setting {name} cannot be read")
    if not all(isinstance(size, int) and 0 <= size <= 100_000 for pair in pairs for size in pair):
        raise Refused(f"its setting {name} has sizes below 0 or above 100,000")
    return [(before, after) for before, after in pairs]


@rule("ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D")
def zero_padding(site: Site) -> Value:
    """A border of zeros."""
    dims = dims_of(site) if site.layer.class_name != "ZeroPadding1D" else 1
    border = tuple(size for pair in _sides(site, "padding", dims) for size in pair)
    return site.add(f"pad{dims}d", site.x, border=border)


@rule("Cropping1D", "Cropping2D", "Cropping3D")
def cropping(site: Site) -> Value:
    """A part of the places."""
    dims, x = int(site.layer.class_name[-2]), site.x
    sides = _sides(site, "cropping", dims)
    if dims == 1:
        before, after = sides[0]
        return site.add("slice", x, axis="T", start=before, end=-after)
    whole = [x.type[axis] for axis in x.type.spatial]
    sizes = [size - sum(pair) if isinstance(size, int) else 0 for size, pair in zip(whole, sides, strict=True)]
    return crop(site, x, [before for before, _ in sides], sizes)


@rule("UpSampling1D", "UpSampling2D", "UpSampling3D")
def up_sampling(site: Site) -> Value:
    """Places are repeated, or interpolated between their centres."""
    dims = int(site.layer.class_name[-2])
    factors, method = site.sizes("size", dims, 2), site.get("interpolation", str, "nearest")
    fields: dict[str, Any] = {"coordinates": "asymmetric", "rounding": "floor"}
    if method == "bilinear":
        fields = {"method": "linear"}
    elif method != "nearest":
        raise Refused(f"its interpolation '{method}' has no counterpart")
    if len(set(factors)) == 1:
        return site.add(f"resize{dims}d", site.x, scale=float(factors[0]), **fields)
    sizes = [site.x.type.known(axis, "the factors differ") for axis in site.x.type.spatial]
    target = tuple(size * factor for size, factor in zip(sizes, factors, strict=True))
    return site.add(f"resize{dims}d", site.x, by="size", size=target, **fields)


@rule("Resizing")
def resizing(site: Site) -> Value:
    """To a fixed height and width."""
    method = site.get("interpolation", str, "bilinear")
    if method not in ("nearest", "bilinear") or any(
        site.config.get(name) for name in ("crop_to_aspect_ratio", "pad_to_aspect_ratio", "antialias")
    ):
        raise Refused("its way of resizing has no counterpart")
    size = (site.whole("height", 1), site.whole("width", 1))
    return site.add("resize2d", site.x, by="size", size=size, method="linear" if method == "bilinear" else "nearest")
