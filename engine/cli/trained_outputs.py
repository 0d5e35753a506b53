"""What the commands about a trained network print with `--json`."""

from collections.abc import Mapping
from typing import Literal, TypedDict


class Reported(TypedDict):
    """A report that was written."""

    path: str
    run_dir: str
    bytes: int
    split: str
    """The split that was evaluated; empty for other data, and without an evaluation."""
    has_evaluation: bool
    missing: str
    """Why the report has no evaluation; empty where it has one, or none was asked for."""


class RobustnessCurve(TypedDict):
    """Scores of a network against the strength of a change of its inputs."""

    kind: Literal["noise", "blur", "fgsm", "pgd"]
    unit: Literal["share of the range", "pixels"]
    strengths: list[float]
    """0 first, for unchanged inputs. Of noise and blur the standard deviation, of attacks the largest change."""
    values: list[float]


class UnlikeTraining(TypedDict):
    """Score of samples unlike the training data, whose score is low."""

    score: Literal["max softmax", "energy"]
    """Largest probability, or the logarithm of the sum of exponentials of the logits."""
    threshold: float
    kept_share: float
    """Share of the validation samples above the threshold."""
    samples: int
    flagged_noise: float
    """Share of inputs of even noise below the threshold."""
    auroc: float
    """Probability that a validation sample scores above an input of even noise."""


class RobustnessResult(TypedDict):
    """How a trained network answers when its inputs change."""

    path: str
    """The run's folder."""
    format: int
    weights: str
    split: str
    samples: int
    output: str
    metric: Literal["accuracy", "rmse"]
    curves: list[RobustnessCurve]
    unlike_training: list[UnlikeTraining]
    """Empty for outputs without one class per sample, and without a validation split."""
    notes: list[str]
    stored: bool
    cached: bool


class PrunedNetwork(TypedDict):
    """A network that was made smaller by an amount."""

    amount: float
    """Share of the weights that became zero, or of the channels of each layer that were removed; 0: as it was."""
    loss: float
    metrics: Mapping[str, float]
    parameters: int
    nonzero: int
    """Weights that are not zero."""
    flops: int
    """Floating-point operations per sample."""
    bytes: int
    """Size of the weights."""
    milliseconds: float
    """Shortest time per batch on the CPU."""
    batch: int


class PruneResult(TypedDict):
    """What pruning costs and brings."""

    run_dir: str
    structured: bool
    split: str
    """Split that the metrics are measured on."""
    rows: list[PrunedNetwork]
    """By amount, 0 first."""
    notes: list[str]
    """Layers that keep all channels, and why."""
    project: str
    """Project that was written; empty without one."""
