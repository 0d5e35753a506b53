"""The library as a tree: Enter and double click add, drags carry a layer, a star makes a favourite."""

from collections.abc import Collection

from PySide6.QtCore import (
    QByteArray,
    QEvent,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QAction, QContextMenuEvent, QDrag, QKeyEvent, QMouseEvent, QPainter, QPen, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
)

from netwright.designer import icons, markup, theme
from netwright.designer.clipboard import LAYER_MIME
from netwright.designer.language import layer_label, tr
from netwright.designer.panels.library_model import (
    FAVOURITE_ROLE,
    KEY_ROLE,
    ONNX_ROLE,
    REFUSAL_ROLE,
    SQUARE,
    USER_BLOCK_ROLE,
    UserBlock,
)
from netwright.designer.scene import pictures
from netwright.designer.scene.content import Content, new_layer_content
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.names import search_rank
from netwright.engine.network.catalog import layer_type
from netwright.engine.network.edits import default_name


class LibraryView(QTreeView):
    """The library as a tree view."""

    chosen = Signal(str)
    """The key of the layer type to add."""
    user_block_chosen = Signal(object)
    """The `UserBlock` to add."""
    user_block_renamed = Signal(object)
    """The `UserBlock` to rename."""
    user_block_removed = Signal(object)
    """The `UserBlock` to delete."""
    dragged = Signal(str)
    """The key of a layer type that was dropped somewhere."""
    starred = Signal(str, bool)
    """The key of a layer type, and whether it is to be a favourite."""

    def __init__(self, *, has_stars: bool = False) -> None:
        super().__init__()
        self._delegate = LibraryDelegate(self)
        self._delegate.has_stars = has_stars
        self.setItemDelegate(self._delegate)
        self.setMouseTracking(True)
        self.setHeaderHidden(True)
        self.setIndentation(12)
        self._delegate.outdent = 12
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setIconSize(QSize(SQUARE, SQUARE))
        self.setDragEnabled(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Layer library"))
        self.doubleClicked.connect(self._choose)

    def set_flat(self) -> None:
        """No arrows: headings and rows begin at one line."""
        self.setIndentation(0)
        self._delegate.outdent = 0

    @property
    def has_stars(self) -> bool:
        """Whether favourites can be made here."""
        return self._delegate.has_stars

    def _choose(self, index: QModelIndex) -> None:
        if key := index.data(KEY_ROLE):
            self.chosen.emit(key)
        elif isinstance(own := index.data(USER_BLOCK_ROLE), UserBlock):
            self.user_block_chosen.emit(own)

    # Keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter adds a layer, or folds a family; Ctrl+B makes a favourite."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_star_key(event) and self.has_stars:
            self.star_current()
        elif not is_enter:
            super().keyPressEvent(event)
        elif self.currentIndex().data(KEY_ROLE) or self.currentIndex().data(USER_BLOCK_ROLE):
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

    def select_best(self, text: str, refusing: Collection[str] = ()) -> None:
        """Make the entry current that is nearest to the text, and scroll to it.

        One that is refused comes after all that are not; of equally near ones the 2-D one comes first, and those with
        the keys in `refusing` last.
        """
        query = text.lower().strip()

        def rank(index: QModelIndex) -> tuple[bool, int, bool, bool]:
            key, label = index.data(KEY_ROLE), index.data().lower()
            nearness = search_rank(key, query) if key else 1 if label.startswith(query) else 3
            return bool(index.data(REFUSAL_ROLE)), nearness, key in refusing, not label.startswith("2-d")

        if entries := self.entries():
            self.setCurrentIndex(min(entries, key=rank))
            self.executeDelayedItemsLayout()  # rows that were just filtered have no places yet
            self.scrollTo(self.currentIndex(), QAbstractItemView.ScrollHint.PositionAtCenter)

    def take_key(self, key: int) -> bool:
        """Handle a key that was pressed in the search field; return whether it has a meaning here."""
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.move_current(1 if key == Qt.Key.Key_Down else -1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.currentIndex())
        else:
            return False
        return True

    # Favourites

    def star_current(self) -> None:
        """Make the current type a favourite, or one no more."""
        self._star(self.currentIndex())

    def _star(self, index: QModelIndex) -> None:
        if key := index.data(KEY_ROLE):
            self.starred.emit(key, not index.data(FAVOURITE_ROLE))

    def star_at(self, at: QPoint) -> QModelIndex:
        """The row whose star is here, or no row."""
        index = self.indexAt(at)
        if not self.has_stars or index.data(KEY_ROLE) is None:
            return QModelIndex()
        return index if star_rect(self.visualRect(index)).adjusted(-3, -5, 5, 5).contains(at) else QModelIndex()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A press on a star is nothing else."""
        star = self.star_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and star.isValid():
            self._star(star)
            event.accept()
        else:
            super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """The second press of a double click on a star takes it back, and adds no layer."""
        if self.star_at(event.position().toPoint()).isValid():
            self.mousePressEvent(event)
        else:
            super().mouseDoubleClickEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the context menu of a row, at the pointer or for the menu key."""
        is_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if is_key else self.indexAt(event.pos())
        menu = self.menu_of(index)
        if menu is not None:
            below = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
            menu.exec(below if is_key else event.globalPos())
            menu.deleteLater()

    def menu_of(self, index: QModelIndex) -> QMenu | None:
        """The menu of a row."""
        if not self.has_stars or not index.isValid():
            return None
        menu = QMenu(self)
        if index.data(KEY_ROLE) is None and index.data(USER_BLOCK_ROLE) is None:
            menu.addAction(tr("Unfold all"), self.expandAll)
            menu.addAction(tr("Fold all"), self.collapseAll)
            return menu
        menu.addAction(tr("Add to the network\tEnter"), lambda: self._choose(index))
        if index.data(KEY_ROLE):
            is_favourite = bool(index.data(FAVOURITE_ROLE))
            words = tr("Remove from favourites") if is_favourite else tr("Add to favourites")
            star = QAction(theme.icon("star" if is_favourite else "star-filled"), f"{words}\tCtrl+B", menu)
            star.triggered.connect(lambda: self._star(index))
            menu.addAction(star)
        elif isinstance(own := index.data(USER_BLOCK_ROLE), UserBlock):
            menu.addSeparator()
            menu.addAction(tr("Rename…"), lambda: self.user_block_renamed.emit(own))
            menu.addAction(theme.icon("trash"), tr("Delete…"), lambda: self.user_block_removed.emit(own))
        return menu

    # Drags

    def startDrag(self, actions: Qt.DropAction) -> None:
        """Carry the key of the layer type, and look like the layer it will be."""
        key = self.currentIndex().data(KEY_ROLE)
        drag = self.make_drag()
        if drag is None:
            return
        is_taken = drag.exec(Qt.DropAction.CopyAction) == Qt.DropAction.CopyAction
        self.end_hover()
        if is_taken and key:
            self.dragged.emit(key)

    def end_hover(self) -> None:
        """Clear the hover: Qt does not tell the list that the pointer left during a drag."""
        QApplication.sendEvent(self.viewport(), QEvent(QEvent.Type.Leave))

    def make_drag(self) -> QDrag | None:
        """The drag of the current row."""
        index = self.currentIndex()
        key, own = index.data(KEY_ROLE), index.data(USER_BLOCK_ROLE)
        if not key and not isinstance(own, UserBlock):
            return None
        scale = self.devicePixelRatioF()
        data = QMimeData()
        if key:
            data.setData(LAYER_MIME, QByteArray(key.encode()))
            pixmap = node_picture(layer_type(key)(), scale)
        else:
            data.setData(own.mime, QByteArray(own.payload))
            content = Content(own.name, own.family, "", own.family, 1, 1)
            pixmap = _picture(content, scale)
        drag = QDrag(self)
        drag.setMimeData(data)
        drag.setPixmap(pixmap)
        drag.setHotSpot(QPoint(round(pixmap.width() / scale / 2), round(pixmap.height() / scale / 2)))
        return drag


def is_star_key(event: QKeyEvent) -> bool:
    """Whether this is Ctrl+B, which makes the current type a favourite."""
    return event.key() == Qt.Key.Key_B and event.modifiers() == Qt.KeyboardModifier.ControlModifier


def node_picture(type: LayerType, scale: float) -> QPixmap:
    """The picture of a layer as the canvas draws it."""
    detail = " · ".join(filter(None, (layer_label(type.label), type.short_value())))
    return _picture(new_layer_content(type, default_name(type), detail), scale)


def _picture(content: Content, scale: float) -> QPixmap:
    pixmap = pictures.picture(content, scale)
    pixmap.setDevicePixelRatio(scale)
    return pixmap


_MARK = 14
_EDGE = 6
_GAP = 4
_TEXT_AT = SQUARE + 14
"""How far the text begins behind the left edge: the square and the paddings around it."""

Index = QModelIndex | QPersistentModelIndex


def star_rect(row: QRect) -> QRect:
    """Return the rectangle of the star of a row."""
    return QRect(row.right() - _EDGE - _MARK, row.center().y() - _MARK // 2 + 1, _MARK, _MARK)


def onnx_badge_rect(row: QRect) -> QRect:
    """The box of the badge for types without ONNX form: left of the star."""
    return star_rect(row).translated(-_MARK - _GAP, 0)


class LibraryDelegate(QStyledItemDelegate):
    """Paints star and ONNX badge over what the style paints, and elides the name before them."""

    has_stars = True
    outdent = 0
    """How far rows below a heading are shifted to the left, so that their squares are below its first letter."""
    _row: QSize | None = None
    """The size of a row, which is the same for all but the headings: Qt asks for each of them after each letter."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """As the style has it."""
        if not index.parent().isValid():
            return super().sizeHint(option, index)
        if self._row is None:
            self._row = super().sizeHint(option, index)
        return self._row

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """Elide the name before the badges."""
        super().initStyleOption(option, index)
        if self.outdent and index.parent().isValid():
            option.rect = option.rect.adjusted(-self.outdent, 0, 0, 0)
        if index.data(KEY_ROLE) is None and index.data(USER_BLOCK_ROLE) is None:
            return
        marks = self._badge_count(option, index)
        rect: QRect = option.rect
        room = rect.width() - _TEXT_AT - _EDGE - marks * (_MARK + _GAP)
        elided = markup.elided(option.fontMetrics, index.data(), Qt.TextElideMode.ElideMiddle, max(room, 40))
        option.text = elided

    def _badge_count(self, option: QStyleOptionViewItem, index: Index) -> int:
        """The number of badges at the end of a row."""
        if index.data(ONNX_ROLE):
            return 2 if self.has_stars else 1
        return 1 if self.has_stars and self._shows_star(option, index) else 0

    def _shows_star(self, option: QStyleOptionViewItem, index: Index) -> bool:
        if index.data(KEY_ROLE) is None:
            return False
        state: QStyle.StateFlag = option.state
        near = QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_HasFocus
        return bool(index.data(FAVOURITE_ROLE)) or bool(state & near)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the row, then its badges. A heading with the keyboard focus has a frame."""
        super().paint(painter, option, index)
        palette = theme.current()
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        if index.data(KEY_ROLE) is None and index.data(USER_BLOCK_ROLE) is None:
            if state & QStyle.StateFlag.State_HasFocus:
                painter.save()
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(palette.accent, 1))
                painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 3.5, -1.5, -3.5), 6, 6)
                painter.restore()
            return
        if index.data(ONNX_ROLE):
            place = onnx_badge_rect(rect) if self.has_stars else star_rect(rect)
            icons.draw(painter, "no-export", QRectF(place), palette.muted)
        if self.has_stars and self._shows_star(option, index):
            is_favourite = bool(index.data(FAVOURITE_ROLE))
            colour = palette.accent if is_favourite else palette.muted
            icons.draw(painter, "star-filled" if is_favourite else "star", QRectF(star_rect(rect)), colour)
