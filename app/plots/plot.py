"""The plot that the run, the comparison of runs and the learn-rate schedule share."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from netwright.app.plots.axes import Axis, TickAxis, Unit
from netwright.app.plots.canvas import Canvas
from netwright.app.plots.plot_data import LinkedXAxis
from netwright.app.plots.plot_items import Line, Markers, ZoomBox
from netwright.app.plots.series import Floats
from netwright.designer import markup, theme
from netwright.designer.markup import Markup

TOP = 8
MARKERS_APART = 10.0
"""Pixels between markers: closer ones would hide the line that they stand on."""
HEADROOM = 0.02
"""Share of the height that stays free above the highest tick."""
PER_NOTCH = 1.25
SHIFT_PER_NOTCH = 0.1


class Zoomable(Protocol):
    """Data with an x axis of which a part can be in view."""

    x_axis: LinkedXAxis

    @property
    def last_step(self) -> float:
        """The newest step."""


class Plot(Canvas, pg.PlotWidget):  # type: ignore[misc]
    """A pyqtgraph plot in our colours, with labelled ticks, a cross-hair with a readout, and one zoom for its x axis.

    A drag shows a part, the wheel more or less of it around the pointer, Shift with either moves it, a double click
    shows all again; the y axis fits what is in view. `part_changed` tells the plots beside it. A subclass adds items,
    lays them in `draw`, colours them in `dress`, and says in `readout` what stands beside the cross-hair.
    """

    part_changed = Signal()

    def __init__(self, zoomable: Zoomable | None = None, parent: QWidget | None = None, *, right: int = 12) -> None:
        """`right` is the margin on the right, in pixels. Without a `zoomable` the whole stays in view."""
        self.view = ZoomBox()
        self._x_axis, self._y_axis = TickAxis("bottom", right), TickAxis("left")
        super().__init__(parent, viewBox=self.view, axisItems={"bottom": self._x_axis, "left": self._y_axis})
        for side in ("top", "right"):
            self.getAxis(side).unlinkFromView()
        for axis in (self._x_axis, self._y_axis):
            axis.setZValue(-1000)  # the grid lies behind the curves
        self.hideButtons()
        self.setMenuEnabled(False)
        policy = Qt.FocusPolicy.NoFocus if zoomable is None else Qt.FocusPolicy.ClickFocus  # for Escape
        for widget in (self, self.viewport()):
            widget.setFocusPolicy(policy)
        self.plotItem.layout.setContentsMargins(0, TOP, right, 0)
        self._zoomable = zoomable
        self.x = self.y = Axis(low=0, high=1, ticks=())
        self._pointer: float | None = None
        self._hair = pg.InfiniteLine(angle=90)
        self._hair.setZValue(50)
        self.addItem(self._hair, ignoreBounds=True)
        if zoomable is not None:
            self.view.chosen.connect(lambda part: self._look_at(part.left(), part.right()))
            self.view.moved.connect(lambda before, now: self._slide(self._step(before.x()) - self._step(now.x())))
        self.prepare_canvas()

    # ---- for subclasses ----

    def axes(self) -> Sequence[TickAxis]:
        """Return the lower and the left axis."""
        return self._x_axis, self._y_axis

    def views(self) -> Sequence[ZoomBox]:
        """Return the only view."""
        return (self.view,)

    def readout(self, place: float) -> tuple[float, Markup]:
        """Where the cross-hair stands for a pointer at a place of the x axis, and what stands beside it."""
        return place, Markup()

    def show_axes(self, x: Axis, unit: Unit, y: Axis, y_labels: list[str]) -> None:
        """Set ranges and ticks. The last label below says the unit. Above the values there is a little room, so that a
        curve at the upper end is seen whole."""
        self.x, self.y = x, y
        apart = x.ticks[1] - x.ticks[0] if len(x.ticks) > 1 else x.high - x.low
        labels = [unit.label(tick, tick if x.is_log else apart) for tick in x.ticks]
        self._x_axis.show_ticks(x, [*labels[:-1], *(f"{label} {unit.name}".strip() for label in labels[-1:])])
        self._y_axis.show_ticks(y, y_labels)
        ranges = [axis.to_view(np.array([axis.low, axis.high])).tolist() for axis in (x, y)]
        ranges[1][1] += HEADROOM * (ranges[1][1] - ranges[1][0])
        if ranges != self.view.viewRange():
            self.view.setRange(xRange=ranges[0], yRange=ranges[1], padding=0, disableAutoRange=False)
        # Markers at the ends may stand out; lines of a part go on beyond it.
        is_part = self._zoomable is not None and self._zoomable.x_axis.part is not None
        self.view.setFlag(self.view.GraphicsItemFlag.ItemClipsChildrenToShape, is_part)

    def lay(self, item: Line | Markers, places: Floats, values: Floats, **options: bool | str) -> None:
        """Give an item its points, or hide it where there are none; gaps (NaN) break lines."""
        x, y = self.x.to_view(places), self.y.to_view(values)
        good = np.isfinite(x) & np.isfinite(y)
        is_whole = bool(good.all())
        item.setVisible(bool(good.any()))
        if isinstance(item, Markers):
            x, y = x[good], y[good]
        if np.array_equal(item.getData(), (x, y), equal_nan=True) or not good.any():
            return
        if isinstance(item, Markers):
            item.setData(x, y)
        else:
            item.setData(x, y, connect="all" if is_whole else "finite", skipFiniteCheck=is_whole, **options)

    def to_pixels(self, places: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Points in pixels of the widget, from the left and from the top."""
        rect, (x_range, y_range) = self.view.sceneBoundingRect(), self.view.viewRange()
        x = (self.x.to_view(places) - x_range[0]) / (x_range[1] - x_range[0])
        y = (self.y.to_view(values) - y_range[0]) / (y_range[1] - y_range[0])
        return rect.left() + x * rect.width(), rect.bottom() - y * rect.height()

    def spaced(self, places: Floats) -> NDArray[np.bool_]:
        """Which of some points on the x axis have markers: none lies closer than `MARKERS_APART` to another one, and
        the newest has one."""
        mask = np.ones(len(places), bool)
        if len(places) < 2:
            return mask
        (low, high), x = self.view.viewRange()[0], self.x.to_view(places)
        pixels = (x - low) * (self.view.width() / (high - low))
        apart = np.diff(pixels)
        if float(apart.min()) >= MARKERS_APART:
            return mask
        mask[:] = False
        if apart.max() <= 1.01 * apart.min():  # every second, or third, looks calmer than as many as fit
            mask[:: int(np.ceil(MARKERS_APART / apart.min() - 1e-6))] = True
        else:
            place = -np.inf
            # One candidate per stretch of this width: thousands of points take no longer than the pixels.
            for index in np.unique(pixels // MARKERS_APART, return_index=True)[1]:
                if pixels[index] - place >= MARKERS_APART:
                    mask[index], place = True, pixels[index]
        mask[pixels[-1] - pixels < MARKERS_APART] = False
        mask[-1] = True
        return mask

    @property
    def columns(self) -> int:
        """Pixels from the left to the right end of the x axis."""
        return max(2, int(self.view.width()))

    @property
    def num_x_ticks(self) -> int:
        """About so many ticks have room below."""
        return max(2, int(self.view.width() / 110))

    @property
    def num_y_ticks(self) -> int:
        """About so many ticks have room on the left."""
        return max(2, int(self.view.height() / 40))

    # ---- drawing ----

    def show_items(self, is_shown: bool) -> None:
        """Show the axes and what they hold."""
        self.plotItem.setVisible(is_shown)
        self._point(self._pointer if is_shown else None)

    def dress_view(self) -> None:
        """Give the cross-hair its colour."""
        super().dress_view()
        self._hair.setPen(theme.current().muted)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More or fewer points have room."""
        if self._is_made:
            self.plotItem.layout.activate()
        super().resizeEvent(event)

    # ---- pointer ----

    def place_at(self, pixel: float) -> float:
        """The place on the x axis under a pixel of the widget."""
        return self.x.from_view(self.view.mapSceneToView(QPointF(pixel, 0)).x())

    def forget_pointer(self) -> None:
        """Take the cross-hair away, for pictures."""
        self._point(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begins a drag."""
        super().mousePressEvent(event)
        event.setAccepted(self._zoomable is not None)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Ends a drag."""
        super().mouseReleaseEvent(event)
        event.setAccepted(self._zoomable is not None)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Shows all again."""
        event.setAccepted(self._zoomable is not None)
        self.show_all()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Moves the cross-hair."""
        super().mouseMoveEvent(event)
        self._point(event.position().x())

    def leaveEvent(self, event: QEvent) -> None:
        """Takes the cross-hair away."""
        super().leaveEvent(event)
        self._point(None)

    def _point(self, x: float | None) -> None:
        """Show what the curves say at a pixel."""
        self._pointer = x
        rect = self.view.sceneBoundingRect()
        if x is None or not rect.left() <= x <= rect.right() or not self.plotItem.isVisible():
            self._hair.hide()
            self._box.hide()
            return
        place, text = self.readout(self.place_at(x))
        at = self.x.to_view(np.array([place]))[0]
        self._hair.setPos(at)
        self._hair.show()
        markup.show(self._box, text)
        self._box.adjustSize()
        pixel = self.view.mapViewToScene(QPointF(at, 0)).x()
        width = self._box.width()
        x_box = pixel + 12 if pixel + 12 + width < rect.right() else pixel - 12 - width
        self._box.move(round(x_box), round(rect.top()) + 8)
        self._box.setVisible(bool(text))

    # ---- zooming ----

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Shows more or less around the pointer; sideways, or with Shift, moves."""
        if self._zoomable is None or not self.plotItem.isVisible():
            event.ignore()
            return
        event.accept()
        turn, is_sideways = event.angleDelta(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if is_sideways or abs(turn.x()) > abs(turn.y()):
            low, high = self._zoomable.x_axis.view(self._zoomable.last_step)
            self._slide((low - high) * SHIFT_PER_NOTCH * (turn.x() or turn.y()) / 120)
        elif turn.y():
            share = PER_NOTCH ** (-turn.y() / 120)
            low, high = self.view.viewRange()[0]
            middle = min(max(self.view.mapSceneToView(event.position()).x(), low), high)
            self._look_at(*(middle + (end - middle) * share for end in (low, high)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape gives up what is dragged."""
        if event.key() == Qt.Key.Key_Escape and self.view.is_dragged:
            self.view.cancel()
        else:
            QWidget.keyPressEvent(self, event)

    def show_all(self) -> None:
        """The whole run is in view."""
        if self._zoomable is not None and self._zoomable.x_axis.part is not None:
            self._zoomable.x_axis.part = None
            self.part_changed.emit()

    def _step(self, view_x: float) -> float:
        assert self._zoomable is not None
        x_axis = self._zoomable.x_axis
        return x_axis.timeline.step_at(self.x.from_view(view_x), x_axis.along)

    def _look_at(self, begin: float, end: float) -> None:
        """Show the part between two x coordinates of the view."""
        self._show_part(self._step(begin), self._step(end))

    def _slide(self, steps: float) -> None:
        """Move the part in view."""
        if self._zoomable is not None and self._zoomable.x_axis.part is not None:
            low, high = self._zoomable.x_axis.part
            self._show_part(low + steps, high + steps)

    def _show_part(self, low: float, high: float) -> None:
        assert self._zoomable is not None
        x_axis = self._zoomable.x_axis
        before = x_axis.part
        x_axis.look_at(low, high, self._zoomable.last_step)
        if x_axis.part != before:
            self.part_changed.emit()
