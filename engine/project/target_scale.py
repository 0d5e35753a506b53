"""Checks whether the responses can be normalised: the one layer that restores their units must be at the end."""

from collections.abc import Iterator
from dataclasses import replace

from netwright.engine.layers.normalisation import InverseNorm
from netwright.engine.network import edits
from netwright.engine.network.block import Block
from netwright.engine.network.network import Network, Port
from netwright.engine.network.problems import Fix, Problem
from netwright.engine.project import check_fixes
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.project import Project

LARGE, LARGE_FOR_GRADIENTS = 1_000.0, 100.0
"""Sizes of responses from which the squared error is too large for usual rates; the lower one is for sgdm, whose
steps are proportional to the gradients."""
_BELOW = 60.0
_OPTION = "training.normalize_targets"


def fitted_outputs(network: Network) -> dict[int, str]:
    """Return by the number of each output whose units a fitted layer restores, the id of that layer."""
    ends = ((number, network.layers[port.layer]) for number, port in enumerate(network.output_ports))
    return {number: layer.id for number, layer in ends if _is_fitted(layer.effective_type)}


def _is_fitted(type: object) -> bool:
    return isinstance(type, InverseNorm) and type.is_fitted


def target_scale_problems(project: Project, facts: DatasetInfo | None) -> Iterator[Problem]:
    """Return the problems of normalised responses; empty where they are not normalised."""
    network, is_on = project.network, project.training.normalize_targets
    if facts is not None and facts.task != "numbers" and is_on:
        message = f"The data asks for {facts.targets[0].spoken()}, which have no units to normalise. Switch it off."
        yield Problem("error", "", "", _OPTION, message, check_fixes.option("Switch it off", normalize_targets=False))
        return
    yield from _misplaced(network, facts)
    ports = [port for port in network.output_ports if not network.layers[port.layer].type.is_input]
    if is_on and len(ports) == 1 and not fitted_outputs(network):
        message = (
            "Normalised responses need a layer that gives them their units back: an inverse normalisation with fitted "
            "numbers as the last layer."
        )
        end = ports[0]
        appending = Fix("Append an inverse normalisation", lambda project: _appended(project, end))
        yield Problem("warning" if facts is None else "error", "", "", _OPTION, message, appending)
    elif facts is not None and not is_on and len(ports) == 1:
        yield from _large(project, facts, ports[0])


def _large(project: Project, facts: DatasetInfo, end: Port) -> Iterator[Problem]:
    """Return a warning about responses in units that make them large: the loss of the first steps is very large, and
    soon infinite."""
    target, type = facts.targets[0], project.network.layers[end.layer].effective_type
    solver = project.training.solver
    has_numbers = isinstance(type, InverseNorm) and not type.is_fitted
    can_be_normalised = solver != "lm" and type.key != "softmax" and not has_numbers
    large = LARGE_FOR_GRADIENTS if solver == "sgdm" else LARGE
    if target.task == "numbers" and target.largest >= large and can_be_normalised:
        message = (
            f"The responses reach {target.largest:,.0f}: the loss starts huge and soon becomes infinite. "
            "Normalise them; predictions and metrics keep their units."
        )
        yield Problem("warning", "", "", _OPTION, message, _normalising(end))


def _normalising(end: Port) -> Fix:
    """Return the fix that switches the option on and adds the layer that it requires, where that is missing."""

    def edit(project: Project) -> Project:
        project = replace(project, training=project.training.replace(normalize_targets=True))
        return project if fitted_outputs(project.network) else _appended(project, end)

    return Fix("Normalise the responses", edit)


def _misplaced(network: Network, facts: DatasetInfo | None) -> Iterator[Problem]:
    """Return errors for layers that cannot be fitted, because they do not give responses."""
    ends = set(fitted_outputs(network).values())
    for layer in network.layers.values():
        type = layer.effective_type
        if isinstance(type, Block) and _holds_fitted(type):
            message = "An inverse normalisation inside cannot be fitted on the responses. Move it behind the block."
            yield Problem("error", layer.id, layer.name, "", message)
        elif _is_fitted(type):
            if layer.id not in ends:
                message = "Its numbers are fitted on the responses, so it must be the last layer. Or give the numbers."
                yield Problem("error", layer.id, layer.name, "numbers", message)
            elif facts is not None and facts.task != "numbers":
                message = f"No numbers can be fitted on {facts.targets[0].spoken()}. Remove the layer."
                yield Problem("error", layer.id, layer.name, "numbers", message, check_fixes.healing(layer))


def _holds_fitted(block: Block) -> bool:
    inner = (layer.effective_type for layer in block.network.layers.values())
    return any(_holds_fitted(type) if isinstance(type, Block) else _is_fitted(type) for type in inner)


def _appended(project: Project, end: Port) -> Project:
    """Return the network with the layer behind the last one."""
    network, layer = edits.add_layer(project.network, InverseNorm(numbers="fitted"))
    x, y = project.layout.at(end.layer)
    layout = project.layout.moved({layer.id: (x, y + _BELOW)})
    return replace(project, network=edits.connect(network, end, Port(layer.id, "in")), layout=layout)
