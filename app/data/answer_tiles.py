"""Tiles of samples with the answers of the network: class maps beside the true ones, and forecasts."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QPolygonF

from netwright.app.data.preview_tiles import ahead_of, picture_tile
from netwright.app.data.tiles import GAP, PICTURE, Span, Sparkline, Tile, Tiles, coloured_classes, scaled, spans_of
from netwright.designer import theme
from netwright.designer.language import tr
from netwright.engine.core.text import format_figure, format_percent

NOTHING = 255


class Judged(Tile):
    """An image, the true class of each pixel, the predicted ones, and the wrong pixels."""

    size_wanted = QSize(4 * PICTURE + 3 * GAP // 2, PICTURE)

    def __init__(self, picture: Mapping[str, Any], tip: str) -> None:
        super().__init__(str(picture["label"]), tip)
        wrong = coloured_classes(str(picture["wrong"]), [QColor(theme.current().error)])
        self.pixmaps = [scaled(QPixmap(str(picture["file"])))]
        self.pixmaps += [coloured_classes(str(picture[name])) for name in ("mask", "said")] + [wrong]

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the four side by side."""
        width = (area.width() - 3 * GAP / 2) / 4
        for place, pixmap in enumerate(self.pixmaps):
            x = place * (width + GAP / 2) + (width - pixmap.width()) / 2
            painter.drawPixmap(QPointF(x, (area.height() - pixmap.height()) / 2), pixmap)


class Restored(Tile):
    """An image, the true image, and the one that the network gives."""

    size_wanted = QSize(3 * PICTURE + GAP, PICTURE)

    def __init__(self, picture: Mapping[str, Any], tip: str) -> None:
        super().__init__(str(picture["label"]), tip)
        self.pixmaps = [scaled(QPixmap(str(picture[name]))) for name in ("file", "target", "said")]

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the three side by side."""
        width = (area.width() - GAP) / 3
        for place, pixmap in enumerate(self.pixmaps):
            x = place * (width + GAP / 2) + (width - pixmap.width()) / 2
            painter.drawPixmap(QPointF(x, (area.height() - pixmap.height()) / 2), pixmap)


class Forecasted(Sparkline):
    """A sequence with its true values to predict, and the forecast dashed over them."""

    def __init__(self, series: Mapping[str, Any], spans: Sequence[Span], tip: str) -> None:
        ahead = ahead_of(series)
        super().__init__(series["values"], str(series["label"]), tip, ahead=ahead, spans=spans)
        self.said = [list(values) for values in series["said"].values()]

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the lanes, then the forecast in those of its channels."""
        super().draw(painter, area)
        area = area.adjusted(2, 2, -2, -2)
        longest = max(map(len, self.channels), default=0)
        steps = max(1, longest + max((len(values) for _, values in self.ahead), default=0) - 1)
        painter.setPen(QPen(theme.current().text, 1.4, Qt.PenStyle.DashLine))
        others = len(self.channels)
        for (channel, _), forecast in zip(self.ahead, self.said, strict=False):
            index = others if channel < 0 else channel
            others += channel < 0
            low, high = self.spans[index]
            lane, span = self.lane(area, index), (high - low) or 1.0
            points = [
                QPointF(
                    lane.left() + area.width() / steps * (longest + at),
                    lane.bottom() - lane.height() * (value - low) / span,
                )
                for at, value in enumerate(forecast)
                if isfinite(value)
            ]
            painter.drawPolyline(QPolygonF(points))


def tiles_of(answer: Mapping[str, Any]) -> Tiles | None:
    """Return the samples of an answer to `evaluated_samples` as tiles; None where they are rows of a table."""
    rows = answer["rows"]
    if pictures := answer.get("pictures"):
        tiles = [_of_picture(sample, tip_of(row, sample)) for sample, row in zip(pictures, rows, strict=False)]
        return Tiles(tiles, is_stretched="wave" in pictures[0])
    if series := answer.get("series"):
        lanes = [[*Sparkline.lanes(sample["values"], ahead_of(sample))] for sample in series]
        spans = spans_of([lane for each in lanes for lane in each])
        spans = _with_forecasts(spans, series)
        return Tiles(
            [_of_series(sample, spans, tip_of(row, sample)) for sample, row in zip(series, rows, strict=False)],
            is_stretched=True,
        )
    return None


def _with_forecasts(spans: list[Span], series: Sequence[Mapping[str, Any]]) -> list[Span]:
    """Return the scales of lanes, wide enough for the forecasts, too."""
    wide = list(spans)
    for sample in series:
        others = len(sample["values"])
        for (channel, _), forecast in zip(ahead_of(sample), sample.get("said", {}).values(), strict=False):
            index = others if channel < 0 else channel
            others += channel < 0
            numbers = [value for value in forecast if isfinite(value)]
            if numbers and index < len(wide):
                wide[index] = (min(wide[index][0], *numbers), max(wide[index][1], *numbers))
    return wide


def _of_picture(picture: Mapping[str, Any], tip: str) -> Tile:
    if "wrong" in picture:
        return Judged(picture, tip)
    if "said" in picture and "target" in picture:
        return Restored(picture, tip)
    return picture_tile(dict(picture), str(picture["label"]), tip)


def _of_series(series: Mapping[str, Any], spans: list[Span], tip: str) -> Tile:
    if "said" in series:
        return Forecasted(series, spans, tip)
    return Sparkline(series["values"], str(series["label"]), tip, steps=series.get("steps", ()), spans=spans)


def tip_of(row: Mapping[str, Any], sample: Mapping[str, Any]) -> str:
    """Return all that is known of a sample, a line each."""
    lines = [str(row.get("sample", tr("Sample {number:,}", number=row["index"] + 1)))]
    if isinstance(row.get("label"), str):
        lines.append(tr("true: {label}, predicted: {answer}", label=row["label"], answer=row["prediction"]))
    if "confidence" in row:
        confidence, loss = format_percent(row["confidence"], 1), format_figure(row["loss"])
        lines.append(tr("confidence {confidence}, loss {loss}", confidence=confidence, loss=loss))
    elif "loss" in row:
        lines.append(tr("error {error}", error=format_figure(row["loss"])))
    lines += [
        tr("IoU of {name}: {value}", name=name, value=format_figure(value))
        for name, value in sample.get("iou", {}).items()
    ]
    if "wrong" in sample:
        lines.append(tr("image, true classes, predicted classes, wrong pixels"))
    return "\n".join(lines)
