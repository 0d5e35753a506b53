"""The part of a request that says which model it is about, for all operations that take one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import read_file
from netwright.engine.operations.operation import Argument, Request, Trust, WeightsKept
from netwright.engine.operations.projects import data_place
from netwright.engine.project.dataset_info import SPLITS
from netwright.engine.project.preparation import PIXELS
from netwright.engine.runs.model_files import Assumptions, ModelChoice, expected

LIMIT_BYTES = 2**24
Split = Annotated[str, Argument("split of the run's data (default: test, else validation)", choices=SPLITS)]
ModelPath = Annotated[Path, Argument(f"a model: {expected()}", metavar="MODEL")]


@dataclass(frozen=True, kw_only=True)
class ModelRequest(Request):
    """A model, and what is said of one from elsewhere."""

    model: ModelPath
    weights: WeightsKept = ""
    pixels: Annotated[
        str,
        Argument(
            f"pixels that a network from elsewhere takes (default: 0 to 1): {', '.join(PIXELS)}",
            metavar="RANGE",
            choices=PIXELS,
        ),
    ] = ""
    classes_file: Annotated[
        Path | None,
        Argument(
            "names of the classes of a network from elsewhere, a line each",
            metavar="FILE",
            flags=("--classes",),
            faces=("command",),
        ),
    ] = None
    classes: Annotated[
        tuple[str, ...], Argument("names of the classes of a network from elsewhere", faces=("window", "api"))
    ] = ()
    trusted: Trust = False

    @property
    def choice(self) -> ModelChoice:
        """The model as it is named here. Raises `UserError`."""
        assumptions = Assumptions(self.pixels, self.classes)
        if self.classes_file is not None:
            assumptions = Assumptions(self.pixels, _lines(self.classes_file))
        device, iteration = getattr(self, "device", "cpu"), getattr(self, "iteration", 0)
        return ModelChoice(self.model, self.weights, self.trusted, device, assumptions, iteration=iteration)


@dataclass(frozen=True, kw_only=True)
class DataOfModelRequest(ModelRequest):
    """A model, and data that it is asked about, by default its own."""

    data: Annotated[
        str, Argument("other data: a file, a folder or a URL of shards", metavar="SOURCE", read=data_place)
    ] = ""
    settings: Annotated[
        tuple[str, ...],
        Argument(
            "option of the other data, such as data.response=price; may be given several times",
            metavar="data.OPTION=VALUE",
            flags=("--set",),
        ),
    ] = ()

    def check(self) -> None:
        """Refuse a split of other data, and options without it."""
        if self.data and getattr(self, "split", ""):
            raise UserError(
                "--split is of the model's own data, --data names other data. Give one of them.", code="usage"
            )
        if self.settings and not self.data:
            raise UserError("--set is for other data, which --data names.", code="usage")


def _lines(file: Path) -> tuple[str, ...]:
    """Return the lines of a text that are not empty. Raises `UserError`."""
    try:
        lines = read_file(file, LIMIT_BYTES).decode("utf-8-sig").splitlines()
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError:
        raise UserError(f"{file} is no text in UTF-8.", hint="Expected a name of a class per line.") from None
    return tuple(line.strip() for line in lines if line.strip())
