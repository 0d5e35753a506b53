"""Responses without their units: what the last layer gives back is taken off again where the loss compares."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from engine.build.modules.normalisation import InverseNormalize
from engine.data.normalise import fit
from engine.data.sources.source import Array
from engine.training.batching.batches import Tensors
from engine.training.losses.choosing import Loss


class Scale(NamedTuple):
    """How an output and its target become normalised: (x - shift) / scale."""

    shift: torch.Tensor
    scale: torch.Tensor

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.shift) / self.scale


def fit_inverse(layer: nn.Module, kind: str, targets: Array, channel_axis: int) -> None:
    """Give the layer the numbers of these targets, in which NaN does not count. `kind` is one of
    `engine.layers.inputs.NORMALIZATIONS`."""
    columns = np.moveaxis(targets, channel_axis, 0).reshape(targets.shape[channel_axis], -1)
    each = [fit(kind, column[~np.isnan(column), np.newaxis], 1) for column in columns]
    shift, scale = (torch.from_numpy(np.concatenate(parts)) for parts in zip(*each, strict=True))
    layer.load_state_dict({"shift": shift, "scale": 1.0 / scale})


def scale_of(layer: nn.Module, device: torch.device) -> Scale:
    """What the layer undoes, as it has been fitted."""
    assert isinstance(layer, InverseNormalize)
    return Scale(*(part.detach().clone().view(layer.sizes).to(device) for part in (layer.shift, layer.scale)))


def normalised(loss: Loss, scales: Mapping[int, Scale]) -> Loss:
    """The loss of outputs and targets without their units, those of these numbers; others stay as they are."""

    def without_units(tensors: Tensors) -> Tensors:
        return tuple(scales[number](x) if number in scales else x for number, x in enumerate(tensors))

    def of_normalised(outputs: Tensors, targets: Tensors) -> torch.Tensor:
        return loss(without_units(outputs), without_units(targets))

    return of_normalised
