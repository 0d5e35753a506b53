"""Gives the application another style sheet, without making the window wait for what it does not show.

Where there is a sheet, Qt dresses each widget once for each widget around it when another comes: seven times on
average. It finds them by what it knows of their old dress, so they are undressed first, and each is dressed once here.
What is hidden in a window, such as the pages of its other tabs, is dressed when it is shown.
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
    if not app.styleSheet():
        app.setStyleSheet(sheet)
        return
    seen = _undress(app)
    app.style().unpolish(app)  # rules that were asked for meanwhile are forgotten too
    app.setStyleSheet(sheet)
    app.style().polish(app)
    for widget in seen:
        widget.style().polish(widget)
    for widget in seen:
        QCoreApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))


def _undress(app: QApplication) -> list[QWidget]:
    """Takes the style sheet off every widget; returns those that are dressed again at once."""
    seen = []
    for widget in app.allWidgets():
        if not widget.testAttribute(_DRESSED):
            continue
        widget.style().unpolish(widget)
        if widget.isVisible() or not widget.window().isVisible():
            seen.append(widget)
            continue
        widget.setAttribute(_DRESSED, False)
        if widget.isHidden():
            widget.installEventFilter(_later())
    return seen
