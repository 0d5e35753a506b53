"""Augmentation of training batches: geometry, colours, noise, erasing and mixing of images; changes of sequences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from netwright.engine.data.loading.augment_colours import Colours, Erasing, Noise, Span
from netwright.engine.data.loading.augment_geometry import Geometry, Way, fills, moved_images, moved_maps, moved_numbers
from netwright.engine.data.loading.augment_mixing import Mixing
from netwright.engine.data.loading.augment_sequences import SequenceChanges, Sequences, Steps
from netwright.engine.data.loading.batches import ResidentDataset
from netwright.engine.data.loading.counter_rng import CounterRng
from netwright.engine.data.sources.source import Array
from netwright.engine.project.bindings import Wanted
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import IGNORED, InputInfo
from netwright.engine.project.options.augmentation_options import OF_SEQUENCES, AugmentationOptions
from netwright.engine.project.training import TrainingOptions

Tensors = tuple[torch.Tensor, ...]
PICTURES: Span = (0.0, 255.0)


@dataclass(frozen=True)
class Image:
    """An input of images: its index among the inputs, and the values of black and white."""

    place: int
    span: Span


@dataclass(frozen=True)
class Map:
    """A target with a value per pixel: its index among the targets, and its task."""

    place: int
    task: str

    def moved(self, target: torch.Tensor, way: Way) -> torch.Tensor:
        """Return the target moved like the image; pixels from outside the image are ignored."""
        match self.task:
            case "classes":
                return moved_maps(target, way, IGNORED)
            case "labels":
                return moved_maps(target, way, torch.nan)
        return moved_numbers(target, way)


@dataclass(frozen=True)
class Timed:
    """A target with a value per step: its index among the targets, and that of the input whose steps it has."""

    place: int
    of_input: int


class Augmentation:
    """Random transform of images and sequences, applied also to targets per pixel or step so that they stay aligned.

    All images of a sample get the same transform. It depends on seed, epoch and sample index only.
    """

    def __init__(
        self,
        options: AugmentationOptions,
        images: Sequence[Image],
        maps: Sequence[Map] = (),
        seed: int = 0,
        mixing: Mixing | None = None,
        sequences: Sequence[Sequences] = (),
        timed: Sequence[Timed] = (),
    ) -> None:
        """`mixing` needs all inputs to be images, and one target, which is a class per sample."""
        self._seed = seed
        self._mixing = mixing
        self._images, self._maps = tuple(images), tuple(maps)
        self._fill = options.fill_value or (0.0,)
        self._geometry = Geometry(options)
        self._colours = [Colours(options, image.span) for image in images]
        self._noise = Noise(options.noise_deviation, seed) if options.does("noise_deviation") else None
        self._erasing = Erasing(options) if options.does("erasing_probability") else None
        self._sequences = [SequenceChanges(options, part, seed) for part in sequences]
        self._timed = tuple(timed)

    def wanted(self, numbers: torch.Tensor, epoch: int) -> torch.Tensor:
        """Return the indices of all samples needed: `numbers`, followed by the samples they are mixed with."""
        if self._mixing is None:
            return numbers
        return torch.cat([numbers, self._mixing.partners(CounterRng(self._seed, epoch, numbers))])

    @torch.no_grad()
    def __call__(
        self, inputs: Sequence[torch.Tensor], targets: Sequence[torch.Tensor], numbers: torch.Tensor, epoch: int
    ) -> tuple[Tensors, Tensors]:
        """Return transformed inputs and targets of the samples `numbers`, given those of all samples of `wanted`.

        Inputs and targets without a transform are the same tensors.
        """
        every = self.wanted(numbers, epoch)
        new_inputs, new_targets = self._changed(inputs, targets, CounterRng(self._seed, epoch, every), every)
        if self._mixing is None:
            return new_inputs, new_targets
        draws, count = CounterRng(self._seed, epoch, numbers), len(numbers)
        mixed = [self._mixing.images(x[:count], x[count:], draws) for x in new_inputs]
        shares = self._mixing.shares(targets[0][:count], targets[0][count:], mixed[0][1])
        return tuple(x for x, _ in mixed), (shares,)

    def _changed(
        self,
        inputs: Sequence[torch.Tensor],
        targets: Sequence[torch.Tensor],
        draws: CounterRng,
        numbers: torch.Tensor,
    ) -> tuple[Tensors, Tensors]:
        """Transform each sample by itself, before mixing."""
        new_inputs, new_targets = list(inputs), list(targets)
        way = self._geometry.way(draws) if self._geometry.is_on else None
        for image, colours in zip(self._images, self._colours, strict=True):
            x = inputs[image.place]
            if way is not None:
                x = moved_images(x, way, self._fill)
            if colours.is_on:
                x = colours(x, draws)
            if self._noise is not None:
                x = self._noise(x, draws)
            if self._erasing is not None:
                x = self._erasing(x, draws, fills(self._fill, x))
            new_inputs[image.place] = x
        if way is not None:
            for map in self._maps:
                new_targets[map.place] = map.moved(targets[map.place], way)
        for changes in self._sequences:
            place = changes.given.place
            steps = Steps.of(changes.given, inputs[place], numbers)
            new_inputs[place] = changes(inputs[place], steps, draws)
            if (shift := changes.shift(draws)) is not None:
                for target in self._timed:
                    if target.of_input == place:
                        new_targets[target.place] = steps.moved(targets[target.place], shift.to(inputs[place].device))
        return tuple(new_inputs), tuple(new_targets)


def augmentation_for(
    options: TrainingOptions,
    data: DataOptions,
    inputs: Sequence[InputInfo],
    targets: Sequence[Wanted],
    part: ResidentDataset,
) -> Augmentation | None:
    """Return the augmentation of the training split `part`, or None where no option asks for one.

    `inputs` and `targets` describe the network's inputs and targets.
    """
    if not options.augments:
        return None
    pictures = [place for place, facts in enumerate(inputs) if facts.type.layout == "image"]
    images = [Image(place, part.span(place) if _needs_span(options, data) else PICTURES) for place in pictures]
    maps = [Map(place, target.facts.task) for place, target in enumerate(targets) if target.facts.per == "pixel"]
    mixing = Mixing(options, len(part), len(targets[0].facts.classes)) if options.mixes else None
    sequences, timed = [], []
    if any(options.does(name) for name in OF_SEQUENCES):
        is_left = part.padding.is_seen and part.padding.is_left
        for place in (place for place, facts in enumerate(inputs) if facts.is_series):
            lengths = part.lengths[place] if part.lengths else None
            sequences.append(Sequences(place, part.longest_of(place), lengths, is_left))
        per_step = [number for number, target in enumerate(targets) if target.facts.per == "step"]
        timed = [Timed(number, sequences[0].place) for number in per_step if sequences]
    return Augmentation(options, images, maps, options.seed, mixing, sequences, timed)


def _needs_span(options: TrainingOptions, data: DataOptions) -> bool:
    """Return whether the values of black and white must be searched in the data, which may read all of it.

    Image files always have the same, whatever the training split contains.
    """
    is_fixed = data.source_type is not None and data.source_type.has_image_files
    return not is_fixed and any(name.startswith("jitter") for name in options.augments)


@dataclass(frozen=True)
class EpochChange:
    """The augmentation of an epoch for a preview of the data's first input: the same as in a run."""

    options: TrainingOptions
    data: DataOptions
    epoch: int

    def __call__(
        self, images: Array, maps: Array | None, places: Array, count: int, reader: Callable[[Array], Array]
    ) -> tuple[Array, Array | None]:
        """Return changed images and maps, see `netwright.engine.data.loading.preview.Change`."""
        options, span = self.options, PICTURES
        if _needs_span(options, self.data):
            whole = reader(np.arange(count))
            span = float(whole.min()), float(whole.max())
        labels = () if maps is None else (torch.from_numpy(maps),)
        mixing = Mixing(options, count, 1) if options.mixes else None
        maps_shown = [Map(number, "classes") for number in range(len(labels))]
        augmentation = Augmentation(options, [Image(0, span)], maps_shown, options.seed, mixing)
        numbers = torch.from_numpy(places)
        if mixing is not None:
            images = reader(augmentation.wanted(numbers, self.epoch).numpy())
            labels = (torch.zeros(len(images), dtype=torch.int64),)  # their classes are not shown
        inputs, targets = augmentation((_tensor(images),), labels, numbers, self.epoch)
        return inputs[0].numpy(), targets[0].numpy() if maps is not None else None

    def sequences(
        self, sequences: Array, classes: Array | None, lengths: Array | None, places: Array, steps: int
    ) -> tuple[Array, Array | None]:
        """Return changed sequences and classes of steps, see `netwright.engine.data.loading.preview.Change`."""
        every = None
        if lengths is not None:
            every = torch.zeros(int(places.max()) + 1, dtype=torch.int64)
            every[torch.from_numpy(places)] = torch.from_numpy(lengths)
        labels = () if classes is None else (torch.from_numpy(classes.astype(np.int64)),)
        augmentation = Augmentation(
            self.options,
            (),
            seed=self.options.seed,
            sequences=[Sequences(0, steps, every)],
            timed=[Timed(number, 0) for number in range(len(labels))],
        )
        inputs, targets = augmentation((_tensor(sequences),), labels, torch.from_numpy(places), self.epoch)
        return inputs[0].numpy(), targets[0].numpy() if classes is not None else None


def _tensor(images: Array) -> torch.Tensor:
    """Return a float32 copy, as splits of the data hold them."""
    return torch.from_numpy(images.astype(np.float32))
