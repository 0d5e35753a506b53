"""`robustness MODEL`: how a network answers when its inputs change."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

from netwright.engine.core.errors import UserError
from netwright.engine.core.text import format_percent
from netwright.engine.operations.model_request import DataOfModelRequest, Split
from netwright.engine.operations.operation import Argument, Device, Line, Operation, Profile, Result, Table
from netwright.engine.project.options.metric_options import format_score

TITLES = {"noise": "noise", "blur": "blur", "fgsm": "FGSM", "pgd": "PGD"}


@dataclass(frozen=True, kw_only=True)
class RobustnessRequest(DataOfModelRequest):
    """A model, and the samples that its network is measured on."""

    split: Split = ""
    samples: Annotated[int, Argument("at most so many samples (default: 500)", metavar="N")] = 500
    store: Annotated[
        bool,
        Argument(
            "keep the threshold with the network: predict then names samples unlike the training data",
            is_for_people=True,
        ),
    ] = False
    fresh: Annotated[bool, Argument("measure again, even where the result is known")] = False
    device: Device = "auto"
    profile: Profile = ""

    def check(self) -> None:
        """Refuse no samples."""
        super().check()
        if self.samples < 1:
            raise UserError(f"Expected at least 1 sample, received {self.samples}.")


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


@dataclass(frozen=True, kw_only=True)
class RobustnessResult(Result):
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


def text(_: RobustnessRequest, result: RobustnessResult) -> Iterator[Line]:
    """Yield a table per change of the inputs, and the thresholds."""
    known = ", known from before" if result.cached else ""
    metric = "accuracy" if result.metric == "accuracy" else "RMSE"
    yield f"{metric} on {result.samples:,} samples of the {result.split} split; {result.weights} weights{known}"
    for curve in result.curves:
        shown = [_strength(curve["unit"], strength) for strength in curve["strengths"]]
        values = [format_score(metric, value) for value in curve["values"]]
        rows = [(TITLES[curve["kind"]], *shown), ("", *values)]
        yield Table(rows, right=tuple(range(1, len(shown) + 1)))
    if result.unlike_training:
        yield from ("", "unlike the training data: below the threshold")
        head = ("score", "threshold", "validation above", "noise below", "AUROC")
        yield Table([head, *map(_threshold, result.unlike_training)], right=(1, 2, 3, 4))
    if result.stored:
        yield "The threshold of the largest probability is stored: predict names samples below it."
    yield from (f"note: {note}" for note in result.notes)


def _threshold(row: UnlikeTraining) -> tuple[str, ...]:
    shares = (format_percent(row[key], 1) for key in ("kept_share", "flagged_noise"))
    return (row["score"], f"{row['threshold']:.4g}", *shares, f"{row['auroc']:.3f}")


def _strength(unit: str, strength: float) -> str:
    if unit == "pixels":
        return f"{strength:g} px"
    return format_percent(strength, 1) if strength else "none"


OPERATION = Operation(
    name="robustness",
    effect="reads",
    request=RobustnessRequest,
    results=(RobustnessResult,),
    function="netwright.engine.analysis.robustness:robustness",
    description=(
        "Measure how the network of a run answers when its inputs change: accuracy (or RMSE) against the strength of "
        "noise, blur, and the attacks FGSM and PGD; and thresholds of the largest probability and of the energy below "
        "which samples count as unlike the training data. Results are kept in the run's folder."
    ),
    text=text,
    doing="measuring",
    may_wait=True,
    reads_data=True,
)
