"""The longer help of a layer type, folded until somebody asks: formula, what to know, source, what others call it."""

import html
import re

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from designer import theme
from designer.forms.folding import FoldHeading
from engine.layers.base import LayerType
from engine.layers.names import torch_names
from engine.layers.reference import paragraphs


class HelpHeading(FoldHeading):
    """The heading that unfolds the help of a layer type."""

    def __init__(self) -> None:
        self._of = ""
        super().__init__("Help")

    def set_type(self, type: type[LayerType]) -> None:
        """Say of which type the help is."""
        self._of = type.label
        self._describe()

    def _describe(self) -> None:
        self.setAccessibleName(f"Help for {self._of}, {'unfolded' if self.isChecked() else 'folded'}")
        self.setToolTip(f"{'Hide' if self.isChecked() else 'Show'} what {self._of} does: formula, source, other names")
        self.update()


class LayerHelp(QWidget):
    """A heading that unfolds the help. It stays open from layer to layer, and is written only while it is open."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._type: type[LayerType] | None = None
        self.heading = HelpHeading()
        self.text = QLabel()
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.RichText)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setAccessibleName("Help")
        self.text.hide()
        theme.mark(self.text, "role", "help")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.heading)
        column.addWidget(self.text)
        self.heading.toggled.connect(self._on_toggled)
        theme.changed.connect(self._write)

    def show_type(self, type: type[LayerType]) -> None:
        """Tell of another layer type."""
        if type is not self._type:
            self._type = type
            self.heading.set_type(type)
            self._write()

    def _on_toggled(self, is_open: bool) -> None:
        self._write()
        self.text.setVisible(is_open)

    def _write(self) -> None:
        if self.heading.isChecked() and self._type is not None:
            self.text.setText(as_html(self._type))


def as_html(type: type[LayerType]) -> str:
    """The help as the label shows it. Formulas keep their lines and break where they must."""
    parts = paragraphs(type.help()) or [(type.summary(), False)]
    lines = [_formula(words) if is_formula else f"<p>{_prose(words)}</p>" for words, is_formula in parts]
    names = [f"MATLAB: {type.matlab}"] if type.matlab else []
    torch = [name.removeprefix("torch.") for name in torch_names(type)]
    names += [f"torch: {', '.join(torch)}"] if torch else []
    onnx = [f"No ONNX form: {type.onnx_refusal}"] if type.onnx_refusal else []
    lines += [f"<p>{html.escape(words)}</p>" for words in (*names, *onnx)]
    return "".join(lines).replace("<p>", '<p style="margin: 0 0 6px 0">')


def _prose(words: str) -> str:
    """What stands between backticks is a value or a name."""
    return re.sub(r"`([^`]*)`", r"<i>\1</i>", html.escape(words))


def _formula(words: str) -> str:
    lines = "<br>".join(html.escape(line).replace("  ", "&nbsp; ") for line in words.split("\n"))
    colour = theme.current().text.name()
    return f'<p style="margin: 0 0 6px 8px; font-family: monospace; font-size: 11px; color: {colour}">{lines}</p>'
