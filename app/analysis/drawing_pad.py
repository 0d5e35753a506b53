"""The pad of the Predict page: grey paper to draw on."""

from PySide6.QtCore import QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from netwright.designer import theme
from netwright.designer.language import tr

PAD, LEAST_PAD = 280, 120
"""Pixels of the drawing, in width and height, and on the screen where there is little room."""
WHITE = 255


class DrawingPad(QWidget):
    """Grey paper to draw on with the mouse or a pen. In a low window it is shown smaller."""

    changed = Signal()

    def __init__(self, pen_width: int) -> None:
        super().__init__()
        self.setMinimumSize(LEAST_PAD, LEAST_PAD)
        self.setMaximumSize(PAD, PAD)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setAccessibleName(tr("Drawing"))
        self.setAccessibleDescription(tr("Draw with the mouse: the prediction follows."))
        self.pen_width, self.ink, self.paper = pen_width, WHITE, 0
        self.is_blank = True
        self._last: QPointF | None = None
        self.image = QImage(PAD, PAD, QImage.Format.Format_Grayscale8)
        self.clear()

    def clear(self) -> None:
        """Take an empty sheet."""
        self.image.fill(QColor(self.paper, self.paper, self.paper))
        self.is_blank = True
        self.update()
        self.changed.emit()

    def invert(self) -> None:
        """Exchange dark and light, of the drawing and of the pen."""
        self.image.invertPixels()
        self.paper, self.ink = WHITE - self.paper, WHITE - self.ink
        self.update()
        self.changed.emit()

    def draw_to(self, to: QPointF) -> None:
        """Draw from where the pen is to a point of the widget; a pen that was lifted draws a dot there."""
        sheet = self._sheet()
        to = (to - QPointF(sheet.topLeft())) * (PAD / sheet.width())
        painter = QPainter(self.image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        round_pen = (Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
        painter.setPen(QPen(QColor(self.ink, self.ink, self.ink), self.pen_width, *round_pen))
        start = self._last if self._last is not None else to
        painter.drawLine(start, to) if start != to else painter.drawPoint(to)
        painter.end()
        self._last, self.is_blank = to, False
        self.update()
        self.changed.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Set the pen down."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._last = None
            self.draw_to(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Draw a line."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.draw_to(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Lift the pen."""
        self._last = None

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the sheet, and a hint on an empty one."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        sheet = self._sheet()
        painter.drawImage(sheet, self.image)
        if self.is_blank:
            grey = 150 if not self.paper else 105
            painter.setPen(QColor(grey, grey, grey))
            painter.drawText(sheet, Qt.AlignmentFlag.AlignCenter, tr("Draw here"))
        painter.setPen(theme.current().line)
        painter.drawRect(sheet.adjusted(0, 0, -1, -1))
        painter.end()

    def _sheet(self) -> QRect:
        """Return the square in which the drawing is shown."""
        side = min(self.width(), self.height())
        return QRect((self.width() - side) // 2, 0, side, side)

    def sizeHint(self) -> QSize:
        """Return the size of the drawing."""
        return QSize(PAD, PAD)
