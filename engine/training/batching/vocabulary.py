"""Whether every index of the data has its place in the embeddings that look it up; a GPU could not say it in words."""

from engine.data.load import LoadedData
from engine.errors import UserError
from engine.layers.attention import Embedding
from engine.network.analysis import Analysis
from engine.network.network import Layer, Network
from engine.project.inputs import match_inputs
from engine.project.training import TrainingOptions


def refuse_unknown_indices(network: Network, analysis: Analysis, data: LoadedData, options: TrainingOptions) -> None:
    """Raise `UserError` where the data, or padding that layers see, holds an index beyond the vocabulary of an
    embedding."""
    for id, given in match_inputs(network, data.facts).items():
        if given.type.kind != "index":
            continue
        largest = data.largest(data.facts.inputs.index(given))
        padding = options.sequence_padding_value if options.sequence_padding == "seen" and given.lengths else 0
        if padding > largest:
            _refuse_padding(network, analysis, id, padding)
        for layer in _embeddings(network, analysis, id):
            assert isinstance(layer.type, Embedding)
            if largest >= layer.type.vocabulary:
                raise UserError(
                    f"{layer.name}, vocabulary: '{given.name}' of the data holds the index {largest:,}, but the "
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
    """The embeddings that the indices of an input reach, straight or through layers that pass them on."""
    found, passing = [], {source}
    for id in network.order:
        if any(port.layer in passing for port in network.incoming[id].values()):
            if isinstance(network.layers[id].type, Embedding):
                found.append(network.layers[id])
            elif analysis.facts[id].output.kind == "index":
                passing.add(id)
    return found
