"""What a file of Netwright's own says about the data of its network: classes, columns, and a normalisation outside."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from netwright.engine.core.errors import FieldErrors, UserError
from netwright.engine.core.fields import printable
from netwright.engine.network import edits
from netwright.engine.network.analysis import Analysis
from netwright.engine.network.network import Network
from netwright.engine.project.preparation import Preparation
from netwright.engine.project.stored_facts import of_network

OWN, PREPARATION, NORMALIZATION = "netwright", "preparation", "normalization"
"""Keys of the metadata."""
KINDS = {"classes": "Classes", "transcripts": "Classes", "labels": "Labels", "numbers": "Numbers"}
MOST_CHARACTERS = 2**24
MOST_NAMED = 12
_Damaged = (KeyError, TypeError, ValueError, AttributeError, RecursionError, FieldErrors)


@dataclass(frozen=True)
class DataNotes:
    """The metadata on the data: the network with the normalisation that the file leaves out, the record of the
    preparation, and sentences for the report."""

    network: Network
    record: Preparation | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def read_data_notes(
    metadata: Mapping[str, str], network: Network, analysis: Analysis, names: Mapping[str, str]
) -> DataNotes:
    """Return the metadata on the data, for a network whose inputs and outputs have the names `names`, by those in the
    file. Metadata that is damaged or about another network is left out, which a warning says."""
    if OWN not in metadata:
        return DataNotes(network)
    notes: list[str] = []
    warnings: list[str] = []
    record = None
    if text := metadata.get(PREPARATION, ""):
        try:
            record = _record(text, network, analysis, names)
            notes += _sentences(record)
        except UserError as error:
            warnings.append(f"Classes and columns are not taken over: {error}")
    try:
        left_out = json.loads(metadata.get(NORMALIZATION, "{}")).items()
    except _Damaged:
        left_out = ()
    for name, numbers in left_out:
        try:
            network = _normalized(network, names[name], numbers)
        except _Damaged:
            warnings.append(
                f"The input '{printable(str(name))[:80]}' takes numbers that whoever feeds it normalises, with those "
                "under 'normalization' in the metadata of the file; the network does not have them."
            )
            continue
        notes.append(
            f"The file leaves the normalisation of '{name}' to whoever feeds it, and has its numbers. Here the network "
            "normalises: feed the numbers of the data."
        )
    return DataNotes(network, record, tuple(notes), tuple(warnings))


def _record(text: str, network: Network, analysis: Analysis, names: Mapping[str, str]) -> Preparation:
    """Return the record for the network. Raises `UserError`."""
    if len(text) > MOST_CHARACTERS:
        raise UserError(f"the metadata has {len(text):,} characters about them; at most {MOST_CHARACTERS:,} are read.")
    record = of_network(Preparation.parse(text, "the preparation in the metadata"), network, analysis, names)
    if record is None:
        raise UserError("the metadata of the file is about other inputs or outputs.")
    return record


def _sentences(record: Preparation) -> Iterator[str]:
    for entry in record.inputs:
        if entry.column_names:
            yield f"Columns of '{entry.name}', in this order: {_listed(entry.column_names)}."
    for target in record.targets:
        if names := target.classes or target.columns:
            yield f"{KINDS[target.task]} of '{target.name}', in this order: {_listed(names)}."


def _listed(names: tuple[str, ...]) -> str:
    texts = [printable(name) for name in names[:MOST_NAMED]]
    more = [f"and {len(names) - MOST_NAMED:,} more"] if len(names) > MOST_NAMED else []
    return ", ".join([*texts, *more])


def _normalized(network: Network, name: str, numbers: Mapping[str, Any]) -> Network:
    """Return the network whose input layer has the shift and scale of the metadata. Raises one of `_Damaged` where it
    cannot have them, such as one number for each pixel."""
    layer = network.by_name[name]
    shift, scale = (tuple(map(float, numbers[key])) for key in ("shift", "scale"))
    sizes, channels = [int(size) for size in numbers["sizes"]], layer.type.output().channels
    is_by_channel = len(shift) == len(scale) == math.prod(sizes) and sizes.count(1) >= len(sizes) - 1
    if not is_by_channel or len(shift) not in (1, channels) or not all(map(math.isfinite, (*shift, *scale))):
        raise ValueError
    values = {"normalization": "zscore", "statistics": "given", "mean": shift}
    network = edits.set_fields(network, layer.id, {**values, "deviation": tuple(1.0 / factor for factor in scale)})
    if problems := network.layers[layer.id].type.problems():
        raise FieldErrors(problems)
    return network
