"""A window in a process of its own, which can be killed as by a power cut: what a person did in it goes on.

python -m tests.journeys.first_life MODULE FUNCTION FOLDER
"""

import contextlib
import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtWidgets import QApplication

from netwright.app.window import MainWindow
from tests.journeys.person import Person
from tests.journeys.screen import ScreenWatch

DONE = "done"


@contextlib.contextmanager
def first_life(acts: Callable[[Person, Path], None], folder: Path) -> Iterator[None]:
    """Context that is entered once a person has done `acts` in another window, which is killed at the end."""
    arguments = [acts.__module__, acts.__name__, str(folder)]
    command = [sys.executable, "-m", "tests.journeys.first_life", *arguments]
    files = folder.with_name(f"{folder.name}-temporary")  # it removes none of its files
    files.mkdir()
    environment = {**os.environ, "TMPDIR": str(files)}
    root = Path(__file__).parents[2]
    window = subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, text=True)
    assert window.stdout is not None
    try:
        assert (line := window.stdout.readline().strip()) == DONE, line
        yield
    finally:
        window.kill()
        window.communicate()


def main(module: str, function: str, folder: str) -> None:
    """Open a window, do what is asked, and stay."""
    app = QApplication(["netwright"])
    window = MainWindow("light", tab="start")
    window.resize(1440, 900)
    window.show_start()
    window.show()
    window.activateWindow()
    acts = getattr(importlib.import_module(module), function)
    watch = ScreenWatch()
    acts(Person(window, watch, f"first life {function}"), Path(folder))
    assert not watch.flashes, f"shown as windows of their own: {watch.flashes}"
    print(DONE, flush=True)
    app.exec()


if __name__ == "__main__":
    main(*sys.argv[1:])
