"""Cards and tables that the pages about a run are made of."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QStackedWidget,
    QTableWidget,
    QVBoxLayout,
    QWidget,
)

from netwright.app.runs.segments import RunPage
from netwright.app.shell import Shell
from netwright.designer import theme
from netwright.designer.items import table_item
from netwright.designer.language import in_sentence, noop, tr
from netwright.designer.markup import visible

ROW_HEIGHT, MOST_ROWS = 28, 12
SPLITS = {"test": noop("Test split"), "validation": noop("Validation split"), "training": noop("Training split")}
"""The splits of the data, by the names that requests have for them."""


def split_in_line(split: str) -> str:
    """Return a split among other words: `validation split`."""
    return in_sentence(SPLITS.get(split, split))


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> QTableWidget:
    """Return a table of texts that cannot be edited; all columns but the first have tabular figures."""
    table = QTableWidget(len(rows), len(head))
    table.setHorizontalHeaderLabels(list(map(visible, head)))
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


def stacked(cards: Sequence[QWidget], layout: QBoxLayout) -> QWidget:
    """Return cards below or beside each other. Below, the last one takes the height that is left; beside, each takes
    the same width."""
    stack = QWidget()
    stack.setLayout(layout)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(12)
    for card in cards:
        layout.addWidget(card, 1 if card is cards[-1] or isinstance(layout, QHBoxLayout) else 0)
    return stack


def card(content: QWidget, title: str = "", note: str = "") -> QFrame:
    """Return a card with a heading, a muted note beside it, and the content below."""
    frame = QFrame()
    theme.mark(frame, "role", "card")
    column = QVBoxLayout(frame)
    column.setContentsMargins(16, 12, 16, 12)
    column.setSpacing(8)
    if title:
        heading, beside = QLabel(title), QLabel(note)
        theme.mark(heading, "role", "strong")
        theme.mark(beside, "role", "muted")
        row = QHBoxLayout()
        row.addWidget(heading)
        row.addWidget(beside)
        row.addStretch(1)
        column.addLayout(row)
        content.setAccessibleName(title)
    column.addWidget(content, 0, Qt.AlignmentFlag.AlignTop)
    return frame


class CardsPage(RunPage):
    """A page that shows a result as cards, and says what to do as long as there is none. Put `pages` into a layout."""

    def __init__(self, shell: Shell, first: str, parent: QWidget | None = None) -> None:
        """`first` is the text of the page before there is a result."""
        super().__init__(parent)
        self.shell = shell
        self.pages, self.message, self._area = QStackedWidget(), QLabel(first), QScrollArea()
        self.cards: list[QWidget] = []
        theme.mark(self.message, "role", "muted")
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setWordWrap(True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self.pages.addWidget(self.message)
        self.pages.addWidget(self._area)

    def say(self, text: str, *, refused: bool = False) -> None:
        """Show a text in the place of the cards."""
        theme.mark(self.message, "role", "error" if refused else "muted")
        self.message.setText(visible(text))
        self.pages.setCurrentIndex(0)

    @property
    def lacks_data(self) -> bool:
        """Whether the model has no data that it could be scored on, which is said."""
        if self.model is None or self.model.has_data:
            return False
        name = self.model.path.name
        self.say(tr("{name} has no data of its own. Choose data above: samples, and what is true of them.", name=name))
        return True

    def clear(self) -> None:
        """Remove the cards."""
        self.cards = []
        self._area.setWidget(QWidget())

    def show_cards(self, rows: Sequence[Sequence[QWidget]], widths: tuple[int, int] = (1, 1)) -> None:
        """Show rows of one card, which takes the whole width, or two, whose widths are in proportion to `widths`."""
        self.clear()
        page = QWidget()
        grid = QGridLayout(page)
        grid.setContentsMargins(0, 0, 8, 0)  # beside the scroll bar
        grid.setSpacing(12)
        for column, width in enumerate(widths):
            grid.setColumnStretch(column, width)
        for line, row in enumerate(rows):
            for column, widget in enumerate(row):
                grid.addWidget(widget, line, column, 1, 2 if len(row) == 1 else 1)
                self.cards.append(widget)
        grid.setRowStretch(len(rows), 1)
        self._area.setWidget(page)
        self.pages.setCurrentIndex(1)
