"""Commands `jobs` and `fetch`, and training on a cluster that takes a run as a job."""

import argparse
import contextlib
import time
from pathlib import Path
from typing import Any

from netwright.engine.cli.answers import add_json, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.follow_command import POLL_S, ProgressPrinter
from netwright.engine.cli.printing import say
from netwright.engine.cli.terminal import print_table
from netwright.engine.cluster.follower import ensure_follower, is_open
from netwright.engine.cluster.hosts import Host
from netwright.engine.cluster.job_list import Job, jobs, note_job
from netwright.engine.cluster.jobs import delete, fetch, remote_of, submit
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import EXIT_DONE, RunError, UserError
from netwright.engine.core.text import iso_time
from netwright.engine.project.project import Project
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.folder import RunFolder, open_run
from netwright.engine.runs.log import EventReader
from netwright.engine.runs.remote import read_remote


def register(commands: Commands) -> None:
    """Add the commands `jobs` and `fetch`."""
    text = (
        "List the runs on clusters, with what is last known of them, and go on following those that have not ended. "
        "They go on without this machine, except those whose coordinator is on it."
    )
    command = commands.add_parser("jobs", description=text)
    command.add_argument(
        "--delete", type=Path, metavar="RUN", help="end the job of a run and delete its files there; those here stay"
    )
    command.add_argument(
        "--add",
        type=Path,
        metavar="RUN",
        help="put a run into the list whose folder here was moved; its host is contacted",
    )
    add_json(command)
    command.set_defaults(run=run_jobs)
    text = (
        "Bring the weights and results of a run on a cluster into its folder here, also while it trains. A run that "
        "ends is fetched by itself while it is followed."
    )
    command = commands.add_parser("fetch", description=f"{text} The files of a run whose coordinator is here are here.")
    command.add_argument("folder", type=Path, metavar="RUN", help="the folder of the run")
    command.add_argument("--checkpoints", action="store_true", help="its checkpoints too, to go on with it here")
    add_json(command)
    command.set_defaults(run=run_fetch)


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


def run_jobs(arguments: argparse.Namespace) -> int:
    """Print the jobs."""
    if arguments.add is not None:
        folder = open_run(arguments.add)
        remote_of(folder)
        note_job(folder)
    if arguments.delete is not None:
        delete(open_run(arguments.delete))
    found = jobs()
    for job in found:
        if job.remote is not None:
            ensure_follower(job.folder)
    if arguments.json:
        print_json(arguments, {"jobs": [_as_json(job) for job in found]})
        return EXIT_DONE
    if not found:
        say("No run is on a cluster. `netwright-engine train PROJECT --environment parallel --detach` starts one.")
        return EXIT_DONE
    rows = [("run", "state", "profile", "job", "coordinator", "submitted")]
    for job in found:
        rows.append((str(job.folder.path), _state(job), job.profile, job.number, job.host, _time(job)))
    print_table(rows)
    for job in found:
        if job.remote is not None and job.remote.lost and job.folder.state() not in ENDS:
            say(f"{job.folder.path}: {job.remote.lost}")
    return EXIT_DONE


def _time(job: Job) -> str:
    return (iso_time(job.submitted) or "").replace("T", " ")[:16]


def _state(job: Job) -> str:
    """Return the state of a run in words, with why it waits or is not heard of."""
    state = job.folder.state()
    if state in ENDS or job.remote is None:
        return state
    if job.remote.job_state == "waiting":
        state = f"waits{f' ({job.remote.reason})' if job.remote.reason else ''}"
    return f"{state}, not connected" if job.remote.lost else state


def _as_json(job: Job) -> dict[str, Any]:
    remote = job.remote
    return {
        "run_dir": str(job.folder.path.absolute()),
        "profile": job.profile,
        "kind": job.kind,
        "coordinator": "here" if remote is None else "cluster",
        "host": remote.host if remote else "",
        "job": remote.job if remote else "",
        "folder": remote.folder if remote else "",
        "state": job.folder.state(),
        "job_state": remote.job_state if remote else "",
        "reason": remote.reason if remote else "",
        "connection": remote.lost if remote else "",
        "submitted": iso_time(job.submitted),
    }


def run_fetch(arguments: argparse.Namespace) -> int:
    """Fetch the run."""
    folder = open_run(arguments.folder)
    if (remote := read_remote(folder.path)) is not None:
        fetch(folder, remote, checkpoints=arguments.checkpoints)
        ensure_follower(folder)
    state = folder.state()
    if arguments.json:
        told = {"run_dir": str(folder.path.absolute()), "state": state, "fetched": remote is not None}
        print_json(arguments, told)
    else:
        say(f"{folder.path}: {state}{'' if remote else '; its files are here already, nothing is to be fetched'}")
    return EXIT_DONE
