"""Start a project from a trained network: from a run, with its weights, a new head and frozen layers."""

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import FilePath
from netwright.engine.core.files import not_written
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.file import load
from netwright.engine.project.project import Project, new_identity
from netwright.engine.project.published_weights import entry_of, with_inputs_of
from netwright.engine.project.transferred_layers import freeze_up_to, replace_head, scale_rates
from netwright.engine.project.weights import chosen
from netwright.engine.runs.folder import open_run, origin
from netwright.engine.runs.model_files import ModelFiles, model_files


@dataclass(frozen=True)
class Transfer:
    """Choices of transfer learning. Each is left out where it is empty.

    outputs: outputs of the new head, 0 to keep the old one; or the data that tells them. rate_factor: factor of the
    learn rate for the layers up to `rates_up_to`, which must be named for another factor than 1.
    """

    weights: Path | None = None
    outputs: int | DatasetInfo = 0
    freeze_up_to: str = ""
    rates_up_to: str = ""
    rate_factor: float = 1.0


def project_from_run(run: Path, to: Path) -> Project:
    """Return a new project at `to` with the network, data and options of a run, which starts from its result.

    Paths of data lead where those of the run led. Raises `UserError`, also for a run without weights.
    """
    folder = open_run(run)
    project = load(folder.project).project
    moved = with_moved_data(project, origin(folder.project).base, to.parent)
    weights = chosen(folder.path, to.parent)
    return replace(moved, identity=new_identity(), weights=weights)


def project_from_model(path: Path, to: Path) -> Project:
    """Return a new project at `to` that starts from a model. Raises `UserError`."""
    files = model_files(path)
    if files.run is not None:
        return project_from_run(path, to)
    return _with_own_files(files, to) if files.is_imported else project_from_project(files.project, to)


def _with_own_files(files: ModelFiles, to: Path) -> Project:
    """Return the project of an imported file, with its weights and constants in files beside `to`. Raises
    `UserError`."""
    project = replace(load(files.project).project, identity=new_identity())
    for section in ("weights", "constants"):
        record = project.section(section)
        if not (file := getattr(record, "file", "")):
            continue
        name = f"{to.stem}.{section}.safetensors"
        try:
            shutil.copyfile(files.base / file, to.with_name(name))
        except OSError as error:
            raise not_written(to.with_name(name), error) from None
        project = project.with_section(section, record.replace(file=name))
    return project


def project_from_project(path: Path, to: Path) -> Project:
    """Return a copy of a project for the file `to`, with an identity of its own. Raises `UserError`."""
    project = load(path).project
    return replace(with_moved_data(project, origin(path).base, to.parent), identity=new_identity())


def with_moved_data(project: Project, base: Path, folder: Path) -> Project:
    """Return the project with relative paths of data and weights that lead from `folder` where they led from `base`."""
    for section in ("data", "weights"):
        record = project.section(section)
        changes: dict[str, object] = {
            name: _led(base, getattr(record, name), folder)
            for name, field in record.fields.items()
            if isinstance(field, FilePath) and getattr(record, name)
        }
        project = project.with_section(section, record.replace(**changes))
    return project


def _led(base: Path, value: str, folder: Path) -> str:
    if "://" in value or Path(value).is_absolute():
        return value
    path, here = (base / value).resolve(), folder.resolve()
    return Path(os.path.relpath(path, here)).as_posix() if path.is_relative_to(here) else str(path)


def transferred(project: Project, base: Path, choices: Transfer) -> Project:
    """Return the project with the choices of transfer learning; `base` is its folder. For published weights its images
    are normalised as those that the weights were trained with.

    The weights are chosen before the head is replaced, so that freezing and rates name layers of the project as it was.
    Raises `UserError`.
    """
    if choices.weights is not None:
        options = chosen(choices.weights, base)
        project = project.with_section("weights", options.replace(map=project.weights.map))
        if (entry := entry_of(options.sha256)) is not None:
            project = with_inputs_of(project, entry)
    elif not project.weights.file and (choices.freeze_up_to or choices.outputs):
        raise UserError(
            "The project starts from random numbers: there is nothing that could be kept.",
            hint="Name weights, or the folder of a run.",
        )
    if choices.rate_factor != 1.0:
        if not choices.rates_up_to:
            raise UserError("A factor of the learn rate needs the layer up to which it is meant.", hint="Name a layer.")
        project = scale_rates(project, choices.rates_up_to, choices.rate_factor)
    if choices.freeze_up_to:
        project = freeze_up_to(project, choices.freeze_up_to)
    return replace_head(project, choices.outputs) if choices.outputs else project
