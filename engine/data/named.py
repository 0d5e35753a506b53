"""Data that a command or a script names by a path or a URL: the options that read it."""

from collections.abc import Sequence
from pathlib import Path

from netwright.engine.core.errors import UserError
from netwright.engine.data.sources.source import locate
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import say_typed
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.sources.guess import guesses, names_shards, not_understood, with_guess
from netwright.engine.project.sources.urls import is_remote


def options_for(text: str, settings: Sequence[str] = ()) -> tuple[DataOptions, str]:
    """Return the options for a file, a folder or a URL of shards, with settings such as `data.source=table`, and why it
    is taken as this kind, empty where a setting says the kind. Raises `UserError`."""
    for typed in (text, *(setting.partition("=")[2].strip() for setting in settings)):
        say_typed(typed)
    path = Path(text).absolute()
    has_source = any(setting.partition("=")[0].strip() == "data.source" for setting in settings)
    if is_remote(text) and (has_source or names_shards(text)):
        options, reason = DataOptions(source="shards", path=text), "A URL"
    elif has_source:
        options, reason = DataOptions(path=str(path)), ""
    else:
        options, reason = _guessed(text, path)
    project = Project(data=options)
    for setting in settings:
        project = set_option(project, setting)
    return project.data, reason


def _guessed(text: str, path: Path) -> tuple[DataOptions, str]:
    """Return options by the contents of a path, or of the copy of what is behind a URL. Raises `UserError`."""
    if is_remote(text):
        path = locate(text, Path.cwd())
    found = guesses(path)
    if not found:
        raise UserError(not_understood(path), hint="--set data.source=table, or another, says which it is.")

    def short(given: Path) -> str:
        if not is_remote(text):
            return str(given)
        return text if given == path else f"{text.rstrip('/')}/{given.relative_to(path).as_posix()}"

    return with_guess(DataOptions(), found[0], path, short), found[0].reason
