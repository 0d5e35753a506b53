"""Uses a real window as a person does, in a process of its own: the start page, an example, a training, its run in the
list of experiments. Says the run's folder, and what of the network Qt and other libraries have to do with.

python -m tests.faults.window_user
"""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
from PySide6.QtWidgets import QApplication

from netwright.app.history.runs_page import RunsPage
from netwright.app.window import MainWindow

PATIENCE_S = 120.0


def main() -> None:
    """The life of the window."""
    app = QApplication(["netwright"])
    window = MainWindow("light", tab="start")
    ends: set[str] = set()

    def wait_for(fact: Callable[[], bool], what: str) -> None:
        pause, deadline = threading.Event(), time.monotonic() + PATIENCE_S
        while not fact():
            assert time.monotonic() < deadline, f"never: {what}"
            app.processEvents()
            pause.wait(0.005)
        ends.update(str(one.laddr) for one in psutil.Process().net_connections("inet"))

    window.show_start()
    window.show()
    page = window.start_page
    wait_for(lambda: page.is_drawn, "pictures")
    page.search.setText("digits")
    page.search.returnPressed.emit()
    wait_for(lambda: len(window.editor.network.layers) > 3, "the example")
    training = replace(window.editor.project, training=window.editor.project.training.replace(max_epochs=1))
    window.editor.apply("Options", training)
    window.show_tab("data")
    wait_for(lambda: window.editor.dataset_info is not None, "facts of the data")
    window.show_tab("runs")
    window.training.start()
    wait_for(lambda: window.training.run_folder is not None and not window.training.is_running, "the end of the run")
    folder = window.training.run_folder
    assert folder is not None
    page_of_runs = window.tabs.page("runs")
    assert isinstance(page_of_runs, RunsPage)
    history = page_of_runs.history
    wait_for(lambda: history.is_read and folder.path in history.runs, "the run in the list")
    libraries = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    window.editor.mark_saved()
    window.close()
    window.shutdown()
    said = {"run": str(folder.path), "ends": sorted(ends), "has_qt_network": "libQt6Network" in libraries}
    print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
