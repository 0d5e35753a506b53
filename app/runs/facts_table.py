"""A short table of facts."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from designer import theme


class FactsTable(QWidget):
    """Names at the left, values at the right."""

    def __init__(self, title: str, names: tuple[str, ...]) -> None:
        super().__init__()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        heading = QLabel(title.upper())
        theme.mark(heading, "role", "section")
        grid.addWidget(heading, 0, 0, 1, 2)
        self._values: dict[str, QLabel] = {}
        self._names: dict[str, QLabel] = {}
        for row, name in enumerate(names, start=1):
            label, value = QLabel(name), QLabel()
            theme.mark(label, "role", "muted")
            label.setAlignment(
                Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
            )  # as the value: else a pixel below
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            value.setWordWrap(True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            value.setFont(theme.figures(value.font()))
            grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, row, 1)
            self._names[name], self._values[name] = label, value
            self.set(name, "")

    def set(self, name: str, value: str) -> None:
        """Show a value; a row without one hides."""
        self._values[name].setText(value)
        self._values[name].setVisible(bool(value))
        self._names[name].setVisible(bool(value))

    def explain(self, name: str, words: str) -> None:
        """Say more where the pointer rests on a row."""
        for label in (self._names[name], self._values[name]):
            label.setToolTip(words)

    def text(self, name: str) -> str:
        """What is shown."""
        return self._values[name].text()

    def clear(self) -> None:
        """Hide every row."""
        for name in self._values:
            self.set(name, "")
