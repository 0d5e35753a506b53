"""Data that a command names by a path or a URL, or that is open in the window: described, shown, or checked."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.fork import run_in_child_process
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.core.part_registry import imported
from netwright.engine.core.platform import lower_priority
from netwright.engine.core.progress import notice
from netwright.engine.data.loading.checks import check_data
from netwright.engine.data.loading.excerpt import first_samples
from netwright.engine.data.loading.load import facts
from netwright.engine.data.loading.open_data import options_for
from netwright.engine.data.loading.preview import Selection
from netwright.engine.data.loading.preview_data import preview
from netwright.engine.operations.data_check import DataCheckRequest, DataCheckResult
from netwright.engine.operations.data_inspect import DataDescription, DataRequest
from netwright.engine.operations.data_requests import (
    CheckDataRequest,
    FactsRequest,
    FirstSamplesRequest,
    PreviewRequest,
)
from netwright.engine.operations.projects import look_at_code, read_project
from netwright.engine.project.data import DataOptions
from netwright.engine.project.project import Project
from netwright.engine.project.sources.urls import is_remote, without_secrets
from netwright.engine.runs.folder import origin

NICENESS = 15


@dataclass(frozen=True)
class NamedData:
    """Data that a command names. `reason`: why it was taken as this kind; empty for a project."""

    options: DataOptions
    base: Path
    reason: str = ""


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
        **{name: look[name] for name in ("classes", "counted", "columns", "rows", "loading")},
    )


def check_named_data(request: DataCheckRequest) -> DataCheckResult:
    """Check data before training. Raises `UserError`."""
    data = _named(request)
    checked = check_data(data.options, data.base, labels=request.labels)
    return DataCheckResult(path=_shown(request.path), **vars(checked))


def _named(request: DataRequest) -> NamedData:
    """Return the data of a project, or of a file or folder as the likeliest source reads it. Raises `UserError`."""
    path = Path(request.path)
    if path.suffix == SUFFIX and not path.is_dir():
        project, notices = read_project(path, request.settings)
        notice(*notices)
        if project.data.source == "none":
            raise UserError(f"{path} has no data yet. Choose a source, as with --set data.source=digits.")
        source = origin(path)
        look_at_code(project, source.base, source.code, trusted=request.trusted)
        return NamedData(project.data, source.base)
    options, reason = options_for(request.path, request.settings)
    look_at_code(Project(data=options), Path.cwd(), trusted=request.trusted)
    return NamedData(options, Path.cwd(), reason)


def _shown(text: str) -> str:
    return without_secrets(text) if is_remote(text) else str(Path(text).absolute())


# ---- data that is open in the window ----


def open_facts(request: FactsRequest) -> Mapping[str, Any]:
    """Return facts about data. Raises `UserError`."""
    return facts(request.options, request.base).write()


def first_open_samples(request: FirstSamplesRequest) -> Mapping[str, Any]:
    """Return samples of the beginning of data. Raises `UserError`."""
    places = (request.base, request.folder, request.count)
    return first_samples(request.options, *places, is_refused=request.is_refused)


def open_preview(request: PreviewRequest) -> Mapping[str, Any]:
    """Return samples of data, or of its training split as an epoch changes them. Raises `UserError`."""
    shown, training = (request.options, request.base, request.folder, request.count), request.training_options
    if not request.epoch:
        selection = Selection(request.split, request.class_name, request.draw)
        return preview(*shown, training=training, selection=selection)
    change_type = imported("netwright.engine.data.loading.augmentation:EpochChange")
    change = change_type(training, request.options, request.epoch)
    # It computes with torch, which a process that runs are forked from must never do.
    return run_in_child_process(lambda: preview(*shown, change, training=training))


def check_open_data(request: CheckDataRequest) -> Mapping[str, Any]:
    """Return findings about data. Raises `UserError`."""
    lower_priority(NICENESS)
    return check_data(request.options, request.base, labels=request.labels, files=False).write()
