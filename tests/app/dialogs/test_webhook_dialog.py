"""The dialog of the webhook: it shows the host alone, refuses bad addresses, and sends a test message."""

from PySide6.QtWidgets import QDialog, QLineEdit

from netwright.app.dialogs.webhook_dialog import WebhookDialog
from netwright.engine.core import webhook
from tests.app.fake_server import FakeServer


def test_an_address_is_stored_and_shown_as_dots(qtbot, server: FakeServer) -> None:
    dialog = WebhookDialog(server)
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
    again = WebhookDialog(server)
    qtbot.addWidget(again)
    again.address.clear()
    again.accept()
    assert webhook.read() == ""


def test_a_test_message_is_sent_by_the_engine(qtbot, server: FakeServer) -> None:
    dialog = WebhookDialog(server)
    qtbot.addWidget(dialog)
    dialog.address.setText("https://example.org/T0ken")
    dialog.test_button.click()
    assert [(one.do, one.given) for one in server.asked] == [("notify", {"test": True})]
    assert not dialog.test_button.isEnabled()
    server.refuse("notify", "The webhook on example.org was not told.")
    assert dialog.state.text() == "The webhook on example.org was not told."
    dialog.test_button.click()
    server.answer("notify", {"webhook_host": "example.org", "is_tested": True})
    assert dialog.state.text() == "example.org took the test message."
    dialog.test_button.click()
    dialog.reject()
    assert server.cancelled == ["notify"]


def test_a_damaged_setting_is_told(qtbot, server: FakeServer) -> None:
    file = webhook.settings_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{")
    dialog = WebhookDialog(server)
    qtbot.addWidget(dialog)
    assert "notifications.json is damaged" in dialog.state.text()
    assert file.read_text() == "{"
