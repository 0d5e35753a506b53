"""`fetch RUN`: bring a run on a cluster into its folder here."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from netwright.engine.cluster.follower import ensure_follower
from netwright.engine.cluster.job_control import fetch
from netwright.engine.operations.operation import Argument, Line, Operation, Request, Result, RunDir
from netwright.engine.runs.folder import open_run
from netwright.engine.runs.remote import read_remote


@dataclass(frozen=True, kw_only=True)
class FetchRequest(Request):
    """A run, and what of it is fetched."""

    folder: RunDir
    checkpoints: Annotated[bool, Argument("also fetch its checkpoints, to resume it here")] = False


@dataclass(frozen=True, kw_only=True)
class FetchResult(Result):
    """A run that was fetched from its cluster."""

    run_dir: str
    state: str
    fetched: bool
    """False where its files are here already."""


def fetch_run(request: FetchRequest) -> FetchResult:
    """Fetch the run. Raises `UserError`, and `RunError` for the cluster."""
    folder = open_run(request.folder)
    if (remote := read_remote(folder.path)) is not None:
        fetch(folder, remote, checkpoints=request.checkpoints)
        ensure_follower(folder)
    return FetchResult(run_dir=str(folder.path.absolute()), state=folder.state(), fetched=remote is not None)


def text(request: FetchRequest, result: FetchResult) -> Iterator[Line]:
    """Yield the state of the run."""
    note = "" if result.fetched else "; its files are here already, nothing is to be fetched"
    yield f"{open_run(request.folder).path}: {result.state}{note}"


OPERATION = Operation(
    name="fetch",
    request=FetchRequest,
    results=(FetchResult,),
    function=f"{__name__}:fetch_run",
    description=(
        "Bring the weights and results of a run on a cluster into its folder here, also while it trains. A run that "
        "ends is fetched by itself while it is followed. A run whose coordinator is here has its files here."
    ),
    text=text,
    waits_for_hosts=True,
    faces=("command", "window"),
)
