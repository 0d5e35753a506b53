"""`models list|register|promote|show|compare`: the registry of models."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, TypedDict, cast

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.fields import printable
from netwright.engine.core.files import number_in
from netwright.engine.core.text import format_figure, iso_time
from netwright.engine.operations.model_request import ModelPath, ModelRequest
from netwright.engine.operations.operation import Argument, Line, Operation, Request, Result, Table
from netwright.engine.project.file import load
from netwright.engine.project.project_differences import compare
from netwright.engine.runs.model_registry import STAGES, VARIABLE, Registry, Stage, Version
from netwright.engine.runs.register_model import register_model

MOST_NAMED = 12
ORDER = ("test.accuracy", "validation.accuracy", "test.rmse", "validation.rmse", "test.loss", "validation.loss")
"""Metrics of which a list shows the first that a version has."""
VersionName = Annotated[
    str, Argument("a registered model: NAME@NUMBER, NAME@STAGE, or NAME for its newest version", metavar="NAME@VERSION")
]


@dataclass(frozen=True, kw_only=True)
class RegistryRequest(Request):
    """A registry of models."""

    registry: Annotated[
        Path | None,
        Argument(f"folder of the registry (default: that in {VARIABLE}, else in your data folder)", metavar="DIR"),
    ] = None


class Ancestry(TypedDict):
    """Origin of a version."""

    source: str
    """File or folder that was registered, by its name."""
    run: str
    """Title of the run; empty for another model."""
    run_created: str | None
    project_id: str
    data: str
    """Fingerprint of the data, equal for the same contents in the same splits; empty where it is not known."""
    samples: Mapping[str, int]
    """Number of samples by split."""
    parent: str
    """Version that the training started from, as NAME@NUMBER; empty for none of this registry."""


class RegisteredModel(TypedDict):
    """A version of a registered model."""

    name: str
    version: int
    stage: Stage
    created: str | None
    """In ISO 8601."""
    tags: list[str]
    metrics: Mapping[str, float]
    """By split and name, such as validation.accuracy."""
    lineage: Ancestry
    weights_sha256: str
    notes: list[str]
    """What its import said of it."""
    path: str
    """File of the model."""


def described(registry: Registry, version: Version) -> RegisteredModel:
    """Return a version as JSON."""
    lineage = version.lineage
    return {
        "name": version.name,
        "version": version.version,
        "stage": version.stage,
        "created": iso_time(version.created),
        "tags": list(version.tags),
        "metrics": dict(version.metrics),
        "lineage": {
            "source": lineage.source,
            "run": lineage.run,
            "run_created": iso_time(lineage.run_created),
            "project_id": lineage.project_id,
            "data": lineage.data,
            "samples": dict(lineage.samples),
            "parent": lineage.parent,
        },
        "weights_sha256": version.weights_sha256,
        "notes": list(version.notes),
        "path": str(registry.model(version).absolute()),
    }


@dataclass(frozen=True, kw_only=True)
class ListRequest(RegistryRequest):
    """List the versions of registered models, the newest of each first. A command that takes a model takes a registered
    one by its name: digits@production, digits@3."""

    name: Annotated[str, Argument("a model; default: all", metavar="NAME", is_positional=True)] = ""
    stage: Annotated[str, Argument("only those in this stage", choices=STAGES)] = ""


class RegisteredModels(TypedDict):
    """Versions of registered models."""

    registry: str
    models: list[RegisteredModel]


def list_models(request: ListRequest) -> RegisteredModels:
    """List them."""
    registry = Registry(request.registry)
    versions = registry.versions(request.name) if request.name else registry.all()
    models = [described(registry, version) for version in versions if request.stage in ("", version.stage)]
    return {"registry": str(registry.folder.absolute()), "models": models}


def list_text(_: ListRequest, result: RegisteredModels) -> Iterator[Line]:
    """Yield a row per version."""
    if not result["models"]:
        yield f"There are no such models in the registry {result['registry']}."
        return
    rows = [("model", "stage", "created", "score", "from", "tags")]
    for model in result["models"]:
        title, metric = f"{model['name']}@{model['version']}", main_metric(model["metrics"])
        score = f"{metric} {format_figure(model['metrics'][metric])}" if metric else ""
        source = model["lineage"]["run"] or model["lineage"]["source"]
        rows.append((title, model["stage"], model["created"] or "", score, source, ", ".join(model["tags"])))
    yield Table(rows)


def main_metric(metrics: Mapping[str, float]) -> str:
    """Return the name of the score that a list shows; empty for none."""
    return next((name for name in ORDER if name in metrics), next(iter(metrics), ""))


LIST = Operation(name="models list", effect="reads", function=list_models, text=list_text, faces=("command", "window"))


@dataclass(frozen=True, kw_only=True)
class RegisterRequest(RegistryRequest):
    """Add a model to the registry as the next version of a name: a copy of its network and weights, with the scores and
    the data of its run. A later change of the run or the file does not change it."""

    model: ModelPath
    name: Annotated[str, Argument("name of the model, such as digits", metavar="NAME")]
    stage: Annotated[str, Argument("stage of the version (default: none)", choices=STAGES)] = "none"
    tags: Annotated[tuple[str, ...], Argument("a tag; may be repeated", metavar="TAG", flags=("--tag",))] = ()
    metrics: Annotated[
        tuple[str, ...],
        Argument("a score of it; may be given several times", metavar="NAME=NUMBER", flags=("--metric",)),
    ] = ()


def register(request: RegisterRequest) -> RegisteredModel:
    """Register a model. Raises `UserError`."""
    registry = Registry(request.registry)
    metrics = dict(map(_metric, request.metrics))
    version = register_model(registry, request.model, request.name, tags=request.tags, metrics=metrics)
    if request.stage != "none":
        version = registry.promote(version, cast(Stage, request.stage))[0]
    return described(registry, version)


def _metric(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        value = number_in(float(number))
    except ValueError:
        value = None
    if value is None or not name.strip():
        raise UserError(f"--metric: expected NAME=NUMBER, such as accuracy=0.97, received '{text}'.", code="usage")
    return name.strip(), value


def register_text(_: RegisterRequest, result: RegisteredModel) -> Iterator[Line]:
    """Yield its name, and what it can be used as."""
    title = f"{result['name']}@{result['version']}"
    yield f"registered {title}, stage {result['stage']}"
    yield f"next: netwright-engine models promote {title} production"


REGISTER = Operation(name="models register", function=register, text=register_text, faces=("command", "window"))


@dataclass(frozen=True, kw_only=True)
class PromoteRequest(RegistryRequest):
    """Set the stage of a version. Where it goes to production, the version that was there is archived."""

    version: VersionName
    stage: Annotated[str, Argument("the stage", metavar="STAGE", choices=STAGES, is_positional=True)] = "production"


class ChangedModels(TypedDict):
    """Versions whose stage changed, first the one that was asked for."""

    models: list[RegisteredModel]


def promote(request: PromoteRequest) -> ChangedModels:
    """Set the stage. Raises `UserError`."""
    registry = Registry(request.registry)
    changed = registry.promote(registry.version(request.version), cast(Stage, request.stage))
    return {"models": [described(registry, version) for version in changed]}


def promote_text(_: PromoteRequest, result: ChangedModels) -> Iterator[Line]:
    """Yield a line per version."""
    yield from (f"{model['name']}@{model['version']}: {model['stage']}" for model in result["models"])


PROMOTE = Operation(name="models promote", function=promote, text=promote_text, faces=("command", "window"))


class ModelInput(TypedDict):
    """An input of a network."""

    name: str
    text: str
    """What it takes, in words: values, number format, sizes."""
    preparation: list[str]
    """What is done to the data before and in the network, a sentence each."""
    columns: list[str]


class ModelOutput(TypedDict):
    """An output of a network."""

    name: str
    task: Literal["classes", "numbers", "labels", "transcripts"]
    sizes: list[int | None]
    """Without the samples; null where any will do."""
    classes: list[str]
    columns: list[str]


class ModelLayer(TypedDict):
    """A layer of a network, in the order of its computation."""

    path: str
    type: str
    family: str
    layout: str
    """Of its output: image, sequence, features, volume."""


@dataclass(frozen=True, kw_only=True)
class ModelCard(Result):
    """A model: where it comes from, what it takes and gives."""

    path: str
    title: str
    kind: Literal["run", "project", "file"]
    origin: list[str]
    """Where network and weights come from, a sentence each."""
    assumed: list[str]
    """What is assumed about it, and what its import and its weights lack, a sentence each."""
    parameters: int
    inputs: list[ModelInput]
    outputs: list[ModelOutput]
    data: str = ""
    """Its own data; empty where it has none."""
    samples: Mapping[str, int] = field(default_factory=dict)
    """Number of samples by split, where they are known."""
    season: int = 0
    """Period of the series that it forecasts, in steps; 0 for none."""
    layers: list[ModelLayer]
    registered: RegisteredModel | None = None
    """The version in the registry, of a model that is named so."""


@dataclass(frozen=True, kw_only=True)
class ShowRequest(ModelRequest):
    """Describe a model: what it takes and gives, its classes, how data is prepared for it, where it comes from; of a
    registered one also stage, scores and lineage."""

    shares = "model"


def show_text(_: ShowRequest, result: ModelCard) -> Iterator[Line]:
    """Yield a heading and a text per line."""
    rows = [("model", result.title), *(("origin", text) for text in result.origin)]
    if (model := result.registered) is not None:
        rows += _registered_rows(model)
    rows.append(("parameters", f"{result.parameters:,}"))
    for entry in result.inputs:
        rows += [("input", f"{entry['name']}: {entry['text']}"), *(("", text) for text in entry["preparation"])]
    for output in result.outputs:
        names = output["classes"] or output["columns"]
        sizes = " × ".join("any" if size is None else f"{size:,}" for size in output["sizes"])
        rows.append(("output", f"{output['name']}: {output['task']}, {sizes}{f' ({listed(names)})' if names else ''}"))
    if result.season:
        rows.append(("season", plural(result.season, "step")))
    rows += [("data", result.data or "none of its own"), *(("assumed", text) for text in result.assumed)]
    yield Table(rows, has_header=False)


def _registered_rows(model: RegisteredModel) -> Iterator[tuple[str, str]]:
    lineage = model["lineage"]
    samples = ", ".join(f"{name} {count:,}" for name, count in lineage["samples"].items())
    rows = [
        ("version", f"{model['name']}@{model['version']}"),
        ("stage", model["stage"]),
        ("created", model["created"] or ""),
        *((name, format_figure(value)) for name, value in model["metrics"].items()),
        ("tags", ", ".join(model["tags"])),
        ("from", lineage["run"] or lineage["source"]),
        ("parent", lineage["parent"]),
        ("trained on", f"{lineage['data'][:12]}{f' ({samples})' if samples else ''}" if lineage["data"] else ""),
        ("weights", model["weights_sha256"][:12]),
        *(("note", note) for note in model["notes"]),
    ]
    yield from ((name, text) for name, text in rows if text)


def listed(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(map(printable, names[:MOST_NAMED]))}{more}"


SHOW = Operation(
    name="models show",
    effect="reads",
    request=ShowRequest,
    results=(ModelCard,),
    function="netwright.engine.models.model_card:model_card",
    text=show_text,
    reads_data=True,
    faces=("command", "window"),
)


@dataclass(frozen=True, kw_only=True)
class CompareRequest(RegistryRequest):
    """Compare two versions of registered models: their scores, whether they had the same data, and what differs in
    their projects. `evaluate NAME@1 --against NAME@2` has both answer the same samples."""

    versions: Annotated[tuple[str, ...], Argument("two registered models", metavar="NAME@VERSION")]

    def check(self) -> None:
        """Refuse another number of versions."""
        if len(self.versions) != 2:
            raise UserError(f"models compare takes two versions, received {len(self.versions)}.", code="usage")


class ComparedScore(TypedDict):
    """A score of two versions; null where one does not have it."""

    name: str
    first: float | None
    second: float | None


class ComparedModels(TypedDict):
    """Two versions of registered models."""

    first: RegisteredModel
    second: RegisteredModel
    metrics: list[ComparedScore]
    same_data: bool | None
    """Null where the data of one is not known."""
    differences: list[str]
    """Differences of the projects, in words."""


def compare_models(request: CompareRequest) -> ComparedModels:
    """Compare two versions. Raises `UserError`."""
    registry = Registry(request.registry)
    first, second = map(registry.version, request.versions)
    names = dict.fromkeys([*first.metrics, *second.metrics])
    prints = [version.lineage.data for version in (first, second)]
    projects = [load(registry.model(version)).project for version in (first, second)]
    return {
        "first": described(registry, first),
        "second": described(registry, second),
        "metrics": [
            {"name": name, "first": first.metrics.get(name), "second": second.metrics.get(name)} for name in names
        ],
        "same_data": prints[0] == prints[1] if all(prints) else None,
        "differences": [str(each) for each in compare(*projects).differences],
    }


def compare_text(_: CompareRequest, result: ComparedModels) -> Iterator[Line]:
    """Yield the scores, then what differs."""
    titles = [f"{model['name']}@{model['version']}" for model in (result["first"], result["second"])]
    rows = [("", *titles, "difference"), ("stage", result["first"]["stage"], result["second"]["stage"], "")]
    for score in result["metrics"]:
        cells = [_figure(score["first"]), _figure(score["second"])]
        has_both = score["first"] is not None and score["second"] is not None
        change = _figure((score["second"] or 0.0) - (score["first"] or 0.0)) if has_both else ""
        rows.append((score["name"], *cells, change))
    yield Table(cast(Sequence[Sequence[str]], rows), right=(1, 2, 3))
    if (is_same := result["same_data"]) is None:
        yield "Whether the data is the same is not known."
    else:
        yield "The data is the same." if is_same else "The data differs."
    count = len(result["differences"])
    yield f"The projects have {plural(count, 'difference')}{':' if count else '.'}"
    yield from result["differences"]


def _figure(value: float | None) -> str:
    return "" if value is None else format_figure(value)


COMPARE = Operation(
    name="models compare", effect="reads", function=compare_models, text=compare_text, faces=("command",)
)
