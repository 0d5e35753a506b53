"""Runs on a cluster whose folder here is a copy: whether more is to come, and opening one so that it is followed."""

from pathlib import Path

from netwright.engine.placement.cluster_part import cluster_function
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.folder import RunFolder, open_run
from netwright.engine.runs.remote import RemoteRun, read_remote


def is_open(folder: RunFolder, remote: RemoteRun) -> bool:
    """Return whether there is more to come of a run on a cluster."""
    return remote.job_state not in ("ended", "gone") and folder.read_info().state not in ENDS


def open_followed(path: Path) -> RunFolder:
    """Return a run folder; one of a run on a cluster is followed from now on. Raises `UserError`."""
    folder = open_run(path)
    if (remote := read_remote(folder.path)) is not None and is_open(folder, remote):
        cluster_function("follow_job")(folder)
    return folder
