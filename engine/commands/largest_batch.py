"""`largest-batch PROJECT`: the largest mini-batch that fits into memory, by trying."""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from engine.commands.common import Commands, add_project, facts_of, note, print_json, read_project, refusal
from engine.errors import EXIT_DONE, UserError
from engine.project.file import dumps
from engine.runs.origin import origin
from engine.words import format_bytes


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Try larger and larger mini-batches, each in a process that is thrown away, where and in the way the project "
        "says, with several workers too. On the CPU a share of the memory is the limit, on a GPU its memory."
    )
    command = commands.add_parser("largest-batch", help="the largest mini-batch that fits", description=text)
    add_project(command)
    share = "share of the machine's memory that all workers together may take on the CPU, 0 to 1; default 0.5"
    command.add_argument("--share", type=float, default=0.5, help=share)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print each trial, and what it comes to."""
    from engine.environments.machine.devices import lines_of

    if not 0 < arguments.share <= 1:
        raise UserError(f"--share: expected a number above 0 and at most 1, received {arguments.share:g}.")
    project, notices = read_project(arguments.project, arguments.settings)
    note(notices)
    facts = facts_of(project, origin(arguments.project).base)
    samples = facts.samples.get("training", 0) if facts else 0
    tried: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="netwright-") as folder:
        path = Path(folder) / "project.netwright"
        path.write_text(dumps(project), encoding="utf-8")
        given = (str(path), "--samples", str(samples), "--share", str(arguments.share))
        for line in lines_of("engine.environments.trials.largest", *given):
            if "error" in line:
                raise refusal(line)
            if "tried" in line:
                tried.append(line["tried"])
                if not arguments.json:
                    print(_words(line["tried"]), flush=True)
            elif arguments.json:
                print_json({**line, "tried": tried})
            else:
                print(line["words"])
    return EXIT_DONE


def _words(tried: dict[str, Any]) -> str:
    share = f" ({tried['samples']:,} a worker)" if tried["samples"] != tried["batch"] else ""
    fits = tried["refusal"] or f"fits: {format_bytes(tried['bytes'])}, {1000 * tried['seconds']:.1f} ms a step"
    return f"{tried['batch']:>9,}{share} on {tried['device']}: {fits}"
