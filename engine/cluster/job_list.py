"""The jobs of this user: runs on clusters, also those whose coordinator is on this machine.

Each has a file in the user's folder of states, which names the folder of its run. Where the run itself executes on a
cluster, that folder has a record of it (`netwright.engine.runs.remote`); otherwise the file names the profile.
"""

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.engine.cluster.profile_file import PROFILES_VARIABLE, profile_of
from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.fields import printable
from netwright.engine.core.files import write_json
from netwright.engine.core.folders import state_folder
from netwright.engine.core.platform import command_line
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.remote import RemoteRun, read_remote

HERE = (
    "The coordinator of this run is on this machine, which must stay on. The run goes on when the terminal and the "
    "window are closed; it ends when this machine is switched off, and `resume` goes on from its last checkpoint, "
    "if it has saved one."
)
OTHERS = "A profile of Slurm, or of a single host over ssh, takes runs that go on without this machine."
ON_RAY = (
    "To let a node of Ray direct the next ones: netwright-engine cluster edit {profile} --set coordinator=cluster "
    "--set storage=FOLDER, with a folder that all nodes see."
)


@dataclass(frozen=True)
class Job:
    """A run on a cluster."""

    folder: RunFolder
    """Its folder on this machine."""
    profile: str
    kind: str
    submitted: float
    """Seconds since the epoch."""
    remote: RemoteRun | None = None
    """Where the run executes, whose copy the folder here is; None where coordinator and folder are here."""

    @property
    def note(self) -> str:
        """Hint for a run whose coordinator is on this machine; empty for others."""
        way_out = ON_RAY.format(profile=self.profile) if self.kind == "ray" else OTHERS
        return "" if self.remote else f"{HERE} {way_out}"

    @property
    def number(self) -> str:
        """Number of the job on the cluster; empty where the coordinator is here."""
        return self.remote.job.partition(":")[0] if self.remote else ""

    @property
    def host(self) -> str:
        """Host of the coordinator in words."""
        return (self.remote.host if self.remote else "") or "this machine"


def state_text(state: str, job_state: str, reason: str, lost: str) -> str:
    """Return the state of a run in words, with why it waits or is not heard of. The others are those of `RemoteRun`,
    empty for a run whose coordinator is here."""
    if state in ENDS:
        return state
    if job_state == "waiting":
        state = f"waits: {reason}" if reason else "waits"
    return f"{state}, not connected" if lost else state


def _list_folder() -> Path:
    try:
        return state_folder() / "jobs"
    except RuntimeError as error:
        raise UserError(f"Jobs have no place: {error}", hint="Set XDG_STATE_HOME to a folder.") from error


def _file_of(folder: RunFolder) -> Path:
    path = str(folder.path.absolute())
    return _list_folder() / f"{hashlib.sha256(path.encode('utf-8', 'surrogateescape')).hexdigest()[:24]}.json"


def note_job(folder: RunFolder, **values: Any) -> None:
    """Put a run into the list. `values`: profile, kind and time of a run whose coordinator is here. Raises `RunError`
    where the list cannot be written."""
    file = _file_of(folder)
    try:
        file.parent.mkdir(0o700, parents=True, exist_ok=True)
        write_json(file, {"run_dir": str(folder.path.absolute()), **values})
    except OSError as error:
        raise RunError(f"The job cannot be noted in {file.parent}: {error.strerror}.") from error


def note_run_here(folder: RunFolder, environment: EnvironmentOptions) -> None:
    """Put a run into the list whose coordinator is on this machine, unless that is a job of a cluster itself. A list
    that cannot be written ends no run. Raises `UserError` for the profile that the options name."""
    profile = profile_of(environment)
    if not os.environ.get(PROFILES_VARIABLE):
        with contextlib.suppress(UserError):
            note_job(folder, profile=profile.name, kind=profile.kind, submitted=round(time.time(), 3))


def refuse_unlisted(folder: RunFolder, remote: RemoteRun) -> None:
    """Raise `UserError` for a run that is not in the list: its folder may come from a stranger, who chose the host and
    the folder there that it names."""
    if _file_of(folder).is_file():
        return
    where = f"the folder {remote.folder} on {printable(remote.host) or 'this machine'}"
    raise UserError(
        f"{folder.path} is a copy of the run in {printable(where)}. It is not in the list of your jobs, and nothing is "
        "contacted.",
        hint=f"If it is yours, and was moved: netwright-engine jobs --add {command_line(str(folder.path))}.",
        code="not_listed",
    )


def forget(folder: RunFolder) -> None:
    """Take a run off the list."""
    with contextlib.suppress(OSError):
        _file_of(folder).unlink()


def jobs() -> list[Job]:
    """Return the jobs of this user, the newest first. Those whose folder here is gone are forgotten."""
    return sorted(_listed(), key=lambda job: -job.submitted)


def _listed() -> Iterator[Job]:
    for file in sorted(_list_folder().glob("*.json")):
        with contextlib.suppress(UserError, OSError, ValueError, KeyError, TypeError):
            noted = json.loads(file.read_text(encoding="utf-8"))
            folder = RunFolder(Path(noted["run_dir"]))
            if not folder.path.exists():
                file.unlink()
            elif (remote := read_remote(folder.path)) is not None:
                yield Job(folder, remote.profile, remote.kind, remote.submitted, remote)
            elif "profile" in noted:
                yield Job(folder, str(noted["profile"]), str(noted["kind"]), float(noted["submitted"]))
