"""Write the curves of runs for other programs: CSV tables, a log folder for TensorBoard, or a store for MLflow.

TensorBoard and MLflow are extras of the installation: each is imported only when its format is asked for.
"""

import contextlib
import hashlib
import io
import math
import os
import re
import shutil
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlparse
from urllib.request import url2pathname

from netwright.engine.core.csv_text import csv_line
from netwright.engine.core.errors import UserError
from netwright.engine.core.extras import import_extra
from netwright.engine.core.files import write_atomically
from netwright.engine.runs.events import ENDS, Points, ThinnedPoints
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import EventReader
from netwright.engine.runs.query import option_names
from netwright.engine.runs.run_options import shown
from netwright.engine.runs.summary import DAMAGED, RunSummary, read_summary, with_state_now
from netwright.engine.runs.thinning import extreme_points
from netwright.engine.runs.watched_weights import POINTS, Distribution, WeightStep, read_weights

if TYPE_CHECKING:
    from mlflow import MlflowClient

T = TypeVar("T")
FILE_SUFFIX = ".netwright"
"""Suffix of our event files, so that a second export replaces them and keeps files of other programs."""
LARGEST_FLOAT = 3.4028234663852886e38
"""Largest float32, the type of values in TensorBoard."""
LARGEST_STEP = 2**53
ROWS_AT_ONCE = 4096
MLFLOW_STATUS = {"finished": "FINISHED", "stopped": "KILLED", "failed": "FAILED", "lost": "FAILED", DAMAGED: "FAILED"}
MLFLOW_LONGEST_NAME, MLFLOW_LONGEST_VALUE = 100, 5000
MLFLOW_PARAMS_AT_ONCE, MLFLOW_METRICS_AT_ONCE = 100, 1000
"""Limits of MLflow per request."""
MLFLOW_RUN_TAG = "netwright.run"
_WAY_OUT = "Or write csv."


@dataclass
class Curve:
    """A curve of one split: steps, values, and times of the events in seconds since 1970-01-01 UTC."""

    name: str
    split: str
    steps: "array[float]" = field(default_factory=lambda: array("d"))
    values: "array[float]" = field(default_factory=lambda: array("d"))
    times: "array[float]" = field(default_factory=lambda: array("d"))

    def append(self, event: Points | ThinnedPoints) -> None:
        """Append points; of thinned ones those that were kept. Existing points from their first step on are removed:
        the run was rolled back."""
        if isinstance(event, ThinnedPoints):
            points = extreme_points(event, self.name)
            steps, values = array("d", (step for step, _ in points)), array("d", (value for _, value in points))
        else:
            values = array("d", event.values[self.name])
            end = event.first_step + len(values) * event.steps_apart
            steps = array("d", range(event.first_step, end, event.steps_apart))
        if self.steps and steps and self.steps[-1] >= steps[0]:
            num_kept = bisect_left(self.steps, steps[0])
            for column in (self.steps, self.values, self.times):
                del column[num_kept:]
        self.steps.extend(steps)
        self.values.extend(values)
        self.times.extend(array("d", [event.time]) * len(values))

    def points(self) -> Iterator[tuple[int, float, float]]:
        """Yield step, value and time of each point."""
        for step, value, time in zip(self.steps, self.values, self.times, strict=True):
            yield int(max(-LARGEST_STEP, min(LARGEST_STEP, step))), value, time


def read_curves(run: RunFolder) -> list[Curve]:
    """Read every curve of a run from its event log. Damaged lines are skipped."""
    curves: dict[tuple[str, str], Curve] = {}
    reader = EventReader(run)
    while events := reader.read():
        for event in events:
            if isinstance(event, (Points, ThinnedPoints)):
                for name in event.values if isinstance(event, Points) else event.curves:
                    with contextlib.suppress(TypeError, ValueError, OverflowError):
                        curves.setdefault((event.split, name), Curve(name, event.split)).append(event)
    return list(curves.values())


def write_curves(runs: Sequence[RunFolder], format: str, target: Path) -> list[Path]:
    """Write the curves of runs into a file (`csv`), or a folder (`tensorboard`, `mlflow`), or the distributions of
    their layers into a file (`weights-csv`). Return the files written; for MLflow the folders of the runs. Raises
    `UserError` where a file cannot be written or a library is missing."""
    try:
        if format in TABLES:
            write_atomically(target, TABLES[format](runs).encode("utf-8", "backslashreplace"))
            return [target]
        return list(_write_tensorboard(runs, target) if format == "tensorboard" else _write_mlflow(runs, target))
    except OSError as error:
        place = target if format in TABLES else error.filename or target  # not the name it is first written under
        raise UserError(f"{place} cannot be written: {error.strerror}.") from None


def _csv_text(runs: Sequence[RunFolder]) -> str:
    text = io.StringIO()
    text.write("run,curve,split,step,value\n")
    for run in runs:
        for curve in read_curves(run):
            row = csv_line((run.path.name, curve.name, curve.split)).replace("%", "%%") + ",%d,%.9g\n"
            for start in range(0, len(curve.steps), ROWS_AT_ONCE):
                steps, values = (column[start : start + ROWS_AT_ONCE] for column in (curve.steps, curve.values))
                text.write(row * len(steps) % tuple(chain.from_iterable(zip(steps, values, strict=True))))
    return text.getvalue()


def _weights_text(runs: Sequence[RunFolder]) -> str:
    shares = (f"{100 * place / (POINTS - 1):g} %" for place in range(POINTS))
    lines = [csv_line(("run", "layer", "kind", "epoch", "step", *shares))]
    for run in runs:
        lines += [
            csv_line((run.path.name, layer, kind, step.epoch, step.iteration, *values))
            for step, layer, kind, values in _distributions(run)
        ]
    return "\n".join([*lines, ""])


def _distributions(run: RunFolder) -> Iterator[tuple[WeightStep, str, str, Distribution]]:
    """Yield each step with a layer, a kind and the quantiles of its values."""
    for step in read_weights(run.path):
        for layer, kinds in step.layers.items():
            for kind, values in kinds.items():
                yield step, layer, kind, values


TABLES: Mapping[str, Callable[[Sequence[RunFolder]], str]] = {"csv": _csv_text, "weights-csv": _weights_text}
"""The content of each format that is one file."""


def _by_split(curves: Iterable[Curve]) -> dict[str, list[Curve]]:
    splits: dict[str, list[Curve]] = {}
    for curve in curves:
        splits.setdefault(curve.split, []).append(curve)
    return splits


def _plain(text: str) -> str:
    """Return the text without lone surrogates, which neither library can encode."""
    return text.encode("utf-8", "replace").decode()


# TensorBoard


def _write_tensorboard(runs: Sequence[RunFolder], target: Path) -> Iterator[Path]:
    """Write an event file per run and split, each in a folder of its own: TensorBoard then draws the splits of a run in
    one chart. Yield the files."""
    import_extra("tensorboard.summary.writer.record_writer", "tensorboard", "Curves for TensorBoard", _WAY_OUT)
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary
    from tensorboard.summary.writer.record_writer import RecordWriter

    for run in runs:
        for split, curves in _by_split(read_curves(run)).items():
            folder = target / run.path.resolve().name / split
            folder.mkdir(parents=True, exist_ok=True)
            for old in folder.glob(f"events.out.tfevents.*{FILE_SUFFIX}"):
                old.unlink()
            start = min((curve.times[0] for curve in curves if curve.times), default=0.0)
            file = io.BytesIO()
            records = RecordWriter(file)
            records.write(Event(wall_time=start, file_version="brain.Event:2").SerializeToString())
            for curve in curves:
                tag = _plain(curve.name)
                for step, value, time in curve.points():
                    if math.isfinite(value):
                        value = max(-LARGEST_FLOAT, min(LARGEST_FLOAT, value))
                    summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
                    records.write(Event(wall_time=time, step=step, summary=summary).SerializeToString())
            for record, layer, kind, values in _distributions(run) if split == "training" else ():
                histogram = HistogramProto(
                    min=values[0],
                    max=values[-1],
                    num=POINTS - 1,
                    bucket_limit=values[1:],
                    bucket=[1.0] * (POINTS - 1),  # as many values lie between two quantiles
                )
                summary = Summary(value=[Summary.Value(tag=_plain(f"{kind}/{layer}"), histo=histogram)])
                records.write(Event(wall_time=start, step=record.iteration, summary=summary).SerializeToString())
            path = folder / f"events.out.tfevents.{start:.0f}{FILE_SUFFIX}"
            write_atomically(path, file.getvalue())
            yield path


# MLflow


def _write_mlflow(runs: Sequence[RunFolder], target: Path) -> Iterator[Path]:
    """Write an experiment per project, with its runs and their options as parameters. A run that was exported before is
    replaced. Yield the folders of the runs."""
    client = _mlflow_client(target)
    from mlflow.exceptions import MlflowException

    summaries = [with_state_now(read_summary(run.path)) for run in runs]
    options = option_names(summaries)
    try:
        for run, summary in zip(runs, summaries, strict=True):
            yield _write_mlflow_run(client, summary, read_curves(run), options)
    except MlflowException as error:
        raise UserError(f"MLflow cannot write to {target}: {error.message.splitlines()[0]}") from None


def _mlflow_client(target: Path) -> "MlflowClient":
    """Open a file store in the folder, without telemetry: MLflow reads that setting when it is imported."""
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # later releases of MLflow 3 refuse file stores without it
    import_extra("mlflow", "mlflow", "Curves for MLflow", _WAY_OUT)
    from mlflow import MlflowClient

    target.mkdir(parents=True, exist_ok=True)
    return MlflowClient(tracking_uri=target.resolve().as_uri())


def _write_mlflow_run(client: "MlflowClient", run: RunSummary, curves: Sequence[Curve], options: Sequence[str]) -> Path:
    """Write one run, and return its folder."""
    from mlflow.entities import Metric, Param, ViewType

    name = _plain(run.name)[:MLFLOW_LONGEST_NAME] or "untitled"
    existing = client.get_experiment_by_name(name)
    experiment = client.create_experiment(name) if existing is None else existing.experiment_id
    identity = hashlib.sha256(str(run.path.resolve()).encode("utf-8", "replace")).hexdigest()[:32]
    for old in client.search_runs([experiment], f"tags.`{MLFLOW_RUN_TAG}` = '{identity}'", ViewType.ALL):
        shutil.rmtree(_run_folder(old.info.artifact_uri))
    title = _plain(run.path.resolve().name)
    created = client.create_run(
        experiment, _milliseconds(run.created), {**_mlflow_tags(run), MLFLOW_RUN_TAG: identity}, title
    )
    id = created.info.run_id
    params = {path: _cut(shown(run.options, path)) for path in options}
    pairs = zip(unique_names(params), params.values(), strict=True)
    for chunk in _chunks((Param(key, value) for key, value in pairs), MLFLOW_PARAMS_AT_ONCE):
        client.log_batch(id, params=chunk)
    metrics = (
        Metric(key, value, _milliseconds(time), step)
        for key, curve in _mlflow_metrics(run, curves).items()
        for step, value, time in curve.points()
    )
    for points in _chunks(metrics, MLFLOW_METRICS_AT_ONCE):
        client.log_batch(id, metrics=points)
    if run.state in (*ENDS, DAMAGED):
        end = max((curve.times[-1] for curve in curves if curve.times), default=run.created)
        client.set_terminated(id, MLFLOW_STATUS.get(run.state, "FAILED"), _milliseconds(max(end, run.created)))
    return _run_folder(created.info.artifact_uri)


def _run_folder(artifact_uri: str) -> Path:
    return Path(url2pathname(urlparse(artifact_uri).path)).parent


def _mlflow_tags(run: RunSummary) -> dict[str, str]:
    tags = {
        "mlflow.note.content": run.notes.note,
        "mlflow.source.name": "netwright",
        "state": run.state,
        "reason": run.reason,
        "environment": run.environment,
    }
    tags = {name: text for name, text in tags.items() if text} | {f"tag.{tag}": tag for tag in run.notes.tags}
    return {name: _cut(text) for name, text in zip(unique_names(tags), tags.values(), strict=True)}


def _mlflow_metrics(run: RunSummary, curves: Sequence[Curve]) -> Mapping[str, Curve]:
    """Return each curve, and each final score without a curve, by the name of the metric, `split/name`."""
    names = {f"{curve.split}.{curve.name}" for curve in curves}
    end = max((curve.times[-1] for curve in curves if curve.times), default=run.created)
    step = run.number("iterations") or 0.0
    for score, value in run.scores.items():
        split, _, name = score.partition(".")
        if score not in names:
            curves = [*curves, Curve(name, split, array("d", [step]), array("d", [value]), array("d", [end]))]
    splits = _by_split(curves)
    return {
        f"{split}/{name}": curve
        for split, of_split in zip(unique_names(splits), splits.values(), strict=True)
        for name, curve in zip(unique_names(curve.name for curve in of_split), of_split, strict=True)
    }


def unique_names(names: Iterable[str]) -> Iterator[str]:
    """Yield unique names that MLflow and all file systems accept: ASCII letters, digits, `_`, `-`, `.` and spaces, no
    two equal when case is ignored."""
    seen: set[str] = set()
    for name in names:
        clean = re.sub(r"[^A-Za-z0-9_\-. ]", "_", name)[:MLFLOW_LONGEST_NAME].strip()
        clean = unique = re.sub(r"^\.+", "_", clean) or "_"
        number = 1
        while unique.casefold() in seen:
            number += 1
            unique = f"{clean}_{number}"
        seen.add(unique.casefold())
        yield unique


def _chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def _cut(text: str) -> str:
    text = _plain(text)
    return text if len(text) <= MLFLOW_LONGEST_VALUE else f"{text[: MLFLOW_LONGEST_VALUE - 1]}…"


def _milliseconds(time: float) -> int:
    return max(0, round(time * 1000))
