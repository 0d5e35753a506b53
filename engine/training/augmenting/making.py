"""The random changes that a project asks for."""

from collections.abc import Sequence

import torch

from engine.data.facts import InputFacts
from engine.project.data import DataOptions
from engine.project.targets import Wanted
from engine.project.training import TrainingOptions
from engine.training.augmenting.colours import Span
from engine.training.augmenting.pictures import Augmentation, Image, Map

PICTURES: Span = (0.0, 255.0)


def augmentation_for(
    options: TrainingOptions,
    data: DataOptions,
    given: Sequence[InputFacts],
    inputs: Sequence[torch.Tensor],
    wanted: Sequence[Wanted],
) -> Augmentation | None:
    """What changes the batches of the training part, or None where nothing is asked for. `given` tells the network's
    inputs, `inputs` are those of the whole part, `wanted` the targets."""
    if not options.augments:
        return None
    pairs = enumerate(zip(given, inputs, strict=True))
    images = [Image(place, _span(data, x)) for place, (facts, x) in pairs if facts.type.layout == "image"]
    maps = [Map(place, one.facts.task) for place, one in enumerate(wanted) if one.facts.per == "pixel"]
    return Augmentation(options, images, maps, options.seed)


def _span(data: DataOptions, inputs: torch.Tensor) -> Span:
    """What is black and white: of picture files always the same, whatever there is of them in the training part."""
    return PICTURES if data.source == "images" else (float(inputs.min()), float(inputs.max()))
