"""The canvas of every plot: a pyqtgraph view in our colours, drawn when it is seen, with a readout and a reason."""

import contextlib
from collections.abc import Iterator, Sequence

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor, QPaintEvent, QPen, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGraphicsItem, QLabel, QWidget

from netwright.app.plots.axes import TickAxis
from netwright.app.plots.plot_items import Line, Markers, ZoomBox
from netwright.designer import theme

BAND_ALPHA = 36


class Canvas(pg.GraphicsView):  # type: ignore[misc]  # pyqtgraph ships no types
    """A view that draws what is new once it is seen. A subclass names its `axes` and `views`, lays its items out in
    `draw`, colours them in `dress` and takes what a pointer needs away in `forget_pointer`."""

    _is_made = False
    """pyqtgraph sends events to itself while it is being made."""

    def prepare_canvas(self) -> None:
        """Set the view up, once pyqtgraph has made it."""
        self.setCacheMode(self.CacheModeFlag.CacheNone)  # a plain ground; drawings that scale hold no pixels
        self.setViewportUpdateMode(self.ViewportUpdateMode.FullViewportUpdate)
        self._is_stale, self._is_dressed = True, False
        self._box, self._note = QLabel(self), QLabel(self)
        for label in (self._box, self._note):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            label.hide()
        self._note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._note.setWordWrap(True)
        theme.mark(self._box, "role", "readout")
        theme.mark(self._note, "role", "muted")
        theme.changed.connect(self._restyle)
        self._is_made = True

    # ---- for subclasses ----

    def axes(self) -> Sequence[TickAxis]:
        """Return all axes."""
        return ()

    def views(self) -> Sequence[ZoomBox]:
        """Return all views."""
        return ()

    def draw(self) -> str:
        """Lay out the items for what is in view. Returns why there is nothing to see, or nothing."""
        raise NotImplementedError

    def dress(self) -> None:
        """Give the items the colours that hold."""

    def show_items(self, is_shown: bool) -> None:
        """Show what was drawn, or hide it where there is nothing to see."""

    def forget_pointer(self) -> None:
        """Take away what a pointer needs, for pictures."""

    # ---- drawing ----

    def refresh(self) -> None:
        """Draw changed content now, or when it is next seen."""
        self._is_stale = True
        if self.isVisible():
            self._draw()

    def _draw(self) -> None:
        self._is_stale = False
        self.ensure_dressed()
        words = self.draw()
        self.ensure_dressed()  # what was made meanwhile
        self._note.setText(words)
        self._note.setVisible(bool(words))
        self.show_items(not words)

    def ensure_dressed(self) -> None:
        """Give everything the colours and the font that hold, if that is not done."""
        if self._is_dressed:
            return
        self._is_dressed = True
        self.dress_view()
        self.dress()

    def dress_view(self) -> None:
        """Give ground, axes and the bands of a drag the colours and the font that hold."""
        palette = theme.current()
        self.setBackground(palette.panel)
        for axis in self.axes():
            axis.dress(self.font())
        for view in self.views():
            band = QColor(palette.accent)
            view.rbScaleBox.setPen(pg.mkPen(band))
            band.setAlpha(BAND_ALPHA)
            view.rbScaleBox.setBrush(pg.mkBrush(band))

    def _restyle(self) -> None:
        """Colours or fonts have changed."""
        self._is_dressed = False
        self.refresh()

    def changeEvent(self, event: QEvent) -> None:
        """Another font needs other labels."""
        super().changeEvent(event)
        if self._is_made and event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._restyle()

    def showEvent(self, event: QShowEvent) -> None:
        """Draws what came while nobody looked."""
        super().showEvent(event)
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More or fewer points have room."""
        super().resizeEvent(event)
        if self._is_made:
            self._note.setGeometry(self.rect().adjusted(32, 0, -32, 0))
            self.refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws what is new first, for pictures of plots that were not shown yet."""
        if self._is_stale:
            self._draw()
        super().paintEvent(event)

    def sizeHint(self) -> QSize:
        """Wide enough to read."""
        return QSize(640, 240)

    @contextlib.contextmanager
    def as_picture(self, scale: float = 1.0) -> Iterator[None]:
        """In here there is nothing for a pointer, and items are drawn from their shapes, not from caches of pixels.
        Wide lines are as wide in a picture with `scale` times as many pixels."""
        self.forget_pointer()
        if self._is_stale:
            self._draw()
        caching, items = QGraphicsItem.CacheMode, self.scene().items()
        cached = [item for item in items if item.cacheMode() == caching.DeviceCoordinateCache]
        markers = [item for item in items if isinstance(item, Markers)]
        wide = [item for item in items if isinstance(item, Line) and item.opts["pen"].widthF() > 1]

        def prepare(mode: QGraphicsItem.CacheMode, factor: float) -> None:
            for item in cached:
                item.setCacheMode(mode)
            for item in markers:
                item.opts["useCache"] = mode != caching.NoCache
            for line in wide:
                pen = QPen(line.opts["pen"])
                pen.setWidthF(pen.widthF() * factor)
                line.setPen(pen)

        prepare(caching.NoCache, scale)
        try:
            yield
        finally:
            prepare(caching.DeviceCoordinateCache, 1 / scale)

    def close(self) -> bool:
        """Close as any widget: pyqtgraph's own way takes the plot apart while events are still on their way to it."""
        return QWidget.close(self)
