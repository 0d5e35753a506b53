"""Overlays of the canvas: the stages of a pipeline, the health of layers in training, and their measured
times."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from netwright.app.frame.tabs import DesignTab
from netwright.app.processes import DisposableProcess
from netwright.app.runs.execution_environment import ExecutionEnvironment
from netwright.app.shell import Shell
from netwright.app.training import Training
from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.process import module_command
from netwright.engine.network.network import Network
from netwright.engine.project.file import dumps
from netwright.engine.project.project import Project

if TYPE_CHECKING:
    from netwright.designer.canvas.legends import HealthLegend, StageLegend, TintLegend
    from netwright.designer.canvas.view import CanvasView
    from netwright.designer.panels.property_sections import StageRow
    from netwright.engine.runs.events import Event

UNKNOWN_WORKERS = 2
SHOW_MS = 200


class StagesOverlay(QObject):
    """Tells the canvas how many workers this machine has for a pipeline, and adds the legend over the canvas and the
    row in the properties when stages are first used."""

    def __init__(self, shell: Shell, design: DesignTab, environment: ExecutionEnvironment) -> None:
        super().__init__(shell.dialog_parent)
        self._editor, self._design, self._environment = shell.editor, design, environment
        self._legend: StageLegend | None = None
        self._row: StageRow | None = None
        self._canvas: CanvasView | None = None
        design.canvas_made.connect(self._show_on)

    def _show_on(self, canvas: "CanvasView") -> None:
        self._canvas = canvas
        canvas.stages.workers_of = self._workers
        canvas.stages.changed.connect(self._on_changed)
        self._environment.inventory_changed.connect(canvas.stages.look_again)
        canvas.stages.look_again()

    @property
    def is_on(self) -> bool:
        """Whether the canvas shows stages."""
        return self._canvas is not None and self._canvas.stages.is_on

    def switch(self) -> None:
        """Show or hide the stages."""
        self._design.canvas.stages.switch()

    def balance(self) -> None:
        """Give all stages about the same work, and show them."""
        staging = self._design.canvas.stages
        staging.show(True)
        staging.balance()

    def clear(self) -> None:
        """Leave the stages to the engine."""
        self._design.canvas.stages.clear()

    def _on_changed(self) -> None:
        assert self._canvas is not None
        staging = self._canvas.stages
        if staging.is_on and self._legend is None:
            from netwright.designer.canvas.legends import StageLegend  # a start of the window does not pay for it

            self._legend = StageLegend(self._canvas)
        if staging.is_used and self._row is None:
            from netwright.designer.panels.property_sections import StageRow

            self._row = StageRow(self._editor, staging)
            self._design.properties.add_part(self._row)
            self._row.refresh()

    def _workers(self, project: Project) -> int:
        """Return the number of workers that a pipeline would have on this machine; two where that is not known."""
        from netwright.engine.placement.choose import resolve  # a start of the window does not pay for them
        from netwright.engine.project.stage_edits import asked_workers, with_pipeline

        project = with_pipeline(project)
        num_workers, inventory = asked_workers(project.environment), self._environment.inventory
        if num_workers or inventory is None:
            return num_workers or UNKNOWN_WORKERS
        try:
            placement = resolve(project.environment, inventory, project.training.mini_batch_size)
        except UserError:
            return UNKNOWN_WORKERS
        return max(UNKNOWN_WORKERS, len(placement.workers))


class LayerHealthOverlay(QObject):
    """Marks on the canvas how each layer does in training. To show them is a matter of the view: it changes neither
    the project nor its history. A run that does not watch its layers by itself is asked to."""

    changed = Signal()

    def __init__(self, shell: Shell, design: DesignTab, training: Training) -> None:
        super().__init__(shell.dialog_parent)
        self._shell, self._design, self._training = shell, design, training
        self._layers: dict[str, list[float]] = {}
        """The latest figures of the run that is shown, by layer."""
        self._iteration = 0
        self._legend: HealthLegend | None = None
        self._is_shown = False
        self._is_requested = False
        """Whether the run was asked to watch its layers, whatever the project's option says."""
        self._choice: bool | None = None
        """What was chosen in this window; None while the marks follow the project's option and the run."""
        self._timer = QTimer(self, singleShot=True, interval=SHOW_MS)
        self._timer.timeout.connect(self.show)
        shell.editor.project_changed.connect(self._on_changed)
        shell.editor.scope_changed.connect(self._on_changed)
        training.run_shown.connect(self.forget)
        training.received.connect(self.take)

    @property
    def _is_option(self) -> bool:
        return self._shell.editor.project.training.watch_layers

    @property
    def is_on(self) -> bool:
        """Whether the marks are to be seen."""
        return self._is_option or self._is_requested if self._choice is None else self._choice

    def switch(self) -> None:
        """Show or hide the marks, in a run that is under way as well."""
        self._choice = not self.is_on
        if not self._choice and self._is_requested and not self._is_option:
            self._training.request("watch", {"layers": 0})
        self._ask_run()
        if self._choice and not self._layers:
            later = "as soon as the run reports them" if self._training.is_running else "from the next run on"
            self._shell.hint(f"Layers are marked on the canvas {later}.")
        if self._layers or self._is_shown:
            self.show()
        self.changed.emit()

    def _ask_run(self) -> None:
        """Ask the run that is under way to watch its layers, unless it does."""
        if self._choice and self._training.is_running and not (self._is_option or self._is_requested):
            self._training.request("watch", {"layers": 1})

    def forget(self) -> None:
        """Remove the marks: another run is shown."""
        self._is_requested = False
        self._clear()
        self.changed.emit()

    def _clear(self) -> None:
        self._layers, self._iteration = {}, 0
        self._timer.start()

    def take(self, event: "Event") -> None:
        """Take one event of the run."""
        from netwright.engine.runs.events import Health, Requested, Started  # a start of the window does not pay for it

        if isinstance(event, Started):
            self._clear()
            self._ask_run()  # before, a run has no folder for requests
        elif isinstance(event, Requested) and event.what == "watch_layers":
            self._is_requested = event.value > 0
            if self._is_requested and self._choice is False:
                self._choice = None  # asked for in the run's own menu
            self._clear()
            self.changed.emit()
        elif isinstance(event, Health):
            if event.iteration != self._iteration:
                self._layers, self._iteration = {}, event.iteration
            self._layers.update(event.layers)
            self._timer.start()

    def _on_changed(self, _project: object = None) -> None:
        if self._layers or self._is_shown:
            self._timer.start()

    def show(self) -> None:
        """Draw the marks of the visible layers, or remove them."""
        from netwright.designer.scene.health_badges import badges

        editor, canvas = self._shell.editor, self._design.canvas
        marks = badges(self._layers, editor.project.network, editor.scope) if self.is_on else {}
        canvas.network_scene.show_health(marks)
        self._is_shown = bool(marks)
        if marks and self._legend is None:
            from netwright.designer.canvas.legends import HealthLegend

            self._legend = HealthLegend(canvas)
        if self._legend is not None:
            self._legend.show_at(self._iteration) if marks else self._legend.hide()


class LayerTimesOverlay(QObject):
    """Measures the time of each layer in a process of its own (`netwright.engine.launch.layer_profile`), and tells the
    canvas and the table of layers. Times stay until they are measured again; after an edit the legend says so."""

    changed = Signal()
    """Something was measured, or measuring began or ended."""

    def __init__(self, shell: Shell, design: DesignTab, environment: ExecutionEnvironment) -> None:
        super().__init__(shell.dialog_parent)
        self._shell, self._design, self._environment = shell, design, environment
        self._legend: TintLegend | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._seconds: dict[str, float] = {}
        """Seconds per step by the path of ids."""
        self._measured: Network | None = None
        self.where = ""
        """What was measured on, in words."""
        self.device: dict[str, Any] = {}
        """The record of the device; empty before it is known."""
        self.costs: list[dict[str, Any]] = []
        """The records of the layers, as they were measured."""
        self.process = DisposableProcess(self)
        self.process.said.connect(self._take)
        self.process.ended.connect(self._on_ended)
        shell.editor.project_changed.connect(self._on_changed)
        shell.editor.scope_changed.connect(self._on_changed)

    def attach(self, legend: "TintLegend") -> None:
        """Show in the legend the device on which the times were measured."""
        self._legend = legend
        self._describe()

    def toggle(self) -> None:
        """Measure, or stop measuring."""
        self.stop() if self.process.is_running else self.start()

    def start(self) -> None:
        """Start measuring the project as it is."""
        project = self._shell.editor.project
        self.stop()
        self._folder = tempfile.TemporaryDirectory(prefix="netwright-")
        path = Path(self._folder.name) / "project.netwright"
        path.write_text(dumps(project), encoding="utf-8")
        self._seconds, self._measured, self.where = {}, project.network, ""
        self.device, self.costs = {}, []
        try:
            self.process.start(
                module_command("netwright.engine.launch.layer_profile", str(path), "--device", self._device())
            )
        except OSError as error:
            self.stop()
            self._shell.hint(f"The engine cannot be started: {error.strerror}.")
        self._show()

    def stop(self) -> None:
        """End the process, if it runs; its measurements stay."""
        self.process.stop()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
        self._describe()

    def _device(self) -> str:
        """Return the first accelerator, where the environment of the project may use one, else the CPU."""
        inventory, target = self._environment.inventory, self._shell.editor.project.environment.target
        usable = [device.name for device in inventory.devices if not device.refusal] if inventory is not None else []
        return usable[0] if usable and target not in ("cpu", "multi-cpu") else "cpu"

    def _take(self, line: dict[str, Any]) -> None:
        if "error" in line:
            self._measured = None
            self.stop()
            self._shell.hint(str(line["error"]))
        elif "device" in line:
            self.device = device = line["device"]
            threads = f", {plural(device['threads'], 'thread')}" if device["name"] == "cpu" else ""
            self.where = f"{plural(device['batch'], 'sample')} on {device['name']}{threads}"
        elif "layer" in line:
            cost = line["layer"]
            self.costs.append(cost)
            self._seconds[cost["path"]] = cost["forward_s"] + cost["backward_s"]
            self._show()

    def _on_ended(self) -> None:
        if not self.where:
            self._shell.hint("The times of the layers could not be measured: the process has ended. Try again.")
        self.stop()
        self._show()

    def _on_changed(self, _project: object = None) -> None:
        if self._seconds:
            self._show()

    def _show(self) -> None:
        editor = self._shell.editor
        times = times_in(self._seconds, editor.project.network, editor.scope)
        self._design.canvas.network_scene.show_times(times)
        self._design.table.show_times(times)
        self._describe()
        self.changed.emit()

    def _describe(self) -> None:
        if self._legend is None:
            return
        if self.process.is_running:
            progress = plural(len(self._seconds), "layer") if self._seconds else "starting"
            self._legend.show_times_state(f"Measuring: {progress}…", "Stop")
        elif not self._seconds:
            self._legend.show_times_state("Not measured yet", "Measure")
        else:
            is_same = self._measured == self._shell.editor.project.network
            edited = "" if is_same else ", before the last edits"
            self._legend.show_times_state(f"{self.where}{edited}", "Measure again")


def times_in(seconds: Mapping[str, float], network: Network, scope: tuple[str, ...]) -> dict[str, int]:
    """Return the nanoseconds of the layers that are visible inside the block at a path of ids, or at the top level. A
    block has the sum of its contents, a layer of a repeated block that of its copies. `network` is the whole one."""
    from netwright.designer.scene.health_badges import without_copies

    times: dict[str, int] = {}
    for path, value in seconds.items():
        ids, _ = without_copies(path.split("/"), network)
        if len(ids) > len(scope) and ids[: len(scope)] == list(scope):
            id = ids[len(scope)]
            times[id] = times.get(id, 0) + round(1e9 * value)
    return times
