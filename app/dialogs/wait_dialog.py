"""Dialog that waits for an operation of the engine which writes a file."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QProgressDialog

from netwright.app.shell import Shell
from netwright.designer.language import tr
from netwright.engine.operations.operation import Operation, Request

WIDTH = 420


class WaitDialog(QProgressDialog):
    """Asks the engine at once, and closes with its answer or its refusal, which a message titled `failure` shows.
    Cancelling ends the operation, which leaves no file."""

    def __init__(
        self, shell: Shell, operation: Operation[Any, Any], request: Request, *, title: str, doing: str, failure: str
    ) -> None:
        super().__init__(doing, tr("Cancel"), 0, 0, shell.dialog_parent)
        self.setWindowTitle(title)
        self.setMinimumDuration(0)
        self.setMinimumWidth(WIDTH)
        self.setAutoClose(False)
        self._shell, self._failure = shell, failure
        self._request = shell.server.ask(operation, request, self._on_finished, self._on_failed)
        self.canceled.connect(self._on_canceled)
        self.show()

    def finish(self, answer: Mapping[str, Any]) -> None:
        """Show the answer, once the dialog is closed."""
        raise NotImplementedError

    def _on_finished(self, answer: Mapping[str, Any]) -> None:
        self._close()
        self.finish(answer)

    def _on_failed(self, reason: str) -> None:
        self._close()
        self._shell.show_error(self._failure, reason)

    def _on_canceled(self) -> None:
        self._shell.server.cancel(self._request)
        self._close()

    def _close(self) -> None:
        self.canceled.disconnect(self._on_canceled)  # closing counts as cancelling
        self.close()
        self.deleteLater()
