"""Training on a cluster that takes a run as a job."""

import contextlib
import time
from pathlib import Path
from typing import Any

from netwright.engine.cli.follow_command import POLL_S, ProgressPrinter
from netwright.engine.cluster.follower import ensure_follower, is_open
from netwright.engine.cluster.hosts import Host
from netwright.engine.cluster.job_control import remote_of, submit
from netwright.engine.cluster.job_list import jobs
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import RunError, UserError
from netwright.engine.project.project import Project
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import EventReader


def words_for_here(folder: RunFolder) -> str:
    """Return what a run on a cluster needs whose coordinator is on this machine; empty for other runs."""
    return next((job.note for job in jobs() if job.folder.path == folder.path.absolute()), "")


def submit_run(
    project: Project, path: Path, run_dir: Path | None, profile: ClusterProfile, printer: ProgressPrinter
) -> RunFolder:
    """Check a project and start its run as a job. Returns its folder here."""
    printer.wait(f"copies the project and its data to {profile.name} ...")
    return submit(project, path, run_dir, profile)


def follow_job(folder: RunFolder, printer: ProgressPrinter) -> None:
    """Let a process of its own follow a run on a cluster, and say where the run is."""
    ensure_follower(folder)
    remote = remote_of(folder)
    printer.say(f"job {remote.job.partition(':')[0]} on {Host(remote.host)}, in {remote.folder}")


def wait_for_end(folder: RunFolder, printer: ProgressPrinter) -> dict[str, Any]:
    """Print the progress of a run on a cluster until its end, and return its result. Ctrl-C asks it to stop.

    Raises `RunError` for one that is lost, or that has no result.
    """
    reader, said, has_asked = EventReader(folder), "", False
    while True:
        try:
            is_over = not is_open(folder) and not folder.is_alive()
            for event in (events := reader.read()):
                printer(event)
            if is_over and not events:
                break
            said = _tell(folder, said, printer)
            time.sleep(POLL_S)
        except KeyboardInterrupt:
            if has_asked:
                raise
            has_asked = True
            printer.say("asks it to stop ...")
            folder.request("stop")
    printer.close()
    result = folder.read_result()
    if result is not None and folder.read_info().state in ENDS:
        return result
    remote = remote_of(folder)
    reason = remote.reason if folder.state() == "lost" else "it ended before it had a result"
    raise RunError(f"The run in {folder.path} has failed: {reason}.", code="lost" if folder.state() == "lost" else "")


def _tell(folder: RunFolder, before: str, printer: ProgressPrinter) -> str:
    """Say what has changed about the job, and return it."""
    with contextlib.suppress(UserError):
        remote = remote_of(folder)
        said = remote.lost or (f"waits: {remote.reason or 'in its queue'}" if remote.job_state == "waiting" else "")
        if said != before:
            printer.say(said or "its job runs")
        return said
    return before
