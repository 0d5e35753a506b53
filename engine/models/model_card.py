"""The card of a model: where it comes from, what it takes and gives."""

from netwright.engine.core.own_files import SUFFIX
from netwright.engine.models.open_model import open_model
from netwright.engine.models.trained_model import Model
from netwright.engine.network.analysis import named_path, type_at
from netwright.engine.operations.models import ModelCard, ModelLayer, ShowRequest, described
from netwright.engine.project.input_format import input_formats
from netwright.engine.runs.model_registry import Registry, version_at


def model_card(request: ShowRequest) -> ModelCard:
    """Describe a model. Raises `UserError`."""
    choice = request.choice
    model, version = open_model(choice), version_at(choice.path)
    record, data = model.preparation, model.project.data
    samples = model.data_record.samples if model.data_record is not None else model.facts.samples
    return ModelCard(
        path=str(choice.path.absolute()),
        title=version.title if version is not None else model.title,
        kind="run" if model.run is not None else "project" if choice.path.suffix == SUFFIX else "file",
        origin=list(model.notes),
        assumed=list(model.assumed),
        parameters=model.analysis.parameters,
        inputs=[
            {
                "name": entry.name,
                "text": entry.short(),
                "preparation": list(entry.preparation),
                "columns": list(entry.columns),
            }
            for entry in input_formats(record, {})
        ],
        outputs=[
            {
                "name": target.name,
                "task": target.task,
                "sizes": list(target.sizes),
                "classes": list(target.classes),
                "columns": list(target.columns),
            }
            for target in record.targets
        ],
        data=(data.path or data.source) if data.source != "none" else "",
        samples=dict(samples),
        season=record.season,
        layers=_layers(model),
        registered=described(Registry(choice.path.parents[2]), version) if version is not None else None,
    )


def _layers(model: Model) -> list[ModelLayer]:
    network, layers = model.network, list[ModelLayer]()
    for path, shapes in model.analysis.all_shapes():
        if shapes.outputs and not shapes.is_port:
            type = type_at(network, path)
            layers.append(
                {
                    "path": named_path(network, path),
                    "type": type.key,
                    "family": type.family,
                    "layout": shapes.output.layout,
                }
            )
    return layers
