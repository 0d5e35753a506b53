"""Every reader of files that a stranger may have made: real files to begin with, how they are changed, what reads them.

A reader gets a folder in which one file is hostile. It may raise `UserError`, and nothing else.
"""

import contextlib
import io
import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from netwright.engine.project.file import dumps, load, loads
from netwright.engine.project.project import Project
from netwright.engine.runs.create import create
from netwright.engine.runs.events import (
    Best,
    Checkpointed,
    Ended,
    EpochEnded,
    Event,
    Failed,
    Health,
    Message,
    Points,
    Progress,
    Refused,
    Requested,
    Resumed,
    Started,
    StateChanged,
    UnknownEvent,
    standing,
)
from netwright.engine.runs.folder import RunFolder, open_run
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.log import EventLog, read_all
from tests.builders import classifier
from tests.fuzz import mutate
from tests.fuzz.mutate import Mutation

GOLDEN = Path(__file__).parents[1] / "golden" / "format_1_0.netwright"
TEMPLATES = Path(__file__).parents[2] / "resources" / "templates"


@dataclass(frozen=True)
class Reader:
    """One reader. `prepare` makes what lies around the hostile file, once, and tells the seeds it begins with."""

    file: str
    mutation: Mutation
    prepare: Callable[[Path], Sequence[bytes]]
    read: Callable[[Path, random.Random], object]
    needs_qt: bool = False


READERS: dict[str, Reader] = {}


def reader(
    name: str, file: str, mutation: Mutation, prepare: Callable[[Path], Sequence[bytes]], *, needs_qt: bool = False
) -> Callable[[Callable[[Path, random.Random], object]], Callable[[Path, random.Random], object]]:
    """Enter a function into the list."""

    def enter(read: Callable[[Path, random.Random], object]) -> Callable[[Path, random.Random], object]:
        READERS[name] = Reader(file, mutation, prepare, read, needs_qt)
        return read

    return enter


# ---- projects and code ----


def projects(folder: Path) -> list[bytes]:
    small = [TEMPLATES / "autoencoder.netwright", TEMPLATES / "lstm_classifier.netwright"]
    return [path.read_bytes() for path in (GOLDEN, GOLDEN, *small)]


@reader("project", "a.netwright", mutate.json_file, projects)
def read_project(folder: Path, generator: random.Random) -> None:
    from netwright.engine.project.check import check

    project = load(folder / "a.netwright").project
    check(project)
    assert loads(dumps(project)).project == project


CODE = b'''import math
import torch


class Net(torch.nn.Module):
    """Docs."""

    def __init__(self, size: int = 3, *, share: float = 0.5, name: str = "a"):
        super().__init__()

    def forward(self, x, y=None):
        return x


def loss(outputs, targets, weight=[1, 2, (3, 4)]):
    return math.inf
'''


@reader(
    "code", "code.py", mutate.any_bytes, lambda folder: [CODE, b"x = " + b"(" * 150 + b")" * 150, b"-" * 9000 + b"1"]
)
def read_code(folder: Path, generator: random.Random) -> None:
    from netwright.engine.user_code import registry

    registry.peek("code.py", folder)


@reader("presets", "presets.json", mutate.json_file, lambda folder: [_presets(folder)])
def read_presets(folder: Path, generator: random.Random) -> None:
    from netwright.engine.project.presets import Presets

    json.dumps({name: options.write() for name, options in Presets(folder / "presets.json").read().items()})


def _presets(folder: Path) -> bytes:
    from netwright.engine.project.presets import BUILT_IN, Presets, with_built_in
    from netwright.engine.project.training import TrainingOptions

    presets = Presets(folder / "presets.json")
    for name in BUILT_IN:
        presets.save(f"my {name}", with_built_in(name, TrainingOptions()))
    return presets.file.read_bytes()


# ---- run folders ----

EVENTS: tuple[Event, ...] = (
    Started(
        environment={"resolved": "cpu"},
        hardware="a processor",
        epochs=3,
        iterations=30,
        steps_per_epoch=10,
        metric="accuracy",
        samples={"training": 60, "validation": 6},
        parameters=99,
    ),
    StateChanged(state="running"),
    Points(split="validation", first_step=0, steps_apart=1, values={"loss": [2.5], "accuracy": [0.1]}),
    Points(
        split="training", first_step=1, steps_apart=1, values={"loss": [2.5, 2.0, 1.5], "accuracy": [0.1, 0.2, 0.3]}
    ),
    Progress(
        epoch=1, iteration=3, elapsed_s=0.5, remaining_s=9.5, rate=0.01, samples_per_second=99.0, memory_bytes=2**29
    ),
    Health(iteration=3, layers={"id1": [0.5, 0.25, 0.0], "id2": [0.5, math.nan, 1.0]}),
    EpochEnded(epoch=1, iteration=10),
    Best(iteration=10, objective="loss", value=1.5),
    Checkpointed(iteration=10, epoch=1, seconds=0.1),
    Requested(what="rate", iteration=11, value=0.5),
    Requested(what="epochs", iteration=11, value=4.0),
    Refused(what="pause", iteration=11, reason="Too little room."),
    Message(severity="warning", text="A remark."),
    Failed(cause="It broke.", worker=1, detail="Traceback"),
    Resumed(iteration=10, after=8, reason="resumed on request", restarts=1),
    Points(split="training", first_step=11, steps_apart=2, values={"loss": [1.0, 0.5]}),
    Points(split="test", first_step=30, steps_apart=1, values={"loss": [0.5], "accuracy": [0.9]}),
    Ended(state="finished", reason="all epochs", result={"loss": 0.5}),
)
RESULT = {
    "state": "finished",
    "reason": "all epochs",
    "epochs": 3,
    "iterations": 30,
    "seconds": 1.5,
    "loss": 0.5,
    "metrics": {"accuracy": 0.9},
    "validation": {"loss": 0.6, "accuracy": 0.8},
    "test": {"loss": 0.7},
    "best": {"iteration": 10},
}
INFO = {
    "name": "digits",
    "created": 1.7e9,
    "version": "0.1",
    "base": "/data",
    "project_path": "/data/digits.netwright",
    "environment": {"resolved": "cpu"},
    "places": [{"device": "cpu"}],
    "hardware": "a processor",
    "sentence": "1 worker on CPU",
    "seeds": [1],
    "workers": [12],
    "coordinator": 11,
    "state": "finished",
    "exit_code": 0,
    "kept": "best",
    "code": {"code.py": "0" * 64},
}


def run_of(folder: Path, *, is_ended: bool = True) -> RunFolder:
    """A run folder with one file of each kind."""
    from netwright.engine.core.files import write_json
    from netwright.engine.runs.notes import write_notes

    run = create(folder / "runs" / "run", dumps(Project(network=classifier())), RunInfo.read(INFO), [CODE])
    log = EventLog(run)
    for event in EVENTS:
        log.append(event)
    log.close()
    write_json(run.info, INFO)
    write_notes(run, note="too high a rate", tags=("paper", "try again"))
    if is_ended:
        write_json(run.result, RESULT)
    return run


def _told(run: RunFolder) -> None:
    """Everything that lists of runs tell."""
    from netwright.engine.operations.runs import run_rows
    from netwright.engine.runs.history import list_runs
    from netwright.engine.runs.query import as_csv, matching, order_by
    from netwright.engine.runs.summary import read_summary, summary_from

    with contextlib.suppress(OSError):
        found = [read_summary(run.path)]
        assert summary_from(json.loads(json.dumps(found[0].write()))).path == run.path
        found += list_runs(run.path.parent)
        as_csv(found).encode("utf-8", "backslashreplace")
        "\n".join("".join(row) for row in run_rows(found)).encode("utf-8", "backslashreplace")
        for key in ("created", "epochs", "validation.loss"):
            order_by(key, found, is_reversed=True).sorted(matching(found, "epochs>1"))


@reader("run.json", "runs/run/run.json", mutate.json_file, lambda folder: [run_of(folder).info.read_bytes()])
def read_info(folder: Path, generator: random.Random) -> None:
    from netwright.engine.runs.folder import frozen_code, origin
    from netwright.engine.runs.history import ProjectKey, last_run, runs_of

    run = RunFolder(folder / "runs" / "run")
    _told(run)
    last_run(ProjectKey(folder / "digits.netwright"))
    runs_of(ProjectKey(folder / "digits.netwright"))
    origin(run.project)
    open_run(run.path)
    for path in frozen_code(run).values():
        assert path.parent == run.code
    kept = run.kept()
    assert kept is None or kept.parent == run.path
    run.state()


@reader("result.json", "runs/run/result.json", mutate.json_file, lambda folder: [run_of(folder).result.read_bytes()])
def read_result(folder: Path, generator: random.Random) -> None:
    run = RunFolder(folder / "runs" / "run")
    _told(run)
    run.read_result()


@reader(
    "events.jsonl",
    "runs/run/events.jsonl",
    mutate.json_lines,
    lambda folder: [run_of(folder, is_ended=False).events.read_bytes()],
)
def read_events(folder: Path, generator: random.Random) -> None:
    from netwright.engine.cli.follow_command import ProgressPrinter
    from netwright.engine.runs.curve_files import write_curves

    run = RunFolder(folder / "runs" / "run")
    events = read_all(run)
    said = io.StringIO()
    printer = ProgressPrinter(said)
    for event in standing(events):
        printer(event)
        if not isinstance(event, UnknownEvent):
            json.dumps(event.write())
    assert all(line.isprintable() for line in said.getvalue().split("\n"))
    _told(run)
    for form, target in (("csv", folder / "out.csv"), ("tensorboard", folder / "out"), ("mlflow", folder / "mlruns")):
        write_curves([run], form, target)
    EventLog(run).close()


@reader(
    "notes.json",
    "runs/run/notes.json",
    mutate.json_file,
    lambda folder: [(run_of(folder).path / "notes.json").read_bytes()],
)
def read_notes(folder: Path, generator: random.Random) -> None:
    from netwright.engine.runs.notes import read_notes, write_notes

    run = RunFolder(folder / "runs" / "run")
    _told(run)
    read_notes(run)
    write_notes(run, tags=("other",))


def _metrics(folder: Path) -> list[bytes]:
    from netwright.engine.runs.confusion import FILE, write_confusions

    write_confusions(run_of(folder).path, ["a", "b", "c"], {"test": [[3, 1, 0], [0, 4, 0], [1, 0, 2]]})
    return [(folder / "runs/run" / FILE).read_bytes()]


@reader("metrics.json", "runs/run/metrics.json", mutate.json_file, _metrics)
def read_metrics(folder: Path, generator: random.Random) -> None:
    from netwright.engine.runs.confusion import read_confusions

    for table in read_confusions(folder / "runs" / "run").values():
        json.dumps(table.write())


def _data_record(folder: Path) -> list[bytes]:
    from netwright.engine.runs.data_files import DataPlace
    from netwright.engine.runs.data_record import DataRecord

    run, table = run_of(folder).path, folder / "table.csv"
    table.write_text("a,b\n1,2\n")
    written = []
    for place in (DataPlace.look("path", table), DataPlace.look("masks", run, [".json"])):
        record = DataRecord("table", (place,), "k-fold", bytes([0, 1, 2, 3, 0]), {"numpy": "2"}, 3.5, ("x",))
        written.append(json.dumps(record.write()).encode())  # without a checksum, which would refuse all that follow
    return written


@reader("data.json", "runs/run/data.json", mutate.json_file, _data_record)
def read_data_record(folder: Path, generator: random.Random) -> None:
    from netwright.engine.runs.data_record import read_record

    record = read_record(folder / "runs" / "run")
    if record is not None:
        json.dumps(record.write())
        record.changes()
        record.against(record)
        record.numbers("test")


REQUESTS: list[dict[str, Any]] = [
    {"do": "set", "rate": 0.1, "rate_factor": 0.5, "epochs": 9},
    {"do": "stop"},
    {"do": "pause"},
    {"do": "set", "epochs": 2},
    {"do": "watch", "gradient_norm": 1, "layers": 0},
    {"do": "pause", "release": 1},
]


def _requests(folder: Path) -> list[bytes]:
    run_of(folder)
    return [json.dumps(request).encode() for request in REQUESTS]


@reader("control", "runs/run/control/1_ab_set.json", mutate.json_file, _requests)
def read_control(folder: Path, generator: random.Random) -> None:
    from netwright.engine.runs.requests import PendingRequests

    found = PendingRequests.of(*RunFolder(folder / "runs" / "run").take_requests() * 3, REQUESTS[0])
    assert PendingRequests.from_numbers(found.to_numbers()) == found


def _queued(folder: Path) -> list[bytes]:
    from netwright.engine.runs.queue import Entry

    (folder / "7.netwright").write_text(dumps(Project(network=classifier())), encoding="utf-8")
    entry = Entry(id=7, title="digits", project_path="/data/digits.netwright", created=1.7e9, order=1.0)
    return [json.dumps(asdict(entry)).encode()]


@reader("queue", "7.json", mutate.json_file, _queued)
def read_queue(folder: Path, generator: random.Random) -> None:
    from netwright.engine.runs.queue import Queue

    for entry in Queue(folder).entries():
        json.dumps(asdict(entry))
        Queue(folder).project_text(entry.id)
