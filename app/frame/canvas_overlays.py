"""Stages of a pipeline in one window: the canvas shows and edits them, this knows how many workers the machine has."""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from engine.core.errors import UserError
from engine.project.project import Project

if TYPE_CHECKING:
    from app.window import MainWindow
    from designer.canvas.legends import HealthLegend, StageLegend
    from designer.canvas.view import CanvasView
    from designer.panels.property_sections import StageRow
    from engine.runs.events import Event

UNKNOWN_WORKERS = 2


class StageView:
    """The card over the canvas and the row in the properties, made when stages are first of use."""

    def __init__(self, window: "MainWindow") -> None:
        self._window = window
        self._legend: StageLegend | None = None
        self._row: StageRow | None = None
        self._canvas: CanvasView | None = None

    def show_on(self, canvas: "CanvasView") -> None:
        """The canvas is there; it is made when Design is."""
        self._canvas = canvas
        canvas.stages.workers_of = self._workers
        canvas.stages.changed.connect(self._on_changed)
        self._window.training.inventory_changed.connect(canvas.stages.look_again)
        canvas.stages.look_again()

    @property
    def is_on(self) -> bool:
        """Whether the canvas shows stages."""
        return self._canvas is not None and self._canvas.stages.is_on

    def switch(self) -> None:
        """Show them, or no longer."""
        self._window.canvas.stages.switch()

    def balance(self) -> None:
        """Give all stages as much to do, and show them."""
        staging = self._window.canvas.stages
        staging.show(True)
        staging.balance()

    def clear(self) -> None:
        """Leave them to the engine."""
        self._window.canvas.stages.clear()

    def _on_changed(self) -> None:
        assert self._canvas is not None
        staging = self._canvas.stages
        if staging.is_on and self._legend is None:
            from designer.canvas.legends import StageLegend  # a start of the window does not pay for it

            self._legend = StageLegend(self._canvas)
        if staging.is_used and self._row is None:
            from designer.panels.property_sections import StageRow

            self._row = StageRow(self._window.editor, staging)
            self._window.properties.add_part(self._row)
            self._row.refresh()

    def _workers(self, project: Project) -> int:
        """Those a pipeline would have on this machine, or two where that is not known."""
        from engine.placement.choose import resolve
        from engine.project.stage_edits import asked_workers, with_pipeline

        project = with_pipeline(project)
        asked = asked_workers(project.environment)
        if asked or self._window.training.inventory is None:
            return asked or UNKNOWN_WORKERS
        try:
            placement = resolve(project.environment, self._window.training.inventory, project.training.mini_batch_size)
        except UserError:
            return UNKNOWN_WORKERS
        return max(UNKNOWN_WORKERS, len(placement.workers))


SHOW_MS = 200


class LayerHealth(QObject):
    """Keeps the newest figures of the run that is shown."""

    def __init__(self, window: "MainWindow") -> None:
        super().__init__(window)
        self._window = window
        self._layers: dict[str, list[float]] = {}
        self._iteration = 0
        self._legend: HealthLegend | None = None
        self._is_shown = False
        self._is_asked = False
        self._soon = QTimer(self, singleShot=True, interval=SHOW_MS)
        self._soon.timeout.connect(self.show)
        window.editor.project_changed.connect(self._on_changed)
        window.editor.scope_changed.connect(self._on_changed)

    @property
    def is_on(self) -> bool:
        """Whether layers are to be watched."""
        return self._window.editor.project.training.watch_layers

    def switch(self) -> None:
        """Watch layers from now on, in a run that is under way as well, and mark them; or no more."""
        editor = self._window.editor
        words = "Watch layers no more" if self.is_on else "Watch layers"
        training = editor.project.training.replace(watch_layers=not self.is_on)
        editor.apply(words, replace(editor.project, training=training))
        if self._window.training.is_running:
            self._window.training.watch("layers", self.is_on)
        elif self.is_on and not self._layers:
            self._window.hint("Layers are marked on the canvas from the next run on.")

    def forget(self) -> None:
        """Another run is shown."""
        self._is_asked = False
        self._clear()

    def _clear(self) -> None:
        self._layers, self._iteration = {}, 0
        self._soon.start()

    def take(self, event: "Event") -> None:
        """One event of the run."""
        from engine.runs.events import Health, Requested, Started

        if isinstance(event, Started):
            self._clear()
        elif isinstance(event, Requested) and event.what == "watch_layers":
            self._is_asked = event.value > 0
            self._clear()
        elif isinstance(event, Health):
            if event.iteration != self._iteration:
                self._layers, self._iteration = {}, event.iteration
            self._layers.update(event.layers)
            self._soon.start()

    def _on_changed(self, _project: object = None) -> None:
        if self._layers or self._is_shown:
            self._soon.start()

    def show(self) -> None:
        """Draw the marks of the layers that are seen, or none."""
        from designer.scene.health import marks

        editor, canvas = self._window.editor, self._window.canvas
        found = marks(self._layers, editor.project.network, editor.scope) if self.is_on or self._is_asked else {}
        canvas.network_scene.show_health(found)
        self._is_shown = bool(found)
        if found and self._legend is None:
            from designer.canvas.legends import HealthLegend

            self._legend = HealthLegend(canvas)
        if self._legend is not None:
            self._legend.show_at(self._iteration) if found else self._legend.hide()
