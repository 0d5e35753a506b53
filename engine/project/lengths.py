"""What does not fit once sequences have the length of the data, where the network leaves it open."""

from collections.abc import Callable, Iterator, Mapping

from engine.data.facts import InputFacts
from engine.layers.inputs import SequenceInput
from engine.network import edits, padded
from engine.network.analysis import Analysis, analyse
from engine.network.network import Network
from engine.network.problems import Problem


def length_problems(network: Network, analysis: Analysis, fed: Mapping[str, InputFacts]) -> Iterator[Problem]:
    """Errors that only the data's lengths bring: a window longer than the sequence, too few positions, a layer that
    cannot tell padding from data.

    `fed` is what the data gives each input layer. A layer that has an error anyhow is left out.
    """
    known = {problem.layer for problem in analysis.problems if problem.severity == "error"}
    found = [*_of_length(network, fed, min), *_of_length(network, fed, max)]
    if any(given.lengths for given in fed.values()):
        found += padded.problems(network, analysis)
    for problem in found:
        if problem.layer not in known:
            known.add(problem.layer)
            yield problem


def _of_length(
    network: Network, fed: Mapping[str, InputFacts], pick: Callable[[tuple[int, int]], int]
) -> Iterator[Problem]:
    """The errors once each input has the length of the data, or of its shortest or longest sequence."""
    measured = network
    for id, given in fed.items():
        type, length = network.layers[id].type, dict(zip(given.type.axes, given.type.sizes, strict=True)).get("T")
        length = pick(given.lengths) if given.lengths else length
        if isinstance(type, SequenceInput) and not type.length and isinstance(length, int):
            measured = edits.set_fields(measured, id, {"length": length})
    if measured is not network:
        for problem in analyse(measured).problems:
            if problem.severity == "error":
                yield Problem("error", problem.layer, problem.name, problem.field, problem.message)
