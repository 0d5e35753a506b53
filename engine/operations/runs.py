"""`runs` and `show`: the runs of a folder or a project."""

import contextlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypedDict, cast

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.platform import command_line
from netwright.engine.core.progress import notice
from netwright.engine.core.text import format_duration, iso_time
from netwright.engine.operations.operation import (
    FORMS,
    Argument,
    Document,
    Line,
    Operation,
    Request,
    Result,
    RunDir,
    Table,
)
from netwright.engine.project.file import load
from netwright.engine.runs.create import runs_beside
from netwright.engine.runs.data_record import read_record
from netwright.engine.runs.events import ENDS, SPLIT_PRIORITY, State
from netwright.engine.runs.folder import RunFolder, open_run
from netwright.engine.runs.history import ProjectKey, in_order, list_runs, runs_of
from netwright.engine.runs.query import as_csv, matching, order_by, refuse_unknown
from netwright.engine.runs.summary import DAMAGED, RunSummary, format_metric, read_summary, result_text, with_state_now

LONGEST_CHANGES = 60
LONGEST_CELL = 200


class Change(TypedDict):
    """Difference from the run before."""

    option: str
    before: str
    after: str


class Run(TypedDict):
    """Summary of a run."""

    run_dir: str
    name: str
    """Name of the project."""
    state: State | Literal["damaged"]
    created: str | None
    """In ISO 8601."""
    environment: str
    project_path: str
    project_id: str
    number: int
    """Number of the run within its project; 0 for runs of older versions."""
    result: Mapping[str, Any] | None
    """Content of `result.json`; null before the end."""
    so_far: Mapping[str, Any]
    """The same keys, as far as the event log has them."""
    note: str
    tags: list[str]
    run_name: str
    """Name that the user gave."""
    title: str
    """Name that is shown."""
    options: Mapping[str, Any]
    """Options that the run set, by path."""
    network: str
    """Fingerprint of the network."""
    changes: list[Change]
    live_changes: Mapping[str, float]
    """The learn rate (`rate`) and the number of `epochs` that were last set while the run trained."""
    has_checkpoint: bool
    """Whether the run has saved anything that it can go on from."""
    damaged: list[str]
    """Names of its files that are there and cannot be read."""
    silence: str
    """Why its coordinator does not respond; empty where it does."""


class DataPlace(TypedDict):
    """A file or folder that data came from."""

    option: str
    path: str
    files: int
    bytes: int


class RunData(TypedDict):
    """Data of a run."""

    source: str
    places: list[DataPlace]
    split: str
    samples: Mapping[str, int]
    """Number of samples by split."""
    changes: list[str]
    """What has changed since, in words."""
    replaced: list[str]
    """Changes with which the run was resumed."""


class RunDescription(Run):
    """Summary of a run, with its data."""

    data: RunData | None
    """Null for a run that has no record of it."""


@dataclass(frozen=True, kw_only=True)
class RunsRequest(Request):
    """List the runs in a folder, or of a project (beside its file, in your data folder, wherever one was started),
    newest first, with what differs from the run before. A filter is words and conditions of which all must hold: digits
    state:failed tag:paper accuracy>0.9 validation.loss<0.2 epochs>=5 training.max_epochs=30."""

    place: Annotated[
        Path,
        Argument("a folder with runs, or a project file; default: ./runs", metavar="DIR|PROJECT", is_positional=True),
    ] = Path("runs")
    filter: Annotated[str, Argument("only the runs that match", metavar="TEXT")] = ""
    sort: Annotated[
        str,
        Argument(
            "created (default), run, name, state, environment, epochs, seconds, or a figure such as validation.loss",
            metavar="KEY",
        ),
    ] = "created"
    reverse: Annotated[bool, Argument("reverse the order")] = False
    csv: Annotated[bool, Argument("print a table with every figure and option", one_of=FORMS, faces=("command",))] = (
        False
    )


@dataclass(frozen=True, kw_only=True)
class Runs(Result):
    """Runs, newest first or as `--sort` says."""

    unwritten: ClassVar[tuple[str, ...]] = ("summaries", "num_known")

    runs: list[Run]
    summaries: tuple[RunSummary, ...]
    num_known: int
    """Number of runs before the filter."""


def list_them(request: RunsRequest) -> Runs:
    """List the runs. Raises `UserError`."""
    place = request.place
    if os.path.isfile(place / "run.json"):
        raise UserError(
            f"{place} is the folder of one run.",
            hint=f"`netwright-engine show` describes it, and `netwright-engine runs "
            f"{place.absolute().parent}` lists it beside the others.",
        )
    known = _runs_of_project(place) if place.is_file() else list_runs(place)
    order = order_by(request.sort, known, is_reversed=request.reverse)
    refuse_unknown(known, request.filter)
    runs = order.sorted(matching(known, request.filter))
    notice(*filter(None, (run.damage for run in runs)))
    return Runs(runs=[_as_json(run) for run in runs], summaries=tuple(runs), num_known=len(known))


def list_text(request: RunsRequest, result: Runs) -> Iterator[Line]:
    """Yield a row per run, or with `--csv` a table with every figure."""
    if request.csv:
        yield Document(as_csv(list(result.summaries)))
    elif not result.runs:
        others = f" that fit '{request.filter}'; there are {result.num_known:,} in all" if result.num_known else ""
        yield f"There are no runs {'of' if request.place.is_file() else 'in'} {request.place}{others}."
    else:
        yield Table(run_rows(result.summaries), right=(4,))


def _runs_of_project(path: Path) -> list[RunSummary]:
    """Return the runs of a project, newest first: beside its file, in the user's data folder, and wherever else one was
    started. Damaged runs beside the file may belong to it, so that none disappears silently."""
    identity = ""
    with contextlib.suppress(UserError):  # its runs are found by its path
        identity = load(path).project.identity
    beside = runs_beside(path)
    damaged = [run for run in list_runs(beside) if run.state == DAMAGED] if beside.is_dir() else []
    return in_order([*runs_of(ProjectKey(path.resolve(), identity)), *damaged])


def _as_json(run: RunSummary) -> Run:
    return cast(Run, {**run.write(), "run_dir": str(run.path.absolute()), "created": iso_time(run.created)})


def run_rows(runs: Sequence[RunSummary]) -> list[tuple[str, ...]]:
    """Return a header row and a row per run; with a column of tags if any run has tags."""
    rows = [("run", "state", "when", "environment", "epochs", "time", "result", "tags", "changes"), *map(_row, runs)]
    if not any(run.notes.tags for run in runs):
        rows = [(*row[:7], row[8]) for row in rows]
    return rows


def _row(run: RunSummary) -> tuple[str, ...]:
    epochs, seconds = run.number("epochs"), run.number("seconds")
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created)) if run.created else ""
    changed = "; ".join(map(str, run.changes))
    cells = (
        *(
            run.path.name,
            f"{run.state}, not responding" if run.silence else run.state,
            when,
            run.environment,
            "" if epochs is None else f"{epochs:.0f}",
        ),
        "" if seconds is None else format_duration(seconds),
        result_text(run),
        ", ".join(run.notes.tags),
        changed if len(changed) <= LONGEST_CHANGES else f"{changed[: LONGEST_CHANGES - 1]}…",
    )
    return tuple(cell[:LONGEST_CELL] for cell in cells)  # a stranger wrote some of them


RUNS = Operation(name="runs", effect="reads", function=list_them, text=list_text, faces=("command",))


@dataclass(frozen=True, kw_only=True)
class ShowRequest(Request):
    """Describe one run: state, time, environment, losses and metrics, options that it set, note, tags, and files."""

    run_dir: RunDir


def show(request: ShowRequest) -> RunDescription:
    """Describe the run. Raises `UserError`."""
    folder = open_run(request.run_dir)
    return cast(RunDescription, {**_as_json(_summary_now(folder)), "data": _data_as_json(folder)})


def _summary_now(folder: RunFolder) -> RunSummary:
    return with_state_now(read_summary(folder.path.absolute()))


def show_text(request: ShowRequest, _: RunDescription) -> Iterator[Line]:
    """Yield a heading and a text per line."""
    folder = open_run(request.run_dir)
    yield from (f"{name:12s} {text}".rstrip() for name, text in _description(_summary_now(folder), folder))


def _data_as_json(folder: RunFolder) -> dict[str, Any] | None:
    """Return the data of a run, and what has changed in it since; None for a run that has no record of it."""
    record = read_record(folder.path)
    if record is None:
        return None
    places = [{"option": p.option, "path": p.path, "files": p.files, "bytes": p.bytes} for p in record.places]
    samples = {"split": record.split, "samples": record.samples}
    changes = {"changes": list(record.changes()), "replaced": list(record.replaced)}
    return {"source": record.source, "places": places, **samples, **changes}


def _described_data(folder: RunFolder) -> Iterator[str]:
    """Yield the data of a run, and what has changed in it since."""
    try:
        record = read_record(folder.path)
    except UserError as error:
        yield str(error)
        return
    if record is None:
        return
    counts = ", ".join(f"{name} {count:,}" for name, count in record.samples.items())
    places = [f"{place.path} ({plural(place.files, 'file')}, {place.bytes:,} bytes)" for place in record.places]
    yield f"{', '.join(places) or record.source}; {counts}"
    yield from (f"replaced since the run began: {text}" for text in record.replaced)
    yield from (f"has changed since: {text}" for text in record.changes())


def _description(run: RunSummary, folder: RunFolder) -> Iterator[tuple[str, str]]:
    """Yield a heading and a text per line."""
    yield "run", str(run.path)
    yield "state", f"{run.state}{', not responding: ' + run.silence if run.silence else ''}"
    if run.reason:
        yield "reason", run.reason
    if run.damage:
        yield "damaged", run.damage
    yield "project", run.project_path or run.name
    yield "created", time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.created)) if run.created else "unknown"
    yield "environment", run.environment
    for text in _described_data(folder):
        yield "data", text
    counts = [plural(int(n), name[:-1]) for name in ("epochs", "iterations") if (n := run.number(name)) is not None]
    seconds = run.number("seconds")
    counts += [format_duration(seconds)] if seconds is not None else []
    yield "trained", ", ".join(counts) or "nothing yet"
    for split in SPLIT_PRIORITY:
        scores = {key.removeprefix(f"{split}."): v for key, v in run.scores.items() if key.startswith(f"{split}.")}
        if scores:
            yield split, ", ".join(format_metric(name, value) for name, value in scores.items())
    for name in sorted(run.options):
        yield "option", f"{name} = {run.option_text(name)}"
    if run.notes.note:
        yield "note", run.notes.note
    if run.notes.tags:
        yield "tags", ", ".join(run.notes.tags)
    with contextlib.suppress(UserError):
        if (kept := folder.kept()) is not None:
            yield "network", str(kept.absolute())
    place = command_line(str(run.path))
    if run.is_alive and run.state != "lost":
        yield "next", f"netwright-engine follow {place}"
    elif run.state == "finished":
        yield "next", f"netwright-engine export {place} -o {command_line(run.name)}.onnx"
    elif run.state in ENDS and run.has_checkpoint:
        yield "next", f"netwright-engine resume {place}"


SHOW = Operation(name="show", effect="reads", function=show, text=show_text, faces=("command",))
