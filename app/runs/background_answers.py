"""Answers about a model that go on in the background, when the window is closed, too: entries of the queue."""

from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QDialogButtonBox, QPlainTextEdit, QVBoxLayout, QWidget

from netwright.app.dialog import Dialog
from netwright.app.shell import Shell
from netwright.designer.language import tr
from netwright.engine.core.dataclass_json import to_json
from netwright.engine.core.errors import UserError
from netwright.engine.operations.operation import Operation
from netwright.engine.runs import queued_answers
from netwright.engine.runs.queue import Entry, Queue


class _News(QObject):
    added = Signal()


news = _News()
"""Says that an answer was left in the background, to the list of the queue."""


def leave_in_background(shell: Shell, operation: Operation[Any, Any], request: Any) -> None:
    """Compute an answer in a process that outlives the window."""
    try:
        request.check()
        entry = queued_answers.add(operation.name, to_json(request), request.model)
    except UserError as error:
        shell.show_error(tr("The queue"), str(error))
        return
    shell.hint(tr("It goes on in the background, as number {number} of the queue.", number=entry.id))
    news.added.emit()


class ResultDialog(Dialog):
    """The result of an answer, as its command prints it."""

    def __init__(self, queue: Queue, entry: Entry, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(entry.title)
        self.resize(760, 560)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setAccessibleName(tr("Result"))
        try:
            answer = queued_answers.read_queued_result(queue, entry.id)
            self.text.setPlainText("\n".join([answer.text, *answer.notices]))
        except UserError as error:
            self.text.setPlainText(str(error))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self.text)
        column.addWidget(buttons)
