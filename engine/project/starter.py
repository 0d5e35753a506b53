"""A first network for data: small, made for the types of its inputs and targets, and quick to train on a CPU."""

import math
from dataclasses import replace

from netwright.engine.core.types import TensorType
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Port, name_refusal
from netwright.engine.network.problems import Fix
from netwright.engine.network.sketch import Sketch, Step
from netwright.engine.project.check_inputs import input_of, input_problems
from netwright.engine.project.check_outputs import output_count_problem, output_problems
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, TargetInfo
from netwright.engine.project.project import Project
from netwright.engine.project.target_scale import fitted_outputs

MAKE = "Make a network for the data"
"""Label of the edit that fills an empty network."""
WIDTH = 64
"""Units of fully connected and recurrent layers, and the size of embeddings."""
FILTERS, MOST_FILTERS = 16, 128
"""Filters of the first stage of convolutions, and the most; each further stage has twice as many."""
SMALLEST = 8
"""Pixels or steps below which no stage halves the size."""
LONG = 500
"""Steps from which convolutions read a sequence: a recurrent layer computes one step after the other."""
LEVELS = 2
"""Times that a network with an answer per pixel halves the size, where it can be doubled again."""
STEPS_PER_EPOCH, SMALLEST_BATCH = 8, 8
"""Steps that an epoch has at least, while mini-batches are not smaller than the smallest."""
DIMS = {"sequence": 1, "image": 2, "volume": 3}


def starter(facts: DatasetInfo) -> Fix | None:
    """Return the edit that gives an empty project a first network for its data; None where none is known: indices
    without a vocabulary, complex numbers, several inputs with one answer per step or pixel."""
    draft = _network(facts)
    if draft is None:
        return None
    sketch, label = draft

    candidate = Project(sketch.network)
    analysis = analyse(candidate.network)
    if analysis.problems or output_count_problem(candidate.network, facts) is not None:
        return None
    if [*input_problems(candidate, analysis, facts), *output_problems(candidate, analysis, facts)]:
        return None

    def edit(project: Project) -> Project:
        training, batch = project.training, _batch(facts.samples.get("training", 0))
        if fitted_outputs(sketch.network) and training.solver != "lm":
            training = training.replace(normalize_targets=True)
        if batch < training.mini_batch_size and not training.is_changed("mini_batch_size"):
            training = training.replace(mini_batch_size=batch)
        return replace(project, network=sketch.network, layout=sketch.layout(), training=training)

    spoken = ", ".join(target.spoken() for target in facts.targets)
    return Fix(MAKE, edit, f"{label} for {spoken}: a small network to start from.")


def _batch(samples: int) -> int:
    """Return a mini-batch size for so many samples: a power of 2, of which an epoch has some."""
    return max(SMALLEST_BATCH, 1 << int(math.log2(max(1, samples / STEPS_PER_EPOCH))))


def _network(facts: DatasetInfo) -> tuple[Sketch, str] | None:
    """Return a network for the data and its name in words; None where none is known."""
    sketch = Sketch()
    feeds = [_input(sketch, info, is_only=len(facts.inputs) == 1) for info in facts.inputs]
    if any(feed is None for feed in feeds):
        return None
    pairs = [(feed, info) for feed, info in zip(feeds, facts.inputs, strict=True) if feed is not None]
    if all(target.per == "sample" and target.task != "transcripts" for target in facts.targets):
        ends = [_summary(sketch, feed, info) for feed, info in pairs]
        end = ends[0][0]
        if len(ends) > 1:
            joined = sketch.add("concatenation", *(port for port, _ in ends), inputs=len(ends))
            end = sketch.chain(joined, ("fully_connected", {"outputs": WIDTH}), "relu")
        label = ends[0][1] if len(ends) == 1 else f"A network of {len(ends)} inputs"
    elif len(pairs) == 1:
        end, label = _places(sketch, *pairs[0], facts.targets[0])
    else:
        return None
    for target in facts.targets:
        _head(sketch, end, target, is_only=len(facts.targets) == 1)
    return sketch, label


def _input(sketch: Sketch, info: InputInfo, *, is_only: bool) -> Port | None:
    """Add the input layer; of tokens, their embedding too. None where no layer takes such data."""
    input_layer = input_of(info.type)
    if input_layer is None:
        return None
    type, values = input_layer
    feed = sketch.add(type.key, name=_name(info.name, is_only=is_only), **values)
    if info.type.layout != "tokens":
        return feed
    if info.text is None:
        return None
    return sketch.add("embedding", feed, vocabulary=info.text.vocabulary, dimension=WIDTH)


def _summary(sketch: Sketch, feed: Port, info: InputInfo) -> tuple[Port, str]:
    """Add layers that make one vector per sample of an input; return it and what they are, in words."""
    layout = info.type.layout
    if layout == "features":
        for _ in range(2):
            feed = sketch.chain(feed, ("fully_connected", {"outputs": WIDTH}), "relu")
        return feed, "Fully connected layers"
    if layout in ("sequence", "tokens") and _longest(info) < LONG:
        return sketch.add("lstm", feed, hidden_units=WIDTH, output_mode="last"), "An LSTM"
    dims = DIMS["sequence" if layout == "tokens" else layout]
    size, filters, is_first = min(_sizes(info)), FILTERS, True
    while is_first or size >= 2 * SMALLEST:
        feed = sketch.chain(feed, *_convolution(dims, filters))
        if size >= 2 * SMALLEST:
            feed = sketch.add(f"max_pool{dims}d", feed, kernel=2, stride=2)
        size, filters, is_first = size // 2, min(2 * filters, MOST_FILTERS), False
    feed = sketch.chain(feed, *_convolution(dims, filters), "global_average_pool")
    return feed, "A convolutional network"


def _places(sketch: Sketch, feed: Port, info: InputInfo, target: TargetInfo) -> tuple[Port, str]:
    """Add layers that keep the steps, pixels or voxels of an input; return their output and what they are."""
    layout = info.type.layout
    if layout in ("sequence", "tokens"):
        # The next token of a text must not be seen; a transcript may be read from both sides.
        is_causal = layout == "tokens"
        kind, label = ("lstm", "An LSTM") if is_causal else ("bilstm", "A bidirectional LSTM")
        return sketch.add(kind, feed, hidden_units=WIDTH), label
    if layout not in DIMS:
        return feed, "A layer"
    return _u_net(sketch, feed, DIMS[layout], _sizes(info))


def _u_net(sketch: Sketch, feed: Port, dims: int, sizes: list[int]) -> tuple[Port, str]:
    """Add a small U-Net (Ronneberger et al.: U-Net, 2015); without halving where a size is odd."""
    skips, filters, levels = [], FILTERS, 0
    while levels < LEVELS and all(size % 2 == 0 and size >= 2 * SMALLEST for size in sizes):
        feed = sketch.chain(feed, *_convolution(dims, filters))
        skips.append(feed)
        feed = sketch.add(f"max_pool{dims}d", feed, kernel=2, stride=2)
        sizes, filters, levels = [size // 2 for size in sizes], 2 * filters, levels + 1
    for _ in range(1 if skips else 2):
        feed = sketch.chain(feed, *_convolution(dims, filters))
    for skip in reversed(skips):
        filters //= 2
        feed = sketch.add(f"transposed_conv{dims}d", feed, filters=filters, kernel=2, stride=2)
        feed = sketch.chain(sketch.add("concatenation", skip, feed), *_convolution(dims, filters))
    return feed, "A small U-Net" if skips else "Convolutions"


def _convolution(dims: int, filters: int) -> tuple[Step, ...]:
    """Return a convolution that keeps the size, with its normalisation and activation."""
    values = {"filters": filters, "kernel": 3, "padding": "same", "bias": False}
    return (f"conv{dims}d", values), "batch_norm", "relu"


def _head(sketch: Sketch, feed: Port, target: TargetInfo, *, is_only: bool) -> None:
    """Add the layers that give a target: its numbers of outputs, and a softmax, a sigmoid, or its units."""
    last: dict[str, Step] = {"classes": "softmax", "labels": "sigmoid", "transcripts": "softmax"}
    layout = target.type.layout
    steps: list[Step] = [("fully_connected", {"outputs": target.outputs})]
    if layout in ("image", "volume"):
        steps = [(f"conv{DIMS[layout]}d", {"filters": target.outputs, "kernel": 1})]
    if target.task in last:
        steps.append(last[target.task])
    elif is_only:
        steps.append(("inverse_norm", {"numbers": "fitted"}))
    feed = sketch.chain(feed, *steps[:-1])
    key, values = steps[-1] if isinstance(steps[-1], tuple) else (steps[-1], {})
    sketch.add(key, feed, name=_name(target.name, is_only=is_only), **values)


def _name(name: str, *, is_only: bool) -> str:
    """Return the name of an input or output layer: several are bound to the data by their names."""
    return "" if is_only or name_refusal(name) is not None else name


def _sizes(info: InputInfo) -> list[int]:
    """Return the known sizes of the spatial axes; of sequences of any length, the shortest."""
    if info.lengths:
        return [info.lengths[0]]
    type: TensorType = info.type
    return [size for axis in type.spatial if isinstance(size := type[axis], int)] or [0]


def _longest(info: InputInfo) -> int:
    return info.lengths[1] if info.lengths else max(_sizes(info))
