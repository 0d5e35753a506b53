"""A trained network of a run, ready to compute: its module with weights, the facts of its data, its preparation."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from torch import nn

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.batches import Tensors, as_tuple
from netwright.engine.data.loading.datasets import has_varying_lengths
from netwright.engine.hardware.devices import device_named
from netwright.engine.lowering.fitted import trained_preparation
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.network_source import NetworkSource, read_source
from netwright.engine.lowering.weights_folder import fill, sha256
from netwright.engine.network.analysis import Analysis, analyse
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.project import user_code
from netwright.engine.project.bindings import Wanted, folding, wanted_of
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.preparation import Preparation
from netwright.engine.runs.folder import RunFolder
from netwright.engine.training.precision import Precision

DEVICE = torch.device("cpu")


@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """The network of a run with its weights. `hash` is the SHA-256 of the weights."""

    source: NetworkSource
    folder: RunFolder
    facts: DatasetInfo
    record: Preparation
    hash: str
    kept: str
    """`best` or `last`: which weights these are."""
    device: torch.device = DEVICE
    """Where the network computes; what it takes and gives is on the CPU."""

    @classmethod
    def open(
        cls, path: Path, *, weights_kept: str = "", trusted: bool = False, device: str = "cpu"
    ) -> "TrainedNetwork":
        """Read a run. `trusted`: its user code may run this time. `device`: a word of `DEVICE_WORDS`. Raises
        `UserError`, also for what is no run."""
        if not path.is_dir():
            problem = "is a file" if path.exists() else "does not exist"
            raise UserError(f"{path} {problem}. Expected the folder of a run that has trained.", code="not_found")
        source = read_source(path, weights_kept=weights_kept)
        network = source.project.network
        user_code.look(network, source.code_base, source.code)
        if trusted:
            user_code.grant(network)
        user_code.ready(network, source.code_base, source.code)
        if source.dataset is None:
            raise UserError(f"The run in {path} did not store what its data is like. Train again to have it.")
        folder, torch_device = RunFolder(path), torch.device(device_named(device))
        weights_folder = path / weights_kept if weights_kept else folder.kept()
        assert weights_folder is not None  # else read_source has refused
        record = source.record or trained_preparation(source.project, source.dataset, source.weights or {})
        return cls(
            source,
            folder,
            source.dataset,
            record,
            sha256(weights_folder / "weights.safetensors"),
            weights_folder.name,
            torch_device,
        )

    @cached_property
    def analysis(self) -> Analysis:
        """Sizes of all layers."""
        return analyse(self.source.project.network)

    @cached_property
    def wanted(self) -> tuple[Wanted, ...]:
        """Outputs of the network with their targets."""
        return wanted_of(self.source.project.network, self.analysis, self.facts, is_padded=self.is_padded)

    @property
    def is_padded(self) -> bool:
        """Whether sequences were padded in training, with padding that no layer sees."""
        options = self.source.project.training
        is_masked = options.sequence_padding == "masked"
        return is_masked and has_varying_lengths(options, self.source.project.network, self.facts)

    @cached_property
    def module_names(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the submodules of each layer."""
        return prefixes(self.source.project.network, self.analysis)

    @cached_property
    def precision(self) -> Precision:
        """Precision that the network was trained in: double where its weights are, else single."""
        kinds = {value.dtype for value in (self.source.weights or {}).values() if value.is_floating_point()}
        is_double = kinds == {torch.float64} and self.source.project.training.precision == "fp64"
        return Precision("fp64" if is_double else "fp32", self.device, SingleProcess())

    @cached_property
    def scoring(self) -> nn.Module:
        """The network as training evaluates it: it gives logits, and takes lengths where sequences are padded."""
        network = self.source.project.network
        module = build(network, self.analysis, logits=folding(self.wanted), lengths=self.is_padded)
        return self.filled(module)

    @cached_property
    def answering(self) -> nn.Module:
        """The network as it was designed: it gives probabilities where it ends in a softmax."""
        return self.filled(build(self.source.project.network, self.analysis))

    def filled(self, module: nn.Module) -> nn.Module:
        """Return a module of the network with its weights, as it is evaluated."""
        module = self.precision.network(module)
        fill(module, self.source.weights or {})
        return module.eval().to(self.device)

    @torch.inference_mode()
    def outputs(self, module: nn.Module, inputs: Tensors) -> Tensors:
        """Return the outputs of a module for inputs in the order of the network."""
        placed = (x.to(self.device, non_blocking=True) for x in inputs)
        return tuple(x.to(DEVICE) for x in as_tuple(self.precision.call(module, *placed)))
