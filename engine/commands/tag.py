"""`tag RUN [TAG ...]`: words that runs are found by (`runs --filter tag:paper`)."""

import argparse
from pathlib import Path

from engine.commands.common import Commands
from engine.errors import EXIT_DONE
from engine.runs.folder import open_run
from engine.runs.notes import read_notes, write_notes


def register(commands: Commands) -> None:
    """Add the command."""
    text = "Add tags to a run, or take them away, and print those it has then."
    command = commands.add_parser("tag", help="tag a run", description=text)
    command.add_argument("folder", type=Path, metavar="RUN", help="the folder of the run")
    command.add_argument("tags", nargs="*", metavar="TAG", help="a tag")
    command.add_argument("--remove", action="store_true", help="take these tags away")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write and print the tags."""
    folder = open_run(arguments.folder)
    known = read_notes(folder).tags
    if arguments.tags:
        kept = tuple(tag for tag in known if tag not in arguments.tags)
        write_notes(folder, tags=kept if arguments.remove else (*known, *arguments.tags))
    for tag in read_notes(folder).tags:
        print(tag)
    return EXIT_DONE
