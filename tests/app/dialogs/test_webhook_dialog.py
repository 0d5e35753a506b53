"""The dialog of the webhook: it shows the host alone, refuses bad addresses, and sends a test message."""

from typing import Any

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog, QLineEdit

from netwright.app.dialogs import webhook_dialog as module
from netwright.app.dialogs.webhook_dialog import WebhookDialog
from netwright.engine.core import webhook


class Command(QObject):
    finished = Signal(object)
    failed = Signal(str)
    asked: list[list[str]] = []

    def __init__(self, arguments: list[str], parent: Any) -> None:
        super().__init__(parent)
        Command.asked.append(arguments)

    def cancel(self) -> None:
        """Nothing is under way."""


def test_an_address_is_stored_and_shown_as_dots(qtbot) -> None:
    dialog = WebhookDialog()
    qtbot.addWidget(dialog)
    assert not dialog.test_button.isEnabled()
    assert dialog.address.echoMode() == QLineEdit.EchoMode.Password
    dialog.address.setText("http://example.org/T0ken")
    dialog.accept()
    assert "not encrypted" in dialog.state.text()
    assert "T0ken" not in dialog.state.text()
    dialog.address.setText(" https://example.org/T0ken ")
    assert dialog.state.text() == "Tells example.org."
    dialog.accept()
    assert dialog.result() == QDialog.DialogCode.Accepted
    assert webhook.read() == "https://example.org/T0ken"
    again = WebhookDialog()
    qtbot.addWidget(again)
    again.address.clear()
    again.accept()
    assert webhook.read() == ""


def test_a_test_message_is_sent_by_the_engine(qtbot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EngineCommand", Command)
    dialog = WebhookDialog()
    qtbot.addWidget(dialog)
    dialog.address.setText("https://example.org/T0ken")
    dialog.test_button.click()
    assert Command.asked == [["notify", "--test", "--json"]]
    assert not dialog.test_button.isEnabled()
    assert dialog._command is not None
    dialog._command.failed.emit("The webhook on example.org was not told.")
    assert dialog.state.text() == "The webhook on example.org was not told."
    dialog.test_button.click()
    dialog._command.finished.emit({"webhook_host": "example.org"})
    assert dialog.state.text() == "example.org took the test message."
    dialog.reject()


def test_a_damaged_setting_is_told(qtbot) -> None:
    file = webhook.settings_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{")
    dialog = WebhookDialog()
    qtbot.addWidget(dialog)
    assert "notifications.json is damaged" in dialog.state.text()
    assert file.read_text() == "{"
