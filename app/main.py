"""`netwright [PROJECT]`: makes the application object and the main window, and runs the event loop."""

# isort: off
from netwright.app import startup  # before all others: it says why
# isort: on

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtWidgets import QApplication

from netwright.app.window import MainWindow
from netwright.designer import language, theme
from netwright.engine.core.errors import UserError
from netwright.engine.core.part_registry import entry
from netwright.engine.core.platform import age_s
from netwright.engine.core.version import VERSION
from netwright.engine.project.import_kinds import can_import

startup.imported()

THEMES: tuple[theme.Scheme, ...] = ("system", "light", "dark", "contrast")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the window's command line."""
    command = argparse.ArgumentParser(prog="netwright", description="Design, train and understand neural networks.")
    command.add_argument(
        "project", nargs="?", type=Path, metavar="PROJECT", help="a project file to open, or a network to import"
    )
    command.add_argument("--template", metavar="NAME", help="start with a copy of a template, such as resnet18")
    command.add_argument("--theme", choices=THEMES, help="look of the window, for this time")
    command.add_argument("--start-page", action="store_true", help="begin with it, whatever the Preferences say")
    command.add_argument("--startup-report", action="store_true", help="print how long the window took, and leave")
    command.add_argument("--version", action="version", version=f"netwright {VERSION}")
    return command


def main(argv: Sequence[str] | None = None) -> int:
    """Show the window until it is closed. Return the exit code."""
    arguments = _arguments(argv)
    app = application()
    code = _run(app, arguments)
    startup.over()
    return code


def application() -> QApplication:
    """Make the application, with its names and its language."""
    app = QApplication.instance() or QApplication([sys.argv[0]])
    assert isinstance(app, QApplication)
    app.setApplicationName("Netwright")
    app.setOrganizationName("Netwright")
    app.setApplicationVersion(VERSION)
    app.setDesktopFileName("netwright")  # the name, icon and group of its windows on a Linux desktop
    language.install(app)
    return app


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the parsed arguments; a template has become the project to open."""
    command = parser()
    arguments = command.parse_args(argv)
    if arguments.template is not None:
        from netwright.app.start_page.gallery import template

        if arguments.project is not None:
            command.error("give a PROJECT or a --template, not both")
        try:
            arguments.project = template(arguments.template)
        except UserError as error:
            command.error(str(error))
    return arguments


def _run(app: QApplication, arguments: argparse.Namespace) -> int:
    """Make the window as the arguments ask for it, and run it until it is closed."""
    startup.begin()
    tab = "start" if arguments.project is None else "design"
    window = MainWindow(arguments.theme, tab=tab, start_engine=not arguments.startup_report)
    imported = arguments.project if arguments.project is not None and can_import(arguments.project) else None
    if imported is not None:
        is_open = False
        window.painted.connect(lambda: window.imports.start(imported))
    elif arguments.project is not None:
        is_open = window.open_path(arguments.project)
    else:
        is_open = not arguments.startup_report and (
            window.files.recover() or (not arguments.start_page and window.files.reopen())
        )
    if not is_open:
        window.show_start()
    window.painted.connect(startup.shown)
    if arguments.startup_report:
        window.painted.connect(lambda: _report_start(window))
    else:
        window.painted.connect(lambda: _watch_assistants(window))
    return run_until_closed(app, window)


def run_until_closed(app: QApplication, window: MainWindow) -> int:
    """Show the window until it is closed, then delete it. Return the exit code.

    Qt deletes a widget with all it holds in order. The end of the interpreter does not, and may crash on plots.
    """
    window.show()
    code = app.exec()
    window.shutdown()
    window.deleteLater()
    app.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # `processEvents` leaves deletions to an event loop
    return code


def _watch_assistants(window: MainWindow) -> None:
    """Ask the user what assistants ask for, where the part for that is installed."""
    if (watch := entry("dialogs", "assistant_requests")) is not None:
        watch(window)


def _report_start(window: MainWindow) -> None:
    report = {"seconds_to_window": round(age_s(), 3), "memory_bytes": _memory_bytes()}
    print(json.dumps(report), flush=True)
    QTimer.singleShot(0, window, window.leave)


def _memory_bytes() -> int:
    """Return the resident memory, with the 1.5 MB of psutil, which a window does without otherwise."""
    import psutil

    return int(psutil.Process().memory_info().rss)
