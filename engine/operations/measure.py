"""`measure PROJECT`: the output sizes of a project's own layers, by running them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict

from netwright.engine.core.errors import UserError, plural
from netwright.engine.operations.operation import (
    Argument,
    Line,
    Operation,
    ProjectFile,
    ProjectText,
    Request,
    Result,
    Trust,
)
from netwright.engine.operations.projects import look_at_code, project_of
from netwright.engine.project import user_code
from netwright.engine.user_code import registry


@dataclass(frozen=True, kw_only=True)
class MeasureRequest(Request):
    """A project, and the folder that its code lies in."""

    project: ProjectFile
    text: ProjectText = ""
    base: Annotated[Path | None, Argument("folder that its files lie in, if not the project's own", metavar="DIR")] = (
        None
    )
    trusted: Trust = False


class Measured(TypedDict):
    """A layer of user code, with what was measured, or why it failed."""

    question: Mapping[str, Any]
    answer: NotRequired[Mapping[str, Any]]
    failed: NotRequired[str]


@dataclass(frozen=True, kw_only=True)
class MeasureResult(Result):
    """Layers of user code."""

    answers: list[Measured]


def measure(request: MeasureRequest) -> MeasureResult:
    """Measure the layers whose code is trusted. Raises `UserError`."""
    project = project_of(request.project, request.text)
    base = (request.base or request.project.parent).resolve()
    look_at_code(project, base, trusted=request.trusted)
    return MeasureResult(answers=registry.answers(user_code.measure(project.network)))


def text(request: MeasureRequest, result: MeasureResult) -> Iterator[Line]:
    """Yield how many layers were measured. Raises `UserError` for code that is not trusted or has failed."""
    user_code.refuse_untrusted(project_of(request.project, request.text).network)
    failures = [str(row["failed"]) for row in result.answers if "failed" in row]
    number = len(result.answers) - len(failures)
    yield f"measured {plural(number, 'layer')}" if result.answers else "nothing new to measure"
    if failures:
        raise UserError.of_lines(failures)


OPERATION = Operation(
    name="measure",
    request=MeasureRequest,
    results=(MeasureResult,),
    function=f"{__name__}:measure",
    description=(
        "Run the custom layers and functions of a project on small tensors, in a process of their own, and store the "
        "sizes of their outputs. The window does this automatically once the folder is trusted."
    ),
    text=text,
    faces=("command", "window"),
)
