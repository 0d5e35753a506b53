"""Where a network ends, or falls apart: several networks in one project, outputs that nothing uses, idle inputs, or
nothing that learns."""

from collections.abc import Iterator

from engine.data.facts import DataFacts
from engine.network.analysis import Analysis
from engine.network.freezing import frozen_parameters, is_frozen
from engine.network.network import Network
from engine.network.problems import Problem, Severity
from engine.project.checks import fixes
from engine.project.checks.fixes import named

_MANY = 8
"""With more outputs than this the network is still being drawn: which of them is meant cannot be guessed."""


def _severity(facts: DataFacts | None) -> Severity:
    """What keeps a network from training is an error once there is data to train with."""
    return "warning" if facts is None else "error"


def idle_inputs(network: Network) -> Iterator[Problem]:
    """Inputs that lead nowhere."""
    for layer in network.inputs:
        if not network.outgoing[layer.id]:
            fix = fixes.removal(network, {layer.id}) if len(network) > 1 else None
            message = "The input leads nowhere. Connect a layer to it."
            yield Problem("warning", layer.id, layer.name, "", message, fix)


def nothing_learns(network: Network, analysis: Analysis, facts: DataFacts | None) -> Problem | None:
    """A network whose weights are all frozen. What a custom layer learns is not known here."""
    has_custom = any(layer.type.family == "Custom" for layer in network.layers.values())
    count = analysis.parameters
    if not count or analysis.has_errors or has_custom or frozen_parameters(network, analysis) < count:
        return None
    message = "Every layer with weights is frozen, so nothing can learn. Switch off Freeze for at least one of them."
    weighted = (
        layer for layer in map(network.layers.__getitem__, network.order) if analysis.facts[layer.id].parameters
    )
    frozen = [layer for layer in weighted if is_frozen(layer.type)]
    if not frozen:
        return Problem(_severity(facts), "", "", "", message)
    last = frozen[-1]
    fix = fixes.fields(f"Unfreeze {last.name}", {last.id: {"frozen": False}})
    return Problem(_severity(facts), last.id, last.name, "frozen", message, fix)


def several_networks(network: Network, facts: DataFacts | None) -> Problem | None:
    """A project that holds networks without a connection between them, each with an input of its own."""
    parts = _parts(network) if len(network.inputs) > 1 else []
    if len(parts) < 2:
        return None
    words = ", ".join(_part_words(network, part) for part in parts[:4]) + (", ..." if len(parts) > 4 else "")
    message = (
        f"{len(parts)} networks stand here without a connection between them: {words}. "
        "A project trains one: connect them, or keep one of them."
    )
    main = max(parts, key=len)
    rest = [id for part in parts if part is not main for id in part]
    first = network.layers[rest[0]]
    return Problem(_severity(facts), first.id, first.name, "", message, fixes.removal(network, rest))


def _part_words(network: Network, part: list[str]) -> str:
    first, last = network.layers[part[0]], network.layers[part[-1]]
    return f"{named(first)} to {named(last)} ({len(part):,} layers)"


def _parts(network: Network) -> list[list[str]]:
    """The layers of each connected part that has an input and more than one layer, in the order of the data."""
    near: dict[str, list[str]] = {id: [] for id in network.layers}
    for connection in network.connections:
        near[connection.source.layer].append(connection.target.layer)
        near[connection.target.layer].append(connection.source.layer)
    number: dict[str, int] = {}
    for index, layer in enumerate(network.inputs):
        waiting = [layer.id]
        while waiting:
            id = waiting.pop()
            if id not in number:
                number[id] = index
                waiting += near[id]
    parts: dict[int, list[str]] = {}
    for id in network.order:
        if id in number:
            parts.setdefault(number[id], []).append(id)
    return [part for part in parts.values() if len(part) > 1]


def several_outputs(network: Network, facts: DataFacts | None) -> Problem | None:
    """Outputs beyond the targets of the data, or beside the main one, which is the one that most layers lead to."""
    ports = [port for port in network.output_ports if not network.layers[port.layer].type.is_input]
    if len(ports) < 2 or (facts is not None and len(ports) <= len(facts.targets)):
        return None
    if facts is not None and len(facts.targets) > 1:
        names = ", ".join(network.layers[port.layer].name for port in ports[:6]) + (", ..." if len(ports) > 6 else "")
        told = ", ".join(target.name for target in facts.targets)
        message = (
            f"The data has {len(facts.targets)} targets ({told}); {len(ports)} outputs are not connected further: "
            f"{names}. Join or remove some."
        )
        return Problem("error", "", "", "", message)
    reach = {port: _upstream(network, port.layer) for port in ports} if len(ports) <= _MANY else {}
    main = max(reach, key=lambda port: len(reach[port]), default=None)
    spare = [port for port in ports if port != main]
    names = ", ".join(network.layers[port.layer].name for port in ports[:6]) + (", ..." if len(ports) > 6 else "")
    each = "" if facts is not None else " for each target of the data"
    message = f"Training needs one output{each}; {len(ports)} are not connected further: {names}. Join or remove them."
    unused = {id for port in spare for id in reach[port]} - reach[main] if main else set()
    fix = fixes.removal(network, unused) if unused else None
    at = network.layers[spare[0].layer]
    return Problem(_severity(facts), at.id, at.name, "", message, fix)


def _upstream(network: Network, id: str) -> set[str]:
    """A layer and everything that feeds it, at any distance."""
    seen: set[str] = set()
    waiting = [id]
    while waiting:
        if (found := waiting.pop()) not in seen:
            seen.add(found)
            waiting += [port.layer for port in network.incoming[found].values()]
    return seen
