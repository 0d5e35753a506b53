"""The model of the library: layer types below their families, favourites and recent layers above them, and matches."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, QSortFilterProxyModel, Qt, QTimer
from PySide6.QtGui import QFont, QIcon, QPainter, QPixmap, QStandardItem, QStandardItemModel

from netwright.designer import theme
from netwright.designer.language import LAYER, layer_label, noop, tr, translation, with_english
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.names import search_text
from netwright.engine.network.catalog import add_on_of, catalog

KEY_ROLE = Qt.ItemDataRole.UserRole
REFUSAL_ROLE = KEY_ROLE + 1
"""Why a layer type does not fit where one is looked for."""
FAVOURITE_ROLE = KEY_ROLE + 2
ONNX_ROLE = KEY_ROLE + 3
"""Why a layer type has no ONNX form."""
USER_BLOCK_ROLE = KEY_ROLE + 4
"""The `UserBlock` of a row of the user's own."""
TITLE_ROLE = KEY_ROLE + 5
"""The title of a heading in English, as it is stored."""
FAVOURITES, RECENT, OWN = noop("Favourites"), noop("Recent"), noop("My blocks")
SQUARE = 10
_HEADING_HEIGHT = 32
_ROW = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsDragEnabled
_AT_ONCE = 12
"""Rows whose words are gathered between two events."""


@dataclass(frozen=True, kw_only=True)
class UserBlock:
    """A block of the user in the library: its name, its description, and the data of a drag."""

    name: str
    tooltip: str
    mime: str
    payload: bytes
    family: str = noop("Block")


def families() -> dict[str, list[str]]:
    """The keys of the layer types of each family."""
    keys_by_family: dict[str, list[str]] = {}
    for key, type in catalog().items():
        keys_by_family.setdefault(type.family, []).append(key)
    return keys_by_family


class LibraryModel(QStandardItemModel):
    """Layer types below headings: their families, or groups of somebody's own.

    The words by which a row is found are gathered when first needed, or before that in idle time (`warm_up`).
    """

    def __init__(
        self,
        parent: QObject | None = None,
        groups: Mapping[str, Iterable[str]] | None = None,
        refusals: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(parent)
        self._types = catalog()
        self._refusals = refusals or {}
        self._icons: dict[str, QIcon] = {}
        self._words: dict[str, str] = {}
        self._below: dict[str, list[str] | list[UserBlock]] = {}
        """What stands below each heading."""
        self._favourites: frozenset[str] = frozenset()
        self._refused: Mapping[str, str] = {}
        self._font = QFont()
        self._font.setPixelSize(theme.pixels(12))
        self._font.setWeight(QFont.Weight.DemiBold)
        for title, keys in (families() if groups is None else groups).items():
            self._fill(self._heading(title, self.rowCount()), keys)
        self.paint_headings()

    # Sections

    def show_favourites(self, keys: Sequence[str]) -> None:
        """Put these types above all others, and mark them wherever they stand."""
        changed = self._favourites.symmetric_difference(keys)
        self._favourites = frozenset(keys)
        self._show_section(FAVOURITES, keys)
        for item in self._items():
            if item.data(KEY_ROLE) in changed:
                self._mark(item)

    def show_recent(self, keys: Sequence[str]) -> None:
        """Put these types above the families."""
        self._show_section(RECENT, keys)

    def show_user_blocks(self, entries: Sequence[UserBlock]) -> None:
        """Put the user's own entries above the families."""
        heading = self._cleared(OWN, is_wanted=bool(entries))
        if heading is not None:
            self._below[OWN] = list(entries)
            heading.appendRows([self._own_item(entry) for entry in entries])

    def refuse(self, refusals: Mapping[str, str]) -> None:
        """Rows that cannot be used where one is now, with the reason; all others can."""
        changed, self._refused = self._refused.keys() ^ refusals.keys(), dict(refusals)
        for item in self._items():
            if (key := item.data(KEY_ROLE)) in changed:
                self._dress(item, key)

    def _dress(self, item: QStandardItem, key: str) -> None:
        why = self._refused.get(key)
        item.setEnabled(why is None)
        item.setToolTip(
            "\n".join([with_english(self._types[key].label, LAYER), why or translation(self._types[key].summary())])
        )
        item.setData(why or translation(self._types[key].summary()), Qt.ItemDataRole.AccessibleDescriptionRole)

    def _show_section(self, title: str, keys: Sequence[str]) -> None:
        present = [key for key in keys if key in self._types]
        heading = self._cleared(title, is_wanted=bool(present))
        if heading is not None:
            self._fill(heading, present)

    def _cleared(self, title: str, *, is_wanted: bool) -> QStandardItem | None:
        """The heading of a section with nothing below it, in its place; None if it is not wanted any more."""
        order = (FAVOURITES, RECENT, OWN)
        titles = [self.item(row).data(TITLE_ROLE) for row in range(min(self.rowCount(), len(order)))]
        if title in titles:
            row = titles.index(title)
            if not is_wanted:
                self.removeRow(row)
                return None
            heading = self.item(row)
            heading.removeRows(0, heading.rowCount())
            return heading
        if not is_wanted:
            return None
        heading = self._heading(title, sum(other in titles for other in order[: order.index(title)]))
        heading.setForeground(theme.current().muted)
        return heading

    def _heading(self, title: str, row: int) -> QStandardItem:
        heading = QStandardItem(translation(title))
        heading.setData(title, TITLE_ROLE)
        heading.setFont(self._font)
        heading.setSizeHint(QSize(0, _HEADING_HEIGHT))
        heading.setFlags(Qt.ItemFlag.ItemIsEnabled)
        self.insertRow(row, heading)
        return heading

    def _fill(self, heading: QStandardItem, keys: Iterable[str]) -> None:
        self._below[heading.data(TITLE_ROLE)] = below = list(keys)
        heading.appendRows([self._entry(key, self._types[key]) for key in below])

    # Rows

    def _entry(self, key: str, type: type[LayerType]) -> QStandardItem:
        entry = QStandardItem(self._icon(type.family), layer_label(type.label))
        entry.setFlags(_ROW)
        entry.setData(key, KEY_ROLE)
        refusal = self._refusals.get(key, "")
        words = [with_english(type.label, LAYER), refusal or translation(type.summary())]
        if type.onnx_refusal:
            words.append(tr("No ONNX form: {reason}", reason=type.onnx_refusal))
            entry.setData(type.onnx_refusal, ONNX_ROLE)
        if not type.__module__.startswith("netwright.") and (source := add_on_of(type.__module__)):
            words.append(tr("From the add-on {title}", title=source.title))
        entry.setToolTip("\n".join(words))
        entry.setData("\n".join(words[1:]), Qt.ItemDataRole.AccessibleDescriptionRole)
        if refusal:
            entry.setData(refusal, REFUSAL_ROLE)
            entry.setForeground(theme.current().muted)
        if key in self._favourites or type.onnx_refusal:
            self._mark(entry)
        if key in self._refused:
            self._dress(entry, key)
        return entry

    def _mark(self, entry: QStandardItem) -> None:
        """Say whether a row is a favourite, to the eye and to a screen reader."""
        is_favourite = entry.data(KEY_ROLE) in self._favourites
        words = [entry.text(), *[tr("favourite")] * is_favourite, *[tr("no ONNX form")] * bool(entry.data(ONNX_ROLE))]
        entry.setData(is_favourite, FAVOURITE_ROLE)
        entry.setData(", ".join(words), Qt.ItemDataRole.AccessibleTextRole)

    def _own_item(self, entry: UserBlock) -> QStandardItem:
        item = QStandardItem(self._icon(entry.family), entry.name)
        item.setFlags(_ROW)
        item.setData(entry, USER_BLOCK_ROLE)
        item.setToolTip(f"{entry.name}\n{entry.tooltip}".strip())
        item.setData(entry.tooltip, Qt.ItemDataRole.AccessibleDescriptionRole)
        return item

    def _icon(self, family: str) -> QIcon:
        if family not in self._icons:
            self._icons[family] = _family_icon(family)
        return self._icons[family]

    def _items(self) -> Iterable[QStandardItem]:
        headings = [self.item(row) for row in range(self.rowCount())]
        return [heading.child(row) for heading in headings for row in range(heading.rowCount())]

    def paint_headings(self) -> None:
        """Give the families' names the muted colour that holds."""
        for row in range(self.rowCount()):
            self.item(row).setForeground(theme.current().muted)

    # Search

    def matches(self, words: Sequence[str]) -> dict[int, list[int]]:
        """The rows that have all of these words, below the row of their heading. What stands above the families too is
        left out: a search finds each type once."""
        rows_by_heading: dict[int, list[int]] = {}
        for at in range(self.rowCount()):
            title = self.item(at).data(TITLE_ROLE)
            if title not in (FAVOURITES, RECENT):
                texts = map(self._words_of, self._below.get(title, ()))
                if rows := [row for row, text in enumerate(texts) if all(word in text for word in words)]:
                    rows_by_heading[at] = rows
        return rows_by_heading

    def _words_of(self, entry: str | UserBlock) -> str:
        if isinstance(entry, UserBlock):
            return f"{entry.name} {entry.tooltip}".lower()
        if entry not in self._words:
            self._words[entry] = _search_text(self._types[entry])
        return self._words[entry]

    def warm_up(self) -> None:
        """Gather the words of the next rows, and of the others after them, between events."""
        rest = [key for key in self._types if key not in self._words]
        for key in rest[:_AT_ONCE]:
            self._words[key] = _search_text(self._types[key])
        if rest[_AT_ONCE:]:
            QTimer.singleShot(0, self, self.warm_up)


class LibraryFilter(QSortFilterProxyModel):
    """The entries whose words contain everything that was typed."""

    def __init__(self, model: LibraryModel) -> None:
        super().__init__(model)
        self._model = model
        self._found: dict[int, frozenset[int]] | None = None
        self.setSourceModel(model)

    def search(self, text: str) -> None:
        """Look for other words."""
        words = text.lower().split()
        self.beginFilterChange()
        rows = self._model.matches(words) if words else None
        self._found = None if rows is None else {heading: frozenset(rows) for heading, rows in rows.items()}
        self.endFilterChange(QSortFilterProxyModel.Direction.Rows)

    def filterAcceptsRow(self, row: int, parent: QModelIndex | QPersistentModelIndex) -> bool:
        """Accept families with accepted rows."""
        if self._found is None:
            return True
        return row in self._found.get(parent.row(), ()) if parent.isValid() else row in self._found


def _search_text(type: type[LayerType]) -> str:
    """Return the words by which a type is found, in English and in the language of the window."""
    return f"{search_text(type.key)} {layer_label(type.label).lower()}"


def _family_icon(family: str) -> QIcon:
    """A small square in the family's colour, sharp on fine screens too."""
    icon = QIcon()
    for scale in (1, 2):
        pixmap = QPixmap(QSize(SQUARE, SQUARE) * scale)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.current().family(family))
        painter.drawRoundedRect(QRectF(0, 0, SQUARE * scale, SQUARE * scale), 3 * scale, 3 * scale)
        painter.end()
        pixmap.setDevicePixelRatio(scale)
        for mode in (QIcon.Mode.Normal, QIcon.Mode.Selected):  # else Qt tints the square of a selected row
            icon.addPixmap(pixmap, mode)
    return icon
