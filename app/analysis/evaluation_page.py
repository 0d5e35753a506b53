"""The base of the pages of the Test tab."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QStackedWidget, QWidget

from netwright.app.shell import Shell
from netwright.designer import theme
from netwright.designer.markup import visible


class TestPage(QWidget):
    """A page of the Test tab about the run that is chosen in the tab."""

    __test__ = False
    """Not a class of tests, whatever pytest thinks of its name."""
    title: ClassVar[str]
    """What the switch between the pages says."""
    needs_run: ClassVar[bool] = True
    """Whether the page has nothing to show as long as the project has no run."""

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shell = shell
        self.run: Path | None = None

    def set_run(self, run: Path | None) -> None:
        """Take the run that is chosen, None without one. It is called when another run is chosen, for all pages."""
        self.run = run

    def set_runs(self, runs: Sequence[tuple[str, Path]] | None) -> None:
        """Take titles and folders of all runs that can be chosen; None as long as they are being read."""

    def shutdown(self) -> None:
        """End processes and requests: the window closes."""


class CardsPage(TestPage):
    """A page that shows a result as cards, and says what to do as long as there is none. Put `pages` into a layout."""

    def __init__(self, shell: Shell, first: str, parent: QWidget | None = None) -> None:
        """`first` is the text of the page before there is a result."""
        super().__init__(shell, parent)
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
