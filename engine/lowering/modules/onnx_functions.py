"""Compute operators of ONNX with torch.

A function takes the inputs of its operator, None for those that are left out, and its attributes. Whether it gives the
numbers of ONNX Runtime is tried when a file is imported: what is not quite the operator here, such as a rare attribute,
means only that ONNX Runtime computes it, without gradients.
"""

from typing import Any

import torch
from torch import nn


class NotInTorch(Exception):
    """An operator, or a value of an attribute, has no function here."""


def whole_numbers(x: list[Any], a: dict[str, Any], index: int, name: str) -> list[int] | None:
    """Return whole numbers that are an attribute in older versions of an operator and an input in newer ones."""
    if name in a:
        return [int(number) for number in a[name]]
    return None if x[index] is None else [int(number) for number in x[index].reshape(-1)]


def torch_functions() -> dict[str, Any]:
    """Return the functions by operator. One gives a tensor, or a list of them."""
    return {
        **element_functions(),
        **activation_functions(),
        **window_functions(),
        **norm_functions(),
        **reduction_functions(),
        **layout_functions(),
        **place_functions(),
    }


# ---- numbers by themselves ----


def element_functions() -> dict[str, Any]:
    """Return functions of each number by itself."""
    of_one = (
        "Abs Neg Exp Log Sqrt Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Erf Reciprocal Floor Ceil Round "
        "Sign IsNaN IsInf Relu Tanh Sigmoid Det"
    )
    alone = {name: getattr(torch, name.lower()) for name in of_one.split()}
    alone |= {name: getattr(nn.functional, name.lower()) for name in ("Softplus", "Softsign", "Mish", "HardSwish")}
    of_two = {name: name.lower() for name in ("Add", "Sub", "Mul", "Pow", "MatMul")}
    of_two |= {"Equal": "eq", "Less": "lt", "Greater": "gt", "LessOrEqual": "le", "GreaterOrEqual": "ge"}
    of_two |= {name: f"logical_{name.lower()}" for name in ("And", "Or", "Xor")}
    pairs = {name: getattr(torch, own) for name, own in of_two.items()}
    several: dict[str, Any] = {"Min": torch.amin, "Max": torch.amax, "Sum": torch.sum, "Mean": torch.mean}
    return {
        **{name: lambda x, a, f=f: f(x[0]) for name, f in alone.items()},
        **{name: lambda x, a, f=f: f(x[0], x[1]) for name, f in pairs.items()},
        **{name: lambda x, a, f=f: of_all(f, x[: a["num_inputs"]]) for name, f in several.items()},
        "Identity": lambda x, a: x[0],
        "Not": lambda x, a: torch.logical_not(x[0]),
        "Div": lambda x, a: torch.div(x[0], x[1], rounding_mode=None if x[0].is_floating_point() else "trunc"),
        "Mod": lambda x, a: (torch.fmod if a.get("fmod") else torch.remainder)(x[0], x[1]),
        "Where": lambda x, a: torch.where(x[0].bool(), x[1], x[2]),
        "Cast": lambda x, a: x[0].to(format_in_torch(a["to"])),
        "CastLike": lambda x, a: x[0].to(x[1].dtype),
        "Einsum": lambda x, a: torch.einsum(a["equation"], *x[: a["num_inputs"]]),
        "Gemm": general_product,
        "Attention": attention,
    }


def of_all(function: Any, x: list[Any]) -> Any:
    """Return the sum, mean, smallest or largest of several tensors, number by number."""
    return function(torch.stack(torch.broadcast_tensors(*x)), 0)  # type: ignore[no-untyped-call]


def format_in_torch(number: int) -> Any:
    """Return torch's number format for ONNX's number of it."""
    import onnx

    return getattr(torch, str(onnx.helper.tensor_dtype_to_np_dtype(number)))


def general_product(x: list[Any], a: dict[str, Any]) -> Any:
    """Return alpha · A · B + beta · C."""
    left, right = (matrix.T if a.get(name) else matrix for matrix, name in zip(x, ("transA", "transB"), strict=False))
    product = a.get("alpha", 1.0) * (left @ right)
    return product if x[2] is None else product + a.get("beta", 1.0) * x[2]


def attention(x: list[Any], a: dict[str, Any]) -> Any:
    """Return attention of queries to keys, whose heads are a dimension of their own, or parts of the last one. Raises
    `NotInTorch` for earlier keys and for other outputs."""
    if a["num_outputs"] > 1 or any(tensor is not None for tensor in x[4:7]) or a.get("softcap"):
        raise NotInTorch("Attention")
    counts = (a.get("q_num_heads"), a.get("kv_num_heads"), a.get("kv_num_heads"))
    query, key, value = (
        tensor.unflatten(-1, (count, -1)).transpose(1, 2) if tensor.dim() == 3 else tensor
        for tensor, count in zip(x[:3], counts, strict=True)
    )
    mask = x[3] if x[3] is None or x[3].dtype == torch.bool else x[3].to(query.dtype)
    result = nn.functional.scaled_dot_product_attention(
        query, key, value, mask, 0.0, bool(a.get("is_causal")), scale=a.get("scale"), enable_gqa=True
    )
    return result.transpose(1, 2).flatten(2) if x[0].dim() == 3 else result


def activation_functions() -> dict[str, Any]:
    """Return activation functions with constants."""
    return {
        "LeakyRelu": lambda x, a: nn.functional.leaky_relu(x[0], a.get("alpha", 0.01)),
        "PRelu": lambda x, a: torch.where(x[0] < 0, x[0] * x[1], x[0]),
        "Elu": lambda x, a: nn.functional.elu(x[0], a.get("alpha", 1.0)),
        "Celu": lambda x, a: nn.functional.celu(x[0], a.get("alpha", 1.0)),
        "Gelu": lambda x, a: nn.functional.gelu(x[0], approximate=a.get("approximate", "none")),
        "HardSigmoid": lambda x, a: (a.get("alpha", 0.2) * x[0] + a.get("beta", 0.5)).clamp(0.0, 1.0),
        "ThresholdedRelu": lambda x, a: nn.functional.threshold(x[0], a.get("alpha", 1.0), 0.0),
        "Clip": lambda x, a: torch.clamp(
            x[0], a.get("min") if x[1] is None else x[1], a.get("max") if x[2] is None else x[2]
        ),
        "Softmax": lambda x, a: along_axis(torch.softmax, x[0], a),
        "LogSoftmax": lambda x, a: along_axis(torch.log_softmax, x[0], a),
    }


def along_axis(function: Any, x: Any, a: dict[str, Any]) -> Any:
    """Return a softmax; before version 13 all dimensions from the axis on are taken together."""
    if a["opset"] >= 13:
        return function(x, a.get("axis", -1))
    return function(x.flatten(a.get("axis", 1)), -1).reshape(x.shape)


# ---- windows ----


def window_functions() -> dict[str, Any]:
    """Return functions of windows that slide over places."""
    return {
        "Conv": convolved,
        "ConvTranspose": convolved_transposed,
        "AveragePool": averaged,
        "MaxPool": largest,
        "GlobalAveragePool": lambda x, a: x[0].mean(list(range(2, x[0].dim())), keepdim=True),
        "GlobalMaxPool": lambda x, a: x[0].amax(list(range(2, x[0].dim())), keepdim=True),
    }


def window_of(a: dict[str, Any], kernel: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Return stride, dilation, and the padding as `torch.nn.functional.pad` takes it. Raises `NotInTorch` for a padding
    that depends on the size."""
    dims = len(kernel)
    pads = a.get("pads", [0] * 2 * dims)
    if a.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID") or a.get("ceil_mode"):
        raise NotInTorch("auto_pad")
    sides = [pads[at + side] for at in reversed(range(dims)) for side in (0, dims)]
    return list(a.get("strides", [1] * dims)), list(a.get("dilations", [1] * dims)), sides


def convolved(x: list[Any], a: dict[str, Any]) -> Any:
    """Return a convolution."""
    kernel = list(x[1].shape[2:])
    stride, dilation, sides = window_of(a, kernel)
    function = (nn.functional.conv1d, nn.functional.conv2d, nn.functional.conv3d)[len(kernel) - 1]
    return function(nn.functional.pad(x[0], sides), x[1], x[2], stride, 0, dilation, a.get("group", 1))


def convolved_transposed(x: list[Any], a: dict[str, Any]) -> Any:
    """Return a transposed convolution, of which the padding is cut off."""
    kernel = list(x[1].shape[2:])
    stride, dilation, sides = window_of(a, kernel)
    if "output_shape" in a:
        raise NotInTorch("output_shape")
    functions = (nn.functional.conv_transpose1d, nn.functional.conv_transpose2d, nn.functional.conv_transpose3d)
    more = list(a.get("output_padding", [0] * len(kernel)))
    whole = functions[len(kernel) - 1](x[0], x[1], x[2], stride, 0, more, a.get("group", 1), dilation)
    return nn.functional.pad(whole, [-side for side in sides])


def averaged(x: list[Any], a: dict[str, Any]) -> Any:
    """Return the averages of windows, also of such with gaps: a convolution of each channel with ones."""
    kernel = list(a["kernel_shape"])
    stride, dilation, sides = window_of(a, kernel)
    channels = x[0].shape[1]
    ones = torch.ones([channels, 1, *kernel], dtype=x[0].dtype, device=x[0].device)
    function = (nn.functional.conv1d, nn.functional.conv2d, nn.functional.conv3d)[len(kernel) - 1]
    counted = torch.ones_like(x[0][:1])
    counts = nn.functional.pad(counted, sides, value=1.0 if a.get("count_include_pad") else 0.0)
    sums = function(nn.functional.pad(x[0], sides), ones, None, stride, 0, dilation, channels)
    return sums / function(counts, ones, None, stride, 0, dilation, channels)


def largest(x: list[Any], a: dict[str, Any]) -> Any:
    """Return the largest numbers of windows. Raises `NotInTorch` where their places are taken as well."""
    kernel = list(a["kernel_shape"])
    stride, dilation, sides = window_of(a, kernel)
    if a["num_outputs"] > 1:
        raise NotInTorch("places")
    function = (nn.functional.max_pool1d, nn.functional.max_pool2d, nn.functional.max_pool3d)[len(kernel) - 1]
    return function(nn.functional.pad(x[0], sides, value=float("-inf")), kernel, stride, 0, dilation)


# ---- normalisation and reduction ----


def norm_functions() -> dict[str, Any]:
    """Return normalisations."""
    return {
        "LayerNormalization": lambda x, a: (
            nn.functional.layer_norm(
                x[0], x[0].shape[a.get("axis", -1) % x[0].dim() :], None, None, a.get("epsilon", 1e-5)
            )
            * x[1]
            + (0.0 if x[2] is None else x[2])
        ),
        "RMSNormalization": lambda x, a: (
            nn.functional.rms_norm(x[0], x[0].shape[a.get("axis", -1) % x[0].dim() :], None, a.get("epsilon", 1e-5))
            * x[1]
        ),
        "InstanceNormalization": lambda x, a: nn.functional.instance_norm(
            x[0], weight=x[1], bias=x[2], eps=a.get("epsilon", 1e-5)
        ),
        "GroupNormalization": lambda x, a: nn.functional.group_norm(
            x[0], a["num_groups"], x[1], x[2], a.get("epsilon", 1e-5)
        ),
        "BatchNormalization": lambda x, a: nn.functional.batch_norm(
            x[0], x[3], x[4], x[1], x[2], eps=a.get("epsilon", 1e-5)
        ),
        "LpNormalization": lambda x, a: x[0] / x[0].norm(a.get("p", 2), a.get("axis", -1), keepdim=True),
        "CumSum": summed_so_far,
    }


def reduction_functions() -> dict[str, Any]:
    """Return functions that leave one number of several."""
    functions: dict[str, Any] = {
        "ReduceSum": lambda x, axes, keeps: x.sum(axes, keeps),
        "ReduceMean": lambda x, axes, keeps: x.mean(axes, keeps),
        "ReduceMax": lambda x, axes, keeps: x.amax(axes, keeps),
        "ReduceMin": lambda x, axes, keeps: x.amin(axes, keeps),
        "ReduceL1": lambda x, axes, keeps: x.abs().sum(axes, keeps),
        "ReduceL2": lambda x, axes, keeps: x.square().sum(axes, keeps).sqrt(),
        "ReduceSumSquare": lambda x, axes, keeps: x.square().sum(axes, keeps),
        "ReduceLogSum": lambda x, axes, keeps: x.sum(axes, keeps).log(),
        "ReduceLogSumExp": lambda x, axes, keeps: x.logsumexp(axes, keeps),
    }
    return {name: lambda x, a, f=f: reduced(f, x, a) for name, f in functions.items()}


def reduced(function: Any, x: list[Any], a: dict[str, Any]) -> Any:
    """Return a reduction over some dimensions, or all."""
    axes = whole_numbers(x, a, 1, "axes")
    if not axes and a.get("noop_with_empty_axes"):
        return x[0]
    return function(x[0], axes or list(range(x[0].dim())), bool(a.get("keepdims", 1)))


def summed_so_far(x: list[Any], a: dict[str, Any]) -> Any:
    """Return sums of all numbers up to each, or before it (exclusive), from the other end (reverse)."""
    axis = int(x[1])
    turned = x[0].flip(axis) if a.get("reverse") else x[0]
    sums = turned.cumsum(axis)
    sums = sums - turned if a.get("exclusive") else sums
    return sums.flip(axis) if a.get("reverse") else sums


# ---- dimensions and places ----


def layout_functions() -> dict[str, Any]:
    """Return functions that change dimensions, or make tensors of sizes."""
    return {
        "Reshape": lambda x, a: x[0].reshape(
            [x[0].shape[at] if not size and not a.get("allowzero") else size for at, size in enumerate(x[1].tolist())]
        ),
        "Flatten": lambda x, a: x[0].reshape(int(torch.tensor(x[0].shape[: a.get("axis", 1)]).prod()), -1),
        "Transpose": lambda x, a: x[0].permute(a.get("perm", list(reversed(range(x[0].dim()))))),
        "Squeeze": squeezed,
        "Unsqueeze": unsqueezed,
        "Expand": expanded,
        "Concat": lambda x, a: torch.cat(x[: a["num_inputs"]], a["axis"]),
        "Split": lambda x, a: list(
            torch.split(
                x[0],
                whole_numbers(x, a, 1, "split") or -(-x[0].shape[a.get("axis", 0)] // a["num_outputs"]),
                a.get("axis", 0),
            )
        ),
        "Tile": lambda x, a: x[0].repeat(x[1].tolist()),
        "Shape": lambda x, a: torch.tensor(x[0].shape[a.get("start", 0) : a.get("end")], device=x[0].device),
        "Size": lambda x, a: torch.tensor(x[0].numel(), device=x[0].device),
        "Constant": lambda x, a: torch.as_tensor(next(value for key, value in a.items() if key.startswith("value"))),
        "ConstantOfShape": lambda x, a: a.get("value", torch.zeros(1, device=x[0].device)).expand(x[0].tolist()),
        "Range": lambda x, a: torch.arange(x[0].item(), x[1].item(), x[2].item(), dtype=x[0].dtype, device=x[0].device),
        "Trilu": lambda x, a: (torch.triu if a.get("upper", 1) else torch.tril)(x[0], 0 if x[1] is None else int(x[1])),
    }


def expanded(x: list[Any], a: dict[str, Any]) -> Any:
    """Return a tensor repeated along dimensions of size 1."""
    sizes = x[1].tolist()
    own = [1] * (len(sizes) - x[0].dim()) + list(x[0].shape)
    sizes = [1] * (len(own) - len(sizes)) + sizes
    return x[0].reshape(own).expand([max(pair) for pair in zip(own, sizes, strict=True)])


def squeezed(x: list[Any], a: dict[str, Any]) -> Any:
    """Return a tensor without dimensions of size 1."""
    axes = whole_numbers(x, a, 1, "axes")
    return x[0].squeeze() if axes is None else x[0].squeeze(axes)


def unsqueezed(x: list[Any], a: dict[str, Any]) -> Any:
    """Return a tensor with further dimensions of size 1."""
    axes = whole_numbers(x, a, 1, "axes") or []
    rank = x[0].dim() + len(axes)
    result = x[0]
    for axis in sorted(axis % rank for axis in axes):
        result = result.unsqueeze(axis)
    return result


def place_functions() -> dict[str, Any]:
    """Return functions that take numbers from some places, or put them there."""
    return {
        "Slice": sliced,
        "Pad": bordered,
        "Gather": gathered,
        "GatherElements": lambda x, a: x[0].gather(a.get("axis", 0), from_start(x[1], x[0].shape[a.get("axis", 0)])),
        "GatherND": lambda x, a: x[0][tuple(x[1].movedim(-1, 0))],
        "Resize": resized,
        "GridSample": lambda x, a: nn.functional.grid_sample(
            x[0],
            x[1],
            {"linear": "bilinear", "cubic": "bicubic"}.get(a.get("mode", "linear"), a.get("mode", "linear")),
            a.get("padding_mode", "zeros"),
            bool(a.get("align_corners", 0)),
        ),
    }


def from_start(places: Any, size: int) -> Any:
    """Return places counted from the start, of which negative ones count from the end."""
    return torch.where(places < 0, places + size, places)


def gathered(x: list[Any], a: dict[str, Any]) -> Any:
    """Return the numbers at places of one dimension."""
    axis = a.get("axis", 0) % x[0].dim()
    places = from_start(x[1], x[0].shape[axis])
    rows = x[0].index_select(axis, places.reshape(-1))
    return rows.reshape([*x[0].shape[:axis], *places.shape, *x[0].shape[axis + 1 :]])


def sliced(x: list[Any], a: dict[str, Any]) -> Any:
    """Return parts of dimensions; steps may go backwards."""
    starts, ends = whole_numbers(x, a, 1, "starts") or [], whole_numbers(x, a, 2, "ends") or []
    axes = whole_numbers(x, a, 3, "axes") or list(range(len(starts)))
    result = x[0]
    for start, end, axis, step in zip(
        starts, ends, axes, whole_numbers(x, a, 4, "steps") or [1] * len(starts), strict=True
    ):
        stop = None if step < 0 and end < -(2**31) else end
        places = range(result.shape[axis])[slice(start, stop, step)]
        result = result.index_select(axis, torch.tensor(places, dtype=torch.int64, device=result.device))
    return result


def bordered(x: list[Any], a: dict[str, Any]) -> Any:
    """Return a tensor with a border of a number, or of numbers of its own."""
    pads, rank = whole_numbers(x, a, 1, "pads") or [], x[0].dim()
    axes = [axis % rank for axis in whole_numbers(x, a, 3, "axes") or range(rank)]
    value = a.get("value", 0.0) if x[2] is None else x[2].item()
    result = x[0]
    for axis, before, after in zip(axes, pads[: len(axes)], pads[len(axes) :], strict=True):
        places = torch.arange(-before, result.shape[axis] + after, device=result.device)
        last, mode = result.shape[axis] - 1, a.get("mode", "constant")
        if mode == "constant":
            result = nn.functional.pad(result.movedim(axis, -1), (before, after), value=value).movedim(-1, axis)
        elif mode == "reflect":
            result = result.index_select(axis, last - (last - places.abs()).abs())
        else:
            result = result.index_select(axis, places % (last + 1) if mode == "wrap" else places.clamp(0, last))
    return result


def resized(x: list[Any], a: dict[str, Any]) -> Any:
    """Return places resized. Raises `NotInTorch` for samples and channels."""
    scales, dims = x[1] if a["opset"] < 11 else x[2], x[0].dim() - 2
    sizes = (
        x[3].tolist() if x[3] is not None else [int(n * s) for n, s in zip(x[0].shape, scales.tolist(), strict=True)]
    )
    if dims < 1 or sizes[:2] != list(x[0].shape[:2]):
        raise NotInTorch("Resize")
    kinds = {"linear": ("linear", "bilinear", "trilinear"), "cubic": ("", "bicubic", ""), "nearest": ("nearest",) * 3}
    mode = a.get("mode", "nearest")
    is_at_ends = a.get("coordinate_transformation_mode") == "align_corners"
    aligned = {} if mode == "nearest" else {"align_corners": is_at_ends}
    return nn.functional.interpolate(x[0], size=sizes[2:], mode=kinds[mode][dims - 1], **aligned)
