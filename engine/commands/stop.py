"""`stop RUN`: ask a run to stop, and wait until it has. What was learned is kept."""

import argparse
import time
from pathlib import Path

from engine.commands.common import Commands
from engine.errors import EXIT_DONE, RunError, UserError
from engine.runs.events import ENDS
from engine.runs.folder import open_run


def register(commands: Commands) -> None:
    """Add the command."""
    text = "Ask a run to stop and wait until it has. What was learned is kept."
    command = commands.add_parser("stop", help="stop a run", description=text)
    command.add_argument("folder", type=Path, metavar="RUN", help="the folder of the run")
    command.add_argument("--after-epoch", action="store_true", help="let it complete the epoch first")
    command.add_argument("--wait", type=float, default=30.0, metavar="SECONDS", help="how long to wait (30)")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Put the request into the run's folder and watch its state."""
    folder = open_run(arguments.folder)
    state = folder.state()
    if state in ENDS:
        raise UserError(f"The run in {folder.path} has already ended: {state}.")
    folder.request("stop_after_epoch" if arguments.after_epoch else "stop")
    deadline = time.monotonic() + max(0.0, arguments.wait)
    while (state := folder.state()) not in ENDS:
        if time.monotonic() >= deadline:
            raise RunError(
                f"The run in {folder.path} has not stopped within {arguments.wait:g} s; it is {state}. "
                "The request stays; `follow` shows when it is done."
            )
        time.sleep(0.05)
    print(state)
    return EXIT_DONE
