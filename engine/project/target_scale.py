"""Whether the responses can be normalised: the one layer that gives them their units back must stand at the end."""

from collections.abc import Iterator
from dataclasses import replace

from engine.data.facts import DataFacts
from engine.layers.block import Block
from engine.layers.normalisation import InverseNorm
from engine.network import edits
from engine.network.network import Network, Port
from engine.network.problems import Fix, Problem
from engine.project.project import Project

_BELOW = 60.0
_OPTION = "training.normalize_targets"


def fitted_outputs(network: Network) -> dict[int, str]:
    """For the number of each output whose units are given back by fitted numbers, the id of that layer."""
    ends = ((number, network.layers[port.layer]) for number, port in enumerate(network.output_ports))
    return {number: layer.id for number, layer in ends if _is_fitted(layer.acting)}


def _is_fitted(type: object) -> bool:
    return isinstance(type, InverseNorm) and type.is_fitted


def target_scale_problems(project: Project, facts: DataFacts | None) -> Iterator[Problem]:
    """Nothing where responses stay as they are."""
    network, is_on = project.network, project.training.normalize_targets
    if facts is not None and facts.task != "numbers" and is_on:
        message = f"The data asks for {facts.targets[0].spoken()}, which have no units to normalise. Switch it off."
        yield Problem("error", "", "", _OPTION, message)
        return
    yield from _misplaced(network, facts)
    ports = [port for port in network.output_ports if not network.layers[port.layer].type.is_input]
    if is_on and len(ports) == 1 and not fitted_outputs(network):
        message = (
            "Normalised responses need a layer that gives them their units back: an inverse normalisation with fitted "
            "numbers as the last layer."
        )
        yield Problem("warning" if facts is None else "error", "", "", _OPTION, message, _appending(ports[0]))


def _misplaced(network: Network, facts: DataFacts | None) -> Iterator[Problem]:
    """Layers whose numbers cannot be fitted, because they do not give responses."""
    ends = set(fitted_outputs(network).values())
    for layer in network.layers.values():
        if isinstance(layer.acting, Block) and _holds_fitted(layer.acting):
            message = "An inverse normalisation inside cannot be fitted on the responses. Move it behind the block."
            yield Problem("error", layer.id, layer.name, "", message)
        elif _is_fitted(layer.acting):
            if layer.id not in ends:
                message = "Its numbers are fitted on the responses, so it must be the last layer. Or give the numbers."
                yield Problem("error", layer.id, layer.name, "numbers", message)
            elif facts is not None and facts.task != "numbers":
                message = f"No numbers can be fitted on {facts.targets[0].spoken()}. Remove the layer."
                yield Problem("error", layer.id, layer.name, "numbers", message)


def _holds_fitted(block: Block) -> bool:
    inner = (layer.acting for layer in block.network.layers.values())
    return any(_holds_fitted(type) if isinstance(type, Block) else _is_fitted(type) for type in inner)


def _appending(end: Port) -> Fix:
    """Put the layer behind the last one."""

    def edit(project: Project) -> Project:
        network, layer = edits.add_layer(project.network, InverseNorm(numbers="fitted"))
        x, y = project.layout.at(end.layer)
        layout = project.layout.moved({layer.id: (x, y + _BELOW)})
        return replace(project, network=edits.connect(network, end, Port(layer.id, "in")), layout=layout)

    return Fix("Append an inverse normalisation", edit)
