"""`compress MODEL`: networks within a budget of size, time and accuracy, and the front of those that there are."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

from netwright.engine.analysis.operations.prune import refuse_output
from netwright.engine.core.errors import EXIT_DONE, EXIT_REQUIREMENT, UserError
from netwright.engine.core.text import format_bytes, format_number, format_percent
from netwright.engine.operations.model_request import ModelRequest
from netwright.engine.operations.operation import Argument, Line, Operation, Result, Table
from netwright.engine.project.options.metric_options import format_score, in_a_line

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
MOST_CANDIDATES, MOST_EPOCHS = 100, 10_000


def read_bytes(text: str) -> int:
    """Return a size as `1MB`, `300 KiB` or `50000` in bytes. Raises `UserError`."""
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-z]*)\s*", text.lower())
    if match is None or match[2] not in UNITS:
        raise UserError(f"Expected a size such as 1MB, 300KiB or 50000 (bytes), received '{text}'.")
    return int(float(match[1]) * UNITS[match[2]])


@dataclass(frozen=True, kw_only=True)
class CompressRequest(ModelRequest):
    """A trained model, and the budget that a smaller network is to fit: size, time, loss of accuracy."""

    size: Annotated[str, Argument("largest ONNX file, such as 1MB or 300KiB", metavar="SIZE")] = ""
    time: Annotated[float | None, Argument("longest time per sample on this machine, in ms", metavar="MS")] = None
    accuracy_loss: Annotated[
        float,
        Argument("largest loss in percentage points; of a metric such as RMSE in percent (default: 1)", metavar="P"),
    ] = 1.0
    epochs: Annotated[int, Argument("epochs that each candidate trains on (default: 5)", metavar="N")] = 5
    candidates: Annotated[int, Argument("networks to train at most (default: 4)", metavar="N")] = 4
    float_only: Annotated[bool, Argument("leave out networks with 8-bit weights and activations")] = False
    pick: Annotated[
        int | None, Argument("write this candidate of an earlier search instead of the best one", metavar="NUMBER")
    ] = None
    output: Annotated[
        Path | None,
        Argument("project file to write", metavar="PROJECT", flags=("-o", "--output"), writes=True),
    ] = None
    replaces: Annotated[bool, Argument("replace PROJECT if it exists", flags=("--force",), is_for_people=True)] = False

    @property
    def size_bytes(self) -> int | None:
        """The largest size; None where any is in the budget. Raises `UserError`."""
        return read_bytes(self.size) if self.size.strip() else None

    def check(self) -> None:
        """Refuse a budget that is none, and an output that is no project, or exists."""
        super().check()
        numbers = {"--size": self.size_bytes, "--time": self.time, "--accuracy-loss": self.accuracy_loss}
        for flag, value in numbers.items():
            if value is not None and not (math.isfinite(value) and value >= 0 and (value or "loss" in flag)):
                raise UserError(f"{flag}: expected a number above 0, received {value:g}.")
        for flag, count, most in (
            ("--epochs", self.epochs, MOST_EPOCHS),
            ("--candidates", self.candidates, MOST_CANDIDATES),
        ):
            if not 1 <= count <= most:
                raise UserError(f"{flag}: expected a number from 1 to {most:,}, received {count:,}.")
        if self.pick is not None and self.output is None:
            raise UserError("--pick says which candidate is written, and -o where.", hint="Add -o PROJECT.")
        refuse_output(self.output, replaces=self.replaces)


class Candidate(TypedDict):
    """A smaller network, as an ONNX file."""

    number: int
    """0: the network as it was."""
    amount: float
    """Share of the channels that was removed."""
    precision: str
    """`float32` or `int8`."""
    bytes: int
    milliseconds: float
    """Median time per sample in ONNX Runtime on the CPU."""
    score: float
    """The metric that is compared."""
    loss: float
    """Loss of score: in percentage points, or in percent for a metric without an upper end."""
    metrics: Mapping[str, float]
    parameters: int
    flops: int
    """Floating-point operations per sample."""
    is_in_budget: bool
    is_on_front: bool
    """Whether no other candidate is as good in size, time and score, and better in one."""


@dataclass(frozen=True, kw_only=True)
class CompressResult(Result):
    """The candidates of a search, and the best one."""

    metric: str
    split: str
    """Split that the metric is measured on."""
    rows: list[Candidate]
    """By amount; the first is the network as it was."""
    best: int
    """Number of the best candidate in the budget; of the nearest one where none is in it."""
    is_met: bool
    reason: str
    """The outcome in a sentence."""
    notes: list[str]
    folder: str
    """Where the candidates are kept, for `pick`."""
    project: str
    """Project that was written; empty without one."""
    onnx: str
    """ONNX file beside it, for a candidate in 8 bits."""


def in_words(row: Candidate, metric: str) -> str:
    """Return a candidate as `number 2: 12 KiB, 0.08 ms, accuracy 96.4 %`."""
    figures = f"{format_bytes(row['bytes'])}, {format_number(row['milliseconds'])} ms"
    return f"number {row['number']}: {figures}, {in_a_line(metric)} {format_score(metric, row['score'])}"


def text(request: CompressRequest, result: CompressResult) -> Iterator[Line]:
    """Yield the network as it was and the front, and what was written."""
    head = ("number", "removed", "numbers", in_a_line(result.metric), "loss", "size", "time", "parameters", "")
    cells = [head]
    for row in result.rows:
        if row["is_on_front"] or not row["number"]:
            is_best = row["number"] == result.best
            remark = ("best" if result.is_met else "nearest") if is_best else "in budget" if row["is_in_budget"] else ""
            cells.append(
                (
                    str(row["number"]),
                    format_percent(row["amount"], 0),
                    row["precision"],
                    format_score(result.metric, row["score"]),
                    f"{row['loss']:+.1f} %",
                    format_bytes(row["bytes"]),
                    f"{row['milliseconds']:.3g} ms",
                    f"{row['parameters']:,}",
                    remark,
                )
            )
    yield Table(cells, right=(0, 1, *range(3, 8)))
    yield f"on the {result.split} split; time per sample in ONNX Runtime on the CPU"
    yield from (f"note: {note}" for note in result.notes)
    yield result.reason
    if result.project:
        yield f"wrote {request.output}"
    if result.onnx:
        yield f"wrote {result.onnx}"


def failure(result: CompressResult) -> Mapping[str, Any]:
    """Return the error of a budget that no candidate fits."""
    return {} if result.is_met or result.project else {"error": {"code": "budget", "message": result.reason}}


OPERATION = Operation(
    name="compress",
    effect="reads",
    request=CompressRequest,
    results=(CompressResult,),
    function="netwright.engine.analysis.compression:compress",
    description=(
        "Search a smaller network within a budget of size, time per sample on this machine, and accuracy. Channels are "
        "removed, little by little, and each candidate trains on for a few epochs with the data of the model, where it "
        "is a run also on its answers. Each is measured as an ONNX file, in float32 and in 8 bits. Prints the front: "
        "the candidates that no other one beats. With -o it writes the best one as a project with weights, and its "
        "ONNX file where it is in 8 bits; with --pick another one of an earlier search. "
        f"Exits {EXIT_REQUIREMENT} where no candidate is in the budget."
    ),
    text=text,
    doing="compressing",
    may_wait=True,
    reads_data=True,
    exit_code=lambda result: EXIT_REQUIREMENT if failure(result) else EXIT_DONE,
    failure=failure,
)
