"""Names, values and tables of scores on the page of scores."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtWidgets import QTableWidget

from netwright.app.plots.words import metric_in_a_line, metric_title
from netwright.app.widgets import text_table
from netwright.designer.forms.row import sentence
from netwright.designer.language import tr
from netwright.engine.core.text import format_figure
from netwright.engine.project.options.metric_options import TEXT_METRICS, format_score


def scores_of(target: Mapping[str, Any], result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return names and values of the scores of an output, with 95 % intervals where they are known. `result` has loss
    and metrics of the whole, where the output is the only one."""
    rows = [(tr("Loss"), format_figure(result["loss"]))] if result.get("loss") is not None else []
    measured = dict(result.get("metrics", {})) or {
        name: target[name] for name in ("accuracy", "rmse", "mae", *TEXT_METRICS) if isinstance(target.get(name), float)
    }
    for name, value in measured.items():
        rows.append((named(name), format_score(name, value)))
        if (interval := target.get(f"{name}_interval")) is not None:
            low, high = (format_score(name, end) for end in interval)
            rows.append((tr("{metric}, 95 %", metric=named(name)), tr("{low} to {high}", low=low, high=high)))
    if target.get("mean_iou") is not None and target["per"] != "sample":
        rows.append((tr("Mean IoU"), format_figure(target["mean_iou"])))
    return rows


def named(name: str) -> str:
    """Return the name of a metric with a capital letter."""
    return sentence(metric_in_a_line(name))


def class_table(rows: Sequence[Mapping[str, Any]], *, has_iou: bool) -> QTableWidget:
    """Return a table with a row per class: precision, recall, F1 and IoU with intervals, and the number of samples."""
    names = ("precision", "recall", "f1", *(["iou"] if has_iou else []))
    cells = []
    for row in rows:
        scores = [_with_interval(row.get(name), row.get(f"{name}_interval")) for name in names]
        cells.append([str(row["class"]), f"{row['support']:,}", *scores])
    scores = [metric_title("precision"), metric_title("recall"), "F1", tr("IoU")]
    return text_table([tr("Class"), tr("Samples"), *scores[: len(names)]], cells)


def _with_interval(value: Any, interval: Sequence[float] | None) -> str:
    if not isinstance(value, int | float):
        return "" if value is None else str(value)
    text = format_figure(value)
    return (
        text
        if interval is None
        else tr(
            "{value}  ({low} to {high})", value=text, low=format_figure(interval[0]), high=format_figure(interval[1])
        )
    )


def class_rows(rows: Sequence[Mapping[str, Any]]) -> list[list[object]]:
    """Return the head and the rows of the scores per class, for a file."""
    names = [name for name in rows[0] if not name.endswith("_interval")]
    return [list(names), *([row[name] for name in names] for row in rows)]


def point_rows(points: Sequence[Sequence[float]]) -> list[Sequence[object]]:
    """Return true and predicted numbers, for a file."""
    return [("true", "predicted"), *points]


def step_rows(residuals: Sequence[Mapping[str, Any]]) -> list[list[object]]:
    """Return the errors of each predicted number, for a file."""
    names = ("name", "rmse", "mae", "mean", "largest", "r2")
    return [list(names), *([row[name] for name in names] for row in residuals)]
