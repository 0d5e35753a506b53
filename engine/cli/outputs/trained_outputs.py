"""What commands about trained networks print with `--json`."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict


class Explained(TypedDict):
    """What a network looks at, by one method."""

    path: str
    """The run's folder."""
    format: int
    method: str
    title: str
    weights: str
    """`best` or `last`."""
    arrays: Mapping[str, list[int]]
    """Shapes of the arrays in `file`, by name."""
    notes: list[str]
    file: str
    """File of `--output`, else the .npz file in the run's folder; empty where that cannot be written."""
    cached: bool
    """Whether the result was known from before."""
    sample: NotRequired[Mapping[str, Any]]
    """The sample: `place` in its `split`, `index` in the data or `file`, `label`, and the answers in `outputs`."""
    target: NotRequired[str]
    """Class, label or number that is explained."""
    layer: NotRequired[str]
    layer_path: NotRequired[str]
    """Path of the layer by ids."""
    receptive_field: NotRequired[Mapping[str, list[float]] | None]
    """`sizes` along the axes of the input and `strides`, the distance of neighbouring fields; null: the whole input."""
    channels: NotRequired[int]
    input_channels: NotRequired[int]
    histogram: NotRequired[Mapping[str, Any]]
    split_histogram: NotRequired[Mapping[str, Any]]
    zeros: NotRequired[float]
    """Share of the values that are 0."""
    dead_channels: NotRequired[int]
    """Channels of a ReLU that are 0 for all samples that were looked at."""
    is_signed: NotRequired[bool]
    baseline: NotRequired[str]
    convergence_delta: NotRequired[float]
    """Difference of the sum of integrated gradients from the difference of both scores."""
    steps: NotRequired[int]
    window: NotRequired[list[int]]
    names: NotRequired[list[str]]
    """What the pictures of `max_activation` are for."""
    features: NotRequired[list[Mapping[str, Any]]]
    """Columns with `name`, `value`, and `std` over repeats."""
    measured: NotRequired[str]
    base: NotRequired[float]
    """The accuracy or RMSE before any column was shuffled."""
    repeats: NotRequired[int]
    samples: NotRequired[int]
    of: NotRequired[int]
    split: NotRequired[str]
    columns: NotRequired[list[Mapping[str, Any]]]
    outputs: NotRequired[list[str]]
    is_share: NotRequired[bool]
    layers: NotRequired[list[Mapping[str, Any]]]
    """Layers of attention, with `heads` and `steps`."""
    tokens: NotRequired[list[str]]
    reduction: NotRequired[str]
    classes: NotRequired[list[str]]
    texts: NotRequired[list[str]]
    """Labels of the samples of an embedding."""
    explained: NotRequired[list[float]]
    """Shares of the variance of both principal components."""
    perplexity: NotRequired[float]
    neighbours: NotRequired[int]
