"""Activations of layers for a sample, their distribution over many samples, the weights of attention, and the filters
of convolutions."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from netwright.engine.analysis.subject import Layer, Sample, Subject, rows_of
from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import quoted
from netwright.engine.core.progress import report
from netwright.engine.data.sources.source import Array
from netwright.engine.data.sources.tokens import token_names
from netwright.engine.data.tables.histograms import of_numbers
from netwright.engine.lowering.attention_maps import MOST_STEPS, attention_weights, spaced
from netwright.engine.models.trained_model import DEVICE
from netwright.engine.network.analysis import owner_path
from netwright.engine.network.receptive_field import receptive_fields
from netwright.engine.training.metrics import channels_last

MOST_MAPS = 256
"""Number of channels that are told, the first ones."""
MOST_SAMPLES = 256
"""Number of samples of the split that the distribution of a layer is taken from."""
MOST_PIXELS = 256
"""Largest side of a map; larger ones are averaged down."""
BATCH = 64
THUMBNAILS, THUMBNAIL_PIXELS = 6, 32
"""Channels per layer and largest side of the small maps on the canvas."""


@dataclass
class Found:
    """An explanation: `told`, facts as JSON, and arrays by name."""

    told: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)


def activations(subject: Subject, sample: Sample, name: str) -> Found:
    """Return the activations of a layer for a sample, and the distribution of its values over samples of the split.

    Arrays: `maps` (K, H, W) of an image (of a volume the middle slice), `matrix` (C, T) of a sequence, `values` (C) of
    a vector; `means` (C), the mean of each channel over samples, and `largest` (C).
    """
    layer = subject.layer(name or _deepest(subject), lambda layer: True, "layer")
    output = subject.outputs_at(subject.answering, sample.inputs, {layer.path})[layer.path]
    findings = Found(told=_of_layer(subject, layer))
    values = output[0].float().numpy()
    if values.ndim >= 3:
        planes = planes_of(values)
        findings.arrays["maps"] = np.stack([reduced(plane, MOST_PIXELS) for plane in planes[:MOST_MAPS]])
    elif values.ndim == 2:
        findings.arrays["matrix"] = np.ascontiguousarray(values.T)
    else:
        findings.arrays["values"] = np.atleast_1d(values)
    findings.told |= {"channels": output.shape[1] if output.ndim > 3 else output.shape[-1]}
    findings.told |= {"histogram": of_numbers(values.reshape(-1)), "zeros": float((values == 0).mean())}
    _add_distribution(subject, layer, findings)
    return findings


def _deepest(subject: Subject) -> str:
    """Return the path of the last layer with images, or of the last one before the output."""
    layers = list(subject.layers.values())
    images = [layer for layer in layers if layer.layout == "image" and layer.key != "softmax"]
    return (images or layers[:-1] or layers)[-1].path


def _of_layer(subject: Subject, layer: Layer) -> dict[str, Any]:
    """Return name and receptive field of a layer."""
    network, analysis = subject.trained.network, subject.trained.analysis
    reach = receptive_fields(network, analysis).get(layer.path)
    facts: dict[str, Any] = {"layer": layer.name, "layer_path": layer.path, "receptive_field": None}
    if reach is not None and reach.sizes:
        strides = [float(stride) for stride in reach.strides]
        facts["receptive_field"] = {"sizes": list(reach.sizes), "strides": strides}
    return facts


def _add_distribution(subject: Subject, layer: Layer, findings: Found) -> None:
    """Add the distribution of the activations over samples of the split; a run without its data has none."""
    try:
        places = subject.places(MOST_SAMPLES)
    except UserError as error:
        findings.told["notes"] = [f"There is no distribution over samples: {error}"]
        return
    pieces, means, largest = [], [], []
    for _, _, outputs in subject.layer_outputs(places, BATCH, {layer.path}):
        output = outputs[layer.path].float()
        last = channels_last(output)
        pieces.append(last.reshape(-1)[:: 1 + last.numel() // 100_000].numpy())
        means.append(rows_of(output).sum(0))
        largest.append(last.reshape(-1, last.shape[-1]).amax(0))
        report(sum(map(len, pieces)), 0, "values")
    high = torch.stack(largest).amax(0)
    findings.arrays |= {"means": (torch.stack(means).sum(0) / len(places)).numpy(), "largest": high.numpy()}
    dead = int((high <= 0).sum()) if layer.key.endswith("relu") else 0
    findings.told["split_histogram"] = {**of_numbers(np.concatenate(pieces)), "samples": len(places)}
    findings.told["dead_channels"] = dead


def planes_of(values: Array) -> Array:
    """Return images (K, H, W) of channels first (C, H, W), or of a volume (C, D, H, W) its middle slices."""
    return values if values.ndim == 3 else values[:, values.shape[1] // 2]


def reduced(plane: Array, most: int) -> Array:
    """Return a map (H, W) with sides of at most `most`, averaged over equal windows."""
    step = -(-max(plane.shape) // most)
    if step == 1:
        return plane
    high, wide = (step if side >= 2 * step else -(-side // most) for side in plane.shape)  # few rows stay rows
    rows, columns = plane.shape[0] // high, plane.shape[1] // wide
    return np.asarray(plane[: rows * high, : columns * wide].reshape(rows, high, columns, wide).mean((1, 3)))


def thumbnails(subject: Subject, sample: Sample) -> Found:
    """Return small pictures of the activations of every layer for a sample, as bytes from 0 to 255.

    Arrays `layer_0`, `layer_1` ...: (K, h, w), where `told["layers"]` has the id path of each. Each layer has a scale
    of its own. A vector or a sequence is one map: (1, 1, C), (1, C, T).
    """
    paths = set(subject.layers)
    outputs = subject.outputs_at(subject.answering, sample.inputs, paths)
    findings = Found(told={"layers": []})
    for path, output in outputs.items():
        if output.is_complex() or output.numel() == 0:
            continue
        values = output[0].float().numpy()
        if values.ndim >= 3:
            planes = planes_of(values)[:THUMBNAILS]
        elif values.ndim == 2:
            planes = values.T[np.newaxis]
        else:
            planes = np.atleast_1d(values)[np.newaxis, np.newaxis]
        add_thumbnails(findings, path, planes)
    return findings


def add_thumbnails(findings: Found, path: str, planes: Array) -> None:
    """Add small pictures (K, H, W) of a layer, all on one scale."""
    maps = np.stack([reduced(plane, THUMBNAIL_PIXELS) for plane in planes])
    low, high = float(maps.min()), float(maps.max())
    scaled = (maps - low) * (255.0 / (high - low)) if high > low else np.zeros_like(maps)
    findings.arrays[f"layer_{len(findings.told['layers'])}"] = np.rint(scaled).astype(np.uint8)
    findings.told["layers"].append({"path": path, "low": low, "high": high})


def shown(subject: Subject, sample: Sample) -> Found:
    """Return a sample itself: of a vector `told["features"]` by the names of its numbers, of a sequence of numbers the
    array `matrix` (C, T). Its picture and the answers are added to every explanation of a sample."""
    findings = Found()
    input_part, x = subject.record.inputs[0], sample.inputs[0][0]
    if input_part.axes == ("C",):
        names = input_part.column_names or [f"{number + 1}" for number in range(len(x))]
        findings.told["features"] = [
            {"name": name, "value": float(v)} for name, v in zip(names, x.tolist(), strict=True)
        ]
    elif input_part.axes == ("T", "C"):
        findings.arrays["matrix"] = np.ascontiguousarray(x.float().numpy().T)
    return findings


def filters(subject: Subject, name: str) -> Found:
    """Return the filters of a 2-D convolution: array `maps` (K, h, w), or (K, h, w, 3) where they take three channels.

    Of more channels the mean is told; `filters` (K, C, h, w) has all, of at most `MOST_MAPS` filters.
    """
    layer = subject.layer(name, lambda layer: layer.key in CONVOLUTIONS, "2-D convolution, whose filters are pictures")
    prefix = subject.trained.module_names[owner_path(subject.trained.network, layer.path)]
    weights = subject.module.state_dict()
    weight = next(weights[f"{module_name}.weight"] for module_name in prefix if f"{module_name}.weight" in weights)
    weight = weight.to(DEVICE, torch.float32)
    if layer.key == "transposed_conv2d":
        weight = weight.transpose(0, 1)
    kernels = weight[:MOST_MAPS].numpy()
    count, channels = weight.shape[0], weight.shape[1]
    pictures = kernels.transpose(0, 2, 3, 1) if channels == 3 else kernels.mean(1)
    findings = Found(
        told=_of_layer(subject, layer), arrays={"maps": np.ascontiguousarray(pictures), "filters": kernels}
    )
    findings.told |= {
        "channels": count,
        "input_channels": channels,
        "histogram": of_numbers(weight.reshape(-1).numpy()),
    }
    if channels not in (1, 3):
        findings.told["notes"] = [f"Each picture is the mean of a filter over its {channels:,} input channels."]
    return findings


CONVOLUTIONS = ("conv2d", "grouped_conv2d", "transposed_conv2d")


def attention(subject: Subject, sample: Sample, name: str) -> Found:
    """Return the attention weights of one layer, or of all: array `attention_n` (heads, queries, keys) for entry n of
    `told["layers"]`. `told["tokens"]` has the words or bytes of a text, where the input is one."""
    paths = {path for path, layer in subject.layers.items() if layer.family == "Attention"}
    weights_by_path = attention_weights(subject.answering, subject.placed(sample.inputs), paths)
    findings = Found({"layers": [], "tokens": _tokens(subject, sample)})
    names = [subject.layers[path].name for path in weights_by_path]
    if not names:
        raise UserError(
            "This network has no attention layer. Use activations, which shows what any layer gives, or "
            "integrated_gradients and occlusion, which show what an answer follows from."
        )
    if name and name not in names and name not in weights_by_path:
        hint = did_you_mean(name, names)
        raise UserError(f"There is no attention layer {quoted(name)}.{hint} Choose one of {', '.join(names[:12])}.")
    for path, several in weights_by_path.items():
        layer = subject.layers[path].name
        for number, weights in enumerate(several):
            if name and name not in (layer, path):
                continue
            findings.arrays[f"attention_{len(findings.told['layers'])}"] = spaced(weights)
            several_names = layer if len(several) == 1 else f"{layer}, {number + 1} of {len(several)}"
            size = {"heads": len(weights), "steps": list(weights.shape[1:])}
            findings.told["layers"].append({"name": several_names, **size})
    return findings


def _tokens(subject: Subject, sample: Sample) -> list[str]:
    """Return the tokens of the first text of a sample, empty where there is none."""
    for input_part, x in zip(subject.record.inputs, sample.inputs, strict=False):
        if input_part.text is not None:
            names = token_names(input_part.text)
            return [names[number] for number in x[0].tolist()[:MOST_STEPS]]
    return []
