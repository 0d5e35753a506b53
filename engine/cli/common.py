"""Arguments of the commands that name a project, and reading it with its settings."""

import argparse
from pathlib import Path

from netwright.engine.project.data_hosts import MOST_FILES


def add_project(command: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """Add the arguments `PROJECT`, of which there may be several with `nargs`, and `--set` to a command."""
    command.add_argument("project", type=Path, nargs=nargs, metavar="PROJECT", help="a project file (*.netwright)")
    add_settings(command, "training.max_epochs=5")


def add_settings(command: argparse.ArgumentParser, such_as: str) -> None:
    """Add `--set` to a command; the help shows the example `such_as`."""
    command.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="SECTION.OPTION=VALUE",
        help=f"another value for an option, such as {such_as}; may be given several times",
    )


def add_trust(command: argparse.ArgumentParser) -> None:
    """Add `--trust` to a command that runs user code."""
    description = "let the project's own code (custom layers, functions, hooks) run this time, with all your rights"
    command.add_argument("--trust", action="store_true", help=description)


def add_allow_host(command: argparse.ArgumentParser) -> None:
    """Add `--allow-host` to a command that reads data, which a project may have behind a URL."""
    description = (
        "let the data be fetched from this host, now and whenever the project or run is used; HOST=N for more than "
        f"{MOST_FILES:,} files; may be given several times"
    )
    command.add_argument(
        "--allow-host", dest="allowed_hosts", action="append", default=[], metavar="HOST", help=description
    )
