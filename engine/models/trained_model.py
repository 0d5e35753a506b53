"""A model, ready to compute: network and weights, what its inputs and outputs mean, and where it comes from."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

import torch
from torch import fx, nn

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted
from netwright.engine.data.loading.batches import Tensors, as_tuple
from netwright.engine.data.loading.datasets import has_varying_lengths
from netwright.engine.lowering.cached_steps import CachedNetwork, cached
from netwright.engine.lowering.fitted import trained_preparation
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.modules.attention import PositionEmbedding
from netwright.engine.lowering.weights_folder import WEIGHTS, fill, sha256
from netwright.engine.network.analysis import Analysis, analyse
from netwright.engine.network.network import Network
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.project.bindings import Wanted, folding, wanted_of
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.preparation import Preparation
from netwright.engine.project.project import Project
from netwright.engine.runs.checkpoint_files import TENSORS
from netwright.engine.runs.data_record import DataRecord, read_record
from netwright.engine.runs.folder import RunFolder
from netwright.engine.training.precision import Precision

DEVICE = torch.device("cpu")
MOST_NAMED = 6
AHEAD = 2
"""Batches per replica that are read before the answer of the first one is taken."""

Batch = TypeVar("Batch")


@dataclass(frozen=True, eq=False)
class Model:
    """A network with its weights, from a run, a project, or a file of another program. `netwright.engine.models
    .open_model` reads it."""

    path: Path
    """Where it comes from, as it was named."""
    project: Project
    base: Path
    """Folder that the files of the project, such as its data, are relative to."""
    weights: dict[str, torch.Tensor] | None
    """None for a project that starts from random numbers."""
    title: str
    code_base: Path
    """Folder of the project's own code: for a run the run folder, which holds copies."""
    code: Mapping[str, Path] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Origin of the weights, in words."""
    dataset: DatasetInfo | None = None
    """The facts of the data that it was trained on; None where nothing says them."""
    record: Preparation | None = None
    """How the data is prepared for it, as it was stored with the weights."""
    assumed: tuple[str, ...] = ()
    """The assumptions about it that a user should know, a sentence each; empty for a run."""
    warnings: tuple[str, ...] = ()
    """Those of `assumed` that hold whatever the data: what its import and its weights lack."""
    classes: tuple[str, ...] = ()
    """Names of its classes, as the user gives them."""
    is_described: bool = True
    """Whether the meaning of inputs and outputs is stored with it; else data that it is asked about says it."""
    run: RunFolder | None = None
    """The run that it comes from, which keeps what is computed about it."""
    kept: str = ""
    """`best` or `last`, or the folder of a checkpoint: which weights of a run these are; else the name of the file."""
    devices: tuple[torch.device, ...] = (DEVICE,)
    """Where the network computes, several times the same for the CPU divided by cores; what it takes and gives is on
    the CPU."""

    @property
    def device(self) -> torch.device:
        """The first of its devices, which computes what is not divided among them."""
        return self.devices[0]

    @property
    def network(self) -> Network:
        """The network."""
        return self.project.network

    @cached_property
    def facts(self) -> DatasetInfo:
        """The facts of the data that it was trained on. Raises `UserError` where nothing says them."""
        if self.dataset is None:
            raise UserError(f"The run in {self.path} did not store what its data is like. Train again to have it.")
        return self.dataset

    @cached_property
    def preparation(self) -> Preparation:
        """How the data is prepared for it, as it was stored or as it follows from the data. Raises `UserError`."""
        return self.record or trained_preparation(self.project, self.facts, self.weights or {})

    def refuse_without_targets(self) -> None:
        """Raise `UserError` where nothing says what the outputs mean."""
        if not self.preparation.targets:
            subject = "The run" if self.run is not None else f"{self.path}"
            raise UserError(f"{subject} did not store what its outputs mean. Train again to have it.")

    @cached_property
    def data_record(self) -> DataRecord | None:
        """The record of its data and splits; None where it comes from no run, or from an older one."""
        return read_record(self.run.path) if self.run is not None else None

    def kept_in(self, name: str) -> Path | None:
        """Return the folder of a run that answers about it are kept in; None where it comes from no run."""
        return self.run.path / name if self.run is not None else None

    def weights_folder(self) -> Path:
        """Return the folder of the weights in a run, whose preparation can be changed. Raises `UserError` where there
        is none."""
        if self.run is None:
            raise UserError(
                f"{self.path} is no run: thresholds and temperature are stored in the folder of a run.",
                hint="Name the run, or leave out what stores or removes them.",
            )
        return self.run.path / self.kept

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the weights of a run."""
        return sha256(self.weights_folder() / (WEIGHTS if self.kept in ("best", "last") else TENSORS))

    @cached_property
    def analysis(self) -> Analysis:
        """Sizes of all layers."""
        return analyse(self.network)

    @cached_property
    def wanted(self) -> tuple[Wanted, ...]:
        """Outputs of the network with their targets."""
        return wanted_of(self.network, self.analysis, self.facts, is_padded=self.is_padded)

    @property
    def is_padded(self) -> bool:
        """Whether sequences were padded in training, with padding that no layer sees."""
        options = self.project.training
        is_masked = options.sequence_padding == "masked"
        return is_masked and has_varying_lengths(options, self.network, self.facts)

    @cached_property
    def module_names(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the submodules of each layer."""
        return prefixes(self.network, self.analysis)

    @cached_property
    def precision(self) -> Precision:
        """Precision that the network was trained in: double where its weights are, else single."""
        kinds = {value.dtype for value in (self.weights or {}).values() if value.is_floating_point()}
        is_double = kinds == {torch.float64} and self.project.training.precision == "fp64"
        return Precision("fp64" if is_double else "fp32", self.device, SingleProcess())

    @cached_property
    def scoring(self) -> nn.Module:
        """The network as training evaluates it: it gives logits, and takes lengths where sequences are padded."""
        module = build(self.network, self.analysis, logits=folding(self.wanted), lengths=self.is_padded)
        return self.filled(module)

    @cached_property
    def answering(self) -> nn.Module:
        """The network as it was designed: it gives probabilities where it ends in a softmax."""
        return self.filled(build(self.network, self.analysis))

    @property
    def longest(self) -> int:
        """The steps that all layers have positions for; 0 where no layer has such a limit."""
        modules = self.answering.modules()
        return min((layer.table.num_embeddings for layer in modules if isinstance(layer, PositionEmbedding)), default=0)

    def cached(self, most: int) -> CachedNetwork | None:
        """Return `answering` as a network that computes its newest steps alone, of at most `most`; None where it has
        layers that do not allow it."""
        module = self.answering
        return cached(module, most) if isinstance(module, fx.GraphModule) else None

    def filled(self, module: nn.Module) -> nn.Module:
        """Return a module of the network with its weights, as it is evaluated."""
        module = self.precision.network(module)
        fill(module, self.weights or {})
        return module.eval().to(self.device)

    def call(self, module: nn.Module, inputs: Tensors, device: torch.device | None = None) -> Tensors:
        """Return the outputs of a module for inputs in the order of the network. The module is on the first of its
        devices, or on the one named. Gradients flow back to the inputs."""
        placed = (x.to(device or self.device, non_blocking=True) for x in inputs)
        return tuple(x.to(DEVICE) for x in as_tuple(self.precision.call(module, *placed)))

    def replicas(self, module: nn.Module) -> "Replicas":
        """Return a module of the network on all devices."""
        return Replicas(self, module)

    @torch.inference_mode()
    def outputs(self, module: nn.Module, inputs: Tensors, device: torch.device | None = None) -> Tensors:
        """Return the outputs of `call`, without gradients."""
        return self.call(module, inputs, device)


class Replicas:
    """A module of a model on each of its devices, which compute whole batches at once, in a thread each: torch lets go
    of Python's lock while it computes."""

    def __init__(self, model: Model, module: nn.Module) -> None:
        self._model, self.count = model, len(model.devices)
        self._threads = torch.get_num_threads()
        self._idle = SimpleQueue[tuple[nn.Module, torch.device]]()
        for device in model.devices:
            self._idle.put((module if self.count == 1 else _replica(module, device), device))

    def outputs(self, inputs: Tensors) -> Tensors:
        """Return the outputs for inputs in the order of the network, from the next replica that is idle. May be called
        from several threads; on several devices, from those of a `pool`."""
        module, device = self._idle.get()
        try:
            return self._model.outputs(module, inputs, device)
        finally:
            self._idle.put((module, device))

    @contextmanager
    def pool(self, count: int) -> Iterator[ThreadPoolExecutor]:
        """Give so many threads, of which each that computes has its share of the cores."""
        share = max(1, self._threads // self.count)
        try:
            with ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(share,)) as pool:
                yield pool
        finally:
            torch.set_num_threads(self._threads)  # else all later threads of the process begin with the share


def outputs_in_order(
    model: Model, module: nn.Module, batches: Iterable[Batch], inputs_of: Callable[[Batch], Tensors]
) -> Iterator[tuple[Batch, Tensors]]:
    """Yield each batch with the outputs of a module of the model, in the order of the batches, computed on all devices
    of the model. Batches are read, and `inputs_of` is called, in the thread of the caller."""
    replicas = model.replicas(module)
    if replicas.count == 1:
        yield from ((batch, replicas.outputs(inputs_of(batch))) for batch in batches)
        return
    waiting = deque[tuple[Batch, Future[Tensors]]]()
    with replicas.pool(replicas.count) as pool:
        try:
            for batch in batches:
                waiting.append((batch, pool.submit(replicas.outputs, inputs_of(batch))))
                if len(waiting) >= AHEAD * replicas.count:
                    batch, future = waiting.popleft()
                    yield batch, future.result()
            for batch, future in waiting:
                yield batch, future.result()
        finally:
            for _, future in waiting:
                future.cancel()


def _replica(module: nn.Module, device: torch.device) -> nn.Module:
    """Return a copy of a module on a device. On the CPU it has the same parameters, but buffers of its own, which a
    pass may change."""
    shared = {id(x): x for x in module.parameters()} if device == DEVICE else {}
    return deepcopy(module, shared).to(device)


def refuse_other_facts(model: Model, facts: DatasetInfo) -> None:
    """Raise `UserError` where the data of a project is not as that of the weights which it starts from: its answers
    would be about other classes or columns."""
    differences = [
        f"{quoted(own.name)} has {_names(other.classes)} in the data, {_names(own.classes)} in the weights"
        for own, other in zip(model.facts.targets, facts.targets, strict=False)
        if own.classes != other.classes
    ]
    differences += [
        f"{quoted(own.name)} has the columns {_names(other.columns)} in the data, {_names(own.columns)} in the weights"
        for own, other in zip(model.facts.inputs, facts.inputs, strict=False)
        if own.columns and own.columns != other.columns
    ]
    if differences:
        raise UserError(
            f"The data of {model.path} is not that of its weights: {'; '.join(differences)}.",
            hint="Train the project first, or name data for the weights as they are (--data).",
            code="invalid_data",
        )


def _names(names: Sequence[str]) -> str:
    text = ", ".join(map(quoted, names[:MOST_NAMED])) or "no classes"
    return f"{text} and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else text
