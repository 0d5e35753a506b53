"""The network of a run or of a project file: the project, the weights, and how the data was prepared."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netwright.engine.core.errors import UserError
from netwright.engine.lowering.weights_folder import load as load_weights
from netwright.engine.project.data_hosts import look_up
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.file import load
from netwright.engine.project.preparation import FILE, Preparation
from netwright.engine.project.project import Project
from netwright.engine.runs.checkpoint_files import way_on
from netwright.engine.runs.folder import frozen_code, open_run

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class NetworkSource:
    """A project, the folder of its data (`base`), and its trained weights, if there are any."""

    project: Project
    base: Path
    weights: "dict[str, torch.Tensor] | None"
    notes: tuple[str, ...]
    title: str
    code_base: Path
    """Folder of the project's own code: for a run the run folder, which holds copies."""
    code: Mapping[str, Path] = field(default_factory=dict)
    dataset: DatasetInfo | None = None
    """The facts of the data that a run was trained on, as it stored them with its weights."""
    record: Preparation | None = None
    """How the data of a run was prepared, as it stored it with its weights."""


def read_source(path: Path, base: Path | None = None, weights_kept: str = "") -> NetworkSource:
    """Read a run folder or a project file; `base` is the folder of the project's files, if not beside it.
    `weights_kept` is `best` or `last`; empty: those that the run names as its result. Raises `UserError`.
    """
    look_up(path)
    if not path.is_dir():
        if weights_kept:
            raise UserError(
                f"{path} is a project, which has no {weights_kept} weights.", hint="Name the folder of a run."
            )
        note = "The project has no trained weights of its own: fresh ones are exported. Export a run for trained ones."
        base = (base or path.parent).resolve()
        return NetworkSource(load(path).project, base, None, (note,), path.stem, base)
    folder = open_run(path)
    weights_path = folder.path / weights_kept if weights_kept else folder.kept()
    other = "last" if weights_kept == "best" else "best"
    if weights_kept and not (folder.path / weights_kept).is_dir() and (folder.path / other).is_dir():
        raise UserError(f"The run in {path} has no {weights_kept} weights.", hint=f"Choose {other}.")
    if weights_path is None or not weights_path.is_dir():
        state = folder.state()
        way = f" {way_on(folder)}" if state == "lost" else ""
        raise UserError(f"The run in {path} has no trained weights yet; its state is {state}.{way}")
    weights, manifest = load_weights(weights_path)
    info = folder.read_info()
    base = Path(info.base or path)
    note = f"Weights of the {'best validation' if weights_path == folder.best else 'last iteration'}"
    note += f", iteration {manifest['iteration']:,}." if "iteration" in manifest else "."
    project, title = load(folder.project).project, info.name or path.name
    code_base, code = folder.path.resolve(), frozen_code(folder)
    record = Preparation.load(weights_path) if FILE in manifest["files"] else None
    return NetworkSource(project, base, weights, (note,), title, code_base, code, _stored_facts(manifest), record)


def _stored_facts(manifest: Mapping[str, Any]) -> DatasetInfo | None:
    """Return the facts of the data from the manifest of weights; None where a run did not store them."""
    try:
        return DatasetInfo.read(manifest["dataset"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
