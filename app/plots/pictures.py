"""Widgets leave as pictures and as drawings."""

from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QPoint
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from designer import theme


def save_png(widget: QWidget, path: str | Path) -> None:
    """Write a widget as a picture, twice as fine as on the screen. Raises `OSError`."""
    pixmap = QPixmap(widget.size() * 2)
    pixmap.setDevicePixelRatio(2)
    pixmap.fill(theme.current().background)
    widget.render(pixmap)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    pixmap.save(buffer, "PNG")
    Path(path).write_bytes(buffer.data().data())


def save_svg(widget: QWidget, path: str | Path, title: str) -> None:
    """Write a widget as a drawing that scales. Raises `OSError`."""
    buffer = QBuffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(widget.size())
    generator.setViewBox(widget.rect())
    generator.setTitle(title)
    painter = QPainter(generator)
    widget.render(painter, QPoint(0, 0))
    painter.end()
    Path(path).write_bytes(buffer.data().data())
