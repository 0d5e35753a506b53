"""Command `weights`: what fills a network, and published weights."""

import argparse
import shlex
from functools import partial
from pathlib import Path
from typing import Any

from netwright.engine.cli.answers import add_json, note, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.common import add_project, add_trust
from netwright.engine.cli.printing import say
from netwright.engine.cli.terminal import print_table, showing
from netwright.engine.core.errors import EXIT_DONE, UserError
from netwright.engine.core.fork import run_in_child_process
from netwright.engine.core.text import format_bytes
from netwright.engine.operations.projects import look_at_code, read_project
from netwright.engine.project.project import Project
from netwright.engine.project.published_weights import published, published_entry
from netwright.engine.project.weights import chosen
from netwright.engine.runs.folder import origin

MOST_SHOWN = 20
"""Number of keys of each kind that are printed; --json has more."""
PATIENCE_S = 1800.0


def register(commands: Commands) -> None:
    """Add the command."""
    text = "Show what of a file fills a network, or bring published weights onto this machine."
    command = commands.add_parser("weights", description=text)
    command.set_defaults(run=partial(_help, command))
    ways = command.add_subparsers(dest="way", metavar="WHAT")
    told = "show which layers of a project are loaded from its weights, and which start fresh"
    way = ways.add_parser("match", help=told, description=f"{told[:1].upper()}{told[1:]}.")
    add_project(way)
    way.add_argument("--from", dest="source", type=Path, metavar="FILE|RUN", help="weights instead of the project's")
    add_trust(way)
    add_json(way)
    way.set_defaults(run=run_match)
    told = "list published weights that can be fetched, and those that are here"
    way = ways.add_parser("list", help=told, description=f"{told[:1].upper()}{told[1:]}.")
    add_json(way)
    way.set_defaults(run=run_list)
    told = "fetch published weights into the user's cache folder; an interrupted download resumes"
    way = ways.add_parser("fetch", help=told, description=f"{told[:1].upper()}{told[1:]}.")
    way.add_argument("name", metavar="NAME", help="a name of `weights list`, such as resnet18")
    add_json(way)
    way.set_defaults(run=run_fetch)


def _help(command: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    """Print the list of subcommands."""
    command.print_help()
    return EXIT_DONE


def run_match(arguments: argparse.Namespace) -> int:
    """Print what is loaded and what is not."""
    project, notices = read_project(arguments.project, arguments.settings)
    known = origin(arguments.project)
    if arguments.source is not None:
        project = project.with_section("weights", chosen(arguments.source, Path.cwd()).replace(map=project.weights.map))
    note(notices)
    look_at_code(project, known.code_base, known.code, trusted=arguments.trust)
    base = Path.cwd() if arguments.source is not None else known.base
    found = run_in_child_process(partial(match_report, project, base), PATIENCE_S)
    if arguments.json:
        print_json(arguments, found)
        return EXIT_DONE
    _print_match(found)
    return EXIT_DONE


def _print_match(found: dict[str, Any]) -> None:
    rows = [(layer["name"], layer["state"], layer["why"]) for layer in found["layers"]]
    print_table([("layer", "state", "why"), *(tuple(row) for row in rows)])
    for title, keys in (("Left over in the file", found["left_over"]), ("Without numbers", found["missing"])):
        if keys:
            more = len(keys) - MOST_SHOWN
            shown = ", ".join(keys[:MOST_SHOWN])
            say(f"{title}: {shown}{f' and {more:,} more' if more > 0 else ''}")
    say(f"{found['file']}: {found['sentence']}")


def match_report(project: Project, base: Path) -> dict[str, Any]:
    """Return the report on the weights of a project as JSON. Raises `UserError`, also where it names none."""
    from netwright.engine.lowering.start_weights import start_report

    if not project.weights.file:
        raise UserError("The project starts from random numbers.", hint="Name weights: --from FILE.")
    return start_report(project, base).write()


def run_list(arguments: argparse.Namespace) -> int:
    """Print a row per published file."""
    entries = published().values()
    if arguments.json:
        print_json(arguments, {"weights": [entry.write() for entry in entries]})
        return EXIT_DONE
    rows = [(entry.name, entry.template, entry.title, "here" if entry.is_here else "", entry.url) for entry in entries]
    print_table([("name", "template", "title", "", "address"), *(tuple(row) for row in rows)])
    return EXIT_DONE


def run_fetch(arguments: argparse.Namespace) -> int:
    """Fetch a file and print where it lies."""
    from netwright.engine.data.sources.fetch_weights import fetch

    entry = published_entry(arguments.name)
    with showing("fetching"):
        path = fetch(entry)
    if arguments.json:
        print_json(arguments, {"name": entry.name, "path": str(path), "bytes": path.stat().st_size})
        return EXIT_DONE
    say(f"{path}: {format_bytes(path.stat().st_size)}, SHA-256 begins with {entry.sha256}")
    if entry.licence:
        say(f"licence: {entry.licence}")
    say(f"next: netwright-engine transfer PROJECT -o NEW --weights {shlex.quote(str(path))}")
    return EXIT_DONE
