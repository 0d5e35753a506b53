"""The layer library: every layer type by family, found by typing, dragged onto the canvas or added with Enter."""

import re
from collections.abc import Iterable, Mapping

from PySide6.QtCore import (
    QByteArray,
    QEvent,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRectF,
    QSize,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QDrag, QFont, QIcon, QKeyEvent, QPainter, QPixmap, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLabel,
    QPushButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from designer import theme
from designer.canvas import pictures
from designer.editor import Editor
from designer.search_field import SearchField
from engine.layers.base import LayerType
from engine.layers.catalog import catalog, layer_type
from engine.network.edits import default_name

MIME = "application/x-netwright-layer"
KEY_ROLE = Qt.ItemDataRole.UserRole
WORDS_ROLE = KEY_ROLE + 1
REFUSAL_ROLE = KEY_ROLE + 2
"""Why a layer type does not fit where one is looked for."""
_SQUARE = 10
_HEADING_HEIGHT = 32


def search_words(type: type[LayerType]) -> str:
    """What a layer type is found by: label, key, family, summary, and what MATLAB would call it."""
    plain = f"{type.label} {type.key} {type.key.replace('_', ' ')} {type.family} {type.summary()}"
    american = plain.replace("isation", "ization")
    return f"{plain} {american} {matlab_name(type)}".lower()


def matlab_name(type: type[LayerType]) -> str:
    """MATLAB names its layers by one rule: `2-D convolution` is `convolution2dLayer`."""
    dimension = re.match(r"(\d)-D ", type.label)
    words = re.sub(r"^\d-D |[^A-Za-z ]", "", type.label).replace("isation", "ization").split()
    name = "".join(word[:1].upper() + word[1:] for word in words)
    return f"{name[:1].lower()}{name[1:]}{dimension[1] + 'd' if dimension else ''}Layer"


def _family_icon(family: str) -> QIcon:
    """A small square in the family's colour, sharp on fine screens too."""
    icon = QIcon()
    for scale in (1, 2):
        pixmap = QPixmap(QSize(_SQUARE, _SQUARE) * scale)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.current().family(family))
        painter.drawRoundedRect(QRectF(0, 0, _SQUARE * scale, _SQUARE * scale), 3 * scale, 3 * scale)
        painter.end()
        pixmap.setDevicePixelRatio(scale)
        for mode in (QIcon.Mode.Normal, QIcon.Mode.Selected):  # else Qt tints the square of a selected row
            icon.addPixmap(pixmap, mode)
    return icon


def families() -> dict[str, list[str]]:
    """The keys of the layer types of each family."""
    found: dict[str, list[str]] = {}
    for key, type in catalog().items():
        found.setdefault(type.family, []).append(key)
    return found


class LibraryModel(QStandardItemModel):
    """Layer types below headings: their families, or groups of somebody's own."""

    def __init__(
        self,
        parent: QObject | None = None,
        groups: Mapping[str, Iterable[str]] | None = None,
        refusals: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(parent)
        font = QFont()
        font.setPixelSize(12)
        font.setWeight(QFont.Weight.DemiBold)
        icons: dict[str, QIcon] = {}
        for title, keys in (families() if groups is None else groups).items():
            heading = QStandardItem(title)
            heading.setFont(font)
            heading.setSizeHint(QSize(0, _HEADING_HEIGHT))
            heading.setFlags(Qt.ItemFlag.ItemIsEnabled)
            self.appendRow(heading)
            for key in keys:
                type = layer_type(key)
                if type.family not in icons:
                    icons[type.family] = _family_icon(type.family)
                heading.appendRow(self._entry(key, type, icons[type.family], (refusals or {}).get(key, "")))
        self.paint_headings()

    def _entry(self, key: str, type: type[LayerType], icon: QIcon, refusal: str) -> QStandardItem:
        entry = QStandardItem(icon, type.label)
        entry.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsDragEnabled)
        entry.setData(key, KEY_ROLE)
        entry.setData(search_words(type), WORDS_ROLE)
        entry.setToolTip(f"{type.label}\n{refusal or type.summary()}")
        if refusal:
            entry.setData(refusal, REFUSAL_ROLE)
            entry.setForeground(theme.current().muted)
        return entry

    def paint_headings(self) -> None:
        """Give the families' names the muted colour that holds."""
        for row in range(self.rowCount()):
            self.item(row).setForeground(theme.current().muted)


class LibraryFilter(QSortFilterProxyModel):
    """The entries whose words contain everything that was typed."""

    def __init__(self, model: LibraryModel) -> None:
        super().__init__(model)
        self._words: list[str] = []
        self.setRecursiveFilteringEnabled(True)
        self.setSourceModel(model)

    def search(self, text: str) -> None:
        """Look for other words."""
        self.beginFilterChange()
        self._words = text.lower().split()
        self.endFilterChange(QSortFilterProxyModel.Direction.Rows)

    def filterAcceptsRow(self, row: int, parent: QModelIndex | QPersistentModelIndex) -> bool:
        """Families are accepted through what is in them."""
        words = self.sourceModel().index(row, 0, parent).data(WORDS_ROLE)
        return words is not None and all(word in words for word in self._words)


class LibraryView(QTreeView):
    """The tree of the library."""

    chosen = Signal(str)
    """The key of the layer type to add."""

    def __init__(self) -> None:
        super().__init__()
        self.setHeaderHidden(True)
        self.setIndentation(12)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setIconSize(QSize(_SQUARE, _SQUARE))
        self.setDragEnabled(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Layer library")
        self.doubleClicked.connect(self._choose)

    def _choose(self, index: QModelIndex) -> None:
        key = index.data(KEY_ROLE)
        if key:
            self.chosen.emit(key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter adds a layer, or folds a family."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
        elif self.currentIndex().data(KEY_ROLE):
            self._choose(self.currentIndex())
        else:
            self.setExpanded(self.currentIndex(), not self.isExpanded(self.currentIndex()))

    def entries(self) -> list[QModelIndex]:
        """The layer types that can be seen, top down."""
        model = self.model()
        families = [model.index(row, 0) for row in range(model.rowCount())]
        return [model.index(row, 0, family) for family in families for row in range(model.rowCount(family))]

    def move_current(self, step: int) -> None:
        """Make the next or previous layer type the current one, past the families."""
        entries = self.entries()
        if entries:
            current = self.currentIndex()
            at = entries.index(current) + step if current in entries else 0
            self.setCurrentIndex(entries[at % len(entries)])

    def select_best(self, text: str) -> None:
        """Make the entry current whose name is nearest: begins with the text, contains it, or is described by it. One
        that does not fit stands back."""
        wanted = text.lower().strip()

        def rank(index: QModelIndex) -> int:
            back = 2 if index.data(REFUSAL_ROLE) else 0
            names = (index.data().lower(), index.data(KEY_ROLE))
            if wanted in names:
                return back
            if any(name.startswith(wanted) for name in names):
                return 1 + back
            return (2 if any(wanted in name for name in names) else 3) + back

        entries = self.entries()
        if entries:
            self.setCurrentIndex(min(entries, key=rank))

    def take_key(self, key: int) -> bool:
        """Do what a key means that was pressed in the search field; whether it means anything here."""
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.move_current(1 if key == Qt.Key.Key_Down else -1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.currentIndex())
        else:
            return False
        return True

    def startDrag(self, actions: Qt.DropAction) -> None:
        """Carry the key of the layer type, and look like the layer it will be."""
        drag = self.make_drag()
        if drag is not None:
            drag.exec(Qt.DropAction.CopyAction)

    def make_drag(self) -> QDrag | None:
        """The drag of the current layer type."""
        key = self.currentIndex().data(KEY_ROLE)
        if not key:
            return None
        data = QMimeData()
        data.setData(MIME, QByteArray(key.encode()))
        drag = QDrag(self)
        drag.setMimeData(data)
        scale = self.devicePixelRatioF()
        pixmap = node_picture(layer_type(key)(), scale)
        drag.setPixmap(pixmap)
        drag.setHotSpot(QPoint(round(pixmap.width() / scale / 2), round(pixmap.height() / scale / 2)))
        return drag


def node_picture(type: LayerType, scale: float) -> QPixmap:
    """The layer as the canvas will show it."""
    detail = " · ".join(filter(None, (type.label, type.telling())))
    inputs, outputs = len(type.input_ports()), len(type.output_ports())
    content = pictures.Content(f"{default_name(type)}", detail, "", type.family, inputs, outputs)
    pixmap = pictures.picture(content, scale)
    pixmap.setDevicePixelRatio(scale)
    return pixmap


class Palette(QWidget):
    """A search field above the library."""

    def __init__(self, editor: Editor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme.mark(self, "role", "panel")
        self._editor = editor
        self._folded: set[str] = set()
        self.model = LibraryModel(self)
        self.filter = LibraryFilter(self.model)
        self.view = LibraryView()
        self.view.setModel(self.filter)
        self.view.ensurePolished()  # else Qt measures the rows before they are dressed
        self.view.expandAll()
        self.view.chosen.connect(self.add)
        self.search = SearchField("Search layers…  Ctrl+K", "Search layers")
        self.search.textChanged.connect(self._on_search)
        self.search.installEventFilter(self)
        self.empty = QLabel()
        self.empty.setWordWrap(True)
        theme.mark(self.empty, "role", "muted")
        self.clear = QPushButton("Clear the search")
        theme.mark(self.clear, "role", "link")
        self.clear.clicked.connect(self.search.clear)
        self._lay_out()
        theme.changed.connect(self.model.paint_headings)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 12, 0, 0)
        column.setSpacing(4)
        top = QVBoxLayout()
        top.setContentsMargins(12, 0, 12, 0)
        top.setSpacing(8)
        top.addWidget(self.search)
        top.addWidget(self.empty)
        top.addWidget(self.clear, 0, Qt.AlignmentFlag.AlignLeft)
        column.addLayout(top)
        column.addWidget(self.view, 1)
        self.empty.hide()
        self.clear.hide()

    def focus_search(self) -> None:
        """Put the keyboard into the search field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def add(self, key: str) -> None:
        """Add a layer of this type to the network."""
        self._editor.add_layer(key)

    def _on_search(self, text: str) -> None:
        if not self._folded and text:
            self._folded = self._folded_families()
        self.filter.search(text)
        self.view.expandAll()
        if text:
            self.view.select_best(text)
        else:
            self._fold_again()
        is_empty = not self.filter.rowCount()
        self.empty.setText(f"No layer matches “{text}”.")
        self.empty.setVisible(is_empty)
        self.clear.setVisible(is_empty)
        self.view.setVisible(not is_empty)

    def _folded_families(self) -> set[str]:
        families = [self.filter.index(row, 0) for row in range(self.filter.rowCount())]
        return {family.data() for family in families if not self.view.isExpanded(family)}

    def _fold_again(self) -> None:
        for row in range(self.filter.rowCount()):
            family = self.filter.index(row, 0)
            self.view.setExpanded(family, family.data() not in self._folded)
        self._folded = set()
        self.view.setCurrentIndex(QModelIndex())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """While searching, the arrows move through the results, Enter adds, Escape clears."""
        if watched is self.search and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if self.view.take_key(event.key()):
                return True
            if event.key() == Qt.Key.Key_Escape and self.search.text():
                self.search.clear()
                return True
        return super().eventFilter(watched, event)

    def sizeHint(self) -> QSize:
        """As wide as the drawings have it."""
        return QSize(232, 600)
