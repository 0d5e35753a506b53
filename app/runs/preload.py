"""Imports what the tabs and the options dialog need, once the window is up and nobody waits for it.

numpy alone takes a tenth of a second: it comes in a thread, which lets the window have its turns. No garbage is
collected meanwhile: Python would do so in either thread, and Qt objects among it must not be taken apart outside of the
window's own. The rest makes Qt classes, so it comes in the window's own thread, one module a turn.
"""

import gc
from importlib import import_module
from threading import Thread

from PySide6.QtCore import QObject, QTimer

MODULES = (
    "engine.runs.folder",
    "app.runs.supervisor",
    "app.plots.curve_card",
    "app.runs.facts_panel",
    "app.runs.monitor",
    "app.data.tab",
    "engine.runs.history",
    "app.runs.queue",
    "app.runs.queue",
    "app.dialogs.training_options",
    "engine.runs.query",
    "app.experiments.runs_table",
    "app.experiments.history",
    "app.experiments.tab",
    "app.experiments.actions",
    "app.start_page.page",
)
TURN_MS = 50


class Preload(QObject):
    """Starts at once; `close` waits for what is under way."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._left = list(MODULES)
        self._thread = Thread(target=_numpy, name="import numpy")
        self._timer = QTimer(self, interval=TURN_MS)
        self._timer.timeout.connect(self._turn)
        self._was_collecting = gc.isenabled()
        gc.disable()
        self._thread.start()
        self._timer.start()

    def _turn(self) -> None:
        if self._thread.is_alive():
            return
        self._collect_again()
        if self._left:
            import_module(self._left.pop(0))
        else:
            self._timer.stop()

    @property
    def is_done(self) -> bool:
        """Whether everything is here."""
        return not self._left and not self._thread.is_alive()

    def close(self) -> None:
        """Import no more."""
        self._timer.stop()
        self._thread.join()
        self._collect_again()

    def _collect_again(self) -> None:
        if self._was_collecting:
            gc.enable()
            self._was_collecting = False


def _numpy() -> None:
    import numpy  # noqa: F401  # to have it imported is the point
