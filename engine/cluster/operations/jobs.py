"""`jobs`: the runs on clusters."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypedDict

from netwright.engine.cluster.follower import ensure_follower
from netwright.engine.cluster.job_control import delete, remote_of
from netwright.engine.cluster.job_list import Job, jobs, note_job, state_text
from netwright.engine.core.text import iso_time
from netwright.engine.operations.operation import Argument, Line, Operation, Request, Result, Table
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.folder import open_run


@dataclass(frozen=True, kw_only=True)
class JobsRequest(Request):
    """A run that is deleted on its cluster, or put into the list."""

    delete: Annotated[
        Path | None,
        Argument("end the job of a run and delete its files there; those here stay", metavar="RUN"),
    ] = None
    add: Annotated[
        Path | None,
        Argument("put a run into the list whose folder here was moved; its host is contacted", metavar="RUN"),
    ] = None


class JobRecord(TypedDict):
    """A run on a cluster."""

    run_dir: str
    profile: str
    kind: str
    coordinator: Literal["here", "cluster"]
    """Where the process is that directs the run. The values below are empty for one that is here."""
    host: str
    job: str
    """Number of the job there."""
    folder: str
    """Folder of the job there."""
    state: str
    """State of the run."""
    job_state: str
    """waiting, running, gone (its job has ended before it did), or ended."""
    reason: str
    connection: str
    """Why the host does not answer; empty while it does."""
    submitted: str | None


@dataclass(frozen=True, kw_only=True)
class JobsResult(Result):
    """Runs on clusters, the newest first."""

    jobs: list[JobRecord]


def list_jobs(request: JobsRequest) -> JobsResult:
    """Delete or add a run, and return the list, in which open runs are followed from now on. Raises `UserError`, and
    `RunError` for the cluster."""
    if request.add is not None:
        folder = open_run(request.add)
        remote_of(folder)
        note_job(folder)
    if request.delete is not None:
        delete(open_run(request.delete))
    listed = jobs()
    for job in listed:
        if job.remote is not None:
            ensure_follower(job.folder)
    return JobsResult(jobs=[_record_of(job) for job in listed])


def _record_of(job: Job) -> JobRecord:
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


def text(_: JobsRequest, result: JobsResult) -> Iterator[Line]:
    """Yield a row per run, and why a host does not answer."""
    if not result.jobs:
        yield "No run is on a cluster. `netwright-engine train PROJECT --environment parallel --detach` starts one."
        return
    yield Table([("run", "state", "profile", "job", "coordinator", "submitted"), *map(_cells, result.jobs)])
    for job in result.jobs:
        if job["connection"] and job["state"] not in ENDS:
            yield f"{job['run_dir']}: {job['connection']}"


def _cells(job: JobRecord) -> tuple[str, ...]:
    number, host = job["job"].partition(":")[0], job["host"] or "this machine"
    submitted = (job["submitted"] or "").replace("T", " ")[:16]
    state = state_text(job["state"], job["job_state"], job["reason"], job["connection"])
    return job["run_dir"], state, job["profile"], number, host, submitted


OPERATION = Operation(
    name="jobs",
    request=JobsRequest,
    results=(JobsResult,),
    function=f"{__name__}:list_jobs",
    description=(
        "List the runs on clusters with their last known state, and keep following those that have not ended. "
        "They go on without this machine, except those whose coordinator is on it."
    ),
    text=text,
    waits_for_hosts=True,
    faces=("command", "window"),
)
