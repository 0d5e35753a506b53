"""`import FILE -o PROJECT`: a network that another program made becomes a project with its weights."""

import math
from argparse import ArgumentTypeError
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.foreign_file import allowed_work_s
from netwright.engine.operations.operation import Argument, Line, Operation, Request, Table, Trust
from netwright.engine.project.import_kinds import KINDS

HIGHEST_SIZE = 1_000_000_000


def read_seconds(text: str) -> int:
    """Return a number of seconds. Raises `ArgumentTypeError`."""
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"expected a number of seconds from 1 on, received '{text}'")
    return int(text)


def read_size(text: str) -> tuple[str, int]:
    """Return name and size of a text such as `height=512`. Raises `UserError`."""
    name, equals, number = text.partition("=")
    if not name or not equals or not number.isdecimal() or not 0 < int(number) <= HIGHEST_SIZE:
        raise UserError(f"--size {text}: expected NAME=SIZE, such as height=512.")
    return name, int(number)


@dataclass(frozen=True, kw_only=True)
class ImportRequest(Request):
    """A file of another program, and the project that is written."""

    file: Annotated[
        str,
        Argument("the file to import; FILE.py:CLASS for an nn.Module, which is built and exported", metavar="FILE"),
    ]
    output: Annotated[Path, Argument("the project to write", metavar="PROJECT", flags=("-o", "--output"), writes=True)]
    sizes: Annotated[
        tuple[str, ...],
        Argument(
            "a size that the file leaves free, such as height=512; may be given several times",
            metavar="NAME=SIZE",
            flags=("--size",),
        ),
    ] = ()
    inputs: Annotated[
        tuple[str, ...],
        Argument(
            "sizes of one sample of an input of FILE.py:CLASS, such as 3x224x224, or 128:int64 for indices; once per "
            "input",
            metavar="SIZES",
            flags=("--input",),
        ),
    ] = ()
    arguments: Annotated[
        str,
        Argument("arguments of FILE.py:CLASS, such as 'num_classes=10'", metavar="VALUES", flags=("--args",)),
    ] = ""
    time_limit: Annotated[
        int,
        Argument(
            "seconds of computing after which the import stops (default: 25, and more for a large file)",
            metavar="SECONDS",
            read=read_seconds,
        ),
    ] = 0
    no_shared_copies: Annotated[
        bool, Argument("refuse a file in which layers share their weights, instead of giving each a copy")
    ] = False
    compares: Annotated[bool, Argument("compare the outputs of both", faces=("window", "api"))] = True
    trusted: Trust = False
    force: Annotated[bool, Argument("replace the project and its weights if they exist", is_for_people=True)] = False

    @property
    def source(self) -> Path:
        """The file, without the name of a class."""
        path, _, name = self.file.rpartition(":")
        return Path(path if path.endswith(".py") and name.isidentifier() else self.file)

    @property
    def class_name(self) -> str:
        """The class of FILE.py:CLASS; empty for other files."""
        return self.file.removeprefix(str(self.source)).removeprefix(":")

    @property
    def subject(self) -> str:
        """The file."""
        return f"importing {self.source.name}"

    @property
    def work_limit_s(self) -> float:
        """Seconds that the size of the file accounts for; no limit for a class, which is code that the user trusts."""
        return math.inf if self.class_name else float(self.time_limit or allowed_work_s(self.source))

    def check(self) -> None:
        """Refuse what is no size, and inputs and arguments of other files than modules."""
        for size in self.sizes:
            read_size(size)
        if (self.inputs or self.arguments) and not self.class_name:
            raise UserError(
                "--input and --args are for FILE.py:CLASS; other files say their sizes themselves.", code="usage"
            )


class ImportedOperator(TypedDict):
    """Operators of one name in an imported file, and how many of them became layers, were computed at import, were not
    needed, or are kept as they are."""

    operator: str
    count: int
    lifted: int
    folded: int
    removed: int
    opaque: int
    layers: Mapping[str, int]
    """Number of layers that they became, by label."""


class ImportedInput(TypedDict):
    """Input layer of an imported network."""

    name: str
    sizes: str
    normalization: str


class ImportedOutput(TypedDict):
    """Output of an imported network, compared with the original on random inputs."""

    name: str
    difference: float | None
    """Largest difference; null where it is infinite."""
    spread: float | None
    """Standard deviation of the original's values."""
    agrees: bool
    """Whether the difference is at most 1e-4 of the spread."""
    layer: str
    """Layer that gives it, or the block that it is in."""


class Imported(TypedDict):
    """An imported network."""

    source: str
    project: str
    kind: str
    layers: int
    parameters: int
    weights: str | None
    constants: str | None
    """File with the numbers of operators that are kept as they are; null where there is none."""
    producer: str
    opset: int
    operators: list[ImportedOperator]
    inputs: list[ImportedInput]
    agrees: bool
    """Whether all outputs were compared and agree."""
    samples: int
    outputs: list[ImportedOutput]
    warnings: list[str]
    notes: list[str]


def text(request: ImportRequest, result: Imported) -> Iterator[Line]:
    """Yield what was written, what became of each operator and how close the network is to the original."""

    def written(path: str) -> Path:
        return request.output.with_name(Path(path).name)

    counts = f"{plural(result['layers'], 'layer')}, {result['parameters']:,} parameters"
    yield f"wrote {written(result['project'])}: {counts}"
    yield from (f"wrote {written(path)}" for path in (result["weights"], result["constants"]) if path)
    for row in result["inputs"]:
        how = "not normalised" if row["normalization"] == "none" else "normalised by the network"
        yield f"input {row['name']}: {row['sizes']}, {how}"
    operators = [(row["operator"], f"{row['count']:,}", _became(row)) for row in result["operators"]]
    yield Table([("operator", "count", "became"), *operators], right=(1,))
    if result["outputs"]:
        rows = [("output", "layer", "largest difference", "spread", "agrees")]
        for output in result["outputs"]:
            figures = (output["difference"], output["spread"])
            difference, spread = ("infinite" if figure is None else f"{figure:.2g}" for figure in figures)
            rows.append((output["name"], output["layer"], difference, spread, "yes" if output["agrees"] else "NO"))
        yield Table(rows, right=(2, 3))
    if result["agrees"]:
        yield f"the original agrees over {result['samples']:,} random samples"
    yield from (f"warning: {warning}" for warning in result["warnings"])
    yield from (f"note: {note}" for note in result["notes"])


def _became(row: ImportedOperator) -> str:
    layers = [f"{count:,} {label}" for label, count in row["layers"].items()]
    kept = "kept as it is" if row["opaque"] == 1 else "kept as they are"
    joined = 0 if layers else row["lifted"]
    fates = (
        (joined, "part of other layers"),
        (row["folded"], "computed at import"),
        (row["removed"], "not needed"),
        (row["opaque"], kept),
    )
    return ", ".join([*layers, *(f"{count:,} {words}" for count, words in fates if count)])


OPERATION = Operation(
    name="import",
    effect="writes",
    request=ImportRequest,
    results=(Imported,),
    function="netwright.engine.exchange.importing.module_file:import_network",
    description=(
        f"Make a project of a network that another program wrote ({', '.join(kind.label for kind in KINDS)}), with its "
        "weights in a file beside it. The outputs of both are compared on random inputs."
    ),
    text=text,
    doing="importing",
    is_foreign=True,
)
