"""Rules for reshaping, merging, preprocessing and regularising layers of Keras, and operations on tensors."""

import math
from typing import Any

import numpy as np

from netwright.engine.core.fields import printable
from netwright.engine.exchange.importing.keras.config import Ref
from netwright.engine.exchange.importing.keras.layers_basic import refuse_other_axis
from netwright.engine.exchange.importing.keras.network_builder import LAYOUT_OF, Refused, Site, Value, like, rule

MERGES = {
    "Add": "addition",
    "Multiply": "multiplication",
    "Average": "average",
    "Maximum": "maximum",
    "Minimum": "minimum",
}


@rule("Flatten")
def flatten(site: Site) -> Value:
    """Numbers of an image come in another order; layers behind it turn their weights to it where they can."""
    x = site.x
    path = f"{site.builder.path}{site.layer.name}"
    shape = x.shape
    if x.order == x.type.axes or not all(isinstance(size, int) for size in shape):
        return site.add("flatten", x)
    if path in site.builder.ordered:
        return site.add("flatten", in_keras_order(site, x))
    out = site.add("flatten", x)
    numbers = np.arange(math.prod(shape)).reshape([x.type.known(axis, "it is flattened") for axis in x.type.axes])
    shuffled = numbers.transpose([x.type.axes.index(axis) for axis in x.order]).reshape(-1)
    is_same = bool((shuffled == np.arange(len(shuffled))).all())
    return out if is_same else Value(out.port, out.type, out.order, shuffled, path)


def in_keras_order(site: Site, x: Value) -> Value:
    """Return the value with its numbers in memory as Keras has them; its axes keep their letters."""
    if x.order == x.type.axes:
        return x
    return site.add("permute", x, suffix="_order", order=tuple(x.type.axes.index(axis) + 1 for axis in x.order))


def _reshaped(site: Site, x: Value, sizes: tuple[int, ...], suffix: str = "") -> Value:
    """Add what gives the numbers of `x`, in Keras's order, these sizes in Keras's order."""
    if not 1 <= len(sizes) <= 4:
        raise Refused(f"its result has {len(sizes)} axes beside the batch; at most 4 have a counterpart")
    ordered = in_keras_order(site, x)
    out = site.add("reshape", ordered, suffix=suffix, layout=LAYOUT_OF[len(sizes)], sizes=sizes)
    order = site.builder.orders(len(sizes))
    if order == out.type.axes:
        return out
    turn = tuple(order.index(axis) + 1 for axis in out.type.axes)
    return site.add("permute", out, suffix=f"{suffix}_channels_first", order=turn)


@rule("Reshape")
def reshape(site: Site) -> Value:
    """Other axes for the same numbers, in Keras's order."""
    target = site.config.get("target_shape")
    if not isinstance(target, list) or not all(isinstance(size, int) for size in target):
        raise Refused("its target shape has unknown sizes")
    count = site.x.type.count
    others = math.prod(size for size in target if size != -1)
    if count is None or target.count(-1) > 1 or others < 1:
        raise Refused("its sizes must be known to reshape")
    return _reshaped(site, site.x, tuple(count // others if size == -1 else size for size in target))


@rule("Permute")
def permute(site: Site) -> Value:
    """Keras numbers the axes from 1 in its order."""
    x, dims = site.x, site.config.get("dims")
    if not isinstance(dims, list) or sorted(map(str, dims)) != [str(n) for n in range(1, len(x.order) + 1)]:
        raise Refused("its axes cannot be read")
    source = {axis: x.order[number - 1] for axis, number in zip(x.order, dims, strict=True)}
    return site.add("permute", x, order=tuple(x.type.axes.index(source[axis]) + 1 for axis in x.type.axes))


@rule("RepeatVector")
def repeat_vector(site: Site) -> Value:
    """The same features at each of so many steps."""
    return site.add("repeat_vector", site.x, steps=site.whole("n", 1))


@rule("Dropout", keeps_order=True)
def dropout(site: Site) -> Value:
    """Nothing where the rate is zero."""
    rate = site.number("rate", 0.5)
    if site.config.get("noise_shape"):
        site.note("its noise shape is not taken over; each number is dropped by itself.")
    return like(site.add("dropout", site.x, probability=rate), site.x) if rate else site.x


@rule("AlphaDropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D")
def other_dropout(site: Site) -> Value:
    """Whole channels, or for networks of SELUs."""
    key = "alpha_dropout" if site.layer.class_name == "AlphaDropout" else "spatial_dropout"
    return site.add(key, site.x, probability=site.number("rate", 0.5))


@rule("Masking", "ActivityRegularization", "GaussianDropout", keeps_order=True)
def passed(site: Site) -> Value:
    """What has no counterpart, and changes no result of a trained network."""
    why = "masks steps in Keras; here sequences are padded by their lengths" if "Mask" in site.layer.class_name else ""
    site.note(f"left out: {site.layer.class_name} {why or 'works in training only, and has no counterpart'}.")
    return site.x


@rule(
    *("RandomFlip", "RandomRotation", "RandomZoom", "RandomTranslation", "RandomContrast", "RandomBrightness"),
    "RandomCrop",
)
def augmentation(site: Site) -> Value:
    """Random changes of images belong to the training options."""
    if site.layer.class_name == "RandomCrop":
        raise Refused("it also crops in prediction; crop the images before they enter")
    site.note("left out: it changes images in training only. Choose augmentation in the training options.")
    return site.x


@rule("Add", "Multiply", "Average", "Maximum", "Minimum")
def merge(site: Site) -> Value:
    """Place by place; an operation with one number is a scaling."""
    values = site.inputs
    if len(values) == 1 and site.layer.is_operation:
        return _with_number(site, site.layer.class_name)
    key = MERGES[site.layer.class_name]
    return site.add(key, *values, inputs=len(values))


@rule("Subtract", "Divide", "TrueDivide")
def subtract(site: Site) -> Value:
    """The second from the first, or divided by it."""
    if len(site.inputs) == 1 and site.layer.is_operation:
        return _with_number(site, site.layer.class_name)
    key = "subtraction" if site.layer.class_name == "Subtract" else "division"
    return site.add(key, *site.inputs)


def _with_number(site: Site, kind: str) -> Value:
    """Add the operation of a tensor and a number."""
    others = [arg for arg in (*site.call.args, *site.call.kwargs.values()) if not isinstance(arg, Ref)]
    number = next((arg for arg in others if isinstance(arg, int | float) and not isinstance(arg, bool)), None)
    first = bool(site.call.args) and isinstance(site.call.args[0], Ref)
    if number is None or kind in ("Maximum", "Minimum", "Average") or (kind == "TrueDivide" and not first):
        raise Refused("the operation has no counterpart")
    fields = {
        "Add": {"shift": number},
        "Multiply": {"scale": number},
        "Subtract": {"shift": -number} if first else {"scale": -1.0, "shift": number},
    }.get(kind) or {"scale": 1 / number if number else math.inf}
    return site.add("scaling", site.x, **_floats(fields))


def _floats(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: float(value) for name, value in fields.items()}


@rule("Dot")
def dot(site: Site) -> Value:
    """The product of two vectors, or the cosine of their angle."""
    axes = site.config.get("axes")
    if any(len(x.order) != 1 for x in site.inputs) or axes not in (1, -1, [1, 1], [-1, -1]):
        raise Refused("a product of more than two vectors has no counterpart; use MultiHeadAttention, or ONNX")
    if site.config.get("normalize"):
        return site.add("cosine_similarity", *site.inputs)
    return site.add("dot_product", *site.inputs)


@rule("Concatenate")
def concatenate(site: Site) -> Value:
    """Along one axis, by its letter."""
    values = site.inputs
    axis = site.config.get("axis", site.call.kwargs.get("axis", -1))
    if not values or not isinstance(axis, int):
        raise Refused("its axis cannot be read")
    return site.add("concatenation", *values, inputs=len(values), axis=values[0].axis(axis))


@rule("Normalization")
def normalization(site: Site) -> Value:
    """The numbers of Keras's data, as a frozen batch normalisation without scale and shift."""
    x = site.x
    if site.config.get("invert"):
        raise Refused("an inverted normalisation has no counterpart")
    statistics: list[Any] = site.variables()[:2]
    if not statistics and site.config.get("mean") is not None:
        statistics = [np.asarray(site.config[name], np.float32) for name in ("mean", "variance")]
    if len(statistics) != 2:
        raise Refused("its mean and variance are not in the file")
    mean, deviation = statistics[0].reshape(-1), np.maximum(np.sqrt(statistics[1].reshape(-1)), 1e-7)
    if site.config.get("axis") is None or mean.size == 1:
        scale = 1 / float(deviation[0])
        return site.add("scaling", x, scale=scale, shift=-float(mean[0]) * scale)
    refuse_other_axis(site, x)
    weights = {"running_mean": mean.astype(np.float32), "running_var": (deviation**2).astype(np.float32)}
    return site.add("batch_norm", x, weights=weights, affine=False, frozen=True, epsilon=1e-12)


@rule("Lambda")
def user_function(site: Site) -> Value:
    """Code, which is not run."""
    raise Refused("it holds code, which is not run. Rewrite it with layers, or use the ONNX file of the model")


@rule("StringLookup", "IntegerLookup", "TextVectorization", "Hashing", "Discretization", "CategoryEncoding")
def preparation(site: Site) -> Value:
    """Preparation of raw data has no layer here."""
    name = printable(site.layer.class_name)
    raise Refused(f"{name} prepares raw data; here that belongs to the options of the data")
