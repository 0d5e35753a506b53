"""The base of the window's dialogs."""

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QLayout,
    QLayoutItem,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from netwright.app import widgets
from netwright.app.manual_window import show_page_about

HELP_KEY = "F1"
"""Opens the page of the manual about what has the focus, as in the window."""


class Dialog(QDialog):
    """A dialog that is never larger than the screen: what has no room is scrolled, with the buttons in sight."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scrolled: QScrollArea | None = None
        manual = QShortcut(QKeySequence(HELP_KEY), self)
        manual.activated.connect(lambda: show_page_about(self.focusWidget(), self))

    def showEvent(self, event: QShowEvent) -> None:
        """Take no more than the screen has, before Qt chooses the place."""
        self._fit()
        super().showEvent(event)

    def event(self, event: QEvent) -> bool:
        """Look again when what is shown may have grown."""
        is_done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and self.isVisible():
            self._fit()
        return is_done

    def _fit(self) -> None:
        room, layout = widgets.room_on_screen(self), self.layout()
        if layout is None:
            return
        least = layout.totalMinimumSize()
        if layout.hasHeightForWidth():  # a text that wraps: Qt would squeeze it into two thirds of the screen
            width = min(max(self.width(), least.width()), room.width())
            least.setHeight(max(least.height(), layout.totalMinimumHeightForWidth(width)))
        if self._scrolled is None and not _fits(least, room):
            self._scroll(layout)
        elif self.height() < least.height() <= room.height():
            self.resize(self.width(), least.height())
        if not _fits(self.minimumSize(), room):
            self.setMinimumSize(self.minimumSize().boundedTo(room))
        if not _fits(self.size(), room):
            self.resize(self.size().boundedTo(room))

    def _scroll(self, layout: QLayout) -> None:
        """Put all but the row of buttons, which is the last one, into an area that scrolls."""
        last = layout.itemAt(layout.count() - 1)
        buttons = layout.takeAt(layout.count() - 1) if _has_buttons(last) else None
        margins = layout.contentsMargins()
        content = QWidget()
        content.setLayout(layout)  # takes it, and what is in it, from the dialog
        self._scrolled = QScrollArea(self)
        self._scrolled.setWidgetResizable(True)
        self._scrolled.setFrameShape(QFrame.Shape.NoFrame)
        self._scrolled.setWidget(content)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._scrolled, 1)
        if buttons is not None:
            row = QVBoxLayout()
            row.setContentsMargins(margins.left(), 8, margins.right(), margins.bottom())
            row.addItem(buttons)
            column.addLayout(row)


def _fits(size: QSize, room: QSize) -> bool:
    return size.width() <= room.width() and size.height() <= room.height()


def _has_buttons(item: QLayoutItem | None) -> bool:
    """Whether it is a row of buttons."""
    if item is None or isinstance(item.widget(), QDialogButtonBox):
        return item is not None
    row = item.layout()
    inside = [row.itemAt(number) for number in range(row.count())] if isinstance(row, QLayout) else []
    return any(child is not None and isinstance(child.widget(), QPushButton) for child in inside)
