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
    QVBoxLayout,
    QWidget,
)

from netwright.app.runs.segments import RunPage
from netwright.app.shell import Shell
from netwright.designer import theme
from netwright.designer.language import in_sentence, noop, tr
from netwright.designer.markup import visible

SPLITS = {"test": noop("Test split"), "validation": noop("Validation split"), "training": noop("Training split")}
"""The splits of the data, by the names that requests have for them."""


def split_in_line(split: str) -> str:
    """Return a split among other words: `validation split`."""
    return in_sentence(SPLITS.get(split, split))


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
