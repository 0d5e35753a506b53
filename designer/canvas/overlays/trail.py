"""Where one is when a block is open: the names of the blocks from the outside in, each a button that leads there."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from designer import theme
from designer.editor import Editor
from engine.layers.block import Block
from engine.network.blocks import names_of, network_in

_LONGEST_NAME = 24


class Trail(QFrame):
    """`Network › stage_1 › bottleneck`, at the top left of the canvas. Hidden while no block is open."""

    def __init__(self, editor: Editor, parent: QWidget) -> None:
        super().__init__(parent)
        self._editor = editor
        self.setProperty("role", "card")
        self.setAccessibleName("Open block")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(5, 2, 10, 2)
        self._row.setSpacing(0)
        self.hide()
        editor.scope_changed.connect(self._show)
        editor.project_changed.connect(self._show)

    def _show(self, _what: object = None) -> None:
        path = self._editor.scope
        self.setVisible(bool(path))
        while (item := self._row.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        if not path:
            return
        names = ("Network", *names_of(self._editor.project.network, path))
        for depth, name in enumerate(names[:-1]):
            self._row.addWidget(self._button(name, path[:depth]))
            self._row.addWidget(self._text("›", "muted"))
        self._row.addWidget(self._text(f" {_short(names[-1])}", "strong", names[-1]))
        *outer, id = path
        type = network_in(self._editor.project.network, outer).layers[id].type
        if isinstance(type, Block) and type.repeat > 1:
            self._row.addWidget(self._text(f"  the first of {type.repeat:,} copies", "muted"))
        for index in range(self._row.count()):
            if (item := self._row.itemAt(index)) is not None and (widget := item.widget()) is not None:
                widget.show()
        self.adjustSize()

    def _button(self, name: str, path: tuple[str, ...]) -> QToolButton:
        button = QToolButton(self)
        button.setText(_short(name))
        button.setToolTip(f"Go back to {name}")
        button.setAccessibleName(f"Go back to {name}")
        button.setFixedHeight(24)
        button.setFont(self._small(button))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda: self._go_back(path))
        return button

    def _go_back(self, path: tuple[str, ...]) -> None:
        """Leave all blocks down to a path; the one that was left last is selected, as leaving by key has it."""
        left = self._editor.scope[len(path)]
        self._editor.open_scope(path)
        self._editor.set_selection({left})

    def _text(self, text: str, role: str, tip: str = "") -> QLabel:
        label = QLabel(text, self)
        label.setProperty("role", role)
        label.setToolTip(tip)
        label.setFont(self._small(label))
        return label

    def _small(self, widget: QWidget) -> QFont:
        font = theme.figures(widget.font())
        font.setPixelSize(12)
        return font


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
