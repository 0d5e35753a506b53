"""Services of the window for all of its parts."""

from typing import Any, Protocol

from PySide6.QtWidgets import QWidget

from netwright.app.documents import Documents
from netwright.app.processes import EngineServer
from netwright.designer.editor import Editor
from netwright.designer.language import tr
from netwright.engine.core.errors import UserError
from netwright.engine.core.part_registry import entry
from netwright.engine.project.transferred_layers import layer_path


class Shell(Protocol):
    """The open project, the engine, and the ways to reach the user. The main window implements it; a part that needs
    more takes it as an argument or emits a signal."""

    editor: Editor
    documents: Documents
    server: EngineServer

    @property
    def dialog_parent(self) -> QWidget:
        """The widget that dialogs are centred on."""

    def hint(self, text: str) -> None:
        """Show a message in the status bar for a few seconds."""

    def show_error(self, title: str, text: str) -> None:
        """Show a message that has to be confirmed."""

    def show_tab(self, key: str) -> None:
        """Bring a tab to the front: "data", "design", "runs" or "start"."""


def select_layer(shell: Shell, path: str) -> None:
    """Show a layer on the canvas behind the dialog, by its path of names; one that was removed is not there."""
    try:
        *outer, id = layer_path(shell.editor.project.network, path)
    except UserError:
        return
    shell.show_tab("design")
    shell.editor.open_scope(outer)
    shell.editor.set_selection({id})


def open_dialog(name: str, shell: Shell, *values: object) -> Any:
    """Open a dialog of a part, and return what it answers; None, and a hint, where no part has it."""
    if (dialog := entry("dialogs", name)) is None:
        shell.hint(tr("This installation has no part for that."))
        return None
    return dialog(shell, *values)
