"""Keep an operator that no layer computes: a layer that holds it as the file has it, and its constants."""

import base64
import itertools
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from engine.core.errors import RunError
from engine.core.types import LAYOUTS, Size, Symbol, TensorType
from engine.exchange.importing.context import Context
from engine.exchange.importing.folding import RANDOM
from engine.exchange.importing.graph import OWN_DOMAIN, Constant, Node, outer_names
from engine.exchange.importing.onnx_runner import arrays_from_child
from engine.exchange.importing.values import BATCH, ONE, Held, NotLiftable, Tensor
from engine.layers.onnx_operator import (
    ABSENT,
    FORMATS,
    KINDS,
    MOST_PORTS,
    OMITTED,
    PLACE,
    OnnxOperator,
    written_type,
)
from engine.lowering.modules.onnx_operator import OnnxOperator as OperatorModule
from engine.lowering.modules.onnx_operator import onnx_attribute

if TYPE_CHECKING:
    import onnx

MOST_LISTED = 32
"""Longer lists of an attribute are constants."""
LONGEST_TEXT = 4000
"""Characters of all attributes in the project; what does not fit is a constant."""
BY_RANK = {len(axes): axes for axes in LAYOUTS.values()}
BATCH_SIZES = (2, 3)
STEPS = (11, 13)
"""Sizes that an operator is tried with, to see which sizes of its results depend on them."""


REAL = ("float32", "float64", "float16")
INDEX = ("int64", "bool", "int32", "uint8", "int8")
"""Number formats that are tried for an input, in this order."""
MOST_TRIES = 40
TRIES = 3
"""Times that an operator is computed with number formats that it takes."""
PATIENCE_S = 120.0
TRYING = "it tried the operator"


class NotComputed(NotLiftable):
    """ONNX Runtime cannot compute the operator with these number formats."""


def keep(ctx: Context, node: Node, reason: str) -> tuple[Held | None, ...]:
    """Return the results of a layer that computes the operator as it is. Raises `NotLiftable` where the operator does
    not keep samples apart, or takes or gives something else than numbers."""
    if node.domain == OWN_DOMAIN or (node.raw is None and any(map(_is_complex, node.attributes.values()))):
        raise NotLiftable(reason)
    try:
        tensors, operands, constants = _operands(ctx, node)
    except NotLiftable as error:
        raise NotLiftable(f"{reason}, and {error}") from None
    if not tensors:
        raise NotLiftable(f"{reason}, and takes no input of the network")
    attributes = _attributes(ctx, node, constants)
    described = tuple(
        f"{key} {array.dtype} {' '.join(map(str, array.shape))}".rstrip() for key, array in constants.items()
    )
    draft = ctx.make(
        OnnxOperator,
        operator=node.op,
        domain=node.domain,
        opset=ctx.graph.opsets.get(node.domain, ctx.opset),
        attributes=attributes,
        num_inputs=len(tensors),
        operands=() if operands == _in_order(len(tensors)) else tuple(operands),
        input_tensors=tuple(map(_input_type, tensors)),
        constants=described,
    )
    assert isinstance(draft, OnnxOperator)
    return _results(ctx, node, reason, draft, tensors, constants)


def _is_complex(value: Any) -> bool:
    return not isinstance(value, int | float | str | list | Constant)


def _operands(ctx: Context, node: Node) -> tuple[list[Tensor], list[str], dict[str, np.ndarray]]:
    """Return the tensors that enter the layer, the operands by port or constant, and the constants by key."""
    tensors: list[Tensor] = []
    operands: list[str] = []
    constants: dict[str, np.ndarray] = {}
    for index in range(len(node.inputs)):
        held = ctx.optional(node, index)
        if held is None:
            operands.append(OMITTED)
        elif isinstance(held, Tensor):
            shown = [dim for dim in held.dims if dim not in (BATCH, ONE)]
            if len(shown) < held.type.rank and (layout := BY_RANK.get(len(shown))) is not None:
                names = iter(layout)  # an axis of size 1 that the file does not have
                held = ctx.relayout(node, held, [d if d in (BATCH, ONE) else next(names) for d in held.dims])
                shown = list(layout)
            is_ready = BATCH in held.dims and shown == list(held.type.axes)
            placed = held if is_ready else ctx.in_order(node, held)
            at = next((n for n, one in enumerate(tensors) if (one.port, one.dims) == (placed.port, placed.dims)), None)
            if at is None:
                at = len(tensors)
                tensors.append(placed)
            operands.append(f"in{at + 1}")
        else:
            key = f"{_prefix(ctx)}.{index}"
            constants[key] = _numbers(ctx.numbers(node, index))
            operands.append(key)
    if len(tensors) > MOST_PORTS:
        raise NotLiftable(f"has {len(tensors)} inputs; a layer has at most {MOST_PORTS}")
    if len(tensors) == 1:
        operands = ["in" if name == "in1" else name for name in operands]
    return tensors, operands, constants


def _in_order(count: int) -> list[str]:
    return ["in"] if count == 1 else [f"in{number}" for number in range(1, count + 1)]


def _prefix(ctx: Context) -> str:
    return f"op{len(ctx.layers) + 1}"


def _numbers(array: np.ndarray) -> np.ndarray:
    if str(array.dtype) not in KINDS:
        raise NotLiftable(f"has constants of the type {array.dtype}, which a layer cannot hold")
    return np.asarray(array, order="C")


def _input_type(x: Tensor) -> str:
    """Return number format and sizes of an input as the file sees them, 1 for a dimension that the port lacks."""
    sizes = dict(zip(x.type.axes, x.type.sizes, strict=True))
    text = written_type(FORMATS[x.type.kind], None)
    marks = {ONE: ABSENT, BATCH: PLACE}
    dims = x.dims[1:] if x.dims[0] == BATCH else x.dims
    return " ".join([text, *(marks.get(dim) or f"{dim}={sizes[dim]}" for dim in dims)])


# ---- attributes ----


def _attributes(ctx: Context, node: Node, constants: dict[str, np.ndarray]) -> str:
    """Return the attributes as JSON; long ones are added to the constants."""
    from onnx import helper, numpy_helper

    given = (
        node.raw.attribute
        if node.raw is not None
        else [
            helper.make_attribute(
                name, numpy_helper.from_array(value.array()) if isinstance(value, Constant) else value
            )
            for name, value in node.attributes.items()
        ]
    )
    protos = {proto.name: _whole(ctx, node, proto) for proto in given}
    plain = {name: _plain(proto) for name, proto in protos.items()}
    while len(text := json.dumps(plain)) > LONGEST_TEXT or any(value is None for value in plain.values()):
        longest = max(plain, key=lambda name: math.inf if plain[name] is None else len(json.dumps(plain[name])))
        key = f"{_prefix(ctx)}.{longest}"
        constants[key] = np.frombuffer(protos[longest].SerializeToString(), np.uint8)
        plain[longest] = {"constant": key}
    return text


def _plain(proto: "onnx.AttributeProto") -> Any:
    """Return a short attribute as JSON; None for one that is long."""
    from onnx import helper

    try:
        value = helper.get_attribute_value(proto)
        value = [one.decode() if isinstance(one, bytes) else one for one in value] if isinstance(value, list) else value
        value = value.decode() if isinstance(value, bytes) else value
        is_plain = (
            onnx_attribute(proto.name, value, {}) == proto if isinstance(value, int | float | str | list) else False
        )
        if is_plain and (not isinstance(value, list) or len(value) <= MOST_LISTED):
            json.dumps(value, allow_nan=False)
            return value
    except (ValueError, TypeError, UnicodeDecodeError):
        pass
    data = proto.SerializeToString()
    return {"proto": base64.b64encode(data).decode()} if len(data) <= 256 else None


def _whole(ctx: Context, node: Node, proto: "onnx.AttributeProto") -> "onnx.AttributeProto":
    """Return an attribute whose subgraph holds the constants that it takes from around it."""
    from onnx import AttributeProto, external_data_helper, numpy_helper

    if proto.HasField("t") and external_data_helper.uses_external_data(proto.t):
        raise NotLiftable(f"has the numbers of '{proto.name}' in another file")
    if not proto.HasField("g") and not proto.graphs:
        return proto
    whole = AttributeProto()
    whole.CopyFrom(proto)
    for graph in (*([whole.g] if whole.HasField("g") else []), *whole.graphs):
        for name in outer_names(graph):
            held = ctx.graph.constants[name].array() if name in ctx.graph.constants else ctx.values.get(name)
            if not isinstance(held, np.ndarray):
                raise NotLiftable("has a subgraph that takes values of the network around it")
            graph.initializer.append(numpy_helper.from_array(_numbers(held), name))
    return whole


# ---- results ----


def _results(
    ctx: Context, node: Node, reason: str, draft: OnnxOperator, tensors: list[Tensor], constants: dict[str, np.ndarray]
) -> tuple[Held | None, ...]:
    """Try the operator with several sizes, and return the results of the layer."""
    wanted = [ctx.is_used(name) for name in node.outputs]
    if not any(wanted):
        raise NotLiftable(reason)
    results = tuple(OMITTED if not kept else "float32" for kept in wanted)
    draft = draft.replace(results=results, num_outputs=sum(wanted))
    try:
        draft, arrays = _tried_formats(node, reason, draft, tensors, constants)
    except NotLiftable:
        if ctx.fixed_batch != 1 or any(x.dims[0] != BATCH for x in tensors):
            raise
        draft, arrays = _tried_formats(node, reason, draft.replace(one_by_one=True), tensors, constants)
    symbols = {str(size): size for x in tensors for size in x.type.sizes if isinstance(size, Symbol)}
    types, shown = [], []
    for several in zip(*arrays, strict=True):
        text, dims = _placed_type(several, list(symbols.values()), tensors)
        types.append(text)
        shown.append(dims)
    texts = iter(types)
    layer = draft.replace(results=tuple(next(texts) if kept else OMITTED for kept in wanted))
    if problems := layer.problems():
        raise NotLiftable(f"{reason} ({problems[0]})")
    ctx.constants |= constants
    found = zip(ctx.add_all(node, layer, *tensors, name=f"{node.op.lower()}_1"), shown, strict=True)
    made = iter([tensor.viewed(dims) for tensor, dims in found])
    return tuple(next(made) if kept else None for kept in wanted)


def _tried_formats(
    node: Node, reason: str, type: OnnxOperator, tensors: list[Tensor], constants: dict[str, np.ndarray]
) -> tuple[OnnxOperator, list[list[np.ndarray]]]:
    """Return the layer with number formats of its inputs that the operator takes, and what it gives.

    The file does not say the formats of values inside; an operator that takes several gives equal numbers for them. A
    child process tries it, for an operator may crash ONNX Runtime.
    """
    kinds = [x.type.kind for x in tensors]
    uniform = [
        tuple(dict(zip(("real", "index", "complex"), choice, strict=True))[kind] for kind in kinds)
        for choice in itertools.product(REAL, INDEX, ("complex64",))
    ]
    mixed = itertools.product(*({"real": REAL, "index": INDEX, "complex": ("complex64",)}[kind] for kind in kinds))
    choices = itertools.islice(dict.fromkeys(itertools.chain(uniform, mixed)), MOST_TRIES)
    candidates = [
        type.replace(
            input_tensors=tuple(
                " ".join([dtype, *text.split()[1:]]) for dtype, text in zip(formats, type.input_tensors, strict=True)
            )
        )
        for formats in choices
    ]
    try:
        at, *arrays = arrays_from_child(
            lambda: _first_computed(node, reason, candidates, tensors, constants), TRYING, PATIENCE_S
        )
    except RunError as error:
        raise NotLiftable(str(error) if str(error).startswith(reason) else f"{reason}, and {error}") from None
    each = len(arrays) // TRIES
    return candidates[int(at)], [arrays[start : start + each] for start in range(0, len(arrays), each)]


def _first_computed(
    node: Node, reason: str, types: list[OnnxOperator], tensors: list[Tensor], constants: dict[str, np.ndarray]
) -> list[np.ndarray]:
    """Return the place of the first layer that can be computed, and its results of all tries one after another.
    Raises `RunError` with the reason."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)  # its complaints about what it refuses are in the reason
    first: NotLiftable | None = None
    for at, type in enumerate(types):
        try:
            found = _tried(node, reason, type, tensors, constants)
        except NotComputed as error:
            first = first or error
        except NotLiftable as error:
            raise RunError(str(error)) from None
        else:
            return [np.asarray(at), *(one for several in found for one in several)]
    raise RunError(str(first or reason))


def _tried(
    node: Node, reason: str, type: OnnxOperator, tensors: list[Tensor], constants: dict[str, np.ndarray]
) -> list[list[np.ndarray]]:
    """Return what the operator gives for two batch sizes, and for two lengths where sizes are free."""
    call = type.lower(*(x.type for x in tensors))
    assert not isinstance(call, tuple)
    module = OperatorModule(**call.kwargs)
    module.load_state_dict({f"constant_{n}": torch.from_numpy(one.copy()) for n, one in enumerate(constants.values())})
    generator = np.random.default_rng(0)
    found: list[list[np.ndarray]] = []
    sample: list[torch.Tensor] = []
    try:
        for batch, steps in zip((*BATCH_SIZES, BATCH_SIZES[0]), (STEPS[0], STEPS[0], STEPS[1]), strict=True):
            given = [_made_up(x.type, batch, steps, generator) for x in tensors]
            found.append([np.asarray(one) for one in module.computed(*given)])
            sample = given if len(found) == 1 else sample
        alone = [module.computed(*(x[at : at + 1] for x in sample)) for at in range(BATCH_SIZES[0])]
    except Exception as error:  # onnx, ONNX Runtime and numpy raise classes of their own
        raise NotComputed(f"{reason}, and cannot be computed by itself ({type_name(error)})") from None
    for number, (*ones, two, three) in enumerate(zip(*alone, found[0], found[1], strict=True)):
        if two.dtype.kind not in "fiubc" or str(two.dtype) not in KINDS:
            raise NotLiftable(f"{reason}, and gives {two.dtype} as its output {number + 1}, which a layer cannot hold")
        axis = _batch_axis(two, three)
        expected = None if axis is None else (*two.shape[:axis], 1, *two.shape[axis + 1 :])
        if (
            axis is None
            or any(one.shape != expected for one in ones)
            or (node.op not in RANDOM and not np.allclose(np.concatenate(ones, axis), two, 1e-4, 1e-5, equal_nan=True))
        ):
            raise NotLiftable(f"{reason}, and computes across the samples of a batch")
    return found


def type_name(error: Exception) -> str:
    """Return the class and the first line of an error of another program."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:160]}"


def _made_up(type: TensorType, batch: int, steps: int, generator: np.random.Generator) -> torch.Tensor:
    shape = [batch, *(size if isinstance(size, int) else steps for size in type.sizes)]
    if type.kind == "index":
        return torch.from_numpy(generator.integers(0, 2, shape))
    values = torch.from_numpy(generator.uniform(0.1, 0.9, shape).astype(np.float32))
    return values.to(torch.complex64) if type.kind == "complex" else values


def _batch_axis(two: np.ndarray, three: np.ndarray) -> int | None:
    """Return the dimension of a result that is the batch, from what it is for `BATCH_SIZES`; None where none is."""
    differing = [at for at, sizes in enumerate(zip(two.shape, three.shape, strict=False)) if sizes[0] != sizes[1]]
    if two.ndim != three.ndim or len(differing) != 1:
        return None
    (at,) = differing
    return at if (two.shape[at], three.shape[at]) == BATCH_SIZES else None


def _placed_type(
    several: tuple[np.ndarray, ...], symbols: list[Symbol], tensors: list[Tensor]
) -> tuple[str, tuple[str, ...]]:
    """Return number format and sizes of a result as text, and its dimensions in the file. Where the batch is not the
    first of them, dimensions of size 1 are none of the port."""
    place = _batch_axis(several[0], several[1]) or 0
    moved = [np.moveaxis(one, place, 0) for one in several]
    absent = [at for at in range(1, moved[0].ndim) if place and all(one.shape[at] == 1 for one in moved)]
    kept = tuple(one.squeeze(tuple(absent)) for one in moved)
    out, dims = _type_of((kept[0], kept[1], kept[2]), symbols, tensors)
    text = written_type(str(several[0].dtype), out if kept[0].ndim > 1 else None)
    if not place:
        return text, dims
    dtype, *sizes = text.split()
    left, names = iter(sizes), iter(dims[1:])
    words = [ABSENT if at in absent else next(left) for at in range(1, moved[0].ndim)]
    shown = [ONE if at in absent else next(names) for at in range(1, moved[0].ndim)]
    return (
        " ".join([dtype, *words[:place], PLACE, *words[place:]]),
        (*shown[:place], BATCH, *shown[place:]),
    )


def _type_of(
    several: tuple[np.ndarray, ...], symbols: list[Symbol], tensors: list[Tensor]
) -> tuple[TensorType, tuple[str, ...]]:
    """Return the type of a result from what it was for other batches and lengths, and its dimensions in the file."""
    first, other, longer = several
    kind = KINDS[str(first.dtype)]
    if other.shape[0] != BATCH_SIZES[1]:
        raise NotLiftable(f"gives {other.shape[0]} samples for {BATCH_SIZES[1]}")
    if first.ndim == 1:
        return TensorType(("C",), (1,), kind), (BATCH,)
    sizes: list[Size] = []
    for now, later in zip(first.shape[1:], longer.shape[1:], strict=True):
        if now == later:
            sizes.append(now)
        else:
            sizes.append(symbols[0] if (now, later) == STEPS else Symbol(f"{symbols[0]}'"))
    axes = _axes(first, tensors)
    return TensorType(axes, tuple(sizes), kind), (BATCH, *axes)


def _axes(result: np.ndarray, tensors: list[Tensor]) -> tuple[str, ...]:
    """Return names of the dimensions of a result: those of an input with as many, else those of the usual layout."""
    rank = result.ndim - 1
    for x in tensors:
        if x.rank == result.ndim and ONE not in x.dims:
            return tuple(dim for dim in x.dims if dim != BATCH)
    usual = next((axes for axes in LAYOUTS.values() if len(axes) == rank), None)
    return usual or tuple(f"D{number}" for number in range(1, rank + 1))
