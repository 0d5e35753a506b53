"""Summary of a run, read from the files of its run folder."""

import contextlib
import math
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError, listed
from netwright.engine.core.files import number_in, open_file, read_object
from netwright.engine.core.finite_json import from_json
from netwright.engine.core.own_files import EXPERIMENTS
from netwright.engine.core.text import format_flops, format_number, format_percent
from netwright.engine.project.options.metric_options import format_score
from netwright.engine.project.options.solver import FULL_BATCH
from netwright.engine.runs.checkpoint_files import has_checkpoint
from netwright.engine.runs.events import (
    ENDS,
    SPLIT_PRIORITY,
    EpochEnded,
    Event,
    Failed,
    Points,
    Progress,
    Resumed,
    Started,
)
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.log_lines import event_in
from netwright.engine.runs.notes import FILE, Notes, notes_from
from netwright.engine.runs.notes import LIMIT_BYTES as NOTES_BYTES
from netwright.engine.runs.run_options import NETWORK, Change, Options, changes, network_in, options_in, shown

DAMAGED = "damaged"
"""State of a run whose `run.json` cannot be read. Such runs are listed, so that none disappears silently."""
NO_NOTES = Notes()
RATE = "training.initial_learn_rate"
LIMIT_BYTES = {"run.json": 2**22, "result.json": 2**22, "project.netwright": 2**23}
READ = ("run.json", "result.json", FILE, "project.netwright", "events.jsonl")
"""Files that a summary is computed from."""
TAIL_BYTES = 2**16


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """Summary of a run, as shown in a list of runs.

    `name` is the name of the project, `created` the creation time in seconds since the Unix epoch, `environment` the
    resolved execution environment. `result` is the content of `result.json`, or None; in that case `so_far` holds the
    same keys as far as the event log gives them. `options` and `network` are those of the frozen project; `changes`
    are the differences from the previous run.
    """

    path: Path
    name: str
    state: str
    created: float
    environment: str = ""
    project_path: str = ""
    project_id: str = ""
    run_number: int = 0
    """The number of the run within its project; 0 for runs of older versions."""
    result: dict[str, Any] | None = None
    so_far: Mapping[str, Any]
    notes: Notes = NO_NOTES
    options: Options
    network: str = ""
    changes: tuple[Change, ...] = ()
    live_changes: Mapping[str, float] = field(default_factory=dict)
    """Settings changed while the run trained, as in `run.json`. `options` has the number of epochs that it set."""
    has_checkpoint: bool = False
    """Whether it has saved anything that it can go on from."""
    damaged: tuple[str, ...] = ()
    """Names of its files that are there and cannot be read; what they hold is taken from the others where it can be."""
    silence: str = ""
    """Why its coordinator does not respond, in words; empty where it does."""

    def write(self) -> dict[str, Any]:
        """Return the summary as a JSON object, the stable format of `runs --json`."""
        return {
            "run_dir": str(self.path),
            "name": self.name,
            "state": self.state,
            "created": self.created,
            "environment": self.environment,
            "project_path": self.project_path,
            "project_id": self.project_id,
            "number": self.run_number,
            "result": self.result,
            "so_far": dict(self.so_far),
            **self.notes.write(),
            "title": self.title,
            "options": dict(self.options),
            "network": self.network,
            "changes": [change.write() for change in self.changes],
            "live_changes": dict(self.live_changes),
            "has_checkpoint": self.has_checkpoint,
            "damaged": list(self.damaged),
            "silence": self.silence,
        }

    @property
    def title(self) -> str:
        """Name of the run for a person: as the user gave it, else its number, solver and learn rate, such as
        `Run 5 · adam, 0.001`, or `Trial 3 · adam, 0.01` in an experiment; for others the name of the folder."""
        is_trial = self.path.parent.parent.parent.name == EXPERIMENTS
        if self.notes.run_name or not (self.run_number or is_trial):
            return self.notes.run_name or self.path.name
        number = f"Trial {self.path.name}" if is_trial else f"Run {self.run_number}"
        solver, rate = shown(self.options, "training.solver"), self.option_text(RATE)
        return f"{number} · {solver}" + (f", {rate}" if solver != "lm" else "")

    def option_text(self, path: str) -> str:
        """Return an option as a person would type it; of the learn rate also the one that was set while the run
        trained: `0.01 → 0.002`."""
        text, rate = shown(self.options, path), self.live_changes.get("rate")
        return f"{text} → {format_number(rate, 4)}" if path == RATE and rate is not None else text

    @property
    def measured(self) -> Mapping[str, Any]:
        """Result of the run, or the values so far if there is none."""
        return self.so_far if self.result is None else self.result

    @property
    def damage(self) -> str:
        """That files of the run cannot be read, for a person; empty where all can."""
        files = [str(self.path / name) for name in self.damaged]
        if not files:
            return ""
        log = "; its numbers are those of events.jsonl" if "result.json" in self.damaged else ""
        return f"{listed(files)} cannot be read{log}"

    @property
    def is_alive(self) -> bool:
        """True if the run has not ended and is not damaged."""
        return self.state not in ENDS and self.state != DAMAGED

    @property
    def state_reached(self) -> str:
        """State of its result, else that of `run.json`."""
        return str(self.measured.get("state", self.state))

    @property
    def reason(self) -> str:
        """Reason for the end of the run, or an empty text."""
        return str(self.measured.get("reason") or "")

    def number(self, name: str) -> float | None:
        """Return `seconds`, `epochs` or `iterations`, or None if unknown."""
        return _number(self.measured.get(name))

    @cached_property
    def scores(self) -> dict[str, float]:
        """Losses and metrics by split and name, such as `validation.loss`."""
        return dict(self._scores())

    @property
    def words(self) -> str:
        """The case-folded text that words of a query are searched in."""
        texts = (self.title, self.path.name, self.name, self.state, self.environment)
        own = (*self.notes.tags, self.notes.note, self.reason)
        return "\n".join((*texts, *own, *map(str, self.changes))).casefold()

    def _scores(self) -> Iterator[tuple[str, float]]:
        measured = self.measured
        for split in SPLIT_PRIORITY:
            values = measured.get("metrics" if split == "training" else split)
            scores = {str(key): value for key, value in values.items()} if isinstance(values, dict) else {}
            if split == "training":
                scores = {"loss": measured.get("loss"), **scores}
            for name, value in scores.items():
                if (number := _number(value)) is not None:
                    yield f"{split}.{name}", number


def summary_from(data: Mapping[str, Any]) -> RunSummary:
    """Return the summary from the output of `write`. Raises `ValueError` for invalid data."""
    try:
        return RunSummary(
            path=Path(data["run_dir"]),
            name=str(data["name"]),
            state=str(data["state"]),
            created=float(data["created"]),
            environment=str(data["environment"]),
            project_path=str(data["project_path"]),
            project_id=str(data["project_id"]),
            run_number=int(data["number"]),
            result=None if data["result"] is None else dict(data["result"]),
            so_far=dict(data["so_far"]),
            notes=notes_from(data),
            options=dict(data["options"]),
            network=str(data["network"]),
            damaged=tuple(map(str, data["damaged"])),
            changes=tuple(Change(str(c["option"]), str(c["before"]), str(c["after"])) for c in data["changes"]),
            live_changes={str(name): float(value) for name, value in data["live_changes"].items()},
            has_checkpoint=bool(data["has_checkpoint"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("this is no summary of a run") from error


def stamp_of(path: str) -> str:
    """Return a stamp of the modification times, sizes and inodes of the files in `READ`, or an empty text if there is
    no run. Raises `OSError`."""
    parts = []
    for name in READ:
        try:
            file_stat = os.stat(f"{path}/{name}")
        except (FileNotFoundError, NotADirectoryError):
            if name == "run.json":
                return ""
            continue
        if name == "run.json" and not stat.S_ISREG(file_stat.st_mode):
            return ""
        parts.append(f"{name[:2]}{file_stat.st_mtime_ns}:{file_stat.st_size}:{file_stat.st_ino}")
    return " ".join(parts)


def read_summary(path: Path) -> RunSummary:
    """Return the summary of the run in a folder. The state is the one in its files, which never is `lost`.

    Damaged files are treated as missing; a damaged `run.json` gives the state `damaged`. Raises `OSError`.
    """
    data, result = _read(path, "run.json"), _read(path, "result.json")
    info = RunInfo.read(data or {})
    project = read_object(path / "project.netwright", LIMIT_BYTES["project.netwright"], may_be_deep=True)
    notes = read_object(path / FILE, NOTES_BYTES)
    objects = {"run.json": data, "result.json": result, FILE: notes, "project.netwright": project}
    return RunSummary(
        path=path,
        name=info.name or path.name,
        state=DAMAGED if data is None else info.state,
        created=os.stat(path / "run.json").st_mtime if data is None else info.created,
        environment=info.placement.resolved,
        project_path=info.project_path or "",
        project_id=info.project_id,
        run_number=info.number,
        result=result,
        so_far=_so_far(path / "events.jsonl") if result is None else {},
        notes=notes_from(notes),
        options=_options_now(options_in(project), info.live_changes),
        network=network_in(project),
        live_changes=info.live_changes,
        has_checkpoint=has_checkpoint(RunFolder(path)),
        damaged=tuple(name for name, value in objects.items() if value is None and (path / name).exists()),
    )


def _options_now(options: Options, live_changes: Mapping[str, float]) -> Options:
    """Return the options of a run with the number of epochs that was last set while it trained."""
    epochs = live_changes.get("epochs")
    if epochs is None:
        return options
    is_full_batch = shown(options, "training.solver") in FULL_BATCH
    return {**options, f"training.max_{'iterations' if is_full_batch else 'epochs'}": int(epochs)}


def summary_of(path: Path) -> RunSummary:
    """Return the summary of the run in a folder, as `read_summary`. Raises `UserError` where it cannot be read."""
    try:
        return read_summary(path)
    except OSError as error:
        raise UserError(f"The run in {path} cannot be read: {error.strerror}.") from error


def title_of(folder: RunFolder) -> str:
    """Return the title of the run in a folder, that of the folder where it cannot be read."""
    try:
        return read_summary(folder.path).title
    except OSError:
        return folder.path.name


def last_events(path: Path) -> tuple[Started | None, Progress | None]:
    """Return the start of a run, which has its length, and its latest progress, from the tail of its event log."""
    started: Started | None = None
    progress: Progress | None = None
    for line in reversed(_tail(path / "events.jsonl")):
        event = event_in(line)
        if isinstance(event, Progress) and progress is None:
            progress = event
        elif isinstance(event, Started):
            started = event
        if progress is not None and started is not None:
            break
    return started, progress


def with_state_now(run: RunSummary) -> RunSummary:
    """Return the summary with its current state: `lost` if its process is gone, or an end state reached since it was
    read."""
    if not run.is_alive:
        return run
    try:
        folder = RunFolder(run.path)
        return replace(run, state=folder.state(), silence=folder.why_silent())
    except (UserError, OSError):
        return replace(run, state=DAMAGED)


def with_changes(runs: list[RunSummary]) -> list[RunSummary]:
    """Return the runs with their changes relative to the previous run of the same project. `runs`: newest first."""
    previous_runs: dict[str, RunSummary] = {}
    summaries = []
    for run in reversed(runs):
        previous = previous_runs.get(run.name)
        if previous is not None:
            differences = tuple(changes(previous.options, run.options))
            if previous.network and run.network and previous.network != run.network:
                differences = (Change(NETWORK, "", ""), *differences)
            run = replace(run, changes=differences)
        previous_runs[run.name] = run
        summaries.append(run)
    return summaries[::-1]


def _read(path: Path, name: str) -> dict[str, Any] | None:
    return read_object(path / name, LIMIT_BYTES[name])


def _so_far(path: Path) -> dict[str, Any]:
    """Return the values in the tail of an event log, under the keys of a result.

    Lines are read from the newest on, and parsed only where a value is still missing.
    """
    values: dict[bytes, dict[str, Any]] = {}
    after = math.inf
    for line in reversed(_tail(path)):
        if (head := _HEAD.match(line)) and (head[1] in values or head[2] in values):
            continue
        event = event_in(line)
        if isinstance(event, Resumed):
            after = min(after, event.after)
        elif event is not None and event.n <= after and (name := _value_kind(event)):
            values.setdefault(name, _values_of(event))
    result: dict[str, Any] = {}
    for name in _VALUE_KINDS:
        result |= values.get(name, {})
    return result


_HEAD = re.compile(rb'\{"n":\d+,"time":[\d.]+,"kind":(?:"(progress|epoch|failed)"|"points","split":"(\w+)")')
_VALUE_KINDS = (b"failed", b"progress", b"epoch", *(split.encode() for split in reversed(SPLIT_PRIORITY)))


def _value_kind(event: Event) -> bytes:
    """Return the kind of the values of an event: failed, progress, epoch or a split; empty if nothing."""
    if isinstance(event, (Failed, Progress, EpochEnded)):
        return event.kind.encode()
    return event.split.encode() if isinstance(event, Points) and any(event.values.values()) else b""


def _values_of(event: Event) -> dict[str, Any]:
    """Return the values of an event, under the keys of a result."""
    match event:
        case Failed():
            return {"reason": event.cause, "code": event.code}
        case Progress():
            return {"iterations": event.iteration, "seconds": event.elapsed_s}
        case EpochEnded():
            return {"epochs": event.epoch}
        case Points():
            last = {name: values[-1] for name, values in event.values.items() if values}
            if event.split != "training":
                return {event.split: last}
            return {"loss": last.pop("loss", None), "metrics": last}
    return {}


def _tail(path: Path) -> list[bytes]:
    with contextlib.suppress(OSError), open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - TAIL_BYTES))
        return file.read(min(size, TAIL_BYTES)).split(b"\n")
    return []


def _number(value: Any) -> float | None:
    return number_in(from_json(value))


def achieved_text(event: Progress) -> str:
    """Return the operations per second of the layers, and its share of the measured peak; empty where it is unknown."""
    if not math.isfinite(event.flops_per_second):
        return ""
    rate = format_flops(event.flops_per_second)
    if not math.isfinite(event.peak_share):
        return rate
    return f"{rate}, {format_percent(event.peak_share, 1)} of measured peak"


def format_metric(name: str, value: float) -> str:
    """Format a metric with its name, such as `accuracy 96.4 %` or `loss 0.113`."""
    return f"{name} {format_score(name, value)}"


def result_text(run: RunSummary) -> str:
    """Return the metrics of the test split, else of the validation split, as text."""
    scores = run.scores
    for part in ("test.", "validation."):
        of_part = {name.removeprefix(part): value for name, value in scores.items() if name.startswith(part)}
        if of_part:
            return ", ".join(format_metric(name, value) for name, value in of_part.items())
    return ""
