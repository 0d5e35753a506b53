"""The program of the tour: its window, in a process and with a folder of its own, which has settings, projects and
runs and goes with it. Its arguments are the key of a chapter, the theme, the size of the text in pixels, and the
language."""

# isort: off
from netwright.app import startup  # before all others: it says why
# isort: on

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QTimer

from netwright.app.main import application, run_until_closed
from netwright.app.pipes import PipeWatcher
from netwright.app.tour.chapters import CHAPTERS
from netwright.app.tour.stage import Stage
from netwright.app.tour.tour import Tour
from netwright.app.window import MainWindow
from netwright.designer import language
from netwright.designer.language import tr
from netwright.designer.settings import settings
from netwright.engine.core.folders import VARIABLE
from netwright.engine.core.process import MessageReader, print_line

startup.imported()


def main(arguments: Sequence[str]) -> int:
    """Show the tour until it is over or its input is closed. Return the exit code."""
    chapter, scheme, text_size, name = arguments
    folder = tempfile.mkdtemp(prefix="netwright-tour-")
    os.environ[VARIABLE] = folder
    os.environ[language.VARIABLE] = name
    settings().setValue("text_size", text_size)
    settings().setValue("theme", scheme)
    settings().sync()
    startup.begin()
    try:
        return _run(chapter, Path(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(chapter: str, folder: Path) -> int:
    app = application()
    window = MainWindow(tab="design")
    window.resize(1280, 800)
    window.setWindowTitle(tr("Tour — Netwright"))
    tour = Tour(window, Stage(window, folder / "projects"), CHAPTERS)
    tour.finished.connect(window.leave)
    window.painted.connect(startup.shown)
    window.painted.connect(lambda: tour.start(chapter))
    window.painted.connect(lambda: print_line({"is_shown": True}))
    _listen(window, tour)
    code = run_until_closed(app, window)
    startup.over()
    return code


def _listen(window: MainWindow, tour: Tour) -> None:
    """Go to the chapters that the window which started the tour asks for, and close when that is closed."""
    reader = MessageReader(sys.stdin.fileno())
    watcher = PipeWatcher(reader.descriptor, window)

    def look() -> None:
        for message in reader.read():
            tour.start(str(message["chapter"]))
            window.activateWindow()
            window.raise_()
        if not reader.is_open:
            watcher.stop()
            QTimer.singleShot(0, tour, tour.close)

    watcher.activated.connect(look)
