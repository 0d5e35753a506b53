"""Stages of a pipeline in one window: the canvas shows and edits them, this knows how many workers the machine has."""

from typing import TYPE_CHECKING

from engine.environments.choose import resolve
from engine.errors import UserError
from engine.project.project import Project
from engine.project.staging import asked_workers, with_pipeline

if TYPE_CHECKING:
    from app.window import MainWindow
    from designer.canvas.stage_legend import StageLegend
    from designer.stage_row import StageRow

UNKNOWN_WORKERS = 2


class StageView:
    """The card over the canvas and the row in the properties, made when stages are first of use."""

    def __init__(self, window: "MainWindow") -> None:
        self._window = window
        self._legend: StageLegend | None = None
        self._row: StageRow | None = None
        self.staging = window.canvas.staging
        self.staging.workers_of = self._workers
        self.staging.changed.connect(self._on_changed)
        window.training.inventory_changed.connect(self.staging.look_again)

    @property
    def is_on(self) -> bool:
        """Whether the canvas shows stages."""
        return self.staging.is_on

    def switch(self) -> None:
        """Show them, or no longer."""
        self.staging.switch()

    def _on_changed(self) -> None:
        if self.staging.is_on and self._legend is None:
            from designer.canvas.stage_legend import StageLegend  # a start of the window does not pay for it

            self._legend = StageLegend(self._window.canvas)
        if self.staging.is_used and self._row is None:
            from designer.stage_row import StageRow

            self._row = StageRow(self._window.editor, self.staging)
            self._window.properties.add_part(self._row)
            self._row.refresh()

    def _workers(self, project: Project) -> int:
        """Those a pipeline would have on this machine, or two where that is not known."""
        project = with_pipeline(project)
        asked = asked_workers(project.environment)
        if asked or self._window.training.inventory is None:
            return asked or UNKNOWN_WORKERS
        try:
            placement = resolve(project.environment, self._window.training.inventory, project.training.mini_batch_size)
        except UserError:
            return UNKNOWN_WORKERS
        return max(UNKNOWN_WORKERS, len(placement.workers))
