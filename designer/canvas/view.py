"""The canvas as a widget: it turns mouse and keys into gestures and edits, and holds the widgets over the network."""

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
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from netwright.designer.auto_layout import AutoLayout
from netwright.designer.canvas import spoken
from netwright.designer.canvas.annotation_tools import AnnotationTools
from netwright.designer.canvas.keyboard import HELP, Keyboard
from netwright.designer.canvas.menus import Menus
from netwright.designer.canvas.motion import LayoutAnimation, ViewTracker
from netwright.designer.canvas.overlays import Overlays
from netwright.designer.canvas.quick_add import Suggestions
from netwright.designer.canvas.spoken import announce
from netwright.designer.canvas.text_fields import RenameField
from netwright.designer.canvas.viewport import ZOOM_STEP, Viewport
from netwright.designer.editor import Editor
from netwright.designer.first_network import FirstNetwork
from netwright.designer.gestures.connect import Connect
from netwright.designer.gestures.drop import DropTarget
from netwright.designer.gestures.gesture import Gesture, Pointer
from netwright.designer.gestures.lasso import Lasso
from netwright.designer.gestures.move import Move
from netwright.designer.gestures.pan import Pan
from netwright.designer.gestures.reconnect import Reconnect, near_end
from netwright.designer.gestures.resize import Resize
from netwright.designer.gestures.select import Select
from netwright.designer.language import tr, translation
from netwright.designer.markup import visible
from netwright.designer.scene.feedback import Feedback
from netwright.designer.scene.lens import Lenses
from netwright.designer.scene.node_items import PortHit
from netwright.designer.scene.pipeline_view import PipelineStages
from netwright.designer.scene.scene import Scene
from netwright.engine.network.layout import NODE_WIDTH, Flow, Layout


class CanvasView(Viewport):
    """Shows the editor's network, and turns mouse and key events into edits."""

    example_requested = Signal()
    add_input_requested = Signal()
    keep_requested = Signal()
    """Emitted to save the selected block to the user's own blocks."""
    edit_requested = Signal()
    """Emitted when Enter was pressed, to edit the fields of the selected layers."""

    def __init__(self, editor: Editor, parent: QWidget | None = None, *, lenses: Lenses | None = None) -> None:
        super().__init__(Scene(editor), parent)
        self.editor = editor
        self.lenses = lenses or Lenses(self)
        self._scene.setParent(self)
        self._gesture: Gesture | None = None
        self._press: Pointer | None = None
        self._pointer_at = QPoint()
        self._is_pointer_here = False
        self._clicked_ground = False
        self._drop_target = DropTarget(self, self._pointer)
        self.setAccessibleName(tr("Network canvas"))
        self.setAccessibleDescription(translation(HELP))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAcceptDrops(True)
        self.stages = PipelineStages(editor, self._scene, self.lenses, self)
        self.overlays = Overlays(self, editor, self.lenses, self.stages)
        self.suggestions = Suggestions(self, editor)
        self.annotation_tools = AnnotationTools(self, editor)
        self.auto_layout = AutoLayout(editor, self)
        self.animation = LayoutAnimation(self._scene, self)
        self.keyboard = Keyboard(self, self.annotation_tools, self.stages, self.auto_layout, self.lenses)
        self.menus = Menus(self, self)
        self._connect_signals()

    def _connect_signals(self) -> None:
        self.editor.project_changed.connect(self._end_gesture)
        self.editor.selection_changed.connect(self._announce_selection)
        self.editor.project_changed.connect(self.make_room)
        self._tracker = ViewTracker(self, self.editor)
        self.overlays.empty.example_requested.connect(self.example_requested)
        self.overlays.empty.add_input_requested.connect(self._add_input)
        self._first_network = FirstNetwork(self.editor, self)
        self._first_network.made.connect(self.setFocus)
        self.overlays.empty.starter_requested.connect(self._first_network.make)
        self.annotation_tools.about_to_edit.connect(self.cancel)
        self.auto_layout.arranged.connect(self._show_arranged)
        self.auto_layout.took_long.connect(self.overlays.busy.say)
        self.auto_layout.ended.connect(self.overlays.busy.hide)
        self.overlays.busy.cancelled.connect(self.auto_layout.cancel)
        self.overlays.go_to.connect(self.go_to)
        self.lenses.changed.connect(lambda: self._scene.show_tint(self.lenses.tint))

    # For gestures and the keyboard

    def hint(self, text: str, at: QPointF | None = None) -> None:
        """Show a hint beside the pointer, or beside a point of the canvas; an empty text hides it."""
        self.overlays.hint.say(text, self._pointer_at if at is None else self.mapFromScene(at))

    def _announce_selection(self) -> None:
        """Announce what is selected, unless the outline, whose rows speak for themselves, has the keyboard."""
        if self.isVisible() and (self.home is None or not self.home.hasFocus()):
            self.announce(spoken.of_selection(self.editor))

    def announce(self, text: str) -> None:
        """Let a screen reader announce a text."""
        announce(self, text)

    def suggest_at_port(self, port: PortHit, at: QPoint) -> None:
        """Suggest layers for the other end of a connection that was dropped at a point of the view."""
        self.suggestions.at_port(port, at)

    def arrange(self, flow: Flow | None = None) -> None:
        """Lay out the whole network and show it; a large one in the background."""
        self.auto_layout.aspect = self.width() / max(1, self.height())
        self.auto_layout.arrange(flow)

    def _show_arranged(self, before: Layout) -> None:
        self.fit_legibly()
        self.animation.begin(before.positions)

    def go_to(self, id: str) -> None:
        """Select a layer and scroll to it."""
        if id not in self.editor.network.layers:
            return
        self.editor.set_selection({id})
        self.setFocus()
        self.reveal(id)

    def fit_selection(self) -> None:
        """Show the selected layers as large as possible, at most at 100 %; without a selection the whole network."""
        if self.editor.selection:
            self.fit_to(self.layers_box(self.editor.selection))
        else:
            self.fit()

    def open_selected(self) -> bool:
        """Open the selected block; return whether exactly one block is selected."""
        return len(self.editor.selection) == 1 and self.editor.open_block(next(iter(self.editor.selection)))

    def frame_selection(self) -> None:
        """Add a frame around the selection."""
        self.annotation_tools.frame_selection()

    def add_comment(self) -> None:
        """Add a comment at the pointer, or in the middle of the view."""
        self.annotation_tools.add_comment(self.mapToScene(self.pointer_at), is_centre=not self._is_pointer_here)

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
        self.keyboard.end_connecting()
        self.animation.stop()
        if event.button() == Qt.MouseButton.MiddleButton or (
            event.button() == Qt.MouseButton.LeftButton and self.keyboard.holds_space
        ):
            self._begin(Pan(self), pointer)
        elif event.button() == Qt.MouseButton.LeftButton:
            self._begin(self._gesture_at(pointer), pointer)

    def _gesture_at(self, pointer: Pointer) -> Gesture:
        self._clicked_ground = False
        if self.keyboard.lassos:
            self.keyboard.lassos = False
            return Lasso(self)
        if self.is_readable and (port := self._scene.port_at(pointer.scene, self.reach)):
            leaving = self.editor.network.outgoing[port.port.layer] if not port.is_input else []
            is_taking = bool(pointer.keys & Qt.KeyboardModifier.ShiftModifier)
            return Connect(self, port, [c for c in leaving if is_taking and c.source == port.port])
        if (id := self.layer_at(pointer.scene)) is not None:
            return Move(self, id)
        if self.is_readable and (end := near_end(self, pointer)) is not None:
            return Reconnect(self, *end)
        if (hit := self.annotation_tools.hit_at(pointer.scene)) is not None:
            if hit.sides == (0, 0):
                return Move(self, hit.mark)
            return Resize(self, hit.mark, hit.annotation, hit.sides)
        if pointer.keys & Qt.KeyboardModifier.AltModifier:
            return Lasso(self)
        self._clicked_ground = True
        return Select(self)

    def layer_at(self, at: QPointF) -> str | None:
        """Return the layer at a point, unless the title of a frame covers it."""
        return None if self.annotation_tools.title_at(at) is not None else self._scene.node_at(at)

    def _begin(self, gesture: Gesture, pointer: Pointer) -> None:
        self._gesture, self._press = gesture, pointer
        self._scene.show_feedback(Feedback())
        gesture.press(pointer)
        self.viewport().setCursor(gesture.cursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        pointer = self._pointer(event.position(), event.modifiers())
        if self._gesture is None:
            self._hover(pointer)
            return
        if self._press is not None:
            distance = (pointer.view - self._press.view).manhattanLength()
            if distance < QApplication.startDragDistance() and not isinstance(self._gesture, Pan):
                return
            self._press = None
        self._gesture.move(pointer)

    def _hover(self, pointer: Pointer) -> None:
        if self.suggestions.popup is not None or self.keyboard.connecting is not None:
            return
        port = self._scene.port_at(pointer.scene, self.reach) if self.is_readable else None
        if port is None and self.is_readable and (end := near_end(self, pointer)) is not None:
            port = end[1]
        self._scene.show_feedback(Feedback(hover=port.at) if port else Feedback())
        self.show_cursor(is_at_port=port is not None)
        if port is None and self._gesture is None and not (self.keyboard.lassos or self.keyboard.holds_space):
            self.annotation_tools.show_cursor(pointer.scene)

    def show_cursor(self, *, is_at_port: bool = False) -> None:
        """Show the cursor of the gesture that a press would begin."""
        if self._gesture is not None:
            return
        shape = Qt.CursorShape.CrossCursor if is_at_port or self.keyboard.lassos else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(Qt.CursorShape.OpenHandCursor if self.keyboard.holds_space else shape)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._gesture is None or event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            return
        pointer = self._pointer(event.position(), event.modifiers())
        gesture, self._gesture = self._gesture, None
        gesture.release(pointer)
        self._hover(pointer)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        pointer = self._pointer(event.position(), event.modifiers())
        if event.button() != Qt.MouseButton.LeftButton or self.keyboard.holds_space:
            self.mousePressEvent(event)
        elif (id := self.layer_at(pointer.scene)) is not None:
            if not self.editor.open_block(id):
                self.rename(id)
        elif not self.annotation_tools.edit_at(pointer.scene):
            if (connection := self._scene.edges.at(pointer.scene, self.reach)) is not None:
                self.suggestions.into(connection, pointer.view)
            elif self._scene.port_at(pointer.scene, self.reach) is None:
                self.suggestions.at_ground(pointer.view)

    def quick_add(self) -> None:
        """Suggest layers: behind the one selected layer, in the one selected connection, else at the pointer."""
        self.cancel()
        at = self.pointer_at
        selection, lines = self.editor.selection, self.editor.selected_connections
        if len(selection) == 1 and not lines:
            (id,) = selection
            self.reveal(id)
            self.suggestions.below(id)
        elif len(lines) == 1 and not selection:
            self.suggestions.into(next(iter(lines)), at)
        else:
            self.suggestions.at_ground(at)

    def quick_add_before(self) -> None:
        """Suggest layers that feed the one selected layer."""
        self.cancel()
        if len(self.editor.selection) == 1:
            (id,) = self.editor.selection
            self.reveal(id)
            self.suggestions.above(id)

    def replace_selected(self) -> None:
        """Suggest types to replace the one selected layer with."""
        (id,) = self.editor.selection
        self.suggestions.replacement(id, self.mapFromScene(self.layers_box({id}).center()))

    @property
    def pointer_at(self) -> QPoint:
        """Return the position of the pointer in the view; the centre of the view if it is elsewhere."""
        return self._pointer_at if self._is_pointer_here else self.viewport().rect().center()

    def cancel(self) -> bool:
        """Cancel the gesture in progress; return whether there was one."""
        self.keyboard.end_connecting()
        gesture, self._gesture = self._gesture, None
        if gesture is None:
            return False
        gesture.cancel()
        self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
        return True

    def _end_gesture(self) -> None:
        """End the gesture after an edit from elsewhere, such as undo: its items may no longer exist."""
        self.cancel()
        self.suggestions.close()

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
            id = next(id for id in self.editor.network.layers if id in self.editor.selection)
            self.reveal(id)
            at = self.mapFromScene(self.layers_box({id}).center())
        elif event.reason() == QContextMenuEvent.Reason.Keyboard and self.editor.selected_marks:
            at = self.annotation_tools.reveal(next(iter(self.editor.selected_marks)))
        pointer = self._pointer(QPointF(at), Qt.KeyboardModifier.NoModifier)
        self.cancel()
        menu = self.menus.at(pointer.scene)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.viewport().mapToGlobal(at))

    # Drops from the library

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self._drop_target.enter(event):
            self.cancel()
        else:
            event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self._drop_target.move(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._drop_target.leave()

    def dropEvent(self, event: QDropEvent) -> None:
        if self._drop_target.drop(event):
            self.setFocus()

    # Keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.keyboard.press(event):
            event.ignore()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        self.keyboard.release(event)

    def focusNextPrevChild(self, is_next: bool) -> bool:
        """Leave the canvas; while keys make a connection, choose its input.

        Right after a click outside layers, suggest layers there instead, once, so that the focus is not trapped.
        """
        if is_next and self._clicked_ground and not self.editor.selection and not self.editor.selected_connections:
            self._clicked_ground = False
            self.quick_add()
            return True
        return self.keyboard.tab(is_next) or super().focusNextPrevChild(is_next)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.keyboard.leave()
        self._clicked_ground = False
        self.cancel()
        super().focusOutEvent(event)

    def edit_selected(self) -> None:
        """Request the fields of the selected layers; the text of a frame or a comment is edited in place."""
        if self.editor.selection:
            self.edit_requested.emit()
        else:
            self.annotation_tools.edit_selected()

    def rename_selected(self) -> None:
        """Rename the selected layer, frame or comment in place."""
        if len(self.editor.selection) == 1:
            self.rename(next(iter(self.editor.selection)))
        elif not self.editor.selection:
            self.annotation_tools.edit_selected()

    def rename(self, id: str) -> None:
        """Open a text field over the name of a layer."""
        self.cancel()
        self.reveal(id)
        x, y = self.editor.layout.at(id)
        corner = self.mapFromScene(QPointF(x + 10, y))
        line = RenameField(self.editor, id, self)
        line.refusal.connect(lambda text: self.overlays.hint.say(text, self._pointer_at))
        line.closed.connect(self.return_focus)
        line.setGeometry(corner.x(), corner.y() - 4, max(160, round((NODE_WIDTH - 12) * self.zoom)), 30)
        self._pointer_at = line.geometry().bottomLeft() - QPoint(16, 14)
        line.show()
        line.setFocus()

    # Tooltips

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            at = self._pointer(QPointF(event.pos()), Qt.KeyboardModifier.NoModifier).scene
            text = self.tooltip_at(at) or self.annotation_tools.tooltip_at(at)
            QToolTip.showText(event.globalPos(), visible(text), self.viewport())
            return True
        if event.type() == QEvent.Type.Leave:
            self._is_pointer_here = False
            if self._gesture is None and self.suggestions.popup is None and self.keyboard.connecting is None:
                self._scene.show_feedback(Feedback())
        return super().viewportEvent(event)
