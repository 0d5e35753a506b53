"""Layer suggestions: the popup that adds a layer to the canvas, into a connection, at a port, or replaces one."""

import contextlib
from collections.abc import Callable, Collection, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from netwright.designer import clipboard, placement, theme
from netwright.designer.canvas.viewport import Viewport
from netwright.designer.clipboard import Piece
from netwright.designer.editor import Editor
from netwright.designer.engine_messages import message_text
from netwright.designer.language import named, tr
from netwright.designer.panels.library_model import (
    KEY_ROLE,
    REFUSAL_ROLE,
    USER_BLOCK_ROLE,
    LibraryFilter,
    LibraryModel,
    UserBlock,
    families,
)
from netwright.designer.panels.library_view import LibraryView
from netwright.designer.panels.parts import SearchField
from netwright.designer.scene.feedback import Feedback, LooseConnection
from netwright.designer.scene.node_items import PortHit
from netwright.engine.core.errors import UserError
from netwright.engine.core.types import TensorType
from netwright.engine.network.block import BlockInput, BlockOutput
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH
from netwright.engine.network.network import Connection, Port
from netwright.engine.network.suggestions import SuggestedTypes, feeders, known_inputs, refusal, substitutes, takers


class Suggestions(QObject):
    """Opens the popup that suggests layers and adds the one that is chosen. There is one popup at a time."""

    type_used = Signal(str)
    """The key of a layer type that was added or put in the place of another."""

    def __init__(self, view: Viewport, editor: Editor) -> None:
        super().__init__(view)
        self._view = view
        self._editor = editor
        self.popup: QuickAdd | None = None
        """The open popup."""
        self.user_blocks: Sequence[UserBlock] = ()
        """The user's own blocks."""

    def close(self) -> None:
        """Close the popup: the item for which it was opened may no longer exist."""
        if self.popup is not None:
            self.popup.hide()

    def at_ground(self, at: QPoint) -> None:
        """Suggest all layers; the chosen one goes to a point of the view."""
        place = placement.around(self._scene_point(at).toTuple())
        self._open(
            tr("Add a layer…"), None, at, lambda entry: self._editor.add_layer(entry, place), own=self.user_blocks
        )

    def into(self, connection: Connection, at: QPoint) -> None:
        """Suggest layers for the middle of a connection."""
        place = placement.around(self._scene_point(at).toTuple())
        suggestions = takers(self._editor.analysis.type_at(connection.source))
        own = self._accepting_blocks(self._editor.analysis.type_at(connection.source), needs_output=True)
        self._open(
            tr("Insert a layer…"),
            suggestions,
            at,
            lambda entry: self._editor.insert_layer(entry, place, connection),
            own=own,
        )

    def below(self, id: str) -> None:
        """Suggest layers that accept the output of this one; the chosen one goes below it."""
        layer = self._editor.network.layers[id]
        ports = layer.type.output_ports()
        if not ports:
            return
        x, y = self._editor.layout.at(id)
        suggestions = takers(self._editor.analysis.type_at(Port(id, ports[0])))
        at = self._view.mapFromScene(QPointF(x + NODE_WIDTH / 2, y + NODE_HEIGHT))
        own = self._accepting_blocks(self._editor.analysis.type_at(Port(id, ports[0])))
        clear = self._view.mapFromScene(QRectF(x, y, NODE_WIDTH, NODE_HEIGHT)).boundingRect()
        prompt = tr("Add a layer after {name}…", name=layer.name)
        self._open(prompt, suggestions, at, self._editor.add_layer, own=own, clear=clear)

    def above(self, id: str) -> None:
        """Suggest layers that feed this one, at its first open input; else for the connection to its first one."""
        layer, feeds = self._editor.network.layers[id], self._editor.network.incoming[id]
        ports = layer.type.input_ports()
        if not ports:
            self._editor.refused.emit(tr("{name} has no input: no layer can be before it.", name=layer.name))
            return
        name = next((name for name in ports if name not in feeds), ports[0])
        port = self._view.network_scene.port_at_layer(Port(id, name), True)
        at = self._view.mapFromScene(port.at)
        if name in feeds:
            self.into(Connection(feeds[name], Port(id, name)), at)
        else:
            self.at_port(port, at - QPoint(0, round(2 * NODE_HEIGHT * self._view.zoom)))

    def at_port(self, port: PortHit, at: QPoint) -> None:
        """Suggest layers for the other end of a connection that starts at a port and ends at a point of the view."""
        editor, end = self._editor, self._scene_point(at)
        name = editor.network.layers[port.port.layer].name
        if port.is_input:
            types = known_inputs(editor.network, editor.analysis, port.port)
            suggestions = feeders(editor.network.layers[port.port.layer].effective_type, port.port.name, types)
            suggestions = {**suggestions, BlockInput.key: ""}  # gives what arrives at the block
        else:
            suggestions = takers(editor.analysis.type_at(port.port))
        own = () if port.is_input else self._accepting_blocks(editor.analysis.type_at(port.port))
        ends = (end, port.at) if port.is_input else (port.at, end)
        prompt = tr("Feed {name} from…", name=name) if port.is_input else tr("Connect {name} to…", name=name)

        def choose(entry: str | Piece) -> None:
            editor.add_at_port(entry, (end.x(), end.y()), port.port, is_input=port.is_input)

        self._open(prompt, suggestions, at, choose, Feedback(loose=LooseConnection(*ends)), own)

    def replacement(self, id: str, at: QPoint) -> None:
        """Suggest types to replace a layer with."""
        editor = self._editor
        suggestions = substitutes(editor.network, editor.analysis, id)
        prompt = tr("Replace {name} with…", name=editor.network.layers[id].name)

        def choose(entry: str | Piece) -> None:
            if isinstance(entry, str):
                editor.replace_layer(id, entry)

        self._open(prompt, suggestions, at, choose)

    def _open(
        self,
        prompt: str,
        suggestions: SuggestedTypes | None,
        at: QPoint,
        choose: Callable[[str | Piece], object],
        feedback: Feedback | None = None,
        own: Sequence[UserBlock] = (),
        clear: QRect | None = None,
    ) -> None:
        self.close()
        # The ports of a block stand inside one only.
        without = () if self._editor.scope else (BlockInput.key, BlockOutput.key)
        if suggestions is not None:
            suggestions = {key: why for key, why in suggestions.items() if key not in without}
        popup = QuickAdd(prompt, suggestions, self._view, own, without)
        popup.chosen.connect(lambda key: self._choose(key, choose))
        popup.user_block_chosen.connect(lambda entry: self._choose_block(entry, choose))
        popup.closed.connect(self._on_closed)
        self.popup = popup
        self._view.network_scene.show_feedback(feedback or Feedback())
        viewport = self._view.viewport()
        popup.open_at(viewport.mapToGlobal(at), clear and clear.translated(viewport.mapToGlobal(QPoint(0, 0))))

    def _accepting_blocks(self, type: TensorType | None, *, needs_output: bool = False) -> list[UserBlock]:
        """The user's blocks that accept a type and, with `needs_output`, have an output."""
        accepting = []
        for entry in self.user_blocks:
            with contextlib.suppress(UserError):
                block = clipboard.read_block(entry.payload).type
                count = len(block.input_ports())
                has_ports = count and (block.output_ports() or not needs_output)
                if has_ports and not refusal(block, [type] * count):
                    accepting.append(entry)
        return accepting

    def _choose(self, key: str, choose: Callable[[str | Piece], object]) -> None:
        before = self._editor.network
        choose(key)
        if self._editor.network is not before:
            self.type_used.emit(key)

    def _choose_block(self, entry: UserBlock, choose: Callable[[str | Piece], object]) -> None:
        try:
            choose(clipboard.read_block(entry.payload))
        except UserError as error:
            self._editor.refused.emit(named(entry.name, message_text(error)))

    def _on_closed(self) -> None:
        self.popup = None
        self._view.network_scene.show_feedback(Feedback())
        self._view.return_focus()

    def _scene_point(self, at: QPoint) -> QPointF:
        return self._view.viewportTransform().inverted()[0].map(QPointF(at))


WIDTH, HEIGHT = 264, 332
_EDGE = 8
_BELOW = 10


class QuickAdd(QFrame):
    """The layer library in a popup: typing filters, Enter takes the best match, Escape closes.

    With suggestions, types that fit come first; the others are muted and say why."""

    chosen = Signal(str)
    """The key of the layer type. The popup is closed by then."""
    user_block_chosen = Signal(object)
    """The chosen `UserBlock`. The popup is closed by then."""
    closed = Signal()

    def __init__(
        self,
        prompt: str,
        suggestions: SuggestedTypes | None,
        parent: QWidget,
        own: Sequence[UserBlock] = (),
        without: Collection[str] = (),
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        theme.mark(self, "role", "popup")
        self.setAccessibleName(prompt)
        self.setFixedSize(WIDTH, HEIGHT)
        self.search = SearchField(prompt, prompt)
        self.search.textChanged.connect(self._filter)
        self.search.installEventFilter(self)
        groups = _groups(suggestions)
        if groups is None and without:
            keys_by_family = {title: [key for key in keys if key not in without] for title, keys in families().items()}
            groups = {title: keys for title, keys in keys_by_family.items() if keys}
        self.model = LibraryModel(self, groups, suggestions)
        self.model.show_user_blocks(own)
        self.filter = LibraryFilter(self.model)
        self.view = LibraryView()
        self.view.setDragEnabled(False)
        self.view.setRootIsDecorated(False)
        self.view.set_flat()
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setModel(self.filter)
        self.view.ensurePolished()  # else Qt measures the rows before they are dressed
        self.view.expandAll()
        self.view.setItemsExpandable(False)
        self.view.clicked.connect(self._on_click)
        self.view.chosen.connect(self._take)
        self.view.user_block_chosen.connect(self._take_own)
        self.empty = QLabel()
        self.empty.setWordWrap(True)
        theme.mark(self.empty, "role", "muted")
        self.empty.hide()
        self.why = QLabel()
        self.why.setWordWrap(True)
        self.why.setMargin(8)
        theme.mark(self.why, "role", "help")
        self.why.hide()
        self.view.selectionModel().currentChanged.connect(self._explain)
        self._lay_out()
        if suggestions is not None and groups:
            self.view.setCurrentIndex(next(index for index in self.view.entries() if index.data(KEY_ROLE)))

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 4)
        column.setSpacing(4)
        top = QVBoxLayout()
        top.setContentsMargins(8, 0, 8, 0)
        top.setSpacing(8)
        top.addWidget(self.search)
        top.addWidget(self.empty)
        column.addLayout(top)
        column.addWidget(self.view, 1)
        column.addStretch()
        column.addWidget(self.why)

    def open_at(self, at: QPoint, clear: QRect | None = None) -> None:
        """Show the popup with the search field below a point of the screen, entirely on the screen, and beside the
        rectangle that is to stay clear."""
        room = self.screen().availableGeometry().adjusted(_EDGE, _EDGE, -_EDGE, -_EDGE)
        place = QRect(QPoint(at.x() - 16, at.y() + _BELOW), self.size())
        place.moveBottom(min(place.bottom(), room.bottom()))
        if clear is not None and place.intersects(clear):
            place.moveLeft(clear.right() + _BELOW)
            if place.right() > room.right():
                place.moveRight(clear.left() - _BELOW)
        place.moveRight(min(place.right(), room.right()))
        self.move(max(place.left(), room.left()), max(place.top(), room.top()))
        self.show()
        self.search.setFocus(Qt.FocusReason.PopupFocusReason)

    def _filter(self, text: str) -> None:
        self.filter.search(text)
        self.view.expandAll()
        self.view.select_best(text)
        is_empty = not self.filter.rowCount()
        self.empty.setText(tr("No layer matches “{text}”.", text=text))
        self.empty.setVisible(is_empty)
        self.view.setVisible(not is_empty)

    def _explain(self, index: QModelIndex) -> None:
        """Show below the list why the current type does not fit."""
        why = index.data(REFUSAL_ROLE)
        self.why.setText(why or "")
        self.why.setVisible(bool(why))

    def _on_click(self, index: QModelIndex) -> None:
        if key := index.data(KEY_ROLE):
            self._take(key)
        elif isinstance(own := index.data(USER_BLOCK_ROLE), UserBlock):
            self._take_own(own)

    def _take(self, key: str) -> None:
        if self.isVisible():
            self.hide()
            self.chosen.emit(key)

    def _take_own(self, entry: UserBlock) -> None:
        if self.isVisible():
            self.hide()
            self.user_block_chosen.emit(entry)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """While searching, the arrows move through the results, Enter takes one, Escape closes."""
        if watched is self.search and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.hide()
                return True
            return self.view.take_key(event.key())
        return super().eventFilter(watched, event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Handle hiding, which a click outside causes too."""
        super().hideEvent(event)
        self.closed.emit()
        self.deleteLater()


def _groups(suggestions: SuggestedTypes | None) -> dict[str, list[str]] | None:
    """Return the types that fit, then those that do not; without suggestions None, which means families."""
    if suggestions is None:
        return None
    fits = [key for key, why in suggestions.items() if not why]
    rest = [key for key, why in suggestions.items() if why]
    return {title: keys for title, keys in ((tr("Fits here"), fits), (tr("Does not fit"), rest)) if keys}
