"""Warnings about networks that can be built but are unlikely to learn as intended, and the edits that repair them.

Each rule looks only at the layers of its kind, so that a network of thousands costs little at every keystroke.
"""

from collections import defaultdict
from collections.abc import Iterator

from netwright.engine.network.analysis import Analysis, output_softmaxes
from netwright.engine.network.network import Connection, Layer, Network, Port
from netwright.engine.network.problems import Problem
from netwright.engine.project import check_fixes
from netwright.engine.project.check_fixes import named
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.options.loss import CLASS_LOSSES
from netwright.engine.project.project import Project
from netwright.engine.project.training import batch_size

HUGE_WEIGHTS = 50_000_000
SAFE_BATCH = 16


def advice(project: Project, analysis: Analysis, facts: DatasetInfo | None) -> Iterator[Problem]:
    """Return all warnings about the inside of the network and its combination with the training options."""
    kinds: dict[str, list[Layer]] = defaultdict(list)
    for id in analysis.shapes:
        layer = project.network.layers[id]
        kinds[layer.effective_type.key].append(layer)
    for layer in kinds["softmax"]:
        yield from _softmax(project, analysis, facts, layer)
    for layer in kinds["fully_connected"]:
        yield from _linear_pair(project.network, layer)
        yield from _huge(project.network, analysis, layer)
    if kinds["batch_norm"]:
        yield from _small_batches(project, analysis, facts, kinds["batch_norm"])


def _next(network: Network, layer: Layer, *families: str) -> list[Layer]:
    """Return the layers that a layer feeds, skipping layers of these families."""
    layers, ids = [], set()
    waiting = [connection.target.layer for connection in network.outgoing[layer.id]]
    while waiting:
        target = network.layers[waiting.pop()]
        if target.effective_type.family not in families:
            layers.append(target)
        elif target.id not in ids:
            ids.add(target.id)
            waiting += [connection.target.layer for connection in network.outgoing[target.id]]
    return layers


def _softmax(project: Project, analysis: Analysis, facts: DatasetInfo | None, layer: Layer) -> Iterator[Problem]:
    """Warn about a softmax inside the network: the layers behind it receive probabilities instead of unbounded
    values."""
    network = project.network
    behind = _next(network, layer, "Utility")
    again = [other for other in behind if other.type.key in ("softmax", "log_softmax")]
    is_vector = analysis.shapes[layer.id].output.layout == "features"
    linear = [other for other in behind if other.type.key == "fully_connected"] if is_vector else []
    if again:
        message = (
            f"{named(layer)} and {named(again[0])} follow each other: probabilities are made of probabilities, and "
            "hardly any gradient is left. Remove one of them."
        )
    elif linear:
        message = (
            f"Softmax in the middle: {named(linear[0])} gets probabilities that sum to 1, and little gradient comes "
            "back. Use another activation here, or remove it."
        )
    elif _hides_logits(project, facts, layer):
        message = (
            f"Layers follow {named(layer)}, so the cross-entropy loss gets probabilities where it wants the numbers "
            "before them (logits). Make it the last layer, or remove it."
        )
    else:
        return
    yield Problem("warning", layer.id, layer.name, "", message, check_fixes.healing(layer))


def _hides_logits(project: Project, facts: DatasetInfo | None, layer: Layer) -> bool:
    """Return whether only activations, dropout and similar layers are between a softmax and the end of a classifier."""
    network = project.network
    loss = project.training.loss
    is_class = loss in CLASS_LOSSES or (loss == "auto" and (facts is None or facts.task == "classes"))
    if not is_class or layer.id in output_softmaxes(network):
        return False
    return not _next(network, layer, "Utility", "Activation")


def _linear_pair(network: Network, layer: Layer) -> Iterator[Problem]:
    """Warn about two fully connected layers without a nonlinearity between them, except a bottleneck before a wider
    layer."""
    leaving = network.outgoing[layer.id]
    if len(leaving) != 1:
        return
    for other in _next(network, layer, "Utility"):
        if other.type.key == "fully_connected" and _outputs(layer) >= _outputs(other):
            message = (
                f"{named(layer)} and {named(other)} follow each other without an activation: two linear layers in a "
                "row can do no more than one. Insert an activation, or remove one of them."
            )
            yield Problem("warning", other.id, other.name, "", message, check_fixes.insertion("relu", leaving[0]))


def _outputs(layer: Layer) -> int:
    return int(getattr(layer.type, "outputs", 0))


def _huge(network: Network, analysis: Analysis, layer: Layer) -> Iterator[Problem]:
    """Warn about a fully connected layer with more than `HUGE_WEIGHTS` weights."""
    facts = analysis.shapes[layer.id]
    rows, columns = facts.weights.get("weight", (0, 0))  # none where they count at another layer
    if rows * columns <= HUGE_WEIGHTS:
        return
    message = (
        f"{rows * columns / 1e6:,.1f} million weights: {columns:,} inputs times {rows:,} outputs, and training keeps "
        "several numbers for each. "
    )
    fix = None
    if facts.inputs[0].layout in ("image", "volume"):
        message += "Pool first, for example with a global average pooling."
        feed = network.incoming[layer.id]["in"]
        fix = check_fixes.insertion("global_average_pool", Connection(feed, Port(layer.id, "in")))
    else:
        message += "Use fewer outputs, or make the input smaller, for example by pooling before it."
    yield Problem("warning", layer.id, layer.name, "outputs", message, fix)


def _small_batches(
    project: Project, analysis: Analysis, facts: DatasetInfo | None, norms: list[Layer]
) -> Iterator[Problem]:
    """Warn about batch statistics over one sample. Workers combine theirs, so the global batch counts, not its
    shares."""
    options = project.training
    samples = facts.samples.get("training", 0) if facts else 0
    batch = batch_size(options, samples)
    flat = [layer for layer in norms if analysis.shapes[layer.id].output.layout == "features"]
    if batch == 1:
        message = (
            "Batch normalisation takes mean and variance over the mini-batch, which holds one sample. Use at least 2 "
            f"samples, better {SAFE_BATCH}, or layer or group normalisation."
        )
        larger = min(SAFE_BATCH, samples) if facts else SAFE_BATCH
        fix = check_fixes.option(f"Set the mini-batch size to {larger}", mini_batch_size=larger) if larger > 1 else None
        yield Problem("warning", norms[0].id, norms[0].name, "", message, fix)
    elif flat and options.last_batch == "keep" and samples > batch and samples % batch == 1:
        message = (
            f"The last mini-batch of an epoch holds one sample ({samples:,} samples in batches of {batch:,}), and "
            "batch normalisation makes all its numbers 0. Discard it, or change the mini-batch size."
        )
        fix = check_fixes.option("Discard the last batch", last_batch="discard")
        yield Problem("warning", flat[0].id, flat[0].name, "", message, fix)
