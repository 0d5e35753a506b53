"""The results of an evaluation in a report: metrics, confusions, calibration, residuals, single samples."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from netwright.engine.core.text import format_figure, format_percent
from netwright.engine.drawing.charts import GREEN, MUTED, Axis, Chart, Marks, Matrix
from netwright.engine.drawing.report_page import Content, Html, element, figure, picture, table
from netwright.engine.project.options.metric_options import TEXT_METRICS, format_score, title_of

SMALL = (340.0, 250.0)
MOST_SAMPLES = 12
MOST_CHARTED = 4
INTERVALS = ("accuracy", "rmse", "mae", *TEXT_METRICS)
LISTS = (("worst", "Worst samples"), ("most_uncertain", "Most uncertain samples"))


def results(evaluated: Mapping[str, Any], pictures: Mapping[int, bytes]) -> Iterator[Html]:
    """Yield the parts about a result of `netwright.engine.analysis.evaluate`. `pictures`: PNG by the number of a
    sample."""
    where = f"the {evaluated['split']} split" if evaluated["split"] else f"{evaluated['data']}"
    text = f"{evaluated['samples']:,} samples of {where}; {evaluated['weights']} weights."
    yield element("p", text, class_="muted")
    for note in evaluated["notes"]:
        yield element("p", note)
    targets = evaluated["targets"]
    metrics = {"loss": evaluated["loss"], **evaluated["metrics"]}
    first = targets[0] if len(targets) == 1 else {}
    rows = [(_titled(name), _figure(name, value), _interval(name, first)) for name, value in metrics.items()]
    has_ends = any(row[2] for row in rows)
    head = ("Metric", "Value", "95 % interval")
    yield table(head if has_ends else head[:2], rows if has_ends else [row[:2] for row in rows], numbers=(1, 2))
    for target in targets:
        if len(targets) > 1:
            yield element("h3", f"Output {target['name']}")
        yield from _target(target, pictures)


def _target(target: Mapping[str, Any], pictures: Mapping[int, bytes]) -> Iterator[Html]:
    figures = [*_confusion(target), *_calibration(target)]
    if figures:
        yield element("div", *figures, class_="figures")
    yield from _stored(target)
    if target.get("per_class"):
        yield _classes(target)
    if target.get("residuals"):
        yield from _residuals(target["residuals"])
    for key, title in LISTS:
        if rows := target.get(key):
            yield element("h3", title)
            yield _samples(rows[:MOST_SAMPLES], pictures)


def _confusion(target: Mapping[str, Any]) -> Iterator[Html]:
    if target.get("confusion"):
        title = "Confusion matrix"
        caption = f"{title}: rows are true classes, shaded by the share of their row."
        yield figure(Matrix(title, target["classes"], target["confusion"]).svg(), caption)


def _calibration(target: Mapping[str, Any]) -> Iterator[Html]:
    facts = target.get("calibration")
    if not facts or not facts["bins"]:
        return
    middles = [(row["low"] + row["high"]) / 2 for row in facts["bins"]]
    width = 0.92 * (facts["bins"][0]["high"] - facts["bins"][0]["low"])
    marks = (
        Marks(middles, [row["accuracy"] for row in facts["bins"]], kind="bars", width=width, is_faint=True),
        Marks((0.0, 1.0), (0.0, 1.0), colour=MUTED, is_dashed=True),
    )
    axes = Axis("confidence", 0.0, 1.0, is_percent=True), Axis("correct", 0.0, 1.0, is_percent=True)
    caption = (
        f"Calibration: expected error {facts['expected_error']:.3f}, largest {facts['largest_error']:.3f}; on the "
        "diagonal a confidence is as high as the share of correct answers."
    )
    yield figure(Chart("Calibration", marks, *axes, *SMALL).svg(), caption)


def _stored(target: Mapping[str, Any]) -> Iterator[Html]:
    """Say which decisions are stored with the network."""
    stored = target.get("stored") or {}
    texts = [f"{name} from {value:.4g} on" for name, value in stored.get("thresholds", {}).items()]
    if stored.get("temperature", 1.0) != 1.0:
        texts.append(f"temperature {stored['temperature']:.4g} (in exports too; the calibration above is without it)")
    if texts:
        yield element("p", f"Stored with the network, applied by predict: {'; '.join(texts)}.")


def _classes(target: Mapping[str, Any]) -> Html:
    names = ("precision", "recall", "f1", *(["iou"] if target["per"] != "sample" else []))
    titles = {"precision": "Precision", "recall": "Recall", "f1": "F1", "iou": "IoU"}
    cells = []
    for row in target["per_class"]:
        scores = []
        for name in names:
            ends = row.get(f"{name}_interval")
            scores.append(f"{row[name]:.3f}" + (f" ({ends[0]:.2f} to {ends[1]:.2f})" if ends else ""))
        cells.append((str(row["class"]), f"{row['support']:,}", *scores))
    head = ("Label" if target["task"] == "labels" else "Class", "Support", *(titles[name] for name in names))
    caption = "Scores per class, with 95 % intervals"
    return table(head, cells, numbers=range(1, len(head)), caption=caption)


def _residuals(rows: Sequence[Mapping[str, Any]]) -> Iterator[Html]:
    """Yield a table with a row per number, and the charts of the first ones."""
    keys = {"rmse": "RMSE", "mae": "MAE", "mean": "Mean error", "std": "Spread", "largest": "Largest"}
    cells = [
        (
            str(row["name"]),
            *(format_figure(row[key]) for key in keys),
            f"{row['r2']:.4f}" if row["r2"] is not None else "undefined",
        )
        for row in rows
    ]
    head = ("Number", *keys.values(), "R²")
    yield table(head, cells, numbers=range(1, len(head)), caption="Errors: predicted minus true")
    for row in rows[:MOST_CHARTED]:
        yield element("div", *_error_charts(row), class_="figures")
    if len(rows) > MOST_CHARTED:
        yield element("p", f"Charts of the first {MOST_CHARTED} of {len(rows):,} numbers are shown.", class_="muted")


def _error_charts(residuals: Mapping[str, Any]) -> Iterator[Html]:
    points, name = residuals["points"], residuals["name"]
    true, predicted = [pair[0] for pair in points], [pair[1] for pair in points]
    ends = (min([*true, *predicted], default=0.0), max([*true, *predicted], default=1.0))
    marks = (Marks(ends, ends, colour=MUTED, is_dashed=True), Marks(true, predicted, kind="points"))
    scatter = Chart("Predicted against true", marks, Axis("true"), Axis("predicted"), *SMALL).svg()
    yield figure(scatter, f"{name}: predicted against true; on the diagonal a prediction is right.")
    counted = residuals["histogram"]
    if counted["counts"]:
        width = (counted["high"] - counted["low"]) / len(counted["counts"])
        middles = [counted["low"] + (place + 0.5) * width for place in range(len(counted["counts"]))]
        bars = Marks(middles, counted["counts"], kind="bars", width=0.92 * width, colour=GREEN)
        histogram = Chart("Errors", (bars,), Axis("predicted minus true"), Axis("samples", low=0.0), *SMALL).svg()
        yield figure(histogram, f"{name}: errors.")


def _samples(rows: Sequence[Mapping[str, Any]], pictures: Mapping[int, bytes]) -> Html:
    if all(row["index"] in pictures for row in rows):
        figures = []
        for row in rows:
            lines = [f"{name} {text}" for name, text in _said_of(row)]
            caption: list[Content] = [part for line in lines for part in (line, element("br"))]
            figures.append(picture(pictures[row["index"]], f"Sample {row['index']}", *caption))
        return element("div", *figures, class_="samples")
    keys = list(dict.fromkeys(name for row in rows for name, _ in _said_of(row)))
    cells = [[dict(_said_of(row)).get(key, "") for key in keys] for row in rows]
    return table([key.capitalize() for key in keys], cells)


def _said_of(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "sample", str(row.get("sample", row["index"]))
    for key in ("label", "prediction", "accuracy", "loss", "error", "confidence"):
        if key in row:
            yield key, _answer(key, row[key])


def _answer(key: str, value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_answer(key, item) for item in value[:4]) + (", …" if len(value) > 4 else "")
    if isinstance(value, float):
        return format_percent(value, 1) if key == "confidence" else format_score(key, value)
    return str(value)


def _titled(name: str) -> str:
    return "Loss" if name == "loss" else title_of(name)


def _figure(name: str, value: Any) -> str:
    if not isinstance(value, int | float):
        return str(value)
    return format_score(name, value)


def _interval(name: str, target: Mapping[str, Any]) -> str:
    ends = target.get(f"{name}_interval") if name in INTERVALS else None
    return f"{_figure(name, ends[0])} to {_figure(name, ends[1])}" if ends else ""
