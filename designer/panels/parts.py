"""Parts of panels: a header, a table of facts, a line across, a part with a heading."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.forms.row import section_label
from netwright.designer.language import noop, tr, translation

UNKNOWN = noop("not known yet")


class Square(QWidget):
    """A small square in the colour of a layer family."""

    def __init__(self, side: int = 12) -> None:
        super().__init__()
        self._family = ""
        self.setFixedSize(QSize(side, side))

    def set_family(self, family: str) -> None:
        """Take the colour of a family."""
        self._family = family
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """A rounded square."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.current().family(self._family))
        painter.drawRoundedRect(self.rect(), 3, 3)


class Header(QWidget):
    """The header of a panel: family, name and description of the selection."""

    def __init__(self) -> None:
        super().__init__()
        self.square = Square()
        self.title = ElidedLabel()
        theme.mark(self.title, "role", "strong")
        self.summary = QLabel()
        self.summary.setWordWrap(True)
        theme.mark(self.summary, "role", "help")
        self.note = QLabel()
        self.note.setWordWrap(True)
        theme.mark(self.note, "role", "help")
        self.note.hide()
        grid = QGridLayout(self)
        grid.setContentsMargins(16, 16, 16, 12)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        grid.addWidget(self.square, 0, 0, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(self.title, 0, 1)
        grid.addWidget(self.summary, 1, 1)
        grid.addWidget(self.note, 2, 1)
        grid.setColumnStretch(1, 1)

    def say(self, title: str, summary: str, family: str = "", note: str = "") -> None:
        """Show other words; without a family there is no square."""
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.title.setText(title)
        self.summary.setText(summary)
        self.square.setVisible(bool(family))
        self.square.set_family(family)


class PropertyTable(QWidget):
    """Names at the left, values at the right; a value can be marked and copied. A long name is elided in the middle:
    values are never cut."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(0, 1)
        self._rows: list[tuple[ElidedLabel, QLabel]] = []

    def show_rows(self, facts: Sequence[tuple[str, str]]) -> None:
        """Show these lines."""
        while len(self._rows) < len(facts):
            self._add_row()
        for index, (label, value) in enumerate(self._rows):
            is_used = index < len(facts)
            label.setVisible(is_used)
            value.setVisible(is_used)
            if is_used:
                label.setText(facts[index][0])
                text = facts[index][1]
                value.setText(translation(UNKNOWN) if text == UNKNOWN else text)
                theme.mark(value, "role", "muted" if text == UNKNOWN else None)

    def _add_row(self) -> None:
        label, value = ElidedLabel(), QLabel()
        theme.mark(label, "role", "muted")
        label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)  # as the value: else a pixel off
        value.setFont(theme.figures(value.font()))
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        line = len(self._rows)
        self._grid.addWidget(label, line, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(value, line, 1, Qt.AlignmentFlag.AlignTop)
        self._rows.append((label, value))

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The lines that are shown."""
        return [(label.text(), value.text()) for label, value in self._rows if not value.isHidden()]


def separator() -> QFrame:
    """A line across."""
    line = QFrame()
    theme.mark(line, "role", "separator")
    return line


def section(title: str, spacing: int) -> tuple[QWidget, QVBoxLayout]:
    """A part of the panel under a line, with its heading."""
    part = QWidget()
    column = QVBoxLayout(part)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(separator())
    inner = QVBoxLayout()
    inner.setContentsMargins(16, 12, 16, 16)
    inner.setSpacing(spacing)
    inner.addWidget(section_label(title))
    column.addLayout(inner)
    return part, inner


class SearchField(QLineEdit):
    """One line; the cross appears with the first letter. Qt's own has one colour, dark on dark."""

    def __init__(self, placeholder: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(name)
        self._cross = QAction(theme.icon("close", "muted"), tr("Clear the search"), self)
        self._cross.triggered.connect(self.clear)
        self.addAction(self._cross, QLineEdit.ActionPosition.TrailingPosition)
        self._cross.setVisible(False)
        self.textChanged.connect(lambda text: self._cross.setVisible(bool(text)))
