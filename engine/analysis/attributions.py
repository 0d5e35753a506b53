"""Attributions of an answer to parts of a sample: Grad-CAM, integrated gradients and occlusion, computed by captum.

Selvaraju et al.: Grad-CAM, 2017. Sundararajan, Taly, Yan: Axiomatic attribution for deep networks, 2017. Zeiler,
Fergus: Visualizing and understanding convolutional networks, 2014.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from netwright.engine.analysis.activations import Found, add_thumbnails, planes_of
from netwright.engine.analysis.subject import Layer, Sample, Scores, Subject, Target
from netwright.engine.core.errors import UserError
from netwright.engine.core.extras import import_extra
from netwright.engine.core.progress import report
from netwright.engine.data.loading.batches import Tensors
from netwright.engine.data.sources.source import Array
from netwright.engine.models.trained_model import DEVICE
from netwright.engine.project.preparation import InputPreparation

STEPS = 50
"""Points on the way from the baseline to the sample, as in captum."""
AT_ONCE = 32
"""Changed samples that are computed together."""
PARTS = 7
"""An occluding window covers about this part of the longer side of the sample."""
MEAN_OF = 512
"""Number of samples whose mean is the baseline of tables and sequences."""


def grad_cam(subject: Subject, sample: Sample, target: Target, layer: str) -> Found:
    """Return where a convolution layer looks for a class: arrays `heat` (H, W) in the size of the image, and `coarse`
    in that of the layer; both from 0 on."""
    captum = captum_attr("Grad-CAM")
    number, input_part = image_input(subject, "Grad-CAM")
    image_layer = subject.layer(layer, _has_places, "layer with images inside, which Grad-CAM needs")
    module, probes = subject.probed(image_layer.path)
    cam = captum.LayerGradCam(subject.scores(module), *probes)
    inputs = _with_slopes(sample.inputs, number)
    weights = cam.attribute(inputs, target=target.place, relu_attributions=True).detach().to(DEVICE)
    size = (input_part.sizes[1] or weights.shape[2], input_part.sizes[2] or weights.shape[3])
    heat = captum.LayerAttribution.interpolate(weights, size, interpolate_mode="bilinear")
    facts = {"layer": image_layer.name, "layer_path": image_layer.path, "is_signed": False}
    return Found(facts, {"heat": _plane(heat[0]), "coarse": _plane(weights[0])})


def attributions(subject: Subject, sample: Sample, target: Target) -> Found:
    """Return a small picture per layer of where it looks for a class, as bytes from 0 to 255: of images Grad-CAM, of
    vectors and sequences the size of output times gradient. The arrays are those of `thumbnails`."""
    findings = Found(told={"layers": []})
    for path, (output, slope) in subject.slopes_at(_with_slopes(sample.inputs, 0), target.place).items():
        if output.is_complex() or output.numel() == 0:
            continue
        values, slopes = output[0].float(), slope[0].float()
        if values.ndim >= 3:
            weights = slopes.mean(tuple(range(1, slopes.ndim)), keepdim=True)
            planes = planes_of((weights * values).sum(0, keepdim=True).relu().numpy())
        else:
            sizes = (values * slopes).abs().numpy()
            planes = sizes.T[np.newaxis] if sizes.ndim == 2 else np.atleast_1d(sizes)[np.newaxis, np.newaxis]
        add_thumbnails(findings, path, planes)
    return findings


def _has_places(layer: Layer) -> bool:
    return layer.layout == "image" and layer.family not in ("Input",) and layer.key not in ("softmax", "log_softmax")


def integrated_gradients(subject: Subject, sample: Sample, target: Target) -> Found:
    """Return how much each number of the sample adds to the score, compared with a baseline.

    They add up to the difference of both scores, but for `convergence_delta`. The baseline of an image is black, that
    of a table or sequence the mean of the split. Arrays as `_told_of` says.
    """
    captum = captum_attr("Integrated gradients")
    number, input_part = subject.main_input("The method integrated_gradients")
    x, others = sample.inputs[number], sample.inputs
    base, told_base = baseline(subject, number, input_part, x)
    method = captum.IntegratedGradients(Alone(subject.scores(subject.module), others, number, STEPS // AT_ONCE + 1))
    attribution, delta = method.attribute(
        x, base, target=target.place, n_steps=STEPS, internal_batch_size=AT_ONCE, return_convergence_delta=True
    )
    findings = _told_of(input_part, attribution[0].detach())
    findings.told |= {"baseline": told_base, "convergence_delta": float(delta[0]), "steps": STEPS}
    return findings


def occlusion(subject: Subject, sample: Sample, target: Target, window: int = 0) -> Found:
    """Return how much the score falls where a window of the sample is replaced by the baseline. `window`: its side in
    pixels or steps; 0 chooses one. Columns of a table are replaced one by one. Arrays as `_told_of` says."""
    captum = captum_attr("Occlusion")
    number, input_part = subject.main_input("The method occlusion")
    x = sample.inputs[number]
    base, told_base = baseline(subject, number, input_part, x)
    if x.ndim == 2:
        groups = torch.from_numpy(column_groups(input_part, x.shape[1]))
        forward = Alone(subject.scores(subject.module), sample.inputs, number, -(-(int(groups.max()) + 1) // AT_ONCE))
        method = captum.FeatureAblation(forward)
        parts = method.attribute(
            x, base, target=target.place, feature_mask=groups[None], perturbations_per_eval=AT_ONCE
        )
        sizes: tuple[int, ...] = (1,)
    else:
        axes = x.shape[2:] if x.ndim > 3 else x.shape[1:2]
        side = window or max(1, -(-max(axes) // PARTS))
        if side > max(axes):
            raise UserError(f"A window of {side:,} is larger than the sample: expected at most {max(axes):,}.")
        sizes = tuple(min(side, axis) for axis in axes)
        steps = tuple(max(1, size // 2) for size in sizes)
        whole = (x.shape[1], *sizes) if x.ndim > 3 else (*sizes, x.shape[2])
        strides = (x.shape[1], *steps) if x.ndim > 3 else (*steps, x.shape[2])
        count = int(
            np.prod([1 + -(-(axis - size) // step) for axis, size, step in zip(axes, sizes, steps, strict=True)])
        )
        method = captum.Occlusion(
            Alone(subject.scores(subject.module), sample.inputs, number, -(-count // AT_ONCE) + 1)
        )
        parts = method.attribute(x, whole, strides, baselines=base, target=target.place, perturbations_per_eval=AT_ONCE)
    findings = _told_of(input_part, parts[0].detach(), is_same_in_channels=True)
    findings.told |= {"baseline": told_base, "window": list(sizes)}
    return findings


class Alone(torch.nn.Module):
    """Scores as a function of one input; the others stay as they are. Reports progress."""

    def __init__(self, scores: Scores, inputs: Tensors, number: int, total: int) -> None:
        super().__init__()
        self.scores, self.inputs, self.number = scores, inputs, number
        self._total, self._done = total, 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inputs = [other.expand(len(x), *other.shape[1:]) for other in self.inputs]
        inputs[self.number] = x
        result: torch.Tensor = self.scores(*inputs)
        self._done += 1
        report(min(self._done, self._total), self._total, "steps")
        return result


def captum_attr(purpose: str) -> Any:
    """Return the methods of captum. Raises `UserError` where it is not installed."""
    return import_extra("captum.attr", "explain", purpose)


def _with_slopes(inputs: Tensors, number: int) -> Tensors:
    """Return inputs of which one takes part in the gradient: all weights are held."""
    return tuple(x.clone().requires_grad_() if at == number else x for at, x in enumerate(inputs))


def image_input(subject: Subject, method: str) -> tuple[int, InputPreparation]:
    """Return the first image among the inputs. Raises `UserError` where there is none."""
    for number, input_part in enumerate(subject.record.inputs):
        if input_part.axes == ("C", "H", "W") and input_part.content == "numbers":
            return number, input_part
    kind = "tables" if subject.record.inputs[0].axes == ("C",) else "sequences"
    instead = "permutation or integrated_gradients" if kind == "tables" else "integrated_gradients or attention"
    raise UserError(f"{method} is for networks that take images; this one takes {kind}. Use {instead}.")


def baseline(subject: Subject, number: int, input_part: InputPreparation, x: torch.Tensor) -> tuple[torch.Tensor, str]:
    """Return the baseline of an input and what it is: the black image, or the mean of the split."""
    if input_part.axes[-2:] == ("H", "W"):
        low, _ = subject.span(number, (*[x] * (number + 1),))
        return torch.full_like(x, min(low, 0.0) if not input_part.span else low), "black"
    try:
        places = subject.places(MEAN_OF)
    except UserError:
        return torch.zeros_like(x), "zero"
    if x.ndim == 2:
        rows = torch.cat([inputs[number] for _, inputs, _ in subject.batches(places, MEAN_OF)])
        return rows.mean(0, keepdim=True), "mean"
    sums = [
        (inputs[number].sum((0, 1)), inputs[number].shape[:2].numel()) for _, inputs, _ in subject.batches(places, 64)
    ]
    mean = torch.stack([total for total, _ in sums]).sum(0) / sum(count for _, count in sums)
    return mean.expand_as(x).contiguous(), "mean"


def column_groups(input_part: InputPreparation, count: int) -> Array:
    """Return for each number of a vector (C) the index of the column that it comes from."""
    if not input_part.columns:
        return np.arange(count)
    return np.repeat(np.arange(len(input_part.columns)), [len(column.names) for column in input_part.columns])


def group_names(input_part: InputPreparation, count: int) -> list[str]:
    """Return the names of the columns, or numbers from 1 where they have none."""
    return [column.name for column in input_part.columns] or [f"{number + 1}" for number in range(count)]


def _plane(x: torch.Tensor) -> Array:
    """Return an attribution (C, H, W) summed over channels, as float32 (H, W)."""
    return x.sum(0).float().numpy()


def _told_of(input_part: InputPreparation, parts: torch.Tensor, *, is_same_in_channels: bool = False) -> Found:
    """Return attributions of an image as array `heat` (H, W), the sum over channels; of a sequence as `matrix` (C, T);
    of a vector as `told["features"]` by column. `attribution` has every number.

    is_same_in_channels: all channels were changed at once, and each has the whole change.
    """
    whole = parts.float().numpy()
    findings = Found({"is_signed": True}, {"attribution": whole})
    if parts.ndim >= 3:
        planes = parts if parts.ndim == 3 else parts[:, parts.shape[1] // 2]
        findings.arrays["heat"] = planes[0].float().numpy() if is_same_in_channels else _plane(planes)
    elif parts.ndim == 2:
        findings.arrays["matrix"] = np.ascontiguousarray(whole.T[:1] if is_same_in_channels else whole.T)
    else:
        groups = column_groups(input_part, len(whole))
        names = group_names(input_part, len(whole))
        values = [_of_group(whole[groups == number], is_alike=is_same_in_channels) for number in range(len(names))]
        findings.told["features"] = [{"name": name, "value": value} for name, value in zip(names, values, strict=True)]
    return findings


def _of_group(values: Sequence[float] | Array, *, is_alike: bool) -> float:
    return float(values[0] if is_alike else np.sum(values))
