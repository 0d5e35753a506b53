"""The line under a search that names what nothing has, with the condition that was probably meant."""

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QWidget

from netwright.designer import markup, theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.engine_messages import message_text
from netwright.designer.forms.row import sentence
from netwright.designer.language import tr
from netwright.engine.runs.query import UnknownName, words_of


class UnknownNameLine(QWidget):
    """Hidden while every name of the query is known."""

    def __init__(self, search: QLineEdit) -> None:
        super().__init__()
        self._search = search
        self._unknown: UnknownName | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.refused, self.suggested = ElidedLabel(), QPushButton()
        theme.mark(self.refused, "role", "error")
        theme.mark(self.suggested, "role", "link")
        theme.mark(self.suggested, "flush", True)
        self.suggested.setAccessibleName(tr("Use the suggested condition"))
        self.suggested.clicked.connect(self._take)
        row.addWidget(self.refused)
        row.addWidget(self.suggested)
        row.addStretch(1)
        self.hide()

    def show_unknown(self, unknown: UnknownName | None) -> None:
        """Show the first name of the query that nothing has; None for none."""
        self._unknown = unknown
        self.setVisible(unknown is not None)
        if unknown is not None:
            self.refused.setText(sentence(message_text(f"{unknown.message}.")), note=message_text(unknown.hint))
            self.suggested.setText(markup.without_mnemonic(tr("Use {suggestion}", suggestion=unknown.suggestion)))
            self.suggested.setVisible(bool(unknown.suggestion))

    def _take(self) -> None:
        if self._unknown is not None:
            query = " ".join(words_of(self._search.text()))
            self._search.setText(query.replace(self._unknown.word, self._unknown.suggestion, 1))
