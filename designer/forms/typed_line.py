"""A line of text to which a screen reader may set a text, as if it was typed."""

from PySide6.QtWidgets import QComboBox, QLineEdit


class TypedLine(QLineEdit):
    """Emits `textEdited` and `editingFinished` for a text that was set through accessibility, too: AT-SPI calls
    Qt's own `setText`, which emits neither, and often without the keyboard focus, so that nothing is taken later."""

    def __init__(self, text: str = "") -> None:
        self._is_ours = False
        self._edited: str | None = None
        super().__init__(text)
        self.textEdited.connect(self._note)  # Qt emits it before `textChanged`
        self.textChanged.connect(self._take_from_outside)

    def setText(self, text: str | None) -> None:
        """Show a text that the program sets."""
        self._is_ours = True
        super().setText(text or "")
        self._is_ours = False

    def clear(self) -> None:
        """Show no text."""
        self.setText("")

    def _note(self, text: str) -> None:
        self._edited = text

    def _take_from_outside(self, text: str) -> None:
        was_typed, self._edited = self._edited == text, None
        is_shown = self._is_ours or isinstance(self.parent(), QComboBox)  # which shows its own choice in it
        if not is_shown and not was_typed and text == self.text():
            self.textEdited.emit(text)
            self.editingFinished.emit()
