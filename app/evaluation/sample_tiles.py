"""Tiles of samples with what the network says of them: class maps beside the true ones, and forecasts."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QPolygonF

from netwright.app.data.preview import ahead_of, picture_tile
from netwright.app.data.tiles import (
    GAP,
    PICTURE,
    Span,
    Sparkline,
    Tile,
    Tiles,
    coloured_classes,
    scaled,
    spans_of,
)
from netwright.designer import theme
from netwright.engine.core.text import format_figure, format_percent

NOTHING = 255


class Judged(Tile):
    """An image, the true class of each pixel, what the network says, and where that is wrong."""

    size_wanted = QSize(4 * PICTURE + 3 * GAP // 2, PICTURE)

    def __init__(self, shown: Mapping[str, Any], tip: str) -> None:
        super().__init__(str(shown["label"]), tip)
        wrong = coloured_classes(str(shown["wrong"]), [QColor(theme.current().error)])
        self.pixmaps = [scaled(QPixmap(str(shown["file"])))]
        self.pixmaps += [coloured_classes(str(shown[name])) for name in ("mask", "said")] + [wrong]

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the four side by side."""
        width = (area.width() - 3 * GAP / 2) / 4
        for place, pixmap in enumerate(self.pixmaps):
            x = place * (width + GAP / 2) + (width - pixmap.width()) / 2
            painter.drawPixmap(QPointF(x, (area.height() - pixmap.height()) / 2), pixmap)


class Restored(Tile):
    """An image, the true image, and the one that the network gives."""

    size_wanted = QSize(3 * PICTURE + GAP, PICTURE)

    def __init__(self, shown: Mapping[str, Any], tip: str) -> None:
        super().__init__(str(shown["label"]), tip)
        self.pixmaps = [scaled(QPixmap(str(shown[name]))) for name in ("file", "target", "said")]

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the three side by side."""
        width = (area.width() - GAP) / 3
        for place, pixmap in enumerate(self.pixmaps):
            x = place * (width + GAP / 2) + (width - pixmap.width()) / 2
            painter.drawPixmap(QPointF(x, (area.height() - pixmap.height()) / 2), pixmap)


class Forecasted(Sparkline):
    """A sequence with its true values to predict, and the forecast dashed over them."""

    def __init__(self, shown: Mapping[str, Any], spans: Sequence[Span], tip: str) -> None:
        ahead = ahead_of(shown)
        super().__init__(shown["values"], str(shown["label"]), tip, ahead=ahead, spans=spans)
        self.said = [list(values) for values in shown["said"].values()]

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the lanes, then the forecast in those of its channels."""
        super().draw(painter, area)
        area = area.adjusted(2, 2, -2, -2)
        longest = max(map(len, self.channels), default=0)
        steps = max(1, longest + max((len(values) for _, values in self.ahead), default=0) - 1)
        painter.setPen(QPen(theme.current().text, 1.4, Qt.PenStyle.DashLine))
        others = len(self.channels)
        for (channel, _), said in zip(self.ahead, self.said, strict=False):
            index = others if channel < 0 else channel
            others += channel < 0
            low, high = self.spans[index]
            lane, span = self.lane(area, index), (high - low) or 1.0
            points = [
                QPointF(
                    lane.left() + area.width() / steps * (longest + at),
                    lane.bottom() - lane.height() * (value - low) / span,
                )
                for at, value in enumerate(said)
                if isfinite(value)
            ]
            painter.drawPolyline(QPolygonF(points))


def tiles_of(answer: Mapping[str, Any]) -> Tiles | None:
    """Return the samples of an answer to `evaluated_samples` as tiles; None where they are rows of a table."""
    rows = answer["rows"]
    if pictures := answer.get("pictures"):
        tiles = [_of_picture(shown, tip_of(row, shown)) for shown, row in zip(pictures, rows, strict=False)]
        return Tiles(tiles, is_stretched="wave" in pictures[0])
    if series := answer.get("series"):
        lanes = [[*Sparkline.lanes(shown["values"], ahead_of(shown))] for shown in series]
        spans = spans_of([lane for each in lanes for lane in each])
        spans = _with_forecasts(spans, series)
        return Tiles(
            [_of_series(shown, spans, tip_of(row, shown)) for shown, row in zip(series, rows, strict=False)],
            is_stretched=True,
        )
    return None


def _with_forecasts(spans: list[Span], series: Sequence[Mapping[str, Any]]) -> list[Span]:
    """Return the scales of lanes, wide enough for the forecasts, too."""
    wide = list(spans)
    for shown in series:
        others = len(shown["values"])
        for (channel, _), said in zip(ahead_of(shown), shown.get("said", {}).values(), strict=False):
            index = others if channel < 0 else channel
            others += channel < 0
            known = [value for value in said if isfinite(value)]
            if known and index < len(wide):
                wide[index] = (min(wide[index][0], *known), max(wide[index][1], *known))
    return wide


def _of_picture(shown: Mapping[str, Any], tip: str) -> Tile:
    if "wrong" in shown:
        return Judged(shown, tip)
    if "said" in shown and "target" in shown:
        return Restored(shown, tip)
    return picture_tile(dict(shown), str(shown["label"]), tip)


def _of_series(shown: Mapping[str, Any], spans: list[Span], tip: str) -> Tile:
    if "said" in shown:
        return Forecasted(shown, spans, tip)
    return Sparkline(shown["values"], str(shown["label"]), tip, steps=shown.get("steps", ()), spans=spans)


def tip_of(row: Mapping[str, Any], shown: Mapping[str, Any]) -> str:
    """Return all that is known of a sample, a line each."""
    lines = [str(row.get("sample", f"Sample {row['index']:,}"))]
    if isinstance(row.get("label"), str):
        lines.append(f"true: {row['label']}, predicted: {row['prediction']}")
    if "confidence" in row:
        lines.append(f"confidence {format_percent(row['confidence'], 1)}, loss {format_figure(row['loss'])}")
    elif "loss" in row:
        lines.append(f"error {format_figure(row['loss'])}")
    lines += [f"IoU of {name}: {format_figure(value)}" for name, value in shown.get("iou", {}).items()]
    if "wrong" in shown:
        lines.append("image, true classes, predicted classes, wrong pixels")
    return "\n".join(lines)
