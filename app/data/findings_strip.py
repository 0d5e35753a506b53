"""Findings about data in a line: how many, which, and what can be done about it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from netwright.app.widgets import FlowRow
from netwright.designer import markup, theme
from netwright.designer.language import in_sentence, tr

ICONS = {"error": "error", "warning": "warning", "note": "info"}
MOST_DETAIL = 64
"""Characters of the detail of a finding in the line; the tooltip has all of it."""
MOST_SHOWN = 4
"""Findings in the line; the review has all."""
ICON, LEAST_HEIGHT = 16, 30


@dataclass(frozen=True)
class LineItem:
    """A finding in the line: its title, the detail beside it, and buttons by their words. `tip` says what a training
    does about it."""

    severity: str
    title: str
    detail: str = ""
    tip: str = ""
    actions: tuple[tuple[str, Callable[[], object]], ...] = ()


class FindingsLine(QFrame):
    """A strip with the findings, each with its cures; hidden while nothing is known."""

    review_wanted = Signal(bool)
    """Whether all that was checked is to be seen."""

    def __init__(self) -> None:
        super().__init__()
        theme.mark(self, "role", "card")
        self.setAccessibleName(tr("Findings about the data"))
        self.row = FlowRow(gap=16)
        self.review = QPushButton(tr("Review all"))
        self.review.setCheckable(True)
        self.review.setToolTip(tr("Show everything that was checked, file by file and column by column"))
        self.review.setMinimumHeight(LEAST_HEIGHT)
        theme.mark(self.review, "role", "link")
        self.review.toggled.connect(self.review_wanted)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(16, 8, 12, 8)
        outer.setSpacing(12)
        outer.addWidget(self.row, 1)
        outer.addWidget(self.review, 0, Qt.AlignmentFlag.AlignTop)
        self.items: tuple[LineItem, ...] = ()
        self._shown: object = None
        theme.changed.connect(self._fill_again)
        self._lead = ""
        self.hide()

    def show_items(self, lead: str, items: Sequence[LineItem]) -> None:
        """Show what was checked, and the findings, the gravest first."""
        self._lead = lead
        self.items = tuple(sorted(items, key=lambda item: list(ICONS).index(item.severity)))
        self.setVisible(bool(lead or items))
        self._fill()

    def _fill_again(self) -> None:
        self._fill(force=True)

    def _fill(self, *, force: bool = False) -> None:
        shown = (self._lead, tuple((i.severity, i.title, i.detail, tuple(t for t, _ in i.actions)) for i in self.items))
        if shown == self._shown and not force:
            return
        self._shown = shown
        lead = QLabel(markup.visible(self._lead))
        theme.mark(lead, "role", "muted")
        lead.setMinimumHeight(LEAST_HEIGHT)  # level with the link at the end
        parts: list[QWidget] = [*([lead] if self._lead else []), *(_finding(item) for item in self.items[:MOST_SHOWN])]
        if (rest := len(self.items) - MOST_SHOWN) > 0:
            more = QLabel(tr("and {count:,} more", count=rest))
            theme.mark(more, "role", "muted")
            parts.append(more)
        self.row.show_widgets(parts)

    def button(self, text: str) -> QPushButton:
        """Return the button of a cure by its words."""
        return next(button for button in self.row.findChildren(QPushButton) if button.text() == text)


def _finding(item: LineItem) -> QWidget:
    """Return a finding: icon, title, detail and buttons."""
    part = QWidget()
    row = QHBoxLayout(part)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    sign = QLabel()
    token = "muted" if item.severity == "note" else item.severity
    sign.setPixmap(theme.icon(ICONS[item.severity], token).pixmap(ICON, ICON))
    sign.setAccessibleName(in_sentence(item.severity.capitalize()))
    title, detail = QLabel(markup.visible(item.title)), QLabel()
    theme.mark(title, "role", "strong")
    short = item.detail if len(item.detail) <= MOST_DETAIL else f"{item.detail[: MOST_DETAIL - 1]}…"
    detail.setText(markup.visible(short))
    theme.mark(detail, "role", "muted")
    part.setToolTip(markup.visible("\n".join(filter(None, (item.detail if short != item.detail else "", item.tip)))))
    for widget in (sign, title, *((detail,) if short else ())):
        row.addWidget(widget)
    for words, act in item.actions:
        button = QPushButton(markup.visible(words))
        button.clicked.connect(lambda _=False, act=act: act())
        row.addWidget(button)
    return part


class ReviewPart(QWidget):
    """Holds the cards with all that was checked, and notes on how the data is read."""

    def __init__(self, cards: Sequence[QWidget]) -> None:
        super().__init__()
        self.notes = QVBoxLayout()
        self.notes.setSpacing(6)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        for card in cards:
            column.addWidget(card)
        column.addLayout(self.notes)
        self.hide()

    def show_notes(self, notes: Sequence[str]) -> None:
        """Show how the data is read, a sentence each."""
        while (item := self.notes.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        for note in notes:
            label = QLabel(markup.visible(note))
            label.setWordWrap(True)
            theme.mark(label, "role", "muted")
            self.notes.addWidget(label)
