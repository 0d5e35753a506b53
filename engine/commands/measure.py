"""`measure PROJECT`: run the project's own layers on small tensors, once: their sizes are known from then on."""

import argparse
from pathlib import Path

from engine.commands.common import Commands, add_trust, look_at_code, print_json
from engine.custom import known
from engine.errors import EXIT_DONE, EXIT_INPUT, plural
from engine.project.code import measure, refuse_untrusted
from engine.project.file import load


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Run the custom layers and functions of a project on small tensors, in a process of their own, and remember "
        "their sizes. The window does so by itself once the folder is trusted."
    )
    command = commands.add_parser("measure", help="learn the sizes of a project's own layers", description=text)
    command.add_argument("project", type=Path, metavar="PROJECT", help="a project file (*.netwright)")
    base = "folder that its files lie in, if not the project's own"
    command.add_argument("--base", type=Path, metavar="DIR", help=base)
    add_trust(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure, and say what was learnt; 2 if something went wrong in the code."""
    project = load(arguments.project).project
    base = (arguments.base or arguments.project.parent).resolve()
    look_at_code(project, base, trusted=arguments.trust)
    if not arguments.json:
        refuse_untrusted(project.network)
    rows = known.answers(measure(project.network))
    if arguments.json:
        print_json({"answers": rows})
        return EXIT_DONE
    failures = [str(row["failed"]) for row in rows if "failed" in row]
    print(f"measured {plural(len(rows) - len(failures), 'layer')}" if rows else "nothing new to measure")
    for failure in failures:
        print(f"error: {failure}")
    return EXIT_INPUT if failures else EXIT_DONE
