"""What journeys wait with ends where a journey fails."""

import pytest
from PySide6.QtWidgets import QApplication, QDialog, QMessageBox
from pytestqt.qtbot import QtBot

from tests.journeys.dialogs import Dialogs


class Asking(QDialog):
    """A dialog that asks once before it is left."""

    def reject(self) -> None:
        question = QMessageBox(QMessageBox.Icon.Question, "", "Leave?", QMessageBox.StandardButton.Cancel, self)
        question.exec()
        super().reject()


def test_a_failure_leaves_each_dialog_that_it_opened(qtbot: QtBot) -> None:
    outer = Asking()
    qtbot.addWidget(outer)

    def fail() -> None:
        raise LookupError("not there")

    with pytest.raises(LookupError), Dialogs([fail]):
        outer.exec()
    assert QApplication.activeModalWidget() is None
