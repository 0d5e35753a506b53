"""`serve`: answer the window's requests on standard input and output."""

import argparse

from engine.commands.common import Commands


def register(commands: Commands) -> None:
    """Add the command."""
    text = "Answer requests as JSON lines on standard input and output. The window starts this by itself."
    command = commands.add_parser("serve", help="answer the window's requests", description=text)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until standard input closes."""
    from engine.serve import serve

    return serve()
