"""The wheel scrolls the page: a slider, number, list or tab that passes under the pointer turns only with the focus."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QWheelEvent, QWindow
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QComboBox, QDial, QSlider, QTabBar, QWidget

GUARDED = (QSlider, QDial, QAbstractSpinBox, QComboBox, QTabBar)


class WheelGuard(QObject):
    """Looks at the wheel before the windows of the application get it, since Qt gives some inputs the focus by it."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        app.focusWindowChanged.connect(self._on_window)

    def _on_window(self, window: QWindow | None) -> None:
        if window is not None:
            window.removeEventFilter(self)  # of no effect the first time
            window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Pass a wheel event over an input without focus to the widgets around it."""
        if not isinstance(event, QWheelEvent):
            return False
        guarded = _guarded(QApplication.widgetAt(event.globalPosition().toPoint()))
        around = guarded.parentWidget() if guarded is not None else None
        while around is not None and not _takes(around, event) and not around.isWindow():
            around = around.parentWidget()  # Qt passes on only what a desktop reports
        return guarded is not None


def _takes(widget: QWidget, event: QWheelEvent) -> bool:
    """Give the event to a widget. Return whether it has taken it."""
    at = event.globalPosition()
    passed = QWheelEvent(
        widget.mapFromGlobal(at),
        at,
        event.pixelDelta(),
        event.angleDelta(),
        event.buttons(),
        event.modifiers(),
        event.phase(),
        event.inverted(),
        event.source(),
    )
    passed.ignore()
    QApplication.sendEvent(widget, passed)
    return passed.isAccepted()


def _guarded(widget: QWidget | None) -> QWidget | None:
    """Return the input that a widget is, or is part of, unless that has the focus."""
    while widget is not None and not isinstance(widget, GUARDED):
        widget = None if widget.isWindow() else widget.parentWidget()
    focused = QApplication.focusWidget()
    if widget is None or (focused is not None and (focused is widget or widget.isAncestorOf(focused))):
        return None
    return widget
