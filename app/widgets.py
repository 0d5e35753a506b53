"""Small widgets that several parts of the window use."""

import math
from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from netwright.designer import markup, theme
from netwright.designer.elided_label import ElidedLabel

NO_LIMIT = 16_777_215
"""The largest size that Qt allows a widget (its QWIDGETSIZE_MAX)."""


class Divider(QWidget):
    """A line of one pixel between two parts, horizontal or vertical."""

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumSize(1, 1)

    def sizeHint(self) -> QSize:
        """Return one pixel."""
        return QSize(1, 1)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Fill the line."""
        QPainter(self).fillRect(self.rect(), theme.current().line)


class SidePanel(QScrollArea):
    """A panel of a fixed width beside a page, which scrolls from top to bottom. It has the colour of panels."""

    def __init__(self, content: QWidget, width: int) -> None:
        super().__init__()
        theme.mark(content, "role", "panel")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFixedWidth(width)
        self.setWidget(content)


class WrappedRow(QWidget):
    """Widgets of one width in a row, or in several rows where one has no room for them."""

    def __init__(self, widgets: Sequence[QWidget], gap: int = 12) -> None:
        super().__init__()
        self._shown, self._gap = tuple(widgets), gap
        self._columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(gap)
        self._place(len(self._shown))

    def _least(self) -> int:
        """The width of one column."""
        return max((max(widget.minimumSizeHint().width(), widget.minimumWidth()) for widget in self._shown), default=0)

    def _place(self, columns: int) -> None:
        """Place all in this number of columns."""
        if columns == self._columns:
            return
        for column in range(max(columns, self._columns)):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
        self._columns = columns
        for number, widget in enumerate(self._shown):
            self._grid.addWidget(widget, number // columns, number % columns)

    def minimumSizeHint(self) -> QSize:
        """As narrow as one column."""
        return QSize(self._least(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take as few rows as the width allows, and make them of equal length."""
        super().resizeEvent(event)
        count = len(self._shown)
        most = max(1, min(count, (self.width() + self._gap) // (self._least() + self._gap)))
        self._place(math.ceil(count / math.ceil(count / most)) if count else 1)


class Notice(QFrame):
    """A line above a page that says what holds for all of it, with links. Hidden while it has nothing to say."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme.mark(self, "role", "notice")
        self.label = QLabel()
        self.label.setWordWrap(True)
        self.links: dict[str, QPushButton] = {}
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(12, 8, 12, 8)
        self._row.setSpacing(8)
        self._row.addWidget(self.label, 1)
        self.hide()

    def say(self, text: str, links: Mapping[str, Callable[[], None]]) -> None:
        """Show a text and links by their words; an empty text hides the notice."""
        for old in self.links.values():
            self._row.removeWidget(old)
            old.deleteLater()
        self.links = {}
        for words, act in links.items():
            link = self.links[words] = QPushButton(words)
            link.setAutoDefault(False)
            theme.mark(link, "role", "link")
            link.clicked.connect(act)
            self._row.addWidget(link)
        self.label.setText(markup.visible(text))
        self.setVisible(bool(text))


FIGURE_WIDTH = 140
"""Pixels of a value up to which it stays on one line; longer texts wrap."""
FRAME = QSize(16, 48)
"""Pixels of the screen for the title bar and borders of a window."""


def within_screen(widget: QWidget, width: int, height: int) -> QSize:
    """Return the size, limited to the screen: buttons below its edge could not be reached."""
    return QSize(width, height).boundedTo(room_on_screen(widget))


def room_on_screen(widget: QWidget) -> QSize:
    """Return the size that the screen has for a window, without its frame."""
    return widget.screen().availableSize() - FRAME


class ValueTable(QWidget):
    """A short table: names at the left, values at the right. A long name is elided and leaves the values their
    room."""

    def __init__(self, title: str, names: tuple[str, ...]) -> None:
        super().__init__()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        heading = QLabel(title.upper())
        theme.mark(heading, "role", "section")
        grid.addWidget(heading, 0, 0, 1, 2)
        self._values: dict[str, QLabel] = {}
        self._names: dict[str, ElidedLabel] = {}
        for row, name in enumerate(names, start=1):
            label, value = ElidedLabel(name), QLabel()
            theme.mark(label, "role", "muted")
            label.setAlignment(
                Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
            )  # as the value: else a pixel below
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            value.setWordWrap(True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            value.setFont(theme.figures(value.font()))
            grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, row, 1)
            self._names[name], self._values[name] = label, value
            self.set(name, "")

    def set(self, name: str, value: str) -> None:
        """Show a value; a row without one is hidden."""
        self._say(self._values[name], value)
        self._values[name].setVisible(bool(value))
        self._names[name].setVisible(bool(value))

    def show_rows(self, rows: Sequence[tuple[str, str]]) -> None:
        """Show these names and values in the first rows, and hide the others."""
        for row, (label, value) in enumerate(zip(self._names.values(), self._values.values(), strict=True)):
            name, text = rows[row] if row < len(rows) else ("", "")
            label.setText(markup.visible(name))
            self._say(value, text)
            label.setVisible(bool(text))
            value.setVisible(bool(text))

    @staticmethod
    def _say(label: QLabel, text: str) -> None:
        """Show a value, with room for a figure on one line."""
        text = markup.visible(text)
        label.setText(text)
        advance = label.fontMetrics().horizontalAdvance
        label.setMinimumWidth(min(max(map(advance, text.splitlines()), default=0), FIGURE_WIDTH))

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The names and values that are shown."""
        pairs = (
            (label.text(), value.text())
            for label, value in zip(self._names.values(), self._values.values(), strict=True)
        )
        return [(name, value) for name, value in pairs if value]

    def explain(self, name: str, words: str) -> None:
        """Set the tooltip of a row."""
        for label in (self._names[name], self._values[name]):
            label.setToolTip(words)

    def text(self, name: str) -> str:
        """Return the value that is shown."""
        return self._values[name].text()

    def clear(self) -> None:
        """Hide every row."""
        for name in self._values:
            self.set(name, "")


class RowDelegate(QStyledItemDelegate):
    """Paints cells without a focus rectangle: rows are selected, not cells."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Leave the focus of the cell out."""
        super().initStyleOption(option, index)
        option.state &= ~QStyle.StateFlag.State_HasFocus
