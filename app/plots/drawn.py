"""Charts that paint themselves: the picture is kept while the pointer moves, marks under the pointer are told."""

import contextlib
from collections.abc import Iterator

from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtGui import QFont, QMouseEvent, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from netwright.app.plots.axes import LABEL_PIXELS
from netwright.designer import markup, theme
from netwright.designer.markup import Markup

NEAR_PIXELS = 14.0
"""Distance within which a mark is under the pointer."""
BOX_GAP = 14


class DrawnChart(QWidget):
    """A chart that a subclass lays out in `lay` and paints in `paint`, with what is under the pointer on top of it.

    `mark_at` finds the mark at a position, `highlight` paints one on top, `readout` says what it is, `chosen` is called
    for a click. Exports paint shapes, not a picture of the screen.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(140)
        self.empty = ""
        """Why there is nothing to see."""
        self.hovered: int | None = None
        self._picture: QPixmap | None = None
        self._is_picture = False
        self._box = QLabel(self)
        self._box.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        theme.mark(self._box, "role", "readout")
        self._box.hide()
        theme.changed.connect(self.refresh)

    # ---- for subclasses ----

    def lay(self) -> None:
        """Find the places of all marks for the present size."""

    def paint(self, painter: QPainter) -> None:
        """Paint the chart."""
        raise NotImplementedError

    def highlight(self, painter: QPainter) -> None:
        """Paint what is under the pointer, or selected, on top."""

    def mark_at(self, at: QPointF) -> int | None:
        """Return the mark at a position, or None."""
        return None

    def readout(self, mark: int) -> Markup:
        """Return what a mark is."""
        return Markup()

    def choose(self, mark: int) -> None:
        """A mark was clicked."""

    # ---- drawing ----

    def refresh(self) -> None:
        """What is shown has changed."""
        self._picture = None
        self.update()

    @property
    def label_font(self) -> QFont:
        """The font of ticks and names of axes."""
        font = theme.figures(self.font())
        font.setPixelSize(LABEL_PIXELS)
        return font

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the chart, from the kept picture where nothing has changed."""
        painter = QPainter(self)
        try:
            if self._is_picture:
                self._paint(painter)
                return
            if self._picture is None:
                self._picture = self._painted()
            painter.drawPixmap(0, 0, self._picture)
            if not self.empty:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                self.highlight(painter)
        finally:
            painter.end()  # an open painter would end the program with its device

    def _painted(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(theme.current().panel)
        painter = QPainter(picture)
        try:
            self._paint(painter)
        finally:
            painter.end()
        return picture

    def _paint(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.label_font)
        if self.empty:
            painter.setFont(self.font())
            painter.setPen(theme.current().muted)
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(self.rect().adjusted(32, 0, -32, 0), flags, self.empty)
            return
        self.lay()
        self.paint(painter)

    @contextlib.contextmanager
    def as_picture(self) -> Iterator[None]:
        """In here it is painted from its shapes, without what is under the pointer."""
        self._point(None)
        self._is_picture = True
        try:
            yield
        finally:
            self._is_picture = False

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out anew."""
        super().resizeEvent(event)
        self.refresh()

    def changeEvent(self, event: QEvent) -> None:
        """Another font needs other labels."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.refresh()

    def sizeHint(self) -> QSize:
        """Wide enough to read."""
        return QSize(640, 240)

    # ---- pointer ----

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell what is under the pointer."""
        super().mouseMoveEvent(event)
        self._point(event.position())

    def leaveEvent(self, event: QEvent) -> None:
        """Tell nothing any more."""
        super().leaveEvent(event)
        self._point(None)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Choose the mark that is clicked."""
        super().mouseReleaseEvent(event)
        mark = None if self.empty else self.mark_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and mark is not None:
            self.choose(mark)

    def _point(self, at: QPointF | None) -> None:
        mark = self.mark_at(at) if at is not None and not self.empty else None
        if mark != self.hovered:
            self.hovered = mark
            self.update()
        self._box.setVisible(mark is not None)
        if mark is None or at is None:
            return
        markup.show(self._box, self.readout(mark))
        self._box.adjustSize()
        width, height = self._box.width(), self._box.height()
        left = at.x() + BOX_GAP if at.x() + BOX_GAP + width < self.width() else at.x() - BOX_GAP - width
        top = min(max(0.0, at.y() - height / 2), max(0.0, self.height() - height))
        self._box.move(round(max(0.0, left)), round(top))
