"""A process that follows a run on a cluster: it holds the lock of the folder here and copies what is new until the end.

python -m netwright.engine.core.child netwright.engine.cluster.follower FOLDER LOCK

It may be killed at any time, and the connection may be lost: the run goes on, and the next one goes on with the copy.
"""

import contextlib
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from netwright.engine.cluster.hosts import UnreachableHostError
from netwright.engine.cluster.job_control import host_of, remote_of, resume, submit, sync
from netwright.engine.cluster.job_list import refuse_unlisted
from netwright.engine.cluster.profile_file import is_in_job, profile_of
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.platform import lower_priority
from netwright.engine.core.process import start_detached_module
from netwright.engine.project.project import Project
from netwright.engine.runs.folder import RunFolder, open_run, restore_lock, take_lock, update_info
from netwright.engine.runs.followed import is_open
from netwright.engine.runs.remote import write_remote

POLL_S = 1.0
POLL_BY_SSH_S = 3.0
LONGEST_WAIT_S = 60.0
MODULE = "netwright.engine.cluster.follower"


def ensure_follower(folder: RunFolder) -> bool:
    """Start a follower for a run on a cluster unless there is one, or the run has ended. Returns whether one was
    started. Raises `UserError` for a run that is not one of the user's jobs."""
    remote = remote_of(folder)
    if not is_open(folder, remote):
        return False
    refuse_unlisted(folder, remote)
    try:
        lock = take_lock(folder)
    except RunError:
        return False
    try:
        path = str(folder.path.absolute())
        start_detached_module(folder.path / "follower.log", MODULE, path, str(lock), descriptors=(lock,))
    finally:
        os.close(lock)
    return True


def follow_to_end(folder: RunFolder, lock: int, wait: Callable[[float], None] = time.sleep) -> None:
    """Copy what is new of a run until it has ended or its job is gone. `wait` waits so many seconds."""
    with contextlib.suppress(OSError, UserError):
        update_info(folder, coordinator=os.getpid())
    remote = remote_of(folder)
    wait_s = usual = POLL_BY_SSH_S if remote.kind != "ray" and remote.host else POLL_S
    with host_of(folder, remote) as host:
        while is_open(folder, remote_of(folder)):
            restore_lock(folder, lock)
            try:
                sync(folder, host)
                wait_s = usual
            except UnreachableHostError as error:
                _note_lost(folder, error)
                wait_s = min(LONGEST_WAIT_S, 2 * wait_s)
            if is_open(folder, remote_of(folder)):
                wait(wait_s)


def _note_lost(folder: RunFolder, error: UserError) -> None:
    remote = remote_of(folder)
    if not remote.lost:
        since = time.strftime("%H:%M:%S", time.localtime(remote.seen)) if remote.seen else "its start"
        write_remote(folder.path, replace(remote, lost=f"no connection since {since}, tries again. {error}"))


def main(arguments: list[str]) -> int:
    """Follow the run given by the arguments."""
    folder, lock = open_run(Path(arguments[0])), int(arguments[1])
    os.set_inheritable(lock, False)
    lower_priority(5)
    try:
        follow_to_end(folder, lock)
    except (UserError, OSError) as error:
        print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {error}", file=sys.stderr)
        return 1
    return 0


def is_job(profile: ClusterProfile) -> bool:
    """Return whether a run on this cluster is a job of its own there. Otherwise it has workers there, and its
    coordinator here; so have the nodes of the job that this process is in."""
    return profile.takes_jobs and not (profile.kind == "slurm" and is_in_job())


def start_job(project: Project, path: Path | None, run_dir: Path | None) -> RunFolder | None:
    """Start the run of a project as a job of its cluster and follow it. Returns None where that takes no jobs."""
    profile = profile_of(project.environment)
    if not is_job(profile):
        return None
    folder = submit(project, path, run_dir, profile)
    ensure_follower(folder)
    return folder


def resume_job(path: Path) -> RunFolder:
    """Start the job of a run again, and follow it."""
    folder = open_run(path)
    resume(folder)
    ensure_follower(folder)
    return folder
