"""Input layers for the inputs of a graph: their layout follows from their sizes and from the operators behind them."""

from collections.abc import Iterator, Mapping

from netwright.engine.core.errors import UserError, plural
from netwright.engine.exchange.importing.context import Context, Placed
from netwright.engine.exchange.importing.graph import Node, Value
from netwright.engine.exchange.importing.lifts.noted import dims_of, is_noted, is_rounded
from netwright.engine.exchange.importing.values import BATCH, Free, Tensor
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.inputs import FeatureInput, ImageInput, SequenceInput, VolumeInput
from netwright.engine.network.network import Port

CHANNELS_FIRST = (
    "Conv",
    "ConvTranspose",
    "BatchNormalization",
    "InstanceNormalization",
    "MaxPool",
    "AveragePool",
    "GlobalAveragePool",
    "GlobalMaxPool",
)
PASSING = ("Identity", "Cast", "Pad", "Relu", "Add", "Sub", "Mul", "Div", "Dropout", "Unsqueeze", "Split", "Clip")
RECURRENT = ("LSTM", "GRU", "RNN")
TORCH_RECURRENT = ("nn.LSTM", "nn.GRU", "nn.RNN")
FREE_SIZE = 224
"""Height and width of an input layer for images where the file leaves them free."""
LARGEST = 65536
FARTHEST = 6


def add_inputs(ctx: Context, sizes: Mapping[str, int]) -> None:
    """Add an input layer for each input of the graph. Raises `UserError` for one that no input layer takes."""
    users = ctx.users
    values = [value for value in ctx.graph.inputs if users.get(value.name) or _is_output(ctx, value)]
    if not values:
        raise UserError("The file has no inputs that its operators take, so there is no network in it.")
    _refuse_unknown(ctx, sizes)
    for value in values:
        value_sizes = _given(ctx, value, sizes)
        type, dims = _layer(ctx, value, value_sizes)
        batch = value_sizes[dims.index(BATCH)]
        if isinstance(batch, int):
            ctx.fixed_batch = batch
        id = f"n{len(ctx.layers) + 1}"
        ctx.layers.append(Placed(id, type, (), value.name, {}, "input"))
        is_whole = not value.dtype.startswith(("float", "bfloat")) and type.output().kind == "real"
        tensor = Tensor(Port(id, "out"), type.output(), dims, value.name, is_whole)
        ctx.values[value.name] = tensor
        ctx.inputs.append((value, tensor))


def _refuse_unknown(ctx: Context, sizes: Mapping[str, int]) -> None:
    """Raise `UserError` for a size of a name that no input has."""
    names = list(
        dict.fromkeys(size for value in ctx.graph.inputs for size in value.sizes or () if isinstance(size, str))
    )
    for name in sizes:
        if name not in names:
            hint = f"it leaves {', '.join(names)} free" if names else "it leaves none free"
            raise UserError(f"--size {name}: the file has no size of this name; {hint}.", code="usage")


def free_sizes(ctx: Context) -> list[str]:
    """Return the names of sizes, besides the batch, that are known only when the network runs."""
    names = [
        size
        for value, tensor in ctx.inputs
        for size, dim in zip(value.sizes or (), tensor.dims, strict=True)
        if isinstance(size, str) and isinstance(tensor.size(tensor.dims.index(dim)), Free) and dim != BATCH
    ]
    return list(dict.fromkeys(names))


def _is_output(ctx: Context, value: Value) -> bool:
    return any(value.name == output.name for output in ctx.graph.outputs)


def _given(ctx: Context, value: Value, sizes: Mapping[str, int]) -> list[int | str | None]:
    """Return the sizes of an input, with those that are set for free ones."""
    if value.sizes is None:
        raise UserError(
            f"The input '{value.name}' has no sizes in the file, or is no tensor.",
            hint="Export it with the sizes of its inputs.",
        )
    if not 1 <= len(value.sizes) <= 5:
        count = plural(len(value.sizes), "dimension")
        raise UserError(f"The input '{value.name}' has {count}; with the batch, input layers take 1 to 5.")
    if 0 in value.sizes:
        raise UserError(f"The input '{value.name}' has a dimension of size 0: it takes no numbers.")
    return [sizes.get(size, size) if isinstance(size, str) else size for size in value.sizes]


def _layer(ctx: Context, value: Value, sizes: list[int | str | None]) -> tuple[LayerType, tuple[str, ...]]:
    """Return the input layer, and the dimensions of the input in the file."""
    rank = len(sizes)
    if rank == 1:
        return _number(ctx, value, sizes[0]), (BATCH,)
    is_mask = value.dtype == "bool" and not isinstance(sizes[-1], int)
    if rank == 2 and (value.dtype.startswith(("int", "uint")) or is_mask or _are_indices(ctx, value)):
        return SequenceInput(content="indices", length=_free_length(sizes[1])), (BATCH, "T")
    if not value.dtype.startswith(("float", "bfloat", "int", "uint", "bool")):
        raise UserError(f"The input '{value.name}' is of type {value.dtype}, which no input layer takes.")
    first = list(_first_users(ctx, value.name))
    noted = next((dims_of(node, value.name) for node in ctx.users.get(value.name, ()) if is_noted(node)), None)
    if rank == 2:
        return FeatureInput(channels=_known(value, sizes, 1), normalization="none"), (BATCH, "C")
    if rank == 3:
        dims = noted or (_state_dims(ctx, value) or _sequence_dims(first, sizes))
        channels, steps = _known(value, sizes, dims.index("C")), _free_length(sizes[dims.index("T")])
        return SequenceInput(channels=channels, length=steps, normalization="none"), dims
    places = "HW" if rank == 4 else "DHW"
    dims = (BATCH, "C", *places)
    if _is_moved(first, [0, rank - 1, *range(1, rank - 1)]) or (rank == 4 and _has_channels_behind(sizes, first)):
        dims = (BATCH, *places, "C")
    dims = noted or dims
    size = tuple(_place(ctx, value, sizes, dims.index(axis)) for axis in places)
    kind = ImageInput if rank == 4 else VolumeInput
    channels = _known(value, sizes, dims.index("C"))
    if channels > LARGEST:
        raise UserError(f"The input '{value.name}' has {channels:,} channels; input layers take at most {LARGEST:,}.")
    return kind(channels=channels, size=size, normalization="none"), dims


def _number(ctx: Context, value: Value, batch: int | str | None) -> LayerType:
    """Return the input layer for one number per sample, such as the length of a sequence."""
    others = [other.sizes[0] for other in ctx.graph.inputs if other.sizes and len(other.sizes) > 1]
    if isinstance(batch, int) and batch not in others:
        raise UserError(
            f"The input '{value.name}' has one dimension of {batch}, which is no batch; input layers take samples.",
            hint="Export the file with that input as a constant.",
        )
    if value.dtype.startswith(("int", "uint", "bool")):
        return SequenceInput(content="indices", length=1)
    if not value.dtype.startswith(("float", "bfloat")):
        raise UserError(f"The input '{value.name}' is of type {value.dtype}, which no input layer takes.")
    return FeatureInput(channels=1, normalization="none")


def _are_indices(ctx: Context, value: Value) -> bool:
    """Return whether every operator that takes the numbers rounds them, one to places in a table, as in files of our
    own and of Keras."""
    return is_rounded(ctx, value.name) and _is_looked_up(ctx, value.name)


def _is_looked_up(ctx: Context, name: str) -> bool:
    """Return whether a value that is rounded is taken for places in a table."""
    return any(
        _is_looked_up(ctx, node.outputs[0])
        if node.op in ("Cast", "Identity")
        else is_noted(node) or (node.op == "Gather" and node.inputs[1] == name)
        for node in ctx.users.get(name, ())
    )


def _state_dims(ctx: Context, value: Value) -> tuple[str, ...] | None:
    """Return the dimensions of an input with three that holds a state for each of several layers, of which operators
    take one after another (torch: layers × batch × channels); None for another input."""
    sizes = value.sizes or ()
    batches = {other.sizes[0] for other in ctx.graph.inputs if other.sizes and other.name != value.name}
    first = [node for node in ctx.users.get(value.name, ()) if node.op != "Shape"]
    is_taken = bool(first) and all(_takes_first(ctx, node) for node in first)
    return ("T", BATCH, "C") if is_taken and sizes[1] in batches else None


def _takes_first(ctx: Context, node: Node) -> bool:
    """Return whether a node takes places of the first dimension."""
    if node.op == "Slice":
        axes = node.attributes.get("axes")
        if axes is None and len(node.inputs) > 3 and (constant := ctx.graph.constants.get(node.inputs[3])) is not None:
            axes = [int(number) for number in constant.array().reshape(-1)]
        return axes == [0]
    places = ctx.graph.constants.get(node.inputs[1]) if node.op == "Gather" else None
    return (node.op == "Split" or places is not None) and node.attributes.get("axis", 0) == 0


def _sequence_dims(first: list[Node], sizes: list[int | str | None]) -> tuple[str, ...]:
    """Return the dimensions of an input with three: channels first before a convolution, steps first before a recurrent
    layer of ONNX."""
    if any(node.op in CHANNELS_FIRST for node in first):
        return BATCH, "C", "T"
    if any(node.op in RECURRENT and not node.attributes.get("layout") for node in first):
        return "T", BATCH, "C"
    if any(node.op in TORCH_RECURRENT and not node.attributes.get("batch_first") for node in first):
        return "T", BATCH, "C"
    if isinstance(sizes[1], str) and "batch" in sizes[1].lower():
        return "T", BATCH, "C"
    if isinstance(sizes[1], int) and not isinstance(sizes[2], int):
        return BATCH, "C", "T"
    return BATCH, "T", "C"


def _first_users(ctx: Context, name: str, depth: int = 0) -> Iterator[Node]:
    """Yield the operators that take a value first, behind those that keep its dimensions."""
    for node in ctx.users.get(name, ()):
        if node.op in PASSING and depth < FARTHEST and node.outputs:
            yield from _first_users(ctx, node.outputs[0], depth + 1)
        else:
            yield node


def _is_moved(first: list[Node], order: list[int]) -> bool:
    return bool(first) and all(node.op == "Transpose" and node.attributes.get("perm") == order for node in first)


def _has_channels_behind(sizes: list[int | str | None], first: list[Node]) -> bool:
    """Return whether the last dimension is that of grey or colour images, and no operator says otherwise."""
    if any(node.op in CHANNELS_FIRST for node in first):
        return False
    return sizes[3] in (1, 3, 4) and not (isinstance(sizes[1], int) and sizes[1] <= 4)


def _known(value: Value, sizes: list[int | str | None], at: int) -> int:
    size = sizes[at]
    if isinstance(size, int):
        return size
    name = f" '{size}'" if size else ""
    raise UserError(
        f"The input '{value.name}' leaves its dimension {at}{name} free, which decides the sizes of weights.",
        hint=f"Set it: --size {size}=64." if size else "Export the file with that size.",
    )


def _free_length(size: int | str | None) -> int:
    """Return the length of a sequence input: 0 for any."""
    return size if isinstance(size, int) else 0


def _place(ctx: Context, value: Value, sizes: list[int | str | None], at: int) -> int:
    size = sizes[at]
    if isinstance(size, int):
        return size
    name = f" '{size}'" if size else ""
    ctx.notes.append(
        f"The input '{value.name}' leaves its dimension {at}{name} free; the input layer takes {FREE_SIZE}. "
        "Change the size of the input layer for others."
    )
    return FREE_SIZE
