"""What the window asks about trained networks: samples to look at, and a network to predict with."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from netwright.engine.operations.operation import Argument, Request, RunDir, WeightsKept, of_window


@dataclass(frozen=True, kw_only=True)
class SamplesRequest(Request):
    """Show samples of an evaluation."""

    shares = "path"

    path: RunDir
    folder: Annotated[Path, Argument("where pictures are written")]
    split: Annotated[str, Argument("split of the data of the run")] = ""
    source: Annotated[str, Argument("other data")] = ""
    settings: Annotated[tuple[str, ...], Argument("options of the other data")] = ()
    weights: WeightsKept = ""
    output: Annotated[int, Argument("place of the output")] = 0
    count: Annotated[int, Argument("number of samples")] = 24
    list: Annotated[str, Argument("order of the samples", choices=("worst", "uncertain"))] = ""
    cell: Annotated[tuple[Any, ...] | None, Argument("true and predicted class of the samples")] = None
    indices: Annotated[tuple[int, ...] | None, Argument("numbers of the samples in the source")] = None
    group: Annotated[tuple[Any, ...] | None, Argument("what a group of samples goes by, and its name")] = None


@dataclass(frozen=True, kw_only=True)
class PredictorRequest(Request):
    """Load the network of a run or an ONNX file for `predict`."""

    shares = "path"

    path: Annotated[Path, Argument("the folder of a run, or an ONNX file")]
    weights: WeightsKept = ""
    pixels: Annotated[str, Argument("values of the pixels of an ONNX file from elsewhere")] = ""
    classes: Annotated[tuple[str, ...], Argument("names of the classes of an ONNX file from elsewhere")] = ()


ROOM = "netwright.engine.analysis.request"
SAMPLES = of_window("samples", SamplesRequest, f"{ROOM}:samples")
PREDICTOR = of_window("predictor", PredictorRequest, f"{ROOM}:predictor")
