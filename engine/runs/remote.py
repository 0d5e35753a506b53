"""`cluster.json` of a run folder: where a run executes whose folder here is a copy, and what was last known of it.

    {"profile": "lab", "kind": "slurm", "host": "login.lab", "folder": "/shared/jobs/7f3a", "job": "4711", ...}

The folder here follows the one on the cluster. A process that copies holds its lock; without one the run goes on all
the same, and its state here is the last one known.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from netwright.engine.core.dataclass_json import JsonShapeError, from_json, to_json
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import read_object, write_json

FILE = "cluster.json"
SIZE_LIMIT = 2**16
JobState = Literal["waiting", "running", "gone", "ended"]


@dataclass(frozen=True, kw_only=True)
class RemoteRun:
    """Host of a run on a cluster, and its last known state."""

    profile: str
    kind: Literal["ray", "slurm", "ssh"]
    host: str
    """Host that is asked, empty for this machine."""
    folder: str
    """Folder of the job there; the run is in `run` in it."""
    job: str
    """Number of the job."""
    submitted: float = 0.0
    """Seconds since the epoch."""
    job_state: JobState = "waiting"
    """`gone` where the job has ended and its run has not; `ended` where the run here is whole."""
    reason: str = ""
    """Why the job waits, in the words of Slurm, or why it is gone."""
    seen: float = 0.0
    """When the host has last answered, in seconds since the epoch."""
    lost: str = ""
    """Why the host does not answer, empty while it does."""


def read_remote(folder: Path) -> RemoteRun | None:
    """Return the record in the folder of a run; None for a run of this machine. Raises `UserError`."""
    try:
        data = read_object(folder / FILE, SIZE_LIMIT)
    except OSError as error:
        raise UserError(f"{folder / FILE} cannot be read: {error.strerror}.") from error
    if data is None:
        return None
    try:
        run: RemoteRun = from_json(RemoteRun, data)
    except JsonShapeError as error:
        raise UserError(f"{folder / FILE} is damaged: {error}.") from error
    return run


def write_remote(folder: Path, remote: RemoteRun) -> None:
    """Replace the record, atomically. Raises `OSError`."""
    write_json(folder / FILE, to_json(remote), follow_link=False)
