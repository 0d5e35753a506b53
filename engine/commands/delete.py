"""`delete RUN ...`: move runs to the bin; never one that is at work."""

import argparse
from pathlib import Path

from engine.commands.common import Commands
from engine.errors import EXIT_DONE, UserError
from engine.runs.bin import discard
from engine.runs.folder import open_run


def register(commands: Commands) -> None:
    """Add the command."""
    text = "Move runs to the bin, from where the desktop can bring them back. A run that is at work is refused."
    command = commands.add_parser("delete", help="move runs to the bin", description=text)
    command.add_argument("folders", type=Path, nargs="+", metavar="RUN", help="the folder of a run")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Move what can be moved, and say at the end what cannot."""
    refused = []
    for path in arguments.folders:
        try:
            discard(open_run(path))
            print(f"moved to the bin: {path}")
        except UserError as error:
            refused.append(str(error))
    if refused:
        raise UserError("\n".join(refused))
    return EXIT_DONE
