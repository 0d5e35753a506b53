"""`runs [DIR|PROJECT]`: the runs of a folder, or of a project."""

import argparse
import time
from pathlib import Path
from typing import Any

from engine.commands.common import Commands, print_json, table
from engine.errors import EXIT_DONE
from engine.runs.events import from_json
from engine.runs.folder import runs_beside
from engine.runs.history import RunSummary, list_runs
from engine.runs.words import duration, metric_value


def register(commands: Commands) -> None:
    """Add the command."""
    text = "List the runs in a folder, or beside a project file, newest first."
    command = commands.add_parser("runs", help="list runs", description=text)
    what = "a folder with runs, or a project file; default: ./runs"
    command.add_argument("place", type=Path, nargs="?", default=Path("runs"), metavar="DIR|PROJECT", help=what)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the list."""
    place: Path = arguments.place
    is_project = place.is_file()
    folder = runs_beside(place) if is_project else place
    found = [] if is_project and not folder.exists() else list_runs(folder)
    if arguments.json:
        print_json({"runs": [run.write() for run in found]})
    elif not found:
        print(f"There are no runs in {folder}.")
    else:
        rows = [("run", "state", "when", "environment", "epochs", "time", "result"), *map(_row, found)]
        print("\n".join(table(rows, right=(4,))))
    return EXIT_DONE


def _row(run: RunSummary) -> tuple[str, ...]:
    result: dict[str, Any] = run.result or {}
    best = from_json(result.get("test") or result.get("validation"))
    numbers = {name: value for name, value in best.items() if _is_number(value)} if isinstance(best, dict) else {}
    shown = ", ".join(metric_value(name, value) for name, value in numbers.items())
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created)) if run.created else ""
    spent = duration(result["seconds"]) if _is_number(result.get("seconds")) else ""
    return run.path.name, run.state, when, run.environment, f"{result.get('epochs', '')}", spent, shown


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))
