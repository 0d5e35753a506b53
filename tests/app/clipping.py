"""What of a window cannot be read: words that are cut off, and what has to be scrolled sideways."""

import re
from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QLabel, QScrollArea, QToolButton, QWidget

from netwright.designer.elided_label import ElidedLabel
from netwright.designer.forms.field_labels import HelpLine

SMALL = (1280 - 16, 720 - 48)
"""What a frame leaves of the smallest screen that is spoken of."""
BREAKS = re.compile(r"[\s\u200b/-]+|(?<=[\u2e80-\uffef])")
"""Where a text may break: also behind every Chinese character."""


def settle(widget: QWidget) -> None:
    """Let layouts that wait for each other come to rest."""
    for _ in range(3):
        widget.ensurePolished()
        QApplication.sendPostedEvents()
        QApplication.processEvents()


def fitted(dialog: QDialog) -> QDialog:
    """The dialog as it is shown on a small screen."""
    dialog.setVisible(True)
    dialog.resize(min(dialog.width(), SMALL[0]), min(dialog.height(), SMALL[1]))
    settle(dialog)
    return dialog


def _path(widget: QWidget, words: str) -> str:
    return f"{type(widget).__name__} '{words[:60]}' in {type(widget.parentWidget()).__name__}"


def _cut(label: QLabel) -> bool:
    room = label.contentsRect()
    if label.wordWrap():
        metrics = label.fontMetrics()
        widest = max(metrics.horizontalAdvance(word) for word in BREAKS.split(label.text()))
        return label.height() < label.heightForWidth(label.width()) - 2 or widest > room.width() + 1
    return label.width() < label.sizeHint().width() - 1


def clipped(root: QWidget) -> Iterator[str]:
    """The labels and buttons whose words have no room, and the areas that are wider than what is seen of them. Elided
    labels are left out: their tooltips have the rest."""
    for label in root.findChildren(QLabel):
        is_plain = label.text() and not isinstance(label, (ElidedLabel, HelpLine)) and "<" not in label.text()
        if is_plain and label.isVisible() and _cut(label):
            yield _path(label, label.text())
    for button in root.findChildren(QAbstractButton):
        words = button.fontMetrics().horizontalAdvance(button.text().replace("&", ""))
        is_icon = isinstance(button, QToolButton) and button.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly
        is_icon = is_icon and not button.icon().isNull()
        if button.isVisible() and not is_icon and button.width() < words:
            yield _path(button, button.text())
    for area in root.findChildren(QScrollArea):
        if area.isVisible() and (content := area.widget()) is not None:
            wide = content.minimumSizeHint().width()
            if area.horizontalScrollBar().maximum() > 0 or wide > area.viewport().width() + 1:
                yield _path(area, f"{wide} wide, {area.viewport().width()} seen")
