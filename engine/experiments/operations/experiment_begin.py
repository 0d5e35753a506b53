"""Begin an experiment: its folder is made, and its runner is started by who asked."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from netwright.engine.operations.operation import Argument, Operation, Request, Result


@dataclass(frozen=True, kw_only=True)
class BeginRequest(Request):
    """A project that defines an experiment, as it is in the editor."""

    project: Annotated[str, Argument("the project, as a project file has it")]
    base: Annotated[Path, Argument("the folder from which relative paths of the project lead")]
    project_path: Annotated[Path | None, Argument("the file of the project, where it has one")] = None


@dataclass(frozen=True, kw_only=True)
class BeginResult(Result):
    """An experiment that no process works on yet."""

    experiment_dir: str


OPERATION: Operation[BeginRequest, BeginResult] = Operation(
    name="experiment begin",
    request=BeginRequest,
    results=(BeginResult,),
    function="netwright.engine.experiments.begin:begin_project",
    description="Check the experiment that a project defines with its data, and make its folder.",
    faces=("window",),
)
