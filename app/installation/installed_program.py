"""`netwright` and `netwright-engine` of an installed application: makes the engine's environment where it lacks, and
goes on in it. The folder of the application calls `main` with its own place."""

import sys
from collections.abc import Sequence
from pathlib import Path

from netwright.app.installation.engine_environment import Environment, read_bundle, start

NOT_YET = (
    "netwright-engine: the engine is not installed yet, or not for this version of Netwright. "
    "Start the window once (netwright): it says what is downloaded, and asks first."
)


def main(folder: Path, program: str, arguments: Sequence[str]) -> int:
    """Start a program, `window` or `engine`, of the application in a folder. Return the exit code of a start that was
    refused or given up."""
    try:
        environment = Environment(read_bundle(folder))
    except RuntimeError as error:
        print(f"netwright: {error}", file=sys.stderr)
        return 2
    if program == "engine":
        if not environment.is_complete:
            print(NOT_YET, file=sys.stderr)
            return 2
        start(environment, "netwright.engine", arguments)
    if not environment.is_complete and not _ask(environment):
        return 1
    start(environment, "netwright.app", arguments)
    return 0


def _ask(environment: Environment) -> bool:
    """Make the environment, if the user agrees. Return whether it is complete."""
    from PySide6.QtWidgets import QApplication

    from netwright.app.installation.setup_dialog import SetupDialog
    from netwright.designer import language, theme

    app = QApplication(["netwright"])
    language.install(app)
    theme.apply(app)
    app.setApplicationName("Netwright")
    app.setDesktopFileName("netwright")
    return bool(SetupDialog(environment).exec())
