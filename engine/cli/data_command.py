"""Command `data inspect | check`: describe data, and check it before training."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from netwright.engine.cli.answers import add_json, failure, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.common import add_allow_host, add_settings, add_trust
from netwright.engine.cli.printing import say
from netwright.engine.cli.terminal import print_table, showing
from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT, UserError, plural
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.operations.projects import data_place, look_at_code, read_project
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import SPLITS, DatasetInfo
from netwright.engine.project.project import Project
from netwright.engine.project.sources.urls import is_remote, without_secrets
from netwright.engine.runs.folder import origin

MOST_SHOWN = 5
"""Number of samples that are printed per finding; --json has more."""
MOST_CLASSES = 30


def register(commands: Commands) -> None:
    """Add the command `data`."""
    text = "Describe data, or check it before training. The Data tab of the window shows the same."
    command = commands.add_parser("data", description=text)
    command.set_defaults(run=partial(_help, command))
    subcommands = command.add_subparsers(dest="way", metavar="WHAT")
    for name, function, text in (
        (
            "inspect",
            _inspect,
            "show source, samples per split, inputs, targets, columns and classes of a project's data, or of a file or "
            "folder, whose kind is then guessed",
        ),
        (
            "check",
            _check,
            "look for samples that cannot be read, duplicates, also across splits, classes with few samples, constant "
            "columns and columns that give the target away. Exits 2 if training would end with an error",
        ),
    ):
        subcommand = subcommands.add_parser(name, help=text, description=f"{text[:1].upper()}{text[1:]}.")
        where = "a project (*.netwright), a file or folder of data, or a URL of shards"
        subcommand.add_argument("path", type=data_place, metavar="PROJECT|FILE|FOLDER", help=where)
        add_settings(subcommand, "data.response=price")
        if name == "check":
            told = "look for labels that similar samples contradict, too, which takes longer"
            subcommand.add_argument("--labels", action="store_true", help=told)
        add_trust(subcommand)
        add_allow_host(subcommand)
        add_json(subcommand)
        subcommand.set_defaults(run=function)


def _help(command: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    """Print the list of subcommands."""
    command.print_help()
    return EXIT_DONE


@dataclass(frozen=True)
class _Data:
    """Data that the command line names. `reason`: why it was taken as this kind; empty for a project."""

    options: DataOptions
    base: Path
    reason: str = ""


def _named(arguments: argparse.Namespace) -> _Data:
    """Return the data of a project, or of a file or folder as the likeliest source reads it. Raises `UserError`."""
    path = Path(arguments.path)
    if path.suffix == SUFFIX and not path.is_dir():
        project, notices = read_project(path, arguments.settings)
        for notice in notices:
            say(f"note: {notice}", to=sys.stderr)
        if project.data.source == "none":
            raise UserError(f"{path} has no data yet. Choose a source, as with --set data.source=digits.")
        source = origin(path)
        look_at_code(project, source.base, source.code, trusted=arguments.trust)
        return _Data(project.data, source.base)
    from netwright.engine.data.named import options_for

    options, reason = options_for(arguments.path, arguments.settings)
    look_at_code(Project(data=options), Path.cwd(), trusted=arguments.trust)
    return _Data(options, Path.cwd(), reason)


def _shown(text: str) -> str:
    return without_secrets(text) if is_remote(text) else str(Path(text).absolute())


def _inspect(arguments: argparse.Namespace) -> int:
    """Describe the data."""
    from netwright.engine.data.load import facts, preview

    data = _named(arguments)
    with showing("reading"), tempfile.TemporaryDirectory() as folder:
        info = facts(data.options, data.base)
        look = preview(data.options, data.base, Path(folder), 1)
    if arguments.json:
        kept = {name: look[name] for name in ("classes", "counted", "columns", "rows", "loading")}
        notes = _notes(info, look)
        described = {**info.write(), "notes": notes}
        told = {"path": _shown(arguments.path), "data": data.options.write(), "reason": data.reason}
        print_json(arguments, {**told, "facts": described, **kept})
        return EXIT_DONE
    _print_facts(data, info, look)
    return EXIT_DONE


def _print_facts(data: _Data, info: DatasetInfo, look: dict[str, Any]) -> None:
    declared = data.options.source_type
    assert declared is not None
    say(f"source: {data.options.source}, {declared.note}")
    if data.reason:
        say(f"taken as that because: {data.reason}")
    sizes = ", ".join(f"{split} {info.samples.get(split, 0):,}" for split in SPLITS)
    say(f"samples: {sum(info.samples.values()):,} ({sizes})")
    for given in info.inputs:
        say(f"input {given.name}: {given.type.layout}, {given.short()}")
    for target in info.targets:
        say(f"target {target.name}: {target.spoken()}")
    say(look["loading"])
    if look["columns"]:
        heads = ("column", "role", "kind", "low", "mean", "high")
        cells = [[_cell(column[name if name != "column" else "name"]) for name in heads] for column in look["columns"]]
        print_table([heads, *cells], right=(3, 4, 5))
    if look["classes"]:
        rows = [(c["name"], *(f"{c.get(split, 0):,}" for split in SPLITS)) for c in look["classes"]]
        print_table([(f"class ({look['counted']})", *SPLITS), *rows[:MOST_CLASSES]], right=(1, 2, 3))
        if len(rows) > MOST_CLASSES:
            say(f"and {len(rows) - MOST_CLASSES:,} more classes")
    for note in _notes(info, look):
        say(f"note: {note}")
    _say_warnings(info.warnings)


def _say_warnings(warnings: Sequence[str]) -> None:
    """Print the warnings of the facts about the data."""
    for warning in warnings:
        say(f"warning: {warning}")


def _notes(info: DatasetInfo, look: dict[str, Any]) -> list[str]:
    """Return the notes on data, each once, without its warnings."""
    return [note for note in dict.fromkeys((*info.notes, *look["notes"])) if note not in info.warnings]


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else str(value)


def _check(arguments: argparse.Namespace) -> int:
    """Check the data and print the findings. Return 2 if training would end with an error."""
    from netwright.engine.data.checks import check_data

    data = _named(arguments)
    with showing("checking"):
        result = check_data(data.options, data.base, labels=arguments.labels)
    code = EXIT_INPUT if result.has_errors else EXIT_DONE
    if arguments.json:
        told = {"path": _shown(arguments.path), **result.write()}
        errors = [finding.title for finding in result.findings if finding.severity == "error"]
        print_json(arguments, {**told, **(failure("invalid_data", "; ".join(errors)) if errors else {})})
        return code
    _say_warnings(result.warnings)
    for finding in result.findings:
        say(f"{finding.severity}: {finding.title}. {finding.outcome}".replace("..", "."))
        for name, what in finding.items[:MOST_SHOWN]:
            say(f"  {name}{f': {what}' if what else ''}")
        if finding.count > MOST_SHOWN:
            say(f"  and {finding.count - MOST_SHOWN:,} more")
        if finding.fix is not None:
            settings = " ".join(f"--set data.{name}={_value(value)}" for name, value in finding.fix.options.items())
            say(f"  {finding.fix.label}: {settings}")
    for text in result.passed:
        say(f"ok: {text}")
    if result.samples:
        part = "" if result.checked == result.samples else f" of {result.samples:,}, evenly spaced"
        say(f"{plural(result.checked, 'sample')}{part} checked.")
    return code


def _value(value: object) -> str:
    text = ";".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    if len(text) > 60:
        text = f"{text[:60]}..."
    return f"'{text}'" if any(mark in text for mark in " ;'") else text
