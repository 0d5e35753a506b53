"""`runs [DIR|PROJECT]`: the runs of a folder, or of a project."""

import argparse
import sys
import time
from pathlib import Path

from engine.commands.common import Commands, print_json, table
from engine.errors import EXIT_DONE
from engine.fields import printable
from engine.runs.creating import runs_beside
from engine.runs.history import list_runs
from engine.runs.query import matching, order_by
from engine.runs.summary import RunSummary, format_metric
from engine.runs.table import as_csv
from engine.words import format_duration

LONGEST_CHANGES = 60
LONGEST_CELL = 200


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "List the runs in a folder, or beside a project file, newest first, with what differs from the run before. "
        "A filter is words and conditions of which all must hold: digits state:failed tag:paper accuracy>0.9 "
        "validation.loss<0.2 epochs>=5 training.max_epochs=30."
    )
    command = commands.add_parser("runs", help="list runs", description=text)
    what = "a folder with runs, or a project file; default: ./runs"
    command.add_argument("place", type=Path, nargs="?", default=Path("runs"), metavar="DIR|PROJECT", help=what)
    command.add_argument("--filter", default="", metavar="TEXT", help="only the runs that this fits")
    by = "created (default), run, name, state, environment, epochs, seconds, or a figure such as validation.loss"
    command.add_argument("--sort", default="created", metavar="KEY", help=by)
    command.add_argument("--reverse", action="store_true", help="sort the other way round")
    formats = command.add_mutually_exclusive_group()
    formats.add_argument("--json", action="store_true", help="print one JSON object")
    formats.add_argument("--csv", action="store_true", help="print a table with every figure and option")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the list."""
    place: Path = arguments.place
    is_project = place.is_file()
    folder = runs_beside(place) if is_project else place
    known = [] if is_project and not folder.exists() else list_runs(folder)
    order = order_by(arguments.sort, known, is_reversed=arguments.reverse)
    found = order.sorted(matching(known, arguments.filter))
    if arguments.json:
        print_json({"runs": [run.write() for run in found]})
    elif arguments.csv:
        sys.stdout.write(as_csv(found))
    elif not found:
        left_out = f" that fit '{arguments.filter}'; there are {len(known):,} in all" if known else ""
        print(f"There are no runs in {folder}{left_out}.")
    else:
        print("\n".join(table(_rows(found), right=(4,))))
    return EXIT_DONE


def _rows(runs: list[RunSummary]) -> list[tuple[str, ...]]:
    """A header and a row a run; tags where there are any."""
    rows = [("run", "state", "when", "environment", "epochs", "time", "result", "tags", "changes"), *map(_row, runs)]
    if not any(run.notes.tags for run in runs):
        rows = [(*row[:7], row[8]) for row in rows]
    return rows


def _row(run: RunSummary) -> tuple[str, ...]:
    epochs, seconds = run.number("epochs"), run.number("seconds")
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created)) if run.created else ""
    changed = "; ".join(map(str, run.changes))
    told = (
        *(run.path.name, run.state, when, run.environment, "" if epochs is None else f"{epochs:.0f}"),
        "" if seconds is None else format_duration(seconds),
        _result(run),
        ", ".join(run.notes.tags),
        changed if len(changed) <= LONGEST_CHANGES else f"{changed[: LONGEST_CHANGES - 1]}…",
    )
    return tuple(printable(cell)[:LONGEST_CELL] for cell in told)  # a stranger wrote some of them


def _result(run: RunSummary) -> str:
    """The figures of the test part, else of the validation part."""
    scores = run.scores
    for part in ("test.", "validation."):
        of_part = {name.removeprefix(part): value for name, value in scores.items() if name.startswith(part)}
        if of_part:
            return ", ".join(format_metric(name, value) for name, value in of_part.items())
    return ""
