"""What all commands print: notices, tables, and JSON in its envelope. Imports nothing of projects and runs."""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from netwright.engine.cli.printing import say, say_json
from netwright.engine.core.finite_json import to_json
from netwright.engine.core.version import SCHEMA_VERSION


def note(notices: Iterable[str]) -> None:
    """Print each notice as a line on standard error."""
    for notice in notices:
        say(f"note: {notice}", to=sys.stderr)


def add_json(command: argparse._ActionsContainer, help: str = "print one JSON object") -> None:
    """Add `--json` to a command."""
    command.add_argument("--json", action="store_true", help=help)


def print_json(arguments: argparse.Namespace, value: Mapping[str, Any]) -> None:
    """Print an object as standard JSON on standard output, in the envelope that all commands have: `schema_version` and
    `command`. ASCII only, non-finite numbers as strings."""
    say_json(to_json({**envelope(arguments), **value}))
    arguments.has_printed_json = True


def envelope(arguments: argparse.Namespace) -> Mapping[str, Any]:
    """Return the keys that the JSON of all commands has."""
    command = " ".join(filter(None, (arguments.command, getattr(arguments, "way", None)))) or None
    return {"schema_version": SCHEMA_VERSION, "command": command}


def failure(code: str, message: str, hint: str = "", data: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the entry `error` that the JSON of a command has where its exit code is not 0. It has a `hint` and `data`
    where they are known."""
    more = {"hint": hint} if hint else {}
    return {"error": {"code": code, "message": message, **more, **({"data": data} if data else {})}}


def table(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Return lines with aligned columns. `right`: indexes of the right-aligned columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []

    def cell(text: str, i: int) -> str:
        return text.rjust(widths[i]) if i in right else text.ljust(widths[i])

    return ["  ".join(cell(text, i) for i, text in enumerate(row)).rstrip() for row in rows]
