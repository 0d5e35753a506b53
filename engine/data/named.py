"""Data that a command or a script names by a path or a URL: the options that read it."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from netwright.engine.core.errors import UserError
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.data.checks import check_data
from netwright.engine.data.load import facts, preview
from netwright.engine.data.sources.source import locate
from netwright.engine.operations.data_check import DataCheckRequest, DataCheckResult
from netwright.engine.operations.data_inspect import DataDescription, DataRequest
from netwright.engine.operations.projects import look_at_code, read_project
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import say_typed
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.sources.guess import guesses, names_shards, not_understood, with_guess
from netwright.engine.project.sources.urls import is_remote, without_secrets
from netwright.engine.runs.folder import origin


@dataclass(frozen=True)
class NamedData:
    """Data that a command names. `reason`: why it was taken as this kind; empty for a project."""

    options: DataOptions
    base: Path
    reason: str = ""
    notices: tuple[str, ...] = ()


def inspect_data(request: DataRequest) -> DataDescription:
    """Describe data. Raises `UserError`."""
    data = _named(request)
    with tempfile.TemporaryDirectory() as folder:
        info = facts(data.options, data.base)
        look = preview(data.options, data.base, Path(folder), 1)
    notes = [note for note in dict.fromkeys((*info.notes, *look["notes"])) if note not in info.warnings]
    return DataDescription(
        path=_shown(request.path),
        data=data.options.write(),
        reason=data.reason,
        facts={**info.write(), "notes": notes},
        notices=data.notices,
        **{name: look[name] for name in ("classes", "counted", "columns", "rows", "loading")},
    )


def check_named_data(request: DataCheckRequest) -> DataCheckResult:
    """Check data before training. Raises `UserError`."""
    data = _named(request)
    checked = check_data(data.options, data.base, labels=request.labels)
    return DataCheckResult(path=_shown(request.path), notices=data.notices, **vars(checked))


def _named(request: DataRequest) -> NamedData:
    """Return the data of a project, or of a file or folder as the likeliest source reads it. Raises `UserError`."""
    path = Path(request.path)
    if path.suffix == SUFFIX and not path.is_dir():
        project, notices = read_project(path, request.settings)
        if project.data.source == "none":
            raise UserError(f"{path} has no data yet. Choose a source, as with --set data.source=digits.")
        source = origin(path)
        look_at_code(project, source.base, source.code, trusted=request.trusted)
        return NamedData(project.data, source.base, notices=notices)
    options, reason = options_for(request.path, request.settings)
    look_at_code(Project(data=options), Path.cwd(), trusted=request.trusted)
    return NamedData(options, Path.cwd(), reason)


def _shown(text: str) -> str:
    return without_secrets(text) if is_remote(text) else str(Path(text).absolute())


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
