"""`experiment report EXPERIMENT`: one HTML file about an experiment."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from netwright.engine.core.files import checked_destination
from netwright.engine.operations.operation import Argument, ExperimentPath, Line, Operation, Request, Result
from netwright.engine.runs.experiments import open_experiment


@dataclass(frozen=True, kw_only=True)
class ExperimentReportRequest(Request):
    """An experiment, and the file that the report is written to."""

    experiment: ExperimentPath
    output: Annotated[
        Path | None,
        Argument(
            "where to write it; default: the name of the experiment's folder with .html",
            metavar="FILE",
            flags=("-o", "--output"),
            writes=True,
        ),
    ] = None

    @property
    def destination(self) -> Path:
        """The file to write, by default one named as the experiment in the current folder. Raises `UserError`."""
        return self.output or Path(f"{open_experiment(self.experiment).path.resolve().name}.html")

    def check(self) -> None:
        """Refuse what is no experiment, and a destination that cannot be written."""
        open_experiment(self.experiment)
        checked_destination(self.destination)


@dataclass(frozen=True, kw_only=True)
class ExperimentReportResult(Result):
    """The HTML file about an experiment that was written."""

    path: str
    experiment_dir: str
    bytes: int
    trials: int
    missing: str
    """Why it has no importances of the parameters; empty where it has them."""
    damage: str
    """That lines of the log of trials cannot be read; empty where all can."""


def text(request: ExperimentReportRequest, result: ExperimentReportResult) -> Iterator[Line]:
    """Yield where the report was written, and what it lacks."""
    yield f"wrote {request.destination}: {result.bytes:,} bytes"
    if result.missing:
        yield f"note: without importances: {result.missing}"


def notices(result: ExperimentReportResult) -> Iterator[str]:
    """Yield what of the log of trials cannot be read."""
    yield from (f"note: {text}" for text in filter(None, [result.damage]))


OPERATION = Operation(
    name="experiment report",
    effect="writes",
    request=ExperimentReportRequest,
    results=(ExperimentReportResult,),
    function="netwright.engine.experiments.experiment_report:write_experiment_report",
    description="Write one HTML file about an experiment: what varied, the best trials, plots, all trials.",
    text=text,
    notices=notices,
    faces=("command", "window"),
)
