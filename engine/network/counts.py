"""Counts, and numbers as short as a picture needs them."""

from engine.layers.base import LayerType
from engine.layers.block import Block, BlockInput, BlockOutput
from engine.network.network import Network

_STEPS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k"))


def short_count(number: int) -> str:
    """A count in at most five characters and a letter: 584, 9,216, 15.7 k, 1.2 M."""
    for limit, letter in _STEPS:
        if number >= limit * (1 if letter == "k" else 0.99995):
            value = number / (1e3 if letter == "k" else limit)
            return f"{value:.1f} {letter}" if value < 99.95 else f"{value:,.0f} {letter}"
    return f"{number:,}"


def layers_in_words(network: Network, *, has_word: bool = True) -> str:
    """`3 layers`; with blocks among them also how many there are in all: `15 layers (70 with those in blocks)`."""
    count = len(network)
    word = "" if not has_word else " layer" if count == 1 else " layers"
    has_blocks = any(isinstance(layer.type, Block) for layer in network.layers.values())
    return f"{count:,}{word}" + (f" ({num_layers(network):,} with those in blocks)" if has_blocks else "")


def num_layers(network: Network) -> int:
    """All layers, for a block those that it holds, in every copy; ports of blocks do not count."""
    return sum(_num_layers(layer.type) for layer in network.layers.values())


def _num_layers(type: LayerType) -> int:
    if isinstance(type, Block):
        return type.repeat * num_layers(type.network)
    return 0 if isinstance(type, BlockInput | BlockOutput) else 1
