"""The random changes that a project asks for."""

from collections.abc import Callable, Sequence

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
    span: Callable[[int], Span],
    wanted: Sequence[Wanted],
) -> Augmentation | None:
    """What changes the batches of the training part, or None where nothing is asked for. `given` tells the network's
    inputs, `span` the smallest and the largest number of one of them in the whole part, `wanted` the targets."""
    if not options.augments:
        return None
    chosen = [place for place, facts in enumerate(given) if facts.type.layout == "image"]
    # Of picture files black and white are always the same, whatever there is of them in the training part.
    images = [Image(place, PICTURES if data.source == "images" else span(place)) for place in chosen]
    maps = [Map(place, one.facts.task) for place, one in enumerate(wanted) if one.facts.per == "pixel"]
    return Augmentation(options, images, maps, options.seed)
