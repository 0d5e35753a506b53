"""The commands behind menu entries: dialogs, the theme, and what is found and measured on the canvas."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtWidgets import QApplication, QFileDialog

from netwright.app.data.dataset_tracker import DatasetTracker
from netwright.app.frame.canvas_overlays import LayerTimesOverlay
from netwright.app.frame.tabs import DesignTab
from netwright.app.processes import OnError, OnResult
from netwright.app.runs.execution_environment import ExecutionEnvironment
from netwright.app.shell import Shell, open_dialog
from netwright.app.training import Training
from netwright.app.user_code_tracker import UserCodeTracker
from netwright.app.widgets import within_screen
from netwright.designer import theme
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.operations.data_requests import PREVIEW, PreviewRequest
from netwright.engine.project.project import Project
from netwright.engine.project.sweeps import with_parameter, without_parameter

if TYPE_CHECKING:
    from PySide6.QtPrintSupport import QPrinter

    from netwright.designer.canvas.find_bar import FindBar

SETTING, TEXT_SIZE = "theme", "text_size"
PICTURES = {
    ".png": noop("PNG picture (*.png)"),
    ".svg": noop("SVG drawing (*.svg)"),
    ".pdf": noop("PDF document (*.pdf)"),
}


class SweepCommands:
    """Lets values of the project vary in its experiment, wherever they stand, and leads to where they are edited."""

    def __init__(self, shell: Shell, show: Callable[[], None]) -> None:
        """`show` shows the page of experiments."""
        self._shell, self.show = shell, show

    def begin(self, path: str) -> None:
        """Let the value at a path vary, around the present one, and show how all values vary."""
        if self._shell.editor.edit(tr("Vary {path}", path=path), lambda project: with_parameter(project, path)):
            self.show()

    def end(self, path: str) -> None:
        """Let the value at a path vary no more."""
        self._shell.editor.edit(tr("Vary {path} no more", path=path), lambda project: without_parameter(project, path))


class DialogCommands:
    """Opens the dialogs of one window. Each is imported with its first use."""

    def __init__(
        self,
        shell: Shell,
        design: DesignTab,
        dataset: DatasetTracker,
        user_code: UserCodeTracker,
        environment: ExecutionEnvironment,
        training: Training,
        sweeps: SweepCommands,
    ) -> None:
        self._shell, self._design = shell, design
        self._sweeps = sweeps
        self._dataset, self._user_code = dataset, user_code
        self._environment, self._training = environment, training

    def edit_training_options(self, page: str = "") -> bool:
        """Open the Training Options, perhaps with one of their pages. Return whether they were confirmed."""
        from netwright.app.dialogs.training_options import TrainingOptionsDialog

        editor, base = self._shell.editor, self._shell.documents.base
        inventory, info = self._environment.inventory, self._dataset.info
        parent = self._shell.dialog_parent
        dialog = TrainingOptionsDialog(editor.project, inventory, info, parent, base=base, sampler=self._sample)
        if page:
            dialog.show_page(page)
        follow = self._training.state_changed.connect(lambda: dialog.set_running(self._training.is_running))
        dialog.set_running(self._training.is_running)
        dialog.change_requested.connect(lambda: self._training.request("set"))
        self._environment.inventory_changed.connect(dialog.set_inventory)  # the engine may answer while it is open
        is_confirmed = bool(dialog.exec())
        if is_confirmed:
            project = dialog.project()
            changed = replace(editor.project, training=project.training, environment=project.environment)
            changed = changed.with_section("experiment", project.experiment)
            if changed != editor.project:
                editor.apply(tr("Change training options"), changed)
            if dialog.sweeps.leads_to_search:
                self._sweeps.show()
        self._training.state_changed.disconnect(follow)
        dialog.deleteLater()
        return is_confirmed

    def _sample(self, project: Project, folder: str, count: int, epoch: int, show: OnResult, fail: OnError) -> None:
        """Ask for pictures of samples as a project changes them in an epoch."""
        documents = self._shell.documents
        request = PreviewRequest.of(project, documents.base, folder, count, epoch)
        self._shell.server.ask(PREVIEW, request, show, fail, hosts=documents.hosts)

    def trust_code(self) -> None:
        """Ask whether the project's folder is trusted."""
        self._user_code.review()

    def export_network(self) -> None:
        """Export the network, or the weights of the run that is shown."""
        if self._user_code.ask():
            self._training.catch_up()  # the last run of a project that was just opened: nobody has looked at it yet
            open_dialog("export_network", self._shell, self._training, self._dataset.info)

    def export_report(self) -> None:
        """Write the report of the run that is shown."""
        self._training.catch_up()  # the last run of a project that was just opened: nobody has looked at it yet
        if (run := self._training.run_folder) is not None:
            open_dialog("run_report", self._shell, run.path)
        else:
            text = tr("A report is about a run: train the network, or choose a run in Runs.")
            self._shell.show_error(tr("There is no run yet"), text)

    def show_tune(self) -> None:
        """Search better values for the open project."""
        if self._user_code.ask():
            open_dialog("tune", self._shell)

    def show_doctor(self, kind: str = "") -> None:
        """Examine the open project, and show what is wrong with it; first what explains a finding about a run."""
        if self._user_code.ask():
            open_dialog("doctor", self._shell, kind)

    def open_run(self) -> None:
        """Ask for the folder of a run, and show it."""
        from netwright.engine.runs.folder import open_run

        shell = self._shell
        start = str(shell.documents.folder / "runs")
        name = QFileDialog.getExistingDirectory(shell.dialog_parent, tr("Open the folder of a run"), start)
        if not name:
            return
        try:
            self._training.follow(open_run(Path(name)))
        except UserError as error:
            shell.show_error(tr("This is not a run"), str(error))
            return
        shell.show_tab("runs")

    def save_picture(self) -> None:
        """Save the whole network as a picture."""
        from netwright.designer.scene.picture_file import FORMATS, save_picture

        shell = self._shell
        stem = Path(shell.documents.title).stem
        start = str(shell.documents.folder / f"{stem}{FORMATS[0]}")
        filters = ";;".join(map(translation, PICTURES.values()))
        name, pattern = QFileDialog.getSaveFileName(shell.dialog_parent, tr("Save picture"), start, filters)
        if not name:
            return
        path = with_suffix_of(Path(name), pattern)
        try:
            save_picture(self._design.canvas.network_scene, path, stem)
        except UserError as error:
            shell.show_error(tr("The picture cannot be saved"), str(error))
            return
        shell.hint(tr("Saved {file}.", file=path.name))

    def print_network(self) -> None:
        """Ask for a printer, and print the whole network."""
        from PySide6.QtPrintSupport import QPrintDialog

        from netwright.designer.scene.printed_pages import print_network

        printer = self._printer()
        dialog = QPrintDialog(printer, self._shell.dialog_parent)
        if dialog.exec():
            print_network(self._design.canvas.network_scene, printer)
            self._shell.hint(tr("Sent to the printer."))
        dialog.deleteLater()

    def preview_print(self) -> None:
        """Show the pages of the network before they are printed."""
        from PySide6.QtPrintSupport import QPrintPreviewDialog

        from netwright.designer.scene.printed_pages import print_network

        printer = self._printer()  # which the dialog does not keep alive
        dialog = QPrintPreviewDialog(printer, self._shell.dialog_parent)
        dialog.resize(within_screen(dialog, 900, 760))
        dialog.paintRequested.connect(lambda printer: print_network(self._design.canvas.network_scene, printer))
        dialog.exec()
        dialog.deleteLater()

    def _printer(self) -> "QPrinter":
        """Return the usual printer, with the page turned to the shape of the network."""
        from PySide6.QtPrintSupport import QPrinter

        from netwright.designer.scene.printed_pages import turn

        printer = QPrinter(QPrinter.PrinterMode.HighResolution)
        printer.setDocName(Path(self._shell.documents.title).stem)
        turn(printer, self._design.canvas.network_scene)
        return printer

    def compare_with(self) -> None:
        """Compare the open project with another one."""
        from netwright.app.dialogs.compare_projects import compare_with

        compare_with(self._shell)

    def show_devices(self) -> None:
        """Show and test the devices of this machine."""
        from netwright.app.dialogs.devices_dialog import DevicesDialog

        dialog = DevicesDialog(self._shell.dialog_parent, inventory=self._environment.inventory)
        self._environment.inventory_changed.connect(dialog.set_inventory)
        dialog.start()
        dialog.exec()
        dialog.deleteLater()

    def show_clusters(self) -> None:
        """Edit and try the cluster profiles."""
        open_dialog("clusters", self._shell)
        self._environment.update()

    def show_cluster_jobs(self) -> None:
        """Show the runs on clusters."""
        open_dialog("cluster_jobs", self._shell, self._training.follow)


def with_suffix_of(path: Path, pattern: str) -> Path:
    """Return a path with the suffix of the chosen kind of picture, if it was typed without a known one."""
    if path.suffix.lower() in PICTURES:
        return path
    suffix = next((suffix for suffix, label in PICTURES.items() if translation(label) == pattern), ".png")
    return path.with_name(path.name + suffix)


class ThemeCommands(QObject):
    """The theme of one window, and the choice of another, which is remembered."""

    changed = Signal()

    def __init__(self, settings: QSettings, scheme: theme.Scheme | None, parent: QObject) -> None:
        super().__init__(parent)
        self._settings = settings
        self.scheme: theme.Scheme = scheme or _scheme_of(settings.value(SETTING, "system"))
        self.text_size = _size_of(settings.value(TEXT_SIZE))
        self._apply()

    def choose(self, scheme: theme.Scheme) -> None:
        """Apply a theme from now on."""
        self.scheme = scheme
        self._apply()
        self._settings.setValue(SETTING, scheme)
        self.changed.emit()

    def choose_text_size(self, pixels: int) -> None:
        """Show text in this size from now on, in pixels."""
        self.text_size = pixels
        self._apply()
        self._settings.setValue(TEXT_SIZE, pixels)

    def _apply(self) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, self.scheme, self.text_size)


def _scheme_of(value: object) -> theme.Scheme:
    return next((scheme for scheme in get_args(theme.Scheme) if scheme == value), "system")


def _size_of(value: object) -> int:
    text = str(value)
    return int(text) if text.isdecimal() and int(text) in theme.TEXT_SIZES.values() else theme.FONT_PIXELS


class CanvasCommands:
    """Finds layers on the canvas, and shows how fast they are."""

    def __init__(self, shell: Shell, design: DesignTab, times: LayerTimesOverlay) -> None:
        self._shell, self._design, self._times = shell, design, times
        self._find_bar: FindBar | None = None

    @property
    def find_bar(self) -> "FindBar":
        """The search on the canvas; made when first needed."""
        if self._find_bar is None:
            from netwright.designer.canvas.find_bar import FindBar

            self._find_bar = FindBar(self._design.canvas)
        return self._find_bar

    def show_roofline(self) -> None:
        """Open the dialog of the roofline; it measures the layers if they are not."""
        from netwright.app.frame.roofline import RooflineDialog

        RooflineDialog(self._shell, self._times).show()
