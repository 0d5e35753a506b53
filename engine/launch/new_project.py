"""Projects that are begun: from a trained network."""

from pathlib import Path

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import path_from
from netwright.engine.data.loading.load import facts
from netwright.engine.operations.transfer import TransferRequest, TransferResult
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import look_up
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.project.sources.guess import with_guessed_source
from netwright.engine.project.transferred_layers import frozen_layers
from netwright.engine.runs.project_from_run import Transfer, project_from_model, transferred


def transfer(request: TransferRequest) -> TransferResult:
    """Write a project that starts from a trained network. Raises `UserError`."""
    to, source = request.destination, request.source
    look_up(source)
    project = project_from_model(source, to)
    guessed = ""
    if request.data is not None:
        options, guessed = with_guessed_source(DataOptions(path=path_from(request.data, to.parent)), to.parent)
        project = project.with_section("data", options)
    outputs = _facts_for_head(project, to.parent) if request.fit_head else request.outputs
    factor = request.rate_factor if request.slow_up_to else 1.0
    choices = Transfer(request.weights, outputs, request.freeze_up_to, request.slow_up_to, factor)
    project = transferred(project, to.parent, choices)
    save(project, to)
    return TransferResult(
        path=str(to.absolute()),
        weights=project.weights.file,
        frozen=[project.network.layers[id].name for id in frozen_layers(project)],
        data=guessed or None,
    )


def _facts_for_head(project: Project, base: Path) -> DatasetInfo:
    if project.data.source == "none" or project.data.problems():
        raise UserError("The project has no data that a head could fit.", hint="Name data, or --outputs N.")
    return facts(project.data, base)
