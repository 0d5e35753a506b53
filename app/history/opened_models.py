"""The models that were opened in a project: files of networks, each with the data that it is asked about."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from netwright.engine.core.dataclass_json import JsonShapeError, from_json, to_json
from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import FilePath
from netwright.engine.core.files import read_object, write_json
from netwright.engine.core.folders import state_folder
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import save
from netwright.engine.project.import_kinds import WITHOUT_GRAPH, can_import
from netwright.engine.project.project import Project, new_identity
from netwright.engine.project.user_code import moved_project
from netwright.engine.project.weights import WeightsOptions
from netwright.engine.runs.history import ProjectKey
from netwright.engine.runs.project_from_run import with_moved_data

LIMIT_BYTES = 2**20
MOST = 50


@dataclass(frozen=True)
class ModelFile:
    """A model, and the data that it is asked about where that is not its own, read as `settings` say. `pixels`: the
    range that a network from elsewhere takes."""

    path: Path
    data: str = ""
    settings: tuple[str, ...] = ()
    pixels: str = ""

    def with_data_of(self, data: DataOptions, base: Path) -> "ModelFile":
        """Return the model with the data of a project as its other data."""
        settings = []
        for name, value in data.changed().items():
            field = data.fields[name]
            text = _led(base, str(value)) if isinstance(field, FilePath) else field.show(value)
            settings += [f"data.{name}={text}"] if name != "path" else []
        return replace(self, data=_led(base, data.path), settings=tuple(settings))


def _led(base: Path, path: str) -> str:
    return path if "://" in path else os.path.join(base, path)


def can_open(path: Path) -> bool:
    """Return whether a file may be a model, by its suffix."""
    return path.suffix == SUFFIX or can_import(path) or path.suffix.lower() in WITHOUT_GRAPH


def _place(project: ProjectKey) -> Path:
    """Return the file that a project's models are remembered in, without its suffix; one that has no identity yet goes
    by its path. Raises `RuntimeError` for a user without a home folder."""
    name = project.identity or hashlib.sha256(os.fsencode(project.path or "")).hexdigest()[:24]
    return state_folder() / "opened_models" / name


def read_opened(project: ProjectKey) -> list[ModelFile]:
    """Return the models that were opened in a project; none where the list is damaged."""
    for key in (project, ProjectKey(project.path)):  # the latter before it was saved with an identity
        try:
            if (content := read_object(_place(key).with_suffix(".json"), LIMIT_BYTES)) is not None:
                return list(from_json(tuple[ModelFile, ...], content.get("models", [])))
        except (OSError, RuntimeError, JsonShapeError):
            continue
    return []


def keep_opened(project: ProjectKey, models: Sequence[ModelFile]) -> None:
    """Remember the models that are open in a project. Raises `OSError`, `RuntimeError`."""
    file = _place(project).with_suffix(".json")
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_json(file, {"models": [to_json(model) for model in models[:MOST]]})


def with_weights(path: Path, project: Project, base: Path, key: ProjectKey) -> Path:
    """Return the file of a copy of a project, with its data where it lies, that starts from a file of weights alone.
    Raises `UserError`."""
    if not project.network.layers:
        raise UserError(
            f"{path.name} holds weights alone, which do not say how layers are connected.",
            hint="Open the project of their network first, then open them again.",
        )
    folder = _place(key)
    copy = with_moved_data(moved_project(project, base, folder), base, folder)
    copy = replace(copy, identity=new_identity(), weights=WeightsOptions(file=str(path.absolute())))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        save(copy, to := folder / f"{path.stem}{SUFFIX}")
    except (OSError, RuntimeError) as error:
        raise UserError(f"{folder} cannot be written: {error}.") from None
    return to
