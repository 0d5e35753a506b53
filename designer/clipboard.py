"""Layers on the system's clipboard, as the text they have in a project file, so that other windows can paste them."""

import json

from PySide6.QtGui import QGuiApplication

from engine.errors import UserError
from engine.network.layout import Layout
from engine.network.network import Network
from engine.project.network_json import read_network, write_network

TEXT_LIMIT = 64 * 2**20
_NOTHING = "The clipboard holds no layers. Copy layers in a Netwright window first."


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
        raise UserError(f"The clipboard holds {len(text):,} characters; layers have at most {TEXT_LIMIT:,}.")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise UserError(_NOTHING) from None
    if not isinstance(data, dict) or "layers" not in data:
        raise UserError(_NOTHING)
    network, layout = read_network(data)
    if not (network.layers or layout.frames or layout.comments):
        raise UserError(_NOTHING)
    return network, layout
