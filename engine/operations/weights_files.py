"""`weights match|list|fetch`: what fills a network, and published weights."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, cast

from netwright.engine.core.errors import UserError
from netwright.engine.core.fork import run_in_child_process
from netwright.engine.core.part_registry import imported
from netwright.engine.core.platform import command_line
from netwright.engine.core.progress import notice
from netwright.engine.core.text import format_bytes
from netwright.engine.operations.operation import (
    Argument,
    Base,
    Line,
    Operation,
    ProjectRequest,
    ProjectText,
    Request,
    Table,
    Trust,
)
from netwright.engine.operations.projects import look_at_code, project_of, read_project
from netwright.engine.project import user_code
from netwright.engine.project.published_weights import published, published_entry
from netwright.engine.project.weights import chosen
from netwright.engine.runs.folder import origin

MOST_SHOWN = 20
"""Number of keys of each kind that are printed; --json has more."""
PATIENCE_S = 1800.0


@dataclass(frozen=True, kw_only=True)
class MatchRequest(ProjectRequest):
    """Show which layers of a project are loaded from its weights, and which start fresh."""

    source: Annotated[
        Path | None, Argument("weights instead of the project's", metavar="FILE|RUN", flags=("--from",))
    ] = None
    text: ProjectText = ""
    base: Annotated[Base, Argument("folder that its files lie in", faces=("window",))] = None
    trusted: Trust = False


class WeightedLayer(TypedDict):
    """What a layer starts from."""

    id: str
    name: str
    state: Literal["loaded", "partly", "fresh"]
    why: str
    """Why it is not loaded as a whole, in words."""


class OtherShape(TypedDict):
    """A key whose counterpart in the file has another shape."""

    key: str
    file_key: str
    shape: list[int]
    file_shape: list[int]


class WeightsMatch(TypedDict):
    """The weights of a file that a network takes."""

    file: str
    sha256: str
    layout: str
    """Name of the publisher's layout that the keys follow; empty for others."""
    sentence: str
    layers: list[WeightedLayer]
    counts: Mapping[str, int]
    """Number of keys that are `matched`, of `other_shape`, `missing` in the file, and `left_over` there."""
    matched: list[list[str]]
    """Key of the network, key of the file, and how it was found: map, layer, name, layout. The first 200."""
    other_shape: list[OtherShape]
    missing: list[str]
    left_over: list[str]


def match(request: MatchRequest) -> WeightsMatch:
    """Compare weights with a network. Raises `UserError`, also where the project names none."""
    known = origin(request.project)
    base = request.base or known.base
    if request.text:
        project = project_of(request.project, request.text)
        user_code.ready(project, base)
    else:
        project, notices = read_project(request.project, request.settings)
        notice(*notices)
        if request.source is not None:
            base = Path.cwd()
            project = project.with_section("weights", chosen(request.source, base).replace(map=project.weights.map))
        look_at_code(project, known.code_base, known.code, trusted=request.trusted)

    def report() -> Any:
        if not project.weights.file:
            raise UserError("The project starts from random numbers.", hint="Name weights: --from FILE.")
        return imported("netwright.engine.lowering.start_weights:start_report")(project, base).write()

    return cast(WeightsMatch, run_in_child_process(report, PATIENCE_S))


def match_text(_: MatchRequest, result: WeightsMatch) -> Iterator[Line]:
    """Yield a row per layer, and the keys without a counterpart."""
    rows = [(layer["name"], layer["state"], layer["why"]) for layer in result["layers"]]
    yield Table([("layer", "state", "why"), *rows])
    for title, keys in (("Left over in the file", result["left_over"]), ("Without numbers", result["missing"])):
        more = f" and {len(keys) - MOST_SHOWN:,} more" if len(keys) > MOST_SHOWN else ""
        if keys:
            yield f"{title}: {', '.join(keys[:MOST_SHOWN])}{more}"
    yield f"{result['file']}: {result['sentence']}"


MATCH = Operation(name="weights match", effect="reads", function=match, text=match_text, faces=("command", "window"))


@dataclass(frozen=True, kw_only=True)
class ListRequest(Request):
    """List published weights that can be fetched, and those that are here."""


class PublishedFile(TypedDict):
    """A published file of weights."""

    name: str
    template: str
    url: str
    sha256: str
    """All digits, or the first ones where the publisher tells no more."""
    title: str
    licence: str
    bytes: int
    """0 where it is not known."""
    classes: str
    mean: list[float]
    """Of the colour channels of pixels from 0 to 1, as the network was trained."""
    deviation: list[float]
    path: str
    """Where it lies once it is fetched."""
    is_here: bool


class PublishedFiles(TypedDict):
    """Published weights."""

    weights: list[PublishedFile]


def list_published(_: ListRequest) -> PublishedFiles:
    """List them."""
    return {"weights": [cast(PublishedFile, entry.write()) for entry in published().values()]}


def list_text(_: ListRequest, result: PublishedFiles) -> Iterator[Line]:
    """Yield a row per file."""
    rows = [("name", "template", "title", "", "address")]
    for row in result["weights"]:
        rows.append((row["name"], row["template"], row["title"], "here" if row["is_here"] else "", row["url"]))
    yield Table(rows)


LIST = Operation(name="weights list", effect="reads", function=list_published, text=list_text, faces=("command",))


@dataclass(frozen=True, kw_only=True)
class FetchRequest(Request):
    """Fetch published weights into the user's cache folder; an interrupted download resumes."""

    name: Annotated[str, Argument("a name of `weights list`, such as resnet18", metavar="NAME")]


class FetchedWeights(TypedDict):
    """A file of weights that was fetched."""

    name: str
    path: str
    bytes: int


def fetch(request: FetchRequest) -> FetchedWeights:
    """Fetch a file. Raises `UserError`."""
    path: Path = imported("netwright.engine.data.sources.fetch_weights:fetch")(published_entry(request.name))
    return {"name": request.name, "path": str(path), "bytes": path.stat().st_size}


def fetch_text(request: FetchRequest, result: FetchedWeights) -> Iterator[Line]:
    """Yield where the file lies."""
    entry = published_entry(request.name)
    yield f"{result['path']}: {format_bytes(result['bytes'])}, SHA-256 begins with {entry.sha256}"
    if entry.licence:
        yield f"licence: {entry.licence}"
    yield f"next: netwright-engine transfer PROJECT -o NEW --weights {command_line(result['path'])}"


FETCH = Operation(name="weights fetch", function=fetch, text=fetch_text, doing="fetching", faces=("command", "window"))
