"""Renaming a layer in its place on the canvas."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from designer import theme
from designer.editor import Editor
from engine.network.network import name_refusal


class RenameField(QLineEdit):
    """A line over the layer's name. Enter takes the name if it can be one; Escape leaves the old one."""

    closed = Signal()
    refusal = Signal(str)

    def __init__(self, editor: Editor, id: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._editor = editor
        self._id = id
        self._is_open = True
        self.setAccessibleName("Name of the layer")
        self.setText(editor.network.layers[id].name)
        self.selectAll()
        self.textChanged.connect(self._judge)
        self.returnPressed.connect(self._take)

    def _refusal(self) -> str | None:
        network = self._editor.network
        layer = network.layers.get(self._id)
        if layer is None or self.text() == layer.name:
            return None
        return name_refusal(self.text(), network.by_name)

    def _judge(self) -> None:
        why = self._refusal()
        theme.mark(self, "invalid", "true" if why else "false")
        self.refusal.emit(why or "")

    def _take(self) -> None:
        if self._refusal() is None:
            if self._id in self._editor.network.layers:
                self._editor.rename(self._id, self.text())
            self._close()

    def _close(self) -> None:
        if self._is_open:
            self._is_open = False
            self.refusal.emit("")
            self.closed.emit()
            self.deleteLater()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._close()
            return
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._close()
