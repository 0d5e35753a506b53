"""Stages of a pipeline in one window: the canvas shows and edits them, this knows how many workers the machine has."""

from typing import TYPE_CHECKING

from engine.errors import UserError
from engine.project.project import Project

if TYPE_CHECKING:
    from app.window import MainWindow
    from designer.canvas.marks.stage_legend import StageLegend
    from designer.canvas.view import CanvasView
    from designer.stage_row import StageRow

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
        canvas.staging.workers_of = self._workers
        canvas.staging.changed.connect(self._on_changed)
        self._window.training.inventory_changed.connect(canvas.staging.look_again)
        canvas.staging.look_again()

    @property
    def is_on(self) -> bool:
        """Whether the canvas shows stages."""
        return self._canvas is not None and self._canvas.staging.is_on

    def switch(self) -> None:
        """Show them, or no longer."""
        self._window.canvas.staging.switch()

    def balance(self) -> None:
        """Give all stages as much to do, and show them."""
        staging = self._window.canvas.staging
        staging.show(True)
        staging.balance()

    def clear(self) -> None:
        """Leave them to the engine."""
        self._window.canvas.staging.clear()

    def _on_changed(self) -> None:
        assert self._canvas is not None
        staging = self._canvas.staging
        if staging.is_on and self._legend is None:
            from designer.canvas.marks.stage_legend import StageLegend  # a start of the window does not pay for it

            self._legend = StageLegend(self._canvas)
        if staging.is_used and self._row is None:
            from designer.stage_row import StageRow

            self._row = StageRow(self._window.editor, staging)
            self._window.properties.add_part(self._row)
            self._row.refresh()

    def _workers(self, project: Project) -> int:
        """Those a pipeline would have on this machine, or two where that is not known."""
        from engine.environments.choose import resolve  # a start of the window does not pay for them
        from engine.project.staging import asked_workers, with_pipeline

        project = with_pipeline(project)
        asked = asked_workers(project.environment)
        if asked or self._window.training.inventory is None:
            return asked or UNKNOWN_WORKERS
        try:
            placement = resolve(project.environment, self._window.training.inventory, project.training.mini_batch_size)
        except UserError:
            return UNKNOWN_WORKERS
        return max(UNKNOWN_WORKERS, len(placement.workers))
