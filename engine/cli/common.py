"""Helpers of the commands: project and settings arguments, text tables, JSON output, examples for `--help`."""

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
    "new": ("new digits", "new resnet18 networks"),
    "templates": ("templates",),
    "options": ("options", "options learn_rate", "options ValidationPatience", "options training.loss"),
    "check": ("check digits.netwright", "check digits.netwright --set training.mini_batch_size=64 --json"),
    "compare": ("compare digits.netwright networks/resnet18.netwright",),
    "draw": ("draw digits.netwright -o digits.svg", "draw digits.netwright -o digits.png --theme dark --scale 3"),
    "train": (
        "train digits.netwright --run-dir runs/first",
        "train digits.netwright --set training.max_epochs=20 --set training.solver=adam",
        'train digits.netwright --require "accuracy>=0.9" --json --junit outcome.xml',
        "train digits.netwright --set training.max_epochs=90000 --run-dir runs/long --detach",
    ),
    "set": ("set runs/long --rate-factor 0.1", "set runs/long --epochs 100000"),
    "watch": ("watch runs/long --layers on",),
    "pause": ("pause runs/long",),
    "stop": ("stop runs/long",),
    "show": ("show runs/first",),
    "runs": ('runs digits.netwright --filter "accuracy>0.9 solver" --sort validation.loss', "runs --csv"),
    "curves": ("curves runs/* -o curves.csv", "curves runs/* --format tensorboard -o logs"),
    "export": ("export runs/first --format onnx -o digits.onnx", "export runs/first --format pytorch -o digits_net.py"),
    "queue": (
        "queue add digits.netwright --set training.solver=adam",
        "queue run",
    ),
    "devices": ("devices", "devices --test"),
    "resume": (
        'resume runs/first --set training.max_epochs=40 --require "accuracy>=0.9"',
        "resume runs/long --detach",
    ),
}
"""Commands that work one after the other, from an empty folder."""


class HelpFormatter(argparse.HelpFormatter):
    """Help formatter that keeps the line breaks of preformatted text, such as the examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        is_preformatted = "\n  " in text
        return text if is_preformatted else super()._fill_text(text, width, indent)


def add_examples(command: argparse.ArgumentParser, name: str) -> None:
    """Add the examples of a command below its options in `--help`."""
    if name in EXAMPLES:
        command.formatter_class = HelpFormatter
        command.epilog = "\n".join(("examples:", *(f"  netwright-engine {line}" for line in EXAMPLES[name])))


class Commands(Protocol):
    """Protocol of the subparsers object of argparse, whose class is private."""

    def add_parser(self, name: str, *, help: str, description: str) -> argparse.ArgumentParser: ...


def add_project(command: argparse.ArgumentParser) -> None:
    """Add the arguments `PROJECT` and `--set` to a command."""
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
    """Add `--trust` to a command that runs user code."""
    description = "let the project's own code (custom layers, functions, hooks) run this time, with all your rights"
    command.add_argument("--trust", action="store_true", help=description)


def look_at_code(project: Project, base: Path, frozen: Mapping[str, Path] | None = None, *, trusted: bool) -> None:
    """Read the user code of a project. If `trusted`, it may run in this process and its child processes."""
    from engine.project import user_code

    user_code.look(project, base, frozen)
    if trusted:
        user_code.grant(project)


def read_project(path: Path, settings: Sequence[str]) -> tuple[Project, tuple[str, ...]]:
    """Return the project with the `--set` assignments applied, and notices about its file and about assignments without
    effect. Raises `UserError` with all refused assignments."""
    if os.path.isfile(path / "run.json"):  # False for invalid paths too, such as too long ones
        raise UserError(
            f"{path} is the folder of a run. `netwright-engine resume` goes on with it; "
            f"its project is {path / 'project.netwright'}."
        )
    opened = load(path)
    project = opened.project
    messages: list[str] = []
    for setting in settings:
        try:
            project = set_option(project, setting)
        except FieldErrors as errors:
            messages += [str(error) for error in errors.errors]
        except UserError as error:
            messages.append(str(error))
    if messages:
        raise UserError("\n".join(messages))
    return project, (*opened.notices, *idle_settings(project, settings))


def facts_of(project: Project, base: Path) -> DatasetInfo | None:
    """Return the dataset info of a project, or None if it has no data or invalid data options. Raises `UserError` for
    bad data."""
    if project.data.source == "none" or project.data.problems():
        return None
    from engine.data.load import facts

    return facts(project.data, base)


def refusal(said: Mapping[str, Any]) -> UserError:
    """Return the error of a child process, of the class that matches its exit code."""
    error_type = UnavailableError if said.get("exit_code") == EXIT_UNAVAILABLE else UserError
    return error_type(said["error"])


def note(notices: Sequence[str]) -> None:
    """Print each notice as a line on standard error."""
    for notice in notices:
        print(f"note: {notice}", file=sys.stderr)


def print_json(value: Any) -> None:
    """Print a value as standard JSON on standard output: ASCII only, non-finite numbers as strings."""
    print(json.dumps(to_json(value), allow_nan=False))


def table(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Return lines with aligned columns. `right`: indexes of the right-aligned columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []

    def cell(text: str, i: int) -> str:
        return text.rjust(widths[i]) if i in right else text.ljust(widths[i])

    return ["  ".join(cell(text, i) for i, text in enumerate(row)).rstrip() for row in rows]
