"""Projects as a command or a script names them: read with other values, their own code looked at."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from netwright.engine.core.errors import FieldErrors, UserError, hints
from netwright.engine.core.part_registry import imported
from netwright.engine.project import user_code
from netwright.engine.project.data_hosts import look_up, say_typed
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.file import load, loads
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.relevance import idle_settings, refuse_without_unit
from netwright.engine.project.sources.guess import with_guessed_source
from netwright.engine.project.sources.urls import url_fault, without_file_scheme, without_secrets
from netwright.engine.project.starter_options import with_small_shares
from netwright.engine.runs.checkpoint_files import way_on
from netwright.engine.runs.folder import RunFolder, origin


def look_at_code(project: Project, base: Path, frozen: Mapping[str, Path] | None = None, *, trusted: bool) -> None:
    """Read the user code of a project. If `trusted`, it may run in this process and its child processes."""
    user_code.look(project, base, frozen)
    if trusted:
        user_code.grant(project)


def project_of(path: Path, text: str = "") -> Project:
    """Return the project in a text, else that in a file. Raises `UserError`."""
    return (loads(text) if text else load(path)).project


def read_project(path: Path, settings: Sequence[str], text: str = "") -> tuple[Project, tuple[str, ...]]:
    """Return the project with the `--set` assignments applied, and notices about its file and about assignments without
    effect. `text`: the project itself, instead of its file. Its data may be fetched from where the user has allowed, as
    the host of a URL that is typed here. Raises `UserError` with all refused assignments."""
    if os.path.isfile(path / "run.json"):  # False for invalid paths too, such as too long ones
        raise UserError(
            f"{path} is the folder of a run.",
            hint=f"Its project is {path / 'project.netwright'}. {way_on(RunFolder(path))}",
        )
    opened = loads(text) if text else load(path)
    look_up(path)
    project = with_settings(opened.project, settings)
    refuse_without_unit(project, settings)
    data, guessed = with_guessed_source(project.data, origin(path).base)
    project = replace(project, data=data)
    return project, (*opened.notices, *filter(None, [guessed]), *idle_settings(project, settings))


def facts_of(project: Project, base: Path) -> DatasetInfo | None:
    """Return the dataset info of a project, or None if it has no data or invalid data options. Raises `UserError` for
    bad data."""
    if project.data.source == "none" or project.data.problems():
        return None
    facts: DatasetInfo = imported("netwright.engine.data.loading.load:facts")(project.data, base)
    return facts


def divided_for_starter(project: Project, facts: DatasetInfo | None, base: Path) -> tuple[Project, DatasetInfo | None]:
    """Return a project whose network is yet to be made, with its data divided so that a small file keeps more samples
    to train on, and the facts about it. Raises `UserError` for bad data."""
    options = project.data if facts is None else with_small_shares(project.data, facts)
    if options == project.data:
        return project, facts
    project = project.with_section("data", options)
    return project, facts_of(project, base)


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
