"""Rings around the widget with the keyboard focus, only while the keyboard is used: a click leaves none.

Qt's style sheets know `:focus` but not how it came about. Buttons get the property `keyboard`, which the sheet asks
for.
"""

import contextlib

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QListView, QSlider, QTabBar, QWidget

PROPERTY = "keyboard"
_MARKED = (QAbstractButton, QListView, QSlider, QTabBar)
"""The kinds of widgets whose ring the style sheet draws; a field shows its focus however it came."""
_POINTING = (QEvent.Type.MouseButtonPress, QEvent.Type.TouchBegin, QEvent.Type.TabletPress)
_ALONE = (Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_AltGr, Qt.Key.Key_Meta, Qt.Key.Key_Escape)
_SHORTCUT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier


def has_ring(widget: QWidget) -> bool:
    """Return whether a widget that paints itself shows the focus."""
    return widget.hasFocus() and bool(widget.property(PROPERTY))


class FocusRing(QObject):
    """Follows the focus of the application, and the last input device: keys or a pointer."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._is_keyboard = False
        app.focusChanged.connect(self._on_focus_changed)

    def _on_focus_changed(self, before: QWidget | None, now: QWidget | None) -> None:
        if before is not None:
            _mark(before, is_marked=False)
        if now is None:
            return
        handle = now.window().windowHandle()
        if handle is not None:
            with contextlib.suppress(RuntimeError):  # the window of a dialog that closes is deleted already
                handle.removeEventFilter(self)  # of no effect the first time
                handle.installEventFilter(self)
        _mark(now, is_marked=self._is_keyboard)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notice keys and pointers before a window gets them: events of widgets would be too many to look at."""
        if event.type() in _POINTING:
            self._use(is_keyboard=False)
        elif isinstance(event, QKeyEvent) and not _is_shortcut(event):
            self._use(is_keyboard=True)
        return False

    def _use(self, *, is_keyboard: bool) -> None:
        if is_keyboard != self._is_keyboard:
            self._is_keyboard = is_keyboard
            focused = QApplication.focusWidget()
            if focused is not None:
                _mark(focused, is_marked=is_keyboard)


def _is_shortcut(event: QKeyEvent) -> bool:
    """Return whether a key is used beside a pointer as well: it says nothing of how the focus moves."""
    is_function_key = Qt.Key.Key_F1 <= event.key() <= Qt.Key.Key_F35
    return event.key() in _ALONE or is_function_key or bool(event.modifiers() & _SHORTCUT)


def _mark(widget: QWidget, *, is_marked: bool) -> None:
    if isinstance(widget, _MARKED) and bool(widget.property(PROPERTY)) != is_marked:
        widget.setProperty(PROPERTY, is_marked)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        widget.update()
