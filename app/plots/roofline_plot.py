"""The roofline of a device with the measured layers of a network: speed over arithmetic intensity.

Williams, Waterman, Patterson: Roofline: An Insightful Visual Performance Model for Multicore Architectures, 2009.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from netwright.app.plots.axes import Unit, log_axis
from netwright.app.plots.plot import Plot
from netwright.app.plots.plot_items import Line, Markers
from netwright.designer import markup, theme
from netwright.designer.language import tr
from netwright.designer.markup import Markup
from netwright.engine.core.csv_text import csv_text
from netwright.engine.core.text import format_flops, format_number, format_percent

NEAR_PIXELS = 14.0
"""Distance within which a click means a layer."""


class RooflinePlot(Plot):
    """FLOP/s of the forward pass of each layer over its FLOPs per byte, on logarithmic axes, below the speeds that the
    device was measured to have. A click on a layer tells its path of ids."""

    layer_clicked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.costs: list[Mapping[str, Any]] = []
        self.device: Mapping[str, Any] = {}
        self._x = self._y = np.zeros(0)
        super().__init__(parent=parent)
        self._roof, self._points = Line(), Markers(size=8)
        for item in (self._roof, self._points):
            self.addItem(item, ignoreBounds=True)
        self.setAccessibleName(tr("Speed of layers by arithmetic intensity"))

    def show_costs(self, device: Mapping[str, Any], costs: Sequence[Mapping[str, Any]]) -> None:
        """Show the records `device` and `layer` of `netwright.engine.launch.layer_profile`, without layers that have no
        FLOPs."""
        self.device = device
        self.costs = [cost for cost in costs if cost["flops"] > 0 and cost["moved_bytes"] > 0 and cost["forward_s"] > 0]
        self._x = np.array([cost["flops"] / cost["moved_bytes"] for cost in self.costs], dtype=float)
        self._y = np.array([cost["flops"] / cost["forward_s"] for cost in self.costs], dtype=float)
        self.refresh()

    def dress(self) -> None:
        """Layers in the accent colour below a muted roof."""
        palette = theme.current()
        self._points.setPen(pg.mkPen(None))
        self._points.setBrush(pg.mkBrush(palette.accent))
        self._roof.setPen(pg.mkPen(palette.muted, width=1))

    def draw(self) -> str:
        """Decades on both axes; the bend of the roof is in view."""
        if not self.costs or not self.device:
            return tr("Layers with floating-point operations are shown here as they are measured.")
        flops, speed = float(self.device["peak_flops"]), float(self.device["peak_bytes"])
        bend = flops / speed
        x = log_axis(min(float(self._x.min()), bend), max(float(self._x.max()), bend), self.num_x_ticks)
        y = log_axis(min(float(self._y.min()), x.low * speed), max(float(self._y.max()), flops), self.num_y_ticks)
        labels = [format_flops(tick) for tick in y.ticks]
        self.show_axes(
            x, Unit(name=tr("FLOP per byte")), y, [text.replace("FLOP/s", "") for text in labels[:-1]] + labels[-1:]
        )
        places = np.array([x.low, bend, x.high])
        self.lay(self._roof, places, np.minimum(places * speed, flops))
        self.lay(self._points, self._x, self._y)
        return ""

    def readout(self, place: float) -> tuple[float, Markup]:
        """The layer whose intensity is nearest to the pointer."""
        if not self.costs or place <= 0:
            return place, Markup()
        nearest = int(np.abs(np.log(self._x) - math.log(place)).argmin())
        return float(self._x[nearest]), self._described(nearest)

    def _described(self, number: int) -> Markup:
        cost = self.costs[number]
        text = tr(
            "{speed}, {intensity} FLOP per byte",
            speed=format_flops(self._y[number]),
            intensity=format_number(self._x[number]),
        )
        share = tr("{share} of what the device allows", share=format_percent(cost["roof"]))
        return markup.filled("{} ({})<br>{}<br>{}", cost["name"], cost["type"], text, share)

    def layer_at(self, x: float, y: float) -> str:
        """Return the path of ids of the layer at a position in pixels; empty where there is none."""
        best, nearest = NEAR_PIXELS, ""
        for number, cost in enumerate(self.costs):
            spot = self.view.mapViewToScene(
                pg.Point(float(self.x.to_view(self._x[number])), float(self.y.to_view(self._y[number])))
            )
            distance = math.hypot(spot.x() - x, spot.y() - y)
            if distance < best:
                best, nearest = distance, str(cost["path"])
        return nearest

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Tell the layer that is clicked."""
        super().mousePressEvent(event)
        place = self.mapToScene(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and (path := self.layer_at(place.x(), place.y())):
            self.layer_clicked.emit(path)

    def csv(self) -> str:
        """Return the layers as a table."""
        rows = zip(self.costs, self._x, self._y, strict=True)
        head = ("layer", "type", "flop_per_byte", "flops_per_second", "roof_share")
        return csv_text([head, *((cost["name"], cost["type"], x, y, cost["roof"]) for cost, x, y in rows)])
