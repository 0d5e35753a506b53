"""How a row of the library looks: its name, a quiet mark where there is no ONNX form, and a star."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from designer import icons, theme
from designer.library.model import FAVOURITE_ROLE, KEY_ROLE, ONNX_ROLE, OWN_ROLE, SQUARE

_MARK = 14
_EDGE = 6
_GAP = 4
_TEXT_AT = SQUARE + 14
"""How far the text begins behind the left edge: the square and the paddings around it."""

Index = QModelIndex | QPersistentModelIndex


def star_rect(row: QRect) -> QRect:
    """Where the star of a row is."""
    return QRect(row.right() - _EDGE - _MARK, row.center().y() - _MARK // 2 + 1, _MARK, _MARK)


def mark_rect(row: QRect) -> QRect:
    """Where the mark of a type without ONNX form is: before the place of the star."""
    return star_rect(row).translated(-_MARK - _GAP, 0)


class LibraryDelegate(QStyledItemDelegate):
    """Paints the marks over what the style paints, and keeps the name off them."""

    has_stars = True
    outdent = 0
    """How far rows below a heading stand back to the left, so that their squares are below its first letter."""
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
        """The name, elided before the marks."""
        super().initStyleOption(option, index)
        if self.outdent and index.parent().isValid():
            option.rect = option.rect.adjusted(-self.outdent, 0, 0, 0)
        if index.data(KEY_ROLE) is None and index.data(OWN_ROLE) is None:
            return
        marks = self._marks_of(option, index)
        rect: QRect = option.rect
        room = rect.width() - _TEXT_AT - _EDGE - marks * (_MARK + _GAP)
        elided = option.fontMetrics.elidedText(index.data(), Qt.TextElideMode.ElideMiddle, max(room, 40))
        option.text = elided

    def _marks_of(self, option: QStyleOptionViewItem, index: Index) -> int:
        """How many places at the end of the row are taken."""
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
        """The row, then its marks. A heading that has the keyboard shows it by a frame."""
        super().paint(painter, option, index)
        palette = theme.current()
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        if index.data(KEY_ROLE) is None and index.data(OWN_ROLE) is None:
            if state & QStyle.StateFlag.State_HasFocus:
                painter.save()
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(palette.accent, 1))
                painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 3.5, -1.5, -3.5), 6, 6)
                painter.restore()
            return
        if index.data(ONNX_ROLE):
            place = mark_rect(rect) if self.has_stars else star_rect(rect)
            icons.draw(painter, "no-export", QRectF(place), palette.muted)
        if self.has_stars and self._shows_star(option, index):
            is_favourite = bool(index.data(FAVOURITE_ROLE))
            colour = palette.accent if is_favourite else palette.muted
            icons.draw(painter, "star-filled" if is_favourite else "star", QRectF(star_rect(rect)), colour)
