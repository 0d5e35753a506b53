"""A card that holds a plot under its title, and leaves as a picture or as a drawing."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QPoint
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from netwright.app.plots.plot import Plot
from netwright.designer import theme
from netwright.designer.markup import visible

FINENESS = 2
"""Pixels of a picture per pixel of the screen."""


class PlotCard(QFrame):
    """A title, what a subclass adds beside it, and a plot."""

    def __init__(self, plot: Plot, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.plot = plot
        self._title = QLabel()
        theme.mark(self, "role", "card")
        theme.mark(self._title, "role", "strong")
        self.head = QHBoxLayout()
        self.head.setSpacing(8)
        self.head.addWidget(self._title)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(4)
        column.addLayout(self.head)
        column.addWidget(self.plot, 1)

    @property
    def title(self) -> str:
        """The name of the quantity."""
        return self._title.text()

    @title.setter
    def title(self, title: str) -> None:
        title = visible(title)
        self._title.setText(title)
        for widget in (self, self.plot):
            widget.setAccessibleName(title)

    @contextlib.contextmanager
    def as_picture(self, scale: float = 1.0) -> Iterator[None]:
        """In here nothing shows that only a pointer needs, and nothing is drawn from a cache of pixels."""
        self.ensurePolished()
        with self.plot.as_picture(scale):
            yield

    def export_png(self, path: str | Path) -> None:
        """Write the card as a picture, twice as fine as on the screen. Raises `OSError`."""
        with self.as_picture(FINENESS):
            Path(path).write_bytes(png_of(self))

    def export_svg(self, path: str | Path) -> None:
        """Write the card as a drawing that scales. Raises `OSError`."""
        with self.as_picture():
            Path(path).write_bytes(svg_of(self, self.title))


def picture_of(widget: QWidget) -> QPixmap:
    """Return a widget as a picture, twice as fine as on the screen."""
    pixmap = QPixmap(widget.size() * FINENESS)
    pixmap.setDevicePixelRatio(FINENESS)
    pixmap.fill(theme.current().background)
    widget.render(pixmap)
    return pixmap


def png_of(widget: QWidget) -> bytes:
    """Return a widget as the content of a PNG file."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture_of(widget).save(buffer, "PNG")
    return bytes(buffer.data().data())


def svg_of(widget: QWidget, title: str) -> bytes:
    """Return a widget as the content of an SVG file."""
    buffer, generator = QBuffer(), QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(widget.size())
    generator.setViewBox(widget.rect())
    generator.setTitle(title)
    painter = QPainter(generator)
    widget.render(painter, QPoint(0, 0))
    painter.end()
    return bytes(buffer.data().data())
