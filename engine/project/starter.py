"""A first network for data, and training options that suit both: a good result in a minute or two on a CPU.

What is built follows from the types of inputs and targets:

features     fully connected layers beside a linear one: what is linear is learned from few rows
images       a small residual network (He et al., 2016) with batch normalisation and global pooling
sequences    an LSTM; convolutions for long ones
texts        embedded words, averaged, beside convolutions over three words whose maximum counts (Kim, 2014)
forecasts    a linear layer beside a hidden one, both of the differences from the last value, which is added again
             (Zeng et al.: Are transformers effective for time series forecasting?, 2023)
"""

from dataclasses import replace

from netwright.engine.core.types import TensorType
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Port, name_refusal
from netwright.engine.network.problems import Fix
from netwright.engine.network.sketch import Sketch, Step
from netwright.engine.project.check_inputs import input_of, input_problems
from netwright.engine.project.check_outputs import output_count_problem, output_problems
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo, Forecast, InputInfo, TargetInfo
from netwright.engine.project.project import Project
from netwright.engine.project.starter_options import Plan, kind_of, small_side, with_lags, with_plan, with_side

MAKE = "Make a network for the data"
"""Label of the edit that fills an empty network."""
WIDTH = 64
"""Units of recurrent layers and of small layers, and the size of embeddings."""
WIDE, LARGE_TABLE, SMALL_TABLE = 256, 1_000, 300
"""Units of the hidden layers of tables and forecasts, and the rows from which they have so many, or half of them."""
FILTERS, MOST_FILTERS = 16, 128
"""Filters of the first stage of convolutions, and the most; each further stage has twice as many."""
SMALLEST = 8
"""Pixels or steps below which no stage halves the size."""
LARGE_IMAGE, MOST_PIXELS = 32, 32
"""Pixels from which the first convolution halves the size, and from which pooling does so once more behind it: most of
the work is at the full size."""
LONG = 500
"""Steps from which convolutions read a sequence: a recurrent layer computes one step after the other."""
LEVELS = 2
"""Times that a network with an answer per pixel halves the size, where it can be doubled again."""
DIMS = {"sequence": 1, "image": 2, "volume": 3}


def starter(facts: DatasetInfo, options: DataOptions | None = None) -> Fix | None:
    """Return the edit that gives an empty project a first network for its data, with training options that suit it;
    None where none is known: indices without a vocabulary, complex numbers, several inputs with one answer per step or
    pixel. Image files that are large become smaller, unless the data's `options` say how large they are."""
    side = small_side(facts, options) if options is not None else 0
    facts = with_side(with_lags(facts), side) if side else with_lags(facts)
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
    plan = Plan.of(facts, sketch.network)

    def edit(project: Project) -> Project:
        made = with_plan(replace(project, network=sketch.network, layout=sketch.layout()), facts, plan)
        return replace(made, data=made.data.replace(image_size=side)) if side else made

    spoken = ", ".join(target.spoken() for target in facts.targets)
    sized = f" Images are resized to {side:,} × {side:,} (data.image_size)." if side else ""
    return Fix(MAKE, edit, f"{label} for {spoken}: a small network to start from. {plan.spoken()}{sized}")


def _network(facts: DatasetInfo) -> tuple[Sketch, str] | None:
    """Return a network for the data and its name in words; None where none is known."""
    sketch = Sketch()
    feeds = [_input(sketch, info, is_only=len(facts.inputs) == 1) for info in facts.inputs]
    if any(feed is None for feed in feeds):
        return None
    pairs = [(feed, info) for feed, info in zip(feeds, facts.inputs, strict=True) if feed is not None]
    if facts.forecast is not None:
        _forecast(sketch, [feed for feed, _ in pairs], facts, facts.forecast)
        return sketch, "A forecast of the change from the last value"
    if all(target.per == "sample" and target.task != "transcripts" for target in facts.targets):
        ends = [_summary(sketch, feed, info, facts) for feed, info in pairs]
        end = ends[0][0]
        if len(ends) > 1:
            joined = sketch.add("concatenation", *(port for port, _ in ends), inputs=len(ends))
            end = sketch.chain(joined, ("fully_connected", {"outputs": WIDTH}), "relu")
        label = ends[0][1] if len(ends) == 1 else f"A network of {len(ends)} inputs"
    elif len(pairs) == 1:
        end, label = _places(sketch, *pairs[0], facts.targets[0])
    else:
        return None
    linear = pairs[0][0] if len(pairs) == 1 and pairs[0][1].type.layout == "features" else None
    for target in facts.targets:
        _head(sketch, end, target, linear, is_only=len(facts.targets) == 1)
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


def _summary(sketch: Sketch, feed: Port, info: InputInfo, facts: DatasetInfo) -> tuple[Port, str]:
    """Add layers that make one vector per sample of an input; return it and what they are, in words."""
    layout = info.type.layout
    if layout == "features":
        return _hidden(sketch, feed, facts.samples.get("training", 0), depth=2), "Fully connected layers"
    if layout == "tokens":
        return _bag_and_phrases(sketch, feed), "Averaged words and convolutions over them"
    if layout == "sequence" and _longest(info) < LONG:
        return sketch.add("lstm", feed, hidden_units=WIDTH, output_mode="last"), "An LSTM"
    if layout == "image" and kind_of(facts) == "images":
        return _residual_network(sketch, feed, _sizes(info)), "A small residual network"
    dims = DIMS[layout]
    size, filters, is_first = min(_sizes(info)), FILTERS, True
    while is_first or size >= 2 * SMALLEST:
        feed = sketch.chain(feed, *_convolution(dims, filters))
        if size >= 2 * SMALLEST:
            feed = sketch.add(f"max_pool{dims}d", feed, kernel=2, stride=2)
        size, filters, is_first = size // 2, min(2 * filters, MOST_FILTERS), False
    feed = sketch.chain(feed, *_convolution(dims, filters), "global_average_pool")
    return feed, "A convolutional network"


def _hidden(sketch: Sketch, feed: Port, rows: int, *, depth: int) -> Port:
    """Add fully connected layers whose width follows the number of rows."""
    width = WIDE if rows >= LARGE_TABLE else WIDE // 2 if rows >= SMALL_TABLE else WIDTH
    for _ in range(depth):
        feed = sketch.chain(feed, ("fully_connected", {"outputs": width}), "relu", ("dropout", {"probability": 0.1}))
    return feed


def _bag_and_phrases(sketch: Sketch, feed: Port) -> Port:
    """Add the mean of embedded words, beside the largest answers of convolutions over them."""
    words = sketch.add("global_average_pool", feed)
    phrases = sketch.chain(feed, ("conv1d", {"filters": WIDTH, "kernel": 3}), "relu", "global_max_pool")
    return sketch.chain(sketch.add("concatenation", words, phrases), ("dropout", {"probability": 0.3}))


def _residual_network(sketch: Sketch, feed: Port, sizes: list[int]) -> Port:
    """Add stages of two convolutions with a shortcut each, of twice the filters and half the size of the one before."""
    filters, size = FILTERS, min(sizes)
    stride = 2 if size >= LARGE_IMAGE else 1
    feed, size = sketch.chain(feed, *_convolution(2, filters, stride)), size // stride
    while size >= MOST_PIXELS:
        feed, size = sketch.add("max_pool2d", feed, kernel=2, stride=2), size // 2
    while True:
        inner = sketch.chain(feed, *_convolution(2, filters), *_convolution(2, filters)[:2])
        feed = sketch.chain(sketch.add("addition", inner, feed), "relu")
        if size < SMALLEST or filters >= MOST_FILTERS:
            break
        filters, size = 2 * filters, size // 2
        feed = sketch.chain(feed, *_convolution(2, filters, 2))
    return sketch.chain(feed, "global_average_pool", ("dropout", {"probability": 0.1}))


def _forecast(sketch: Sketch, feeds: list[Port], facts: DatasetInfo, forecast: Forecast) -> None:
    """Add a forecast of what the numbers change by after the last value, which is added to it."""
    count = len(forecast.targets)
    last = sketch.add("slice", feeds[0], axis="T", start=-1)
    change = sketch.chain(sketch.add("subtraction", feeds[0], last), "flatten")
    if len(feeds) > 1:
        ahead = [sketch.add("flatten", feed) for feed in feeds[1:]]
        change = sketch.add("concatenation", change, *ahead, inputs=len(feeds))
    outputs: Step = ("fully_connected", {"outputs": forecast.horizon * count, "weights_initializer": "zeros"})
    hidden = _hidden(sketch, change, facts.samples.get("training", 0), depth=1)
    parts = [sketch.chain(port, outputs) for port in (change, hidden)]
    level = sketch.chain(last, "flatten")
    if facts.inputs[0].type.channels > count:
        level = sketch.add("slice", level, axis="C", end=count)
    if forecast.horizon > 1:
        level = sketch.add("repeat", level, axis="C", times=forecast.horizon)
    sketch.chain(sketch.add("addition", *parts, level, inputs=3), ("inverse_norm", {"numbers": "fitted"}))


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


def _convolution(dims: int, filters: int, stride: int = 1) -> tuple[Step, ...]:
    """Return a convolution with its normalisation and activation; it keeps the size unless it has a stride."""
    values = {"filters": filters, "kernel": 3, "padding": "same", "bias": False, "stride": stride}
    return (f"conv{dims}d", values), "batch_norm", "relu"


def _head(sketch: Sketch, feed: Port, target: TargetInfo, linear: Port | None, *, is_only: bool) -> None:
    """Add the layers that give a target: its numbers of outputs, and a softmax, a sigmoid, or its units. `linear`: what
    a linear layer reads whose outputs are added."""
    last: dict[str, Step] = {"classes": "softmax", "labels": "sigmoid", "transcripts": "softmax"}
    layout = target.type.layout
    steps: list[Step] = [("fully_connected", {"outputs": target.outputs})]
    if layout in ("image", "volume"):
        steps = [(f"conv{DIMS[layout]}d", {"filters": target.outputs, "kernel": 1})]
    if linear is not None:
        linear_part = sketch.chain(linear, *steps)
        feed = sketch.chain(feed, *steps)
        steps = ["addition"]
    if target.task in last:
        steps.append(last[target.task])
    elif is_only:
        steps.append(("inverse_norm", {"numbers": "fitted"}))
    for place, step in enumerate(steps):
        key, values = step if isinstance(step, tuple) else (step, {})
        name = _name(target.name, is_only=is_only) if place == len(steps) - 1 else ""
        feed = sketch.add(key, feed, *([linear_part] if key == "addition" else []), name=name, **values)


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
