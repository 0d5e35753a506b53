"""One run in short, read from the files of its folder."""

import contextlib
import json
import math
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from engine.core.errors import UserError
from engine.core.files import number_in, open_file, read_object
from engine.project.options.metrics import is_share
from engine.runs.events import (
    ENDS,
    SPLIT_PRIORITY,
    EpochEnded,
    Event,
    Points,
    Progress,
    from_json,
    read_event,
    standing,
)
from engine.runs.folder import RunFolder
from engine.runs.info import RunInfo
from engine.runs.notes import FILE, Notes, notes_from, read_notes
from engine.runs.options import NETWORK, Change, Options, changes, network_in, options_in

DAMAGED = "damaged"
"""The state of a run whose `run.json` cannot be read: it is listed, so that nothing vanishes silently."""
NO_NOTES = Notes()
LIMIT_BYTES = {"run.json": 2**22, "result.json": 2**22, "project.netwright": 2**23}
READ = ("run.json", "result.json", FILE, "project.netwright", "events.jsonl")
"""The files that a summary is made of."""
TAIL_BYTES = 2**16


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """What a list of runs tells about one.

    `name` is the project's, `created` is in seconds since the epoch, `environment` what was resolved. `result` is what
    `result.json` holds, None where there is none; `so_far` then says the same of what the event log tells.
    `options` and `network` are those of the frozen project; `changes` what differs from the run before.
    """

    path: Path
    name: str
    state: str
    created: float
    environment: str = ""
    project_path: str = ""
    result: dict[str, Any] | None = None
    so_far: Mapping[str, Any]
    notes: Notes = NO_NOTES
    options: Options
    network: str = ""
    changes: tuple[Change, ...] = ()

    def write(self) -> dict[str, Any]:
        """As JSON: what `runs --json` prints, a contract."""
        return {
            "run_dir": str(self.path),
            "name": self.name,
            "state": self.state,
            "created": self.created,
            "environment": self.environment,
            "project_path": self.project_path,
            "result": self.result,
            "so_far": dict(self.so_far),
            **self.notes.write(),
            "options": dict(self.options),
            "network": self.network,
            "changes": [change.write() for change in self.changes],
        }

    @property
    def measured(self) -> Mapping[str, Any]:
        """The result, or what is known so far."""
        return self.so_far if self.result is None else self.result

    @property
    def is_alive(self) -> bool:
        """Whether the run goes on."""
        return self.state not in ENDS and self.state != DAMAGED

    @property
    def reason(self) -> str:
        """Why it ended, in words."""
        return str(self.measured.get("reason") or "")

    def number(self, name: str) -> float | None:
        """`seconds`, `epochs` or `iterations`, where they are known."""
        return _number(self.measured.get(name))

    @cached_property
    def scores(self) -> dict[str, float]:
        """Every figure of quality by split and name, such as `validation.loss`."""
        return dict(self._scores())

    def _scores(self) -> Iterator[tuple[str, float]]:
        measured = self.measured
        for split in SPLIT_PRIORITY:
            values = measured.get("metrics" if split == "training" else split)
            named = {str(key): value for key, value in values.items()} if isinstance(values, dict) else {}
            if split == "training":
                named = {"loss": measured.get("loss"), **named}
            for name, value in named.items():
                if (number := _number(value)) is not None:
                    yield f"{split}.{name}", number


def summary_from(data: Mapping[str, Any]) -> RunSummary:
    """The summary as `write` gave it. Raises `ValueError` for anything else."""
    try:
        return RunSummary(
            path=Path(data["run_dir"]),
            name=str(data["name"]),
            state=str(data["state"]),
            created=float(data["created"]),
            environment=str(data["environment"]),
            project_path=str(data["project_path"]),
            result=None if data["result"] is None else dict(data["result"]),
            so_far=dict(data["so_far"]),
            notes=notes_from(data),
            options=dict(data["options"]),
            network=str(data["network"]),
            changes=tuple(Change(str(c["option"]), str(c["before"]), str(c["after"])) for c in data["changes"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("this is no summary of a run") from error


def stamp_of(path: str) -> str:
    """What changes when a file does that a summary is made of; empty where there is no run. Raises `OSError`."""
    parts = []
    for name in READ:
        try:
            status = os.stat(f"{path}/{name}")
        except (FileNotFoundError, NotADirectoryError):
            if name == "run.json":
                return ""
            continue
        if name == "run.json" and not stat.S_ISREG(status.st_mode):
            return ""
        parts.append(f"{name[:2]}{status.st_mtime_ns}:{status.st_size}:{status.st_ino}")
    return " ".join(parts)


def read_summary(path: Path) -> RunSummary:
    """The run in this folder, with the state that its files tell: `lost` is not known from them.

    What is damaged counts as not said; a damaged `run.json` gives the state `damaged`. Raises `OSError`.
    """
    data, result = _read(path, "run.json"), _read(path, "result.json")
    info = RunInfo.read(data or {})
    project = read_object(path / "project.netwright", LIMIT_BYTES["project.netwright"], may_be_deep=True)
    return RunSummary(
        path=path,
        name=info.name or path.name,
        state=DAMAGED if data is None else info.state,
        created=os.stat(path / "run.json").st_mtime if data is None else info.created,
        environment=info.placement.resolved,
        project_path=info.project_path or "",
        result=result,
        so_far=_so_far(path / "events.jsonl") if result is None else {},
        notes=read_notes(RunFolder(path)),
        options=options_in(project),
        network=network_in(project),
    )


def with_state_now(run: RunSummary) -> RunSummary:
    """The same, `lost` where nobody is at work on it, or as it has ended since it was read."""
    if not run.is_alive:
        return run
    try:
        return replace(run, state=RunFolder(run.path).state())
    except (UserError, OSError):
        return replace(run, state=DAMAGED)


def with_changes(runs: list[RunSummary]) -> list[RunSummary]:
    """The runs, newest first, each with what differs from the one before it of the same project."""
    before: dict[str, RunSummary] = {}
    found = []
    for run in reversed(runs):
        earlier = before.get(run.name)
        if earlier is not None:
            differing = tuple(changes(earlier.options, run.options))
            if earlier.network and run.network and earlier.network != run.network:
                differing = (Change(NETWORK, "", ""), *differing)
            run = replace(run, changes=differing)
        before[run.name] = run
        found.append(run)
    return found[::-1]


def _read(path: Path, name: str) -> dict[str, Any] | None:
    return read_object(path / name, LIMIT_BYTES[name])


def _so_far(path: Path) -> dict[str, Any]:
    """What the end of an event log tells, in the words of a result."""
    found: dict[str, Any] = {}
    for event in standing(_tail(path)):
        match event:
            case Progress():
                found |= {"iterations": event.iteration, "seconds": event.elapsed_s}
            case EpochEnded():
                found["epochs"] = event.epoch
            case Points():
                last = {
                    name: values[-1] for name, values in event.values.items() if isinstance(values, list) and values
                }
                if event.split == "training":
                    found["loss"] = last.pop("loss", None)
                    found["metrics"] = last
                elif event.split in SPLIT_PRIORITY:
                    found[event.split] = last
    return found


def _tail(path: Path) -> Iterator[Event]:
    with contextlib.suppress(OSError), open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - TAIL_BYTES))
        for line in file.read(min(size, TAIL_BYTES)).split(b"\n"):
            with contextlib.suppress(ValueError, RecursionError, AttributeError):
                yield read_event(json.loads(line))


def _number(value: Any) -> float | None:
    return number_in(from_json(value))


def format_metric(name: str, value: float) -> str:
    """`accuracy 96.4 %`, `loss 0.113`."""
    if is_share(name) and math.isfinite(value):
        return f"{name} {100 * value:.1f} %"
    return f"{name} {value:.4g}"
