"""Imports what the tabs and the options dialog need, once the window is up and nobody waits for it.

numpy alone takes a tenth of a second: it comes in a thread, which lets the window have its turns, with what pyqtgraph
needs of the standard library. No garbage is collected meanwhile: Python would do so in either thread, and Qt objects
among it must not be taken apart outside of the window's own. The rest makes Qt classes, so it comes in the window's own
thread, one module per turn. pyqtgraph asks for every class of Qt at once, which takes two tenths of a second, as Qt's
binding makes each when it is first asked for: they are made before, for some milliseconds per turn.
"""

import gc
import time
from collections.abc import Iterator
from importlib import import_module
from threading import Thread

from PySide6.QtCore import QObject, QTimer

MODULES = (
    "netwright.engine.runs.folder",
    "netwright.app.runs.run_follower",
    "pyqtgraph",
    "netwright.app.plots.curve_card",
    "netwright.app.runs.facts_panel",
    "netwright.app.runs.monitor",
    "netwright.app.data.data_tab",
    "netwright.engine.runs.history",
    "netwright.app.runs.queue_panel",
    "netwright.app.runs.queue_panel",
    "netwright.app.dialogs.training_options",
    "netwright.engine.runs.query",
    "netwright.app.history.run_history",
    "netwright.app.history.run_commands",
    "netwright.app.history.rail",
    "netwright.app.history.runs_page",
    "netwright.app.start_page.start_page",
)
IN_THREAD = ("numpy", "cProfile", "multiprocessing.connection", "pydoc", "xml.etree.ElementTree")
QT_MODULES = ("PySide6.QtCore", "PySide6.QtGui", "PySide6.QtWidgets")
TURN_MS = 50
BUSY_S = 0.01
"""How long the classes of Qt are made in one turn."""


class Preload(QObject):
    """Starts at once; `close` waits for what is under way."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._left = list(MODULES)
        self._classes = _qt_classes()
        self._thread = Thread(target=_import_all, name="import numpy")
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
        deadline = time.monotonic() + BUSY_S
        for _ in self._classes:
            if time.monotonic() > deadline:
                return
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


def _import_all() -> None:
    for module in IN_THREAD:
        import_module(module)


def _qt_classes() -> Iterator[object]:
    """Every name that pyqtgraph takes from Qt; to ask for it makes it."""
    for module in map(import_module, QT_MODULES):
        for name in filter(str.isidentifier, dir(module)):  # Qt lists nested classes too, as `Outer.Inner`
            yield getattr(module, name)
