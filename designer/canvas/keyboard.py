"""The keys of the canvas: walk, move, connect, edit, zoom. Single letters are shortcuts of the canvas alone."""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from netwright.designer import layer_edits, placement
from netwright.designer.auto_layout import AutoLayout
from netwright.designer.canvas.annotation_tools import AnnotationTools
from netwright.designer.gestures import neighbours
from netwright.designer.gestures.connect_keys import ConnectByKeys
from netwright.designer.gestures.gesture import Canvas
from netwright.designer.language import noop, tr
from netwright.designer.scene.lens import LENSES, Lenses
from netwright.designer.scene.pipeline_view import PipelineStages
from netwright.engine.network import annotations
from netwright.engine.network.annotations import Mark
from netwright.engine.network.network import Port

_ARROWS: dict[Qt.Key, tuple[neighbours.Direction, int, int]] = {
    Qt.Key.Key_Left: ("left", -1, 0),
    Qt.Key.Key_Right: ("right", 1, 0),
    Qt.Key.Key_Up: ("up", 0, -1),
    Qt.Key.Key_Down: ("down", 0, 1),
}
_FAR = 4
_TRAIL = 200
_CTRL, _SHIFT, _ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)

HELP = noop(
    "Arrow keys go along the connections, the first one to the first layer; N goes "
    "to the next layer, Shift+N to the one before, Tab leaves the canvas. Enter "
    "edits, F2 renames, C connects, A adds a layer, Shift+A one before, Del removes. Alt with Down opens "
    "a block, Alt with Up leaves it. 1 to 7 choose a lens; while stages of a "
    "pipeline are shown, 1 to 9 move the selection into one. Ctrl with an arrow key "
    "moves the selection. Frames and comments follow the layers: Enter edits their "
    "text, Alt and Shift with an arrow key changes their size, the menu key offers "
    "colours."
)


class KeyCanvas(Canvas, Protocol):
    """The interface of the view for the keyboard, beyond that for gestures."""

    def cancel(self) -> bool:
        """Cancel the gesture in progress; return whether there was one."""

    def show_cursor(self) -> None:
        """Show the cursor of the gesture that a press would begin."""

    def announce(self, text: str) -> None:
        """Let a screen reader say a text."""

    def quick_add(self) -> None:
        """Suggest layers where one would go."""

    def quick_add_before(self) -> None:
        """Suggest layers that feed the selected one."""

    def open_selected(self) -> bool:
        """Open the selected block; return whether one block is selected."""

    def edit_selected(self) -> None:
        """Edit the selection where its fields or its text are shown."""

    def rename_selected(self) -> None:
        """Rename the selected layer in place."""

    def fit(self) -> None:
        """Show the whole network."""

    def fit_selection(self) -> None:
        """Show the selected layers."""

    def zoom_in(self) -> None:
        """Zoom in by one step."""

    def zoom_out(self) -> None:
        """Zoom out by one step."""


class Keyboard:
    """The keyboard of one canvas. The view passes every key on and asks which are held."""

    def __init__(
        self,
        canvas: KeyCanvas,
        annotation_tools: AnnotationTools,
        stages: PipelineStages,
        auto_layout: AutoLayout,
        lenses: Lenses,
    ) -> None:
        self._canvas = canvas
        self._editor = canvas.editor
        self._annotations = annotation_tools
        self._stages = stages
        self._auto_layout = auto_layout
        self._lenses = lenses
        self.holds_space = False
        """Whether a drag pans the view."""
        self.lassos = False
        """Whether the next drag draws a lasso."""
        self.connecting: ConnectByKeys | None = None
        self._trail: list[str] = []
        """Layers visited by arrow keys, the last one last."""

    def press(self, event: QKeyEvent) -> bool:
        """Handle a key; return whether it has a meaning here."""
        key, modifiers = Qt.Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key == Qt.Key.Key_Escape:
            self._escape()
            return True
        if self.connecting is not None and not modifiers & (_CTRL | _ALT):
            if self.connecting.key(event):
                self.connecting = None
            else:
                self._canvas.announce(self.connecting.words)
            return True
        if key == Qt.Key.Key_Space and not event.isAutoRepeat():
            self.holds_space = True
            self._canvas.show_cursor()
            return True
        if key in _ARROWS and modifiers == _ALT | _SHIFT:
            return self._grow(*_ARROWS[key][1:])
        if key in _ARROWS and not modifiers & _ALT:
            direction, dx, dy = _ARROWS[key]
            if modifiers & _CTRL:
                self.nudge(dx, dy, _FAR if modifiers & _SHIFT else 1)
            elif self._editor.selection:
                self._walk(direction, extends=bool(modifiers & _SHIFT))
            else:
                self._next_layer(1)
            return True
        if modifiers == _ALT and key == Qt.Key.Key_Up:
            self._editor.leave_block()
            return True
        if modifiers == _ALT and key == Qt.Key.Key_Down:
            return self._canvas.open_selected()
        if modifiers & (_CTRL | _ALT):
            return False
        return self._letter(key, has_shift=bool(modifiers & _SHIFT))

    def _letter(self, key: Qt.Key, *, has_shift: bool) -> bool:
        canvas, editor = self._canvas, self._editor
        plain: dict[Qt.Key, Callable[[], object]] = {
            Qt.Key.Key_N: lambda: self._next_layer(-1 if has_shift else 1),
            Qt.Key.Key_Delete: lambda: editor.delete_selection(heal=not has_shift),
            Qt.Key.Key_Backspace: lambda: editor.delete_selection(heal=not has_shift),
            Qt.Key.Key_A: canvas.quick_add_before if has_shift else canvas.quick_add,
            Qt.Key.Key_B: lambda: editor.edit_selection(layer_edits.toggle_bypass),
            Qt.Key.Key_C: self.connect,
            Qt.Key.Key_F: canvas.fit_selection if has_shift else canvas.fit,
            Qt.Key.Key_L: self.lasso_next,
            Qt.Key.Key_Plus: canvas.zoom_in,
            Qt.Key.Key_Equal: canvas.zoom_in,
            Qt.Key.Key_Minus: canvas.zoom_out,
            Qt.Key.Key_F2: canvas.rename_selected,
            Qt.Key.Key_Return: canvas.edit_selected,
            Qt.Key.Key_Enter: canvas.edit_selected,
        }
        if key in plain:
            plain[key]()
        return key in plain or self._digit(key)

    def _digit(self, key: Qt.Key) -> bool:
        """Choose a lens by a digit; while stages are shown, put the selection into one."""
        number = key - Qt.Key.Key_1
        if self._stages.is_on and self._editor.selection and 0 <= number < 9:
            self._stages.put(number)
            return True
        if not 0 <= number < len(LENSES):
            return False
        if not self._lenses.refusal(LENSES[number]):
            self._lenses.choose(LENSES[number])
        return True

    def release(self, event: QKeyEvent) -> None:
        """Handle a released key."""
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self.holds_space = False
            self._canvas.show_cursor()

    def leave(self) -> None:
        """Release all keys when the keyboard focus leaves."""
        self.holds_space = self.lassos = False
        self.end_connecting()

    def _escape(self) -> None:
        if self.lassos:
            self.lassos = False
            self._canvas.show_cursor()
        elif not self.end_connecting() and not self._canvas.cancel() and not self._auto_layout.cancel():
            self._editor.set_selection(())

    def lasso_next(self) -> None:
        """Let the next drag outside layers draw a lasso."""
        self._canvas.cancel()
        self.lassos = True
        self._canvas.show_cursor()

    # From layer to layer

    def tab(self, is_next: bool) -> bool:
        """Choose the input of a connection that keys began; return False where Tab leaves the canvas."""
        if self.connecting is None:
            return False
        self.connecting.next_input(1 if is_next else -1)
        self._canvas.announce(self.connecting.words)
        return True

    def _next_layer(self, step: int) -> None:
        """Select the next layer in the order of the network, then the frames and comments; after the last the first.
        A step of -1 goes back."""
        editor = self._editor
        order: list[str | Mark] = list(editor.network.order)
        reached = set(order)
        order += [id for id in editor.network.layers if id not in reached]
        order += annotations.marks(editor.layout)
        if not order:
            return
        picked: frozenset[str | Mark] = editor.selection | editor.selected_marks
        indices = [index for index, id in enumerate(order) if id in picked]
        start = -1 if step > 0 else 0
        target = order[((indices[0] if indices else start) + step) % len(order)]
        if isinstance(target, Mark):
            editor.set_selection((), (), {target})
            self._annotations.reveal(target)
        else:
            self._show(target, {target})

    def _walk(self, direction: neighbours.Direction, *, extends: bool) -> None:
        """Select the layer that an arrow key leads to, from the last layer visited."""
        editor = self._editor
        selection = editor.selection
        here = next((id for id in reversed(self._trail) if id in selection), None)
        if here is None:
            here = next(id for id in editor.network.layers if id in selection)
        target = neighbours.step(editor.network, editor.layout, here, direction, self._trail)
        if target is not None:
            self._trail = [*(id for id in self._trail[-_TRAIL:] if id not in (here, target)), here, target]
            self._show(target, selection | {target} if extends else {target})

    def _show(self, id: str, selection: set[str] | frozenset[str]) -> None:
        self._editor.set_selection(selection)
        self._canvas.reveal(id)

    def nudge(self, dx: int, dy: int, steps: int = 1) -> None:
        """Move the selection; consecutive presses are one undo step."""
        editor, step = self._editor, placement.GRID * steps
        layout = editor.layout
        inner_ids, marks = annotations.standing_in(layout, editor.selected_marks)
        ids = editor.selection | inner_ids
        places = {id: (x + dx * step, y + dy * step) for id in ids for x, y in [layout.at(id)]}
        layout = annotations.move(layout.moved(places), marks, (dx * step, dy * step))
        names = sorted([*ids, *(" ".join(mark) for mark in marks)])
        editor.apply_here(tr("Move"), layout=layout, merge="nudge " + " ".join(names))

    def _grow(self, dx: int, dy: int) -> bool:
        """Move the right and lower edge of the selected frame or comment; consecutive presses are one undo step."""
        editor = self._editor
        if editor.selection or len(editor.selected_marks) != 1:
            return False
        (mark,) = editor.selected_marks
        annotation = annotations.find(editor.layout, mark)
        if annotation is not None:
            size = (annotation.size[0] + dx * placement.GRID, annotation.size[1] + dy * placement.GRID)
            layout = annotations.resize(editor.layout, mark, annotation.at, size)
            editor.apply_here(
                tr("Resize frame") if mark.kind == "frame" else tr("Resize comment"),
                layout=layout,
                merge=f"grow {mark.kind} {mark.id}",
            )
        return True

    # Connecting

    def connect(self) -> None:
        """Begin a connection at the selected layer; keys choose its target."""
        editor, canvas = self._editor, self._canvas
        canvas.cancel()
        if len(editor.selection) != 1:
            editor.refused.emit(tr("Select the layer that the connection is to leave, then press C."))
            return
        (id,) = editor.selection
        layer = editor.network.layers[id]
        ports = layer.type.output_ports()
        if not ports:
            editor.refused.emit(tr("{name} has no output to connect.", name=layer.name))
            return
        connected_names = {connection.source.name for connection in editor.network.outgoing[id]}
        free = [name for name in ports if name not in connected_names]
        port = canvas.network_scene.port_at_layer(Port(id, (free or list(ports))[0]), False)
        connecting = ConnectByKeys(canvas, port)
        why = connecting.begin()
        if why is None:
            self.connecting = connecting
            self._canvas.announce(connecting.words)
        else:
            connecting.cancel()
            editor.refused.emit(why)

    def end_connecting(self) -> bool:
        """Cancel a connection that keys began; return whether there was one."""
        connecting, self.connecting = self.connecting, None
        if connecting is not None:
            connecting.cancel()
        return connecting is not None
