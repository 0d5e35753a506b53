"""Overlays of the canvas: the stages of a pipeline, the health of layers in training, and their measured
times."""

import tempfile
from bisect import bisect_right
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from netwright.app.frame.layer_filters import LayerFilters
from netwright.app.frame.run_timeline import RunTimeline
from netwright.app.frame.tabs import DesignTab
from netwright.app.processes import DisposableProcess
from netwright.app.runs.execution_environment import ExecutionEnvironment
from netwright.app.shell import Shell
from netwright.app.training import Training
from netwright.designer.engine_messages import message_text
from netwright.designer.language import tr, translation
from netwright.designer.scene.lens import NO_TRAINING, Remark
from netwright.engine.core.errors import UserError
from netwright.engine.core.process import module_command
from netwright.engine.network.network import Network
from netwright.engine.project.file import dumps
from netwright.engine.project.project import Project

if TYPE_CHECKING:
    from netwright.designer.canvas.view import CanvasView
    from netwright.designer.panels.property_sections import HealthPart, StageRow
    from netwright.engine.runs.events import Event

UNKNOWN_WORKERS = 2
SHOW_MS = 200
MOST_POINTS = 600
"""Of more iterations every second one is forgotten."""


class StagesOverlay(QObject):
    """Tells the canvas how many workers this machine has for a pipeline, and adds the row in the properties when stages
    are first used."""

    def __init__(self, shell: Shell, design: DesignTab, environment: ExecutionEnvironment) -> None:
        super().__init__(shell.dialog_parent)
        self._editor, self._design, self._environment = shell.editor, design, environment
        self._row: StageRow | None = None
        design.canvas_made.connect(self._show_on)

    def _show_on(self, canvas: "CanvasView") -> None:
        canvas.stages.workers_of = self._workers
        canvas.stages.changed.connect(self._on_changed)
        self._environment.inventory_changed.connect(canvas.stages.look_again)
        canvas.stages.look_again()

    def balance(self) -> None:
        """Give all stages about the same work, and show them."""
        self._design.lenses.choose("stages")
        self._design.canvas.stages.balance()

    def clear(self) -> None:
        """Leave the stages to the engine."""
        self._design.canvas.stages.clear()

    def _on_changed(self) -> None:
        stages = self._design.canvas.stages
        if stages.is_used and self._row is None:
            from netwright.designer.panels.property_sections import StageRow  # a start does not pay for it

            self._row = StageRow(self._editor, stages)
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
    """Shows on the canvas how each layer does in training. To show it is a matter of the view: it changes neither the
    project nor its history. A run that does not watch its layers by itself is asked to."""

    def __init__(self, shell: Shell, design: DesignTab, training: Training) -> None:
        super().__init__(shell.dialog_parent)
        self._shell, self._design, self._training = shell, design, training
        self._lenses = design.lenses
        self.timeline = RunTimeline(shell, design, training)
        self.filters = LayerFilters(shell, design, training)
        self._newest: dict[str, list[float]] = {}
        """The latest figures of the run that is shown, by layer."""
        self._history: list[tuple[int, dict[str, list[float]]]] = []
        """Those and the ones before, by iteration."""
        self._part: HealthPart | None = None
        self._iteration = 0
        self._is_shown = False
        self._is_requested = False
        """Whether the run was asked to watch its layers, whatever the project's option says."""
        self._was_on = False
        self._timer = QTimer(self, singleShot=True, interval=SHOW_MS)
        self._timer.timeout.connect(self.show)
        shell.editor.project_changed.connect(self._on_changed)
        shell.editor.scope_changed.connect(self._on_changed)
        training.run_shown.connect(self.forget)
        training.received.connect(self.take)
        training.state_changed.connect(self._tell)
        shell.editor.selection_changed.connect(self._show_part)
        self._lenses.changed.connect(self._follow)
        self.timeline.moved.connect(self._on_moved)
        self._tell()

    def _on_moved(self) -> None:
        """Show the figures as they were recorded at the moment that the scrubber stands at."""
        self._tell()
        self.show()

    @property
    def _moment(self) -> tuple[int, dict[str, list[float]]]:
        """The iteration that is shown and its figures: the newest, or the last record up to the moment of the
        timeline, or the first one where there is none before it."""
        step = self.timeline.moment
        if step is None or not self._history:
            return self._iteration, self._newest
        before = bisect_right(self._history, step, key=lambda record: record[0])
        return self._history[max(0, before - 1)]

    @property
    def _layers(self) -> dict[str, list[float]]:
        return self._moment[1]

    @property
    def _is_option(self) -> bool:
        return self._shell.editor.project.training.watch_layers

    @property
    def is_on(self) -> bool:
        """Whether the health is to be seen."""
        return self._lenses.current == "health"

    def _follow(self) -> None:
        """Show or remove the health with its lens, and ask the run that is under way to watch its layers."""
        if self.is_on == self._was_on:
            return
        self._was_on = self.is_on
        self._ask_run()
        if self._layers or self._is_shown:
            self.show()

    def _ask_run(self) -> None:
        """Ask the run that is under way to watch its layers, unless it does."""
        is_watching = self._is_option or self._is_requested or self._layers
        if self.is_on and self._training.is_running and not is_watching:
            self._training.request("watch", {"layers": 1})

    def forget(self) -> None:
        """Remove the marks: another run is shown."""
        self._is_requested = False
        self._clear()

    def _clear(self) -> None:
        self._newest, self._iteration, self._history = {}, 0, []
        self._timer.start()
        self._tell()

    def take(self, event: "Event") -> None:
        """Take one event of the run."""
        from netwright.engine.runs.events import Health, Requested, Started  # a start of the window does not pay for it

        if isinstance(event, Started):
            self._clear()
            self._ask_run()  # before, a run has no folder for requests
        elif isinstance(event, Requested) and event.what == "watch_layers":
            self._is_requested = event.value > 0
            if self._is_requested:
                self._lenses.forget_choice()  # asked for in the run's own menu
            self._clear()
        elif isinstance(event, Health):
            if event.iteration != self._iteration:
                self._newest, self._iteration = {}, event.iteration
                self._history.append((self._iteration, self._newest))
                if len(self._history) > MOST_POINTS:
                    del self._history[1:-1:2]
            self._newest.update(event.layers)
            self._tell()
            self._lenses.offer("health")
            self._timer.start()

    def _on_changed(self, _project: object = None) -> None:
        if self._layers or self._is_shown:
            self._timer.start()

    def _tell(self) -> None:
        """Say which iteration is shown, or why there is none."""
        is_known = bool(self._layers) or self._training.is_running
        self._lenses.refuse("health", "" if is_known else NO_TRAINING)
        text = ""
        if self._layers:
            text = tr("at iteration {iteration:,}", iteration=self._moment[0])
            if self.timeline.moment is not None:
                epoch = self.timeline.moment_text
                text = tr("{epoch}, iteration {iteration:,}", epoch=epoch, iteration=self._moment[0])
        soon = tr("Shown as soon as the run reports it.")
        note = "" if self._layers else soon if is_known else translation(NO_TRAINING)
        self._lenses.remark("health", Remark(text, note))

    def show(self) -> None:
        """Draw the health of the visible layers, or remove it."""
        from netwright.designer.scene.health_badges import badges

        editor, canvas = self._shell.editor, self._design.canvas
        marks = badges(self._layers, editor.project.network, editor.scope) if self.is_on else {}
        canvas.network_scene.show_health(marks)
        self._is_shown = bool(marks)
        self._show_part()

    def _show_part(self, _selection: object = None) -> None:
        """Show the health of the one selected layer in the properties, through whatever lens."""
        editor, badge, points = self._shell.editor, None, []
        if len(editor.selection) == 1 and self._layers:
            from netwright.designer.scene.health_badges import badges, gradients

            (id,) = editor.selection
            badge = badges(self._layers, editor.project.network, editor.scope).get(id)
            points = gradients(self._history, "/".join((*editor.scope, id)))
        if self._part is None and badge is not None:
            from netwright.designer.panels.property_sections import HealthPart

            self._part = HealthPart()
            self._design.properties.add_part(self._part, is_first=True)
        if self._part is not None:
            self._part.show_badge(badge, points, self._moment[0])


class LayerTimesOverlay(QObject):
    """Measures the time of each layer in a process of its own (`netwright.engine.launch.layer_profile`), and tells the
    canvas and the table of layers. Times stay until they are measured again; after an edit the legend says so."""

    changed = Signal()
    """Something was measured, or measuring began or ended."""

    def __init__(self, shell: Shell, design: DesignTab, environment: ExecutionEnvironment) -> None:
        super().__init__(shell.dialog_parent)
        self._shell, self._design, self._environment = shell, design, environment
        self._lenses = design.lenses
        self._was_on = False
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
        self._lenses.changed.connect(self._follow)
        self._lenses.link_clicked.connect(lambda lens: self.toggle() if lens == "time" else None)
        self._describe()

    def _follow(self) -> None:
        """Measure when the lens is first chosen."""
        is_on = self._lenses.current == "time"
        if is_on and not self._was_on and not (self._seconds or self.process.is_running):
            self.start()
        self._was_on = is_on

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
            self._shell.hint(tr("The engine cannot be started: {reason}.", reason=error.strerror))
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
            self._shell.hint(message_text(line["error"]))
        elif "device" in line:
            self.device = device = line["device"]
            self.where = tr("%n sample(s) on {device}", "", device["batch"], device=device["name"])
            if device["name"] == "cpu":
                self.where = tr("{place}, %n thread(s)", "", device["threads"], place=self.where)
        elif "layer" in line:
            cost = line["layer"]
            self.costs.append(cost)
            self._seconds[cost["path"]] = cost["forward_s"] + cost["backward_s"]
            self._show()

    def _on_ended(self) -> None:
        if not self.where:
            self._shell.hint(tr("The times of the layers could not be measured: the process has ended. Try again."))
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
        """Say in the legend what was measured on, or how far measuring is."""
        if self.process.is_running:
            count = len(self._seconds)
            note, link = tr("Measuring: %n layer(s)…", "", count) if count else tr("Measuring: starting…"), tr("Stop")
        elif not self._seconds:
            note, link = tr("Not measured yet"), tr("Measure")
        else:
            is_same = self._measured == self._shell.editor.project.network
            older = tr("{measurement}, before the last edits", measurement=self.where)
            note, link = self.where if is_same else older, tr("Measure again")
        self._lenses.remark("time", Remark(note=note, link=link))


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
