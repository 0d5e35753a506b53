"""Cards that hold a plot or another figure under its title, and leave as pictures or as drawings."""

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QPoint, QSize
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPixmap
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QLabel, QMenu, QToolButton, QVBoxLayout, QWidget

from netwright.app import messages
from netwright.app.plots.canvas import Canvas
from netwright.app.plots.plot import Plot
from netwright.designer import theme
from netwright.designer.language import tr
from netwright.designer.markup import visible
from netwright.engine.core.csv_text import CsvWriter
from netwright.engine.core.files import write_atomically

Rows = Iterable[Sequence[object]]
FINENESS = 2
"""Pixels of a picture per pixel of the screen."""


class Card(QFrame):
    """A title, what a subclass adds beside it in `head`, and the content below. Pictures leave out its `controls`."""

    def __init__(self, content: QWidget, parent: QWidget | None = None, *, spacing: int = 4) -> None:
        super().__init__(parent)
        self.content = content
        self.controls: list[QWidget] = []
        self._title = QLabel()
        theme.mark(self, "role", "card")
        theme.mark(self._title, "role", "strong")
        self.head = QHBoxLayout()
        self.head.setSpacing(8)
        self.head.addWidget(self._title)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(16, 12, 16, 12)
        self.column.setSpacing(spacing)
        self.column.addLayout(self.head)
        self.column.addWidget(content)

    @property
    def title(self) -> str:
        """The name of the content."""
        return self._title.text()

    @title.setter
    def title(self, title: str) -> None:
        title = visible(title)
        self._title.setText(title)
        for widget in (self, self.content):
            widget.setAccessibleName(title)

    @contextlib.contextmanager
    def as_picture(self, scale: float = 1.0) -> Iterator[None]:
        """In here nothing shows that only a pointer needs, and nothing is drawn from a cache of pixels."""
        self.ensurePolished()
        with drawn_whole(self, scale, self.controls):
            yield

    def export_png(self, path: str | Path) -> None:
        """Write the card as a picture, twice as fine as on the screen. Raises `OSError`."""
        with self.as_picture(FINENESS):
            write_atomically(Path(path), png_of(self))

    def export_svg(self, path: str | Path) -> None:
        """Write the card as a drawing that scales. Raises `OSError`."""
        with self.as_picture():
            write_atomically(Path(path), svg_of(self, self.title))


class PlotCard(Card):
    """A plot as high as there is room."""

    def __init__(self, plot: Plot, parent: QWidget | None = None) -> None:
        super().__init__(plot, parent)
        self.plot = plot
        self.column.setStretchFactor(plot, 1)


class FigureCard(Card):
    """A heading with a muted note, a button to export, and the content below. `values` returns a head and rows, or
    `save_table` writes them. With `fills` the content takes all of the height."""

    def __init__(
        self,
        content: QWidget,
        title: str,
        note: str = "",
        values: Callable[[], Rows] | None = None,
        *,
        save_table: Callable[[Path], None] | None = None,
        fills: bool = False,
    ) -> None:
        super().__init__(content, spacing=8)
        self.title = title
        self._save_table = save_table if values is None else partial(write_rows, values)
        self.note = QLabel(note)
        theme.mark(self.note, "role", "muted")
        self.note.setWordWrap(True)
        self.head.addWidget(self.note, 1)
        self.button = self._make_button()
        self.head.addWidget(self.button)
        self.controls.append(self.button)
        if fills:
            self.column.setStretchFactor(content, 1)
        else:
            self.column.addStretch(1)

    def add_control(self, widget: QWidget) -> None:
        """Put a widget into the heading, which pictures of the card leave out."""
        self.controls.append(widget)
        self.head.insertWidget(self.head.count() - 1, widget)

    def _make_button(self) -> QToolButton:
        button = QToolButton()
        button.setAutoRaise(True)
        button.setIcon(theme.icon("export", "muted"))
        button.setIconSize(QSize(16, 16))
        button.setToolTip(tr("Copy or save this figure"))
        button.setAccessibleName(tr("Export {title}", title=self.title))
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setStyleSheet("QToolButton { padding: 4px; } QToolButton::menu-indicator { image: none; }")
        menu = QMenu(button)
        menu.addAction(tr("Copy picture"), self.copy)
        menu.addAction(tr("Save as PNG…"), lambda: self._save("png"))
        menu.addAction(tr("Save as SVG…"), lambda: self._save("svg"))
        if self._save_table is not None:
            menu.addAction(tr("Save values as CSV…"), lambda: self._save("csv"))
        button.setMenu(menu)
        return button

    def copy(self) -> None:
        """Put the card on the clipboard as a picture."""
        with self.as_picture(FINENESS):
            QGuiApplication.clipboard().setPixmap(picture_of(self))

    def write(self, path: Path) -> None:
        """Write the card by the suffix of the path: `.png`, `.svg`, `.csv`. Raises `OSError`."""
        if path.suffix == ".csv":
            assert self._save_table is not None
            self._save_table(path)
        else:
            (self.export_svg if path.suffix == ".svg" else self.export_png)(path)

    def _save(self, kind: str) -> None:
        suggested = re.sub(r"[^\w-]+", "-", self.title.lower()).strip("-")
        name, _ = QFileDialog.getSaveFileName(
            self, tr("Save {title}", title=self.title), f"{suggested}.{kind}", f"*.{kind}"
        )
        if not name:
            return
        path = Path(name)
        path = path if path.suffix.lower() == f".{kind}" else path.with_name(f"{path.name}.{kind}")
        try:
            self.write(path)
        except OSError as error:
            text = tr("{path} cannot be written: {strerror}.", path=path, strerror=error.strerror)
            messages.show_error(self, tr("The figure cannot be saved"), text)


def write_rows(values: Callable[[], Rows], path: Path) -> None:
    """Write rows as a CSV file. Raises `OSError`."""
    with path.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        writer = CsvWriter(file)
        for row in values():
            writer.row(row)


@contextlib.contextmanager
def drawn_whole(widget: QWidget, scale: float = 1.0, controls: Iterable[QWidget] = ()) -> Iterator[None]:
    """In here controls are hidden, and the plots of a widget are drawn from their shapes, as `Canvas.as_picture`."""
    with contextlib.ExitStack() as stack:
        for control in controls:
            if not control.isHidden():
                control.hide()
                stack.callback(control.show)
        for plot in widget.findChildren(Canvas):
            stack.enter_context(plot.as_picture(scale))
        yield


def picture_of(widget: QWidget, ground: QColor | None = None) -> QPixmap:
    """Return a widget as a picture on a ground, twice as fine as on the screen."""
    pixmap = QPixmap(widget.size() * FINENESS)
    pixmap.setDevicePixelRatio(FINENESS)
    pixmap.fill(ground or theme.current().background)
    widget.render(pixmap)
    return pixmap


def png_of(widget: QWidget, ground: QColor | None = None) -> bytes:
    """Return a widget as the content of a PNG file."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture_of(widget, ground).save(buffer, "PNG")
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
