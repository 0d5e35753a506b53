"""What does not fit once sequences have the length of the data, where the network leaves it open."""

from collections.abc import Iterator, Mapping

from engine.data.facts import InputFacts
from engine.layers.inputs import SequenceInput
from engine.network import edits
from engine.network.analysis import Analysis, analyse
from engine.network.network import Network
from engine.network.problems import Problem


def length_problems(network: Network, analysis: Analysis, fed: Mapping[str, InputFacts]) -> Iterator[Problem]:
    """Errors that only the data's length brings: a window longer than the sequence, too few positions.

    `fed` is what the data gives each input layer. A layer that has an error anyhow is left out.
    """
    measured = network
    for id, given in fed.items():
        type, length = network.layers[id].type, dict(zip(given.type.axes, given.type.sizes, strict=True)).get("T")
        if isinstance(type, SequenceInput) and not type.length and isinstance(length, int):
            measured = edits.set_fields(measured, id, {"length": length})
    if measured is network:
        return
    known = {problem.layer for problem in analysis.problems if problem.severity == "error"}
    for problem in analyse(measured).problems:
        if problem.severity == "error" and problem.layer not in known:
            yield Problem("error", problem.layer, problem.name, problem.field, problem.message)
