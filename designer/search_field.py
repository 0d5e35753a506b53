"""A search field with a button that clears it."""

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLineEdit, QWidget

from designer import theme


class SearchField(QLineEdit):
    """One line; the cross appears with the first letter. Qt's own has one colour, dark on dark."""

    def __init__(self, placeholder: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(name)
        self._cross = QAction(theme.icon("close", "muted"), "Clear the search", self)
        self._cross.triggered.connect(self.clear)
        self.addAction(self._cross, QLineEdit.ActionPosition.TrailingPosition)
        self._cross.setVisible(False)
        self.textChanged.connect(lambda text: self._cross.setVisible(bool(text)))
