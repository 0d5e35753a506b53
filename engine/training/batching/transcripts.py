"""Whether every transcript has room in the output that is to give it; otherwise its loss would be infinite."""

import numpy as np

from engine.data.facts import IGNORED
from engine.data.load import LoadedData
from engine.data.sources.source import Array
from engine.errors import UserError
from engine.layers.inputs import SequenceInput
from engine.network import edits
from engine.network.analysis import Analysis, analyse
from engine.network.network import Network, Port
from engine.project.inputs import match_inputs
from engine.project.targets import wanted_of

MOST_TRIED = 200
"""So many different lengths of sequences are looked at."""


def refuse_long_transcripts(network: Network, analysis: Analysis, data: LoadedData) -> None:
    """Raise `UserError` for the first transcript that needs more steps than leave the network: one a class, and one
    for the blank between two that are equal."""
    for one in wanted_of(network, analysis, data.facts, is_padded=True):
        if one.facts.task == "transcripts":
            _refuse(network, one.port, needed(data.targets[one.number]), data, one.facts.name)


def needed(target: Array) -> Array:
    """How many steps each transcript needs at least."""
    is_there = target != IGNORED
    repeated = (target[:, 1:] == target[:, :-1]) & is_there[:, 1:]
    return np.asarray(is_there.sum(1) + repeated.sum(1))


def _refuse(network: Network, port: Port, steps: Array, data: LoadedData, name: str) -> None:
    fed = match_inputs(network, data.facts)
    timed = {id: data.facts.inputs.index(given) for id, given in fed.items() if given.type.has("T")}
    if len(timed) != 1:
        return
    (id, number), *_ = timed.items()
    count, whole = data.inputs[number].shape[:2]
    given = data.lengths[number] if data.lengths else None
    lengths = np.full(count, whole) if given is None else given
    for length in np.unique(lengths)[:MOST_TRIED].tolist():
        chosen = np.flatnonzero(lengths == length)
        worst = int(chosen[steps[chosen].argmax()])
        left = _left(network, id, port, length)
        if left is not None and left < steps[worst]:
            raise UserError(
                f"The transcript '{name}' of sample {worst:,} needs {steps[worst]:,} steps (one a class, one more "
                f"between equal ones), but of its {length:,} steps {left:,} leave the network. Shorten sequences less "
                "in the network, or leave the sample out."
            )


def _left(network: Network, id: str, port: Port, length: int) -> int | None:
    """How many steps leave the network of so many."""
    type = network.layers[id].type
    if not isinstance(type, SequenceInput) or type.length:
        return None
    found = analyse(edits.set_fields(network, id, {"length": length})).facts.get(port.layer)
    left = found.at(port.name)["T"] if found and found.at(port.name).has("T") else None
    return left if isinstance(left, int) else None
