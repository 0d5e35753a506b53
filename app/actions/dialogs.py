"""What menu entries do that open a dialog, a method for each row of the table of actions."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.window import MainWindow


class DialogActions:
    """Opens the dialogs of one window. Each is imported with its first use."""

    def __init__(self, window: "MainWindow") -> None:
        self._window = window

    def find_command(self) -> None:
        from app.dialogs.commands import CommandFinder

        CommandFinder(self._window.actions_by_id, self._window).exec()

    def export_network(self) -> None:
        from app.dialogs.export import export_dialog

        export_dialog(self._window)

    def save_picture(self) -> None:
        from app.dialogs.picture import ask_and_save

        ask_and_save(self._window)

    def compare_with(self) -> None:
        from app.dialogs.compare import compare_with

        compare_with(self._window)

    def show_shortcuts(self) -> None:
        from app.dialogs.about import show_shortcuts

        show_shortcuts(self._window)

    def show_devices(self) -> None:
        from app.dialogs.devices import DevicesDialog

        dialog = DevicesDialog(self._window)
        dialog.start()
        dialog.exec()
        dialog.deleteLater()

    def show_about(self) -> None:
        from app.dialogs.about import show_about

        show_about(self._window)
