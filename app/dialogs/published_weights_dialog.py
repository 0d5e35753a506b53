"""Choose published weights from the address book; nothing is downloaded before its button is pressed."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from netwright.app.dialogs.request_state import RequestDialog
from netwright.app.messages import breakable
from netwright.app.processes import EngineServer
from netwright.app.widgets import within_screen
from netwright.designer.forms.row import section_label
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.text import format_bytes
from netwright.engine.operations.weights_files import FETCH, FetchRequest
from netwright.engine.project.published_weights import Published, published

WIDTH, HEIGHT = 720, 460
DOWNLOAD, USE = noop("Download"), noop("Use")
FACTS = (noop("Classes"), noop("Size"), noop("Address"), noop("Licence"), noop("Checksum"), noop("Here"))


class PublishedDialog(RequestDialog):
    """Lists published weights with address, size and licence. After `exec` returned Accepted, `chosen` lies here."""

    progress = noop("Downloading")
    cancelled = noop("The download was cancelled; it goes on from there the next time.")

    def __init__(self, server: EngineServer, template: str = "", parent: QWidget | None = None) -> None:
        """Entries for `template` come first. Raises `UserError` for an address book that cannot be read."""
        super().__init__(server, translation(DOWNLOAD), parent)
        self.chosen: Published | None = None
        entries = sorted(published().values(), key=lambda entry: (entry.template != template, entry.name))
        self.setWindowTitle(tr("Published weights"))
        self.resize(within_screen(self, WIDTH, HEIGHT))
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 16)
        column.setSpacing(12)
        body = QHBoxLayout()
        body.setSpacing(16)
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Published weights"))
        self.list.setUniformItemSizes(True)
        self.list.ensurePolished()  # else Qt measures the rows before they are dressed
        for entry in entries:
            item = QListWidgetItem(entry.title or entry.name)
            item.setData(Qt.ItemDataRole.UserRole, entry)
            self.list.addItem(item)
        body.addWidget(self.list, 2)
        body.addLayout(self._make_details(), 3)
        column.addLayout(body, 1)
        column.addWidget(self.state)
        column.addLayout(self.row_of_buttons())
        self.list.currentItemChanged.connect(self._show_entry)
        self.list.itemActivated.connect(lambda _: self.start())
        self.list.setCurrentRow(0)
        self._show_entry()

    def _make_details(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(4)
        self._facts: dict[str, QLabel] = {}
        for name in FACTS:
            label = QLabel()
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(section_label(translation(name)))
            column.addWidget(label)
            column.addSpacing(8)
            self._facts[name] = label
        column.addStretch(1)
        return column

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
            "Classes": entry.classes or tr("Not said"),
            "Size": format_bytes(entry.bytes) if entry.bytes else tr("Not said by the publisher"),
            "Address": entry.url,
            "Licence": entry.licence or tr("Not said by the publisher"),
            "Checksum": " ".join(("SHA-256", entry.sha256 if len(entry.sha256) == 64 else f"{entry.sha256}…")),
            "Here": str(entry.path) if is_here else tr("Not downloaded yet"),
        }
        for name, text in texts.items():
            self._facts[name].setText(breakable(text))
        self.go.setText(translation(USE if is_here else DOWNLOAD))

    def start(self) -> None:
        """Use the weights; download them first where they are not stored."""
        entry = self.entry
        if entry is None or self._request is not None:
            return
        if entry.is_here:
            self._accept(entry)
            return
        self.state.say(tr("Downloading {file}…", file=entry.file), "help")
        self._ask(FETCH, FetchRequest(name=entry.name), lambda _: self._accept(entry))

    def _accept(self, entry: Published) -> None:
        self.chosen = entry
        self.accept()

    def set_busy(self, *, is_busy: bool) -> None:
        """Keep the entry that is downloaded."""
        super().set_busy(is_busy=is_busy)
        self.list.setEnabled(not is_busy)
        self._show_entry()
        self.go.setEnabled(not is_busy)
