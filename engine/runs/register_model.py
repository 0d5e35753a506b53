"""Add a model to the registry: a copy of its network and weights, with where they come from."""

import math
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from netwright.engine.project.user_code import code_files
from netwright.engine.project.weights import WEIGHTS, checksum_of, file_in
from netwright.engine.runs.data_record import read_record
from netwright.engine.runs.folder import origin
from netwright.engine.runs.model_files import MANIFEST, ModelFiles, model_files
from netwright.engine.runs.model_registry import Lineage, Registry, Version, checked_tags
from netwright.engine.runs.project_from_run import project_from_model
from netwright.engine.runs.summary import read_summary

BESIDE, CONSTANTS = (WEIGHTS, MANIFEST, "preparation.json"), "constants.safetensors"
"""Files of a folder of weights, and the name of that of constants."""


def register_model(
    registry: Registry, path: Path, name: str, *, tags: Sequence[str] = (), metrics: Mapping[str, float] | None = None
) -> Version:
    """Add a model as the next version of `name`. `metrics` are added to the scores of a run. Raises `UserError`, also
    for a project without weights."""
    checked = checked_tags(tags)
    files = model_files(path)

    def fill(folder: Path) -> Version:
        project = project_from_model(path, to := folder / f"{name}{SUFFIX}")
        if not project.weights.file:
            raise UserError(
                f"{path} is a project without weights: its network has learned nothing yet.",
                hint="Train it and register the run.",
            )
        sha256 = checksum_of(file_in(folder / project.weights.file))
        save(_with_files(project, files, folder), to)
        scores = read_summary(files.path).scores if files.run is not None else {}
        numbers = {name: value for name, value in scores.items() if math.isfinite(value)}
        return Version(
            name,
            1,
            tags=checked,
            metrics={**numbers, **(metrics or {})},
            lineage=_lineage(files, registry),
            weights_sha256=sha256,
            notes=files.warnings,
        )

    return registry.add(name, fill)


def _with_files(project: Project, files: ModelFiles, folder: Path) -> Project:
    """Copy weights, constants and the code of the network into a folder, and return the project that names them there.
    Raises `UserError`, `OSError`."""
    weights = file_in(folder / project.weights.file)
    if weights.parent != folder:
        target = folder / "weights"
        if weights.name == WEIGHTS and (weights.parent / MANIFEST).is_file():
            target.mkdir()
            for name in BESIDE:
                if (weights.parent / name).is_file():
                    shutil.copyfile(weights.parent / name, target / name)
        else:
            target = target.with_suffix(weights.suffix)
            shutil.copyfile(weights, target)
        project = project.with_section("weights", project.weights.replace(file=target.name))
    source = origin(files.project)
    if (constants := project.constants).file and not files.is_imported:
        shutil.copyfile(source.code_base / constants.file, folder / CONSTANTS)
        project = project.with_section("constants", constants.replace(file=CONSTANTS))
    for file in code_files(project.network):
        if Path(file).is_absolute() or ".." in Path(file).parts:
            raise UserError(
                f"The network uses code outside of its folder, {quoted(file)}, which a registry cannot hold.",
                hint="Move the file beside the project.",
            )
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source.code.get(file, source.code_base / file), folder / file)
    return project


def _lineage(files: ModelFiles, registry: Registry) -> Lineage:
    if files.run is None:
        parent = registry.with_weights(load(files.project).project.weights.sha256)
        return Lineage(files.path.name, parent=parent.title if parent is not None else "")
    run, record = read_summary(files.path), read_record(files.path)
    parent = registry.with_weights(str(files.run.read_info().weights.get("sha256", "")))
    return Lineage(
        files.path.absolute().name,
        run.title,
        run.created,
        run.project_id,
        record.fingerprint if record is not None else "",
        record.samples if record is not None else {},
        parent.title if parent is not None else "",
    )
