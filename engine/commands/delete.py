"""`delete RUN ...`: move runs to the bin, never one that is at work; `restore RUN ...`: bring them back."""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

from engine.commands.common import Commands
from engine.errors import EXIT_DONE, UserError
from engine.runs.bin import discard, restore
from engine.runs.folder import open_run


def register(commands: Commands) -> None:
    """Add the commands."""
    text = "Move runs to the bin, from where `restore` or the desktop brings them back. A run at work is refused."
    command = commands.add_parser("delete", help="move runs to the bin", description=text)
    command.add_argument("folders", type=Path, nargs="+", metavar="RUN", help="the folder of a run")
    command.set_defaults(run=partial(_run, lambda path: discard(open_run(path)), "moved to the bin"))
    text = "Bring runs back from the bin, to where they were."
    command = commands.add_parser("restore", help="bring runs back from the bin", description=text)
    command.add_argument("folders", type=Path, nargs="+", metavar="RUN", help="the folder that the run had")
    command.set_defaults(run=partial(_run, restore, "brought back"))


def _run(do: Callable[[Path], None], done: str, arguments: argparse.Namespace) -> int:
    """Do what can be done, and say at the end what cannot."""
    refused = []
    for path in arguments.folders:
        try:
            do(path)
            print(f"{done}: {path}")
        except UserError as error:
            refused.append(str(error))
    if refused:
        raise UserError("\n".join(refused))
    return EXIT_DONE
