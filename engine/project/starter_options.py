"""Options that a first network is trained with: by the kind of the data, its number of samples and the network's work.

A bare `TrainingOptions` has MATLAB's defaults, which suit thousands of images: sgdm at 0.01, 30 epochs of 128 samples.
A file of 300 rows gets 60 steps from them. Here a run has a number of steps, whatever the samples: epochs follow. What
the user has set stays; everything is seen, and can be changed, in Training Options.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Self

from netwright.engine.core.text import format_duration
from netwright.engine.layers.inputs import SequenceInput
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, TargetInfo
from netwright.engine.project.project import Project
from netwright.engine.project.target_scale import fitted_outputs

BUDGET_S = 100.0
"""Seconds that a first run takes at most, about, on two cores."""
FLOPS_PER_S, STEP_S, PARAMETER_S, BACKWARD = 3e10, 1.5e-3, 6e-9, 3.0
"""Speed of small layers on two cores, times of a step beside them and per weight, and work of a step by that of its
forward pass."""
SMALLEST_BATCH = 16
STEPS_PER_EPOCH = 16
"""Steps that an epoch has at least, while mini-batches are not smaller than the smallest."""
VALIDATIONS, PATIENCE = 40, 24
"""Validations of a run, and those without progress that end it."""
SMALL_FILE, SMALL_SHARE = 10_000, 0.1
"""Samples below which validation and test have a smaller share each: every sample that trains counts."""
MOST_LAGS = 336
"""Steps of the past that a first forecast sees at most: two weeks of hours."""
LARGE_SIDE, SIDES = 160, ((1_000, 128), (4_000, 96), (math.inf, 64))
"""Pixels of a side above which image files become smaller for a first network, and the size that up to so many
samples get: at that of a photo an epoch takes minutes."""
DEFAULT_LAGS: int = DataOptions().lags


@dataclass(frozen=True)
class Recipe:
    """Options of a kind of data: learn rate and, for `USUAL` samples, weight decay of adamw; the largest mini-batch,
    steps and epochs."""

    rate: float
    decay: float
    batch: int
    steps: int
    least_epochs: int
    most_epochs: int


RECIPES = {
    "tables": Recipe(2e-3, 1.0, 256, 4_000, 20, 200),
    "forecasts": Recipe(1e-3, 1.0, 128, 4_000, 10, 100),
    "images": Recipe(3e-3, 1.0, 32, 3_000, 15, 60),
    "texts": Recipe(3e-3, 0.1, 32, 1_200, 8, 40),
    "others": Recipe(2e-3, 0.1, 64, 2_000, 10, 60),
}
USUAL, LEAST_DECAY, MOST_DECAY = 1_000, 0.02, 3.0
"""Samples for which the decay of a recipe is meant, and its limits: it falls with the square root of the samples."""


def kind_of(facts: DatasetInfo) -> str:
    """Return the kind of the data, a key of `RECIPES`."""
    layouts = {info.type.layout for info in facts.inputs}
    if facts.forecast is not None:
        return "forecasts"
    is_whole = all(target.per == "sample" and target.task != "transcripts" for target in facts.targets)
    kinds = {"features": "tables", "image": "images", "tokens": "texts"}
    return kinds.get(layouts.pop(), "others") if len(layouts) == 1 and is_whole else "others"


@dataclass(frozen=True)
class Plan:
    """Learn rate, weight decay, mini-batch size and epochs of a first run, and about how long it takes."""

    rate: float
    decay: float
    batch: int
    epochs: int
    seconds: float

    @classmethod
    def of(cls, facts: DatasetInfo, network: Network) -> Self:
        """Return the plan for a network: the steps of its recipe, as far as the time allows."""
        analysis = analyse(_of_longest(network, facts))
        recipe, samples = RECIPES[kind_of(facts)], max(1, facts.samples.get("training", 0))
        batch = min(recipe.batch, max(SMALLEST_BATCH, 1 << int(math.log2(max(1, samples / STEPS_PER_EPOCH)))))
        steps = math.ceil(samples / batch)
        step_s = STEP_S + analysis.parameters * PARAMETER_S
        epoch_s = steps * step_s + samples * BACKWARD * analysis.flops / FLOPS_PER_S
        epochs = min(max(math.ceil(recipe.steps / steps), recipe.least_epochs), recipe.most_epochs)
        epochs = max(1, min(epochs, int(BUDGET_S / epoch_s)))
        decay = min(max(recipe.decay * math.sqrt(USUAL / samples), LEAST_DECAY), MOST_DECAY)
        if facts.forecast is not None and not (facts.forecast.season or facts.forecast.period):
            decay = MOST_DECAY  # little follows from the lags of a series without a season
        return cls(recipe.rate, float(f"{decay:.1g}"), batch, epochs, epochs * epoch_s)

    def spoken(self) -> str:
        """Return the plan in a sentence."""
        seconds = max(1.0, float(f"{self.seconds:.1g}"))
        about = f"{seconds:.0f} s" if seconds < 10 else format_duration(seconds)
        epochs = f"up to {self.epochs:,} epochs of mini-batches of {self.batch:,}"
        return f"It trains with adamw for {epochs}: about {about} on two cores."


def _of_longest(network: Network, facts: DatasetInfo) -> Network:
    """Return the network for the longest of sequences that differ in length: without a length nothing is counted."""
    longest = max((info.lengths[1] for info in facts.inputs if info.lengths), default=0)
    for layer in network.layers.values() if longest else ():
        if isinstance(layer.type, SequenceInput):
            network = network.with_layer(replace(layer, type=layer.type.replace(length=longest)))
    return network


def with_plan(project: Project, facts: DatasetInfo, plan: Plan) -> Project:
    """Return the project with the options of a first run, but for those that are set."""
    training = project.training
    values: dict[str, Any] = {}
    if fitted_outputs(project.network) and training.solver != "lm":
        values["normalize_targets"] = True
    if not training.is_full_batch:
        every = max(1, plan.epochs // VALIDATIONS)
        values |= {
            "mini_batch_size": plan.batch,
            "max_epochs": plan.epochs,
            "shuffle": "every-epoch",
            "validation_frequency": every,
            "validation_frequency_unit": "epochs",
            "validation_patience": PATIENCE,
        }
        if not training.is_changed("solver"):
            values |= {
                "solver": "adamw",
                "initial_learn_rate": plan.rate,
                "l2_regularization": plan.decay,
                "schedule": "cosine",
            }
        if _may_move(facts) and not training.augments:
            values |= _moves(facts)
    chosen = {name: value for name, value in values.items() if not training.is_changed(name)}
    data = with_small_shares(project.data, facts) if _is_fitted_alike(facts) else project.data
    if facts.forecast is not None:
        data = data.replace(lags=facts.forecast.lags)
    return replace(project, training=training.replace(**chosen), data=data)


def _may_move(facts: DatasetInfo) -> bool:
    """Return whether images keep their targets when they are moved: not places and angles, nor spectrograms."""
    is_named = all(target.task in ("classes", "labels") for target in facts.targets)
    return kind_of(facts) == "images" and is_named and all(info.sound is None for info in facts.inputs)


def _moves(facts: DatasetInfo) -> dict[str, Any]:
    """Return random changes that leave the class of an image as it is: small moves; none are mirrored, as digits and
    letters become others."""
    size = min((size for info in facts.inputs for size in info.type.sizes[1:] if isinstance(size, int)), default=0)
    shift = float(max(1, size // 12))
    return {
        "rand_rotation": (-10.0, 10.0),
        "rand_scale": (0.9, 1.1),
        "rand_x_translation": (-shift, shift),
        "rand_y_translation": (-shift, shift),
    }


def with_small_shares(data: DataOptions, facts: DatasetInfo) -> DataOptions:
    """Return the data options with small shares for validation and test where samples are few, unless they are set."""
    names = ("validation_share", "test_share")
    if sum(facts.samples.values()) >= SMALL_FILE or any(data.is_changed(name) for name in names):
        return data
    return data.replace(**{name: SMALL_SHARE for name in names if data.is_visible(name)})


def _is_fitted_alike(facts: DatasetInfo) -> bool:
    """Return whether the sizes of the inputs do not follow from what is in the training split, as a vocabulary and the
    categories of a column do."""
    return all(info.text is None and all(c.kind == "number" for c in info.prepared) for info in facts.inputs)


def small_side(facts: DatasetInfo, options: DataOptions) -> int:
    """Return the height and width that large image files become for a first network; 0 where they keep theirs, as
    those whose size the options name do."""
    large = [info for info in facts.inputs if info.type.layout == "image"]
    largest = max((size for info in large for size in info.type.sizes[1:] if isinstance(size, int)), default=0)
    if largest <= LARGE_SIDE or options.source != "images" or options.image_size:
        return 0
    return next(side for most, side in SIDES if sum(facts.samples.values()) <= most)


def with_side(facts: DatasetInfo, side: int) -> DatasetInfo:
    """Return the facts with images, and targets with a number or class per pixel, of another height and width."""

    def sized(info: InputInfo | TargetInfo) -> Any:
        is_image = info.type.has("H") and info.type.has("W")
        return replace(info, type=info.type.with_sizes(H=side, W=side)) if is_image else info

    return replace(facts, inputs=tuple(map(sized, facts.inputs)), targets=tuple(map(sized, facts.targets)))


def with_lags(facts: DatasetInfo) -> DatasetInfo:
    """Return the facts with as many lags as a forecast needs to see its season, unless the lags were chosen."""
    forecast = facts.forecast
    if forecast is None or forecast.lags != DEFAULT_LAGS:
        return facts
    period, samples = forecast.season or forecast.period, facts.samples.get("training", 0)
    seasons = next((count for count in (7, 2) if period * count <= MOST_LAGS and samples >= 20 * period * count), 0)
    lags = max(DEFAULT_LAGS, seasons * period)
    history = facts.inputs[0]
    inputs = (replace(history, type=history.type.with_sizes(T=lags)), *facts.inputs[1:])
    return replace(facts, inputs=inputs, forecast=replace(forecast, lags=lags))
