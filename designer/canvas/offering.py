"""Offering layers where one is wanted: on the ground, at a loose end of a connection, in the place of another layer."""

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF

from designer import own_blocks, placing
from designer.canvas.overlays.overlay import Loose, Marks
from designer.canvas.overlays.quick_add import QuickAdd
from designer.canvas.scene import PortHit
from designer.library.model import OwnEntry
from designer.own_blocks import Piece
from engine.errors import UserError
from engine.layers.block import BlockInput, BlockOutput
from engine.layers.types import TensorType
from engine.network import offers
from engine.network.layout import NODE_HEIGHT, NODE_WIDTH
from engine.network.network import Connection, Port

if TYPE_CHECKING:
    from designer.canvas.view import CanvasView


class Offering:
    """Opens the popup of the canvas and does what is chosen in it. There is at most one."""

    def __init__(self, view: "CanvasView") -> None:
        self._view = view
        self._editor = view.editor
        self.popup: QuickAdd | None = None
        """What is open now."""
        self.own: Sequence[OwnEntry] = ()
        """The blocks of the user's own."""

    def close(self) -> None:
        """Close what is open: what it was about may be gone."""
        if self.popup is not None:
            self.popup.hide()

    def at_ground(self, at: QPoint) -> None:
        """A layer with its middle at a point of the view."""
        place = placing.around(self._scene_point(at).toTuple())
        self._open("Add a layer…", None, at, lambda what: self._editor.add_layer(what, place), own=self.own)

    def into(self, connection: Connection, at: QPoint) -> None:
        """A layer in the middle of a connection."""
        place = placing.around(self._scene_point(at).toTuple())
        found = offers.takers(self._editor.analysis.type_at(connection.source))
        own = self._own_for(self._editor.analysis.type_at(connection.source), gives=True)
        self._open(
            "Insert a layer…", found, at, lambda what: self._editor.insert_layer(what, place, connection), own=own
        )

    def below(self, id: str) -> None:
        """A layer that takes what leaves this one; it goes below it."""
        layer = self._editor.network.layers[id]
        ports = layer.type.output_ports()
        if not ports:
            return
        x, y = self._editor.layout.at(id)
        found = offers.takers(self._editor.analysis.type_at(Port(id, ports[0])))
        at = self._view.mapFromScene(QPointF(x + NODE_WIDTH / 2, y + NODE_HEIGHT))
        own = self._own_for(self._editor.analysis.type_at(Port(id, ports[0])))
        self._open(f"Add a layer behind {layer.name}…", found, at, self._editor.add_layer, own=own)

    def at_port(self, port: PortHit, at: QPoint) -> None:
        """A layer at the other end of a connection that starts at a port and ends at a point of the view."""
        editor, end = self._editor, self._scene_point(at)
        name = editor.network.layers[port.port.layer].name
        if port.is_input:
            known = offers.known_inputs(editor.network, editor.analysis, port.port)
            found = offers.feeders(editor.network.layers[port.port.layer].acting, port.port.name, known)
            found = {**found, BlockInput.key: ""}  # gives what arrives at the block
        else:
            found = offers.takers(editor.analysis.type_at(port.port))
        own = () if port.is_input else self._own_for(editor.analysis.type_at(port.port))
        ends = (end, port.at) if port.is_input else (port.at, end)
        prompt = f"Feed {name} from…" if port.is_input else f"Connect {name} to…"

        def choose(what: str | Piece) -> None:
            editor.add_at_port(what, (end.x(), end.y()), port.port, is_input=port.is_input)

        self._open(prompt, found, at, choose, Marks(loose=Loose(*ends)), own)

    def replacement(self, id: str, at: QPoint) -> None:
        """Another type for a layer."""
        editor = self._editor
        found = offers.substitutes(editor.network, editor.analysis, id)
        prompt = f"Replace {editor.network.layers[id].name} with…"

        def choose(what: str | Piece) -> None:
            if isinstance(what, str):
                editor.replace_layer(id, what)

        self._open(prompt, found, at, choose)

    def _open(
        self,
        prompt: str,
        found: offers.Offers | None,
        at: QPoint,
        choose: Callable[[str | Piece], object],
        marks: Marks | None = None,
        own: Sequence[OwnEntry] = (),
    ) -> None:
        self.close()
        # The ports of a block stand inside one only.
        without = () if self._editor.scope else (BlockInput.key, BlockOutput.key)
        if found is not None:
            found = {key: why for key, why in found.items() if key not in without}
        popup = QuickAdd(prompt, found, self._view, own, without)
        popup.chosen.connect(lambda key: self._choose(key, choose))
        popup.own_chosen.connect(lambda entry: self._choose_own(entry, choose))
        popup.closed.connect(self._on_closed)
        self.popup = popup
        self._view.network_scene.show_marks(marks or Marks())
        popup.open_at(self._view.viewport().mapToGlobal(at))

    def _own_for(self, given: TensorType | None, *, gives: bool = False) -> list[OwnEntry]:
        """The blocks of the user's own that take what would arrive, and where it is wanted give something."""
        found = []
        for entry in self.own:
            with contextlib.suppress(UserError):
                type = own_blocks.parse(entry.payload).type
                count = len(type.input_ports())
                if count and (type.output_ports() or not gives) and not offers.refusal(type, [given] * count):
                    found.append(entry)
        return found

    def _choose(self, key: str, choose: Callable[[str | Piece], object]) -> None:
        before = self._editor.network
        choose(key)
        if self._editor.network is not before:
            self._view.type_used.emit(key)

    def _choose_own(self, entry: OwnEntry, choose: Callable[[str | Piece], object]) -> None:
        try:
            choose(own_blocks.parse(entry.payload))
        except UserError as error:
            self._editor.refused.emit(f"{entry.name}: {error}")

    def _on_closed(self) -> None:
        self.popup = None
        self._view.network_scene.show_marks(Marks())
        self._view.setFocus()

    def _scene_point(self, at: QPoint) -> QPointF:
        return self._view.viewportTransform().inverted()[0].map(QPointF(at))
