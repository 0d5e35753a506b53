"""Recorder of how weights, gradients and activations of layers are distributed, at some steps.

At most `MOST_NUMBERS` of each layer are looked at, evenly spread. All is computed on the device, and copied once per
report; what is written is read by `netwright.engine.runs.watched_weights`.
"""

import contextlib
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import torch
from torch import nn

from netwright.engine.core.files import write_atomically
from netwright.engine.network.analysis import named_path
from netwright.engine.parallel.tensor_shards import local_shard
from netwright.engine.project.training import TrainingLength
from netwright.engine.runs.kept_steps import TimeBudget, thin
from netwright.engine.runs.watched_weights import FILE, KINDS, POINTS, WeightStep, is_distribution, read_weights
from netwright.engine.training.job import TrainingJob
from netwright.engine.training.layer_statistics import OutputHooks, modules_of

KINDS_OF = {"weights": KINDS[:1], "weights-and-gradients": KINDS[:2], "all": KINDS}
MOST_NUMBERS = 2**12
"""Of a layer that are looked at."""
MOST_STEPS, LEAST_STEPS = 64, 8
"""Records that are kept: of more, every second one, then every fourth. Fewer of a network with very many layers."""
MOST_DISTRIBUTIONS = 40_000
"""In a file, which then has less than 16 MiB."""
FREE_S = 0.05
"""Time that this takes in any run; beyond it a share of the run's."""
LONGEST_APART = 100
"""Steps between the first records, at most."""


class WeightRecorder:
    """Recorder of the layers of one worker, whose shard it sees of sharded weights."""

    def __init__(
        self,
        run: Path,
        network: nn.Module,
        layers: Mapping[str, Sequence[str]],
        kinds: Sequence[str],
        length: TrainingLength,
    ) -> None:
        """`run` is the folder of the run, `layers` are the module names by the name of the layer, `length` is that of
        the run as it is planned."""
        self._file, self._kinds = run / FILE, kinds
        self._modules = modules_of(network, dict(list(layers.items())[: MOST_DISTRIBUTIONS // LEAST_STEPS // 3]))
        count = len(self._modules) * len(kinds)
        self._most = max(LEAST_STEPS, min(MOST_STEPS, MOST_DISTRIBUTIONS // max(1, count)))
        self._length = length
        self._every, self._next = max(1, min(LONGEST_APART, length.total_steps // self._most)), 1
        self._budget = TimeBudget(FREE_S)
        self._hooks = OutputHooks(self._modules, self._take_output)
        self._step = 0
        self._recorded: list[tuple[int, list[tuple[str, str]], torch.Tensor]] = []
        self._steps: list[WeightStep] = []
        self._is_whole = False
        """Whether the file holds all of them, so that a line can be appended."""

    @property
    def sees_layers(self) -> bool:
        """Return whether outputs of layers are recorded in this step."""
        return self._hooks.are_there

    def resume(self, step: int) -> None:
        """Go on behind the records of an earlier part of the run, and forget those behind `step`."""
        with contextlib.suppress(OSError):
            self._steps = [record for record in read_weights(self._file.parent) if record.iteration <= step]
        self._is_whole = False
        iterations = [record.iteration for record in self._steps]
        if len(iterations) > 1:
            self._every = max(self._every, iterations[1] - iterations[0])
        self._next = iterations[-1] + self._every if iterations else 1

    def before(self, step: int) -> None:
        """Prepare for a step, if it is to be recorded."""
        self._step = 0
        if step == self._length.total_steps or (step >= self._next and self._budget.is_left):
            self._step, self._next = step, step + self._every
            if "activations" in self._kinds:
                with self._budget.spending():
                    self._hooks.add()

    def _take_output(self, _name: str, output: torch.Tensor) -> torch.Tensor:
        with self._budget.spending():
            return quantiles([output])

    @torch.no_grad()
    def after(self) -> None:
        """Record a step, before its gradients are clipped and its weights changed."""
        if not self._step:
            return
        with self._budget.spending():
            rows = {(name, "activations"): row for name, row in self._hooks.take().items()}
            for name, modules in self._modules.items():
                weights = [weight for module in modules for weight in module.parameters()]
                gradients = [weight.grad for weight in weights if weight.grad is not None]
                for kind, tensors in (("weights", weights), ("gradients", gradients)):
                    filled = [shard for shard in map(local_shard, tensors) if shard.numel()]
                    if kind in self._kinds and filled:
                        rows[name, kind] = quantiles(filled)
            if rows:  # weights may be kept on the CPU of a network that is computed on a GPU
                device = next(iter(rows.values())).device
                table = torch.stack([row.to(device) for row in rows.values()])
                self._recorded.append((self._step, list(rows), table))
        self._step = 0

    def take(self) -> None:
        """Write what was recorded since the last report. Waits for the device. What cannot be written is left out."""
        if not self._recorded:
            return
        recorded, self._recorded = self._recorded, []
        with self._budget.spending(), contextlib.suppress(OSError):
            added = [self._as_step(step, keys, table.tolist()) for step, keys, table in recorded]
            self._steps += added
            while thin(self._steps, self._most):
                self._every *= 2
                self._is_whole = False
            self._next = max(self._next, self._steps[-1].iteration + self._every)
            self._write(added)

    def _as_step(self, step: int, keys: Sequence[tuple[str, str]], table: list[list[float]]) -> WeightStep:
        """Return a record; distributions with numbers that are not finite are left out."""
        layers: dict[str, dict[str, list[float]]] = {}
        for (name, kind), row in zip(keys, table, strict=True):
            values = [float(f"{number:.4g}") for number in row]
            if is_distribution(values):
                layers.setdefault(name, {})[kind] = values
        return WeightStep(step, -(-step // self._length.steps_per_epoch), layers)

    def _write(self, added: Sequence[WeightStep]) -> None:
        if self._is_whole:
            with self._file.open("ab") as file:
                file.write(b"".join(step.line for step in added))
            return
        write_atomically(self._file, b"".join(step.line for step in self._steps), mode=0o600, follow_link=False)
        self._is_whole = True


def quantiles(tensors: Iterable[torch.Tensor]) -> torch.Tensor:
    """Return `POINTS` evenly spaced quantiles of the numbers of some tensors, on their device, from at most about
    `MOST_NUMBERS` of them. NaN counts as the largest."""
    filled = [tensor.detach() for tensor in tensors if tensor.numel()]
    if not filled:
        return torch.full((POINTS,), math.nan)
    apart = -(-sum(tensor.numel() for tensor in filled) // MOST_NUMBERS)
    values = torch.cat([_spread(tensor, apart).float() for tensor in filled]).sort().values
    places = torch.linspace(0, len(values) - 1, POINTS, device=values.device).round_().long()
    return values[places]


def _spread(tensor: torch.Tensor, apart: int) -> torch.Tensor:
    """Return every number that stands about so far `apart`, in the order of the memory, which is not copied. The
    distance has no factor in common with any size, so that all channels and positions have their part."""
    tensor = tensor.real if tensor.is_complex() else tensor
    while math.gcd(apart, tensor.numel()) > 1 and apart < tensor.numel():
        apart += 1
    order = sorted(range(tensor.dim()), key=tensor.stride, reverse=True)
    return tensor.permute(order).reshape(-1)[::apart]


def weight_recorder_for(
    job: TrainingJob, network: nn.Module, length: TrainingLength, *, is_compiled: bool
) -> tuple[WeightRecorder | None, list[str]]:
    """Return the recorder of a run, on its first worker, and notes; None for trials of an experiment, of which there
    are thousands, and for a pipeline, whose first worker has some of the layers."""
    kinds = KINDS_OF.get(job.options.watch_weights)
    if kinds is None or job.info.trial or job.run_folder is None:
        return None, []
    if job.has_stages:
        return None, ["Weights are not watched: each worker of a pipeline has some of the layers."]
    notes = []
    if is_compiled and "activations" in kinds:
        kinds = KINDS_OF["weights-and-gradients"]
        notes.append("Activations are not watched: the layers of a compiled network give none (acceleration).")
    if job.group.rank:
        return None, notes
    layers = {named_path(job.project.network, id): names for id, names in job.module_names.items()}
    return WeightRecorder(job.run_folder.path, network, layers, kinds, length), notes
