"""A small window at the pointer that adds a layer: type to filter, Enter takes the best match, Escape closes."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from designer import theme
from designer.library.model import KEY_ROLE, OWN_ROLE, REFUSAL_ROLE, LibraryFilter, LibraryModel, OwnEntry, families
from designer.library.view import LibraryView
from designer.search_field import SearchField
from engine.network.offers import Offers

WIDTH, HEIGHT = 264, 332
_EDGE = 8
_BELOW = 10


class QuickAdd(QFrame):
    """The layer library in a popup. With offers, what fits comes first and the rest is muted and says why."""

    chosen = Signal(str)
    """The key of the layer type. The popup is closed by then."""
    own_chosen = Signal(object)
    """The `OwnEntry` of a block of the user's own, then."""
    closed = Signal()

    def __init__(
        self,
        prompt: str,
        offers: Offers | None,
        parent: QWidget,
        own: Sequence[OwnEntry] = (),
        without: Collection[str] = (),
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        theme.mark(self, "role", "popup")
        self.setAccessibleName(prompt)
        self.setFixedSize(WIDTH, HEIGHT)
        self.search = SearchField(prompt, prompt)
        self.search.textChanged.connect(self._filter)
        self.search.installEventFilter(self)
        groups = _groups(offers)
        if groups is None and without:
            known = {title: [key for key in keys if key not in without] for title, keys in families().items()}
            groups = {title: keys for title, keys in known.items() if keys}
        self.model = LibraryModel(self, groups, offers)
        self.model.show_own(own)
        self.filter = LibraryFilter(self.model)
        self.view = LibraryView()
        self.view.setDragEnabled(False)
        self.view.setRootIsDecorated(False)
        self.view.set_flat()
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setModel(self.filter)
        self.view.ensurePolished()  # else Qt measures the rows before they are dressed
        self.view.expandAll()
        self.view.setItemsExpandable(False)
        self.view.clicked.connect(self._on_click)
        self.view.chosen.connect(self._take)
        self.view.own_chosen.connect(self._take_own)
        self.empty = QLabel()
        self.empty.setWordWrap(True)
        theme.mark(self.empty, "role", "muted")
        self.empty.hide()
        self.why = QLabel()
        self.why.setWordWrap(True)
        self.why.setMargin(8)
        theme.mark(self.why, "role", "help")
        self.why.hide()
        self.view.selectionModel().currentChanged.connect(self._explain)
        self._lay_out()
        if offers is not None and groups:
            self.view.setCurrentIndex(next(one for one in self.view.entries() if one.data(KEY_ROLE)))

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 4)
        column.setSpacing(4)
        top = QVBoxLayout()
        top.setContentsMargins(8, 0, 8, 0)
        top.setSpacing(8)
        top.addWidget(self.search)
        top.addWidget(self.empty)
        column.addLayout(top)
        column.addWidget(self.view, 1)
        column.addStretch()
        column.addWidget(self.why)

    def open_at(self, at: QPoint) -> None:
        """Show it with the search field below a point of the screen, and all of it on the screen."""
        room = self.screen().availableGeometry().adjusted(_EDGE, _EDGE, -_EDGE, -_EDGE)
        x = min(at.x() - 16, room.right() + 1 - self.width())
        y = min(at.y() + _BELOW, room.bottom() + 1 - self.height())
        self.move(max(x, room.left()), max(y, room.top()))
        self.show()
        self.search.setFocus(Qt.FocusReason.PopupFocusReason)

    def _filter(self, text: str) -> None:
        self.filter.search(text)
        self.view.expandAll()
        self.view.select_best(text)
        is_empty = not self.filter.rowCount()
        self.empty.setText(f"No layer matches “{text}”.")
        self.empty.setVisible(is_empty)
        self.view.setVisible(not is_empty)

    def _explain(self, index: QModelIndex) -> None:
        """Say below the list why the current type does not fit."""
        why = index.data(REFUSAL_ROLE)
        self.why.setText(why or "")
        self.why.setVisible(bool(why))

    def _on_click(self, index: QModelIndex) -> None:
        if key := index.data(KEY_ROLE):
            self._take(key)
        elif isinstance(own := index.data(OWN_ROLE), OwnEntry):
            self._take_own(own)

    def _take(self, key: str) -> None:
        if self.isVisible():
            self.hide()
            self.chosen.emit(key)

    def _take_own(self, entry: OwnEntry) -> None:
        if self.isVisible():
            self.hide()
            self.own_chosen.emit(entry)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """While searching, the arrows move through the results, Enter takes one, Escape closes."""
        if watched is self.search and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.hide()
                return True
            return self.view.take_key(event.key())
        return super().eventFilter(watched, event)

    def hideEvent(self, event: QHideEvent) -> None:
        """A click beside it hides it too."""
        super().hideEvent(event)
        self.closed.emit()
        self.deleteLater()


def _groups(offers: Offers | None) -> dict[str, list[str]] | None:
    """What fits, then what does not; None, that is families, where nothing is said or all is alike."""
    if offers is None:
        return None
    fits = [key for key, why in offers.items() if not why]
    rest = [key for key, why in offers.items() if why]
    return {title: keys for title, keys in (("Fits here", fits), ("Does not fit", rest)) if keys}
