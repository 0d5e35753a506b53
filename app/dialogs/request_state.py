"""One request of a dialog to the engine: a bar and a line of text for its progress, its end, its error; its buttons."""

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from netwright.app.data.dataset_tracker import progress_text
from netwright.app.dialog import Dialog
from netwright.app.messages import breakable
from netwright.app.processes import NO_HOSTS, EngineServer
from netwright.designer import theme
from netwright.designer.language import tr, translation
from netwright.engine.operations.operation import Operation, Request

FULL = 1000


class RequestState(QWidget):
    """Shows nothing until there is something to say."""

    def __init__(self) -> None:
        super().__init__()
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.hide()
        self.label = QLabel()
        self.label.setWordWrap(True)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.label.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(self.bar)
        column.addWidget(self.label)

    def set_busy(self, *, is_busy: bool) -> None:
        """Show the bar, which moves until progress is told, or hide it."""
        self.bar.setRange(0, 0)
        self.bar.setVisible(is_busy)

    def show_progress(self, label: str, progress: dict[str, Any]) -> None:
        """Show how far the request is: `label` is 'Importing' or the like."""
        count, total = int(progress["done"]), int(progress["total"])
        self.bar.setRange(0, FULL if total else 0)
        self.bar.setValue(min(FULL, FULL * count // total) if total else 0)
        self.say(tr("{action}: {progress}", action=label, progress=progress_text(progress)), "help")

    def say(self, text: str, role: str) -> None:
        """Show a text in the colour of a role: 'help' or 'error'."""
        theme.mark(self.label, "role", role)
        self.label.setText(breakable(text))
        self.label.show()
        self.label.ensurePolished()
        self.label.setMinimumHeight(max(0, self.label.heightForWidth(self.width())))

    def text(self) -> str:
        """Return the text of the label."""
        return self.label.text()


class RequestDialog(Dialog):
    """A dialog that makes one request to the engine at a time: `go` starts it, `cancel` stops it or closes."""

    cancelled = ""
    """What is said once a request was cancelled."""
    progress = ""
    """What the request does: 'Importing' or the like."""

    def __init__(self, server: EngineServer, action: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._server = server
        self._request: int | None = None
        self.state = RequestState()
        self.cancel, self.go = QPushButton(tr("Cancel")), QPushButton(action)
        self.cancel.setAutoDefault(False)
        self.cancel.clicked.connect(self._on_cancel)
        self.go.setDefault(True)
        theme.mark(self.go, "primary", True)
        self.go.clicked.connect(self.start)

    def start(self) -> None:
        """Make the request."""
        raise NotImplementedError

    def set_busy(self, *, is_busy: bool) -> None:
        """Disable what must not change during a request."""
        self.state.set_busy(is_busy=is_busy)

    def row_of_buttons(self) -> QHBoxLayout:
        """Return both buttons at the right."""
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.cancel)
        row.addWidget(self.go)
        return row

    def _ask(
        self,
        operation: Operation[Any, Any],
        request: Request,
        take: Callable[[dict[str, Any]], None],
        hosts: Mapping[str, int] = NO_HOSTS,
    ) -> None:
        """Ask the engine, and show how far it is; `take` gets its answer. `hosts`: see `EngineServer.ask`."""

        def on_answer(answer: dict[str, Any]) -> None:
            self._request = None
            take(answer)

        self.set_busy(is_busy=True)
        self._request = self._server.ask(
            operation, request, on_answer, self._fail, on_progress=self._on_progress, hosts=hosts
        )

    def _fail(self, message: str) -> None:
        self._end()
        self.state.say(message, "error")

    def _on_progress(self, progress: dict[str, Any]) -> None:
        self.state.show_progress(translation(self.progress), progress)

    def _end(self) -> None:
        self._request = None
        self.set_busy(is_busy=False)

    def _on_cancel(self) -> None:
        """Stop the request; where none is under way, close."""
        if self._request is None:
            self.reject()
            return
        self._server.cancel(self._request)
        self._end()
        self.state.say(translation(self.cancelled), "help")

    def done(self, result: int) -> None:
        """Cancel a request that is under way."""
        if self._request is not None:
            self._server.cancel(self._request)
            self._request = None
        super().done(result)
