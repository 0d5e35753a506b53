"""`transfer MODEL -o NEW`: a new project that starts from a trained network."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from netwright.engine.core.errors import UserError
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.core.platform import command_line
from netwright.engine.operations.model_request import ModelPath
from netwright.engine.operations.operation import Argument, Line, Operation, Request, Result


@dataclass(frozen=True, kw_only=True)
class TransferRequest(Request):
    """A trained network, the project to write, and what becomes of the layers."""

    source: ModelPath
    output: Annotated[Path, Argument("project file to write", metavar="NEW", flags=("-o", "--output"), writes=True)]
    weights: Annotated[Path | None, Argument("weights to start from; a model brings its own", metavar="FILE|RUN")] = (
        None
    )
    data: Annotated[Path | None, Argument("other data; the output names its kind", metavar="PATH")] = None
    outputs: Annotated[int, Argument("replace the head by one with N outputs", metavar="N", one_of="head")] = 0
    fit_head: Annotated[bool, Argument("replace the head by one that fits the data", one_of="head")] = False
    freeze_up_to: Annotated[str, Argument("keep the weights up to this layer", metavar="LAYER")] = ""
    slow_up_to: Annotated[str, Argument("lower the learn rate up to this layer", metavar="LAYER")] = ""
    rate_factor: Annotated[float, Argument("factor of --slow-up-to (default: 0.1)", metavar="F")] = 0.1
    replaces: Annotated[bool, Argument("replace NEW if it exists", flags=("--force",), is_for_people=True)] = False

    @property
    def destination(self) -> Path:
        """The file to write, with the suffix of projects."""
        to = self.output
        return to if to.suffix == SUFFIX else to.with_name(f"{to.name}{SUFFIX}")

    def check(self) -> None:
        """Refuse a destination that exists, or whose folder does not."""
        to = self.destination
        if (to.exists() or to.is_symlink()) and not self.replaces:
            raise UserError(f"{to} exists already, and nothing was changed.", hint="Name another file, or use --force.")
        if not to.parent.is_dir():
            subject = f"The folder {to.parent} does not exist."
            raise UserError(subject, hint="Make it first, or name another one.", code="not_found")


@dataclass(frozen=True, kw_only=True)
class TransferResult(Result):
    """A project that starts from a trained network."""

    path: str
    weights: str
    """As the project names them."""
    frozen: list[str]
    """Names of the layers that keep their weights."""
    data: str | None = None
    """The guess about the data, in words."""


def text(request: TransferRequest, result: TransferResult) -> Iterator[Line]:
    """Yield what was written, and how to go on."""
    yield f"wrote {request.destination}"
    if result.data:
        yield result.data
    if result.frozen:
        yield f"frozen: {', '.join(result.frozen)}"
    yield f"next: netwright-engine train {command_line(str(request.destination))}"


OPERATION = Operation(
    name="transfer",
    effect="writes",
    request=TransferRequest,
    results=(TransferResult,),
    function="netwright.engine.launch.new_project:transfer",
    description=(
        "Write a new project that starts from a model, or from a project and weights. Layers up to one can be frozen, "
        "or learn at a lower rate, and the head be replaced for other data."
    ),
    text=text,
    reads_data=True,
    faces=("command", "api"),
)
