"""`evaluate MODEL`: how good a network is, on a split of its data or on other data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from netwright.engine.core.dataclass_json import to_json
from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.files import checked_destination
from netwright.engine.core.text import format_figure, format_number
from netwright.engine.operations.model_request import DataOfModelRequest
from netwright.engine.operations.operation import Argument, Device, Fresh, Line, Operation, Profile, Result, Table
from netwright.engine.project.dataset_info import SPLITS
from netwright.engine.project.options.metric_options import TEXT_METRICS, format_score, in_a_line

SHOWN_CLASSES = 30
SHOWN_SAMPLES = 5
SHOWN_TEXT = 40
SHOWN_KEYS = ("label", "prediction", "accuracy", "loss", "error", "confidence")


@dataclass(frozen=True, kw_only=True)
class EvaluateRequest(DataOfModelRequest):
    """A model, the data that its network is evaluated on, and what is asked of the result."""

    shares = "model"

    split: Annotated[
        str, Argument("split of the model's own data (default: test, else validation)", choices=SPLITS)
    ] = ""
    html: Annotated[
        Path | None, Argument("write a report of the model with the results, too", metavar="FILE", writes=True)
    ] = None
    fresh: Fresh = False
    threshold: Annotated[
        tuple[str, ...],
        Argument(
            "probability from which samples count as a class or label, such as cat=0.31; tells its scores there",
            metavar="CLASS=PROBABILITY",
        ),
    ] = ()
    calibrate: Annotated[
        bool, Argument("fit a temperature on the validation split, and tell the calibration before and after")
    ] = False
    store: Annotated[
        bool,
        Argument(
            "store thresholds and temperature with the network: predict and exported files apply them",
            is_for_people=True,
        ),
    ] = False
    reset: Annotated[bool, Argument("remove stored thresholds and temperature first", is_for_people=True)] = False
    by: Annotated[
        str,
        Argument(
            "metrics of groups of samples: a column of a table, or class, folder, 'file type', group", metavar="COLUMN"
        ),
    ] = ""
    against: Annotated[
        Path | None,
        Argument(
            "compare with another model on the same samples, and tell whether the difference is more than chance",
            metavar="MODEL",
        ),
    ] = None
    with_groupings: Annotated[bool, Argument("tell what the samples can be grouped by", faces=("window",))] = False
    device: Device = "auto"
    profile: Profile = ""

    def check(self) -> None:
        """Refuse what does not go together."""
        super().check()
        if self.html is not None:
            checked_destination(self.html)
        if self.store and not (self.threshold or self.calibrate):
            raise UserError("--store needs what to store: --threshold CLASS=PROBABILITY, or --calibrate.", code="usage")
        if self.against is not None and (self.threshold or self.calibrate or self.reset or self.by):
            raise UserError("--against compares two models as they are: leave out other requests.", code="usage")


@dataclass(frozen=True, kw_only=True)
class EvaluateResult(Result):
    """How good a trained network is."""

    path: str
    """The model: a run's folder, or a file."""
    format: int
    weights: str
    """`best` or `last` of a run, else the name of the file."""
    split: str
    """The model's own split; empty for other data."""
    data: str
    samples: int
    loss: float
    metrics: Mapping[str, float]
    baselines: Mapping[str, Mapping[str, float]]
    """By metric the values of answers that need no network: most frequent class or mean, linear model, boosting with
    the extra `baselines`; of forecasts the last value and the season. Empty for other data."""
    targets: list[Mapping[str, Any]]
    """Per output: accuracy or errors with 95 % intervals, the confusion matrix (true classes in rows), precision,
    recall, F1 and IoU per class, calibration, ROC and precision-recall curves (threshold, true and false positives),
    residuals, the error rates of words and characters of transcripts (`wer`, `cer`), the worst and the most uncertain
    samples, and what is `stored` with the network."""
    notes: list[str]
    cached: bool
    """Whether the result was known from before."""
    operating_points: list[Mapping[str, Any]] | None = None
    """Per `--threshold`: `output`, `class`, `threshold`, counts, precision, recall, F1 and accuracy there."""
    calibrated: list[Mapping[str, Any]] | None = None
    """With `--calibrate`, per output: `temperature`, and the calibration `before` and `after`."""
    groups: Mapping[str, Any] | None = None
    """With `--by`: per output the metrics of the `whole` and of `groups`, each with 95 % intervals and its number of
    samples."""
    groupings: list[str] | None = None
    """Columns and other things that the samples can be grouped by, for the window."""


@dataclass(frozen=True, kw_only=True)
class ComparisonResult(Result):
    """With `--against`: two trained networks on the same samples."""

    path: str
    """The first model."""
    against: str
    """The second model."""
    split: str
    data: str
    samples: int
    targets: list[Mapping[str, Any]]
    """Per output: `metrics` (first, second, difference with a 95 % interval and p of a paired bootstrap), of classes
    also `mcnemar` (samples that both, one or neither gets right, and p of the exact test) and `disagreements`, and a
    `conclusion` in words."""
    notes: list[str]


def text(request: EvaluateRequest, result: EvaluateResult | ComparisonResult) -> Iterator[Line]:
    """Yield the result of an evaluation or comparison."""
    if isinstance(result, ComparisonResult):
        yield from _comparison_lines(to_json(result))
        return
    yield from _result_lines(to_json(result))
    if request.html is not None:
        yield f"wrote {request.html}"


def _comparison_lines(found: Mapping[str, Any]) -> Iterator[Line]:
    """Yield each metric of both runs, and what the difference means."""
    what = f"{found['split']} split of {found['data']}" if found["split"] else found["data"]
    yield f"data: {what}, {plural(found['samples'], 'sample')}"
    for target in found["targets"]:
        if len(found["targets"]) > 1:
            yield from ("", target["name"])
        cells = [
            (
                in_a_line(one["name"]),
                *(format_figure(one[side]) for side in ("first", "second", "difference")),
                f"{format_figure(one['interval'][0])} to {format_figure(one['interval'][1])}",
                f"{one['p']:.3g}",
            )
            for one in target["metrics"]
        ]
        yield Table([("metric", "first", "second", "difference", "95 %", "p"), *cells], right=(1, 2, 3, 4, 5))
        if "mcnemar" in target:
            counts = target["mcnemar"]
            yield (
                f"right: both {counts['both']:,}, only the first {counts['only_first']:,}, only the second "
                f"{counts['only_second']:,}, neither {counts['neither']:,}; McNemar p {counts['p']:.3g}"
            )
        if target.get("disagreements"):
            yield from _samples_lines(
                "differing", target["disagreements"][:SHOWN_SAMPLES], ("label", "first", "second")
            )
        yield target["conclusion"]
    for note in found["notes"]:
        yield f"note: {note}"


def _groups_lines(found: Mapping[str, Any]) -> Iterator[Line]:
    """Yield the metrics of each group."""
    for target in found["targets"]:
        yield from ("", f"{target['name']} by {found['by']}")
        names = list(target["whole"])
        cells = [("all", *(format_figure(target["whole"][name]) for name in names), "", "")]
        for row in target["groups"]:
            low, high = row["intervals"][names[0]]
            values = (format_figure(row["metrics"][name]) for name in names)
            ends = f"{format_figure(low)} to {format_figure(high)}"
            cells.append((_cut(row["group"]), *values, ends, f"{row['samples']:,}"))
        heads = [in_a_line(name) for name in names]
        right = tuple(range(1, len(heads) + 3))
        yield Table([("group", *heads, f"{heads[0]} 95 %", "samples"), *cells], right=right)
    if found["note"]:
        yield f"note: {found['note']}"


def _result_lines(found: Mapping[str, Any]) -> Iterator[Line]:
    """Yield scores, what was decided, and groups."""
    what = f"{found['split']} split of {found['data']}" if found["split"] else found["data"]
    known = ", known from before" if found["cached"] else ""
    yield f"data: {what}, {found['samples']:,} samples; {found['weights']} weights{known}"
    yield f"loss: {format_figure(found['loss'])}"
    for name, value in found["metrics"].items():
        others = found["baselines"].get(name, {}).items()
        beside = f" ({', '.join(f'{other} {format_score(name, score)}' for other, score in others)})" if others else ""
        yield f"{in_a_line(name)}: {format_score(name, value)}{beside}"
    for target in found["targets"]:
        if len(found["targets"]) > 1:
            yield from ("", target["name"])
            rates = [name for name in TEXT_METRICS if name in target]
            yield from (f"{in_a_line(name)}: {format_score(name, target[name])}" for name in rates)
        yield from _target_lines(target)
    yield from _decisions_lines(found)
    if "groups" in found:
        yield from _groups_lines(found["groups"])
    for note in found["notes"]:
        yield f"note: {note}"


def _decisions_lines(found: Mapping[str, Any]) -> Iterator[Line]:
    """Yield scores at thresholds, the calibration with a temperature, and what is stored."""
    for one in found.get("operating_points", ()):
        yield (
            f"{one['class']} from {one['threshold']:.4g} on: precision {one['precision']:.3f}, "
            f"recall {one['recall']:.3f}, F1 {one['f1']:.3f}, accuracy {one['accuracy']:.3f}"
        )
    for one in found.get("calibrated", ()):
        errors = [one[side]["expected_error"] for side in ("before", "after")]
        yield f"temperature {one['temperature']:.4g}: expected calibration error {errors[0]:.4f}, then {errors[1]:.4f}"
    for target in found["targets"]:
        stored = target.get("stored", {})
        texts = [f"{name} from {value:.4g} on" for name, value in stored.get("thresholds", {}).items()]
        if stored.get("temperature", 1.0) != 1.0:
            texts.append(f"temperature {stored['temperature']:.4g}")
        if texts:
            yield f"stored with the network, applied by predict: {', '.join(texts)}"


def _target_lines(target: Mapping[str, Any]) -> Iterator[Line]:
    for name in ("accuracy", "rmse", "mae", *TEXT_METRICS):
        if target.get(f"{name}_interval"):
            low, high = target[f"{name}_interval"]
            ends = [format_score(name, end) for end in (low, high)]
            yield f"95 % interval of the {in_a_line(name)}: {ends[0]} to {ends[1]}"
    if "calibration" in target:
        yield f"expected calibration error: {target['calibration']['expected_error']:.4f}"
    yield from _classes_lines(target)
    for pair in target.get("most_confused", ())[:SHOWN_SAMPLES]:
        yield f"{pair['label']} taken for {pair['prediction']}: {pair['count']:,}"
    for one in target.get("residuals", ())[:SHOWN_SAMPLES]:
        r2 = f", R² {format_figure(one['r2'])}" if one["r2"] is not None else ""
        mean, rmse, largest = (format_figure(one[key]) for key in ("mean", "rmse", "largest"))
        yield f"{one['name']}: mean error {mean}, RMSE {rmse}, largest {largest}{r2}"
    for title, key in (("worst", "worst"), ("most uncertain", "most_uncertain")):
        if target.get(key):
            yield from _samples_lines(title, target[key][:SHOWN_SAMPLES])


def _classes_lines(target: Mapping[str, Any]) -> Iterator[Line]:
    rows = target.get("per_class", ())
    if not rows:
        return
    areas = {one["class"]: one["auc"] for one in target.get("curves", ())}
    scores = ["precision", "recall", "f1", *(["iou"] if target["per"] != "sample" else [])]
    cells = []
    for row in rows[:SHOWN_CLASSES]:
        texts = [f"{row[score]:.3f}" for score in scores]
        ends = row.get("f1_interval")
        said = f"{ends[0]:.3f} to {ends[1]:.3f}" if ends else ""
        area = f"{areas[row['class']]:.3f}" if row["class"] in areas else ""
        cells.append((row["class"], *texts, said, area, f"{row['support']:,}"))
    heads = [{"f1": "F1", "iou": "IoU"}.get(score, score) for score in scores]
    right = tuple(range(1, len(heads) + 4))
    first = "label" if target["task"] == "labels" else "class"
    yield Table([(first, *heads, "F1 95 %", "ROC area", "support"), *cells], right=right)
    if len(rows) > SHOWN_CLASSES:
        yield f"and {len(rows) - SHOWN_CLASSES:,} more; --json has all"


def _samples_lines(title: str, rows: Sequence[Mapping[str, Any]], shown: Sequence[str] = SHOWN_KEYS) -> Iterator[Line]:
    keys = [key for key in shown if key in rows[0]]
    cells = [(_cut(row.get("sample", row["index"])), *(_cut(row[key]) for key in keys)) for row in rows]
    yield Table([(f"{title} sample", *keys), *cells])


def _cut(value: object) -> str:
    if isinstance(value, float):
        return format_number(value)
    if isinstance(value, list):
        value = ", ".join(_cut(one) for one in value)
    text = str(value)
    return text if len(text) <= SHOWN_TEXT else f"{text[:SHOWN_TEXT]}..."


OPERATION = Operation[EvaluateRequest, EvaluateResult | ComparisonResult](
    name="evaluate",
    effect="reads",
    request=EvaluateRequest,
    results=(EvaluateResult, ComparisonResult),
    function="netwright.engine.analysis.request:evaluate_model",
    description=(
        "Measure how good the network of a model is: loss, metrics, scores per class with intervals, confusions, "
        "calibration, errors of numbers, the worst and the most uncertain samples. Results of a run are kept in "
        "its folder. --json tells all."
    ),
    text=text,
    doing="evaluating",
    may_wait=True,
    reads_data=True,
)
