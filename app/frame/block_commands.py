"""What the window does with the user's own blocks: saves one, adds one, renames and deletes, with the questions."""

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QLineEdit, QVBoxLayout, QWidget

from app import messages
from app.block_library import BlockLibrary
from designer import clipboard, theme
from designer.panels.library_model import OwnEntry
from engine.core.errors import UserError
from engine.network.block import Block
from engine.network.network import NAME_LIMIT, name_refusal

if TYPE_CHECKING:
    from app.window import MainWindow


class BlockActions:
    """The user's own blocks in one window: in its palette and where layers are offered."""

    def __init__(self, window: "MainWindow", library: BlockLibrary | None = None) -> None:
        self._window = window
        self.library = library or BlockLibrary(parent=window)
        self.library.changed.connect(self._show)
        self.library.broken.connect(window.hint)

    def start(self) -> None:
        """Read the library, once the window is up."""
        self.library.start()

    def _show(self) -> None:
        self._window.palette_panel.show_own(self.library.entries)
        self._window.canvas.suggestions.own = self.library.entries

    def add(self, entry: OwnEntry) -> None:
        """Add a block to the network: behind the selected layer, else to the middle of the canvas."""
        try:
            made = clipboard.read_block(entry.payload)
        except UserError as error:
            self._window.hint(f"{entry.name}: {error}")
            return
        self._window.editor.add_layer(made)

    def keep(self) -> None:
        """Save the selected block to the library, under a name that is asked for."""

        window, editor = self._window, self._window.editor
        if len(editor.selection) != 1:
            return
        layer = editor.network.layers[next(iter(editor.selection))]
        if not isinstance(layer.type, Block):
            return
        self.library.refresh()
        name = ask_name(window, "Save to my blocks", layer.name, "Save")
        if name is None:
            return
        known = self.library.find(name)
        question = f"Replace your block '{known.name}'?" if known is not None else ""
        if question and not messages.ask(window, question, "The one that is saved now is lost.", "Replace"):
            return
        try:
            self.library.save(name, layer.type, editor.layout.within([layer.id]))
        except UserError as error:
            window.show_error("The block cannot be saved", str(error))
            return
        window.hint(f"{name} is among your blocks now: in the layer library, below My blocks.")

    def rename(self, entry: OwnEntry) -> None:
        """Ask for another name."""

        name = ask_name(self._window, "Rename my block", entry.name, "Rename")
        if name is None:
            return
        try:
            self.library.rename(entry.name, name)
        except UserError as error:
            self._window.show_error("The block cannot be renamed", str(error))

    def remove(self, entry: OwnEntry) -> None:
        """Move a block to the bin; where there is none, ask and remove it for good."""
        window = self._window
        if self.library.to_bin(entry.name):
            window.hint(f"{entry.name} is in the bin now.")
            return
        if self.library.find(entry.name) is None:
            return
        text = "It cannot be moved to a bin here, so it is lost. Networks that use it keep their copies."
        if messages.ask(window, f"Delete your block '{entry.name}'?", text, "Delete"):
            try:
                self.library.remove(entry.name)
            except UserError as error:
                window.show_error("The block cannot be deleted", str(error))


class BlockName(QDialog):
    """One line, judged while it is typed."""

    def __init__(self, parent: QWidget, title: str, name: str, do_it: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setMinimumWidth(380)
        self.line = QLineEdit(name)
        self.line.setAccessibleName("Name of the block")
        self.line.setMaxLength(NAME_LIMIT)
        self.line.selectAll()
        self.line.textChanged.connect(self._judge)
        self.why = QLabel()
        self.why.setWordWrap(True)
        theme.mark(self.why, "role", "help")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setText(do_it)
        theme.mark(self.ok, "primary", True)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(8)
        label = QLabel("&Name")
        label.setBuddy(self.line)
        for widget in (label, self.line, self.why):
            column.addWidget(widget)
        column.addSpacing(8)
        column.addWidget(self.buttons)
        self._judge(name)

    def _judge(self, text: str) -> None:
        why = name_refusal(text, ())
        theme.mark(self.line, "invalid", "true" if why else "false")
        theme.mark(self.why, "role", "error" if why else "help")
        self.why.setText(why or "A new layer made from it gets this name, with a number where it is taken.")
        self.ok.setEnabled(why is None)


def ask_name(parent: QWidget, title: str, name: str, do_it: str) -> str | None:
    """The name, or None if it was given up."""
    dialog = BlockName(parent, title, name, do_it)
    is_taken = dialog.exec() == QDialog.DialogCode.Accepted
    chosen = dialog.line.text()
    dialog.deleteLater()
    return chosen if is_taken else None
