"""The report of a run as one HTML file: network, options, environment, data, curves, results, versions and hashes."""

import math
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.engine.analysis.evaluate import Deciding, Evaluation
from netwright.engine.analysis.operations.report import ReportRequest, ReportResult
from netwright.engine.analysis.other_data import data_of
from netwright.engine.analysis.report_results import results
from netwright.engine.analysis.report_samples import has_pictures, thumbnails
from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.files import not_written, read_object, refuse_destination, write_atomically
from netwright.engine.core.text import format_bytes, format_duration, format_percent
from netwright.engine.core.version import VERSION
from netwright.engine.drawing.charts import BLUE, ORANGE, VIOLET, Axis, Chart, Marks, extremes, smoothed
from netwright.engine.drawing.picture import draw, placed
from netwright.engine.drawing.report_page import Content, Html, element, facts, figure, page, table
from netwright.engine.drawing.svg import svg
from netwright.engine.lowering.weights_folder import sha256
from netwright.engine.models.open_model import open_model
from netwright.engine.network.analysis import Analysis, analyse
from netwright.engine.network.layer_table import table_rows
from netwright.engine.project.file import load
from netwright.engine.project.options.metric_options import format_score, in_a_line, is_better_low, is_share, title_of
from netwright.engine.project.project import SECTIONS, Project
from netwright.engine.project.weights import weights_path
from netwright.engine.runs.curve_files import Curve, read_curves
from netwright.engine.runs.data_record import DataRecord, read_record
from netwright.engine.runs.events import SPLIT_PRIORITY
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.model_files import ModelFiles, model_files
from netwright.engine.runs.run_options import Options, in_order, options_in, shown
from netwright.engine.runs.summary import RunSummary, read_summary, with_state_now

MOST_LAYERS = 500
"""Layers up to which the network is drawn and each has a row; of more, the first have rows."""
MOST_POINTS = 1200
MOST_CURVES = 12
SMOOTHED_SHARE = 0.02
"""Window of the smoothing as a share of the curve, at least `LEAST_SMOOTHED` steps."""
LEAST_SMOOTHED = 4
MOST_PICTURES = 12
MOST_SCORES = 6
WIDE_SPREAD = 200.0
"""Ratio of the largest loss to the smallest from which its axis is logarithmic."""
PROJECT_BYTES = 2**26
NOT_ASKED = "An evaluation was not asked for."


@dataclass(frozen=True)
class Evaluated:
    """The evaluation that a report shows, and thumbnails of its ranked samples by their number in the source."""

    result: Mapping[str, Any]
    pictures: Mapping[int, bytes]


def report(request: ReportRequest) -> ReportResult:
    """Evaluate the network of a run, where that is possible and asked for, and write its report. Raises `UserError`."""
    evaluated, missing = None, ""
    if not request.no_evaluation:
        try:
            evaluation = Evaluation(open_model(request.choice), request.split, data_of(request))
            evaluated = with_pictures(evaluation, evaluation.decided(Deciding()))
        except UserError as error:
            if request.split or request.weights or request.data:  # what was asked for cannot be had
                raise
            missing = str(error)
    return write_report(request.model, request.destination, evaluated, missing)


def write_report(path: Path, to: Path, evaluated: Evaluated | None, missing: str = "") -> ReportResult:
    """Write the report of a model. `missing` says why there is no evaluation. Raises `UserError`."""
    refuse_destination(to)
    files = model_files(path)
    content = (RunReport if files.run is not None else Report)(files, evaluated, missing).html().encode()
    try:
        write_atomically(to, content)
    except OSError as error:
        raise not_written(to, error) from None
    return ReportResult(
        path=str(to.absolute()),
        run_dir=str(path.absolute()),
        bytes=len(content),
        split=str(evaluated.result["split"]) if evaluated is not None else "",
        has_evaluation=evaluated is not None,
        missing=missing,
    )


def with_pictures(evaluation: Evaluation, result: Mapping[str, Any]) -> Evaluated:
    """Return a result of an evaluation with the pictures of its ranked samples, if
    they are images. Raises `UserError`."""
    numbers = sorted(
        {
            row["index"]
            for target in result["targets"]
            for key in ("worst", "most_uncertain")
            for row in target.get(key, ())[:MOST_PICTURES]
        }
    )
    if not numbers or not has_pictures(evaluation.trained.facts):
        return Evaluated(result, {})
    return Evaluated(result, dict(zip(numbers, thumbnails(evaluation.data, numbers), strict=True)))


class Report:
    """The parts of the report of a model."""

    def __init__(self, files: ModelFiles, evaluated: Evaluated | None, missing: str) -> None:
        self._files, self._name = files, files.path.name
        self._project: Project = load(files.project).project
        self._options_set: Options = options_in(read_object(files.project, PROJECT_BYTES, may_be_deep=True))
        self._analysis: Analysis = analyse(self._project.network)
        self._evaluated, self._missing = evaluated, missing or NOT_ASKED

    def html(self) -> str:
        """Return the text of the file. Raises `UserError` for damaged files."""
        parts: list[Content] = [
            element("h1", self._name),
            facts(dict(self._facts())),
            element("h2", "Results"),
            *self._results(),
            element("h2", "Network"),
            *self._network(),
            element("h2", "Options"),
            *self._options(),
            element("h2", "Versions and hashes"),
            facts(dict(self._hashes())),
        ]
        return page(self._name, parts)

    def _facts(self) -> Iterator[tuple[str, Content]]:
        yield "Model", str(self._files.path)
        yield "Weights", self._project.weights.file and str(weights_path(self._project.weights, self._files.base))
        for warning in self._files.warnings:
            yield "Warning", warning

    def _hashes(self) -> Iterator[tuple[str, Content]]:
        yield "Report written by", f"netwright {VERSION}, {time.strftime('%Y-%m-%d %H:%M')}"
        yield "Model, SHA-256", element("code", sha256(self._files.path))
        yield "Weights, SHA-256", element("code", self._project.weights.sha256)

    # ---- results ----

    def _results(self) -> Iterator[Html]:
        if self._evaluated is None:
            yield element("p", f"There is no evaluation of the network in this report. {self._missing}", class_="muted")
            return
        yield from results(self._evaluated.result, self._evaluated.pictures)

    # ---- network ----

    def _network(self) -> Iterator[Html]:
        network = self._project.network
        rows = list(table_rows(network, self._analysis))
        if len(network.layers) <= MOST_LAYERS:
            picture = draw(network, placed(network, self._project.layout), self._analysis)
            yield figure(svg(picture, f"Network of {self._name}"), kind="network")
        cells: list[Sequence[Content]] = []
        for row in rows[:MOST_LAYERS]:
            shapes, depth = row.shapes, row.path.count("/")
            weights = shapes.weights if shapes is not None else {}
            weight_shapes = ", ".join(f"{name} {' × '.join(map(str, sizes))}" for name, sizes in weights.items())
            output = shapes.output.short() if shapes is not None else ""
            counts = (f"{shapes.parameters:,}", f"{shapes.flops:,}") if shapes is not None else ("", "")
            cells.append(("  " * depth + row.path, row.label, output, weight_shapes, *counts))
        top = [row.shapes for row in rows if "/" not in row.path and row.shapes is not None]
        total = (f"{sum(layer.parameters for layer in top):,}", f"{self._analysis.flops:,}")
        cells.append((element("b", "Total"), "", "", "", *(element("b", text) for text in total)))
        head = ("Layer", "Type", "Output", "Weights", "Parameters", "FLOPs")
        yield table(head, cells, numbers=(4, 5), caption="FLOPs per sample, forward; a multiply-add counts two")
        if len(rows) > MOST_LAYERS:
            yield element("p", f"And {len(rows) - MOST_LAYERS:,} more layers.", class_="muted")

    # ---- options ----

    def _options(self) -> Iterator[Html]:
        changed = self._options_set
        rows = [(element("code", path), shown(changed, path), shown({}, path)) for path in in_order(changed)]
        if rows:
            yield table(("Option", "Value", "Default"), rows, caption="Set in the project")
        else:
            yield element("p", "All options have their defaults.", class_="muted")
        paths = [f"{section}.{name}" for section, record in SECTIONS.items() for name in record.fields]
        others = [(element("code", path), shown(changed, path)) for path in in_order(paths) if path not in changed]
        yield element("h3", "Options at their defaults")
        yield element("div", table((), others), class_="two")


class RunReport(Report):
    """The parts of the report of a run."""

    def __init__(self, files: ModelFiles, evaluated: Evaluated | None, missing: str) -> None:
        super().__init__(files, evaluated, missing)
        self._folder = RunFolder(files.path)
        self._run: RunSummary = with_state_now(read_summary(files.path.absolute()))
        self._record: DataRecord | None = read_record(files.path)
        self._info = self._folder.read_info()
        self._name, self._options_set = self._run.name, self._run.options

    def html(self) -> str:
        """Return the text of the file. Raises `UserError` for a damaged run."""
        parts: list[Content] = [
            element("h1", self._run.title),
            element("p", self._subtitle(), class_="muted"),
            self._scores(),
            *self._note(),
            element("h2", "Run"),
            facts(dict(self._facts())),
            element("h2", "Curves"),
            *self._curves(),
            element("h2", "Results"),
            *self._results(),
            element("h2", "Network"),
            *self._network(),
            element("h2", "Options"),
            *self._options(),
            element("h2", "Environment"),
            facts(dict(self._environment())),
            element("h2", "Data"),
            *self._data(),
            element("h2", "Versions and hashes"),
            facts(dict(self._hashes())),
        ]
        return page(f"{self._run.name}: {self._run.title}", parts)

    def _subtitle(self) -> str:
        created = time.strftime("%Y-%m-%d %H:%M", time.localtime(self._run.created)) if self._run.created else ""
        return " · ".join(filter(None, (self._run.name, created, self._run.environment)))

    def _scores(self) -> Html | None:
        """Return the main numbers: metrics of the test split, else of the validation split."""
        scores = self._run.scores
        split = next((name for name in ("test", "validation") if f"{name}.loss" in scores), "training")
        names = [key.partition(".")[2] for key in scores if key.startswith(f"{split}.")]
        names.sort(key=lambda name: name == "loss")
        boxes = []
        for name in names[:MOST_SCORES]:
            value, label = format_score(name, scores[f"{split}.{name}"]), f"{in_a_line(name)}, {split}"
            boxes.append(element("div", element("b", value), element("span", label), class_="score"))
        return element("div", *boxes, class_="scores") if boxes else None

    def _note(self) -> Iterator[Html]:
        if self._run.notes.note:
            yield element("p", self._run.notes.note)

    def _facts(self) -> Iterator[tuple[str, Content]]:
        run = self._run
        yield "State", run.state + (f": {run.reason}" if run.reason else "")
        yield "Project", run.project_path or run.name
        yield "Tags", ", ".join(run.notes.tags)
        for name in ("epochs", "iterations"):
            if (value := run.number(name)) is not None:
                yield name.capitalize(), f"{value:,.0f}"
        if (seconds := run.number("seconds")) is not None:
            yield "Duration", format_duration(seconds)
        if rate := (run.result or {}).get("samples_per_second"):
            yield "Throughput", f"{rate:,.0f} samples per second"
        for split in SPLIT_PRIORITY:
            scores = {key.partition(".")[2]: v for key, v in run.scores.items() if key.startswith(f"{split}.")}
            yield split.capitalize(), ", ".join(f"{in_a_line(n)} {format_score(n, v)}" for n, v in scores.items())
        for warning in self._info.warnings:
            yield "Warning", warning

    # ---- curves ----

    def _curves(self) -> Iterator[Html]:
        by_name: dict[str, dict[str, Curve]] = defaultdict(dict)
        for curve in read_curves(self._folder):
            by_name[curve.name][curve.split] = curve
        if not by_name:
            yield element("p", "The run has no points yet.", class_="muted")
            return
        names = sorted(by_name, key=lambda name: (name != "loss", "validation" not in by_name[name]))
        figures = [figure(curve_chart(name, by_name[name])) for name in names[:MOST_CURVES]]
        yield element("div", *figures, class_="figures")
        text = "Faint: every iteration. Strong: its exponential moving average. "
        yield element("p", f"{text}Points: the validation split and, at the end, the test split.", class_="muted")

    # ---- environment and data ----

    def _environment(self) -> Iterator[tuple[str, Content]]:
        info = self._info
        placement = info.placement
        yield "Execution", placement.sentence
        yield "Batches", placement.arithmetic
        yield "Hardware", placement.hardware
        yield "Host", info.host
        yield "Seed", str(info.seed)
        yield "Deterministic", "yes" if info.deterministic else "no"
        yield "Weights at the start", str(info.weights.get("file", "")) or "random numbers"

    def _data(self) -> Iterator[Html]:
        record = self._record
        if record is None:
            yield element("p", "The run has no record of its data.", class_="muted")
            return
        counts = [
            (name, f"{count:,}", format_percent(count / max(1, len(record.parts)), 1))
            for name, count in record.samples.items()
        ]
        yield facts({"Source": record.source, "Split": record.split})
        yield table(("Split", "Samples", "Share"), counts, numbers=(1, 2))
        places = [
            (
                element("code", f"data.{place.option}"),
                place.path,
                f"{place.files:,}",
                format_bytes(place.bytes),
                element("code", place.content.sha256),
            )
            for place in record.places
        ]
        if places:
            yield table(("Option", "Path", "Files", "Size", "SHA-256 of the contents"), places, numbers=(2, 3))
            if not all(place.content.is_whole for place in record.places):
                yield element("p", "Of large data, the hash is that of a sample of the contents.", class_="muted")
        for text in (*record.replaced, *record.changes()):
            yield element("p", f"Changed since the run began: {text}")

    def _hashes(self) -> Iterator[tuple[str, Content]]:
        yield from self._info.versions.items()
        yield "Report written by", f"netwright {VERSION}, {time.strftime('%Y-%m-%d %H:%M')}"
        yield "Project, SHA-256", element("code", self._info.project_sha256)
        folder = self._folder.kept()
        weights = folder / "weights.safetensors" if folder is not None else None
        if folder is not None and weights is not None and weights.is_file():
            yield f"Weights ({folder.name}), SHA-256", element("code", sha256(weights))
        if self._record is not None:
            yield "Splits, SHA-256", element("code", self._record.split_hash)
        for file, digest in self._info.code.items():
            yield f"{file}, SHA-256", element("code", digest)
        yield "Run folder", element("code", str(self._folder.path.absolute()))
        if count := self._info.max_restarts:
            yield "Restarts allowed", plural(count, "restart")


def curve_chart(name: str, splits: Mapping[str, Curve]) -> str:
    """Return the chart of one quantity: training raw and smoothed, validation and test as points."""
    marks = []
    if (training := splits.get("training")) is not None:
        steps, values = list(training.steps), list(training.values)
        window = max(LEAST_SMOOTHED, SMOOTHED_SHARE * len(values))
        is_long = len(values) > 2 * LEAST_SMOOTHED
        marks.append(Marks(*extremes(steps, values, MOST_POINTS), label="training", is_faint=is_long))
        if is_long:
            smooth = extremes(steps, smoothed(values, window), MOST_POINTS)
            marks.append(Marks(*smooth, label="smoothed"))
    for split, colour in (("validation", ORANGE), ("test", VIOLET)):
        if (curve := splits.get(split)) is not None:
            points = extremes(list(curve.steps), list(curve.values), MOST_POINTS)
            if len(points[0]) > 1:
                marks.append(Marks(*points, colour=colour))
            marks.append(Marks(*points, kind="points", label=split, colour=colour))
    others = [(split, curve) for split, curve in splits.items() if split not in ("training", "validation", "test")]
    marks += [Marks(list(c.steps), list(c.values), label=s, colour=BLUE) for s, c in others]
    finite = [value for series in marks for value in series.y if math.isfinite(value)]
    spread = max(finite) / min(finite) if finite and min(finite) > 0 else 1.0
    is_log = (is_better_low(name) or name == "loss") and spread > WIDE_SPREAD
    low = 0.0 if finite and min(finite) >= 0 and not is_log else None
    high = 1.0 if is_share(name) and finite and max(finite) <= 1 else None
    y = Axis(title_of(name) if name != "loss" else "Loss", low, high, is_log=is_log, is_percent=is_share(name))
    last = max((step for series in marks for step in series.x), default=1.0)
    return Chart(f"{name} over the iterations", marks, Axis("iteration", 0.0, last), y).svg()
