"""Absolute paths of a project that hosts of a cluster call otherwise."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from netwright.engine.core.fields import FilePath
from netwright.engine.core.records import Record
from netwright.engine.project.project import Project

R = TypeVar("R", bound=Record)


def moved_paths(project: Project, remote_path: Callable[[str], str | None]) -> dict[str, str]:
    """Return the hosts' names of the absolute paths of data, weights and teacher; without those that keep their name.

    `remote_path` returns the name of a path on the hosts, or None.
    """
    remote_paths = {text: remote_path(str(Path(text).expanduser())) for text in _absolute(project)}
    return {here: there for here, there in remote_paths.items() if there is not None and there != here}


def _absolute(project: Project) -> Iterator[str]:
    for record in (project.data, project.weights):
        for name, value in record.changed().items():
            if isinstance(record.fields[name], FilePath) and Path(value).expanduser().is_absolute():
                yield value
    if project.training.distil_from:
        yield project.training.distil_from


def with_paths(project: Project, paths: Mapping[str, str]) -> Project:
    """Return the project with the paths of a host, from `moved_paths`."""
    if not paths:
        return project
    return replace(
        project,
        data=_with_paths(project.data, paths),
        weights=_with_paths(project.weights, paths),
        training=_with_paths(project.training, paths),
    )


def _with_paths(record: R, paths: Mapping[str, str]) -> R:
    changed = {
        name: paths[value]
        for name, value in record.changed().items()
        if (name == "distil_from" or isinstance(record.fields[name], FilePath)) and value in paths
    }
    return record.replace(**changed) if changed else record
