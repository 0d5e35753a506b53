"""`experiment export EXPERIMENT`: the trials of an experiment as a table, as JSON, or as a study of optuna."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from netwright.engine.core.errors import UserError
from netwright.engine.operations.operation import Argument, Document, ExperimentPath, Line, Operation, Request, Result

FORMATS = ("csv", "json", "optuna")


@dataclass(frozen=True, kw_only=True)
class TrialExportRequest(Request):
    """An experiment, and the file that its trials are written to."""

    experiment: ExperimentPath
    format: Annotated[str, Argument("default csv", choices=FORMATS)] = "csv"
    output: Annotated[
        Path | None,
        Argument(
            "the file; default: standard output. Of optuna: a journal, or for .db or .sqlite a database",
            metavar="FILE",
            flags=("-o", "--output"),
            writes=True,
        ),
    ] = None

    def check(self) -> None:
        """Refuse a study without a file."""
        if self.format == "optuna" and self.output is None:
            raise UserError("A study of optuna needs a file: name it with -o.")


@dataclass(frozen=True, kw_only=True)
class TrialExportResult(Result):
    """Files that were written."""

    files: list[str]
    text: str = ""
    """The trials, where no file was named."""


def text(_: TrialExportRequest, result: TrialExportResult) -> Iterator[Line]:
    """Yield the trials, or where they were written."""
    yield from result.files
    if not result.files:
        yield Document(result.text)


OPERATION = Operation(
    name="experiment export",
    effect="reads",
    request=TrialExportRequest,
    results=(TrialExportResult,),
    function="netwright.engine.experiments.strategies:export_trials",
    description="Write the trials as CSV or JSON, or as a study of optuna.",
    text=text,
    faces=("command", "window"),
)
