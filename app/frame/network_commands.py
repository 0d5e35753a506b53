"""The commands of the Network menu: the user's own blocks, and the placement of the selected layers."""

from collections.abc import Callable

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QLineEdit, QVBoxLayout, QWidget

from netwright.app import messages
from netwright.app.block_library import BlockLibrary
from netwright.app.dialog import Dialog
from netwright.app.frame.tabs import DesignTab
from netwright.app.shell import Shell
from netwright.designer import auto_layout, clipboard, theme
from netwright.designer.editor import Editor
from netwright.designer.engine_messages import message_text
from netwright.designer.language import named, tr
from netwright.designer.panels.library_model import UserBlock
from netwright.engine.core.errors import UserError
from netwright.engine.network.arrangement import Direction, Edge
from netwright.engine.network.block import Block
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import NAME_LIMIT, name_refusal


class BlockCommands:
    """The user's own blocks in one window: in its palette, and among the suggestions on its canvas."""

    def __init__(self, shell: Shell, design: DesignTab, library: BlockLibrary | None = None) -> None:
        self._shell, self._design = shell, design
        self.library = library or BlockLibrary(parent=shell.dialog_parent)
        self.library.changed.connect(self._show)
        self.library.broken.connect(shell.hint)

    def start(self) -> None:
        """Read the library; called once the window is up."""
        self.library.start()

    def _show(self) -> None:
        self._design.palette.show_user_blocks(self.library.entries)
        self._design.canvas.suggestions.user_blocks = self.library.entries

    def add(self, entry: UserBlock) -> None:
        """Add a block to the network: behind the selected layer, else in the middle of the canvas."""
        try:
            piece = clipboard.read_block(entry.payload)
        except UserError as error:
            self._shell.hint(named(entry.name, message_text(error)))
            return
        self._shell.editor.add_layer(piece)

    def keep(self) -> None:
        """Save the selected block to the library, under a name that is asked for."""
        shell, editor = self._shell, self._shell.editor
        if len(editor.selection) != 1:
            return
        layer = editor.network.layers[next(iter(editor.selection))]
        if not isinstance(layer.type, Block):
            return
        self.library.refresh()
        name = ask_name(shell.dialog_parent, tr("Save to my blocks"), layer.name, tr("Save"))
        if name is None:
            return
        existing = self.library.find(name)
        if existing is not None:
            question = tr("Replace your block '{name}'?", name=existing.name)
            text = tr("The block that is saved now is lost.")
            if not messages.ask(shell.dialog_parent, question, text, tr("Replace")):
                return
        try:
            self.library.save(name, layer.type, editor.layout.within([layer.id]))
        except UserError as error:
            shell.show_error(tr("The block cannot be saved"), str(error))
            return
        shell.hint(tr("{name} was saved: it is in the layer library, under My blocks.", name=name))

    def rename(self, entry: UserBlock) -> None:
        """Ask for another name."""
        name = ask_name(self._shell.dialog_parent, tr("Rename my block"), entry.name, tr("Rename"))
        if name is None:
            return
        try:
            self.library.rename(entry.name, name)
        except UserError as error:
            self._shell.show_error(tr("The block cannot be renamed"), str(error))

    def remove(self, entry: UserBlock) -> None:
        """Move a block to the trash; where there is none, ask and delete it permanently."""
        shell = self._shell
        if self.library.move_to_trash(entry.name):
            shell.hint(tr("{name} is in the trash now.", name=entry.name))
            return
        if self.library.find(entry.name) is None:
            return
        question = tr("Delete your block '{name}'?", name=entry.name)
        text = tr("It cannot be moved to the trash here, so it is lost. Networks that use it keep their copies.")
        if messages.ask(shell.dialog_parent, question, text, tr("Delete")):
            try:
                self.library.remove(entry.name)
            except UserError as error:
                shell.show_error(tr("The block cannot be deleted"), str(error))


class BlockName(Dialog):
    """Asks for the name of a block, and checks it while it is typed."""

    def __init__(self, parent: QWidget, title: str, name: str, do_it: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setMinimumWidth(380)
        self.line = QLineEdit(name)
        self.line.setAccessibleName(tr("Name of the block"))
        self.line.setMaxLength(NAME_LIMIT)
        self.line.selectAll()
        self.line.textChanged.connect(self._check)
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
        label = QLabel(tr("&Name"))
        label.setBuddy(self.line)
        for widget in (label, self.line, self.why):
            column.addWidget(widget)
        column.addSpacing(8)
        column.addWidget(self.buttons)
        self._check(name)

    def _check(self, text: str) -> None:
        refusal = name_refusal(text, ())
        theme.mark(self.line, "invalid", "true" if refusal else "false")
        theme.mark(self.why, "role", "error" if refusal else "help")
        self.why.setText(refusal or tr("New layers made from it get this name, with a number if it is taken."))
        self.ok.setEnabled(refusal is None)


def ask_name(parent: QWidget, title: str, name: str, do_it: str) -> str | None:
    """Ask for the name of a block. Return None if the dialog was cancelled."""
    dialog = BlockName(parent, title, name, do_it)
    is_taken = dialog.exec() == QDialog.DialogCode.Accepted
    text = dialog.line.text()
    dialog.deleteLater()
    return text if is_taken else None


class AlignCommands:
    """Aligns, distributes and arranges the selection of one editor. `show` is given the layout from before."""

    def __init__(self, editor: Editor, show: Callable[[Layout], None]) -> None:
        self._editor = editor
        self._show = show

    def align(self, edge: Edge) -> None:
        """Align the selected layers along an edge or a middle."""
        before = self._editor.layout
        auto_layout.align_selection(self._editor, edge)
        self._show(before)

    def distribute(self, direction: Direction) -> None:
        """Distribute the selected layers at equal distances."""
        before = self._editor.layout
        auto_layout.distribute_selection(self._editor, direction)
        self._show(before)

    def arrange(self) -> None:
        """Lay out only the selected layers, where they are."""
        before = self._editor.layout
        auto_layout.arrange_selection(self._editor)
        self._show(before)
