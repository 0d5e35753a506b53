"""A heading that folds the rows below it away. Folded, it names the changed ones."""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QEnterEvent, QFont, QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from netwright.designer import icons, markup, theme
from netwright.designer.language import tr

HEADING_HEIGHT = 32
_BELOW = 4
"""What the words stand lower than in the middle: nearer to what they head."""
_CHEVRON = 14


class FoldHeading(QAbstractButton):
    """A small bold heading in capitals with a chevron at its right end. Checked is unfolded."""

    def __init__(self, group: str) -> None:
        super().__init__()
        self._group = group
        self._note = ""
        self._is_hovered = False
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setFixedHeight(HEADING_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.toggled.connect(self._describe)
        self._describe()

    @property
    def note(self) -> str:
        """The note on the changes in the rows below."""
        return self._note

    def set_note(self, note: str) -> None:
        """Set the note on the changes in the rows below, visible while they are folded away."""
        if note != self._note:
            self._note = note
            self._describe()

    def _describe(self) -> None:
        state = tr("unfolded") if self.isChecked() else tr("folded")
        self.setAccessibleName(", ".join(filter(None, (self._group, state, self._note))))
        self.setToolTip(tr("Hide these fields") if self.isChecked() else tr("Show these fields"))
        self.update()

    def text(self) -> str:
        """The heading, as it is painted."""
        return self._group.upper()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space and Return turn it; left folds, right unfolds."""
        match event.key():
            case Qt.Key.Key_Left:
                self.setChecked(False)
            case Qt.Key.Key_Right:
                self.setChecked(True)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.toggle()
            case _:
                super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Brighter under the pointer."""
        self._is_hovered = True
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """As before."""
        self._is_hovered = False
        self.update()

    def _font(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(theme.pixels(11))
        font.setWeight(QFont.Weight.Bold)
        return font

    def sizeHint(self) -> QSize:
        """The words and the chevron."""
        return QSize(QFontMetrics(self._font()).horizontalAdvance(self.text()) + 40 + _CHEVRON, HEADING_HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Heading at the left; note and chevron at the right."""
        palette, painter = theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = palette.link if self.hasFocus() else palette.text if self._is_hovered else palette.muted
        painter.setFont(self._font())
        painter.setPen(colour)
        middle = Qt.AlignmentFlag.AlignVCenter
        area = self.rect().adjusted(0, _BELOW, 0, 0)
        painter.drawText(area, middle | Qt.AlignmentFlag.AlignLeft, self.text())
        heading = painter.fontMetrics().horizontalAdvance(self.text())
        chevron = QRectF(self.width() - _CHEVRON, area.center().y() + 0.5 - _CHEVRON / 2, _CHEVRON, _CHEVRON)
        icons.draw(painter, "chevron-down" if self.isChecked() else "chevron-right", chevron, colour)
        if self.hasFocus():
            painter.fillRect(0, self.height() - 5, heading, 1, palette.accent)
        if self._note and not self.isChecked():
            font = QFont(self.font())
            font.setPixelSize(theme.pixels(12))
            painter.setFont(font)
            painter.setPen(palette.link)
            room = area.adjusted(heading + 12, 0, -_CHEVRON - 8, 0)
            note = markup.elided(painter.fontMetrics(), self._note, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, middle | Qt.AlignmentFlag.AlignRight, note)
