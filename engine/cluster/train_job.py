"""Train a run as a job of a cluster from a terminal, also go on with one, and follow it to its end."""

import argparse
import contextlib
import time
from collections.abc import Sequence
from typing import Any

from netwright.engine.cli.follow_command import POLL_S, ProgressPrinter
from netwright.engine.cli.require import Requirement
from netwright.engine.cli.train_command import tell_left, tell_outcome
from netwright.engine.cluster.follower import ensure_follower, is_job
from netwright.engine.cluster.hosts import Host
from netwright.engine.cluster.job_control import remote_of, resume, submit
from netwright.engine.cluster.profile_file import profile_of
from netwright.engine.core.errors import RunError, UserError
from netwright.engine.launch.coordinator import exit_code
from netwright.engine.project.project import Project
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.followed import is_open
from netwright.engine.runs.log import EventReader


def train_as_job(
    project: Project, notices: Sequence[str], requirements: list[Requirement], arguments: argparse.Namespace
) -> int | None:
    """Train as a job of the cluster of a project, print the outcome unless it is left behind, and return the exit code;
    None where the cluster gives workers to a run whose coordinator is here."""
    profile = profile_of(project.environment)
    if not is_job(profile):
        return None
    with ProgressPrinter() as printer:
        printer.wait(f"copies the project and its data to {profile.name} ...")
        folder = submit(project, arguments.project.resolve(), arguments.run_dir, profile)
        for notice in notices:
            printer.say(f"note: {notice}")
        return _follow_job(folder, printer, requirements, arguments)


def resume_as_job(
    folder: RunFolder, settings: list[str], requirements: list[Requirement], arguments: argparse.Namespace
) -> int:
    """Resume a run on a cluster, print the outcome unless it is left behind, and return the exit code."""
    if settings:
        raise UserError(
            f"The run in {folder.path} is on a cluster and goes on there with its own options.",
            hint="Leave --set, --environment and --workers out, or fetch it with --checkpoints and train it here.",
        )
    resume(folder)
    with ProgressPrinter() as printer:
        return _follow_job(folder, printer, requirements, arguments)


def _follow_job(
    folder: RunFolder, printer: ProgressPrinter, requirements: list[Requirement], arguments: argparse.Namespace
) -> int:
    """Follow a run on a cluster to its end, unless it is left behind, and return the exit code."""
    ensure_follower(folder)
    remote = remote_of(folder)
    printer.say(f"job {remote.job.partition(':')[0]} on {Host(remote.host)}, in {remote.folder}")
    if arguments.detach:
        printer.close()
        return tell_left(folder, arguments)
    result = _wait_for_end(folder, printer)
    return tell_outcome(folder, result, printer, requirements, arguments) or exit_code(folder)


def _wait_for_end(folder: RunFolder, printer: ProgressPrinter) -> dict[str, Any]:
    """Print the progress of a run on a cluster until its end, and return its result. Ctrl-C asks it to stop.

    Raises `RunError` for one that is lost, or that has no result.
    """
    reader, said, has_asked = EventReader(folder), "", False
    while True:
        try:
            is_over = not is_open(folder, remote_of(folder)) and not folder.is_alive()
            for event in (events := reader.read()):
                printer(event)
            if is_over and not events:
                break
            said = _say_change(folder, said, printer)
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


def _say_change(folder: RunFolder, before: str, printer: ProgressPrinter) -> str:
    """Say what has changed about the job, and return it."""
    with contextlib.suppress(UserError):
        remote = remote_of(folder)
        said = remote.lost or (f"waits: {remote.reason or 'in its queue'}" if remote.job_state == "waiting" else "")
        if said != before:
            printer.say(said or "its job runs")
        return said
    return before
