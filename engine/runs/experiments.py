"""Folder of an experiment: its frozen definition, its trials, and the runs of the trials.

    experiments/<time>_<name>/
      project.netwright  experiment.json  trials.jsonl  journal.log  code/  control/  experiment.lock  runner.log
      runs/1  runs/2  runs/3_1  runs/3_2  ...

`trials.jsonl` is the truth about trials: one line per change, written by the experiment's runner alone, before a run
folder is created and after it has ended. A run is never trained twice, and none is lost. `journal.log` is a by-product
for optuna's own tools.
"""

import contextlib
import os
import re
import secrets
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.files import (
    make_private_folder,
    number_in,
    open_file,
    read_object,
    write_checked_json,
    write_json,
)
from netwright.engine.core.folders import data_folder
from netwright.engine.core.locks import LockHeldError, is_locked, take_lock
from netwright.engine.core.own_files import COPY, EXPERIMENTS
from netwright.engine.core.process import start_detached_module
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.file import load
from netwright.engine.project.project import SECTIONS
from netwright.engine.runs.create import is_shipped, new_folder_in
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.trial_log import Trial, trials_from
from netwright.engine.user_code import registry

INFO_LIMIT_BYTES = 2**20
LOG_LIMIT_BYTES = 2**28
REQUEST_LIMIT_BYTES = 4096
START_S = 60.0
"""Time in which a runner takes up a new experiment, at most."""


@dataclass(frozen=True, kw_only=True)
class ExperimentInfo:
    """Content of `experiment.json`. `state` is running, finished, stopped or failed."""

    name: str = ""
    project_path: str = ""
    project_id: str = ""
    base: str = ""
    """The folder that relative paths of data start from."""
    objectives: tuple[str, ...] = ()
    created: float = 0.0
    state: str = "running"
    reason: str = ""
    waits: str = ""
    """Reason why the runner waits, such as room on a cluster; empty while it does not."""
    seconds: float = 0.0
    """The time that runners have spent on it, in seconds."""
    versions: Mapping[str, str] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of the files of the experiment's functions when it began, by their paths in the project."""

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """Return the record of a JSON object; values of an unexpected kind count as absent."""
        values: dict[str, Any] = {}
        for entry in fields(cls):
            value, default = data.get(entry.name), getattr(cls, entry.name, None)
            if entry.name == "objectives" and isinstance(value, list):
                values[entry.name] = tuple(str(name) for name in value)
            elif entry.name in ("versions", "code") and isinstance(value, dict):
                values[entry.name] = {str(key): str(text) for key, text in value.items()}
            elif isinstance(default, float):
                values[entry.name] = number_in(value) or 0.0
            elif isinstance(default, str) and isinstance(value, str):
                values[entry.name] = value
        return cls(**values)

    def write(self) -> dict[str, Any]:
        """Return the record as JSON."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {**values, "objectives": list(self.objectives)}


@dataclass(frozen=True)
class ExperimentFolder:
    """Paths of an experiment's folder, reading its files, and requests to its runner."""

    path: Path

    @property
    def project(self) -> Path:
        """Frozen copy of the project, with the definition of the experiment."""
        return self.path / COPY

    @property
    def info(self) -> Path:
        """`experiment.json`."""
        return self.path / "experiment.json"

    @property
    def trials(self) -> Path:
        """The log of the trials."""
        return self.path / "trials.jsonl"

    @property
    def journal(self) -> Path:
        """Journal of optuna's study; there only where optuna chooses or prunes trials."""
        return self.path / "journal.log"

    @property
    def code(self) -> Path:
        """Copies of the files of the experiment's functions, named by their hash."""
        return self.path / "code"

    @property
    def control(self) -> Path:
        """Folder of requests to the runner."""
        return self.path / "control"

    @property
    def lock(self) -> Path:
        """Lock file, held by the runner while it lives."""
        return self.path / "experiment.lock"

    @property
    def log(self) -> Path:
        """Output of the runner."""
        return self.path / "runner.log"

    def run_path(self, name: str) -> Path:
        """Return the folder of a run of a trial."""
        return self.path / "runs" / name

    def read_info(self) -> ExperimentInfo:
        """Return `experiment.json`. Raises `UserError` where it is damaged or missing."""
        data = read_object(self.info, INFO_LIMIT_BYTES)
        if data is None:
            raise UserError(f"{self.info} is damaged or missing: {self.path} is no experiment.")
        return ExperimentInfo.read(data)

    def update_info(self, **changes: Any) -> None:
        """Change values of `experiment.json`, atomically. Raises `UserError` and `OSError`."""
        write_checked_json(self.info, replace(self.read_info(), **changes).write())

    def frozen_code(self, info: ExperimentInfo | None = None) -> dict[str, Path]:
        """Return the copy of each file of the experiment's functions, by its path in the project."""
        files = (info or self.read_info()).code
        return {file: self.code / f"{re.sub('[^0-9a-f]', '', sha256)}.py" for file, sha256 in files.items()}

    def is_alive(self) -> bool:
        """Return whether a runner is at work on the experiment."""
        return is_locked(self.lock)

    def state(self) -> str:
        """Return the state; where it is not an end and no runner is at work, `starting` for a new experiment that none
        has taken up, else `lost`."""
        info = self.read_info()
        if info.state in ENDS or self.is_alive():
            return info.state
        return "starting" if self.is_new(info) else "lost"

    def is_new(self, info: ExperimentInfo) -> bool:
        """Return whether the experiment has just been made, and no runner has begun a trial yet."""
        has_trials = self.trials.exists() and self.trials.stat().st_size > 0
        return not has_trials and 0 <= time.time() - info.created < START_S

    def read_trials(self) -> list[Trial]:
        """Return all trials in the order of their numbers."""
        return self.read_log()[0]

    def read_log(self) -> tuple[list[Trial], int]:
        """Return all trials in the order of their numbers, and how many lines of their log are damaged."""
        trials, damaged = trials_from(self.lines())
        return list(trials.values()), damaged

    def lines(self) -> Iterator[bytes]:
        """Yield the whole lines of the log of trials."""
        with contextlib.suppress(OSError), open_file(self.trials) as file:
            yield from (line for line in file.read(LOG_LIMIT_BYTES).split(b"\n")[:-1] if line)

    def request(self, name: str, **values: Any) -> None:
        """Send a request to the runner: `stop`, `finish` (start no more), `set` with options, `again` (with the numbers
        of `trials`), `stop_trial` (with the number of a `trial`). Raises `UserError`."""
        try:
            make_private_folder(self.control)
            write_json(self.control / f"{time.time_ns()}_{secrets.token_hex(2)}.json", {"do": name, **values})
        except OSError as error:
            raise UserError(f"The experiment in {self.path} cannot be asked to {name}: {error.strerror}.") from None

    def take_requests(self) -> list[dict[str, Any]]:
        """Return and delete the requests, oldest first. Called by the runner."""
        requests = []
        try:
            files = sorted(f for f in self.control.iterdir() if f.suffix == ".json" and not f.name.startswith("."))
        except OSError:
            return []
        for file in files:
            if request := read_object(file, REQUEST_LIMIT_BYTES):
                requests.append(request)
            with contextlib.suppress(OSError):
                file.unlink()
        return requests


def create_experiment(
    project_path: Path | None, name: str, text: str, info: ExperimentInfo, code: Mapping[str, bytes] | None = None
) -> ExperimentFolder:
    """Create the folder of an experiment, with its frozen definition, beside its project or in the user's data folder.
    `code` are the files of its functions, by their paths in the project.

    Raises `RunError` where no folder can be written.
    """
    bases = [project_path.parent / EXPERIMENTS] if project_path is not None and not is_shipped(project_path) else []
    with contextlib.suppress(RuntimeError):
        bases.append(data_folder() / EXPERIMENTS)
    folder = ExperimentFolder(new_folder_in(bases, name))
    try:
        (folder.path / "runs").mkdir(0o700)
        make_private_folder(folder.control)
        folder.project.write_text(text, encoding="utf-8")
        folder.trials.touch(0o600)
        folder.lock.touch(0o600)
        hashes = {file: registry.hash_of_bytes(data) for file, data in (code or {}).items()}
        info = replace(info, created=round(time.time(), 3), code=hashes)
        for file, path in folder.frozen_code(info).items():
            make_private_folder(folder.code)
            path.write_bytes((code or {})[file])
        write_checked_json(folder.info, info.write())
    except OSError as error:
        raise RunError(f"The experiment folder {folder.path} cannot be written: {error.strerror}.") from None
    return folder


def open_experiment(path: Path) -> ExperimentFolder:
    """Return the experiment at `path`: its folder, or the newest one of a project file. Raises `UserError`."""
    if path.suffix == ".netwright" and path.is_file():
        experiments = experiments_of(path)
        if not experiments:
            raise UserError(f"{path} has no experiments.", hint="`netwright-engine experiment run` begins one.")
        return experiments[0]
    folder = ExperimentFolder(path)
    if not folder.info.is_file():
        problem = "is no experiment: it has no experiment.json" if path.exists() else "does not exist"
        hint = "`netwright-engine experiment list PROJECT` lists those of a project."
        raise UserError(f"{path} {problem}.", hint=hint, code="" if path.exists() else "not_found")
    return folder


def experiment_title(folder: ExperimentFolder) -> str:
    """Return the title of an experiment for a person: its parameters, and when it was begun."""
    day, _, rest = folder.path.name.partition("_")
    time = rest.partition("_")[0].replace("-", ":")[:5]
    try:
        options = load(folder.project).project.experiment
    except UserError:
        return folder.path.name
    return f"{varied_title(options)} · {day} {time}"


def varied_title(options: ExperimentOptions) -> str:
    """Return the title of an experiment by what varies in it: `Mini-batch size × learn rate`."""
    labels = [_label(parameter.path) for parameter in options.parameters[:3]]
    more = f" and {len(options.parameters) - 3} more" if len(options.parameters) > 3 else ""
    if labels:
        first, *rest = labels
        return " × ".join([first, *(label[:1].lower() + label[1:] for label in rest)]) + more
    if options.table:
        return "Table of values"
    return f"{options.folds} folds" if options.folds > 1 else f"{options.repeats} repeats"


def _label(path: str) -> str:
    section, _, name = path.partition(".")
    record = SECTIONS.get(section)
    field = record.fields.get(name) if record is not None else None
    return field.label if field is not None else name.replace(".", " ")


def experiments_of(project_path: Path | None, project_id: str = "") -> list[ExperimentFolder]:
    """Return the experiments of a project, the newest first: those beside its file, and those in the user's data folder
    that carry its identity or path."""
    pairs: list[tuple[float, ExperimentFolder]] = []
    own: Path | None = None
    with contextlib.suppress(RuntimeError):
        own = data_folder() / EXPERIMENTS
    beside = project_path.resolve().parent / EXPERIMENTS if project_path is not None else None
    for base in dict.fromkeys(filter(None, (beside, own))):
        with contextlib.suppress(OSError):
            for entry in os.scandir(base):
                folder = ExperimentFolder(Path(entry.path))
                with contextlib.suppress(UserError):
                    info = folder.read_info()
                    if _belongs(info, project_path, project_id):
                        pairs.append((info.created, folder))
    return [folder for _, folder in sorted(pairs, key=lambda pair: (pair[0], pair[1].path.name), reverse=True)]


def _belongs(info: ExperimentInfo, project_path: Path | None, project_id: str) -> bool:
    if project_id and info.project_id == project_id:
        return True
    return (
        project_path is not None
        and Path(info.project_path).name == project_path.name
        and not (project_id and info.project_id)
    )


def hold(folder: ExperimentFolder) -> int:
    """Take the lock of an experiment; it ends with the descriptor or the process. Raises `RunError` where another
    runner is at work."""
    try:
        return take_lock(folder.lock, patience_s=1.0)
    except LockHeldError:
        raise RunError(f"Another process is already at work on the experiment in {folder.path}.") from None
    except OSError as error:
        raise RunError(f"The experiment in {folder.path} cannot be locked: {error.strerror}.") from None


def start_runner(folder: ExperimentFolder, leash: int | None = None) -> "subprocess.Popen[bytes]":
    """Start a runner of the experiment that outlives this process, and return it. Its output goes to `runner.log`.
    With a `leash`, the end of a pipe to read from, it stops once all writing ends are closed. Raises `UserError`."""
    pipe = () if leash is None else (leash,)
    try:
        return start_detached_module(
            folder.log,
            "netwright.engine.experiments.runner_program",
            str(folder.path.absolute()),
            *map(str, pipe),
            descriptors=pipe,
        )
    except OSError as error:
        raise UserError(f"The experiment in {folder.path} cannot be started: {error.strerror}.") from None
