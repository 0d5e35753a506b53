"""Sentences that a screen reader says at once, of what happens elsewhere than at the keyboard's place."""

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent


def announce(source: QObject, text: str) -> None:
    """Let a screen reader say a text, in the name of a window or widget."""
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(source, text))
