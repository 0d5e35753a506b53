"""`data inspect PROJECT|FILE|FOLDER`: what data has."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from netwright.engine.operations.operation import Argument, DataSettings, Line, Operation, Request, Result, Table, Trust
from netwright.engine.operations.projects import data_place
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import SPLITS, DatasetInfo

MOST_CLASSES = 30


@dataclass(frozen=True, kw_only=True)
class DataRequest(Request):
    """Data of a project, or a file or folder, whose kind is guessed."""

    path: Annotated[
        str,
        Argument(
            "a project (*.netwright), a file or folder of data, or a URL of shards",
            metavar="PROJECT|FILE|FOLDER",
            read=data_place,
        ),
    ]
    settings: DataSettings = ()
    trusted: Trust = False


@dataclass(frozen=True, kw_only=True)
class DataDescription(Result):
    """Data of a project, a file or a folder."""

    path: str
    data: Mapping[str, Any]
    """Options of the section `data` that differ from their defaults."""
    reason: str
    """Why a file or folder was taken as this kind of data; empty for a project."""
    facts: Mapping[str, Any]
    """Inputs, targets, samples per split, notes and warnings."""
    classes: list[Mapping[str, Any]]
    """Name of each class, and its number per split."""
    counted: str
    """Unit of these numbers: samples, steps, pixels or voxels."""
    columns: list[Mapping[str, Any]]
    """Name, role and kind of each column, with low, mean and high of numbers."""
    rows: list[list[str | float]]
    """The first rows of a table."""
    loading: str
    """How a run loads the data."""


def text(_: DataRequest, result: DataDescription) -> Iterator[Line]:
    """Yield source, samples, inputs and targets, columns, classes and notes."""
    options, info = DataOptions.read(result.data, "data"), DatasetInfo.read(result.facts)
    declared = options.source_type
    assert declared is not None
    yield f"source: {options.source}, {declared.note}"
    if result.reason:
        yield f"taken as that because: {result.reason}"
    sizes = ", ".join(f"{split} {info.samples.get(split, 0):,}" for split in SPLITS)
    yield f"samples: {sum(info.samples.values()):,} ({sizes})"
    yield from (f"input {source.name}: {source.type.layout}, {source.short()}" for source in info.inputs)
    yield from (f"target {target.name}: {target.spoken()}" for target in info.targets)
    yield result.loading
    if result.columns:
        heads = ("column", "role", "kind", "low", "mean", "high")
        keys = ("name", *heads[1:])
        yield Table([heads, *([_cell(column[key]) for key in keys] for column in result.columns)], right=(3, 4, 5))
    if result.classes:
        rows = [(c["name"], *(f"{c.get(split, 0):,}" for split in SPLITS)) for c in result.classes]
        yield Table([(f"class ({result.counted})", *SPLITS), *rows[:MOST_CLASSES]], right=(1, 2, 3))
        if len(rows) > MOST_CLASSES:
            yield f"and {len(rows) - MOST_CLASSES:,} more classes"
    yield from (f"note: {note}" for note in info.notes)
    yield from (f"warning: {warning}" for warning in info.warnings)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else str(value)


OPERATION = Operation(
    name="data inspect",
    effect="reads",
    request=DataRequest,
    results=(DataDescription,),
    function="netwright.engine.data.loading.named:inspect_data",
    description=(
        "Show source, samples per split, inputs, targets, columns and classes of a project's data, or of a file or "
        "folder, whose kind is then guessed."
    ),
    text=text,
    doing="reading",
    reads_data=True,
    faces=("command",),
)
