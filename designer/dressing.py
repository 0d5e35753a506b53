"""Gives the application another style sheet, without making the window wait for what it does not show.

Where there is a sheet, Qt dresses each widget once for each widget around it when another comes: seven times on
average. After none it does so once. What is hidden in a window, such as the pages of its other tabs, is dressed when it
is shown.
"""

from functools import cache

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QWidget

_DRESSED = Qt.WidgetAttribute.WA_WState_Polished


class _Later(QObject):
    """Dresses what was left out, when the hidden widget that it is in is shown."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Of the hidden widgets only."""
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget):
            watched.removeEventFilter(self)
            for widget in (watched, *watched.findChildren(QWidget)):
                if not widget.testAttribute(_DRESSED):
                    widget.setAttribute(_DRESSED)
                    widget.style().polish(widget)
                    QCoreApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))
        return False


@cache
def _later() -> _Later:
    return _Later()


def dress(app: QApplication, sheet: str) -> None:
    """Use this style sheet from now on."""
    if app.styleSheet():
        app.setStyleSheet("")
        for widget in app.allWidgets():
            if widget.testAttribute(_DRESSED) and not widget.isVisible() and widget.window().isVisible():
                widget.setAttribute(_DRESSED, False)
                if widget.isHidden():
                    widget.installEventFilter(_later())
    app.setStyleSheet(sheet)
