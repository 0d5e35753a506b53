"""`report MODEL`: one HTML file about a model, for an appendix or a colleague."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from netwright.engine.core.files import checked_destination
from netwright.engine.operations.model_request import DataOfModelRequest
from netwright.engine.operations.operation import Argument, Device, Line, Operation, Profile, Result
from netwright.engine.project.dataset_info import SPLITS
from netwright.engine.runs.folder import open_run


@dataclass(frozen=True, kw_only=True)
class ReportRequest(DataOfModelRequest):
    """A model, and the file that the report is written to."""

    output: Annotated[
        Path | None,
        Argument("where to write it (default: MODEL.html)", metavar="FILE", flags=("-o", "--output"), writes=True),
    ] = None
    split: Annotated[
        str, Argument("split of the run's data to evaluate on (default: test, else validation)", choices=SPLITS)
    ] = ""
    no_evaluation: Annotated[bool, Argument("without results of an evaluation")] = False
    device: Device = "auto"
    profile: Profile = ""

    @property
    def destination(self) -> Path:
        """The file to write, by default one named as the model in the current folder. Raises `UserError`."""
        if self.output is not None:
            return self.output
        if self.model.is_dir():
            open_run(self.model)
        return Path(f"{self.model.resolve().name if self.model.is_dir() else self.model.stem}.html")

    def check(self) -> None:
        """Refuse a destination that cannot be written."""
        super().check()
        checked_destination(self.destination)


@dataclass(frozen=True, kw_only=True)
class ReportResult(Result):
    """A report that was written."""

    path: str
    run_dir: str
    bytes: int
    split: str
    """The split that was evaluated; empty for other data, and without an evaluation."""
    has_evaluation: bool
    missing: str
    """Why the report has no evaluation; empty where it has one, or none was asked for."""


def text(request: ReportRequest, result: ReportResult) -> Iterator[Line]:
    """Yield where the report was written, and what it lacks."""
    yield f"wrote {request.destination}: {result.bytes:,} bytes"
    if result.missing:
        yield f"note: without an evaluation: {result.missing}"


OPERATION = Operation(
    name="report",
    effect="writes",
    request=ReportRequest,
    results=(ReportResult,),
    function="netwright.engine.analysis.report:report",
    description=(
        "Write one HTML file about a run: network, options, environment, data, curves, metrics, confusions, "
        "calibration, errors, the worst samples, versions and hashes. It needs no other file and no network. The "
        "network is evaluated first, where that is possible and not known from before."
    ),
    text=text,
    doing="evaluating",
    may_wait=True,
)
