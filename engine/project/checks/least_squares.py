"""What Levenberg-Marquardt cannot do, said before a run begins."""

from collections.abc import Iterator

from engine.data.facts import DataFacts
from engine.layers.base import LayerType
from engine.network.analysis import Analysis
from engine.network.freezing import frozen_parameters, type_at
from engine.network.network import Network
from engine.network.problems import Problem
from engine.project.project import Project

MOST_WEIGHTS = 5_000
"""Each iteration solves for all weights at once: memory grows with their square, time with their cube."""


def least_squares_problems(project: Project, analysis: Analysis, facts: DataFacts | None) -> Iterator[Problem]:
    """Nothing where another solver was chosen."""
    if project.training.solver != "lm":
        return
    if facts is not None and (why := _no_regression(facts)):
        yield Problem("error", "", "", "training.solver", f"The solver lm is for regressions; {why}. Choose another.")
    count = analysis.parameters - frozen_parameters(project.network, analysis)
    if count > MOST_WEIGHTS:
        message = (
            f"The solver lm solves for all weights at once and takes at most {MOST_WEIGHTS:,}; the network has "
            f"{count:,} that learn. Choose another solver, such as lbfgs, or make the network smaller."
        )
        yield Problem("error", "", "", "training.solver", message)
    yield from _dependent(project.network, analysis)


def _no_regression(facts: DataFacts) -> str:
    first, *others = facts.targets
    if others:
        return f"it takes one target, and the data has {len(facts.targets)}"
    if first.task != "numbers":
        return f"the responses of the data are {first.task}"
    return (
        "" if first.per == "sample" else f"it takes numbers for each sample, and the data has some for each {first.per}"
    )


def _dependent(network: Network, analysis: Analysis) -> Iterator[Problem]:
    """Layers whose output for a sample is not a matter of that sample and the weights alone; each outer one once."""
    seen: set[str] = set()
    for path, _ in analysis.all_facts():
        type, (outer, *_) = type_at(network, path), path.split("/")
        if outer not in seen and (why := _why_dependent(type)):
            seen.add(outer)
            message = (
                f"The solver lm differentiates each sample by itself, but {type.label} {why}. Choose another solver."
            )
            yield Problem("error", outer, network.layers[outer].name, "", message)


def _why_dependent(type: LayerType) -> str:
    if type.key == "batch_norm":
        return "takes its statistics over the batch"
    if type.random and getattr(type, "dropout", getattr(type, "probability", 1.0)) > 0:
        return "draws at random"
    return ""
