"""What menu entries do that open a dialog, a method for each row of the table of actions."""

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from designer import theme

if TYPE_CHECKING:
    from app.window import MainWindow
    from designer.canvas.find_bar import FindBar
    from designer.canvas.legends import TintLegend


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


SETTING = "theme"


class ThemeActions:
    """Which theme one window has, and the choice of another, which is remembered."""

    def __init__(self, window: "MainWindow", scheme: theme.Scheme | None) -> None:
        self._window, self._settings = window, window.settings
        self.scheme: theme.Scheme = scheme or _known(self._settings.value(SETTING, "system"))
        self._apply()

    def system(self) -> None:
        self._choose("system")

    def light(self) -> None:
        self._choose("light")

    def dark(self) -> None:
        self._choose("dark")

    def _choose(self, scheme: theme.Scheme) -> None:
        self.scheme = scheme
        self._apply()
        self._settings.setValue(SETTING, scheme)
        self._window.update_actions()

    def _apply(self) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, self.scheme)


class CanvasActions:
    """Finds, arranges and tints layers on the canvas of one window."""

    def __init__(self, window: "MainWindow") -> None:
        self._window = window
        self._find_bar: FindBar | None = None
        self.legend: TintLegend | None = None

    @property
    def find_bar(self) -> "FindBar":
        """Made when first asked for."""
        if self._find_bar is None:
            from designer.canvas.find_bar import FindBar

            self._find_bar = FindBar(self._window.canvas)
        return self._find_bar

    def arrange_down(self) -> None:
        self._window.canvas.arrange("down")

    def arrange_right(self) -> None:
        self._window.canvas.arrange("right")

    def tint_layers(self) -> None:
        """Parameters, FLOPs, memory, no tint, and round again."""
        from designer.canvas.legends import TintLegend, next_kind

        scene = self._window.canvas.network_scene
        if self.legend is None:
            self.legend = TintLegend(self._window.canvas)
        scene.show_tint(next_kind(scene.tint.kind))


def _known(value: object) -> theme.Scheme:
    return value if value in ("system", "light", "dark") else "system"
