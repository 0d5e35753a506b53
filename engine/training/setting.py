"""What a worker knows of its run before anything is built: its folder, project, data and place."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from engine.data.datasets import differ_in_length
from engine.data.load import LoadedData, loaded
from engine.data.sequences import refuse_long_transcripts, refuse_unknown_indices
from engine.hardware.threads import keep_to
from engine.layers.base import LayerType
from engine.layers.weighted import ParameterOptions
from engine.lowering.initialization import parameter_options
from engine.lowering.module import prefixes
from engine.network.analysis import Analysis, analyse, type_at
from engine.parallel.process_group import ProcessGroup, SingleProcess, TorchProcessGroup, WorkerSpec
from engine.project.bindings import Wanted, wanted_of
from engine.project.dataset_info import DatasetInfo
from engine.project.file import load as load_project
from engine.project.project import Project
from engine.project.user_code import ready
from engine.runs.folder import RunFolder, frozen_code
from engine.runs.info import RunInfo
from engine.training.fast.accelerations import Accelerations


@dataclass(frozen=True)
class Setting:
    """What a worker knows of its run."""

    folder: RunFolder
    info: RunInfo
    project: Project
    analysis: Analysis
    data: LoadedData
    device: torch.device

    @property
    def facts(self) -> DatasetInfo:
        """What is known of the data."""
        return self.data.facts

    @property
    def loads(self) -> tuple[float, ...]:
        """What the workers' shares are in proportion to; none where they are equal."""
        found = tuple(place.load for place in self.info.placement.places)
        return found if len(set(found)) > 1 else ()

    @cached_property
    def accelerations(self) -> Accelerations:
        """The accelerations that the project switches on."""
        return Accelerations(self.project.run)

    @property
    def has_stages(self) -> bool:
        """Whether each worker has a stage of the network."""
        return self.project.environment.strategy == "pipeline" and len(self.info.placement.places) > 1

    @property
    def is_padded(self) -> bool:
        """Whether sequences of different lengths come in whose padding no layer is to see."""
        options = self.project.training
        return options.sequence_padding == "masked" and differ_in_length(options, self.project.network, self.facts)

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """What each output is to give."""
        return wanted_of(self.project.network, self.analysis, self.facts, is_padded=self.is_padded)


def parameter_options_of(setting: Setting, network: nn.Module) -> dict[str, ParameterOptions]:
    """What the layers say about each parameter."""
    return parameter_options(network, *layers_of(setting))


def layers_of(setting: Setting) -> tuple[dict[str, tuple[str, ...]], Callable[[str], LayerType]]:
    """For each layer's id path its attributes in the built module, and its type."""
    network = setting.project.network
    return prefixes(network, setting.analysis), partial(type_at, network)


def set_up(spec: WorkerSpec) -> Setting:
    """Read the run, take the place on the device, load the data."""
    folder = RunFolder(Path(spec.folder))
    info = folder.read_info()
    project = load_project(folder.project).project
    ready(project, folder.path, frozen_code(folder))
    place = info.placement.places[spec.rank]
    if info.is_undecided:  # a process that has computed with several threads cannot be forked, as this one will be
        torch.set_num_threads(1)
    else:
        keep_to(place.cores)  # before threads are made, which stay where they were made
        torch.set_num_threads(place.threads)
    if project.training.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
    device = torch.device(place.device)
    if device.type != "cpu":
        torch.accelerator.set_device_index(device.index)
    data = loaded(project, Path(info.base), info.loading, len(info.placement.places))
    analysis = analyse(project.network)
    refuse_unknown_indices(project.network, analysis, data, project.training)
    refuse_long_transcripts(project.network, analysis, data)
    return Setting(folder, info, project, analysis, data, device)


def process_group_for(spec: WorkerSpec, setting: Setting) -> ProcessGroup:
    """This worker among the others of its run."""
    size = len(setting.info.placement.places)
    if size == 1:
        return SingleProcess()
    return TorchProcessGroup(
        spec.rank,
        size,
        setting.info.placement.backend,
        Path(spec.rendezvous),
        share_memory=setting.accelerations.uses("shared-memory"),
    )


def known_of(setting: Setting) -> dict[str, Any]:
    """What every manifest of weights says."""
    return {
        "task": setting.facts.task,
        "classes": list(setting.facts.classes),
        "layers": {id: list(names) for id, names in prefixes(setting.project.network, setting.analysis).items()},
        "project_sha256": setting.info.project_sha256,
    }
