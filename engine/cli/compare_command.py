"""`compare A B`: what is different between two projects or runs, as text; also as the external diff of git."""

import argparse
import difflib
import os
from collections.abc import Sequence
from pathlib import Path

from netwright.engine.cli.answers import add_json, failure, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.printing import say
from netwright.engine.core.errors import EXIT_DONE, EXIT_REQUIREMENT, UserError
from netwright.engine.core.files import read_file
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from netwright.engine.project.project_differences import Comparison, compare
from netwright.engine.runs.data_record import read_record
from netwright.engine.runs.folder import RunFolder

GIT_CHANGED = 7
"""Number of arguments of an external diff of git: path, then file, hash and mode of the old and the new side."""
GIT_RENAMED = 9
"""For a renamed file its new path and a few lines about that follow."""
LARGEST_BYTES = 2**26
"""Maximum size of a file that is compared by lines."""

LARGEST_BYTES = 2**26


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Show what turns project A into project B: layers, fields, connections, options; for the folders of two runs "
        f"also whether they had the same data. Exits 0 where they are equal, {EXIT_REQUIREMENT} where they differ."
    )
    command = commands.add_parser("compare", description=text)
    command.add_argument(
        "projects", type=Path, nargs="+", metavar="PROJECT|RUN", help="two project files or run folders"
    )
    command.add_argument("--layout", action="store_true", help="also show layers that were moved on the canvas")
    add_json(command)
    command.add_argument("--git", action="store_true", help="work as git's external diff: take its arguments, exit 0")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the differences; 4 if there are any."""
    if arguments.git:
        return _run_for_git([str(path) for path in arguments.projects], with_layout=arguments.layout)
    if len(arguments.projects) != 2:
        raise UserError(f"compare takes two project files, received {len(arguments.projects)}.")
    runs = [RunFolder(path) for path in arguments.projects if (path / "run.json").is_file()]
    before, after = (
        load(path / "project.netwright" if path in [run.path for run in runs] else path).project
        for path in arguments.projects
    )
    found = compare(before, after, with_layout=arguments.layout)
    records = [read_record(run.path) for run in runs]
    data: tuple[str, ...] | None = None
    if len(records) == 2 and records[0] is not None and records[1] is not None:
        data = records[0].against(records[1])
    is_different = bool(found) or bool(data)
    if arguments.json:
        told = failure("different", "the data differs" if not found else "the projects differ") if is_different else {}
        of_runs = {"data": {"equal": None if data is None else not data, "differences": list(data or ())}}
        print_json(arguments, {**as_json(found), **(of_runs if len(runs) == 2 else {}), **told})
    else:
        unknown = "Whether the data is the same is not known: a run has no data.json, as one of an older version."
        same = "The data is the same: the same files or contents, the same samples in each split."
        lines = [unknown] if data is None else [f"data: {text}" for text in data] or [same]
        say(*[*as_text(found), *(lines if len(runs) == 2 else [])])
    return EXIT_REQUIREMENT if is_different else EXIT_DONE


def as_json(found: Comparison) -> dict[str, object]:
    """The object that `compare --json` prints: a contract."""
    return {"equal": not found, "counts": found.counts(), "differences": [d.write() for d in found.differences]}


def as_text(found: Comparison) -> list[str]:
    """Return a line per difference."""
    return [str(difference) for difference in found.differences] or ["The projects are equal."]


def _run_for_git(given: Sequence[str], *, with_layout: bool) -> int:
    """Print a difference below its own head. Whatever the files are, git gets an answer: it stops at any failure."""
    if len(given) == 1:
        say(f"netwright: {given[0]} is unmerged")
        return EXIT_DONE
    if len(given) not in (GIT_CHANGED, GIT_RENAMED):
        raise UserError(
            f"--git expects the {GIT_CHANGED} arguments of an external diff driver, received {len(given)}.",
            hint="Set it up with: git config diff.netwright.command 'netwright-engine compare --git'",
        )
    path, old, new = given[0], Path(given[1]), Path(given[4])
    say(f"netwright {_head(path, given[7] if len(given) == GIT_RENAMED else '', old, new)}")
    try:
        found = compare(_project(old), _project(new), with_layout=with_layout)
    except UserError as error:
        say(*[f"shown as text: {error}", *_as_lines(old, new, path)])
        return EXIT_DONE
    moved = [] if found or with_layout else ["no difference but in the layout, or in how it is written"]
    say(*as_text(found) if found else moved or as_text(found))
    return EXIT_DONE


def _head(path: str, renamed_to: str, old: Path, new: Path) -> str:
    if renamed_to:
        return f"{path} -> {renamed_to}"
    what = " (new file)" if _is_nothing(old) else " (deleted)" if _is_nothing(new) else ""
    return path + what


def _is_nothing(path: Path) -> bool:
    """Return whether the path is the null device, which git passes for a missing side."""
    return str(path) == os.devnull


def _project(path: Path) -> Project:
    return Project() if _is_nothing(path) else load(path).project


def _as_lines(old: Path, new: Path, path: str) -> list[str]:
    """Return a unified diff, for a file that is not a valid project."""
    texts: list[list[str]] = []
    for side in (old, new):
        try:
            texts.append(
                [] if _is_nothing(side) else read_file(side, LARGEST_BYTES).decode("utf-8", "replace").splitlines()
            )
        except OSError as error:
            texts.append([f"({error.strerror})"])
    return list(difflib.unified_diff(texts[0], texts[1], f"a/{path}", f"b/{path}", lineterm=""))
