"""The network on paper: the drawing of `picture_file` in the light theme on white, on as few pages as can be read."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import ceil

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPageLayout, QPainter
from PySide6.QtPrintSupport import QPrinter

from netwright.designer import theme
from netwright.designer.scene.picture_file import area, paint
from netwright.designer.scene.scene import Scene

_POINTS = 0.75
"""The size of a unit of the canvas on paper, at most: text of 13 pixels has 9.75 points."""
_SMALLEST = 0.3
"""The smallest size, as text of 4 points. What does not fit on a page at this size goes on several."""


@contextmanager
def _on_paper() -> Iterator[None]:
    """Paint on white by the light theme."""
    with theme.painted_with(replace(theme.light(), canvas=QColor(Qt.GlobalColor.white))):
        yield


def turn(printer: QPrinter, scene: Scene) -> None:
    """Turn the page to the shape of the network."""
    size = area(scene).size()
    kinds = QPageLayout.Orientation
    printer.setPageOrientation(kinds.Landscape if size.width() > size.height() else kinds.Portrait)


def pages(network: QRectF, paper: QRectF, unit: float) -> tuple[float, list[QRectF]]:
    """Return the scale, and the part of the network that each page shows, row by row. `paper` is what can be printed
    on, `unit` a point of typography, in the pixels of the printer."""
    columns = max(1, ceil(network.width() * _SMALLEST * unit / paper.width()))
    rows = max(1, ceil(network.height() * _SMALLEST * unit / paper.height()))
    fitted = min(columns * paper.width() / network.width(), rows * paper.height() / network.height())
    scale = min(fitted, _POINTS * unit)
    width, height = paper.width() / scale, paper.height() / scale
    left, top = network.center().x() - columns * width / 2, network.center().y() - rows * height / 2
    places = [(left + column * width, top + row * height) for row in range(rows) for column in range(columns)]
    return scale, [QRectF(*place, width, height) for place in places]


def paint_page(painter: QPainter, scene: Scene, part: QRectF, scale: float) -> None:
    """Paint the part of the network that a page shows."""
    painter.save()
    painter.scale(scale, scale)
    painter.translate(-part.topLeft())
    painter.setClipRect(part)
    with _on_paper():
        paint(painter, scene)
    painter.restore()


def print_network(scene: Scene, printer: QPrinter) -> int:
    """Print the whole network, in the middle of the pages. Return their number."""
    paper = QRectF(printer.pageLayout().paintRectPixels(printer.resolution()))
    scale, parts = pages(area(scene), paper, printer.resolution() / 72)
    painter = QPainter(printer)
    for number, part in enumerate(parts):
        if number:
            printer.newPage()
        paint_page(painter, scene, part, scale)
    painter.end()
    return len(parts)
