"""The commands behind menu entries: dialogs, the theme, and the overlays of the canvas."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from netwright.designer import theme
from netwright.engine.core.errors import UserError
from netwright.engine.project.project import Project
from netwright.engine.project.sweeps import with_parameter, without_parameter

if TYPE_CHECKING:
    from netwright.designer.canvas.find_bar import FindBar
    from netwright.designer.canvas.legends import TintLegend
    from netwright.engine.runs.folder import RunFolder

SETTING = "theme"
PICTURES = {".png": "PNG picture (*.png)", ".svg": "SVG drawing (*.svg)", ".pdf": "PDF document (*.pdf)"}


class SweepCommands:
    """Lets values of the project vary in its experiment, wherever they stand, and leads to where they are edited."""

    def __init__(self, shell: Shell, show: Callable[[], None]) -> None:
        """`show` shows the page of experiments."""
        self._shell, self.show = shell, show

    def begin(self, path: str) -> None:
        """Let the value at a path vary, around the present one, and show how all values vary."""
        if self._shell.editor.edit(f"Vary {path}", lambda project: with_parameter(project, path)):
            self.show()

    def end(self, path: str) -> None:
        """Let the value at a path vary no more."""
        self._shell.editor.edit(f"Vary {path} no more", lambda project: without_parameter(project, path))


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

    def edit_webhook(self) -> None:
        """Set the address that is told when a run ends."""
        from netwright.app.dialogs.webhook_dialog import WebhookDialog

        WebhookDialog(self._shell.server, self._shell.dialog_parent).exec()

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
                editor.apply("Change training options", changed)
            if dialog.sweeps.leads_to_search:
                self._sweeps.show()
        self._training.state_changed.disconnect(follow)
        dialog.deleteLater()
        return is_confirmed

    def _sample(self, project: Project, folder: str, count: int, epoch: int, show: OnResult, fail: OnError) -> None:
        """Ask for pictures of samples as a project changes them in an epoch."""
        request: dict[str, Any] = {
            "data": project.data.write(),
            "base": str(self._shell.documents.base),
            "folder": folder,
        }
        request |= {"count": count, "training": project.training.write(), "epoch": epoch}
        request["hosts"] = self._shell.documents.hosts
        self._shell.server.request("preview", request, show, fail)

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
            open_dialog("run_report", self._shell, run)
        else:
            text = "A report is about a run: train the network, or choose a run in the Experiments tab."
            self._shell.show_error("There is no run yet", text)

    def save_picture(self) -> None:
        """Save the whole network as a picture."""
        from netwright.designer.scene.picture_file import FORMATS, save_picture

        shell = self._shell
        stem = Path(shell.documents.title).stem
        start, filters = str(shell.documents.folder / f"{stem}{FORMATS[0]}"), ";;".join(PICTURES.values())
        name, pattern = QFileDialog.getSaveFileName(shell.dialog_parent, "Save picture", start, filters)
        if not name:
            return
        path = with_suffix_of(Path(name), pattern)
        try:
            save_picture(self._design.canvas.network_scene, path, stem)
        except UserError as error:
            shell.show_error("The picture cannot be saved", str(error))
            return
        shell.hint(f"Saved {path.name}.")

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
        from netwright.app.dialogs.clusters_dialog import ClustersDialog

        dialog = ClustersDialog(self._shell.dialog_parent)
        dialog.exec()
        dialog.deleteLater()
        self._environment.update()

    def show_cluster_jobs(self) -> None:
        """Show the runs on clusters."""
        from netwright.app.dialogs.cluster_jobs_dialog import ClusterJobsDialog

        def show(folder: "RunFolder") -> None:
            self._shell.show_tab("train")
            self._training.follow(folder)

        dialog = ClusterJobsDialog(self._shell, show)
        dialog.exec()
        dialog.deleteLater()


def with_suffix_of(path: Path, pattern: str) -> Path:
    """Return a path with the suffix of the chosen kind of picture, if it was typed without a known one."""
    if path.suffix.lower() in PICTURES:
        return path
    suffix = next((suffix for suffix, label in PICTURES.items() if label == pattern), ".png")
    return path.with_name(path.name + suffix)


class ThemeCommands(QObject):
    """The theme of one window, and the choice of another, which is remembered."""

    changed = Signal()

    def __init__(self, settings: QSettings, scheme: theme.Scheme | None, parent: QObject) -> None:
        super().__init__(parent)
        self._settings = settings
        self.scheme: theme.Scheme = scheme or _scheme_of(settings.value(SETTING, "system"))
        self._apply()

    def choose(self, scheme: theme.Scheme) -> None:
        """Apply a theme from now on: "system", "light" or "dark"."""
        self.scheme = scheme
        self._apply()
        self._settings.setValue(SETTING, scheme)
        self.changed.emit()

    def _apply(self) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, self.scheme)


def _scheme_of(value: object) -> theme.Scheme:
    return value if value in ("system", "light", "dark") else "system"


class CanvasCommands:
    """Finds layers on the canvas, tints them, and measures their times."""

    def __init__(self, shell: Shell, design: DesignTab, times: LayerTimesOverlay) -> None:
        self._shell, self._design, self._times = shell, design, times
        self._find_bar: FindBar | None = None
        self._legend: TintLegend | None = None

    @property
    def find_bar(self) -> "FindBar":
        """The search on the canvas; made when first needed."""
        if self._find_bar is None:
            from netwright.designer.canvas.find_bar import FindBar

            self._find_bar = FindBar(self._design.canvas)
        return self._find_bar

    def tint_layers(self) -> None:
        """Tint by parameters, FLOPs, memory, measured times if there are any, nothing, and round again."""
        from netwright.designer.canvas.legends import next_kind

        scene, _ = self._design.canvas.network_scene, self.legend
        scene.show_tint(next_kind(scene.tint.kind, has_times=bool(scene.times)))

    @property
    def legend(self) -> "TintLegend":
        """The legend of the tint; made when first needed."""
        if self._legend is None:
            from netwright.designer.canvas.legends import TintLegend

            self._legend = TintLegend(self._design.canvas)
            self._legend.measuring_requested.connect(self._times.toggle)
            self._times.attach(self._legend)
        return self._legend

    def show_roofline(self) -> None:
        """Open the dialog of the roofline; it measures the layers if they are not."""
        from netwright.app.frame.roofline import RooflineDialog

        RooflineDialog(self._shell, self._times).show()

    def measure_layers(self) -> None:
        """Measure the time of each layer, and tint the layers by it."""
        scene, _ = self._design.canvas.network_scene, self.legend
        scene.show_tint("time")
        self._times.start()
