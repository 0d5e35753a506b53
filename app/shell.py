"""Services of the window for all of its parts."""

from typing import Protocol

from PySide6.QtWidgets import QWidget

from netwright.app.documents import Documents
from netwright.app.processes import EngineServer
from netwright.designer.editor import Editor


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
        """Bring a tab to the front: "design", "data", "train", "test", "experiments" or "start"."""
