"""Options of the metrics that are recorded beside the loss."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import Bool, Choice, FilePath, Float, Int
from netwright.engine.core.list_fields import Choices
from netwright.engine.core.records import Record
from netwright.engine.core.text import format_value
from netwright.engine.project.options.execution import PYTHON


@dataclass(frozen=True)
class MetricKind:
    """A metric without its computation. `tasks` are the kinds of targets that it fits; a share is shown
    in percent; one that is not `of_training` is measured at validations and test alone."""

    title: str
    tasks: tuple[str, ...]
    note: str
    higher_is_better: bool = True
    is_share: bool = False
    of_training: bool = True


_CLASSES = ("classes",)
_WORDS = ("classes", "labels")
_NUMBERS = ("numbers",)
METRICS: Mapping[str, MetricKind] = {
    "accuracy": MetricKind("Accuracy", _WORDS, "Fraction of correctly classified samples", is_share=True),
    "top-k": MetricKind(
        "Top-k accuracy", _CLASSES, "Fraction of samples whose class is among the k likeliest", is_share=True
    ),
    "f-score": MetricKind("F-score", _WORDS, "Harmonic mean of precision and recall of a class, averaged over classes"),
    "precision": MetricKind(
        "Precision", _WORDS, "Fraction of the predictions of a class that are right, averaged over classes"
    ),
    "recall": MetricKind("Recall", _WORDS, "Fraction of the samples of a class that are found, averaged over classes"),
    "auc": MetricKind(
        "AUC",
        _WORDS,
        "Area under the receiver operating curve, each class against the rest; not at every step",
        of_training=False,
    ),
    "rmse": MetricKind("RMSE", _NUMBERS, "Root of the squared error, mean over samples and responses", False),
    "mae": MetricKind("MAE", _NUMBERS, "Absolute error, mean over samples and responses", False),
    "mape": MetricKind(
        "MAPE",
        _NUMBERS,
        "Absolute error as a share of the target, mean over both; huge where targets are 0. MATLAB: in percent",
        False,
    ),
    "r2": MetricKind("R²", _NUMBERS, "1 - squared error / variance of the targets, mean over responses"),
    "custom": MetricKind("Custom metric", (*_WORDS, *_NUMBERS, "transcripts"), "Your own Python function"),
}
TEXT_METRICS: Mapping[str, MetricKind] = {
    "wer": MetricKind("WER", ("transcripts",), "Edits per word of the true texts", False, is_share=True),
    "cer": MetricKind("CER", ("transcripts",), "Edits per character of the true texts", False, is_share=True),
}
"""Metrics of texts, which evaluations tell and trainings do not."""
_KINDS = {**METRICS, **TEXT_METRICS}
DEFAULTS: Mapping[str, str] = {"classes": "accuracy", "labels": "accuracy", "numbers": "rmse"}
"""What `auto` stands for, by the task."""
AVERAGED = ("f-score", "precision", "recall", "auc")
AT_MOST_ONE = ("accuracy", "top-k", *AVERAGED, "r2")
"""Metrics that no network can have more than 1 of."""


def title_of(name: str) -> str:
    """A metric's name as a heading."""
    return _KINDS[name].title if name in _KINDS else name


def in_a_line(name: str) -> str:
    """A metric's name among other words: `accuracy`, `RMSE`."""
    title = title_of(name)
    return title if title[:2].isupper() or title[1:2] in "-²" else title[:1].lower() + title[1:]


def is_better_low(name: str) -> bool:
    """Whether lower values of the metric are better."""
    return name in _KINDS and not _KINDS[name].higher_is_better


def is_share(name: str) -> bool:
    """Whether values of the metric are shown in percent."""
    return name in _KINDS and _KINDS[name].is_share


def format_score(name: str, value: float | None) -> str:
    """Return a loss or a value of a metric as text, such as `0.113` or `96.4 %`; `name` may begin with a split. What is
    counted, such as parameters, has none, and is whole."""
    if value is not None and "." not in name and name not in METRICS and name != "loss" and float(value).is_integer():
        value = int(value)
    return format_value(value, is_percent=is_share(name.rpartition(".")[2]), is_measured=True)


def of_training(name: str) -> bool:
    """Whether the metric is measured while training too."""
    return name not in METRICS or METRICS[name].of_training


def _chosen(*names: str) -> Any:
    return lambda options: bool(set(names) & set(options.metrics))


class MetricOptions(Record):
    """Options of the metrics."""

    metrics = Choices(
        ("auto",),
        options=("auto", *METRICS),
        notes={"auto": "accuracy for classes, rmse for numbers", **{name: kind.note for name, kind in METRICS.items()}},
        group="Metrics",
        help="Metrics beside the loss, the main one first. Default auto",
        matlab="Metrics (default none)",
        torch="torchmetrics",
    )
    metric_function = FilePath(
        "",
        pattern=PYTHON,
        group="Metrics",
        help="Python file with a function metric(outputs, targets). Default none. It returns one number per "
        "sample, or their mean; FILE.py:NAME for a function of another name",
        matlab="a function handle in Metrics",
        torch="a function",
        visible_when=_chosen("custom"),
    )
    metric_higher_is_better = Bool(
        True,
        label="Higher is better",
        group="Metrics",
        help="Whether higher values of the custom metric are better. Default on. It applies to best network, "
        "patience and target",
        matlab="Maximize",
        visible_when=_chosen("custom"),
    )
    metric_average = Choice(
        "macro",
        options=("macro", "micro", "weighted"),
        notes={
            "macro": "Mean over the classes that occur",
            "micro": "Over all decisions; precision, recall and F-score then equal the accuracy",
            "weighted": "Mean over the classes, weighted by their samples",
        },
        label="Average over classes",
        group="Metrics",
        help="Method that averages the values per class. Default macro",
        matlab="AverageType",
        torch="average of torchmetrics",
        visible_when=_chosen(*AVERAGED),
    )
    f_score_beta = Float(
        1.0,
        above=0.0,
        high=100.0,
        label="F-score beta",
        group="Metrics",
        help="Weight of recall relative to precision. Default 1: equal",
        matlab="Beta",
        torch="beta of torchmetrics",
        visible_when=_chosen("f-score"),
    )
    top_k = Int(
        5,
        low=1,
        high=100_000,
        unit="classes",
        label="Top-k classes",
        group="Metrics",
        help="Number of likeliest classes that may include the right one. Default 5",
        matlab="NumTopKClasses",
        torch="top_k of torchmetrics",
        visible_when=_chosen("top-k"),
    )

    def problems(self) -> list[FieldError]:
        """Return the errors of these options, such as a custom metric without its file."""
        errors = super().problems()
        if "custom" in self.metrics and not self.metric_function:
            errors.append(FieldError("metric_function", "choose the Python file with your metric."))
        return errors

    def metrics_for(self, task: str) -> tuple[str, ...]:
        """The metrics by name, the main one first, for data of this task; `auto` follows it."""
        metrics = (DEFAULTS.get(task, "") if name == "auto" else name for name in self.metrics)
        return tuple(dict.fromkeys(name for name in metrics if name))

    @property
    def possible_metrics(self) -> tuple[str, ...]:
        """The names that the metrics of this run can have; `auto` can be any of its defaults."""
        automatic = dict.fromkeys(DEFAULTS.values()) if "auto" in self.metrics else ()
        return tuple(dict.fromkeys([*automatic, *(name for name in self.metrics if name != "auto")]))


def not_chosen(name: str, metrics: Sequence[str]) -> str:
    """Return the message for an option that names a metric that is not among the metrics."""
    return f"{name} is not among the metrics ({', '.join(metrics)}). Add it to them, or choose one of them."


def offered(*before: str) -> Any:
    """Return the values of an option that names a metric: these words, and the metrics of the run."""
    return lambda options: (*before, *options.possible_metrics)
