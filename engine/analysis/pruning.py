"""Smaller networks from trained ones: weights of small magnitude become zero, or whole channels are removed.

Magnitude: the smallest weights of all matrices and kernels together become zero (Han et al., Learning both Weights and
Connections for Efficient Neural Networks, 2015). Structured: channels go whose filters have the smallest sum of
magnitudes (Li et al., Pruning Filters for Efficient ConvNets, 2017), times that of the batch normalisation behind them
(Liu et al., Learning Efficient Convolutional Networks through Network Slimming, 2017).
"""

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import torch

from netwright.engine.analysis.evaluate import BATCH, Evaluation
from netwright.engine.analysis.operations.prune import PrunedNetwork, PruneRequest, PruneResult
from netwright.engine.analysis.other_data import data_of
from netwright.engine.core.errors import UserError
from netwright.engine.core.progress import report
from netwright.engine.lowering.module import prefixes
from netwright.engine.lowering.weights_file import write_weights_file
from netwright.engine.lowering.weights_folder import State
from netwright.engine.models.open_model import open_model
from netwright.engine.models.trained_model import Model
from netwright.engine.network.analysis import analyse
from netwright.engine.network.channels import DEPTHWISE, PER_CHANNEL, Channels, channels_of
from netwright.engine.network.network import Network
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.project.weights import WeightsOptions
from netwright.engine.runs.project_from_run import project_from_model

MEASURED_S = 0.3
LEAST_CALLS = 3


@dataclass(frozen=True, eq=False)
class Pruned:
    """A network with the weights that are left. `notes` says which layers keep all channels, and why."""

    network: Network
    weights: State
    notes: tuple[str, ...] = ()


def prune(network: Network, weights: Mapping[str, torch.Tensor], amount: float, *, structured: bool) -> Pruned:
    """Return the network without a share of its weights, or of the channels of each layer. Raises `UserError`."""
    if not 0 <= amount < 1:
        raise UserError(f"Expected an amount from 0 to below 1, received {amount:g}.")
    if not amount:
        return Pruned(network, dict(weights))
    return _structured(network, weights, amount) if structured else _by_magnitude(network, weights, amount)


def _by_magnitude(network: Network, weights: Mapping[str, torch.Tensor], amount: float) -> Pruned:
    tensors = {key: x for key, x in weights.items() if x.ndim >= 2 and x.is_floating_point() and _is_weight(key)}
    if not tensors:
        raise UserError("The network has no matrices or kernels whose weights could become zero.")
    sizes = torch.cat([x.abs().reshape(-1).float() for x in tensors.values()])
    count = int(amount * len(sizes))
    if not count:
        return Pruned(network, dict(weights))
    limit = torch.kthvalue(sizes, count).values
    zeroed = {key: torch.where(x.abs() <= limit.to(x.dtype), 0, x) for key, x in tensors.items()}
    return Pruned(network, {**weights, **zeroed})


def _is_weight(key: str) -> bool:
    return key.rpartition(".")[2].startswith("weight")


# ---- channels ----


def _structured(network: Network, weights: Mapping[str, torch.Tensor], amount: float) -> Pruned:
    layers = prefixes(network, analyse(network))
    channels, removed, notes = select_channels(network, weights, amount, layers)
    smaller = channels.without(removed)
    return Pruned(smaller, _sliced(channels, weights, layers, removed), notes)


def select_channels(
    network: Network, weights: Mapping[str, torch.Tensor], amount: float, layers: Mapping[str, tuple[str, ...]]
) -> tuple[Channels, set[int], tuple[str, ...]]:
    """Return the channels of a network, the roots of those to remove, and notes on layers that keep all. `layers`:
    the prefixes of their weights. Raises `UserError` where none can be removed."""
    channels = channels_of(network, analyse(network))
    for path, labels in channels.made.items():
        if not {key.rpartition(".")[2] for key in _state_of(weights, layers[path])} <= {"weight", "bias"}:
            channels.keep(labels, reason=f"'{channels.name(path)}' has weights that pruning does not know")
    _tie_copies(channels, _importance(channels, weights, layers))
    sizes = _importance(channels, weights, layers)
    removed: set[int] = set()
    notes: dict[str, None] = {}
    for group in channels.groups():
        roots = list(dict.fromkeys(channels.root(label) for path in group for label in channels.made[path]))
        free = [root for root in roots if not channels.why_kept(root)]
        if not free:
            names = list(dict.fromkeys(f"'{channels.name(path)}'" for path in group))
            text, reason = ", ".join(names), channels.why_kept(roots[0])
            note = f"{text} {'keeps' if len(names) == 1 else 'keep'} all channels: {reason}."
            notes[note] = None
            continue
        count = min(int(amount * len(free)), len(roots) - 1)
        removed |= set(sorted(free, key=sizes.__getitem__)[: _left_somewhere(channels, group, free, sizes, count)])
    if not removed and not any(not channels.why_kept(label) for labels in channels.made.values() for label in labels):
        raise UserError(
            "No channel of the network can be removed. " + " ".join(notes),
            hint="Prune weights instead (without --structured).",
        )
    return channels, removed, tuple(notes)


def _tie_copies(channels: Channels, sizes: Mapping[int, float]) -> None:
    """Tie the channels of the copies of a layer in a repeated block, the least important ones to each other: all
    copies keep equally many, and each has its own order of importance."""
    for first, *others in channels.copies():
        for other in others:
            mine, theirs = (Counter(map(channels.root, channels.made[path])) for path in (first, other))
            labels = ((mine - theirs).elements(), (theirs - mine).elements())
            ranked = (sorted(one, key=lambda root: (bool(channels.why_kept(root)), sizes[root])) for one in labels)
            for one, same in zip(*ranked, strict=True):
                channels.tie((one,), (same,))


def _left_somewhere(
    channels: Channels, group: Sequence[str], free: Sequence[int], sizes: Mapping[int, float], count: int
) -> int:
    """Return how many of the smallest channels can go so that each layer keeps one."""
    order = sorted(free, key=sizes.__getitem__)
    while count > 0:
        removed = set(order[:count])
        if all(any(channels.root(label) not in removed for label in channels.made[path]) for path in group):
            return count
        count -= 1
    return 0


def _state_of(weights: Mapping[str, torch.Tensor], names: Sequence[str]) -> dict[str, torch.Tensor]:
    """Return the weights of a layer by their keys."""
    starts = tuple(f"{name}." for name in names)
    return {key: value for key, value in weights.items() if starts and key.startswith(starts)}


def _axes(channels: Channels, path: str) -> tuple[int, int]:
    """Return the axes of output and input channels of a layer's weights."""
    return (1, 0) if channels.layers[path].type.key.startswith("transposed") else (0, 1)


def _importance(
    channels: Channels, weights: Mapping[str, torch.Tensor], layers: Mapping[str, tuple[str, ...]]
) -> dict[int, float]:
    """Return the importance of each channel by its root: the size of its filters relative to the mean of their layers,
    times that of its weights in batch normalisation."""
    filters: dict[int, list[float]] = defaultdict(list)
    scales: dict[int, list[float]] = defaultdict(list)

    def note(sizes: dict[int, list[float]], labels: Sequence[int], total: torch.Tensor) -> None:
        for label, value in zip(labels, (total / (total.mean() or 1.0)).tolist(), strict=True):
            sizes[channels.root(label)].append(value)

    for path, labels in channels.made.items():
        total = torch.zeros(len(labels), dtype=torch.float64)
        for key, value in _state_of(weights, layers[path]).items():
            axis = 0 if key.endswith(".bias") else _axes(channels, path)[0]
            total += value.double().abs().movedim(axis, 0).reshape(len(labels), -1).sum(1)
        note(filters, labels, total)
    for path, layer in channels.layers.items():
        state = _state_of(weights, layers.get(path, ())) if layer.type.key == "batch_norm" else {}
        affine = [value.double().abs() for key, value in state.items() if key.endswith((".weight", ".bias"))]
        if affine:
            note(scales, channels.inputs[path][0], torch.stack(affine).sum(0))
    return {root: fmean(sizes) * fmean(scales.get(root, [1.0])) for root, sizes in filters.items()}


def _sliced(
    channels: Channels,
    weights: Mapping[str, torch.Tensor],
    layers: Mapping[str, tuple[str, ...]],
    removed: set[int],
) -> State:
    """Return the weights without those of the removed channels."""
    state = dict(weights)
    for path, input_labels in channels.inputs.items():
        key = channels.layers[path].type.key
        own = _state_of(weights, layers.get(path, ()))
        if not own or channels.layers[path].bypassed:
            continue
        if path in channels.made:
            out_axis, in_axis = _axes(channels, path)
            out = torch.tensor(channels.places(channels.made[path], removed))
            in_places = torch.tensor(channels.places(input_labels[0], removed))
            for name, value in own.items():
                if name.endswith(".bias"):
                    state[name] = value[out]
                else:
                    state[name] = value.index_select(out_axis, out).index_select(in_axis, in_places)
        elif key in PER_CHANNEL or key in DEPTHWISE:
            places = torch.tensor(channels.places(input_labels[0], removed))
            for name, value in own.items():
                if value.ndim and len(value) == len(input_labels[0]):
                    state[name] = value[places]
    return state


# ---- what it costs and brings ----


def prune_model(request: PruneRequest) -> PruneResult:
    """Measure the network of a model at the amounts of a request on a split of its data (test, else validation), and
    write the project that it asks for. Raises `UserError`."""
    trained, other = open_model(request.choice), data_of(request)
    rows: list[PrunedNetwork] = []
    notes: tuple[str, ...] = ()
    split = ""
    amounts = sorted({0.0, *request.chosen})
    for place, amount in enumerate(amounts):
        pruned = _prune(trained, amount, structured=request.structured)
        notes = pruned.notes or notes
        evaluation = PrunedEvaluation(_with(trained, pruned), request.split, other)
        split, row = evaluation.measured(amount)
        rows.append(row)
        report(place + 1, len(amounts), "networks")
    written = ""
    if request.output is not None:
        stored = trained if trained.is_described else open_model(request.choice, needs_weights=False)
        write_pruned(stored, request.output, request.chosen[0], structured=request.structured)
        written = str(request.output.absolute())
    run = str(request.model.absolute())
    return PruneResult(
        run_dir=run, structured=request.structured, split=split, rows=rows, notes=list(notes), project=written
    )


def _prune(trained: Model, amount: float, *, structured: bool) -> Pruned:
    return prune(trained.network, trained.weights or {}, amount, structured=structured)


def _with(trained: Model, pruned: Pruned) -> Model:
    project = replace(trained.project, network=pruned.network)
    return replace(trained, project=project, weights=pruned.weights)


class PrunedEvaluation(Evaluation):
    """Scores and time of a network whose weights are not those in the run folder, so that nothing is kept there."""

    def measured(self, amount: float) -> tuple[str, PrunedNetwork]:
        """Return the split, and loss, metrics, size, and the time per batch of at most `BATCH` samples."""
        result, _ = self._computed()
        dataset = self.dataset(self.data, self.split_of(self.data))
        batch = next(iter(dataset.shard_batches(0, 1, BATCH)))
        times: list[float] = []
        began_s = time.perf_counter()
        while len(times) < LEAST_CALLS or time.perf_counter() - began_s < MEASURED_S:
            start_s = time.perf_counter()
            self.trained.outputs(self.trained.scoring, batch.inputs)
            times.append(time.perf_counter() - start_s)
        weights = self.trained.weights or {}
        floats = [value for key, value in weights.items() if value.is_floating_point() and ".running_" not in key]
        return result["split"], {
            "amount": amount,
            "loss": result["loss"],
            "metrics": result["metrics"],
            "milliseconds": 1000 * min(times),  # other programs only add to it
            "batch": batch.count,
            "parameters": self.trained.analysis.parameters,
            "nonzero": sum(int(value.count_nonzero()) for value in floats),
            "flops": self.trained.analysis.flops,
            "bytes": sum(value.numel() * value.element_size() for value in weights.values()),
        }


# ---- the new project ----


def write_pruned(trained: Model, to: Path, amount: float, *, structured: bool) -> None:
    """Write a project at `to` with the pruned network of a model, which starts from the weights that are left.
    Raises `UserError`."""
    save(project_of(trained, _prune(trained, amount, structured=structured), to, keeps_zeros=not structured), to)


def project_of(trained: Model, pruned: Pruned, to: Path, *, keeps_zeros: bool = False) -> Project:
    """Return a project for the file `to` like that of a model, with another network, and write its weights beside `to`.
    Raises `UserError`."""
    project = project_from_model(trained.path, to)
    file = to.with_name(f"{to.stem}.weights.safetensors")
    names = prefixes(pruned.network, analyse(pruned.network))
    checksum = write_weights_file(file, pruned.weights, names, trained.record)
    weights = WeightsOptions(file=file.name, sha256=checksum, keep_zeros=keeps_zeros)
    return replace(project, network=pruned.network, weights=weights)
