"""The form of the webhook: it shows the host alone, refuses bad addresses, and sends a test message."""

from PySide6.QtWidgets import QLineEdit

from netwright.app.dialogs.webhook_form import WebhookForm
from netwright.engine.core import webhook
from tests.app.fake_server import FakeServer


def test_an_address_is_stored_and_shown_as_dots(qtbot, server: FakeServer) -> None:
    form = WebhookForm(server)
    qtbot.addWidget(form)
    assert not form.test_button.isEnabled()
    assert form.address.echoMode() == QLineEdit.EchoMode.Password
    form.address.setText("http://example.org/T0ken")
    assert not form.store()
    assert "not encrypted" in form.state.text()
    assert "T0ken" not in form.state.text()
    form.address.setText(" https://example.org/T0ken ")
    assert form.state.text() == "Tells example.org."
    assert form.store()
    assert webhook.read() == "https://example.org/T0ken"
    again = WebhookForm(server)
    qtbot.addWidget(again)
    again.address.clear()
    again.store()
    assert webhook.read() == ""


def test_a_test_message_is_sent_by_the_engine(qtbot, server: FakeServer) -> None:
    form = WebhookForm(server)
    qtbot.addWidget(form)
    form.address.setText("https://example.org/T0ken")
    form.test_button.click()
    assert [(one.do, one.given) for one in server.asked] == [("notify", {"test": True})]
    assert not form.test_button.isEnabled()
    server.refuse("notify", "The webhook on example.org was not told.")
    assert form.state.text() == "The webhook on example.org was not told."
    form.test_button.click()
    server.answer("notify", {"webhook_host": "example.org", "is_tested": True})
    assert form.state.text() == "example.org took the test message."
    form.test_button.click()
    form.close_request()
    assert server.cancelled == ["notify"]


def test_a_damaged_setting_is_told(qtbot, server: FakeServer) -> None:
    file = webhook.settings_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{")
    form = WebhookForm(server)
    qtbot.addWidget(form)
    assert "notifications.json is damaged" in form.state.text()
    assert file.read_text() == "{"
