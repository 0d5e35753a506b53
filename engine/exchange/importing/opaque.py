"""Keep an operator that no layer computes: a layer that holds it as the file has it, and its constants."""

import base64
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netwright.engine.core.types import LAYOUTS, Size, Symbol, TensorType
from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import OWN_DOMAIN, Constant, Node
from netwright.engine.exchange.importing.operator_probes import (
    BATCH_SIZES,
    STEPS,
    NotComputed,
    Original,
    batch_axis,
    tried_formats,
)
from netwright.engine.exchange.importing.subgraphs import enclosed, inner_domains
from netwright.engine.exchange.importing.values import BATCH, ONE, AcrossSamples, Held, NotLiftable, Tensor
from netwright.engine.layers.onnx_operator import (
    ABSENT,
    FORMATS,
    KINDS,
    MOST_PORTS,
    OMITTED,
    PLACE,
    OnnxOperator,
    written_type,
)
from netwright.engine.lowering.modules.onnx_operator import onnx_attribute

if TYPE_CHECKING:
    import onnx

MOST_NAMED = 6
MOST_CHOICES = 16
"""Ways to read constants for several samples as such for one."""
MOST_LISTED = 32
"""Longer lists of an attribute are constants."""
LONGEST_TEXT = 4000
"""Characters of all attributes in the project; what does not fit is a constant."""
BY_RANK = {len(axes): axes for axes in LAYOUTS.values()}
ACROSS = "computes across the samples of a batch: what it gives for a sample depends on the others."


def keep(ctx: Context, node: Node, reason: str) -> tuple[Held | None, ...]:
    """Return the results of a layer that computes the operator as it is. Raises `NotLiftable` where the operator takes
    or gives something else than numbers for each sample."""
    if node.domain == OWN_DOMAIN or (node.raw is None and any(map(_is_complex, node.attributes.values()))):
        raise NotLiftable(reason)
    outer = list(dict.fromkeys(node.outer_names()))
    try:
        tensors, operands, constants = _operands(ctx, replace(node, inputs=[*node.inputs, *outer]))
    except NotLiftable as error:
        raise NotLiftable(f"{reason}, and {error}", entering=error.entering) from None
    if not tensors:
        raise NotLiftable(f"{reason}, and takes no input of the network", leaving=node.outputs)
    inner_names = {name: f"taken{number}" for number, name in enumerate(outer, 1)}
    attributes = _attributes(ctx, node, constants, inner_names)
    draft = ctx.make(
        OnnxOperator,
        operator=node.op,
        domain=node.domain,
        opset=ctx.graph.opsets.get(node.domain, ctx.opset),
        attributes=attributes,
        num_inputs=len(tensors),
        operands=() if operands == _in_order(len(tensors)) else tuple(operands),
        inner_names=tuple(inner_names.values()),
        inner_opsets=_inner_opsets(ctx, node),
        joined=_joined(node),
        input_tensors=tuple(map(_input_type, tensors)),
        constants=_described(constants),
    )
    assert isinstance(draft, OnnxOperator)
    try:
        return _results(ctx, node, reason, draft, tensors, constants)
    except NotComputed as error:
        raise NotLiftable(str(error), entering=_made_of_sizes(ctx, (*node.inputs, *outer))) from None


def _made_of_sizes(ctx: Context, names: Sequence[str]) -> list[str]:
    """Return the values that are known but for the batch, of which they have one sample: not every operator takes one
    for all."""
    makers = ctx.graph.makers()
    return [name for name in names if name in makers and isinstance(ctx.values.get(name), np.ndarray)]


def _inner_opsets(ctx: Context, node: Node) -> tuple[str, ...]:
    """Return the versions of the domains that subgraphs use, besides that of the operator."""
    graphs = [item for value in node.attributes.values() for item in (value if isinstance(value, list) else [value])]
    domains = set[str]().union(*(inner_domains(graph) for graph in graphs if hasattr(graph, "initializer")))
    versions = {domain: ctx.graph.opsets.get(domain, ctx.opset if not domain else 1) for domain in sorted(domains)}
    return tuple(f"{domain or 'ai.onnx'} {version}" for domain, version in versions.items() if domain != node.domain)


def _joined(node: Node) -> str:
    """Return the operators that a node holds, in words."""
    names = list(dict.fromkeys(member.op for member in node.members))
    return ", ".join([*names[:MOST_NAMED], *(["…"] if len(names) > MOST_NAMED else [])])


def _is_complex(value: Any) -> bool:
    return not isinstance(value, int | float | str | list | Constant)


def _operands(ctx: Context, node: Node) -> tuple[list[Tensor], list[str], dict[str, np.ndarray]]:
    """Return the tensors that enter the layer, the operands by port or constant, and the constants by key."""
    tensors: list[Tensor] = []
    operands: list[str] = []
    constants: dict[str, np.ndarray] = {}
    for index, name in enumerate(node.inputs):
        try:
            value = ctx.optional(node, index)
            if value is None:
                operands.append(OMITTED)
            elif isinstance(value, Tensor):
                placed = _placed(ctx, node, value)
                at = next((n for n, x in enumerate(tensors) if (x.port, x.dims) == (placed.port, placed.dims)), None)
                if at is None:
                    at = len(tensors)
                    tensors.append(placed)
                operands.append(f"in{at + 1}")
            else:
                key = f"{_prefix(ctx)}.{index}"
                constants[key] = _numbers(ctx.numbers(node, index))
                operands.append(key)
        except NotLiftable as error:
            raise NotLiftable(str(error), entering=(name,)) from None
    if len(tensors) > MOST_PORTS:
        raise NotLiftable(f"has {len(tensors)} inputs; a layer has at most {MOST_PORTS}")
    if len(tensors) == 1:
        operands = ["in" if name == "in1" else name for name in operands]
    return tensors, operands, constants


def _placed(ctx: Context, node: Node, x: Tensor) -> Tensor:
    """Return a tensor with its axes in the order of the file."""
    dims = [dim for dim in x.dims if dim not in (BATCH, ONE)]
    if not dims:  # one number per sample
        return x if x.type.rank == 1 else ctx.reshaped(node, x, ("C",), (1,)).viewed(x.dims)
    if len(dims) < x.type.rank and (layout := BY_RANK.get(len(dims))) is not None:
        names = iter(layout)  # an axis of size 1 that the file does not have
        x = ctx.relayout(node, x, [d if d in (BATCH, ONE) else next(names) for d in x.dims])
        dims = list(layout)
    return x if BATCH in x.dims and dims == list(x.type.axes) else ctx.in_order(node, x)


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


def _attributes(ctx: Context, node: Node, constants: dict[str, np.ndarray], around: Mapping[str, str]) -> str:
    """Return the attributes as JSON; long ones are added to the constants. `around` are the names by which subgraphs
    take outer values."""
    from onnx import external_data_helper, helper, numpy_helper

    attributes = (
        node.raw.attribute
        if node.raw is not None
        else [
            helper.make_attribute(
                name, numpy_helper.from_array(value.array()) if isinstance(value, Constant) else value
            )
            for name, value in node.attributes.items()
        ]
    )
    for proto in attributes:
        if proto.HasField("t") and external_data_helper.uses_external_data(proto.t):
            raise NotLiftable(f"has the numbers of '{proto.name}' in another file")
    protos = {proto.name: enclosed(proto, _prefix(ctx), around) for proto in attributes}
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
        value = (
            [item.decode() if isinstance(item, bytes) else item for item in value] if isinstance(value, list) else value
        )
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


# ---- results ----


def _results(
    ctx: Context, node: Node, reason: str, draft: OnnxOperator, tensors: list[Tensor], constants: dict[str, np.ndarray]
) -> tuple[Held | None, ...]:
    """Try the operator with several sizes, and return the results of the layer."""
    needs = [ctx.is_used(name) for name in node.outputs]
    if not any(needs):
        raise NotLiftable(reason)
    results = tuple(OMITTED if not needed else "float32" for needed in needs)
    draft = draft.replace(results=results, num_outputs=sum(needs))
    is_first = all(x.dims[0] == BATCH for x in tensors)
    is_for_one = ctx.fixed_batch == 1 and is_first
    if node.members:
        draft = draft.replace(one_by_one=is_for_one, whole_batch=node.is_across and not is_for_one)
    try:
        draft, arrays = tried_formats(ctx, node, reason, draft, tensors, constants)
    except NotLiftable as error:
        if draft.one_by_one or draft.whole_batch:
            raise
        freed = _freed(ctx, node, reason, draft, tensors, constants) if is_first else None
        if freed is not None:
            draft, arrays, constants = freed
        else:
            if is_for_one:
                draft = draft.replace(one_by_one=True)
            elif isinstance(error, AcrossSamples):
                draft = draft.replace(whole_batch=True)
            else:
                raise _said_of_batch(ctx, error, constants) from None
            draft, arrays = tried_formats(ctx, node, reason, draft, tensors, constants)
    symbols = {str(size): size for x in tensors for size in x.type.sizes if isinstance(size, Symbol)}
    types, layouts = [], []
    for several in zip(*arrays, strict=True):
        text, dims = _placed_type(several, list(symbols.values()), tensors)
        types.append(text)
        layouts.append(dims)
    texts = iter(types)
    layer = draft.replace(results=tuple(next(texts) if needed else OMITTED for needed in needs))
    if problems := layer.problems():
        raise NotLiftable(f"{reason} ({problems[0]})")
    if layer.whole_batch:
        ctx.notes.append(f"{node.members[-1].op if node.members else node.op} {ACROSS}")
    ctx.constants |= constants
    name = node.members[-1].op if node.members else node.op
    pairs = zip(ctx.add_all(node, layer, *tensors, name=f"{name.lower()}_1"), layouts, strict=True)
    outputs = iter([tensor.viewed(dims) for tensor, dims in pairs])
    return tuple(next(outputs) if needed else None for needed in needs)


Freed = tuple[OnnxOperator, list[list[np.ndarray]], dict[str, np.ndarray]]


def _freed(
    ctx: Context, node: Node, reason: str, draft: OnnxOperator, tensors: list[Tensor], constants: dict[str, np.ndarray]
) -> Freed | None:
    """Return an operator whose constants are for a fixed number of samples as one that computes each sample by itself,
    with constants for one sample; None where there is no such, or it would compute something else."""
    count = ctx.fixed_batch or 0
    if count < 2 or node.members:
        return None
    choices = [[array, *_for_one(array, count)] for array in constants.values()]
    for choice in itertools.islice(itertools.product(*choices), 1, MOST_CHOICES):
        freed = dict(zip(constants, choice, strict=True))
        alone = draft.replace(one_by_one=True, constants=_described(freed))
        try:
            alone, arrays = tried_formats(ctx, node, reason, alone, tensors, freed, Original(draft, constants, count))
        except NotLiftable:
            continue
        return alone, arrays, freed
    return None


def _for_one(array: np.ndarray, count: int) -> list[np.ndarray]:
    """Return the constants for one sample that one for `count` may stand for: one of equal parts, or sizes of
    which one is the number of samples."""
    variants = []
    for axis in [at for at, size in enumerate(array.shape) if size == count][:1]:
        first = array.take([0], axis)
        if np.array_equal(np.broadcast_to(first, array.shape), array):
            variants.append(first)
    if array.ndim == 1 and array.dtype.kind == "i" and count in array:
        sizes = array.copy()
        sizes[int(np.argmax(array == count))] = 1
        variants.append(sizes)
    return variants


def _said_of_batch(ctx: Context, error: NotLiftable, constants: dict[str, np.ndarray]) -> NotLiftable:
    """Return a refusal that says the way out where numbers of the operator may be for a fixed number of samples."""
    count = ctx.fixed_batch or 0
    if count < 2 or not any(count in (*array.shape, *array.reshape(-1)[:64].tolist()) for array in constants.values()):
        return error
    text = f"{error}; its constants may be for the {count} samples of the file: export it again with a free batch"
    return type(error)(f"{text} (torch.onnx.export: dynamic_axes or dynamic_shapes) or with one sample")


def _described(constants: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    """Return name, number format and sizes of each constant, for the layer."""
    return tuple(f"{key} {array.dtype} {' '.join(map(str, array.shape))}".rstrip() for key, array in constants.items())


def _placed_type(
    several: tuple[np.ndarray, ...], symbols: list[Symbol], tensors: list[Tensor]
) -> tuple[str, tuple[str, ...]]:
    """Return number format and sizes of a result as text, and its dimensions in the file. Where the batch is not the
    first of them, dimensions of size 1 are none of the port."""
    place = batch_axis(several[0], several[1]) or 0
    moved = [np.moveaxis(array, place, 0) for array in several]
    absent = [at for at in range(1, moved[0].ndim) if place and all(array.shape[at] == 1 for array in moved)]
    arrays = tuple(array.squeeze(tuple(absent)) for array in moved)
    out, dims = _type_of((arrays[0], arrays[1], arrays[2]), symbols, tensors)
    text = written_type(str(several[0].dtype), out if arrays[0].ndim > 1 else None)
    if not place:
        return text, dims
    dtype, *sizes = text.split()
    rest, names = iter(sizes), iter(dims[1:])
    words = [ABSENT if at in absent else next(rest) for at in range(1, moved[0].ndim)]
    file_dims = [ONE if at in absent else next(names) for at in range(1, moved[0].ndim)]
    return (
        " ".join([dtype, *words[:place], PLACE, *words[place:]]),
        (*file_dims[:place], BATCH, *file_dims[place:]),
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
