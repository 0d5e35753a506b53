"""Small widgets that several parts of the window use."""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QWidget,
)

from netwright.designer import markup, theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.items import table_item
from netwright.designer.language import translation

NO_LIMIT = 16_777_215
"""The largest size that Qt allows a widget (its QWIDGETSIZE_MAX)."""


ROW_GAP = 8
"""Pixels between the rows of a `FlowRow`."""
ROW_HEIGHT, MOST_ROWS = 28, 12
"""Of a `text_table`: pixels of a row, and rows that are seen at once."""


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


class FlowRow(QWidget):
    """Widgets one after the other, each as wide as it needs, in as many rows as they take; hidden ones take no room.
    With `has_end` the last one stands at the right end of its row. One with the property `closes` begins with a
    comma and stands close to the one before."""

    def __init__(self, gap: int = 8, *, has_end: bool = False) -> None:
        super().__init__()
        self.gap, self._has_end = gap, has_end
        self.widgets: tuple[QWidget, ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_widgets(self, widgets: Sequence[QWidget]) -> None:
        """Show these widgets in place of those before."""
        for old in self.widgets:
            old.hide()
            old.deleteLater()
        self.widgets = tuple(widgets)
        for widget in widgets:
            is_hidden = widget.testAttribute(Qt.WidgetAttribute.WA_WState_ExplicitShowHide) and widget.isHidden()
            widget.setParent(self)
            widget.ensurePolished()
            widget.setVisible(not is_hidden)
        self.arrange()

    def arrange(self) -> None:
        """Place the widgets anew: one was shown, hidden or given another text."""
        self._place(self.width())
        self.updateGeometry()

    def _places(self, width: int) -> list[QRect]:
        """Return where each widget is: the widgets of a row share its middle."""
        rows: list[list[tuple[int, QSize]]] = []
        x = 0
        for widget in self.widgets:
            if x and widget.property("closes"):
                x -= self.gap - 2
            size = QSize(0, 0) if widget.isHidden() else widget.sizeHint()
            if not rows or x + size.width() > width:
                rows.append([])
                x = 0
            rows[-1].append((x, QSize(min(size.width(), max(width, 1)), size.height())))
            x += size.width() + self.gap if size.width() else 0
        if self._has_end and rows:
            _, size = rows[-1][-1]
            rows[-1][-1] = max(0, width - size.width()), size
        places, y = [], 0
        for row in rows:
            height = max(size.height() for _, size in row)
            places += [QRect(QPoint(x, y + (height - size.height()) // 2), size) for x, size in row]
            y += height + ROW_GAP
        return places

    def _place(self, width: int) -> None:
        for widget, place in zip(self.widgets, self._places(width), strict=True):
            widget.setGeometry(place)

    def hasHeightForWidth(self) -> bool:
        """Return true: a narrow window needs more rows."""
        return True

    @property
    def line_width(self) -> int:
        """The width that all widgets take in one row."""
        return sum(widget.sizeHint().width() + self.gap for widget in self.widgets if not widget.isHidden()) - self.gap

    def heightForWidth(self, width: int) -> int:
        """Return the height of all rows."""
        return max((place.bottom() + 1 for place in self._places(width)), default=0)

    def sizeHint(self) -> QSize:
        """Return the size in a window of usual width."""
        return QSize(900, self.heightForWidth(900))

    def minimumSizeHint(self) -> QSize:
        """Return the size of the widest widget."""
        return QSize(min(200, max((widget.sizeHint().width() for widget in self.widgets), default=0)), 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the widgets anew."""
        self._place(event.size().width())


class Pages(QStackedWidget):
    """Pages of which the one that is shown says how much room it needs; Qt asks all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.currentChanged.connect(self.updateGeometry)

    def minimumSizeHint(self) -> QSize:
        """Return the least size of the page that is shown."""
        page = self.currentWidget()
        return super().minimumSizeHint() if page is None else page.minimumSizeHint()


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
            old.hide()  # else it is painted below the new ones until it is deleted
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


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> QTableWidget:
    """Return a table of texts that cannot be edited; all columns but the first have tabular figures."""
    table = QTableWidget(len(rows), len(head))
    table.setHorizontalHeaderLabels(list(map(markup.visible, head)))
    table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
    table.horizontalHeader().setHighlightSections(False)
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    figures = theme.figures(table.font())
    for at, row in enumerate(rows):
        for column, text in enumerate(row):
            item = table_item(text, text)
            if column:
                item.setFont(figures)
            table.setItem(at, column, item)
    table.resizeColumnsToContents()
    for column in range(len(head)):
        table.setColumnWidth(column, table.columnWidth(column) + 16)
    table.setFixedHeight(ROW_HEIGHT * min(MOST_ROWS, len(rows)) + table.horizontalHeader().sizeHint().height() + 4)
    return table


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
            label, value = ElidedLabel(translation(name)), QLabel()
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
