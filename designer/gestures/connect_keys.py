"""Connecting by keys: arrows or typing choose the layer, Tab its input, Enter connects."""

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent

from netwright.designer.gestures import neighbours
from netwright.designer.gestures.connect import Connect
from netwright.designer.gestures.gesture import Canvas, Pointer
from netwright.designer.language import layer_label, noop, tr, translation
from netwright.designer.scene.node_items import PortHit
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH
from netwright.engine.network.network import Port

_DIRECTIONS: dict[Qt.Key, neighbours.Direction] = {
    Qt.Key.Key_Left: "left",
    Qt.Key.Key_Right: "right",
    Qt.Key.Key_Up: "up",
    Qt.Key.Key_Down: "down",
}
_HOW = noop("Arrows or typing choose, Enter connects, Esc cancels")


class ConnectByKeys(Connect):
    """Starts at an output. It is over when `key` says so; `cancel` ends it as if it had not begun."""

    def __init__(self, canvas: Canvas, port: PortHit) -> None:
        super().__init__(canvas, port)
        self._typed = ""
        self._goals: list[PortHit] = []
        self._number = 0
        self.target: str | None = None
        """The layer that Enter would connect."""
        self.words = ""
        """The chosen connection, and what is wrong with it, as text."""

    def begin(self) -> str | None:
        """Choose the likeliest target; why there is none, in words."""
        self._pointer = Pointer(self._start.at, QPoint())
        self.press(self._pointer)
        network, layout, source = self.editor.network, self.editor.layout, self._start.port.layer
        self._able = [id for id in self._fitting() if network.layers[id].type.input_ports()]
        if not self._able:
            return tr("There is no layer that {name} could be connected to.", name=network.layers[source].name)
        easy = [
            id for id in self._able if any(hit.is_input and self._is_easy(hit) for hit in self.scene.nodes.ports_of(id))
        ]
        choice = easy or self._able
        self._choose(neighbours.towards(layout, source, neighbours.ENDS[layout.flow][1], choice) or choice[0])
        return None

    def key(self, event: QKeyEvent) -> bool:
        """Take a key; whether this was the last one."""
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.target is None or self._refusal(self._goals[self._number]) is not None:
                return False
            self.move(self._pointer)
            self.release(self._pointer)
            return True
        if key in _DIRECTIONS:
            self._typed = ""
            start = self.target or self._start.port.layer
            self._choose(neighbours.towards(self.editor.layout, start, _DIRECTIONS[key], self._able) or self.target)
        elif key == Qt.Key.Key_Backspace:
            self._type(self._typed[:-1])
        elif event.text().isprintable() and event.text():
            self._type(self._typed + event.text().lower())
        return False

    def next_input(self, step: int) -> None:
        """Go on to the next input of the target, or to the one before."""
        if self._goals:
            self._number = (self._number + step) % len(self._goals)
            self._show()

    def _type(self, typed: str) -> None:
        """Go to the first layer whose name begins with the typed text, else one that holds it in its name or type."""
        self._typed = typed
        layers = self.editor.network.layers
        words = {
            id: f"{layers[id].name} {layers[id].type.label} {layer_label(layers[id].type.label)}".lower()
            for id in self._able
        }
        matches = [id for id in self._able if words[id].startswith(typed)]
        matches += [id for id in self._able if typed in words[id]]
        self._choose(matches[0] if matches else None)

    def _choose(self, id: str | None) -> None:
        self.target = id
        self._goals = [hit for hit in self.scene.nodes.ports_of(id) if hit.is_input] if id else []
        feeds = self._network.incoming[id] if id else {}
        free = [number for number, hit in enumerate(self._goals) if hit.port.name not in feeds]
        self._number = free[0] if free else 0
        self._show()

    def _show(self) -> None:
        self.move(self._pointer)
        layers, start = self.editor.network.layers, self._start.port
        if self.target is None:
            self.words = tr("No layer is called '{name}'", name=self._typed)
            self.canvas.hint(f"{self.words}\n{translation(_HOW)}", self._start.at)
            return
        self.canvas.reveal(self.target)
        goal = self._goals[self._number]
        feeds = self._network.incoming[self.target]
        words = f"{_named(start, layers[start.layer].type.output_ports(), layers[start.layer].name)} → "
        words += _named(goal.port, layers[self.target].type.input_ports(), layers[self.target].name)
        if goal.port.name in feeds:
            words += tr(", instead of {name}", name=layers[feeds[goal.port.name].layer].name)
        trouble = self._refusal(goal) or self._warning(goal)
        x, y = self.editor.layout.at(self.target)
        beside = QPointF(x + NODE_WIDTH, y - NODE_HEIGHT / 2)
        self.words = "\n".join(filter(None, (words, trouble)))
        self.canvas.hint(f"{self.words}\n{translation(_HOW)}", beside)

    def _goal(self, pointer: Pointer) -> PortHit | None:
        return self._goals[self._number] if self._goals else None

    def _is_ground(self, pointer: Pointer) -> bool:
        return False


def _named(port: Port, ports: tuple[str, ...], layer: str) -> str:
    """A layer, with the port where it has several."""
    return layer if len(ports) == 1 else f"{layer} ({port.name})"
