"""Sequences of different lengths in one tensor: padding, truncation and splitting, and checks of their content."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.data.sources.source import Array
from netwright.engine.layers.attention import Embedding
from netwright.engine.layers.inputs import SequenceInput
from netwright.engine.network import edits
from netwright.engine.network.analysis import Analysis, analyse
from netwright.engine.network.network import Layer, Network, Port
from netwright.engine.project.bindings import match_inputs, wanted_of
from netwright.engine.project.dataset_info import IGNORED
from netwright.engine.project.options.batch_options import BatchOptions
from netwright.engine.project.training import TrainingOptions

MOST_TRIED = 200
"""Number of different sequence lengths that are checked."""


@dataclass(frozen=True)
class Padding:
    """Padding and truncation of sequences.

    Padding that layers see is put on the chosen side and has the chosen value; else it is put at the end, and the side
    only decides which end of a sequence is cut off.
    """

    is_seen: bool = False
    is_left: bool = False
    value: float = 0.0

    @classmethod
    def of(cls, options: BatchOptions) -> "Padding":
        """Return the padding that the options ask for."""
        is_left = options.sequence_padding_direction == "left"
        return cls(options.sequence_padding == "seen", is_left, options.sequence_padding_value)

    @property
    def is_plain(self) -> bool:
        """True where stored sequences are only truncated at their ends."""
        return not self.is_left and not (self.is_seen and self.value)

    def arrange(
        self, x: torch.Tensor, lengths: torch.Tensor, counts: torch.Tensor, steps: int, fill: float
    ) -> torch.Tensor:
        """Return sequences x (N, T, ...), padded at their ends, as (N, steps, ...): `counts` (N) of the real steps of
        each, `fill` elsewhere. `lengths` (N) and `counts` are on the CPU."""
        first = lengths - counts if self.is_left else torch.zeros_like(counts)
        start = lengths - steps if self.is_left and self.is_seen else first
        indices = start.unsqueeze(1) + torch.arange(steps)
        is_real = (indices >= first.unsqueeze(1)) & (indices < (first + counts).unsqueeze(1))
        places = indices.clamp(0, x.shape[1] - 1).to(x.device, non_blocking=True)
        wide = (*places.shape, *[1] * (x.dim() - 2))
        gathered = x.gather(1, places.view(wide).expand(*places.shape, *x.shape[2:]))
        return gathered.masked_fill(~is_real.to(x.device, non_blocking=True).view(wide), fill)


def ignored_value(target: torch.Tensor) -> float:
    """Return the value that marks ignored places of a target: NaN, or `IGNORED` for classes."""
    return torch.nan if target.is_floating_point() else IGNORED


def split_sequences(
    lengths: Array,
    most: int,
    *,
    is_left: bool,
    sequences: Sequence[tuple[Array, float]],
    others: Sequence[Array],
) -> tuple[Array, list[Array], list[Array]]:
    """Split every sequence into samples of at most `most` steps; the last one is shorter, or with `is_left` the first.

    `sequences` are arrays (N, T, ...) of these lengths (N), each with its padding value; `others` (N, ...) are repeated
    for every new sample. Returns the new lengths, the split sequences, and the others.
    """
    counts = -(-lengths // most)
    sample = np.repeat(np.arange(len(lengths)), counts)
    number = np.arange(len(sample)) - np.repeat(np.cumsum(counts) - counts, counts)
    start = number * most - (np.repeat(counts * most - lengths, counts) if is_left else 0)
    first, end = np.maximum(start, 0), np.minimum(start + most, lengths[sample])
    numbers = first[:, np.newaxis] + np.arange(min(most, int(lengths.max())))
    is_real = numbers < end[:, np.newaxis]
    cut = []
    for array, fill in sequences:
        pieces = array[sample[:, np.newaxis], np.minimum(numbers, array.shape[1] - 1)]
        pieces[~is_real] = fill
        cut.append(pieces)
    return end - first, cut, [array[sample] for array in others]


def refuse_long_transcripts(network: Network, analysis: Analysis, data: LoadedData) -> None:
    """Raise `UserError` for the first transcript that needs more steps than the network outputs: one per class, and one
    for the blank between two equal classes."""
    for target in wanted_of(network, analysis, data.facts, is_padded=True):
        if target.facts.task == "transcripts":
            _refuse(network, target.port, needed(data.targets[target.number]), data, target.facts.name)


def needed(target: Array) -> Array:
    """Return the least number of steps (N) that each transcript (N, L) needs."""
    is_there = target != IGNORED
    repeated = (target[:, 1:] == target[:, :-1]) & is_there[:, 1:]
    return np.asarray(is_there.sum(1) + repeated.sum(1))


def _refuse(network: Network, port: Port, steps: Array, data: LoadedData, name: str) -> None:
    fed = match_inputs(network, data.facts)
    timed = {id: data.facts.inputs.index(info) for id, info in fed.items() if info.type.has("T")}
    if len(timed) != 1:
        return
    (id, number), *_ = timed.items()
    count, whole = data.inputs[number].shape[:2]
    real = data.lengths[number] if data.lengths else None
    lengths = np.full(count, whole) if real is None else real
    for length in np.unique(lengths)[:MOST_TRIED].tolist():
        samples = np.flatnonzero(lengths == length)
        worst = int(samples[steps[samples].argmax()])
        remaining = _left(network, id, port, length)
        if remaining is not None and remaining < steps[worst]:
            raise UserError(
                f"The transcript '{name}' of sample {worst:,} needs {steps[worst]:,} steps (one per class, one more "
                f"between equal ones), but of its {length:,} steps {remaining:,} leave the network. Shorten sequences "
                "less in the network, or leave the sample out."
            )


def _left(network: Network, id: str, port: Port, length: int) -> int | None:
    """Return the number of output steps for `length` input steps, None where it is not known."""
    type = network.layers[id].type
    if not isinstance(type, SequenceInput) or type.length:
        return None
    shapes = analyse(edits.set_fields(network, id, {"length": length})).shapes.get(port.layer)
    remaining = shapes.at(port.name)["T"] if shapes and shapes.at(port.name).has("T") else None
    return remaining if isinstance(remaining, int) else None


def refuse_unknown_indices(network: Network, analysis: Analysis, data: LoadedData, options: TrainingOptions) -> None:
    """Raise `UserError` where the data, or padding that layers see, holds an index beyond the vocabulary of an
    embedding."""
    for id, info in match_inputs(network, data.facts).items():
        if info.type.kind != "index":
            continue
        largest = data.largest(data.facts.inputs.index(info))
        padding = options.sequence_padding_value if options.sequence_padding == "seen" and info.lengths else 0
        if padding > largest:
            _refuse_padding(network, analysis, id, padding)
        for layer in _embeddings(network, analysis, id):
            assert isinstance(layer.type, Embedding)
            if largest >= layer.type.vocabulary:
                raise UserError(
                    f"{layer.name}, vocabulary: '{info.name}' of the data holds the index {largest:,}, but the "
                    f"embedding has vectors for 0 to {layer.type.vocabulary - 1:,} only. "
                    f"Set the vocabulary size to at least {largest + 1:,}."
                )


def _refuse_padding(network: Network, analysis: Analysis, source: str, padding: float) -> None:
    for layer in _embeddings(network, analysis, source):
        assert isinstance(layer.type, Embedding)
        if padding >= layer.type.vocabulary:
            raise UserError(
                f"training.sequence_padding_value: the index {padding:g} pads sequences, but the embedding "
                f"'{layer.name}' has vectors for 0 to {layer.type.vocabulary - 1:,} only."
            )


def _embeddings(network: Network, analysis: Analysis, source: str) -> list[Layer]:
    """Return the embeddings that the indices of an input reach, directly or through layers that pass them on."""
    embeddings, passing = [], {source}
    for id in network.order:
        if any(port.layer in passing for port in network.incoming[id].values()):
            if isinstance(network.layers[id].type, Embedding):
                embeddings.append(network.layers[id])
            elif analysis.shapes[id].output.kind == "index":
                passing.add(id)
    return embeddings
