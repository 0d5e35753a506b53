"""A card with a figure that can be copied, and saved as PNG, SVG, or its values as CSV."""

import contextlib
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QGuiApplication, QPainter, QPixmap
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QLabel, QMenu, QToolButton, QVBoxLayout, QWidget

from netwright.app import messages
from netwright.app.plots.canvas import Canvas
from netwright.app.plots.card import FINENESS
from netwright.designer import theme
from netwright.engine.core.csv_text import CsvWriter

Rows = Iterable[Sequence[object]]


class FigureCard(QFrame):
    """A heading with a muted note, a button to export, and the content below. `values` returns a head and rows. With
    `fills` the content takes all of the height."""

    def __init__(
        self,
        content: QWidget,
        title: str,
        note: str = "",
        values: Callable[[], Rows] | None = None,
        *,
        fills: bool = False,
    ) -> None:
        super().__init__()
        self.title, self.content, self._values = title, content, values
        theme.mark(self, "role", "card")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        heading, self.note = QLabel(title), QLabel(note)
        theme.mark(heading, "role", "strong")
        theme.mark(self.note, "role", "muted")
        self.head = QHBoxLayout()
        self.head.setSpacing(8)
        self.head.addWidget(heading)
        self.head.addWidget(self.note)
        self.head.addStretch(1)
        self.controls: list[QWidget] = []
        self.button = self._make_button()
        self.head.addWidget(self.button)
        column.addLayout(self.head)
        if fills:
            column.addWidget(content, 1)
        else:
            column.addWidget(content, 0, Qt.AlignmentFlag.AlignTop)
        content.setAccessibleName(title)

    def add_control(self, widget: QWidget) -> None:
        """Put a widget into the heading, which pictures of the card leave out."""
        self.controls.append(widget)
        self.head.insertWidget(self.head.count() - 1, widget)

    def _make_button(self) -> QToolButton:
        button = QToolButton()
        button.setAutoRaise(True)
        button.setIcon(theme.icon("export", "muted"))
        button.setIconSize(QSize(16, 16))
        button.setToolTip("Copy or save this figure")
        button.setAccessibleName(f"Export {self.title}")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setStyleSheet("QToolButton { padding: 4px; } QToolButton::menu-indicator { image: none; }")
        menu = QMenu(button)
        menu.addAction("Copy picture", self.copy)
        menu.addAction("Save as PNG…", lambda: self._save("png"))
        menu.addAction("Save as SVG…", lambda: self._save("svg"))
        if self._values is not None:
            menu.addAction("Save values as CSV…", lambda: self._save("csv"))
        button.setMenu(menu)
        return button

    def _picture(self) -> QPixmap:
        pixmap = QPixmap(self.size() * FINENESS)
        pixmap.setDevicePixelRatio(FINENESS)
        pixmap.fill(theme.current().background)
        with self._as_picture(FINENESS):
            self.render(pixmap)
        return pixmap

    def _as_picture(self, scale: float) -> contextlib.ExitStack:
        """Hide what is for the pointer, and draw plots from their shapes, until the stack is closed."""
        stack = contextlib.ExitStack()
        for widget in (self.button, *self.controls):
            if not widget.isHidden():
                widget.hide()
                stack.callback(widget.show)
        for plot in self.findChildren(Canvas):
            stack.enter_context(plot.as_picture(scale))
        return stack

    def copy(self) -> None:
        """Put the card on the clipboard as a picture."""
        QGuiApplication.clipboard().setPixmap(self._picture())

    def write(self, path: Path) -> None:
        """Write the card by the suffix of the path: `.png`, `.svg`, `.csv`. Raises `OSError`."""
        if path.suffix == ".csv":
            assert self._values is not None
            with path.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
                writer = CsvWriter(file)
                for row in self._values():
                    writer.row(row)
        elif path.suffix == ".svg":
            generator = QSvgGenerator()
            generator.setFileName(str(path))
            generator.setSize(self.size())
            generator.setViewBox(self.rect())
            generator.setTitle(self.title)
            path.write_bytes(b"")  # where the folder cannot be written, this says so
            painter = QPainter(generator)
            with self._as_picture(1.0):
                self.render(painter, QPoint(0, 0))
            painter.end()
        elif not self._picture().save(str(path), "PNG"):
            raise OSError(0, "the picture was not written")

    def _save(self, kind: str) -> None:
        suggested = re.sub(r"[^\w-]+", "-", self.title.lower()).strip("-")
        name, _ = QFileDialog.getSaveFileName(self, f"Save {self.title}", f"{suggested}.{kind}", f"*.{kind}")
        if not name:
            return
        path = Path(name)
        path = path if path.suffix.lower() == f".{kind}" else path.with_name(f"{path.name}.{kind}")
        try:
            self.write(path)
        except OSError as error:
            text = f"{path} cannot be written: {error.strerror}."
            messages.show_error(self, "The figure cannot be saved", text)
