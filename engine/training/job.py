"""The job of one worker: project, data, device and process group; and the network and data splits it starts from."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.platform import keep_to
from netwright.engine.data.loading.datasets import fed_inputs, has_varying_lengths
from netwright.engine.data.loading.load import loaded
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.data.loading.normalization import fit
from netwright.engine.data.loading.sequences import refuse_long_transcripts, refuse_unknown_indices
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.inputs import InputLayer
from netwright.engine.layers.normalisation import InverseNorm
from netwright.engine.layers.weighted import ParameterOptions
from netwright.engine.lowering.fitted import trained_preparation
from netwright.engine.lowering.initialization import frozen_modules, initialize, parameter_options
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.read_constants import fill_constants
from netwright.engine.lowering.start_weights import fill_from, loaded_layers
from netwright.engine.network.analysis import Analysis, analyse, type_at
from netwright.engine.network.network import Network, Port
from netwright.engine.parallel.process_group import ProcessGroup, SingleProcess, TorchProcessGroup
from netwright.engine.parallel.rendezvous import read_rendezvous
from netwright.engine.parallel.sync_batch_norm import Share, freeze, join_batch_norms
from netwright.engine.parallel.worker_spec import WorkerSpec
from netwright.engine.placement.choose import WorkerPlace
from netwright.engine.project.bindings import Wanted, folding, in_order, wanted_of
from netwright.engine.project.data_hosts import grant_all
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.file import load as load_project
from netwright.engine.project.moved_paths import with_paths
from netwright.engine.project.preparation import Preparation
from netwright.engine.project.project import Project
from netwright.engine.project.target_scale import fitted_outputs
from netwright.engine.project.training import TrainingOptions
from netwright.engine.project.transferred_layers import head_of, with_freezing
from netwright.engine.project.user_code import ready
from netwright.engine.runs.folder import RunFolder, frozen_code
from netwright.engine.runs.info import RunInfo
from netwright.engine.training.fast.accelerations import Accelerations
from netwright.engine.training.losses import fit_inverse
from netwright.engine.training.matlab_convention import join_biases
from netwright.engine.training.reporter import EventSink, NoRequests, NullEventSink, RequestSource
from netwright.engine.user_code import registry

MOST_NAMED = 8
"""Number of fresh layers that the note on loaded weights names."""


@dataclass(frozen=True)
class TrainingJob:
    """All that one worker needs to know in order to train."""

    project: Project
    analysis: Analysis
    device: torch.device
    data: LoadedData | None = None
    """None for a trial with samples that are made up."""
    run_folder: RunFolder | None = None
    """None for a trial, which writes nothing."""
    info: RunInfo = field(default_factory=RunInfo)
    """Contents of `run.json`."""
    group: ProcessGroup = field(default_factory=SingleProcess)
    strategy: str = ""
    """Strategy to use instead of the project's, or empty."""
    checkpoint: int = -1
    """Iteration of the checkpoint to resume from; negative: start from the beginning."""
    rate_factor: float = 1.0
    """Factor for the learn rates of the checkpoint."""
    events: EventSink = field(default_factory=NullEventSink)
    requests: RequestSource = field(default_factory=NoRequests)
    notes: tuple[str, ...] = ()
    """Notes for the user on the preparation of this job."""

    @property
    def options(self) -> TrainingOptions:
        """Return the training options of the project."""
        return self.project.training

    @property
    def folder(self) -> RunFolder:
        """Return the run's folder."""
        assert self.run_folder is not None
        return self.run_folder

    @property
    def dataset(self) -> DatasetInfo:
        """Return sizes, classes and sample counts of the data, as the source gives them."""
        assert self.data is not None
        return self.data.facts

    @property
    def ordered_dataset(self) -> DatasetInfo:
        """Return the same with the targets in the order of the network's outputs."""
        return in_order(self.project.network, self.dataset)

    @property
    def places(self) -> Sequence[WorkerPlace]:
        """Return the place of each worker, by rank; empty for a trial."""
        return self.info.placement.places

    @property
    def shard_weights(self) -> tuple[float, ...]:
        """Return the relative sizes of the workers' shards; empty where they are equal."""
        weights = tuple(place.load for place in self.places)
        return weights if len(set(weights)) > 1 else ()

    @cached_property
    def accelerations(self) -> Accelerations:
        """Return the accelerations that the project switches on."""
        return Accelerations(self.project.run)

    @property
    def reuses_memory(self) -> bool:
        """Return whether memory that a step frees is kept for the next one: on the CPU, where batches have one size.
        Other systems than Linux are not asked, so that no run says that they cannot."""
        if self.device.type != "cpu" or sys.platform != "linux":
            return False
        varies = self.data is not None and has_varying_lengths(self.options, self.project.network, self.dataset)
        return not varies and self.accelerations.uses("memory-reuse")

    @property
    def has_stages(self) -> bool:
        """Return whether each worker computes one pipeline stage of the network."""
        return self.project.environment.strategy == "pipeline" and len(self.places) > 1

    @property
    def starts_from_weights(self) -> bool:
        """Return whether weights of a file come before the first iteration; those of a checkpoint replace them."""
        return bool(self.info.weights) and self.checkpoint < 0

    @property
    def is_padded(self) -> bool:
        """Return whether sequences are padded, with padding that no layer may see."""
        if self.data is None or self.options.sequence_padding != "masked":
            return False
        return has_varying_lengths(self.options, self.project.network, self.dataset)

    @cached_property
    def targets(self) -> tuple[Wanted, ...]:
        """Return each output of the network with the target that it predicts."""
        if self.data is None:
            return ()
        return wanted_of(self.project.network, self.analysis, self.dataset, is_padded=self.is_padded)

    @cached_property
    def module_names(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the submodules of each layer, by the layer's id path."""
        return prefixes(self.project.network, self.analysis)

    @property
    def layers(self) -> tuple[dict[str, tuple[str, ...]], Callable[[str], LayerType]]:
        """Return the submodule names of each layer, and a function from id path to layer type."""
        return self.module_names, partial(type_at, self.project.network)

    def parameter_options(self, network: nn.Module) -> dict[str, ParameterOptions]:
        """Return the options that the layers set for their parameters, by parameter name."""
        return parameter_options(network, *self.layers)

    @property
    def manifest(self) -> dict[str, Any]:
        """Return the metadata that is written beside all weights of this run."""
        return {
            "task": self.dataset.task,
            "classes": list(self.dataset.classes),
            "dataset": self.dataset.write(),
            "layers": {id: list(names) for id, names in self.module_names.items()},
            "project_sha256": self.info.project_sha256,
        }

    def preparation(self, state: Mapping[str, torch.Tensor]) -> Preparation:
        """Return the preparation of data for a network with these weights."""
        return trained_preparation(self.project, self.dataset, state, self.analysis)


def load_job(spec: WorkerSpec) -> TrainingJob:
    """Read the run's project, claim the worker's cores and device, and load the data.

    The process group is joined later, by `join_process_group`: placement trials come before it. Raises `UserError`.
    """
    folder = RunFolder(Path(spec.folder))
    info = folder.read_info()
    project = with_paths(with_freezing(load_project(folder.project).project), spec.paths)
    ready(project, folder.path, frozen_code(folder))
    place = info.placement.places[spec.rank]
    if info.is_undecided:  # a process that has computed with several threads cannot be forked, as this one will be
        torch.set_num_threads(1)
    else:
        keep_to(place.cores)  # before threads are created: they keep the cores they were created on
        torch.set_num_threads(place.threads)
    if project.training.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
    device = torch.device(place.device)
    if device.type != "cpu":
        torch.accelerator.set_device_index(device.index)
    grant_all(project.data)
    data = loaded(project, Path(spec.base or info.base), info.loading, len(info.placement.places))
    analysis = analyse(project.network)
    refuse_unknown_indices(project.network, analysis, data, project.training)
    refuse_long_transcripts(project.network, analysis, data)
    return TrainingJob(
        project,
        analysis,
        device,
        data,
        folder,
        info,
        strategy=spec.strategy,
        checkpoint=spec.checkpoint,
        rate_factor=spec.rate_factor,
    )


def join_process_group(spec: WorkerSpec, job: TrainingJob) -> ProcessGroup:
    """Connect to the other workers of the run. A collective."""
    size = len(job.places)
    if size == 1:
        return SingleProcess()
    rendezvous = read_rendezvous(spec.rendezvous, spec.interface, spec.listener)
    return TorchProcessGroup(
        spec.rank,
        size,
        job.info.placement.backend,
        rendezvous,
        share_memory=job.accelerations.uses("shared-memory") and isinstance(rendezvous, Path),
    )


def initial_network(job: TrainingJob) -> nn.Module:
    """Build the network with initial weights, its normalisation layers fitted to the training split.

    Seeds torch's random numbers; the same job always gives the same weights.
    """
    network, seed = job.project.network, job.options.seed
    torch.manual_seed(seed)
    module = build(network, job.analysis, logits=folding(job.targets), lengths=job.is_padded)
    initialize(module, seed, job.parameter_options(module))
    fill_constants(module, job.project, registry.base())
    loaded: frozenset[str] = frozenset()
    if job.starts_from_weights:
        weights = job.info.weights
        report = fill_from(job.project, job.analysis, module, Path(weights["file"]), weights["sha256"])
        loaded = loaded_layers(report)
    if job.data is not None:
        _fit_normalisation(job, module, loaded)
    return module


def _fit_normalisation(job: TrainingJob, module: nn.Module, loaded: frozenset[str]) -> None:
    """Set shift and scale of the input layers, and of output layers that undo the scaling of targets, except for layers
    that were loaded from weights. Behind a head that starts fresh the targets are measured anew."""
    assert job.data is not None
    network = job.project.network
    # Devices of Apple have no float64, and images are changed at random in single precision.
    can_double = job.device.type != "mps" and not job.options.augments
    training = job.data.split("training", job.data.wider if can_double else ())
    for id, source, number in fed_inputs(network, job.dataset):
        type = network.layers[id].type
        if isinstance(type, InputLayer) and type.is_fitted and id not in loaded:
            values = training.inputs[number] if type.normalized_per == "element" else training.real(number)
            axis = min(source.type.dim("C"), len(values.shape) - 1)  # steps of sequences may stand one per row
            shift, scale = fit(type.normalization_kind, values, axis, type.normalized_per)
            layer = module.get_submodule(job.module_names[id][0])
            layer.load_state_dict({"shift": torch.from_numpy(shift), "scale": torch.from_numpy(scale)})
    for output, id in fitted_outputs(network).items():
        if id in loaded and _head_id(network, network.output_ports[output]) in loaded:
            continue
        inverse = network.layers[id].effective_type
        assert isinstance(inverse, InverseNorm)
        axis = job.analysis.shapes[id].output.dim("C")
        targets = training.targets[job.targets[output].number]
        layer = module.get_submodule(job.module_names[id][0])
        if (forecast := job.dataset.forecast) is None:
            fit_inverse(layer, inverse.kind, targets, axis)
            continue
        # As the columns of the history, each counted once: a network may add what it predicts to their last value.
        columns = training.real(0)[:, : len(forecast.targets)].astype(np.float32)
        shift, scale = (np.tile(part, forecast.horizon) for part in fit(inverse.kind, columns, 1))
        layer.load_state_dict({"shift": torch.from_numpy(shift), "scale": 1.0 / torch.from_numpy(scale)})


def _head_id(network: Network, port: Port) -> str:
    """Return the id path of the head of an output, or an empty text."""
    try:
        return "/".join(head_of(network, port))
    except UserError:
        return ""


def weights_note(job: TrainingJob) -> list[str]:
    """Return a note on the weights that the run started from; none for random numbers."""
    if not job.starts_from_weights:
        return []
    weights = job.info.weights
    fresh = ", ".join(weights["fresh_layers"][:MOST_NAMED]) + (" and more" if weights["fresh"] > MOST_NAMED else "")
    num_loaded = plural(weights["loaded"] + weights["partly"], "layer")
    return [f"Started from {weights['file']}: {num_loaded} loaded{f', fresh: {fresh}' if fresh else ''}."]


def double_inputs(job: TrainingJob, module: nn.Module) -> frozenset[int]:
    """Return the indices of the data's inputs that the network takes in double precision: their normalisation has a
    shift that single precision cannot hold, or all weights are double."""
    shifts = {
        number: getattr(module.get_submodule(names[0]), "shift", None)
        for id, _, number in fed_inputs(job.project.network, job.dataset)
        if (names := job.module_names.get(id))
    }
    return frozenset(n for n, shift in shifts.items() if shift is not None and shift.dtype == torch.float64)


def prepare_parameters(job: TrainingJob, network: nn.Module, group: ProcessGroup, share: Share) -> None:
    """Synchronize batch statistics over the group, freeze what the project freezes, and follow its convention.

    Raises `UserError` where no parameter is left that learns.
    """
    join_batch_norms(network, group, share)
    freeze(frozen_modules(network, *job.layers))
    if job.options.convention == "matlab":
        join_biases(network)
    if not any(parameter.requires_grad for parameter in network.parameters()):
        raise UserError(
            "Nothing in the network can learn: no layer has weights, or all that have are frozen. Add a layer with "
            "weights, such as a fully connected one, or switch off Freeze."
        )
