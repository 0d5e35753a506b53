"""What keys do on the canvas: walk, move, connect, edit, zoom. Single letters are for the canvas alone."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent

from designer import placement
from designer.gestures import neighbours
from designer.gestures.connect_keys import ConnectByKeys
from designer.scene.annotations import NOTHING
from engine.network import annotations
from engine.network.annotations import Mark
from engine.network.network import Port

if TYPE_CHECKING:
    from designer.canvas.view import CanvasView

_ARROWS: dict[Qt.Key, tuple[neighbours.Way, int, int]] = {
    Qt.Key.Key_Left: ("left", -1, 0),
    Qt.Key.Key_Right: ("right", 1, 0),
    Qt.Key.Key_Up: ("up", 0, -1),
    Qt.Key.Key_Down: ("down", 0, 1),
}
_PAN = 40
_FAR = 4
_TRAIL = 200
_CTRL, _SHIFT, _ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)

HELP = (
    "Tab goes from layer to layer, arrow keys go along the connections. Enter edits, F2 renames, C connects, "
    "A adds a layer, Del removes. Alt with Down opens a block, Alt with Up leaves it. "
    "While stages of a pipeline are shown, 1 to 9 put what is selected into one. "
    "Ctrl with an arrow key moves what is selected. Frames and comments follow the layers: Enter edits their words, "
    "Alt and Shift with an arrow key changes their size, the menu key offers colours."
)


class Keys:
    """The keyboard of one canvas. The view hands it every key and asks it what is held."""

    def __init__(self, view: "CanvasView") -> None:
        self._view = view
        self._editor = view.editor
        self.holds_space = False
        """Whether a drag moves the view."""
        self.lassos = False
        """Whether the next drag draws a lasso."""
        self.connecting: ConnectByKeys | None = None
        self._trail: list[str] = []

    def press(self, event: QKeyEvent) -> bool:
        """Do what a key says; whether it said anything."""
        key, held = Qt.Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key == Qt.Key.Key_Escape:
            self._escape()
            return True
        if self.connecting is not None and not held & (_CTRL | _ALT):
            if self.connecting.key(event):
                self.connecting = None
            else:
                self._say(self.connecting.words)
            return True
        if key == Qt.Key.Key_Space and not event.isAutoRepeat():
            self.holds_space = True
            self._view.viewport().setCursor(Qt.CursorShape.OpenHandCursor)
            return True
        if key in _ARROWS and held == _ALT | _SHIFT:
            return self._grow(*_ARROWS[key][1:])
        if key in _ARROWS and not held & _ALT:
            way, dx, dy = _ARROWS[key]
            if held & _CTRL:
                self._nudge(dx, dy, _FAR if held & _SHIFT else 1)
            elif self._editor.selection:
                self._walk(way, extends=bool(held & _SHIFT))
            else:
                self._view.scroll_by(QPoint(_PAN * dx, _PAN * dy))
            return True
        if held == _ALT and key == Qt.Key.Key_Up:
            self._editor.leave_block()
            return True
        if held == _ALT and key == Qt.Key.Key_Down:
            return self._view.open_selected()
        if held & (_CTRL | _ALT):
            return False
        return self._letter(key, has_shift=bool(held & _SHIFT))

    def _letter(self, key: Qt.Key, *, has_shift: bool) -> bool:
        view, editor = self._view, self._editor
        plain: dict[Qt.Key, Callable[[], object]] = {
            Qt.Key.Key_Delete: lambda: editor.delete_selection(heal=not has_shift),
            Qt.Key.Key_Backspace: lambda: editor.delete_selection(heal=not has_shift),
            Qt.Key.Key_A: view.quick_add,
            Qt.Key.Key_B: editor.toggle_bypass,
            Qt.Key.Key_C: self.connect,
            Qt.Key.Key_F: view.fit_selection if has_shift else view.fit,
            Qt.Key.Key_L: self.lasso_next,
            Qt.Key.Key_Plus: view.zoom_in,
            Qt.Key.Key_Equal: view.zoom_in,
            Qt.Key.Key_Minus: view.zoom_out,
            Qt.Key.Key_F2: view.rename_selected,
            Qt.Key.Key_Return: view.edit_selected,
            Qt.Key.Key_Enter: view.edit_selected,
        }
        if key in plain:
            plain[key]()
        return key in plain or self._stage(key)

    def _stage(self, key: Qt.Key) -> bool:
        """While stages of a pipeline are shown, a digit puts what is selected into one."""
        is_digit = Qt.Key.Key_1 <= key <= Qt.Key.Key_9
        if is_digit and self._view.staging.is_on:
            self._view.staging.put(key - Qt.Key.Key_1)
            return True
        return False

    def release(self, event: QKeyEvent) -> None:
        """Let go of what is held."""
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self.holds_space = False
            self._view.show_cursor()

    def leave(self) -> None:
        """The keyboard went elsewhere: nothing is held any longer."""
        self.holds_space = self.lassos = False
        self.end_connecting()

    def _escape(self) -> None:
        if self.lassos:
            self.lassos = False
            self._view.show_cursor()
        elif not self.end_connecting() and not self._view.cancel() and not self._view.arranging.cancel():
            self._editor.set_selection(())

    def lasso_next(self) -> None:
        """The next drag on the ground draws a lasso."""
        self._view.cancel()
        self.lassos = True
        self._view.show_cursor()

    # From layer to layer

    def tab(self, is_next: bool) -> bool:
        """Go on to the next layer in the order of the network; False behind the last."""
        if self.connecting is not None:
            self.connecting.next_input(1 if is_next else -1)
            self._say(self.connecting.words)
            return True
        editor = self._editor
        order: list[str | Mark] = list(editor.network.order)
        known = set(order)
        order += [id for id in editor.network.layers if id not in known]
        order += annotations.marks(editor.layout)
        picked: frozenset[str | Mark] = editor.selection | editor.selected_marks
        chosen = [index for index, id in enumerate(order) if id in picked]
        if not order:
            return False
        index = (chosen[0] + (1 if is_next else -1)) if chosen else (0 if is_next else len(order) - 1)
        if not 0 <= index < len(order):
            self._editor.set_selection(())
            return False
        found = order[index]
        if isinstance(found, Mark):
            editor.set_selection((), (), {found})
            self._view.annotating.reveal(found)
            self._tell_annotation(found)
        else:
            self._show(found, {found})
        return True

    def _walk(self, way: neighbours.Way, *, extends: bool) -> None:
        """Select the layer that an arrow key leads to, from the one where the last key led."""
        editor = self._editor
        chosen = editor.selection
        here = next((id for id in reversed(self._trail) if id in chosen), None)
        if here is None:
            here = next(id for id in editor.network.layers if id in chosen)
        found = neighbours.step(editor.network, editor.layout, here, way, self._trail)
        if found is not None:
            self._trail = [*(id for id in self._trail[-_TRAIL:] if id not in (here, found)), here, found]
            self._show(found, chosen | {found} if extends else {found})

    def _show(self, id: str, selection: set[str] | frozenset[str]) -> None:
        self._editor.set_selection(selection)
        self._view.reveal(id)
        self._tell(id)

    def _tell(self, id: str) -> None:
        """Say to a screen reader which layer this is."""
        layer, facts = self._editor.network.layers[id], self._editor.analysis.facts.get(id)
        words = [layer.name, layer.label, facts.output.short() if facts else ""]
        words += [problem.message for problem in self._editor.problems if problem.layer == id]
        self._say(", ".join(filter(None, words)))

    def _tell_annotation(self, mark: Mark) -> None:
        """Say which frame or comment this is, and what stands in it."""
        found = annotations.find(self._editor.layout, mark)
        if found is None:
            return
        written = annotations.words(found)
        words = [mark.kind.capitalize(), written or ("without a title" if mark.kind == "frame" else NOTHING)]
        if mark.kind == "frame":
            count = len(annotations.standing_in(self._editor.layout, {mark})[0])
            words.append(f"{count} layer{'' if count == 1 else 's'}")
        self._say(", ".join(words))

    def _say(self, text: str) -> None:
        """Let a screen reader say something."""
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._view, text))

    def _nudge(self, dx: int, dy: int, steps: int) -> None:
        """Moves the selection; presses in a row are one step to undo."""
        editor, step = self._editor, placement.GRID * steps
        layout = editor.layout
        held, marks = annotations.standing_in(layout, editor.selected_marks)
        chosen = editor.selection | held
        places = {id: (x + dx * step, y + dy * step) for id in chosen for x, y in [layout.at(id)]}
        layout = annotations.move(layout.moved(places), marks, (dx * step, dy * step))
        names = sorted([*chosen, *(" ".join(mark) for mark in marks)])
        editor.apply_here("Move", layout=layout, merge="nudge " + " ".join(names))

    def _grow(self, dx: int, dy: int) -> bool:
        """Moves the right and lower edge of the selected frame or comment; presses in a row are one step to undo."""
        editor = self._editor
        if editor.selection or len(editor.selected_marks) != 1:
            return False
        (mark,) = editor.selected_marks
        found = annotations.find(editor.layout, mark)
        if found is not None:
            size = (found.size[0] + dx * placement.GRID, found.size[1] + dy * placement.GRID)
            layout = annotations.resize(editor.layout, mark, found.at, size)
            editor.apply_here(f"Resize {mark.kind}", layout=layout, merge=f"grow {mark.kind} {mark.id}")
        return True

    # Connecting

    def connect(self) -> None:
        """Begin a connection at the selected layer; keys choose where it goes."""
        editor, view = self._editor, self._view
        view.cancel()
        if len(editor.selection) != 1:
            editor.refused.emit("Select the layer that the connection is to leave, then press C.")
            return
        (id,) = editor.selection
        layer = editor.network.layers[id]
        ports = layer.type.output_ports()
        if not ports:
            editor.refused.emit(f"{layer.name} has no output to connect.")
            return
        used = {connection.source.name for connection in editor.network.outgoing[id]}
        free = [name for name in ports if name not in used]
        port = view.network_scene.port_at_layer(Port(id, (free or list(ports))[0]), False)
        connecting = ConnectByKeys(view, port)
        why = connecting.begin()
        if why is None:
            self.connecting = connecting
            self._say(connecting.words)
        else:
            connecting.cancel()
            editor.refused.emit(why)

    def end_connecting(self) -> bool:
        """Give up a connection that keys began; whether there was one."""
        connecting, self.connecting = self.connecting, None
        if connecting is not None:
            connecting.cancel()
        return connecting is not None
