"""Icons of one family: 24 x 24 outlines under resources/icons, coloured when they are painted.

The files draw in `currentColor`. An icon asks for its colour each time it is painted, so a switch
between light and dark needs no new icons, and it renders the outline at the pixels it is asked for,
so it is sharp on every screen.
"""

from collections.abc import Callable
from functools import cache

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from netwright.engine.core.files import RESOURCES

FOLDER = RESOURCES / "icons"

# Colour of an icon in a given mode (normal, disabled, ...); the theme provides it.
Colour = Callable[[QIcon.Mode], QColor]


@cache
def outline(name: str) -> str:
    """The SVG text of one icon, drawn in `currentColor`."""
    path = FOLDER / f"{name}.svg"
    if not path.is_file():
        raise KeyError(f"No icon is named {name!r}. The icons are the files in {FOLDER}.")
    return path.read_text(encoding="utf-8")


def names() -> list[str]:
    """The names of all icons."""
    return sorted(path.stem for path in FOLDER.glob("*.svg"))


def coloured(name: str, colour: QColor) -> bytes:
    """The SVG of an icon in one colour, opacity aside."""
    return outline(name).replace("currentColor", colour.name()).encode()


def draw(painter: QPainter, name: str, rect: QRectF, colour: QColor) -> None:
    """Draws an icon into a rectangle, for canvases that paint themselves."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setOpacity(painter.opacity() * colour.alphaF())
    _renderer(name, colour.name()).render(painter, rect)
    painter.restore()


@cache
def _renderer(name: str, colour: str) -> QSvgRenderer:
    # A few dozen names times a few tokens: the cache stays small.
    return QSvgRenderer(coloured(name, QColor(colour)))


class _Engine(QIconEngine):
    """Paints one outline in the colour that holds at that moment."""

    def __init__(self, name: str, colour: Colour) -> None:
        super().__init__()
        self._name = name
        self._colour = colour

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        side = min(rect.width(), rect.height())
        square = QRectF(0, 0, side, side)
        square.moveCenter(QRectF(rect).center())
        draw(painter, self._name, square, self._colour(mode))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        if size.isEmpty():  # a button without room asks for this, and nothing can be painted on it
            return pixmap
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(0, 0, size.width(), size.height()), mode, state)
        painter.end()
        return pixmap

    def clone(self) -> QIconEngine:
        return _Engine(self._name, self._colour)


def make(name: str, colour: Colour) -> QIcon:
    """An icon that is painted in `colour(mode)`; an unknown name is refused here, not while painting."""
    outline(name)
    return QIcon(_Engine(name, colour))
