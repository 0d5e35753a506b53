"""The timeline of the run that is shown, below the canvas."""

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from netwright.app.frame.tabs import DesignTab
from netwright.app.shell import Shell
from netwright.app.training import Training

if TYPE_CHECKING:
    from netwright.app.runs.run_strip import RunStrip


class RunTimeline(QObject):
    """Shows the strip once a run is under way, until it is closed. Its curves are those of the page Runs, which takes
    the events. `moved` tells that another moment is looked at."""

    moved = Signal()

    def __init__(self, shell: Shell, design: DesignTab, training: Training) -> None:
        super().__init__(shell.dialog_parent)
        self._shell, self._design, self._training = shell, design, training
        self._strip: RunStrip | None = None
        training.requested.connect(self._on_requested)
        training.run_shown.connect(self._on_run_shown)
        training.received.connect(self._refresh)
        training.state_changed.connect(self._refresh)
        design.strip_shown.connect(self._refresh)

    @property
    def moment(self) -> float | None:
        """The step that is looked at; None for the newest."""
        return self._strip.plot.moment if self._strip is not None else None

    @property
    def iterations(self) -> range | None:
        """The iterations of the epoch that is looked at, until that moment; None for the newest."""
        if (moment := self.moment) is None:
            return None
        per_epoch = self.strip.plot.steps_per_epoch
        return range(max(0, math.ceil(moment / per_epoch) - 1) * per_epoch + 1, int(moment) + 1)

    @property
    def moment_text(self) -> str:
        """That moment in words."""
        return self._strip.moment_text if self._strip is not None else ""

    @property
    def strip(self) -> "RunStrip":
        """The strip; made when first needed."""
        if self._strip is None:
            from netwright.app.runs.run_strip import RunStrip

            self._strip = strip = RunStrip(self._design.strip_bar)
            strip.plot.moved.connect(self.moved)
            strip.closed.connect(lambda: self._design.show_strip(is_shown=False))
            strip.clicked.connect(self._training.click)
            self._design.strip_bar.addWidget(strip)
        return self._strip

    def _on_requested(self) -> None:
        """Show a new run below the canvas, which stays; from elsewhere the page Runs shows it."""
        self._on_run_shown()
        if self._design.strip_bar.isHidden():
            self._shell.show_tab("runs")

    def _on_run_shown(self) -> None:
        """Look at the newest of another run; one that is under way brings the strip back."""
        if self._strip is not None:
            self._strip.plot.go_to(None)
        if self._training.phase.is_running:
            self._design.show_strip(is_shown=True)
        self._refresh()

    def _refresh(self, _event: object = None) -> None:
        if not self._design.is_strip_wanted:
            return
        monitor = self._training.monitor
        self.strip.show_run(monitor.facts.head, monitor.board)
