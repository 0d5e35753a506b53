"""`note RUN [TEXT]`: what a person remarks on a run, in a file of its own in the run's folder."""

import argparse
from pathlib import Path

from engine.commands.common import Commands
from engine.errors import EXIT_DONE
from engine.runs.folder import open_run
from engine.runs.notes import read_notes, write_notes


def register(commands: Commands) -> None:
    """Add the command."""
    text = "Put a note to a run, in place of the one it has; an empty text takes it away. Without a text, print it."
    command = commands.add_parser("note", help="remark on a run", description=text)
    command.add_argument("folder", type=Path, metavar="RUN", help="the folder of the run")
    command.add_argument("text", nargs="?", metavar="TEXT", help="the note")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write or print the note."""
    folder = open_run(arguments.folder)
    if arguments.text is not None:
        write_notes(folder, note=arguments.text)
    elif note := read_notes(folder).note:
        print(note)
    return EXIT_DONE
