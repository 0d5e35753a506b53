"""`mcp [PROJECT ...]`: a server for an assistant, by the Model Context Protocol on standard input and output.

The library is imported by the command alone.
"""

import argparse
from pathlib import Path

from netwright.engine.cli.commands import Commands
from netwright.engine.core.errors import EXIT_DONE
from netwright.engine.core.extras import import_extra
from netwright.engine.core.part_registry import imported


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Serve an assistant by the Model Context Protocol: its client starts this command and speaks through standard "
        "input and output. The assistant reads projects and runs in the named folders, and nothing outside of them. "
        "With --write it proposes changes as copies beside a project. Every call is recorded in runs/ of the folder."
    )
    command = commands.add_parser("mcp", description=text)
    command.add_argument(
        "paths", nargs="*", type=Path, metavar="PROJECT|DIR", help="what it may read (default: the current folder)"
    )
    command.add_argument("--write", action="store_true", help="also propose changes, as files beside a project")
    command.add_argument("--allow-runs", action="store_true", help="also start trainings, which take time and power")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until standard input ends."""
    import_extra("mcp", "mcp", "Servers for assistants")
    permissions = imported("netwright.engine.assistants.assistant_calls:Permissions")
    allowed = permissions(may_write=arguments.write, may_start=arguments.allow_runs)
    imported("netwright.engine.assistants.mcp_server:serve")(arguments.paths, allowed)
    return EXIT_DONE
