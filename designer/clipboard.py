"""Layers as text: on the system clipboard, in a drag, and in the files of the user's own blocks.

The text is what a project file has, so that other windows can paste it.
"""

import json
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtGui import QGuiApplication

from netwright.designer.language import noop, tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.layers.base import LayerType
from netwright.engine.network import edits
from netwright.engine.network.block import Block
from netwright.engine.network.catalog import layer_type
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Network
from netwright.engine.project.network_json import read_network, write_network

LAYER_MIME = "application/x-netwright-layer"
BLOCK_MIME = "application/x-netwright-block"
"""The formats of a drag: the key of a layer type, and a block of the user as text."""
TEXT_LIMIT = 64 * 2**20
_NOTHING = noop("The clipboard holds no layers. Copy layers in a Netwright window first.")


def put(network: Network, layout: Layout) -> None:
    """Put layers on the clipboard."""
    QGuiApplication.clipboard().setText(as_text(network, layout))


def as_text(network: Network, layout: Layout) -> str:
    """Layers as they stand on the clipboard."""
    return json.dumps(write_network(network, layout), ensure_ascii=False)


def take() -> tuple[Network, Layout]:
    """The layers on the clipboard. Raises `UserError` if there are none that can be read."""
    return parse(QGuiApplication.clipboard().text())


def parse(text: str) -> tuple[Network, Layout]:
    """The layers in a text. Raises `UserError`."""
    if len(text) > TEXT_LIMIT:
        raise UserError(
            tr(
                "The clipboard holds {count:,} characters; layers have at most {limit:,}.",
                count=len(text),
                limit=TEXT_LIMIT,
            )
        )
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise UserError(translation(_NOTHING)) from None
    if not isinstance(data, dict) or "layers" not in data:
        raise UserError(translation(_NOTHING))
    network, layout = read_network(data)
    if not (network.layers or layout.frames or layout.comments):
        raise UserError(translation(_NOTHING))
    return network, layout


@dataclass(frozen=True)
class Piece:
    """A layer to be added: its type, and for a block of the user's own its name and the layout
    inside."""

    type: LayerType
    name: str = ""
    inside: Layout | None = None


def piece(entry: str | Piece) -> Piece:
    """Return a new layer of the type with a key, or a piece unchanged. Raises `UserError` for an unknown key."""
    return Piece(layer_type(entry)()) if isinstance(entry, str) else entry


@lru_cache(maxsize=64)
def read_block(payload: bytes) -> Piece:
    """The block that a file of the library holds, or a drag carries. Raises `UserError`."""
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        raise UserError(tr("it is not a text in UTF-8.")) from None
    try:
        network, layout = parse(text)
    except UserError as error:
        raise UserError(tr("it holds no block. {error}", error=error)) from None
    layers = list(network.layers.values())
    if len(layers) != 1 or not isinstance(layers[0].type, Block):
        raise UserError(tr("expected one block, received %n layer(s).", "", len(layers)))
    return Piece(layers[0].type, layers[0].name, layout.within([layers[0].id]))


def write_block(name: str, block: Block, inside: Layout) -> bytes:
    """A block as a file of the library holds it, and the clipboard. Raises `UserError` for what cannot be a name."""
    network, layer = edits.add_layer(Network({}, ()), block, name)
    return as_text(network, Layout({layer.id: (0.0, 0.0)}, inside={layer.id: inside})).encode()
