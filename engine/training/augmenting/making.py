"""The random changes that a project asks for."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from engine.data.facts import InputFacts
from engine.data.preview import Change
from engine.data.sources.source import Array
from engine.project.data import DataOptions
from engine.project.targets import Wanted
from engine.project.training import TrainingOptions
from engine.training.augmenting.colours import Span
from engine.training.augmenting.mixing import Mixing
from engine.training.augmenting.pictures import Augmentation, Image, Map

PICTURES: Span = (0.0, 255.0)


def augmentation_for(
    options: TrainingOptions,
    data: DataOptions,
    given: Sequence[InputFacts],
    span: Callable[[int], Span],
    wanted: Sequence[Wanted],
    samples: int,
) -> Augmentation | None:
    """What changes the batches of the training part, or None where nothing is asked for. `given` tells the network's
    inputs, `span` the smallest and the largest number of one of them in the whole part, which has so many samples,
    `wanted` the targets."""
    if not options.augments:
        return None
    chosen = [place for place, facts in enumerate(given) if facts.type.layout == "image"]
    images = [Image(place, span(place) if _needs_span(options, data) else PICTURES) for place in chosen]
    maps = [Map(place, one.facts.task) for place, one in enumerate(wanted) if one.facts.per == "pixel"]
    mixing = Mixing(options, samples, len(wanted[0].facts.classes)) if options.mixes else None
    return Augmentation(options, images, maps, options.seed, mixing)


def _needs_span(options: TrainingOptions, data: DataOptions) -> bool:
    """Whether black and white must be looked for, which may take reading all data. Of picture files they are always
    the same, whatever there is of them in the training part."""
    return data.source != "images" and any(name.startswith("jitter") for name in options.augments)


def change_for(options: TrainingOptions, data: DataOptions, epoch: int) -> Change:
    """What an epoch makes of some images of the data's first input, for a person to look at: the same as in a run."""

    def change(
        images: Array, maps: Array | None, places: Array, count: int, read: Callable[[Array], Array]
    ) -> tuple[Array, Array | None]:
        span = PICTURES
        if _needs_span(options, data):
            whole = read(np.arange(count))
            span = float(whole.min()), float(whole.max())
        shown = () if maps is None else (torch.from_numpy(maps),)
        mixing = Mixing(options, count, 1) if options.mixes else None
        seen = [Map(number, "classes") for number in range(len(shown))]
        made = Augmentation(options, [Image(0, span)], seen, options.seed, mixing)
        numbers = torch.from_numpy(places)
        if mixing is not None:
            images = read(made.wanted(numbers, epoch).numpy())
            shown = (torch.zeros(len(images), dtype=torch.int64),)  # of what class they are shows nowhere
        inputs, targets = made((_tensor(images),), shown, numbers, epoch)
        return inputs[0].numpy(), targets[0].numpy() if maps is not None else None

    return change


def _tensor(images: Array) -> torch.Tensor:
    """As a part of the data holds them, in memory of their own."""
    return torch.from_numpy(images.astype(np.float32))
