"""Commands `new NAME [DIR]` and `templates`: start from a copy of an example or a template."""

import argparse
import json
import os
import shlex
import shutil
from pathlib import Path
from typing import Any

from netwright.engine.cli.answers import add_json, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.common import add_settings, facts_of
from netwright.engine.cli.printing import say
from netwright.engine.cli.terminal import print_table, showing
from netwright.engine.core.errors import EXIT_DONE, UserError, did_you_mean
from netwright.engine.core.files import path_from
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.operations.projects import data_place, with_settings
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import keep_for
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from netwright.engine.project.relevance import idle_settings
from netwright.engine.project.sources.guess import with_guessed_source
from netwright.engine.project.sources.urls import is_remote, without_secrets
from netwright.engine.project.starter import starter
from netwright.engine.runs.create import SHIPPED

KINDS = ("examples", "templates")


def shipped() -> list[dict[str, str]]:
    """Return name, kind, title and description of each shipped project that is installed, in the order of the index."""
    index: dict[str, list[dict[str, str]]] = json.loads(
        (SHIPPED / "templates" / "index.json").read_text(encoding="utf-8")
    )
    return [
        {"name": row["name"], "kind": kind[:-1], "title": row["title"], "description": row["description"]}
        for kind in KINDS
        for row in index[kind]
        if _path(kind, row["name"]).is_file()
    ]


def _path(kind: str, name: str) -> Path:
    return SHIPPED / kind / f"{name}{SUFFIX}"


def register(commands: Commands) -> None:
    """Add the commands `new` and `templates`."""
    text = (
        "Copy an example (with its data and training options) or a template (a network alone) into a folder, or make "
        "a project with a first network for data of your own. Files that exist are never replaced. `netwright-engine "
        "templates` lists the names."
    )
    command = commands.add_parser("new", description=text)
    name = "example or template, such as digits or resnet18; without one, a small network is made for the --data"
    command.add_argument("name", metavar="NAME", nargs="?", help=name)
    where = "folder for the copy; default: the current one; it is made if it does not exist"
    command.add_argument("folder", type=Path, nargs="?", default=Path(), metavar="DIR", help=where)
    data = "file, folder or URL with data to learn from; its kind is guessed, and said"
    command.add_argument("--data", type=data_place, metavar="PATH", help=data)
    add_settings(command, "data.response=price")
    add_json(command)
    command.set_defaults(run=run_new)
    text = "List the examples and templates that `netwright-engine new` copies."
    command = commands.add_parser("templates", description=text)
    add_json(command)
    command.set_defaults(run=run_templates)


def run_new(arguments: argparse.Namespace) -> int:
    """Copy or make a project and print its path."""
    if arguments.name is None:
        return _run_made(arguments)
    known = {row["name"]: row for row in shipped()}
    if arguments.name not in known:
        raise UserError(
            f"There is no example or template '{arguments.name}'.",
            code="not_found",
            hint=f"{did_you_mean(arguments.name, known)} `netwright-engine templates` lists them.",
        )
    kind = known[arguments.name]["kind"]
    written, told = _copy(_path(f"{kind}s", arguments.name), arguments.folder, arguments)
    if arguments.json:
        answer = {"path": str(written.absolute()), "name": arguments.name, "kind": kind}
        print_json(arguments, {**answer, "data": " ".join(told)} if told else answer)
        return EXIT_DONE
    for line in (f"wrote {written}", *told):
        say(line)
    following = "train" if kind == "example" else "check"
    say(f"next: netwright-engine {following} {shlex.quote(str(written))}")
    return EXIT_DONE


def _run_made(arguments: argparse.Namespace) -> int:
    """Make a project with a first network for data, and print its path. Raises `UserError`."""
    if arguments.data is None:
        raise UserError(
            "Expected the name of an example or a template, or data to make a network for.",
            hint="`netwright-engine templates` lists the names; --data PATH names the data.",
        )
    name = Path(os.path.abspath(without_secrets(arguments.data))).stem
    target = Path(f"{name}{SUFFIX}")
    _refuse_existing(target)
    project, told = _with_own_data(Project(), arguments, Path())
    with showing("reading"):
        facts = facts_of(project, Path.cwd())
    made = starter(facts) if facts is not None else None
    if facts is None or made is None:
        raise UserError(
            f"No first network is known for {without_secrets(arguments.data)}: {' '.join(told)}",
            hint="Name a template to begin with: `netwright-engine templates` lists them.",
        )
    save(made.edit(project), target)
    keep_for(target, project.data)
    if arguments.json:
        answer = {"path": str(target.absolute()), "name": name, "kind": "made", "data": " ".join(told)}
        print_json(arguments, {**answer, "notes": list(facts.notes), "warnings": list(facts.warnings)})
        return EXIT_DONE
    notes = [*(f"note: {note}" for note in facts.notes), *(f"warning: {warning}" for warning in facts.warnings)]
    for line in (f"wrote {target}: {made.detail[0].lower()}{made.detail[1:]}", *told, *notes):
        say(line)
    say(f"next: netwright-engine train {shlex.quote(str(target))}")
    return EXIT_DONE


def _with_own_data(project: Project, arguments: argparse.Namespace, folder: Path) -> tuple[Project, list[str]]:
    """Return the project for a folder with data of the user's own, its source guessed unless a setting names it, and
    sentences on that. Raises `UserError`."""
    text, settings = arguments.data, arguments.settings
    if is_remote(text):
        from netwright.engine.data.loading.open_data import options_for

        options, reason = options_for(text, [setting for setting in settings if setting.strip().startswith("data.")])
        project = with_settings(project.with_section("data", options), settings)
        guessed = f"data.source is {options.source}, guessed from data.path: {reason}." if reason else ""
    else:
        options = DataOptions(path=path_from(Path(text), folder))
        project = with_settings(project.with_section("data", options), settings)
        options, guessed = with_guessed_source(project.data, folder.absolute())
        project = project.with_section("data", options)
    return project, [*filter(None, [guessed]), *(f"note: {words}" for words in idle_settings(project, settings))]


def _refuse_existing(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise UserError(f"{path} exists already, and nothing was changed.", hint="Name another folder.")


def _copy(source: Path, folder: Path, arguments: argparse.Namespace) -> tuple[Path, list[str]]:
    """Copy a shipped project and its data file into a folder; with data of the user's own, set its source as guessed.
    Return the path of the copy, and sentences on the data. Raises `UserError`."""
    project: Project = load(source).project
    target, copies, told = folder / source.name, {}, list[str]()
    if arguments.data is not None:
        project, told = _with_own_data(project, arguments, folder)
    else:
        project = with_settings(project, arguments.settings)
    if arguments.data is None and project.data.path:
        data = (source.parent / project.data.path).resolve()
        copies[data] = folder / data.name
        project = project.with_section("data", project.data.replace(path=data.name))
    for path in (target, *copies.values()):
        _refuse_existing(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for data, copy in copies.items():
            shutil.copyfile(data, copy)
    except OSError as error:
        raise UserError(
            f"Nothing can be written into {folder}: {error.strerror}.", hint="Name another folder."
        ) from None
    save(project, target)
    keep_for(target, project.data)
    return target, told


def run_templates(arguments: argparse.Namespace) -> int:
    """Print a row per example and template."""
    rows: list[dict[str, Any]] = [dict(row) for row in shipped()]
    if arguments.json:
        print_json(arguments, {"templates": rows})
    else:
        cells = [(row["name"], row["kind"], row["title"], row["description"]) for row in rows]
        print_table([("name", "kind", "title", "description"), *cells])
    return EXIT_DONE
