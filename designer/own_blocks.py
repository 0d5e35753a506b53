"""A block of the user's own on its way onto the canvas: from a file of the library, a drag, a click."""

from dataclasses import dataclass
from functools import lru_cache

from designer import clipboard
from engine.errors import UserError
from engine.layers.base import LayerType
from engine.layers.block import Block
from engine.layers.catalog import layer_type
from engine.network import edits
from engine.network.layout import Layout
from engine.network.network import Network

MIME = "application/x-netwright-block"


@dataclass(frozen=True)
class Piece:
    """What is to be added as one layer: its type, and for a block of the user's own its name and what it looks like
    inside."""

    type: LayerType
    name: str = ""
    inside: Layout | None = None


def piece(what: str | Piece) -> Piece:
    """A layer type by its key, with its default values; a piece as it is. Raises `UserError` for an unknown key."""
    return Piece(layer_type(what)()) if isinstance(what, str) else what


@lru_cache(maxsize=64)
def parse(payload: bytes) -> Piece:
    """The block that a file of the library holds, or a drag carries. Raises `UserError`."""
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        raise UserError("it is not a text in UTF-8.") from None
    try:
        network, layout = clipboard.parse(text)
    except UserError as error:
        raise UserError(f"it holds no block. {error}") from None
    layers = list(network.layers.values())
    if len(layers) != 1 or not isinstance(layers[0].type, Block):
        raise UserError(f"expected one block, received {len(layers)} layer{'' if len(layers) == 1 else 's'}.")
    return Piece(layers[0].type, layers[0].name, layout.within([layers[0].id]))


def write(name: str, block: Block, inside: Layout) -> bytes:
    """A block as a file of the library holds it, and the clipboard. Raises `UserError` for what cannot be a name."""
    network, layer = edits.add_layer(Network({}, ()), block, name)
    return clipboard.as_text(network, Layout({layer.id: (0.0, 0.0)}, inside={layer.id: inside})).encode()
