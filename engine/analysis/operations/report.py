"""`report RUN`: one HTML file about a run, for an appendix or a colleague."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from netwright.engine.core.files import checked_destination
from netwright.engine.operations.operation import (
    Argument,
    Line,
    Operation,
    Request,
    Result,
    RunDir,
    Trust,
    WeightsKept,
)
from netwright.engine.project.dataset_info import SPLITS
from netwright.engine.runs.folder import open_run


@dataclass(frozen=True, kw_only=True)
class ReportRequest(Request):
    """A run, and the file that the report is written to."""

    run_dir: RunDir
    output: Annotated[
        Path | None, Argument("where to write it (default: RUN.html)", metavar="FILE", flags=("-o", "--output"))
    ] = None
    split: Annotated[
        str, Argument("split of the run's data to evaluate on (default: test, else validation)", choices=SPLITS)
    ] = ""
    weights: WeightsKept = ""
    no_evaluation: Annotated[bool, Argument("without results of an evaluation")] = False
    trusted: Trust = False

    @property
    def destination(self) -> Path:
        """The file to write, by default one named as the run in the current folder. Raises `UserError`."""
        return self.output or Path(f"{open_run(self.run_dir).path.resolve().name}.html")

    def check(self) -> None:
        """Refuse a destination that cannot be written."""
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
)
