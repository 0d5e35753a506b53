"""The curves of runs for other programs: as one table (CSV), a log folder of TensorBoard, or a file store of MLflow."""

import contextlib
import csv
import io
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.core.errors import UserError
from engine.core.files import write_atomically
from engine.exchange import mlflow, tensorboard
from engine.runs.events import ENDS, Points
from engine.runs.folder import RunFolder
from engine.runs.log import EventReader
from engine.runs.options import shown
from engine.runs.query import option_names
from engine.runs.summary import DAMAGED, RunSummary, read_summary, with_state_now

_STATUSES = {
    "finished": mlflow.FINISHED,
    "stopped": mlflow.KILLED,
    "failed": mlflow.FAILED,
    "lost": mlflow.FAILED,
    DAMAGED: mlflow.FAILED,
}


@dataclass
class Curve:
    """One quantity of one part of the data: steps, values, and when they were told, in seconds since the epoch."""

    name: str
    split: str
    steps: "array[float]" = field(default_factory=lambda: array("d"))
    values: "array[float]" = field(default_factory=lambda: array("d"))
    times: "array[float]" = field(default_factory=lambda: array("d"))

    def append(self, points: Points) -> None:
        """Add points; those at or after their first step were told before the run went back, and are replaced."""
        values = [float(value) for value in points.values[self.name]]
        keep = bisect_left(self.steps, points.first_step)
        for known in (self.steps, self.values, self.times):
            del known[keep:]
        self.steps.extend(points.first_step + at * points.steps_apart for at in range(len(values)))
        self.values.extend(values)
        self.times.extend([points.time] * len(values))


def curves_of(run: RunFolder) -> list[Curve]:
    """Every curve of a run, as its event log tells them."""
    found: dict[tuple[str, str], Curve] = {}
    reader = EventReader(run)
    while events := reader.read():
        for event in events:
            if isinstance(event, Points):
                for name in event.values:
                    with contextlib.suppress(TypeError, ValueError, OverflowError):  # a damaged line
                        found.setdefault((event.split, name), Curve(name, event.split)).append(event)
    return list(found.values())


def write_curves(runs: Sequence[RunFolder], format: str, target: Path) -> list[Path]:
    """Write the curves of runs into a file (csv) or a folder (tensorboard, mlflow). Raises `UserError`.

    Returns the files; of MLflow the folders of the runs.
    """
    try:
        if format == "csv":
            write_atomically(target, _as_csv(runs).encode("utf-8", "backslashreplace"))
            return [target]
        return list(_for_tensorboard(runs, target) if format == "tensorboard" else _for_mlflow(runs, target))
    except OSError as error:
        place = target if format == "csv" else error.filename or target  # not the name it is first written under
        raise UserError(f"{place} cannot be written: {error.strerror}.") from None


def _as_csv(runs: Sequence[RunFolder]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("run", "curve", "split", "step", "value"))
    for run in runs:
        for curve in curves_of(run):
            for step, value in zip(curve.steps, curve.values, strict=True):
                writer.writerow((run.path.name, curve.name, curve.split, f"{step:.0f}", f"{value:.9g}"))
    return text.getvalue()


def _for_tensorboard(runs: Sequence[RunFolder], target: Path) -> Iterator[Path]:
    """A folder a run and part, so that TensorBoard draws the parts of a run in one chart."""
    for run in runs:
        parts: dict[str, list[Curve]] = {}
        for curve in curves_of(run):
            parts.setdefault(curve.split, []).append(curve)
        for split, curves in parts.items():
            folder = target / run.path.resolve().name / split
            folder.mkdir(parents=True, exist_ok=True)
            for old in folder.glob("events.out.tfevents.*.netwright"):
                old.unlink()  # of an earlier export: TensorBoard would draw both
            first = min((curve.times[0] for curve in curves if curve.times), default=0.0)
            path = folder / f"events.out.tfevents.{first:.0f}.netwright"
            scalars = (
                tensorboard.scalar(curve.name, int(step), value, time)
                for curve in curves
                for step, value, time in zip(curve.steps, curve.values, curve.times, strict=True)
            )
            write_atomically(path, tensorboard.log(first, scalars))
            yield path


def _for_mlflow(runs: Sequence[RunFolder], target: Path) -> Iterator[Path]:
    """An experiment a project, with the options that any of the runs names as parameters of each."""
    told = [with_state_now(read_summary(run.path)) for run in runs]
    options = option_names(told)
    for run, summary in zip(runs, told, strict=True):
        since = min(other.created for other in told if other.name == summary.name)
        experiment = mlflow.write_experiment(target, mlflow.Experiment(name=summary.name, time=since))
        curves = curves_of(run)
        metrics = _metrics(summary, curves)
        yield mlflow.write_run(experiment, _mlflow_run(summary, curves, options), metrics)


def _mlflow_run(run: RunSummary, curves: Sequence[Curve], options: Sequence[str]) -> mlflow.Run:
    last = max((curve.times[-1] for curve in curves if curve.times), default=run.created)
    said = {
        "mlflow.runName": run.path.resolve().name,
        "mlflow.note.content": run.notes.note,
        "mlflow.source.name": "netwright",
        "state": run.state,
        "reason": run.reason,
        "environment": run.environment,
    }
    return mlflow.Run(
        identity=str(run.path.resolve()),
        name=run.path.resolve().name,
        status=_STATUSES.get(run.state, mlflow.RUNNING),
        started=run.created,
        ended=max(last, run.created) if run.state in (*ENDS, DAMAGED) else None,
        params={path: shown(run.options, path) for path in options},
        tags={name: text for name, text in said.items() if text} | {f"tag.{tag}": tag for tag in run.notes.tags},
    )


def _metrics(run: RunSummary, curves: Sequence[Curve]) -> dict[str, Iterator[bytes]]:
    """Every curve, and the figures of the end that have none, as `split/name`."""
    known = {f"{curve.split}.{curve.name}" for curve in curves}
    end = max((curve.times[-1] for curve in curves if curve.times), default=run.created)
    step = run.number("iterations") or 0.0
    for score, value in run.scores.items():
        split, _, name = score.partition(".")
        if score not in known:
            curves = [*curves, Curve(name, split, array("d", [step]), array("d", [value]), array("d", [end]))]
    parts: dict[str, list[Curve]] = {}
    for curve in curves:
        parts.setdefault(curve.split, []).append(curve)
    found: dict[str, Iterator[bytes]] = {}
    for split, of_part in zip(mlflow.unique(parts), parts.values(), strict=True):
        for name, curve in zip(mlflow.unique(curve.name for curve in of_part), of_part, strict=True):
            found[f"{split}/{name}"] = map(mlflow.metric, curve.values, curve.steps, curve.times)
    return found
