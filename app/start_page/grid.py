"""The grid that cards stand in: as many columns as fit, as high as its rows."""

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.start_page.cards import GAP, NARROWEST, Card
from app.start_page.gallery import Entry
from app.start_page.sketch import Sketch


class CardGrid(QWidget):
    """As many cards beside each other as there is room for, all of one size."""

    chosen = Signal(object)
    """The path of a card that shall be opened."""
    removed = Signal(object)
    focused = Signal(object)
    moved = Signal(object, int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.cards: list[Card] = []
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_entries(self, entries: Iterable[Entry]) -> None:
        """Other cards; those that stay keep their pictures."""
        kept = {card.entry: card for card in self.cards}
        cards = [kept.pop(entry) if entry in kept else self._made(entry) for entry in entries]
        for card in kept.values():
            card.hide()
            card.deleteLater()
        for before, card in zip([None, *cards], cards, strict=False):
            if before is not None:
                QWidget.setTabOrder(before, card)
        self.cards = cards
        self._place()

    def _made(self, entry: Entry) -> Card:
        card = Card(entry, self)
        card.clicked.connect(lambda: None if card.is_gone else self.chosen.emit(entry.path))
        card.removed.connect(lambda: self.removed.emit(entry.path))
        card.focused.connect(lambda: self.focused.emit(card))
        card.moved.connect(lambda key: self.moved.emit(card, key))
        card.show()
        return card

    def show_sketch(self, path: Path, found: Sketch) -> None:
        """Give the cards of a file their picture."""
        for card in self.cards:
            if card.entry.path == path:
                card.show_sketch(found)

    def show_gone(self, path: Path) -> None:
        """Tell the cards of a file that it is not there."""
        for card in self.cards:
            if card.entry.path == path:
                card.show_gone()

    def filter(self, search: str) -> list[Card]:
        """Show only what is found by these words. Returns what is shown."""
        for card in self.cards:
            card.setVisible(card.entry.is_found_by(search))
        self._place()
        return self.shown

    @property
    def shown(self) -> list[Card]:
        """The cards that are not filtered away."""
        return [card for card in self.cards if not card.isHidden()]

    def _columns(self, width: int) -> int:
        return max(1, (width + GAP) // (NARROWEST + GAP))

    def hasHeightForWidth(self) -> bool:
        """Fewer columns need more rows."""
        return True

    def heightForWidth(self, width: int) -> int:
        """All rows and the gaps between them."""
        shown = self.shown
        rows = -(-len(shown) // self._columns(width))
        return rows * (shown[0].sizeHint().height() + GAP) - GAP if rows else 0

    def sizeHint(self) -> QSize:
        """Three columns."""
        width = 3 * (NARROWEST + GAP) - GAP
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """One column."""
        return QSize(NARROWEST, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The cards share the width."""
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        columns = self._columns(self.width())
        width = (self.width() + GAP) / columns
        for n, card in enumerate(self.shown):
            left, right = round(n % columns * width), round((n % columns + 1) * width) - GAP
            height = card.sizeHint().height()
            card.setGeometry(left, n // columns * (height + GAP), right - left, height)
        self.updateGeometry()
