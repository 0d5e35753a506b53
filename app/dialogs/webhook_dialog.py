"""Set the webhook that is told when a run, an experiment or the queue has ended."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QDialogButtonBox, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from netwright.app.dialog import Dialog
from netwright.app.processes import EngineServer
from netwright.designer import theme
from netwright.engine.core import webhook
from netwright.engine.core.errors import UserError
from netwright.engine.operations.notify import OPERATION, NotifyRequest

WIDTH = 480
ABOUT = (
    "An address that gets a small JSON message when a run, an experiment or the queue has ended: name, state and "
    "metrics, nothing of the data. It is kept in your settings, not in the project. Empty: nobody is told."
)


def _set_address() -> tuple[str, str]:
    """Return the address that is set, and why it cannot be read, if so."""
    try:
        return webhook.read(), ""
    except UserError as error:
        return "", str(error)


class WebhookDialog(Dialog):
    """Edits the address, which is shown as dots: it is a secret. A test message is sent in a process of its own."""

    def __init__(self, server: EngineServer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Webhook when a run ends")
        self._server = server
        self._request: int | None = None
        url, damage = _set_address()
        self.address, self.state = QLineEdit(url), QLabel()
        self.address.setEchoMode(QLineEdit.EchoMode.Password)
        self.address.setPlaceholderText("https://example.org/hooks/1234")
        self.address.setAccessibleName("Address of the webhook")
        self.address.setMaxLength(webhook.LONGEST)
        self.address.textChanged.connect(self._show_address)
        about = QLabel(ABOUT)
        about.setWordWrap(True)
        theme.mark(about, "role", "muted")
        self.state.setWordWrap(True)
        self.state.setMinimumHeight(2 * self.state.fontMetrics().lineSpacing())
        self.test_button = QPushButton("Send a test message")
        self.test_button.setAutoDefault(False)
        self.test_button.clicked.connect(self._send_test)
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel)
        self.buttons.addButton(self.test_button, QDialogButtonBox.ButtonRole.ActionRole)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 16)
        column.setSpacing(12)
        for part in (about, self.address, self.state, self.buttons):
            column.addWidget(part)
        self.setFixedWidth(WIDTH)
        self._show_address()
        if damage:
            self._say(damage, is_bad=True)

    def accept(self) -> None:
        """Store the address and close; a message says why it cannot be."""
        if self._is_stored():
            super().accept()

    def done(self, result: int) -> None:
        """Close; a test message that is on its way is not waited for."""
        if self._request is not None:
            self._server.cancel(self._request)
        super().done(result)

    def _is_stored(self) -> bool:
        try:
            webhook.store(self.address.text().strip())
        except UserError as error:
            self._say(str(error), is_bad=True)
            return False
        return True

    def _show_address(self) -> None:
        """Show the host of the address, which is no secret."""
        text = self.address.text().strip()
        host = webhook.host_of(text) if text else ""
        self._say(f"Tells {host}." if host and host != "?" else "")
        self.test_button.setEnabled(bool(text) and self._request is None)

    def _send_test(self) -> None:
        if not self._is_stored():
            return
        self._say("Sending…")
        self.test_button.setEnabled(False)
        self._request = self._server.ask(OPERATION, NotifyRequest(test=True), self._on_sent, self._on_failed)

    def _on_sent(self, answer: Mapping[str, Any]) -> None:
        self._request = None
        self._show_address()
        self._say(f"{answer['webhook_host']} took the test message.")

    def _on_failed(self, reason: str) -> None:
        self._request = None
        self._show_address()
        self._say(reason, is_bad=True)

    def _say(self, text: str, *, is_bad: bool = False) -> None:
        self.state.setText(text)
        theme.mark(self.state, "role", "error" if is_bad else "muted")
