"""Read an ONNX file as a graph: every count and size is checked before memory is taken, for the file may be hostile.

Functions that the file defines are inlined. `onnx_tensors.py` reads its numbers, `onnx_runner.py` of the room computes
with it.
"""

import ast
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import printable
from netwright.engine.core.files import open_file
from netwright.engine.exchange.importing.graph import Constant, Graph, Node, Value
from netwright.engine.exchange.importing.onnx_functions import (
    LIMIT_BYTES,
    MOST_NODES,
    ONNX_DOMAINS,
    refuse_large_functions,
)
from netwright.engine.exchange.importing.onnx_tensors import AGAIN, constant, refused, text
from netwright.engine.exchange.onnx_runner import Runner

if TYPE_CHECKING:
    import onnx

OLDEST, NEWEST = 7, 26
"""Versions of ONNX's operators that are read; a newer one is tried, with a note."""
HIGHEST = 2**31 - 1
"""Largest version that onnx takes."""
DEEPEST = 8
"""Deepest nesting of subgraphs (If, Loop, Scan)."""
SCOPES = "pkg.torch.onnx.name_scopes"


def read(path: Path) -> Graph:
    """Return the graph of an ONNX file. Raises `UserError`, with the reason, for a file that is none, is damaged or is
    beyond the limits."""
    model = _model(path)
    opsets = {"" if entry.domain in ONNX_DOMAINS else entry.domain: entry.version for entry in model.opset_import}
    if model.functions:
        model = _inlined(model)
    opset = opsets.get("", 0)
    notes = []
    if not opset and any(node.domain in ONNX_DOMAINS for node in model.graph.node):
        raise refused(path, "it does not say which version of ONNX's operators it uses")
    if 0 < opset < OLDEST:
        raise UserError(
            f"{path.name} uses version {opset} of ONNX's operators; versions from {OLDEST} on are read.",
            hint="Convert it with onnx.version_converter, or export it with a newer program.",
        )
    if opset > NEWEST:
        notes.append(
            f"The file uses version {opset} of ONNX's operators, which is newer than {NEWEST}, the newest known."
        )
    graph = _graph(model, path, opset or NEWEST, opsets)
    graph.notes += notes
    graph.compute = Runner(path, len(graph.nodes)).compute
    graph.read_branch = partial(_branch, path=path, opset=graph.opset)
    return graph


def _model(path: Path) -> "onnx.ModelProto":
    import onnx

    try:
        with open_file(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > LIMIT_BYTES:
                raise refused(path, f"it has {size:,} bytes; an ONNX file has less than {LIMIT_BYTES:,}")
            data = file.read(size)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.", code="not_found") from None
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except Exception:  # protobuf raises classes of its own, by its implementation
        raise refused(path, "it is no ONNX file, or is damaged") from None
    if not model.HasField("graph") or not (model.graph.node or model.graph.output):
        raise refused(path, "it holds no graph")
    if len(model.graph.node) > MOST_NODES:
        raise refused(path, f"it has {len(model.graph.node):,} operators; at most {MOST_NODES:,} are read")
    return model


def _inlined(model: "onnx.ModelProto") -> "onnx.ModelProto":
    """Return the model with its own functions in place of their calls. Raises `UserError` where they cannot be."""
    from onnx import inliner

    refuse_large_functions(model)
    try:
        return inliner.inline_local_functions(model)
    except Exception as error:  # the inliner is C++ and raises what it likes
        raise UserError(
            f"The functions in the file cannot be read: {printable(str(error)[:200])}.", hint=AGAIN
        ) from None


def _graph(model: "onnx.ModelProto", path: Path, opset: int, opsets: Mapping[str, int]) -> Graph:
    proto = model.graph
    constants: dict[str, Constant] = {}
    for tensor in proto.initializer:
        name = text(tensor.name)
        if not name or name in constants:
            raise refused(path, f"two tensors are named '{name}', or one has no name")
        constants[name] = constant(tensor, path)
    for sparse in proto.sparse_initializer:
        raise refused(path, f"the tensor '{sparse.values.name}' is sparse, which is not read")
    inputs = tuple(_value(value, path) for value in proto.input if text(value.name) not in constants)
    own = "netwright" in {entry.key for entry in model.metadata_props}
    producer = "netwright" if own else text(model.producer_name)
    nodes = [_node(node, path, constants, opset) for node in proto.node]
    _check_names(
        nodes, [*constants, *(value.name for value in inputs)], [text(value.name) for value in proto.output], path
    )
    return Graph(
        nodes=_sorted(nodes, {*constants, *(value.name for value in inputs)}, path),
        constants=constants,
        inputs=inputs,
        outputs=tuple(_value(value, path) for value in proto.output),
        opset=opset,
        opsets=opsets,
        labels=_labels(nodes, [text(value.name) for value in proto.output]),
        title=path.stem,
        producer=" ".join(filter(None, (producer, text(model.producer_version)))),
        metadata={text(entry.key): text(entry.value) for entry in model.metadata_props},
    )


def _labels(nodes: Sequence[Node], outputs: Iterable[str]) -> dict[str, str]:
    """Return the names of outputs that a person gave: torch's exporters call a value `linear` and its node
    `node_linear`, or a value `17`, where nobody names the output."""
    makers = {name: node for node in nodes for name in node.outputs}
    return {
        name: name
        for name in outputs
        if not name.isdecimal() and (name not in makers or makers[name].name != f"node_{name}")
    }


def _value(proto: "onnx.ValueInfoProto", path: Path) -> Value:
    from onnx import helper

    if not proto.type.HasField("tensor_type"):
        kind = proto.type.WhichOneof("value") or "nothing"
        if kind in ("sequence_type", "map_type", "optional_type", "sparse_tensor_type"):
            return Value(text(proto.name), None, kind.removesuffix("_type"))
        return Value(text(proto.name), None)
    tensor = proto.type.tensor_type
    try:
        dtype = str(helper.tensor_dtype_to_np_dtype(tensor.elem_type)) if tensor.elem_type else "float32"
    except (KeyError, ValueError):
        raise refused(path, f"'{proto.name}' has an unknown data type") from None
    if not tensor.HasField("shape"):
        return Value(text(proto.name), None, dtype)
    sizes: list[int | str | None] = []
    for dim in tensor.shape.dim:
        if dim.HasField("dim_value"):
            sizes.append(dim.dim_value if dim.dim_value > 0 else None)  # exporters write 0 or -1 for a free size
        else:
            sizes.append(text(dim.dim_param) or None)
    return Value(text(proto.name), tuple(sizes), dtype)


def _branch(proto: "onnx.GraphProto", path: Path, opset: int) -> tuple[list[Node], dict[str, Constant]]:
    """Return nodes and constants of a subgraph."""
    constants = {text(tensor.name): constant(tensor, path) for tensor in proto.initializer}
    return [_node(node, path, constants, opset) for node in proto.node], constants


# ---- nodes ----


def _node(proto: "onnx.NodeProto", path: Path, constants: Mapping[str, Constant], opset: int) -> Node:
    if proto.domain in ONNX_DOMAINS:
        _refuse_unfit(proto, path, opset)
    attributes = {text(attribute.name): _attribute(attribute, path, proto.op_type) for attribute in proto.attribute}
    return Node(
        op=text(proto.op_type),
        inputs=[text(name) for name in proto.input],
        outputs=[text(name) for name in proto.output],
        attributes=attributes,
        name=text(proto.name),
        domain="" if proto.domain in ONNX_DOMAINS else text(proto.domain),
        scope=_with_weights(proto, scope_of(proto), constants),
        raw=proto,
    )


def _refuse_unfit(proto: "onnx.NodeProto", path: Path, opset: int) -> None:
    """Refuse an operator of ONNX without what it needs, or with attributes of another type than its definition says."""
    schema = _schema(text(proto.op_type), opset)
    if schema is None:
        return
    label = f"{proto.op_type} {text(proto.name)}".rstrip()
    if not schema.min_input <= len(proto.input) <= schema.max_input:
        raise refused(path, f"{label} has {len(proto.input):,} inputs")
    types = {text(entry.name): entry.type for entry in proto.attribute}
    for name, attribute in schema.attributes.items():
        if name in types and types[name] != attribute.type.value:
            raise refused(path, f"'{name}' of {proto.op_type} is of another type than ONNX says")
        if attribute.required and name not in types:
            raise refused(path, f"{label} has no '{name}'")


@cache
def _schema(op: str, opset: int) -> Any:
    """Return the definition of an operator of ONNX; None where there is none."""
    from onnx import defs

    try:
        return defs.get_schema(op, min(opset, HIGHEST), "")
    except defs.SchemaError:
        return None


def _attribute(proto: "onnx.AttributeProto", path: Path, op: str) -> Any:
    from onnx import AttributeProto as Kind

    match proto.type:
        case Kind.FLOAT:
            return proto.f
        case Kind.INT:
            return proto.i
        case Kind.STRING:
            return proto.s.decode(errors="replace")
        case Kind.TENSOR:
            return constant(proto.t, path)
        case Kind.FLOATS:
            return list(proto.floats)
        case Kind.INTS:
            return list(proto.ints)
        case Kind.STRINGS:
            return [text.decode(errors="replace") for text in proto.strings]
        case Kind.GRAPH:
            _refuse_deep(proto.g, path)
            return proto.g
        case Kind.GRAPHS:
            for graph in proto.graphs:
                _refuse_deep(graph, path)
            return list(proto.graphs)
    if proto.ref_attr_name:
        raise refused(path, f"'{proto.name}' of {op} refers to an attribute of a function")
    return proto


def _refuse_deep(graph: "onnx.GraphProto", path: Path, depth: int = 1) -> None:
    if depth > DEEPEST:
        raise refused(path, f"its subgraphs are nested more than {DEEPEST} deep")
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs):
                _refuse_deep(inner, path, depth + 1)


def scope_of(proto: "onnx.NodeProto") -> tuple[str, ...]:
    """Return the names of the modules that a node was part of: from what torch's exporters note, or from a name such as
    `/layer1/layer1.0/conv1/Conv`."""
    for entry in proto.metadata_props:
        if entry.key == SCOPES:
            try:
                noted = [str(part) for part in ast.literal_eval(entry.value)][:-1]
            except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
                break
            return _relative(noted, separator=".")
    name = text(proto.name)
    if "/" not in name:
        return ()
    parts = name.strip("/").split("/")[:-1]
    return _relative(parts, separator=".") if len(parts) <= 32 else ()


def _with_weights(
    proto: "onnx.NodeProto", scope: tuple[str, ...], constants: Mapping[str, Constant]
) -> tuple[str, ...]:
    """Return the module whose weights a convolution has: torch notes the normalisation that was folded into it."""
    name = text(proto.input[1]) if scope and proto.op_type in ("Conv", "ConvTranspose") and len(proto.input) > 1 else ""
    if not name.endswith(".weight") or name not in constants:
        return scope
    module = tuple(part for part in name.removesuffix(".weight").split(".") if part)
    return module if len(module) == len(scope) and module[:-1] == scope[:-1] else scope


def _relative(parts: Iterable[str], separator: str) -> tuple[str, ...]:
    """Return each path without the path before it: `layer1`, `layer1.0` becomes `layer1`, `0`."""
    names: list[str] = []
    before = ""
    for part in parts:
        if not part or part == before:
            continue
        short = part.removeprefix(before + separator) if before else part
        names += [name for name in short.split(separator) if name]
        before = part
    return tuple(names[:32])


def _check_names(nodes: Sequence[Node], inputs: Sequence[str], outputs: Sequence[str], path: Path) -> None:
    """Refuse values that nothing computes, or that are computed twice."""
    values = set()
    for name in inputs:
        if not name or name in values:
            raise refused(path, f"two inputs are named '{name}', or one has no name")
        values.add(name)
    for node in nodes:
        if not node.op:
            raise refused(path, "one of its operators has no name")
        for name in node.outputs:
            if name and name in values:
                raise refused(path, f"'{name}' is computed twice")
            values.add(name)
    for node in nodes:
        for name in node.inputs:
            if name and name not in values:
                raise refused(path, f"{node.op} {node.name} takes '{name}', which nothing computes")
    for name in outputs:
        if name not in values:
            raise refused(path, f"nothing computes its output '{name}'")


def _sorted(nodes: list[Node], inputs: set[str], path: Path) -> list[Node]:
    """Return the nodes in topological order, unchanged where they have one. Raises `UserError` for a cycle."""
    values = set(inputs)
    waiting = nodes
    ordered: list[Node] = []
    while waiting:
        later = []
        for node in waiting:
            needs = [*node.inputs, *node.outer_names()]
            if all(not name or name in values for name in needs):
                values.update(node.outputs)
                ordered.append(node)
            else:
                later.append(node)
        if len(later) == len(waiting):
            raise refused(path, f"its operators form a cycle, in which '{later[0].op}' is")
        if len(ordered) < len(nodes) // 64 and len(nodes) > 4096:
            raise refused(path, "its operators are not in the order of their inputs")
        waiting = later
    return ordered
