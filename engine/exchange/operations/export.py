"""`export MODEL`: a network leaves as ONNX, checked against ONNX Runtime, or for PyTorch."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from netwright.engine.core.errors import FieldErrors, UserError
from netwright.engine.operations.model_request import ModelPath
from netwright.engine.operations.operation import (
    WEIGHTS,
    Argument,
    Line,
    Operation,
    Request,
    Result,
    Table,
    Trust,
    WeightsKept,
)
from netwright.engine.project.export_options import OnnxOptions, flag
from netwright.engine.project.export_report import layer_rows, measured_rows, measured_where

FORMATS = {".onnx": "onnx", ".py": "pytorch", ".pt2": "pt2"}
"""Formats by the suffix of the file."""
COMPARED_WITH = {"onnx": "ONNX Runtime", "pt2": "torch.export.load in another process"}
MOST_CLASSES = 12
"""Number of class names that are printed; the file has all."""
WITH_TRAINING = "write a training script beside a PyTorch file, which gives the losses of the run"

WITH_GENERATION = "write a script beside an ONNX or PyTorch file that writes on with a language model, by itself"


@dataclass(frozen=True, kw_only=True)
class ExportRequest(Request):
    """A network, the file that it is written to, and how."""

    source: ModelPath
    format: Annotated[
        str,
        Argument(
            "the format to write; default: by the suffix of FILE, .onnx, .py or .pt2", choices=tuple(FORMATS.values())
        ),
    ] = ""
    output: Annotated[Path, Argument("where to write it", metavar="FILE", flags=("-o", "--output"), writes=True)]
    weights: Annotated[WeightsKept, Argument("weights of a run (default: its result)", choices=WEIGHTS)] = ""
    with_training: Annotated[bool, Argument(WITH_TRAINING)] = False
    with_generation: Annotated[bool, Argument(WITH_GENERATION)] = False
    base: Annotated[
        Path | None, Argument("folder that the files of a project lie in, if not the project's own", metavar="DIR")
    ] = None
    force: Annotated[bool, Argument("replace files beside FILE, such as its weights", is_for_people=True)] = False
    onnx: Annotated[
        Mapping[str, str], Argument("options of a file of ONNX", group="options of ONNX", record=OnnxOptions)
    ] = field(default_factory=dict)
    trusted: Trust = False

    @property
    def kind(self) -> str:
        """The format, by default that which the suffix of the file names. Raises `UserError`."""
        if (kind := self.format or FORMATS.get(self.output.suffix.lower())) is not None:
            return kind
        received = f"'{self.output.suffix}'" if self.output.suffix else "no suffix"
        raise UserError(
            f"export: the name of the file, {self.output.name}, does not say the format: it has {received}.",
            hint=f"Name it with one of {', '.join(FORMATS)}, or say --format onnx, pytorch or pt2.",
            code="usage",
        )

    @property
    def onnx_options(self) -> OnnxOptions:
        """The options of ONNX. Raises `UserError`."""
        values = {}
        for name, written in self.onnx.items():
            if self.kind != "onnx" and name != "temperature":
                raise UserError(f"{flag(name)} is an option of ONNX; the format is {self.kind}.", code="usage")
            values[name] = OnnxOptions.fields[name].parse(written)
        options = OnnxOptions(**values)
        if problems := options.problems():
            raise FieldErrors(problems)
        return options

    def check(self) -> None:
        """Refuse options that do not suit the format."""
        assert self.onnx_options


class LayerDifference(TypedDict):
    """A layer's output in an ONNX file beside torch's."""

    layer: str
    """Path of names, such as `block/2/conv`."""
    value: str
    """Value in the file that holds the output."""
    difference: float
    relative: float
    """Difference of the worst channel, divided by its spread over the samples."""
    agrees: bool
    is_first: bool
    """Whether it is the first layer that differs by more than is accepted."""
    absorbed: list[str]
    """Layers after it that the file computes within it."""


class Measured(TypedDict):
    """Accuracy, size and speed of an exported network in torch, or in a precision in ONNX Runtime."""

    runs_in: str
    """`torch` or `ONNX Runtime`."""
    precision: str
    size_bytes: int
    """Size of the weights in torch, or of the file."""
    metrics: Mapping[str, float]
    """Metrics of the run on `samples` samples of `split`; empty without data."""
    milliseconds: Mapping[str, float]
    """Median time of a call on the CPU, by batch size."""
    split: str
    samples: int
    threads: int


@dataclass(frozen=True, kw_only=True)
class ExportResult(Result):
    """An exported network."""

    path: str
    format: Literal["onnx", "pytorch", "pt2"]
    largest_difference: float | None
    """Largest difference of the file, run by ONNX Runtime or by torch, from the network; null if not compared. For
    another precision than float32 relative to the largest output."""
    samples: int
    """Number of samples that were compared."""
    samples_kind: str
    layers: list[LayerDifference]
    """Empty without `--layers`."""
    precision: str
    opset: int | None
    """Null unless the format is ONNX."""
    size_bytes: int | None
    """Size of the ONNX file, with the weights beside it."""
    measured: list[Measured]
    """Torch, the file in float32 and in the precision asked for; empty without `--measure`."""
    inputs: list[Mapping[str, Any]]
    """What each input takes: name, shape, range and preparation."""
    classes: list[str]
    notes: list[str]
    code: str
    """Python program that loads the file and runs it."""


def text(request: ExportRequest, result: ExportResult) -> Iterator[Line]:
    """Yield what the file takes, and how close it is."""
    yield f"wrote {request.output}"
    for given in result.inputs:
        yield f"input {given['name']}: {given['text']}"
        yield from (f"  {line}" for line in given["preparation"])
    if result.classes:
        shown, more = ", ".join(result.classes[:MOST_CLASSES]), len(result.classes) - MOST_CLASSES
        yield f"classes, in order: {shown}{f' and {more:,} more' if more > 0 else ''}"
    over = f"over {result.samples:,} {result.samples_kind} samples"
    if result.largest_difference is not None and result.precision != "float32":
        differs = f"differs by at most {result.largest_difference:.2g} of the largest output"
        yield f"ONNX Runtime in {result.precision} {differs} {over}; in float32 the network agrees"
    elif result.largest_difference is not None:
        yield f"{COMPARED_WITH[result.format]} agrees: largest difference {result.largest_difference:.2g} {over}"
    if result.measured:
        rows = measured_rows(result.measured)
        yield Table(rows, right=range(1, len(rows[0])))
        yield f"({measured_where(result.measured)})"
    if result.layers:
        yield Table(layer_rows(result.layers), right=(1, 2))
    yield from (f"note: {note}" for note in result.notes)


def error_text(error: UserError) -> Iterator[Line]:
    """Yield the layers whose outputs differ, where that is why there is no file."""
    if "layers" in error.data:
        yield Table(layer_rows(error.data["layers"]), right=(1, 2))


OPERATION = Operation(
    name="export",
    effect="writes",
    request=ExportRequest,
    results=(ExportResult,),
    function="netwright.engine.exchange.export:export_file",
    description=(
        "Write a network as ONNX (compared with ONNX Runtime on samples), as one PyTorch file, or as a program of "
        "torch.export (pt2, compared on samples in a process without Netwright). "
        "A project without weights gives a network with initial ones."
    ),
    text=text,
    error_text=error_text,
    reads_data=True,
)
