"""What computes predictions: the network of a run, or an ONNX file that Netwright exported, which needs no torch."""

import contextlib
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from engine.core.errors import UserError
from engine.core.extras import import_extra
from engine.core.fields import printable
from engine.data.sources.source import Array, Arrays
from engine.project.preparation import Preparation

if TYPE_CHECKING:
    from engine.evaluation.trained import TrainedNetwork

ONNX = ".onnx"
MOST_THREADS = 4


class Predictor(Protocol):
    """Computes the outputs of a network for prepared inputs."""

    record: Preparation

    def outputs(self, inputs: Arrays) -> list[Array]:
        """Return the outputs in the order of the record, samples first."""


def open_predictor(path: Path, *, weights_kept: str = "", trusted: bool = False) -> Predictor:
    """Return the predictor of a run folder or an ONNX file. Raises `UserError`."""
    if path.suffix.lower() == ONNX and not path.is_dir():
        if weights_kept:
            raise UserError(f"{path} is an ONNX file, which has no {weights_kept} weights. Name the folder of a run.")
        return OnnxPredictor(path)
    from engine.evaluation.trained import TrainedNetwork

    return RunPredictor(TrainedNetwork.open(path, weights_kept=weights_kept, trusted=trusted))


_kept: dict[Hashable, Predictor] = {}


def kept_predictor(path: Path, weights_kept: str = "") -> Predictor:
    """Return the predictor of a run folder or an ONNX file, the one of before where its files are the same. Raises
    `UserError`."""
    stamps = []
    for file in (path, *(path / name / "manifest.json" for name in ("best", "last")), path / "run.json"):
        with contextlib.suppress(OSError):
            status = file.stat()
            stamps.append((str(file), status.st_mtime_ns, status.st_size, status.st_ino))
    key = (str(path), weights_kept, tuple(stamps))
    if key not in _kept:
        _kept.clear()  # one at a time: networks are large
        _kept[key] = open_predictor(path, weights_kept=weights_kept)
    return _kept[key]


class RunPredictor:
    """The network of a run, computed by torch on the CPU."""

    def __init__(self, trained: "TrainedNetwork") -> None:
        self.record = trained.record
        self._trained = trained
        if not self.record.targets:
            raise UserError("The run did not store what its outputs mean. Train again to have it.")

    def outputs(self, inputs: Arrays) -> list[Array]:
        """Return the outputs in the order of the record, samples first."""
        import torch

        trained = self._trained
        given = tuple(torch.from_numpy(np.ascontiguousarray(array)) for array in inputs)
        if trained.precision.name == "fp64":
            given = tuple(x.double() if x.dtype == torch.float32 else x for x in given)
        return [output.numpy() for output in trained.outputs(trained.answering, given)]


class OnnxPredictor:
    """An ONNX file with the preparation in its metadata, computed by ONNX Runtime."""

    def __init__(self, path: Path) -> None:
        runtime = import_extra("onnxruntime", "onnx", "Predictions from ONNX files")
        if not path.exists():
            raise UserError(f"There is no file {path}.", code="not_found")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = MOST_THREADS
        options.log_severity_level = 4
        try:
            self._session: Any = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime has a dozen classes of errors without a common one
            raise UserError(f"{path} cannot be loaded by ONNX Runtime: {_first_line(error)}.") from None
        text = self._session.get_modelmeta().custom_metadata_map.get("preparation")
        if not text:
            raise UserError(
                f"{path} does not say how its inputs are prepared: Netwright did not export it, or without data. "
                "Import it into a project (netwright-engine import), or export the run again."
            )
        self.record = Preparation.parse(text, f"The preparation in {path}")
        self._path = path
        self._names = [one.name for one in self._session.get_inputs()]
        if len(self._names) != len(self.record.inputs):
            raise UserError(
                f"{path} takes {len(self._names)} inputs; its preparation names {len(self.record.inputs)}. "
                "Export the run again."
            )

    def outputs(self, inputs: Arrays) -> list[Array]:
        """Return the outputs in the order of the record, samples first. Raises `UserError`."""
        order = {one.name: array for one, array in zip(self.record.inputs, inputs, strict=True)}
        if set(order) != set(self._names):
            order = dict(zip(self._names, inputs, strict=True))
        try:
            found: Sequence[Array] = self._session.run(None, order)
        except Exception as error:
            raise UserError(f"{self._path} cannot be computed by ONNX Runtime: {_first_line(error)}.") from None
        return list(found)


def _first_line(error: Exception) -> str:
    return printable(str(error).strip().partition("\n")[0][:300])
