"""What plots are made of: the view that a drag zooms, lines, markers, and the rich text beside the cross-hair."""

from collections.abc import Iterable, Sequence
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal

from netwright.designer import markup, theme
from netwright.designer.markup import Markup

LEAST_PIXELS = 4.0
"""A shorter drag chooses nothing."""


class ZoomBox(pg.ViewBox):  # type: ignore[misc]  # pyqtgraph ships no types
    """A view that is not moved by the mouse itself: it tells in its own x coordinates what a drag asks for."""

    chosen = Signal(float, float)
    """The ends of the part that was chosen by a drag."""
    moved = Signal(float, float)
    """From where to where the view was dragged, with Shift or the middle button."""

    def __init__(self) -> None:
        super().__init__(enableMenu=False)
        self.disableAutoRange()
        self._is_moving = self._is_cancelled = False

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        """Chooses a part, or moves it."""
        button = event.button()
        if button not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            event.ignore()
            return
        event.accept()
        if event.isStart():
            is_shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._is_moving, self._is_cancelled = is_shifted or button == Qt.MouseButton.MiddleButton, False
        begin, before, now = (self._inside(p) for p in (event.buttonDownPos(), event.lastPos(), event.pos()))
        if self._is_cancelled:
            return
        if self._is_moving:
            self.moved.emit(self.mapToView(before).x(), self.mapToView(now).x())
        elif not event.isFinish():
            self.updateScaleBox(QPointF(begin.x(), 0), QPointF(now.x(), self.height()))
        else:
            self.cancel()
            if abs(now.x() - begin.x()) >= LEAST_PIXELS:
                self.chosen.emit(*sorted((self.mapToView(begin).x(), self.mapToView(now).x())))

    def cancel(self) -> None:
        """Give up the drag."""
        self._is_cancelled = True
        self.rbScaleBox.hide()

    @property
    def is_dragged(self) -> bool:
        """Whether a part is being chosen."""
        return bool(self.rbScaleBox.isVisible())

    def _inside(self, point: QPointF) -> QPointF:
        return QPointF(min(max(point.x(), 0.0), self.width()), point.y())


class _FillsView:
    """An item as large as the view: to look for the bounds of each takes as long as to draw it."""

    def boundingRect(self) -> QRectF:
        """The view, and a little more for markers at its ends."""
        box = self.getViewBox()  # type: ignore[attr-defined]
        if box is None:
            return QRectF()
        (left, right), (low, high) = box.state["viewRange"]
        rect = QRectF(left, low, right - left, high - low)
        wide, high = rect.width() / 20, rect.height() / 20
        return rect.adjusted(-wide, -high, wide, high)


class Line(_FillsView, pg.PlotCurveItem):  # type: ignore[misc]
    """A line."""


class Markers(_FillsView, pg.ScatterPlotItem):  # type: ignore[misc]
    """Markers of one shape."""


def icon_markup(name: str, token: str) -> Markup:
    """An icon of ours inside rich text, in a colour of the palette."""
    return markup.picture(theme.icon(name, token).pixmap(QSize(42, 42)), 14)


def table_markup(rows: Iterable[Sequence[str]], head: Sequence[str] = (), caption: str = "") -> Markup:
    """A table of rich text: a muted first column, the others aligned on the right."""
    muted, gap = theme.current().muted.name(), 3 * "\N{NO-BREAK SPACE}"
    lines = []
    if caption:
        span = max(1, len(head))
        lines.append(markup.filled('<td colspan="{}" style="color: {}">{}</td>', span, muted, caption))
    if head:
        words = (markup.filled('<td align="right" style="color: {}">{}{}</td>', muted, gap, word) for word in head)
        lines.append(markup.joined(words))
    for name, *cells in rows:
        first = markup.filled('<td valign="middle" style="color: {}">{}</td>', muted, name)
        values = (markup.filled('<td valign="middle" align="right">{}{}</td>', gap, cell) for cell in cells)
        lines.append(markup.joined([first, *values]))
    table = markup.joined(markup.filled("<tr>{}</tr>", line) for line in lines)
    return markup.filled('<table cellspacing="0" cellpadding="2">{}</table>', table)
