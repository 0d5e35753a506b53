"""Rules for dense, normalisation, activation, embedding and attention layers of Keras."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from netwright.engine.core.fields import printable
from netwright.engine.exchange.importing.keras.archive import Array
from netwright.engine.exchange.importing.keras.config import Call, KerasLayer, Ref
from netwright.engine.exchange.importing.keras.network_builder import RULES, Refused, Site, Value, in_order, like, rule

ACTIVATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "relu": ("relu", {}),
    "relu6": ("clipped_relu", {"ceiling": 6.0}),
    "sigmoid": ("sigmoid", {}),
    "tanh": ("tanh", {}),
    "softmax": ("softmax", {}),
    "log_softmax": ("log_softmax", {}),
    "softplus": ("softplus", {}),
    "softsign": ("softsign", {}),
    "elu": ("elu", {}),
    "selu": ("selu", {}),
    "celu": ("celu", {}),
    "gelu": ("gelu", {}),
    "silu": ("swish", {}),
    "swish": ("swish", {}),
    "mish": ("mish", {}),
    "leaky_relu": ("leaky_relu", {"scale": 0.2}),
    "exponential": ("math_function", {"function": "exp"}),
    "hard_silu": ("hardswish", {}),
    "hard_swish": ("hardswish", {}),
    "hard_tanh": ("hardtanh", {}),
    "log_sigmoid": ("log_sigmoid", {}),
    "tanh_shrink": ("tanhshrink", {}),
    "hard_shrink": ("hardshrink", {}),
    "soft_shrink": ("softshrink", {}),
    "glu": ("glu", {}),
}
NEEDS_PLAIN = {"glu"}
"""Activations that pair channels, so that their order counts."""


def with_activation(site: Site, value: Value, suffix: str = "_activation") -> Value:
    """Return the value behind the activation that the layer's own setting names."""
    return activated(site, value, site.config.get("activation"), suffix)


def activated(site: Site, value: Value, setting: Any, suffix: str) -> Value:
    """Return the value behind an activation: a name, or a layer written out."""
    if isinstance(setting, dict):
        config = setting.get("config")
        if isinstance(config, dict) and setting.get("class_name") in RULES and not setting.get("registered_name"):
            layer = KerasLayer(site.layer.name, str(setting["class_name"]), config, ())
            ref = Ref(site.layer.name)
            inner = Site(site.builder, layer, Call((ref,)), {ref: value}, None, f"{site.name}{suffix}", True)
            result = RULES[layer.class_name](inner)
            return result if isinstance(result, Value) else result[0]
        setting = config if isinstance(config, str) else setting.get("registered_name") or setting.get("class_name")
    if setting in (None, "linear"):
        return value
    if setting == "hard_sigmoid":
        return like(_hard_sigmoid(site, value, suffix), value)
    if setting not in ACTIVATIONS:
        raise Refused(f"its activation '{printable(str(setting))[:60]}' has no counterpart")
    if setting in NEEDS_PLAIN and (value.shuffled is not None or value.order[-1] != "C"):
        raise Refused(f"its activation '{setting}' works along another axis than the channels")
    if "softmax" in setting and value.order[-1] != "C":
        raise Refused("its softmax works along another axis than the channels")
    key, fields = ACTIVATIONS[setting]
    return like(site.add(key, value, suffix=suffix, **fields), value)


def _hard_sigmoid(site: Site, value: Value, suffix: str) -> Value:
    """Return a hard sigmoid: Keras 3 rises by 1/6, as torch does; Keras 2 by 0.2."""
    if not site.builder.version.startswith("2"):
        return site.add("hardsigmoid", value, suffix=suffix)
    line = like(site.add("scaling", value, suffix=f"{suffix}_line", scale=0.2, shift=0.5), value)
    return site.add("hardtanh", line, suffix=suffix, low=0.0, high=1.0)


@rule("Activation", keeps_order=True)
def activation(site: Site) -> Value:
    """A named activation; `linear` changes nothing."""
    return activated(site, site.x, site.config.get("activation"), "")


@rule("Relu", "Sigmoid", "Tanh", "Selu", "Softplus", "Softsign", "Silu", keeps_order=True)
def function(site: Site) -> Value:
    """An activation as a function of a tensor, such as `keras.ops.relu(x)`."""
    if not site.layer.is_operation or len(site.call.args) + len(site.call.kwargs) != 1:
        raise Refused("the operation has no counterpart")
    return activated(site, site.x, site.layer.class_name.lower(), "")


@rule("ReLU", keeps_order=True)
def relu(site: Site) -> Value:
    """With an upper limit a clipped ReLU, with a slope a leaky one."""
    top, slope = site.config.get("max_value"), site.number("negative_slope", 0.0)
    if site.number("threshold", 0.0) or (top is not None and slope):
        raise Refused("a ReLU with a threshold, or with a limit and a slope, has no counterpart")
    if top is not None:
        return like(site.add("clipped_relu", site.x, ceiling=site.number("max_value", 0.0)), site.x)
    out = site.add("leaky_relu", site.x, scale=slope) if slope else site.add("relu", site.x)
    return like(out, site.x)


@rule("LeakyReLU", keeps_order=True)
def leaky_relu(site: Site) -> Value:
    """Keras 2 calls the slope alpha."""
    slope = site.number("negative_slope", site.number("alpha", 0.3))
    return like(site.add("leaky_relu", site.x, scale=slope), site.x)


SIMPLE: dict[str, tuple[str, dict[str, tuple[str, float]]]] = {
    "ELU": ("elu", {"alpha": ("alpha", 1.0)}),
    "ThresholdedReLU": ("threshold", {"threshold": ("theta", 1.0)}),
    "GaussianNoise": ("gaussian_noise", {"deviation": ("stddev", 1.0)}),
    "Rescaling": ("scaling", {"scale": ("scale", 1.0), "shift": ("offset", 0.0)}),
    "Identity": ("identity", {}),
}
"""Layers that compute each number by itself: our key, and for each field the setting in Keras with its default."""


@rule(*SIMPLE, keeps_order=True)
def simple(site: Site) -> Value:
    """A layer with other names for its settings."""
    key, settings = SIMPLE[site.layer.class_name]
    fields: dict[str, Any] = {name: site.number(*setting) for name, setting in settings.items()}
    return like(site.add(key, site.x, **fields), site.x)


@rule("PReLU", keeps_order=True)
def prelu(site: Site) -> Value:
    """One learned slope per channel; one per place has no counterpart."""
    (alpha,) = site.variables(count=1)
    x = site.x
    channel = x.order.index("C") if "C" in x.order else 0
    if alpha.ndim != len(x.order) or any(size != 1 for i, size in enumerate(alpha.shape) if i != channel):
        raise Refused("it learns a slope for each place; with shared_axes over all places it could be imported")
    return like(site.add("prelu", x, weights={"weight": in_order(alpha.reshape(-1), x)}), x)


@rule("Softmax", keeps_order=True)
def softmax(site: Site) -> Value:
    """Over the channels."""
    refuse_other_axis(site, site.x, "its softmax works")
    return like(site.add("softmax", site.x), site.x)


@rule("Dense", keeps_order=True)
def dense(site: Site) -> Value:
    """A matrix at the last axis: at each step of a sequence, a convolution of size 1 at each place of an image."""
    x = site.x
    kernel, *bias = site.variables(count=1 + bool(site.get("use_bias", bool, True)))
    if kernel.ndim != 2 or x.order[-1] != "C":
        raise Refused("it works along another axis than the channels")
    return _fully_connected(site, kernel, bias)


def _fully_connected(site: Site, kernel: Array, bias: Sequence[Array]) -> Value:
    """Add a product with a matrix (inputs, outputs) at the channels, and the activation behind it."""
    x, dims = site.x, len(site.x.type.spatial)
    weights = {"weight": np.ascontiguousarray(in_order(kernel.T, x)), **({"bias": bias[0].reshape(-1)} if bias else {})}
    fields: dict[str, Any] = {"bias": bool(bias)}
    if x.type.layout in ("features", "sequence"):
        key, fields["outputs"] = "fully_connected", kernel.shape[1]
    else:
        key, fields["filters"] = f"conv{dims}d", kernel.shape[1]
        fields |= {"kernel": (1,) * dims, "padding": (0,) * dims}
        weights["weight"] = weights["weight"].reshape(*kernel.T.shape, *[1] * dims)
    return with_activation(site, site.add(key, x, weights=weights, **fields))


@rule("EinsumDense")
def einsum_dense(site: Site) -> Value:
    """Where its equation is that of a dense layer at the last axis."""
    equation, layout = site.get("equation", str, "").replace(" ", ""), site.x.type.layout
    if equation not in ("ab,bc->ac", "abc,cd->abd", "...x,xy->...y") or layout not in ("features", "sequence"):
        raise Refused(f"its equation {printable(equation)[:40]} has no counterpart")
    kernel, *bias = site.variables(count=1 + (site.config.get("bias_axes") is not None))
    return _fully_connected(site, kernel, bias)


def refuse_other_axis(site: Site, x: Value, work: str = "it normalises") -> None:
    """Refuse a layer that works along another axis than the channels."""
    axis = site.config.get("axis", -1)
    axis = axis[0] if isinstance(axis, list) and len(axis) == 1 else axis
    if not isinstance(axis, int) or x.axis(axis) != "C":
        raise Refused(f"{work} along axis {axis}, not along the channels")


def scale_and_shift(site: Site, x: Value, rest: int = 0) -> tuple[dict[str, Any], list[Any], bool]:
    """Return learned scale and shift as our weights, the variables behind them, and whether there are any."""
    has_scale, has_shift = bool(site.get("scale", bool, True)), bool(site.get("center", bool, True))
    variables = site.variables(count=has_scale + has_shift + rest)
    channels = x.type.channels
    if not (has_scale or has_shift):
        return {}, variables, False
    if has_scale != has_shift:
        site.note(f"here {'a shift' if has_scale else 'a scale'} is learned too, which begins without effect.")
    scale = variables.pop(0) if has_scale else np.ones(channels, np.float32)
    shift = variables.pop(0) if has_shift else np.zeros(channels, np.float32)
    return {"weight": in_order(scale, x), "bias": in_order(shift, x)}, variables, True


@rule("BatchNormalization", "SyncBatchNormalization", keeps_order=True)
def batch_normalization(site: Site) -> Value:
    """Keras's momentum is what stays of the running values, ours what the batch adds."""
    x = site.x
    refuse_other_axis(site, x)
    weights, (mean, variance), affine = scale_and_shift(site, x, 2)
    weights |= {"running_mean": in_order(mean, x), "running_var": in_order(variance, x)}
    decay = min(1.0, max(1e-6, 1 - site.number("momentum", 0.99)))
    fields: dict[str, Any] = {"epsilon": site.number("epsilon", 1e-3), "momentum": round(decay, 9), "affine": affine}
    return like(site.add("batch_norm", x, weights=weights, **fields), x)


@rule("LayerNormalization", keeps_order=True)
def layer_normalization(site: Site) -> Value:
    """Over the channels of each place."""
    x = site.x
    refuse_other_axis(site, x)
    if site.get("rms_scaling", bool, False):
        raise Refused("rms_scaling of Keras subtracts the mean in the variance; it has no counterpart")
    weights, _, affine = scale_and_shift(site, x)
    over = "auto" if x.type.layout in ("features", "sequence") else "channel-only"
    fields: dict[str, Any] = {"epsilon": site.number("epsilon", 1e-3), "affine": affine, "over": over}
    return like(site.add("layer_norm", x, weights=weights, **fields), x)


@rule("RMSNormalization", keeps_order=True)
def rms_normalization(site: Site) -> Value:
    """Over the channels of each place."""
    x = site.x
    refuse_other_axis(site, x)
    (scale,) = site.variables(count=1)
    return like(
        site.add("rms_norm", x, weights={"weight": in_order(scale, x)}, epsilon=site.number("epsilon", 1e-6)), x
    )


@rule("GroupNormalization")
def group_normalization(site: Site) -> Value:
    """Groups of channels; -1 is one group per channel."""
    x = site.x
    refuse_other_axis(site, x)
    weights, _, affine = scale_and_shift(site, x)
    groups = site.whole("groups", 32)
    fields: dict[str, Any] = {
        "epsilon": site.number("epsilon", 1e-3),
        "affine": affine,
        "groups": 0 if groups == -1 else groups,
    }
    return site.add("group_norm", x, weights=weights, **fields)


@rule("Embedding")
def embedding(site: Site) -> Value:
    """A table of vectors."""
    (table,) = site.variables(count=1)
    if site.get("mask_zero", bool, False):
        site.note(
            "index 0 is a mask in Keras, which later layers pass over; here sequences of different lengths are padded "
            "by their lengths instead, and a 0 counts."
        )
    if table.ndim != 2:
        raise Refused("its table of vectors is damaged")
    sizes: dict[str, Any] = {"vocabulary": table.shape[0], "dimension": table.shape[1]}
    return site.add("embedding", site.x, weights={"weight": table}, **sizes)


@rule("MultiHeadAttention")
def multi_head_attention(site: Site) -> list[Value]:
    """Self-attention where query, key and value are one tensor."""
    sources = list(site.inputs)
    keywords = site.call.kwargs
    sources += [site.values[keywords[key]] for key in ("value", "key") if isinstance(keywords.get(key), Ref)]
    if len(sources) not in (2, 3) or any(value.type.layout != "sequence" for value in sources):
        raise Refused("expected query, value and optionally key, each a sequence")
    if any(keywords.get(key) is not None for key in ("attention_mask", "query_mask", "value_mask", "key_mask")):
        raise Refused("its mask is computed by the network; only the causal mask has a counterpart")
    for name in ("use_gate", "sliding_window"):
        if site.config.get(name):
            raise Refused(f"its setting {name} has no counterpart")
    query, value, key = sources[0], sources[1], sources[-1]
    weights, sizes = _attention_weights(site)
    fields: dict[str, Any] = {**sizes, "dropout": site.number("dropout", 0.0)}
    fields["mask"] = "causal" if keywords.get("use_causal_mask") is True else "none"
    fields["scores"] = "heads" if keywords.get("return_attention_scores") is True else "none"
    if query.port == key.port == value.port:
        return site.add_all("self_attention", query, weights=weights, **fields)
    return site.add_all("multihead_attention", query, key, value, weights=weights, **fields)


def _attention_weights(site: Site) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the weights of a multi-head attention and our fields. Keras keeps heads as an axis of their own."""
    has_bias = bool(site.get("use_bias", bool, True))
    weights: dict[str, Any] = {}
    sizes: dict[str, int] = {}
    for name in ("query", "key", "value", "result"):
        part = "output" if name == "result" else name
        variables = site.variables(f"{part}_dense") or site.variables(f"_{part}_dense")
        if len(variables) != 1 + has_bias or variables[0].ndim != 3:
            raise Refused(f"its {part} weights are not one matrix per head")
        kernel = variables[0]
        rows = kernel.reshape(kernel.shape[0], -1) if name != "result" else kernel.reshape(-1, kernel.shape[-1])
        weights[f"{name}.weight"] = np.ascontiguousarray(rows.T)
        if has_bias:
            weights[f"{name}.bias"] = variables[1].reshape(-1)
        sizes[name] = rows.shape[1]
    heads = site.whole("num_heads", 1)
    fields = {"heads": heads, "key_channels": sizes["key"], "value_channels": sizes["value"]}
    return weights, {**fields, "outputs": sizes["result"], "bias": has_bias}
