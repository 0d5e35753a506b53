"""The canvas as a widget: zoom, what the pointer and the keys do, and what lies over the network."""

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QHelpEvent,
    QInputDevice,
    QKeyEvent,
    QMouseEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QMenu, QToolTip, QWidget

from designer.auto_layout import Arranging
from designer.canvas import menus, tips
from designer.canvas.annotation_tools import Annotating
from designer.canvas.keyboard import HELP, Keys
from designer.canvas.minimap import Minimap
from designer.canvas.motion import READABLE, Glide, Sight
from designer.canvas.overlays import Busy, EmptyState, Hint, Trail, ZoomChip
from designer.canvas.suggestions import Offering
from designer.canvas.text_fields import RenameField
from designer.canvas.viewport import ZOOM_STEP, Viewport
from designer.editor import Editor
from designer.gestures.connect import Connect
from designer.gestures.drop import Drops
from designer.gestures.gesture import Gesture, Pointer
from designer.gestures.lasso import Lasso
from designer.gestures.move import Move
from designer.gestures.pan import Pan
from designer.gestures.reconnect import Reconnect, near_end
from designer.gestures.select import Select
from designer.scene.feedback import Marks
from designer.scene.pipeline_stages import Staging
from designer.scene.scene import PortHit, Scene
from engine.network.layout import NODE_WIDTH, Flow, Layout

_MARGIN = 14
_REACH_PIXELS = 8.0


class CanvasView(Viewport):
    """Shows the editor's network, and turns what mouse and keys do into edits."""

    example_requested = Signal()
    add_input_requested = Signal()
    keep_requested = Signal()
    """The selected block shall be saved to the user's own."""
    type_used = Signal(str)
    """The key of a layer type that was added or put in the place of another."""
    edit_requested = Signal()
    """Enter: the fields of the selected layers are wanted."""

    def __init__(self, editor: Editor, parent: QWidget | None = None) -> None:
        super().__init__(Scene(editor), parent)
        self.editor = editor
        self._scene.setParent(self)
        self._gesture: Gesture | None = None
        self._press: Pointer | None = None
        self.keys = Keys(self)
        self._drops = Drops(self, self._pointer)
        self._pointer_at = QPoint()
        self.setAccessibleName("Network canvas")
        self.setAccessibleDescription(HELP)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAcceptDrops(True)
        self.chip = ZoomChip(self)
        self.minimap = Minimap(self._scene, self)
        self.empty = EmptyState(self)
        self.trail = Trail(editor, self)
        self._hint = Hint(self)
        self.offering = Offering(self)
        self.annotating = Annotating(self)
        self.busy = Busy(self)
        self.arranging = Arranging(editor, self)
        self.glide = Glide(self._scene, self)
        self.staging = Staging(editor, self._scene, self)
        self._is_pointer_here = False
        self._clicked_ground = False
        self._wire()
        self._show_emptiness()

    def _wire(self) -> None:
        self.editor.project_changed.connect(self._end_gesture)
        self.editor.project_changed.connect(self._show_emptiness)
        self.editor.project_changed.connect(self.make_room)
        self.sight = Sight(self, self.editor)
        self.chip.zoom_in.connect(self.zoom_in)
        self.chip.zoom_out.connect(self.zoom_out)
        self.chip.zoom_reset.connect(self.zoom_reset)
        self.chip.fit.connect(self.fit)
        self.minimap.moved.connect(self.look_at)
        self.empty.example_requested.connect(self.example_requested)
        self.empty.add_input_requested.connect(self._add_input)
        self.zoom_changed.connect(self.chip.show_zoom)
        self.arranging.arranged.connect(self._show_arranged)
        self.arranging.took_long.connect(self.busy.say)
        self.arranging.ended.connect(self.busy.hide)
        self.busy.cancelled.connect(self.arranging.cancel)
        self.visible_changed.connect(self.minimap.show_visible)
        self._scene.tint_changed.connect(self.minimap.refresh)
        self.staging.changed.connect(self.minimap.refresh)

    # What gestures ask for

    @property
    def network_scene(self) -> Scene:
        """What draws the network."""
        return self._scene

    @property
    def reach(self) -> float:
        """How near is near enough for the pointer, in canvas units."""
        return _REACH_PIXELS / min(self.zoom, 1.0) if self.zoom > 0.5 else 2 * _REACH_PIXELS

    def hint(self, text: str, at: QPointF | None = None) -> None:
        """Say something beside the pointer, or beside a point of the canvas; nothing takes it away."""
        self._hint.say(text, self._pointer_at if at is None else self.mapFromScene(at))

    def offer_at_port(self, port: PortHit, at: QPoint) -> None:
        """Offer layers for the other end of a connection that was let go at a point of the view."""
        self.offering.at_port(port, at)

    def arrange(self, flow: Flow | None = None) -> None:
        """Arrange the whole network and show it; a large one in the background."""
        self.arranging.arrange(flow)

    def _show_arranged(self, before: Layout) -> None:
        """Layers that were few glide to where they are now."""
        self.fit()
        self.glide.begin(before.positions)

    def go_to(self, id: str) -> None:
        """Select a layer and bring it into sight."""
        if id not in self.editor.network.layers:
            return
        self.editor.set_selection({id})
        self.setFocus()
        self.reveal(id)

    def reveal(self, id: str) -> None:
        """Bring a layer into sight, near enough to be read."""
        self.sight.reveal(id)

    def fit_selection(self) -> None:
        """Show the selected layers as large as they go, at most at 100 %; without any the whole network."""
        if self.editor.selection:
            self.fit_to(self.sight.box(self.editor.selection))
        else:
            self.fit()

    def open_selected(self) -> bool:
        """Show what is inside the selected block, if one block is all that is selected."""
        return len(self.editor.selection) == 1 and self.editor.open_block(next(iter(self.editor.selection)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()
        self.make_room()
        if self.keeps_fit:
            self.fit()

    def _lay_out(self) -> None:
        width, height = self.width(), self.height()
        self.chip.move(_MARGIN, height - self.chip.height() - _MARGIN)
        self.minimap.move(width - self.minimap.width() - _MARGIN, height - self.minimap.height() - _MARGIN)
        self.busy.place()
        self.trail.move(_MARGIN, _MARGIN)
        self.empty.move((width - self.empty.width()) // 2, (height - self.empty.height()) // 2)

    def _show_emptiness(self) -> None:
        layout = self.editor.layout
        is_empty = not (self.editor.network.layers or layout.frames or layout.comments)
        self.empty.setVisible(is_empty)
        self.chip.setVisible(not is_empty)
        if is_empty:
            self.minimap.hide()

    def _add_input(self) -> None:
        self.editor.add_layer("image_input")
        self.setFocus()
        self.add_input_requested.emit()

    # Mouse

    def _pointer(self, at: QPointF, keys: Qt.KeyboardModifier) -> Pointer:
        self._pointer_at = at.toPoint()
        self._is_pointer_here = True
        return Pointer(self.viewportTransform().inverted()[0].map(at), at.toPoint(), keys)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        pointer = self._pointer(event.position(), event.modifiers())
        if self._gesture is not None:
            return
        self.keys.end_connecting()
        self.glide.stop()
        if event.button() == Qt.MouseButton.MiddleButton or (
            event.button() == Qt.MouseButton.LeftButton and self.keys.holds_space
        ):
            self._begin(Pan(self), pointer)
        elif event.button() == Qt.MouseButton.LeftButton:
            self._begin(self._gesture_at(pointer), pointer)

    def _gesture_at(self, pointer: Pointer) -> Gesture:
        self._clicked_ground = False
        if self.keys.lassos:
            self.keys.lassos = False
            return Lasso(self)
        if self.zoom >= READABLE and (port := self._scene.port_at(pointer.scene, self.reach)):
            leaving = self.editor.network.outgoing[port.port.layer] if not port.is_input else []
            is_taking = bool(pointer.keys & Qt.KeyboardModifier.ShiftModifier)
            return Connect(self, port, [c for c in leaving if is_taking and c.source == port.port])
        if (id := self._layer_at(pointer.scene)) is not None:
            return Move(self, id)
        if self.zoom >= READABLE and (end := near_end(self, pointer)) is not None:
            return Reconnect(self, *end)
        if (gesture := self.annotating.gesture_at(pointer)) is not None:
            return gesture
        if pointer.keys & Qt.KeyboardModifier.AltModifier:
            return Lasso(self)
        self._clicked_ground = True
        return Select(self)

    def _layer_at(self, at: QPointF) -> str | None:
        """The layer at a point that no title of a frame covers."""
        return None if self.annotating.tab_at(at) is not None else self._scene.node_at(at)

    def _begin(self, gesture: Gesture, pointer: Pointer) -> None:
        self._gesture, self._press = gesture, pointer
        self._scene.show_marks(Marks())
        gesture.press(pointer)
        self.viewport().setCursor(gesture.cursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        pointer = self._pointer(event.position(), event.modifiers())
        if self._gesture is None:
            self._hover(pointer)
            return
        if self._press is not None:
            way = (pointer.view - self._press.view).manhattanLength()
            if way < QApplication.startDragDistance() and not isinstance(self._gesture, Pan):
                return
            self._press = None
        self._gesture.move(pointer)

    def _hover(self, pointer: Pointer) -> None:
        if self.offering.popup is not None or self.keys.connecting is not None:
            return
        port = self._scene.port_at(pointer.scene, self.reach) if self.zoom >= READABLE else None
        if port is None and self.zoom >= READABLE and (end := near_end(self, pointer)) is not None:
            port = end[1]
        self._scene.show_marks(Marks(hover=port.at) if port else Marks())
        self.show_cursor(is_at_port=port is not None)
        if port is None and self._gesture is None and not (self.keys.lassos or self.keys.holds_space):
            self.annotating.show_cursor(pointer)

    def show_cursor(self, *, is_at_port: bool = False) -> None:
        """The cursor that says what a press would begin."""
        if self._gesture is not None:
            return
        shape = Qt.CursorShape.CrossCursor if is_at_port or self.keys.lassos else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(Qt.CursorShape.OpenHandCursor if self.keys.holds_space else shape)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._gesture is None or event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            return
        pointer = self._pointer(event.position(), event.modifiers())
        gesture, self._gesture = self._gesture, None
        gesture.release(pointer)
        self._hover(pointer)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        pointer = self._pointer(event.position(), event.modifiers())
        if event.button() != Qt.MouseButton.LeftButton or self.keys.holds_space:
            self.mousePressEvent(event)
        elif (id := self._layer_at(pointer.scene)) is not None:
            if not self.editor.open_block(id):
                self.rename(id)
        elif not self.annotating.edit_at(pointer):
            self._offer_at(pointer)

    def _offer_at(self, pointer: Pointer) -> None:
        if (connection := self._scene.connection_at(pointer.scene, self.reach)) is not None:
            self.offering.into(connection, pointer.view)
        elif self._scene.port_at(pointer.scene, self.reach) is None:
            self.offering.at_ground(pointer.view)

    def quick_add(self) -> None:
        """Offer layers: behind the one selected layer, into the one selected connection, else at the pointer."""
        self.cancel()
        at = self.pointer_at
        chosen, lines = self.editor.selection, self.editor.selected_connections
        if len(chosen) == 1 and not lines:
            (id,) = chosen
            self.reveal(id)
            self.offering.below(id)
        elif len(lines) == 1 and not chosen:
            self.offering.into(next(iter(lines)), at)
        else:
            self.offering.at_ground(at)

    @property
    def has_pointer(self) -> bool:
        """Whether the pointer is over the canvas."""
        return self._is_pointer_here

    @property
    def pointer_at(self) -> QPoint:
        """Where the pointer is in the view; in its middle if it is elsewhere."""
        return self._pointer_at if self._is_pointer_here else self.viewport().rect().center()

    def cancel(self) -> bool:
        """End the gesture that is under way as if it had not begun; whether there was one."""
        self.keys.end_connecting()
        gesture, self._gesture = self._gesture, None
        if gesture is None:
            return False
        gesture.cancel()
        self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
        return True

    def _end_gesture(self) -> None:
        """An edit from elsewhere, such as undo by its key, takes the ground from under a gesture."""
        self.cancel()
        self.offering.close()

    def wheelEvent(self, event: QWheelEvent) -> None:
        pad = event.device() is not None and event.device().type() == QInputDevice.DeviceType.TouchPad
        keys = event.modifiers()
        turn = event.angleDelta()
        if keys & Qt.KeyboardModifier.ShiftModifier:
            self.scroll_by(QPoint(-(turn.y() or turn.x()), 0))
        elif pad and not keys & Qt.KeyboardModifier.ControlModifier:
            self.scroll_by(-(event.pixelDelta() if not event.pixelDelta().isNull() else turn))
        else:
            self.zoom_around(event.position().toPoint(), ZOOM_STEP ** (turn.y() / 120))
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        at = event.pos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard and self.editor.selection:
            id = next(one for one in self.editor.network.layers if one in self.editor.selection)
            self.reveal(id)
            at = self.mapFromScene(self.sight.box({id}).center())
        elif event.reason() == QContextMenuEvent.Reason.Keyboard and self.editor.selected_marks:
            at = self.annotating.reveal(next(iter(self.editor.selected_marks)))
        pointer = self._pointer(QPointF(at), Qt.KeyboardModifier.NoModifier)
        self.cancel()
        menu = self.menu_at(pointer.scene)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.viewport().mapToGlobal(at))

    def menu_at(self, at: QPointF) -> QMenu:
        """The menu for what is at a point; that is selected by asking for it."""
        id = self._layer_at(at)
        if id is not None:
            if id not in self.editor.selection:
                self.editor.set_selection({id})
            corner = self.mapFromScene(at)
            return menus.layer_menu(
                self.editor,
                self,
                lambda: self.rename(id),
                lambda: self.offering.replacement(id, corner),
                self.annotating.frame_selection,
                self.keep_requested.emit,
                menus.stage_menu(self.staging, self),
            )
        if (menu := self.annotating.menu_at(at)) is not None:
            return menu
        connection = self._scene.connection_at(at, self.reach)
        if connection is not None:
            self.editor.set_selection((), {connection})
            return menus.connection_menu(self.editor, self, connection)
        return menus.canvas_menu(
            self.editor,
            self,
            at,
            self.fit,
            lambda: self.offering.at_ground(self.mapFromScene(at)),
            lambda: self.arrange(),
            lambda: self.annotating.add_comment(at),
        )

    # Drops from the palette

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self._drops.enter(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self._drops.move(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._drops.leave()

    def dropEvent(self, event: QDropEvent) -> None:
        self._drops.drop(event)

    # Keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.keys.press(event):
            event.ignore()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        self.keys.release(event)

    def focusNextPrevChild(self, is_next: bool) -> bool:
        """Tab goes from layer to layer in the order of the network, and out of the canvas behind the last.

        Right after a click on the ground it offers layers there instead, once, so that nobody is caught.
        """
        if is_next and self._clicked_ground and not self.editor.selection and not self.editor.selected_connections:
            self._clicked_ground = False
            self.quick_add()
            return True
        return self.keys.tab(is_next) or super().focusNextPrevChild(is_next)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.keys.leave()
        self._clicked_ground = False
        self.cancel()
        super().focusOutEvent(event)

    def edit_selected(self) -> None:
        """Ask for the fields of the selected layers, wherever they are shown; a frame's title is edited in its place,
        a comment's text too."""
        if self.editor.selection:
            self.edit_requested.emit()
        else:
            self.annotating.edit_selected()

    def rename_selected(self) -> None:
        """Rename the selected layer in its place."""
        if len(self.editor.selection) == 1:
            self.rename(next(iter(self.editor.selection)))
        elif not self.editor.selection:
            self.annotating.edit_selected()

    def rename(self, id: str) -> None:
        """Put a line to type in over the name of a layer."""
        self.cancel()
        self.reveal(id)
        x, y = self.editor.layout.at(id)
        corner = self.mapFromScene(QPointF(x + 10, y))
        line = RenameField(self.editor, id, self)
        line.refusal.connect(self._hint_rename)
        line.closed.connect(self.setFocus)
        line.setGeometry(corner.x(), corner.y() - 4, max(160, round((NODE_WIDTH - 12) * self.zoom)), 30)
        self._pointer_at = line.geometry().bottomLeft() - QPoint(16, 14)
        line.show()
        line.setFocus()

    def _hint_rename(self, text: str) -> None:
        self._hint.say(text, self._pointer_at)

    # Tooltips

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            at = self._pointer(QPointF(event.pos()), Qt.KeyboardModifier.NoModifier).scene
            text = tips.text_at(self._scene, at, self.reach) or self.annotating.text_at(at)
            QToolTip.showText(event.globalPos(), text, self.viewport())
            return True
        if event.type() == QEvent.Type.Leave:
            self._is_pointer_here = False
            if self._gesture is None and self.offering.popup is None and self.keys.connecting is None:
                self._scene.show_marks(Marks())
        return super().viewportEvent(event)
