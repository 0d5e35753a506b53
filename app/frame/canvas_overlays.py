"""What the window adds to the canvas: the stages of a pipeline, and the health of layers in training."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.frame.tabs import DesignTab
from app.runs.environment import ExecutionEnvironment
from app.shell import Shell
from app.training import Training
from engine.core.errors import UserError
from engine.project.project import Project

if TYPE_CHECKING:
    from designer.canvas.legends import HealthLegend, StageLegend
    from designer.canvas.view import CanvasView
    from designer.panels.property_sections import StageRow
    from engine.runs.events import Event

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
            from designer.canvas.legends import StageLegend  # a start of the window does not pay for it

            self._legend = StageLegend(self._canvas)
        if staging.is_used and self._row is None:
            from designer.panels.property_sections import StageRow

            self._row = StageRow(self._editor, staging)
            self._design.properties.add_part(self._row)
            self._row.refresh()

    def _workers(self, project: Project) -> int:
        """Return the number of workers that a pipeline would have on this machine; two where that is not known."""
        from engine.placement.choose import resolve  # a start of the window does not pay for them
        from engine.project.stage_edits import asked_workers, with_pipeline

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
        from engine.runs.events import Health, Requested, Started  # a start of the window does not pay for it

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
        from designer.scene.health import badges

        editor, canvas = self._shell.editor, self._design.canvas
        shown = badges(self._layers, editor.project.network, editor.scope) if self.is_on else {}
        canvas.network_scene.show_health(shown)
        self._is_shown = bool(shown)
        if shown and self._legend is None:
            from designer.canvas.legends import HealthLegend

            self._legend = HealthLegend(canvas)
        if self._legend is not None:
            self._legend.show_at(self._iteration) if shown else self._legend.hide()
