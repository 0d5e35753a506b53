"""Arguments of the commands that name a project, and reading it with its settings."""

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from netwright.engine.core.errors import FieldErrors, UserError, hints
from netwright.engine.project.data_hosts import MOST_FILES, look_up, say_typed
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.file import load
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.relevance import idle_settings, refuse_without_unit
from netwright.engine.project.sources.guess import with_guessed_source
from netwright.engine.project.sources.urls import url_fault, without_file_scheme, without_secrets
from netwright.engine.runs.checkpoints import way_on
from netwright.engine.runs.folder import RunFolder, origin


def add_project(command: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """Add the arguments `PROJECT`, of which there may be several with `nargs`, and `--set` to a command."""
    command.add_argument("project", type=Path, nargs=nargs, metavar="PROJECT", help="a project file (*.netwright)")
    add_settings(command, "training.max_epochs=5")


def add_settings(command: argparse.ArgumentParser, such_as: str) -> None:
    """Add `--set` to a command; the help shows the example `such_as`."""
    command.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="SECTION.OPTION=VALUE",
        help=f"another value for an option, such as {such_as}; may be given several times",
    )


def add_trust(command: argparse.ArgumentParser) -> None:
    """Add `--trust` to a command that runs user code."""
    description = "let the project's own code (custom layers, functions, hooks) run this time, with all your rights"
    command.add_argument("--trust", action="store_true", help=description)


def add_allow_host(command: argparse.ArgumentParser) -> None:
    """Add `--allow-host` to a command that reads data, which a project may have behind a URL."""
    description = (
        "let the data be fetched from this host, now and whenever the project or run is used; HOST=N for more than "
        f"{MOST_FILES:,} files; may be given several times"
    )
    command.add_argument(
        "--allow-host", dest="allowed_hosts", action="append", default=[], metavar="HOST", help=description
    )


def add_device(command: argparse.ArgumentParser) -> None:
    """Add `--device` to a command that computes a trained network."""
    help = "where to compute: auto (a GPU where there is one), cpu, gpu, or such as cuda:1; default auto"
    command.add_argument("--device", default="auto", metavar="NAME", help=help)


def look_at_code(project: Project, base: Path, frozen: Mapping[str, Path] | None = None, *, trusted: bool) -> None:
    """Read the user code of a project. If `trusted`, it may run in this process and its child processes."""
    from netwright.engine.project import user_code

    user_code.look(project, base, frozen)
    if trusted:
        user_code.grant(project)


def read_project(path: Path, settings: Sequence[str]) -> tuple[Project, tuple[str, ...]]:
    """Return the project with the `--set` assignments applied, and notices about its file and about assignments without
    effect. Its data may be fetched from where the user has allowed, as the host of a URL that is typed here. Raises
    `UserError` with all refused assignments."""
    if os.path.isfile(path / "run.json"):  # False for invalid paths too, such as too long ones
        raise UserError(
            f"{path} is the folder of a run.",
            hint=f"Its project is {path / 'project.netwright'}. {way_on(RunFolder(path))}",
        )
    opened = load(path)
    look_up(path)
    project = with_settings(opened.project, settings)
    refuse_without_unit(project, settings)
    data, guessed = with_guessed_source(project.data, origin(path).base)
    project = replace(project, data=data)
    return project, (*opened.notices, *filter(None, [guessed]), *idle_settings(project, settings))


def with_settings(project: Project, settings: Sequence[str]) -> Project:
    """Return the project with the `--set` assignments applied. Raises `UserError` with all refused assignments."""
    errors: list[UserError] = []
    for setting in settings:
        say_typed(setting.partition("=")[2].strip())
        try:
            project = set_option(project, setting)
        except FieldErrors as several:
            errors += several.errors
        except UserError as error:
            errors.append(error)
    if errors:
        refused = UserError.of_lines((line for error in errors for line in error.lines), code="invalid_option")
        refused.hint = hints(errors)
        raise refused
    return project


def data_place(text: str) -> str:
    """Return the path or URL of data on the command line; a file URL as the path that it is. Raises `UserError` for a
    URL that is not read."""
    if fault := url_fault(text):
        raise UserError(f"{without_secrets(text)}: {fault}")
    return without_file_scheme(text)


def facts_of(project: Project, base: Path) -> DatasetInfo | None:
    """Return the dataset info of a project, or None if it has no data or invalid data options. Raises `UserError` for
    bad data."""
    if project.data.source == "none" or project.data.problems():
        return None
    from netwright.engine.data.load import facts

    return facts(project.data, base)
