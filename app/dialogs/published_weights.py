"""Choose published weights from the address book; nothing is downloaded before its button is pressed."""

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from netwright.app.dialog import Dialog
from netwright.app.dialogs.request_state import RequestState
from netwright.app.messages import breakable
from netwright.app.processes import EngineServer
from netwright.app.widgets import within_screen
from netwright.designer import theme
from netwright.designer.forms.row import section_label
from netwright.engine.core.text import format_bytes
from netwright.engine.project.published_weights import Published, published

WIDTH, HEIGHT = 720, 460
DOWNLOAD, USE = "Download", "Use"


class PublishedDialog(Dialog):
    """Lists published weights with address, size and licence. After `exec` returned Accepted, `chosen` lies here."""

    def __init__(self, server: EngineServer, template: str = "", parent: QWidget | None = None) -> None:
        """Entries for `template` come first. Raises `UserError` for an address book that cannot be read."""
        super().__init__(parent)
        self._server = server
        self._request: int | None = None
        self.chosen: Published | None = None
        entries = sorted(published().values(), key=lambda entry: (entry.template != template, entry.name))
        self.setWindowTitle("Published weights")
        self.resize(within_screen(self, WIDTH, HEIGHT))
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 16)
        column.setSpacing(12)
        body = QHBoxLayout()
        body.setSpacing(16)
        self.list = QListWidget()
        self.list.setAccessibleName("Published weights")
        self.list.setUniformItemSizes(True)
        self.list.ensurePolished()  # else Qt measures the rows before they are dressed
        for entry in entries:
            item = QListWidgetItem(entry.title or entry.name)
            item.setData(Qt.ItemDataRole.UserRole, entry)
            self.list.addItem(item)
        body.addWidget(self.list, 2)
        body.addLayout(self._make_details(), 3)
        column.addLayout(body, 1)
        self.state = RequestState()
        column.addWidget(self.state)
        column.addLayout(self._make_buttons())
        self.list.currentItemChanged.connect(self._show_entry)
        self.list.itemActivated.connect(lambda _: self._go())
        self.list.setCurrentRow(0)
        self._show_entry()

    def _make_details(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(4)
        self._facts: dict[str, QLabel] = {}
        for name in ("Classes", "Size", "Address", "Licence", "Checksum", "Here"):
            label = QLabel()
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(section_label(name))
            column.addWidget(label)
            column.addSpacing(8)
            self._facts[name] = label
        column.addStretch(1)
        return column

    def _make_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addStretch(1)
        self.cancel = QPushButton("Cancel")
        self.cancel.setAutoDefault(False)
        self.cancel.clicked.connect(self._on_cancel)
        self.go = QPushButton(DOWNLOAD)
        self.go.setDefault(True)
        theme.mark(self.go, "primary", True)
        self.go.clicked.connect(self._go)
        row.addWidget(self.cancel)
        row.addWidget(self.go)
        return row

    @property
    def entry(self) -> Published | None:
        """The entry that is selected."""
        item = self.list.currentItem()
        selection: Published | None = None if item is None else item.data(Qt.ItemDataRole.UserRole)
        return selection

    def _show_entry(self, _: object = None) -> None:
        entry = self.entry
        self.go.setEnabled(entry is not None and self._request is None)
        if entry is None:
            return
        is_here = entry.is_here
        texts = {
            "Classes": entry.classes or "Not said",
            "Size": format_bytes(entry.bytes) if entry.bytes else "Not said by the publisher",
            "Address": entry.url,
            "Licence": entry.licence or "Not said by the publisher",
            "Checksum": f"SHA-256 {entry.sha256}{'…' if len(entry.sha256) < 64 else ''}",
            "Here": str(entry.path) if is_here else "Not downloaded yet",
        }
        for name, text in texts.items():
            self._facts[name].setText(breakable(text))
        self.go.setText(USE if is_here else DOWNLOAD)

    def _go(self) -> None:
        """Use the weights; download them first where they are not stored."""
        entry = self.entry
        if entry is None or self._request is not None:
            return
        if entry.is_here:
            self._accept(entry)
            return
        self.list.setEnabled(False)
        self.state.set_busy(is_busy=True)
        self.state.say(f"Downloading {entry.file}…", "help")
        self._request = self._server.request(
            "fetch_weights", {"name": entry.name}, lambda _: self._accept(entry), self._fail, self._on_progress
        )
        self.go.setEnabled(False)

    def _accept(self, entry: Published) -> None:
        self._request = None
        self.chosen = entry
        self.accept()

    def _fail(self, message: str) -> None:
        self._end()
        self.state.say(message, "error")

    def _on_progress(self, progress: dict[str, Any]) -> None:
        self.state.show_progress("Downloading", progress)

    def _end(self) -> None:
        self._request = None
        self.state.set_busy(is_busy=False)
        self.list.setEnabled(True)
        self._show_entry()

    def _on_cancel(self) -> None:
        if self._request is None:
            self.reject()
            return
        self._server.cancel(self._request)
        self._end()
        self.state.say("The download was cancelled; it goes on from there the next time.", "help")

    def done(self, result: int) -> None:
        """Stop a download that is under way."""
        if self._request is not None:
            self._server.cancel(self._request)
            self._request = None
        super().done(result)
