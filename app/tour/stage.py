"""The throw-away state that a tour works with: a copy of the digits example for each beginning, in a folder that goes
with the tour."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QTimer

from netwright.app.documents import EXAMPLES
from netwright.app.tour.steps import Chapter, Step, close_dialogs, open_dialogs
from netwright.app.window import MainWindow
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.project.file import load, save

EXAMPLE = f"digits{SUFFIX}"
TRAINING_S = 120.0
DIALOG_S = 10.0


@dataclass(frozen=True)
class Wait:
    """A fact that a script waits for, at most for a time."""

    fact: Callable[[], bool]
    patience_s: float


Script = Iterator[Wait]


class Stage:
    """Brings the window to the beginning of a chapter, and carries out steps. Its scripts yield what they wait for."""

    def __init__(self, window: MainWindow, folder: Path) -> None:
        self._window, self._folder = window, folder
        self._trained: Path | None = None
        """A folder with a project and its run, which later beginnings copy."""
        self._num_copies = 0

    def begin(self, chapter: Chapter) -> Script:
        """Open a fresh project, as it is at the beginning of a chapter."""
        window = self._window
        yield from self.close_dialogs()
        yield from self.stop()
        window.editor.mark_saved()
        window.open_path(self._copy(chapter))
        window.show_tab("design")
        for dock in window.design.docks:
            dock.show()
        window.show_tab(chapter.tab)
        if window.editor.project.data.source != "none":
            yield Wait(lambda: window.dataset.is_current, TRAINING_S)
        if chapter.needs_run:
            yield from self._show_run()
        window.show_tab(chapter.tab)

    def _copy(self, chapter: Chapter) -> Path:
        """Make a project in a folder of its own, so that the runs of another beginning are not its runs."""
        self._num_copies += 1
        folder = self._folder / str(self._num_copies)
        if chapter.needs_run and self._trained is not None:
            shutil.copytree(self._trained, folder)
            return folder / EXAMPLE
        folder.mkdir(parents=True)
        save(chapter.prepare(load(EXAMPLES / EXAMPLE).project), folder / EXAMPLE)
        return folder / EXAMPLE

    def _show_run(self) -> Script:
        """Show the run of the project; the first time it is trained."""
        training = self._window.training
        self._window.show_tab("runs")
        if self._trained is None:
            training.start()
            yield Wait(lambda: not training.is_running, TRAINING_S)
            if training.run_folder is not None:
                base = self._window.documents.base
                self._trained = Path(shutil.copytree(base, self._folder / "trained"))
        else:
            training.catch_up()
            yield Wait(lambda: training.run_folder is not None and not training.is_running, DIALOG_S)

    def carry_out(self, step: Step) -> Script:
        """Do what a step asks for, unless that is done."""
        window, act = self._window, step.act
        step.show(window)
        if act is None or (step.is_done is not None and step.is_done(window)):
            return
        QTimer.singleShot(0, window, lambda: act(window))  # a dialog keeps its caller until it is closed
        if (is_done := step.is_done) is not None:
            yield Wait(lambda: is_done(window), step.patience_s)

    def close_dialogs(self) -> Script:
        """Close all dialogs of the window, the last one first."""
        window = self._window
        close_dialogs(window)
        yield Wait(lambda: not open_dialogs(window), DIALOG_S)

    def stop(self) -> Script:
        """Stop the run that is under way."""
        training = self._window.training
        if training.is_running:
            training.stop()
            yield Wait(lambda: not training.is_running, TRAINING_S)
