"""Checks of outputs against their targets and losses, with fixes: sizes, counts, activations, unused inputs."""

from collections.abc import Iterator

from netwright.engine.core.errors import listed, plural
from netwright.engine.core.types import TensorType, clash
from netwright.engine.layers.inputs import SequenceInput
from netwright.engine.network import edits
from netwright.engine.network.analysis import Analysis, analyse, frozen_parameters, is_frozen
from netwright.engine.network.block import Block, BlockOutput
from netwright.engine.network.network import Layer, Network, Port
from netwright.engine.network.problems import Problem, Severity
from netwright.engine.project import check_fixes
from netwright.engine.project.bindings import (
    Wanted,
    loss_of,
    match_inputs,
    match_targets,
    output_name,
    said_of,
    wanted_of,
)
from netwright.engine.project.check_fixes import named
from netwright.engine.project.dataset_info import DatasetInfo, TargetInfo
from netwright.engine.project.options.loss import LOSS_TASKS, OVERLAPS
from netwright.engine.project.project import Project, lifted

WAYS = {
    "sample": "End it in one vector per sample: a fully connected layer, a global pooling, or the last step of a "
    "sequence.",
    "step": "End it in a sequence: a recurrent layer that gives all steps, or convolutions along it, and a fully "
    "connected layer.",
    "pixel": "End it in a map of the size of the input: a convolution with a window of 1, after upsampling what was "
    "pooled.",
    "voxel": "End it in a volume of the size of the input: a convolution with a window of 1, after upsampling what was "
    "pooled.",
}
_DECIDING = ("outputs", "filters")
_CLASSIFYING = ("softmax", "log_softmax", "sigmoid")
_MANY = 8
"""Largest number of outputs among which a main one is determined; beyond it the network is still being drawn, and the
intended output is unclear."""


def output_count_problem(network: Network, facts: DatasetInfo) -> Problem | None:
    """Return an error if the network has fewer outputs than the data has targets. For more outputs see
    `several_outputs`."""
    ports = [port for port in network.output_ports if not network.layers[port.layer].type.is_input]
    if not ports or len(ports) >= len(facts.targets):
        return None
    targets = ", ".join(f"{target.name}: {target.spoken()}" for target in facts.targets)
    message = (
        f"The data has {len(facts.targets)} targets ({targets}), the network {plural(len(ports), 'output')}. Give the "
        "network an output for each, or name the targets to learn in the field Response."
    )
    at = network.layers[ports[0].layer]
    return Problem("error", at.id, at.name, "", message)


def output_problems(project: Project, analysis: Analysis, facts: DatasetInfo) -> Iterator[Problem]:
    """Return the problems that keep outputs from predicting their targets, output by output."""
    network = project.network
    for port, number in match_targets(network, facts).items():
        if not network.layers[port.layer].type.is_input:
            yield from _of_one(project, port, analysis, facts, facts.targets[number])


def _of_one(
    project: Project, port: Port, analysis: Analysis, facts: DatasetInfo, target: TargetInfo
) -> Iterator[Problem]:
    network, layer = project.network, project.network.layers[port.layer]
    output = analysis.shapes[layer.id].at(port.name)
    is_only = len(facts.targets) == 1
    ends = "The network ends in" if is_only else f"Output '{output_name(network, port)}' is"
    if output.kind == "complex":
        message = f"{ends} {output}; responses are real numbers. Put a complex-to-real layer at the end."
        yield Problem("error", layer.id, layer.name, "", message)
        return
    if output.layout != target.type.layout:
        responses = f"one response per {target.per}" if target.task != "transcripts" else "transcripts"
        requirement = f"the data has {responses}" if is_only else f"its target '{target.name}' has {responses}"
        way = WAYS["step" if target.task == "transcripts" else target.per]
        yield Problem("error", layer.id, layer.name, "", f"{ends} {output}; {requirement}. {way}")
        return
    yield from _activations(layer, output, target)
    if (problem := _places(project, port, output, facts, target)) is not None:
        yield problem
    is_binary = target.task == "classes" and len(target.classes) == 2 and output["C"] == 1
    if clash(output["C"], target.outputs) and not is_binary:
        yield _channels(project, port, output, target)


def _activations(layer: Layer, output: TensorType, target: TargetInfo) -> Iterator[Problem]:
    """Return the problem of a softmax or a sigmoid at the end that does not fit the target. An error where its output
    is constant, so that nothing can be learned."""
    key, message, is_constant = layer.effective_type.key, "", False
    if key in ("softmax", "log_softmax"):
        is_constant = output["C"] == 1
        if target.task == "numbers":
            message = "Softmax gives probabilities, but the responses are numbers. Remove it."
        elif target.task == "labels":
            message = "Softmax makes all labels share one probability; each is true or not by itself. Use a sigmoid."
        elif is_constant:
            message = "Softmax of a single number is always 1. Use a sigmoid, or two outputs."
    elif key == "sigmoid" and (target.task == "transcripts" or (target.task == "classes" and output["C"] != 1)):
        message = "Sigmoid lets several classes be true at once; each has one here. Use a softmax, or remove it."
    if message:
        severity: Severity = "error" if is_constant else "warning"
        yield Problem(severity, layer.id, layer.name, "", message, check_fixes.healing(layer))


def _places(project: Project, port: Port, output: TensorType, facts: DatasetInfo, target: TargetInfo) -> Problem | None:
    """Return the problem of an output with another number of pixels or steps than the target."""
    layer = project.network.layers[port.layer]
    if target.task == "transcripts":
        return _too_short(project, port, facts, target)
    for axis in target.type.spatial:
        size = output[axis]
        if axis == "T":
            longest = target.lengths[1] if target.lengths else target.type["T"]
            steps = _steps(project.network, port, facts) if not isinstance(size, int) else size
            if isinstance(steps, int) and clash(steps, longest):
                message = (
                    f"The output has {steps:,} steps where '{target.name}' has {longest:,}. Keep the number of steps "
                    "in the network, or give the target as many as leave it."
                )
                return Problem("error", layer.id, layer.name, "", message)
        elif clash(size, target.type[axis]):
            sizes = [" × ".join(f"{x[a]}" for a in target.type.spatial) for x in (output, target.type)]
            message = (
                f"The output has {sizes[0]} {target.per}s; '{target.name}' has {sizes[1]}. Keep the size in the "
                "network: pad convolutions with 'same', and upsample what was pooled."
            )
            return Problem("error", layer.id, layer.name, "", message)
    return None


def _too_short(project: Project, port: Port, facts: DatasetInfo, target: TargetInfo) -> Problem | None:
    """Return the problem of an output with fewer steps than the longest transcript has classes: no alignment is
    possible."""
    layer, steps = project.network.layers[port.layer], _steps(project.network, port, facts)
    longest = target.lengths[1] if target.lengths else 0
    if not isinstance(steps, int) or steps >= longest:
        return None
    message = (
        f"The output has {steps:,} steps at most; the longest transcript has {longest:,} classes, and each needs a "
        "step at least. Shorten the sequences less in the network."
    )
    return Problem("error", layer.id, layer.name, "", message)


def _steps(network: Network, port: Port, facts: DatasetInfo) -> object:
    """Return the steps of an output with every sequence input at the length of the longest sequence of its data."""
    for id, info in match_inputs(network, facts).items():
        type = network.layers[id].type
        length = info.lengths[1] if info.lengths else dict(zip(info.type.axes, info.type.sizes, strict=True)).get("T")
        if isinstance(type, SequenceInput) and not type.length and isinstance(length, int):
            network = edits.set_fields(network, id, {"length": length})
    shapes = analyse(network).shapes.get(port.layer)
    return shapes.at(port.name)["T"] if shapes and shapes.at(port.name).has("T") else None


def _channels(project: Project, port: Port, output: TensorType, target: TargetInfo) -> Problem:
    """Return the problem of an output with another number of channels than the target has classes, numbers or
    labels."""
    layer, count = project.network.layers[port.layer], target.outputs
    nouns = {"classes": "classes", "labels": "labels", "transcripts": "classes and the blank"}
    noun = nouns.get(target.task, "response" if count == 1 else "responses")
    channels = output["C"]
    outputs = plural(channels, "output") if isinstance(channels, int) else f"{channels} outputs"
    message = f"The network has {outputs}; the data has {count:,} {noun}."
    path, source = _deciding(project.network, port) or ((), None)
    if source is None:
        return Problem("error", layer.id, layer.name, "", message)
    field = next(name for name in _DECIDING if name in source.type.fields)
    fix = check_fixes.fields(f"Set {field} to {count:,}", {source.id: {field: count}})
    return lifted(project, path, Problem("error", source.id, source.name, field, message, fix))


def _deciding(network: Network, port: Port) -> tuple[tuple[str, ...], Layer] | None:
    """Return the layer whose field `outputs` or `filters` determines the channels at this port, and the path of its
    blocks: upstream through layers with one input and unchanged channels, and into blocks that are not repeated."""
    while True:
        layer = network.layers[port.layer]
        type = layer.effective_type
        if any(name in type.fields for name in _DECIDING) and not type.is_measured:
            return (), layer
        if isinstance(type, Block):
            outputs = dict(zip(type.output_ports(), type.ids(BlockOutput), strict=True))
            source = type.network.incoming[outputs[port.name]].get("in")
            inner = _deciding(type.network, source) if source is not None and type.repeat == 1 else None
            return ((layer.id, *inner[0]), inner[1]) if inner else None
        feeds = network.incoming[layer.id]
        if len(feeds) != 1 or type.family not in ("Activation", "Normalisation", "Utility"):
            return None
        (port,) = feeds.values()


def loss_problems(project: Project, analysis: Analysis, facts: DatasetInfo) -> Iterator[Problem]:
    """Return the problems of losses that do not fit the targets, and of names that are not outputs."""
    options, overall_loss = project.training, project.training.loss
    tasks = tuple(dict.fromkeys(target.task for target in facts.targets))
    losses = options.named_losses
    if overall_loss in LOSS_TASKS and not any(task in LOSS_TASKS[overall_loss] for task in tasks):
        fitting = ["auto", *(name for name, of in LOSS_TASKS.items() if any(task in of for task in tasks)), "custom"]
        are = " and ".join(tasks)
        message = f"'{overall_loss}' does not fit data whose responses are {are}. Use {' or '.join(fitting)}."
        yield Problem("error", "", "", "training.loss", message)
        return
    if overall_loss == "custom" or any(port.layer not in analysis.shapes for port in project.network.output_ports):
        return
    outputs = wanted_of(project.network, analysis, facts, is_padded=False)
    if not outputs:
        return
    names = [output.name for output in outputs]
    by_name = {**{output.facts.name: output for output in outputs}, **{output.name: output for output in outputs}}
    for name, (loss, _) in losses.items():
        if name not in by_name:
            message = f"The network has no output '{name}'. Its outputs are: {', '.join(names)}."
            yield Problem("error", "", "", "training.output_losses", message)
        elif loss != "auto" and (task := by_name[name].facts.task) not in LOSS_TASKS[loss]:
            fitting = [word for word, of in LOSS_TASKS.items() if task in of]
            message = f"'{loss}' does not fit output '{name}', which gives {task}. Use {' or '.join(fitting)}."
            yield Problem("error", "", "", "training.output_losses", message)
    if losses and all(loss_of(options, output)[1] == 0 for output in outputs):
        message = "All outputs have the weight 0, so nothing can be learned. Give one of them another weight."
        yield Problem("error", "", "", "training.output_losses", message)
    yield from _details(project, outputs)


def _details(project: Project, outputs: tuple[Wanted, ...]) -> Iterator[Problem]:
    options = project.training
    for output in outputs:
        loss, _ = loss_of(options, output)
        path = "training.output_losses" if said_of(options, output) else "training.loss"
        where = "" if len(outputs) == 1 else f" at output '{output.name}'"
        if loss in OVERLAPS and output.facts.per == "sample":
            message = (
                f"'{loss}' measures overlap over steps, pixels or voxels; the data has one response per sample{where}."
            )
            yield Problem("error", "", "", path, message)
        if loss == "binary-cross-entropy" and output.facts.task == "classes" and not output.is_binary:
            message = (
                f"binary-cross-entropy of classes wants two classes and one output channel{where}; there are "
                f"{len(output.facts.classes):,} classes and {output.type.short()} outputs. Use cross-entropy."
            )
            yield Problem("error", "", "", path, message)
    weights = options.class_weights
    weighed = [output.facts for output in outputs if output.facts.task in ("classes", "labels")]
    if not weighed:
        for name in ("class_weighting", "label_smoothing"):
            if name in options.changed() and options.is_visible(name):
                message = "The data asks for no classes, so this changes nothing."
                yield Problem("warning", "", "", f"training.{name}", message)
    if options.class_weighting == "given" and weights:
        for target in weighed:
            if len(weights) != len(target.classes):
                of = "" if len(weighed) == 1 else f" '{target.name}'"
                message = (
                    f"The data has {len(target.classes):,} {target.task}{of}, the list "
                    f"{plural(len(weights), 'weight')}. Give one each."
                )
                yield Problem("error", "", "", "training.class_weights", message)


def _severity(facts: DatasetInfo | None) -> Severity:
    """Return the severity: an error once there is data to train with."""
    return "warning" if facts is None else "error"


def idle_inputs(network: Network) -> Iterator[Problem]:
    """Return warnings about input layers without outgoing connections."""
    for layer in network.inputs:
        if not network.outgoing[layer.id]:
            fix = check_fixes.removal(network, {layer.id}) if len(network) > 1 else None
            message = "The input is not connected. Connect a layer to it."
            yield Problem("warning", layer.id, layer.name, "", message, fix)


def nothing_learns(network: Network, analysis: Analysis, facts: DatasetInfo | None) -> Problem | None:
    """Return the problem of a network whose weights are all frozen. Weights of a custom layer are not known here."""
    has_custom = any(layer.type.family == "Custom" for layer in network.layers.values())
    count = analysis.parameters
    if not count or analysis.has_errors or has_custom or frozen_parameters(network, analysis) < count:
        return None
    message = "Every layer with weights is frozen, so nothing can learn. Switch off Freeze for at least one of them."
    weighted = (
        layer for layer in map(network.layers.__getitem__, network.order) if analysis.shapes[layer.id].parameters
    )
    frozen = [layer for layer in weighted if is_frozen(layer.type)]
    if not frozen:
        return Problem(_severity(facts), "", "", "", message)
    last = frozen[-1]
    fix = check_fixes.fields(f"Unfreeze {last.name}", {last.id: {"frozen": False}})
    return Problem(_severity(facts), last.id, last.name, "frozen", message, fix)


def several_networks(network: Network, facts: DatasetInfo | None) -> Problem | None:
    """Return the problem of a project with several unconnected networks, each with its own input."""
    parts = _parts(network) if len(network.inputs) > 1 else []
    if len(parts) < 2:
        return None
    words = ", ".join(_part_text(network, part) for part in parts[:4]) + (", ..." if len(parts) > 4 else "")
    message = (
        f"{len(parts)} networks stand here without a connection between them: {words}. "
        "A project trains one: connect them, or keep one of them."
    )
    main = max(parts, key=len)
    rest = [id for part in parts if part is not main for id in part]
    first = network.layers[rest[0]]
    return Problem(_severity(facts), first.id, first.name, "", message, check_fixes.removal(network, rest))


def _part_text(network: Network, part: list[str]) -> str:
    first, last = network.layers[part[0]], network.layers[part[-1]]
    return f"{named(first)} to {named(last)} ({len(part):,} layers)"


def _parts(network: Network) -> list[list[str]]:
    """Return the layers of each connected component that has an input and more than one layer, in topological order."""
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


def several_outputs(network: Network, analysis: Analysis, facts: DatasetInfo | None) -> Problem | None:
    """Return the problem of outputs beyond the data's targets, at an output other than the main one."""
    ports = [port for port in network.output_ports if not network.layers[port.layer].type.is_input]
    if len(ports) < 2 or (facts is not None and len(ports) <= len(facts.targets)):
        return None
    names = ", ".join(network.layers[port.layer].name for port in ports[:6]) + (", ..." if len(ports) > 6 else "")
    if facts is not None and len(facts.targets) > 1:
        targets = ", ".join(target.name for target in facts.targets)
        message = (
            f"The data has {len(facts.targets)} targets ({targets}); {len(ports)} outputs have no outgoing connection: "
            f"{names}. Join or remove some."
        )
        return Problem("error", "", "", "", message)
    each = "" if facts is not None else " for each target of the data"
    message = f"Training needs one output{each}; {len(ports)} have no outgoing connection: {names}."
    if len(ports) > _MANY:
        at = network.layers[ports[0].layer]
        return Problem(_severity(facts), at.id, at.name, "", f"{message} Join or remove them.")
    reach = {port: _upstream(network, port.layer) for port in ports}
    main = max(ports, key=lambda port: (_finality(network, analysis, port, facts), len(reach[port])))
    spare = [port for port in ports if port != main]
    unused = {id for port in spare for id in reach[port]} - reach[main]
    fix = check_fixes.removal(network, unused) if unused else None
    at = network.layers[spare[0].layer]
    ends = listed(list(dict.fromkeys(network.layers[port.layer].name for port in spare)))
    way_out = f"Connect {ends}, or remove it." if len(spare) == 1 else f"Connect {ends}, or remove them."
    return Problem(_severity(facts), at.id, at.name, "", f"{message} {way_out}", fix)


def _finality(network: Network, analysis: Analysis, port: Port, facts: DatasetInfo | None) -> tuple[bool, bool, bool]:
    """Return a sort key that is highest for the main output: whether it fits the target, whether it
    gives probabilities, whether it is one vector per sample."""
    output = analysis.shapes[port.layer].at(port.name)
    is_fitting = False
    if facts is not None:
        target = facts.targets[0]
        is_fitting = output.layout == target.type.layout and not clash(output["C"], target.outputs)
    return is_fitting, network.layers[port.layer].effective_type.key in _CLASSIFYING, output.layout == "features"


def _upstream(network: Network, id: str) -> set[str]:
    """Return a layer and all layers upstream of it."""
    ids: set[str] = set()
    waiting = [id]
    while waiting:
        if (other := waiting.pop()) not in ids:
            ids.add(other)
            waiting += [port.layer for port in network.incoming[other].values()]
    return ids
