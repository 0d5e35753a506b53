"""Import a file of another program: where the project goes, progress with Cancel, and errors in words."""

import os
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
)

from app import messages
from app.data.dataset_tracker import progress_text
from app.messages import breakable
from app.processes import EngineServer
from app.widgets import ElidedLabel
from designer import theme
from engine.project.file import SUFFIX

LEAST_WIDTH, FULL = 560, 1000
SIZES_HELP = "For sizes that the file leaves free. Usually not needed"


def free_name(source: Path, folder: Path) -> Path:
    """Return a project file that does not exist, named after the imported file, with a number if it is taken."""
    stem, number = source.stem or "network", 1
    while (path := folder / f"{stem}{'' if number == 1 else f'_{number}'}{SUFFIX}").exists():
        number += 1
    return path


def writable_folder(folder: Path) -> Path:
    """Return a folder, or the home folder where nothing can be written to it."""
    return folder if os.access(folder, os.W_OK) else Path.home()


class ImportDialog(QDialog):
    """Imports one file through the engine. After `exec` returned Accepted, `report` is the engine's answer."""

    def __init__(self, server: EngineServer, source: Path, target: Path, parent: Any = None) -> None:
        super().__init__(parent)
        self._server, self._source = server, source
        self._browsed = ""
        self._request: int | None = None
        self.report: dict[str, Any] = {}
        self.setWindowTitle("Import network")
        self.setMinimumWidth(LEAST_WIDTH)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 16)
        column.setSpacing(12)
        title = ElidedLabel(f"Import {source.name}")
        title.setText(f"Import {source.name}", note=str(source))
        theme.mark(title, "role", "title")
        column.addWidget(title)
        what = QLabel("The network becomes a project that can be edited and trained, with its weights beside it.")
        what.setWordWrap(True)
        theme.mark(what, "role", "help")
        column.addWidget(what)
        column.addLayout(self._make_fields(target))
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.hide()
        self.state = QLabel()
        self.state.setWordWrap(True)
        self.state.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.state.hide()
        column.addWidget(self.bar)
        column.addWidget(self.state)
        column.addStretch(1)
        column.addLayout(self._make_buttons())

    def _make_fields(self, target: Path) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        self.target = QLineEdit(str(target))
        self.target.setAccessibleName("Project to write")
        self.browse = QPushButton("Browse…")
        self.browse.setAutoDefault(False)
        self.browse.clicked.connect(self._choose_target)
        self.sizes = QLineEdit()
        self.sizes.setPlaceholderText("height=224, width=224")
        self.sizes.setAccessibleName("Sizes that the file leaves free")
        self.sizes.setToolTip(SIZES_HELP)
        for row, (text, field) in enumerate((("&Project", self.target), ("&Free sizes", self.sizes))):
            label = QLabel(text)
            label.setBuddy(field)
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
        grid.addWidget(self.browse, 0, 2)
        note = QLabel(SIZES_HELP)
        theme.mark(note, "role", "help")
        grid.addWidget(note, 2, 1)
        return grid

    def _make_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addStretch(1)
        self.cancel = QPushButton("Cancel")
        self.cancel.setAutoDefault(False)
        self.cancel.clicked.connect(self._on_cancel)
        self.start_button = QPushButton("Import")
        self.start_button.setDefault(True)
        theme.mark(self.start_button, "primary", True)
        self.start_button.clicked.connect(self.start)
        row.addWidget(self.cancel)
        row.addWidget(self.start_button)
        return row

    def _choose_target(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            self, "Save the imported project", self.target.text(), f"Netwright projects (*{SUFFIX})"
        )
        if name:
            self._browsed = name  # that dialog has asked whether to replace it
            self.target.setText(name)

    def start(self) -> None:
        """Ask the engine for the import; an existing project is replaced only after a question."""
        text = self.target.text().strip()
        if not text:
            self._say("Choose where to save the project.", "error")
            return
        target = Path(text).expanduser()
        if target.suffix != SUFFIX:
            target = target.with_name(target.name + SUFFIX)
        is_replaced = target.exists()
        if is_replaced and str(target) != self._browsed:
            title, what = f"Replace {target.name}?", f"It exists in {target.parent}; its network and weights are lost."
            if not messages.ask(self, title, what, "Replace"):
                return
        sizes, refusal = sizes_in(self.sizes.text())
        if refusal:
            self._say(refusal, "error")
            return
        values = {"path": str(self._source), "to": str(target), "sizes": sizes, "replaces": is_replaced}
        self._set_busy(is_busy=True)
        self._say("Reading the file… the first time takes a few seconds.", "help")
        self._request = self._server.request("import", values, self._take, self._fail, self._on_progress)

    def _take(self, report: dict[str, Any]) -> None:
        self._request = None
        self.report = report
        self.accept()

    def _fail(self, message: str) -> None:
        self._request = None
        self._set_busy(is_busy=False)
        self._say(message, "error")

    def _on_progress(self, progress: dict[str, Any]) -> None:
        done, total = int(progress["done"]), int(progress["total"])
        self.bar.setRange(0, FULL if total else 0)
        self.bar.setValue(min(FULL, FULL * done // total) if total else 0)
        self._say(f"Importing: {progress_text(progress)}", "help")

    def _set_busy(self, *, is_busy: bool) -> None:
        self.bar.setRange(0, 0)
        self.bar.setVisible(is_busy)
        for widget in (self.target, self.sizes, self.browse, self.start_button):
            widget.setEnabled(not is_busy)

    def _say(self, text: str, role: str) -> None:
        theme.mark(self.state, "role", role)
        self.state.setText(breakable(text))
        self.state.show()
        self.state.ensurePolished()
        width = self.width() - 40
        self.state.setMinimumHeight(max(0, self.state.heightForWidth(width)))

    def _on_cancel(self) -> None:
        """Stop the import; where none is under way, close."""
        if self._request is None:
            self.reject()
            return
        self._stop()
        self._set_busy(is_busy=False)
        self._say("The import was cancelled. Nothing was opened.", "help")

    def _stop(self) -> None:
        if self._request is not None:
            self._server.cancel(self._request)
            self._request = None

    def done(self, result: int) -> None:
        """Cancel an import that is under way."""
        self._stop()
        super().done(result)


def sizes_in(text: str) -> tuple[dict[str, int], str]:
    """Return the sizes in a text such as `height=224, width=224`, and what is wrong with it, if anything."""
    sizes: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if not name or not number.isdecimal() or not 0 < int(number) <= 1_000_000_000:
            return {}, f"'{part}' is no size: expected a name and a whole number, such as height=224."
        sizes[name] = int(number)
    return sizes, ""
