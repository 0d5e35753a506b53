"""Shared by the commands: reading a project with its settings, tables of text, JSON, examples for `--help`."""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from engine.core.errors import EXIT_UNAVAILABLE, FieldErrors, UnavailableError, UserError
from engine.project.dataset_info import DatasetInfo
from engine.project.file import load
from engine.project.project import Project, set_option
from engine.project.relevance import idle_settings
from engine.runs.events import to_json

EXIT_CODES = """exit codes:
  0  done                              3  the run failed
  1  a defect of Netwright             4  a --require did not hold; compare: different
  2  the input is wrong                5  the execution environment is not available here
                                     130  stopped on request"""
EXAMPLES = {
    "options": ("options", "options learn_rate", "options ValidationPatience", "options training.loss"),
    "check": ("check digits.netwright", "check digits.netwright --set training.mini_batch_size=64 --json"),
    "compare": ("compare old.netwright new.netwright",),
    "draw": ("draw digits.netwright -o digits.svg", "draw digits.netwright -o digits.png --theme dark --scale 3"),
    "train": (
        "train digits.netwright --set training.max_epochs=20 --set training.solver=adam",
        'train digits.netwright --require "accuracy>=0.95" --json --junit outcome.xml',
        "train digits.netwright --environment multi-cpu --workers 2 --detach",
    ),
    "resume": ("resume runs/first", 'resume runs/first --set training.max_epochs=40 --require "accuracy>=0.95"'),
    "queue": (
        "queue add digits.netwright --set training.solver=adam",
        "queue add digits.netwright --set training.solver=sgdm",
        "queue run",
    ),
    "set": ("set runs/first --rate-factor 0.1", "set runs/first --epochs 40"),
    "watch": ("watch runs/first --layers on",),
    "runs": ('runs digits.netwright --filter "accuracy>0.9 solver" --sort validation.loss', "runs --csv"),
    "curves": ("curves runs/* -o curves.csv", "curves runs/* --format tensorboard -o logs"),
    "export": ("export runs/first --format onnx -o digits.onnx", "export runs/first --format pytorch -o digits_net.py"),
    "devices": ("devices --test",),
}


class HelpFormatter(argparse.HelpFormatter):
    """Leaves the lines of what stands below the options as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        is_set = "\n  " in text
        return text if is_set else super()._fill_text(text, width, indent)


def add_examples(command: argparse.ArgumentParser, name: str) -> None:
    """Put the examples of this command below its options."""
    if name in EXAMPLES:
        command.formatter_class = HelpFormatter
        command.epilog = "\n".join(("examples:", *(f"  netwright-engine {line}" for line in EXAMPLES[name])))


class Commands(Protocol):
    """What argparse gives to add a command to (its own class is private)."""

    def add_parser(self, name: str, *, help: str, description: str) -> argparse.ArgumentParser: ...


def add_project(command: argparse.ArgumentParser) -> None:
    """The project and its settings, for commands that take them."""
    command.add_argument("project", type=Path, metavar="PROJECT", help="a project file (*.netwright)")
    command.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="SECTION.OPTION=VALUE",
        help="another value for an option, such as training.max_epochs=5; may be given several times",
    )


def add_trust(command: argparse.ArgumentParser) -> None:
    """`--trust`, for commands that run code of the user's."""
    text = "let the project's own code (custom layers, functions, hooks) run this time, with all your rights"
    command.add_argument("--trust", action="store_true", help=text)


def look_at_code(project: Project, base: Path, frozen: Mapping[str, Path] | None = None, *, trusted: bool) -> None:
    """Read the text of the project's own code; with `--trust` it may run in this process and those it starts."""
    from engine.project import user_code

    user_code.look(project, base, frozen)
    if trusted:
        user_code.grant(project)


def read_project(path: Path, settings: Sequence[str]) -> tuple[Project, tuple[str, ...]]:
    """The project with `--set` assignments applied, and notices: of its file, and of assignments without effect. Raises
    `UserError` with every refusal at once."""
    if os.path.isfile(path / "run.json"):  # of any path: one that is too long is no such file
        raise UserError(
            f"{path} is the folder of a run. `netwright-engine resume` goes on with it; "
            f"its project is {path / 'project.netwright'}."
        )
    opened = load(path)
    project = opened.project
    refused: list[str] = []
    for setting in settings:
        try:
            project = set_option(project, setting)
        except FieldErrors as errors:
            refused += [str(error) for error in errors.errors]
        except UserError as error:
            refused.append(str(error))
    if refused:
        raise UserError("\n".join(refused))
    return project, (*opened.notices, *idle_settings(project, settings))


def facts_of(project: Project, base: Path) -> DatasetInfo | None:
    """What is known about the project's data, or None where it has none. Raises `UserError` for bad data."""
    if project.data.source == "none" or project.data.problems():
        return None
    from engine.data.load import facts

    return facts(project.data, base)


def refusal(said: Mapping[str, Any]) -> UserError:
    """What a throw-away process has refused, with the exit code that belongs to it."""
    kind = UnavailableError if said.get("exit_code") == EXIT_UNAVAILABLE else UserError
    return kind(said["error"])


def note(notices: Sequence[str]) -> None:
    """A line for each on standard error."""
    for notice in notices:
        print(f"note: {notice}", file=sys.stderr)


def print_json(value: Any) -> None:
    """One JSON object on standard output, readable by every parser: ASCII, numbers that are not finite as strings."""
    print(json.dumps(to_json(value), allow_nan=False))


def table(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Lines with aligned columns; the columns with these numbers are aligned to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []

    def cell(text: str, i: int) -> str:
        return text.rjust(widths[i]) if i in right else text.ljust(widths[i])

    return ["  ".join(cell(text, i) for i, text in enumerate(row)).rstrip() for row in rows]
