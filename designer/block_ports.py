"""What the properties say of a block beside its fields: a way into it, and its ports, whose names are edited here."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from designer import theme
from designer.editor import Editor
from designer.forms.form import LABEL_WIDTH
from engine.layers.block import Block, BlockInput, BlockOutput
from engine.network.network import NAME_LIMIT, Layer, name_refusal

_HINT = "A double click on the block opens it too, and Alt+Down."
_NO_PORTS = "It has no ports. Open it and add block inputs and outputs."


class PortName(QLineEdit):
    """The name of one port: the layer inside that stands for it."""

    taken = Signal(str, str)
    """The id of the layer inside, and the name it shall have."""
    refusal = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setMaxLength(NAME_LIMIT)
        self.port = ""
        self._name = ""
        self._others: frozenset[str] = frozenset()
        self.textEdited.connect(self._judge)
        self.editingFinished.connect(self._take)

    def show_port(self, layer: Layer, names: frozenset[str], what: str) -> None:
        """Show a port; what is being typed stays."""
        if (self.port, self._name) != (layer.id, layer.name):
            self.port, self._name = layer.id, layer.name
            self.setText(layer.name)
            theme.mark(self, "invalid", "false")
        self._others = names - {layer.name}
        self.setAccessibleName(what)

    def _refusal(self) -> str | None:
        return name_refusal(self.text(), self._others)

    def _judge(self) -> None:
        why = self._refusal()
        theme.mark(self, "invalid", "true" if why else "false")
        self.refusal.emit(why or "")

    def _take(self) -> None:
        if self._refusal() is not None:
            self._back()
        elif self.text() != self._name:
            self.taken.emit(self.port, self.text())

    def _back(self) -> None:
        self.setText(self._name)
        self._judge()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape brings the old name back."""
        if event.key() == Qt.Key.Key_Escape and self.text() != self._name:
            self._back()
        else:
            super().keyPressEvent(event)


class BlockPorts(QWidget):
    """Shown where one block is selected."""

    def __init__(self, editor: Editor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._id = ""
        self.open = QPushButton("Open block")
        self.open.clicked.connect(self._open)
        self.hint = QLabel(_HINT)
        self.why = QLabel()
        for label in (self.hint, self.why):
            label.setWordWrap(True)
            theme.mark(label, "role", "help")
        self.why.hide()
        self._grid = QGridLayout()
        self._grid.setVerticalSpacing(6)
        self._grid.setHorizontalSpacing(8)
        self._grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        self._grid.setColumnStretch(1, 1)
        self.rows: list[tuple[QLabel, PortName]] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.open)
        column.addWidget(self.hint)
        column.addLayout(self._grid)
        column.addWidget(self.why)

    def show_block(self, layer: Layer) -> None:
        """Show the ports of a block, or nothing of another layer."""
        self.setVisible(isinstance(layer.type, Block))
        if not isinstance(layer.type, Block):
            return
        self._id = layer.id
        inner = layer.type.network
        kinds = ((BlockInput, "Input"), (BlockOutput, "Output"))
        ports = [(inner.layers[id], what) for kind, what in kinds for id in layer.type.ids(kind)]
        while len(self.rows) < len(ports):
            self._add_row()
        names = frozenset(inner.by_name)
        for index, (label, line) in enumerate(self.rows):
            is_used = index < len(ports)
            label.setVisible(is_used)
            line.setVisible(is_used)
            if is_used:
                port, what = ports[index]
                label.setText(what)
                line.show_port(port, names, f"{what} {port.name} of the block")
        self._say("" if ports else _NO_PORTS)

    def _add_row(self) -> None:
        label, line = QLabel(), PortName()
        theme.mark(label, "role", "muted")
        line.refusal.connect(self._say)
        line.taken.connect(self._rename)
        self._grid.addWidget(label, len(self.rows), 0)
        self._grid.addWidget(line, len(self.rows), 1)
        self.rows.append((label, line))

    def _say(self, text: str) -> None:
        self.why.setText(text)
        self.why.setVisible(bool(text))

    def _rename(self, port: str, name: str) -> None:
        self._editor.rename_port(self._id, port, name)

    def _open(self) -> None:
        self._editor.open_block(self._id)
