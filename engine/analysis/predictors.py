"""Predictors: the network of a model, or an ONNX file, which needs no torch."""

import contextlib
from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.foreign_file import HARM
from netwright.engine.core.part_registry import required
from netwright.engine.data.sources.image_file import BadPictureError
from netwright.engine.data.sources.image_file import read as read_image
from netwright.engine.data.sources.source import Array, Arrays, locate, refuse_too_large
from netwright.engine.models.assumed import IMAGENET_MEAN, IMAGENET_STD, TRIED_SIZE, Port, assumed_input, assumed_target
from netwright.engine.project.preparation import InputPreparation, Preparation
from netwright.engine.project.preparing import group_column_of, picture_span
from netwright.engine.project.sources.images import is_image
from netwright.engine.runs.model_files import Assumptions, ModelChoice

if TYPE_CHECKING:
    from netwright.engine.lowering.cached_steps import CachedNetwork
    from netwright.engine.models.trained_model import Model, Replicas

ONNX = ".onnx"
WHITE = 255.0
READ_AHEAD = 2
"""Batches per device that are prepared while others are computed."""
COPIES = 4
"""Times that the inputs of a sample are in memory: prepared, on the way to ONNX Runtime, and there."""


class Predictor(Protocol):
    """Computes the outputs of a network for prepared inputs."""

    record: Preparation
    season: int
    """Period of the series that are forecast, in steps; 0 where it is not known."""
    assumed: tuple[str, ...]
    """The assumptions about a network from elsewhere, a sentence each; empty where its preparation is stored."""

    longest: int
    """Steps that its layers have positions for; 0 where there is no such limit, or it is not known."""

    num_devices: int
    """Devices that compute batches at the same time, each for a thread of `pool`."""

    def outputs(self, inputs: Arrays) -> list[Array]:
        """Return the outputs in the order of the record, samples first."""

    def pool(self, count: int) -> AbstractContextManager[ThreadPoolExecutor]:
        """Return so many threads, in which samples are prepared and, on several devices, computed."""

    def target_picture(self, sample: Path, shape: tuple[int, ...]) -> Array | None:
        """Return the target (C, H, W) of a picture file that is one of the data it was trained on, else None."""

    def cached(self, most: int) -> "CachedNetwork | None":
        """Return the network as one that computes its newest steps alone, of at most so many; None where that cannot
        be."""


class PreparedLater(Protocol):
    """Samples that are read and prepared in a thread."""

    def whole(self) -> Arrays:
        """Return all of them, prepared. Raises `UserError`."""


Later = TypeVar("Later", bound=PreparedLater)
Computed = tuple[Arrays, list[Array] | None]


def ahead(predictor: Predictor, batches: Iterator[Later]) -> Iterator[tuple[Later, Future[Computed]]]:
    """Yield batches whose preparation is under way, the next ones as well; with their outputs where several devices
    compute them."""

    def compute(batch: Later) -> Computed:
        inputs = batch.whole()
        return inputs, predictor.outputs(inputs) if predictor.num_devices > 1 else None

    waiting = deque[tuple[Later, Future[Computed]]]()
    most = READ_AHEAD * predictor.num_devices
    with predictor.pool(most) as pool:
        try:
            for batch in batches:
                waiting.append((batch, pool.submit(compute, batch)))
                if len(waiting) > most:
                    yield waiting.popleft()
            while waiting:
                yield waiting.popleft()
        finally:
            for _, future in waiting:
                future.cancel()


def open_predictor(named: ModelChoice | Path, *, in_process: bool = False) -> Predictor:
    """Return the predictor of a model. An ONNX file is computed by ONNX Runtime, on the CPU, in a child process; with
    `in_process` it is opened there first, and computed in this one. Raises `UserError`."""
    choice = named if isinstance(named, ModelChoice) else ModelChoice(named)
    path = choice.path
    if path.suffix.lower() == ONNX and not path.is_dir():
        if choice.weights:
            hint = "Name the folder of a run."
            raise UserError(f"{path} is an ONNX file, which has no {choice.weights} weights.", hint=hint)
        if choice.device not in ("auto", "cpu"):
            raise UserError(f"{path} is an ONNX file, which is computed on the CPU.", hint="Leave out the device.")
        predictor = OnnxPredictor(path, choice.assumptions)
        if in_process:
            predictor.move_here()
        return predictor
    from netwright.engine.models.open_model import open_model

    return ModelPredictor(open_model(choice))


_kept: dict[Hashable, Predictor] = {}


def kept_predictor(choice: ModelChoice) -> Predictor:
    """Return the predictor of a model as `open_predictor` does, the one of before where its files are the same. Raises
    `UserError`."""
    key = (choice, choice.stamps)
    if key not in _kept:
        _kept.clear()  # one at a time: networks are large
        _kept[key] = open_predictor(choice)
    return _kept[key]


class ModelPredictor:
    """The network of a model, computed by torch."""

    def __init__(self, trained: "Model") -> None:
        group_column = trained.preparation.group_column or group_column_of(trained.project.data)
        self.record = replace(trained.preparation, group_column=group_column)  # older runs did not store it
        forecast = trained.facts.forecast
        self.season = max(0, self.record.season) or (forecast.season if forecast is not None else 0)
        self.assumed = trained.assumed
        self._trained, self.longest = trained, trained.longest
        self.num_devices = len(trained.devices)
        trained.refuse_without_targets()

    @cached_property
    def _replicas(self) -> "Replicas":
        return self._trained.replicas(self._trained.answering)

    def pool(self, count: int) -> AbstractContextManager[ThreadPoolExecutor]:
        """Return so many threads, of which each computes with its share of the cores."""
        return self._replicas.pool(count)

    def cached(self, most: int) -> "CachedNetwork | None":
        """Return the network as one that computes its newest steps alone; None where it has layers that look at other
        steps in ways that are not known."""
        return self._trained.cached(most)

    def outputs(self, inputs: Arrays) -> list[Array]:
        """Return the outputs in the order of the record, samples first."""
        import torch

        trained = self._trained
        tensors = tuple(torch.from_numpy(np.ascontiguousarray(array)) for array in inputs)
        if trained.precision.name == "fp64":
            tensors = tuple(x.double() if x.dtype == torch.float32 else x for x in tensors)
        return [output.numpy() for output in self._replicas.outputs(tensors)]

    def target_picture(self, sample: Path, shape: tuple[int, ...]) -> Array | None:
        """Return the target (C, H, W) of a picture file that is one of the data it was trained on, else None."""
        data, base = self._trained.project.data, self._trained.base
        span = picture_span(data)
        if not span or locate(data.path, base).resolve() != sample.parent.resolve():
            return None
        with contextlib.suppress(OSError, BadPictureError):
            folder = locate(data.target_images, base)
            names = (file for file in folder.iterdir() if file.stem == sample.stem and is_image(file.name))
            if (file := next(names, None)) is not None:
                picture = read_image(file, "grey" if shape[0] == 1 else "rgb", *shape[1:])
                return np.asarray(picture * (span[1] / WHITE), np.float32)
        return None


class OnnxPredictor:
    """An ONNX file, computed by ONNX Runtime: with the preparation in its metadata, or a network from elsewhere, of
    which sizes and types say what it takes (`assumed`)."""

    def __init__(self, path: Path, assumptions: Assumptions | None = None) -> None:
        if not path.exists():
            raise UserError(f"There is no file {path}.", code="not_found")
        self._path, self._session = path, required("functions", "onnx_session")(path)
        self.season = self.longest = 0
        self.num_devices = 1
        self._ports = [Port(port.name, port.type, port.sizes) for port in self._session.inputs]
        if not self._ports:
            raise UserError(f"{path} takes no inputs, so that it can be asked nothing.")
        self._scaling: tuple[Array, Array] | None = None
        text = self._session.metadata.get("preparation")
        self._is_foreign = not text
        self.assumed: tuple[str, ...] = ()
        if text:
            self.record = Preparation.parse(text, f"The preparation in {path}")
            self._refuse_large(self.record.inputs)
        else:
            self.record = self._assume(assumptions or Assumptions())
        self.season = max(0, self.record.season)  # a stranger may have written it
        if len(self._ports) != len(self.record.inputs):
            raise UserError(
                f"{path} takes {len(self._ports)} inputs; its preparation names {len(self.record.inputs)}. "
                "Export the run again."
            )

    def pool(self, count: int) -> AbstractContextManager[ThreadPoolExecutor]:
        """Return so many threads, in which samples are prepared."""
        return ThreadPoolExecutor(count)

    def cached(self, most: int) -> None:
        """Return None: ONNX Runtime computes all steps."""

    def move_here(self) -> None:
        """Compute in this process from now on. Raises `UserError`."""
        self._session.move_here()

    def _assume(self, assumptions: Assumptions) -> Preparation:
        """Return the record of a network from elsewhere; it computes one empty sample, which shows its outputs."""
        inputs, words = [], []
        for port in self._ports:
            record, notes = assumed_input(port, assumptions)
            inputs.append(record)
            words += notes
        self._refuse_large(inputs)
        if assumptions.pixels == "ImageNet" and inputs[0].sizes[0] == len(IMAGENET_MEAN):
            mean, std = (np.array(values, np.float32).reshape(1, -1, 1, 1) for values in (IMAGENET_MEAN, IMAGENET_STD))
            self._scaling = mean, std
        blank = [
            np.zeros((1, *(size or TRIED_SIZE for size in preparation.sizes)), preparation.dtype)
            for preparation in inputs
        ]
        outputs = self._run(dict(zip((port.name for port in self._ports), blank, strict=True)))
        is_open = any(None in preparation.sizes for preparation in inputs)
        targets = []
        for port, output in zip(self._session.outputs, outputs, strict=True):
            target, notes = assumed_target(Port(port.name, port.type, port.sizes), output, assumptions, is_open=is_open)
            targets.append(target)
            words += notes
        self.assumed = tuple(words)
        return Preparation(kind="onnx", inputs=tuple(inputs), targets=tuple(targets))

    def _refuse_large(self, inputs: Sequence[InputPreparation]) -> None:
        """Raise `UserError` where one sample takes more memory than there is."""
        sizes = [
            prod(size or 1 for size in preparation.sizes) * np.dtype(preparation.dtype).itemsize
            for preparation in inputs
        ]
        refuse_too_large(COPIES * sum(sizes), f"The inputs of {self._path}", HARM)

    def outputs(self, inputs: Arrays) -> list[Array]:
        """Return the outputs in the order of the record, samples first. Raises `UserError`."""
        names = [port.name for port in self._ports]
        order = {preparation.name: array for preparation, array in zip(self.record.inputs, inputs, strict=True)}
        if set(order) != set(names):
            order = dict(zip(names, inputs, strict=True))
        return self._run(order)

    def target_picture(self, sample: Path, shape: tuple[int, ...]) -> Array | None:
        """Return None: a file says nothing of the data that it was trained on."""
        return None

    def _run(self, order: Mapping[str, Array]) -> list[Array]:
        """Compute the outputs; where the file has a fixed number of samples, in parts of so many."""
        count = len(next(iter(order.values())))
        fixed = next((port.sizes[0] for port in self._ports if port.sizes[:1] != (None,) and port.sizes), None)
        if fixed is None or fixed == count:
            return self._computed(order)
        parts = []
        for start in range(0, count, fixed):
            part = {name: array[start : start + fixed] for name, array in order.items()}
            short = fixed - len(next(iter(part.values())))
            padded = {name: np.pad(array, [(0, short), *[(0, 0)] * (array.ndim - 1)]) for name, array in part.items()}
            parts.append([output[: fixed - short] for output in self._computed(padded)])
        return [np.concatenate(pieces) for pieces in zip(*parts, strict=True)]

    def _computed(self, order: Mapping[str, Array]) -> list[Array]:
        outputs: list[Array] = self._session.run({port.name: self._fed(port, order[port.name]) for port in self._ports})
        if self._is_foreign and any(port.has_channels_last for port in self._ports):
            return [output.transpose(0, 3, 1, 2) if output.ndim == len("NHWC") else output for output in outputs]
        return outputs

    def _fed(self, port: Port, array: Array) -> Array:
        """Return an input as the file takes it: of a network from elsewhere its type, the place of the channels, and
        the scaling of pixels."""
        if not self._is_foreign:
            return array
        if self._scaling is not None and array.ndim == len("NCHW"):
            mean, std = self._scaling
            array = (array - mean) / std
        if port.has_channels_last:
            array = array.transpose(0, 2, 3, 1)
        return np.ascontiguousarray(array, port.dtype)
