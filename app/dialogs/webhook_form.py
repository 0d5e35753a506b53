"""The webhook that is told when a run, an experiment or the queue has ended: a field, and a button that tests it."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from netwright.app.processes import EngineServer
from netwright.designer import theme
from netwright.designer.engine_messages import message_text
from netwright.designer.forms.row import section_label
from netwright.designer.language import noop, tr, translation
from netwright.engine.core import webhook
from netwright.engine.core.errors import UserError
from netwright.engine.operations.notify import OPERATION, NotifyRequest

ABOUT = noop(
    "An address that gets a small JSON message when a run, an experiment or the "
    "queue has ended: name, state and metrics, nothing of the data. Empty: nobody is "
    "told."
)


def _set_address() -> tuple[str, str]:
    """Return the address that is set, and why it cannot be read, if so."""
    try:
        return webhook.read(), ""
    except UserError as error:
        return "", str(error)


class WebhookForm(QWidget):
    """Edits the address, which is shown as dots: it is a secret. It is stored when the field is left. A test message
    is sent in a process of its own."""

    def __init__(self, server: EngineServer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._server = server
        self._request: int | None = None
        self._stored, damage = _set_address()
        self.address, self.state = QLineEdit(self._stored), QLabel()
        self.address.setEchoMode(QLineEdit.EchoMode.Password)
        self.address.setPlaceholderText("https://example.org/hooks/1234")
        self.address.setAccessibleName(tr("Address of the webhook"))
        self.address.setMaxLength(webhook.LONGEST)
        self.address.textChanged.connect(self._show_address)
        self.address.editingFinished.connect(self.store)
        about = QLabel(translation(ABOUT))
        about.setWordWrap(True)
        self.state.setWordWrap(True)
        theme.mark(about, "role", "help")
        self.test_button = QPushButton(tr("Send a test message"))
        self.test_button.setAutoDefault(False)
        self.test_button.clicked.connect(self._send_test)
        field = QHBoxLayout()
        field.setSpacing(8)
        field.addWidget(self.address, 1)
        field.addWidget(self.test_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(section_label(tr("Webhook")))
        column.addLayout(field)
        column.addWidget(self.state)
        column.addWidget(about)
        self._show_address()
        if damage:
            self._say(damage, is_bad=True)

    def store(self) -> bool:
        """Store the address, if it was changed. Return whether it is stored; a line below the field says why not."""
        address = self.address.text().strip()
        if address == self._stored:
            return True
        try:
            webhook.store(address)
        except UserError as error:
            self._say(message_text(error), is_bad=True)
            return False
        self._stored = address
        return True

    def close_request(self) -> None:
        """Do not wait for a test message that is on its way."""
        if self._request is not None:
            self._server.cancel(self._request)
            self._request = None

    def _show_address(self) -> None:
        """Show the host of the address, which is no secret."""
        text = self.address.text().strip()
        host = webhook.host_of(text) if text else ""
        self._say(tr("Tells {host}.", host=host) if host and host != "?" else "")
        self.test_button.setEnabled(bool(text) and self._request is None)

    def _send_test(self) -> None:
        if not self.store():
            return
        self._say(tr("Sending…"))
        self.test_button.setEnabled(False)
        self._request = self._server.ask(OPERATION, NotifyRequest(test=True), self._on_sent, self._on_failed)

    def _on_sent(self, answer: Mapping[str, Any]) -> None:
        self._request = None
        self._show_address()
        self._say(tr("{host} took the test message.", host=answer["webhook_host"]))

    def _on_failed(self, reason: str) -> None:
        self._request = None
        self._show_address()
        self._say(reason, is_bad=True)

    def _say(self, text: str, *, is_bad: bool = False) -> None:
        self.state.setText(text)
        self.state.setVisible(bool(text))
        theme.mark(self.state, "role", "error" if is_bad else "help")
