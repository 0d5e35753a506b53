"""A hand for tests: real mouse events on the canvas, at places given in the network's own words."""

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from netwright.designer.canvas.quick_add import QuickAdd
from netwright.designer.canvas.view import CanvasView
from netwright.designer.clipboard import LAYER_MIME
from netwright.designer.editor import Editor
from netwright.designer.panels.library_model import KEY_ROLE
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH
from netwright.engine.network.network import Port
from netwright.engine.project.project import Project

LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier


class Hand:
    """Holds a shown canvas and works it as a person would."""

    def __init__(self, qtbot, project: Project, *, zoom: float | None = 1.0) -> None:
        self.qtbot = qtbot
        self.editor = Editor(project)
        self.view = CanvasView(self.editor)
        qtbot.addWidget(self.view)
        self.view.resize(900, 700)
        with qtbot.waitExposed(self.view):
            self.view.show()
        self.view.fit()
        if zoom is not None:
            self.view._set_zoom(zoom)
            self.view.look_at(self.view.network_scene.content_box().center())
        self.view.setFocus()
        qtbot.waitUntil(self.view.hasFocus)

    def id(self, name: str) -> str:
        return self.editor.network.layer(name).id

    def names(self) -> list[str]:
        return [layer.name for layer in self.editor.network.layers.values()]

    def links(self) -> set[tuple[str, str]]:
        layers = self.editor.network.layers
        return {(layers[c.source.layer].name, layers[c.target.layer].name) for c in self.editor.network.connections}

    def place(self, name: str) -> tuple[float, float]:
        return self.editor.layout.at(self.id(name))

    def shown(self, name: str) -> tuple[float, float]:
        return self.view.network_scene.nodes.index.positions[self.id(name)]

    def point(self, at: QPointF) -> QPoint:
        return self.view.mapFromScene(at)

    def body(self, name: str) -> QPoint:
        x, y = self.place(name)
        return self.point(QPointF(x + NODE_WIDTH * 0.75, y + NODE_HEIGHT / 2))

    def port(self, name: str, port: str) -> QPoint:
        layer = self.editor.network.layer(name)
        is_input = port in layer.type.input_ports()
        return self.point(self.view.network_scene.port_at_layer(Port(layer.id, port), is_input).at)

    def press(self, at: QPoint, keys: Qt.KeyboardModifier = NONE, button: Qt.MouseButton = LEFT) -> None:
        self.qtbot.mouseMove(self.view.viewport(), at)
        self.qtbot.mousePress(self.view.viewport(), button, keys, at)

    def move(self, at: QPoint) -> None:
        self.qtbot.mouseMove(self.view.viewport(), at)

    def release(self, at: QPoint, keys: Qt.KeyboardModifier = NONE, button: Qt.MouseButton = LEFT) -> None:
        self.qtbot.mouseRelease(self.view.viewport(), button, keys, at)

    def click(self, at: QPoint, keys: Qt.KeyboardModifier = NONE) -> None:
        self.press(at, keys)
        self.release(at, keys)

    def drag(self, start: QPoint, end: QPoint, keys: Qt.KeyboardModifier = NONE, button: Qt.MouseButton = LEFT) -> None:
        self.press(start, keys, button)
        self.move(QPoint((start.x() + end.x()) // 2, (start.y() + end.y()) // 2))
        self.move(end)
        self.release(end, keys, button)

    def double_click(self, at: QPoint) -> None:
        """As the platform tells it: a click, then the press that makes it a double click, and its release."""
        self.click(at)
        self.qtbot.mouseDClick(self.view.viewport(), LEFT, NONE, at)

    @property
    def popup(self) -> QuickAdd:
        """The open popup that offers layers."""
        popup = self.view.suggestions.popup
        assert popup is not None
        assert popup.isVisible()
        return popup

    def offered(self) -> list[str]:
        return [index.data(KEY_ROLE) for index in self.popup.view.entries()]

    def choose(self, text: str) -> None:
        """Types into the popup, and takes what comes first."""
        self.qtbot.keyClicks(self.popup.search, text)
        self.qtbot.keyClick(self.popup.search, Qt.Key.Key_Return)

    def key(self, key: Qt.Key, keys: Qt.KeyboardModifier = NONE) -> None:
        self.qtbot.keyClick(self.view, key, keys)

    def carry(self, key: str, at: QPoint, *, drop: bool = True) -> None:
        """Drags a layer type from elsewhere over the canvas, and drops it."""
        data = QMimeData()
        data.setData(LAYER_MIME, key.encode())
        action = Qt.DropAction.CopyAction
        self.view.dragEnterEvent(QDragEnterEvent(at, action, data, LEFT, NONE))
        self.view.dragMoveEvent(QDragMoveEvent(at, action, data, LEFT, NONE))
        if drop:
            self.view.dropEvent(QDropEvent(QPointF(at), action, data, LEFT, NONE))


def turn_wheel(widget: QWidget) -> None:
    """Turn the wheel down over a widget, as a desktop reports it: to its window."""
    window, place = widget.window(), QPoint(widget.width() - 6, widget.height() // 3)
    inside = QPointF(widget.mapTo(window, place))
    event = QWheelEvent(
        inside,
        QPointF(widget.mapToGlobal(place)),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(window.windowHandle(), event)
