"""Read a model: the network of a run, of a project with weights, or of a file of another program."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import fx

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted
from netwright.engine.hardware.devices import devices_named
from netwright.engine.layers.inputs import InputLayer
from netwright.engine.lowering.initialization import initialize, parameter_options
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.read_constants import fill_constants
from netwright.engine.lowering.start_weights import fill_from
from netwright.engine.lowering.weights_file import read_preparation
from netwright.engine.lowering.weights_folder import MANIFEST, WEIGHTS
from netwright.engine.lowering.weights_folder import load as load_weights
from netwright.engine.models.describe import assumed, described_by
from netwright.engine.models.trained_model import Model
from netwright.engine.network.analysis import analyse, type_at
from netwright.engine.project import user_code
from netwright.engine.project.data_hosts import look_up
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.file import load
from netwright.engine.project.preparation import FILE, Preparation
from netwright.engine.project.stored_facts import facts_of, of_network
from netwright.engine.project.weights import weights_path
from netwright.engine.project.weights_matching import MatchReport
from netwright.engine.runs.checkpoint_files import Checkpoint, place, way_on
from netwright.engine.runs.folder import RunFolder, frozen_code
from netwright.engine.runs.model_files import ModelChoice, ModelFiles, model_files
from netwright.engine.training.checkpoints import weights_in


def open_model(named: ModelChoice | Path, *, needs_weights: bool = True) -> Model:
    """Return a model, as a user names it or by its path. With `needs_weights`, one without weights, and one of whose
    data nothing is known, is refused. Raises `UserError`."""
    choice = named if isinstance(named, ModelChoice) else ModelChoice(named)
    look_up(choice.path)
    files = model_files(choice.path)
    model = _of_run(files.run, choice) if files.run is not None else _of_project(files, choice)
    network = model.network
    user_code.look(network, model.code_base, model.code)
    if choice.trusted:
        user_code.grant(network)
    user_code.ready(network, model.code_base, model.code)
    if model.weights is None and model.project.weights.file:
        model = _with_start(model, is_imported=files.is_imported, needs_all=needs_weights)
    if needs_weights and model.weights is None:
        raise UserError(
            f"{choice.path} is a project without weights: its network has learned nothing yet.",
            hint="Train it and name the run, or start it from weights: --set weights.file=FILE.",
        )
    model = replace(model, devices=tuple(map(torch.device, devices_named(choice.device))))
    return _described(model, choice) if needs_weights and model.run is None and model.dataset is None else model


def _of_run(folder: RunFolder, choice: ModelChoice) -> Model:
    path, weights_kept = choice.path, choice.weights
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
    note = f"Weights of the {'best validation' if weights_path == folder.best else 'last iteration'}"
    note += f", iteration {manifest['iteration']:,}." if "iteration" in manifest else "."
    name = weights_path.name
    if choice.iteration and choice.iteration != manifest.get("iteration"):
        checkpoint = Checkpoint(place(folder, choice.iteration), choice.iteration)
        weights, name = weights_in(checkpoint), checkpoint.path.relative_to(folder.path).as_posix()
        note = f"Weights of the checkpoint of iteration {choice.iteration:,}."
    return Model(
        path=path,
        project=load(folder.project).project,
        base=Path(info.base or path),
        weights=weights,
        title=info.name or path.name,
        code_base=folder.path.resolve(),
        code=frozen_code(folder),
        notes=(note,),
        dataset=_stored_facts(manifest),
        record=Preparation.load(weights_path) if FILE in manifest["files"] else None,
        run=folder,
        kept=name,
    )


def _of_project(files: ModelFiles, choice: ModelChoice) -> Model:
    path = files.path
    if choice.weights:
        kind = "a file" if files.is_imported else "a project"
        hint = "Name the folder of a run."
        raise UserError(f"{path} is {kind}, which has no {choice.weights} weights.", hint=hint)
    note = "The project has no trained weights of its own: fresh ones are exported. Export a run for trained ones."
    base = (choice.base or files.project.parent).resolve()
    return Model(
        path=path,
        project=load(files.project).project,
        base=base,
        weights=None,
        title=path.stem,
        code_base=base,
        notes=(note,),
        assumed=files.warnings,
        warnings=files.warnings,
        kept=path.name,
    )


def _with_start(model: Model, *, is_imported: bool, needs_all: bool) -> Model:
    """Return the model of a project with the weights that a run of it would start from. Raises `UserError`."""
    project, module = model.project, initial_network(model)
    path = weights_path(project.weights, model.base).absolute()
    matches = fill_from(project, model.analysis, module, path, project.weights.sha256)
    matches.refuse_nothing()
    if needs_all:
        _refuse_unmeasured(model, matches)
    sentence = f"Weights of {path}: {matches.sentence()}"
    fresh = () if is_imported or not matches.count("fresh") else (sentence,)
    record, dataset = _stored(model, path)
    return replace(
        model,
        weights=module.state_dict(),
        notes=(f"Weights of {model.path}.",) if is_imported else (sentence,),
        record=record,
        dataset=dataset,
        assumed=(*model.warnings, *fresh),
        warnings=(*model.warnings, *fresh),
    )


def _refuse_unmeasured(model: Model, matches: MatchReport) -> None:
    """Raise `UserError` where a normalisation is measured on the data, and the weights do not have its numbers."""
    modules, loaded = model.module_names, {pair.key for pair in matches.matched}
    for layer in model.network.inputs:
        keys = {f"{name}.shift" for name in modules.get(layer.id, ())}
        if isinstance(layer.type, InputLayer) and layer.type.is_fitted and keys - loaded:
            raise UserError(
                f"The weights of {model.path} do not have the normalisation of the input {quoted(layer.name)}, which a "
                "training measures on its data.",
                hint="Train the project, or give the input the statistics that the network was trained with.",
            )


def _described(model: Model, choice: ModelChoice) -> Model:
    """Return a model whose weights do not say what they were trained on, with the meaning that its data has, else that
    which its sizes tell."""
    data = model.project.data
    if data.source == "none" or data.problems():
        return assumed(model, choice.assumptions)
    return described_by(model, data, model.base, choice.assumptions.classes)


def _stored(model: Model, path: Path) -> tuple[Preparation | None, DatasetInfo | None]:
    """Return the record and the facts of the data that a file of weights has for the network of a project; None where
    it has none, or describes other inputs and outputs."""
    facts = None
    if path.name == WEIGHTS and (path.parent / FILE).is_file():
        stored: Preparation | None = Preparation.load(path.parent)
        if (path.parent / MANIFEST).is_file():
            facts = _stored_facts(load_weights(path.parent)[1])
    else:
        stored = read_preparation(path)
    record = of_network(stored, model.network, model.analysis) if stored is not None else None
    if record is None:
        return None, None
    return record, facts or facts_of(record)


def initial_network(model: Model) -> fx.GraphModule:
    """Return the network with initial weights and the constants of imported operators."""
    project = model.project
    analysis = analyse(project.network)
    module, layers = build(project.network, analysis), prefixes(project.network, analysis)
    initialize(module, project.training.seed, parameter_options(module, layers, partial(type_at, project.network)))
    fill_constants(module, project, model.code_base)
    return module


def _stored_facts(manifest: Mapping[str, Any]) -> DatasetInfo | None:
    """Return the facts of the data from the manifest of weights; None where a run did not store them."""
    try:
        return DatasetInfo.read(manifest["dataset"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
