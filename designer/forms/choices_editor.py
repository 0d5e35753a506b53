"""The editor of a field that takes several words: a line that says them in their order, and a list to tick."""

from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from designer import theme
from designer.forms.line_editors import HEIGHT, Changed, LineEditor, parsed
from engine.errors import FieldError
from engine.fields import Choices, Record


class TickMenu(QMenu):
    """A menu that stays open while its entries are ticked."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click ticks."""
        if not self._tick(self.actionAt(event.position().toPoint())):
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The space bar ticks."""
        if event.key() != Qt.Key.Key_Space or not self._tick(self.activeAction()):
            super().keyPressEvent(event)

    def _tick(self, action: QAction | None) -> bool:
        if action is None or not action.isCheckable():
            return False
        action.trigger()
        return True


class ChoicesEditor(QWidget):
    """Words separated by commas, to be typed or ticked; what is ticked goes to the end."""

    def __init__(self, field: Choices, value: object, changed: Changed) -> None:
        super().__init__()
        self.field = field
        self.line = LineEditor(field, value, changed)
        self.button = QToolButton()
        self.button.setIcon(theme.icon("chevron-down"))
        self.button.setFixedSize(HEIGHT, HEIGHT)
        theme.mark(self.button, "role", "chip")
        self.button.setStyleSheet("padding: 0; min-height: 0; border-radius: 6px;")
        self.button.setToolTip("Choose from a list…")
        self.button.setAccessibleName(f"Choose {field.label.lower()}")
        self.menu = TickMenu(self)
        self.menu.setToolTipsVisible(True)
        self.menu.setStyleSheet("QMenu::item { padding-left: 16px; }")  # room between box and word
        for word in field.options:
            action = self.menu.addAction(word)
            action.setCheckable(True)
            action.setToolTip(field.notes.get(word, ""))
            action.triggered.connect(lambda is_on, word=word: self._tick(word, is_on))
        self.button.clicked.connect(self._open)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.line, 1)
        row.addWidget(self.button)
        self.setFocusProxy(self.line)

    def _words(self) -> tuple[str, ...]:
        """What the line says; nothing where it says what the field does not take."""
        try:
            return self.field.check(parsed(self.field, self.line.text()))
        except FieldError:
            return ()

    def _open(self) -> None:
        self._show_ticks()
        self.menu.popup(self.button.mapToGlobal(QPoint(0, HEIGHT + 2)))

    def _show_ticks(self) -> None:
        words = self._words()
        for action in self.menu.actions():
            action.setChecked(action.text() in words)

    def _tick(self, word: str, is_on: bool) -> None:
        words = [known for known in self._words() if known != word]
        self.line.type_in(", ".join([*words, word] if is_on else words))
        self._show_ticks()

    def show_value(self, value: Any) -> None:
        """Show words; text that already says them stays as it was typed."""
        self.line.show_value(value)
        self.line.setToolTip(self.field.show(value))

    def show_several(self) -> None:
        """Show that the records behind the form differ in this field."""
        self.line.show_several()

    def show_record(self, record: Record) -> None:
        """The words depend on no other value."""

    def set_invalid(self, is_invalid: bool) -> None:
        """Mark the words as refused."""
        self.line.set_invalid(is_invalid)
