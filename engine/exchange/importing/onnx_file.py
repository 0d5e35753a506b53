"""Read an ONNX file as a graph: every count and size is checked before memory is taken, for the file may be hostile.

Tensors are read when they are needed. External data is mapped, from files in the folder of the model alone. Functions
that the file defines are inlined.
"""

import ast
import io
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.child_process import read_from_fork
from engine.core.errors import UserError
from engine.core.fields import printable
from engine.core.files import open_file
from engine.exchange.importing.graph import Constant, Graph, Node, Value

if TYPE_CHECKING:
    import onnx
    from onnxruntime import InferenceSession

OLDEST, NEWEST = 7, 26
"""Versions of ONNX's operators that are read; a newer one is tried, with a note."""
LIMIT_BYTES = 2**31
"""Limit of a protobuf message: larger models have their tensors in other files."""
MOST_NODES = 200_000
MOST_ELEMENTS = 2**36
DEEPEST = 8
"""Deepest nesting of subgraphs (If, Loop, Scan)."""
AGAIN = "Export it again, or copy it again from where it came."
PATIENCE_S = 900.0
ARRAYS = b"a"
"""First byte of what the child process of ONNX Runtime answers, where it has results."""
SCOPES = "pkg.torch.onnx.name_scopes"
ONNX_DOMAINS = ("", "ai.onnx")


def read(path: Path) -> Graph:
    """Return the graph of an ONNX file. Raises `UserError`, with the reason, for a file that is none, is damaged or is
    beyond the limits."""
    model = _model(path)
    opsets = {"" if one.domain in ONNX_DOMAINS else one.domain: one.version for one in model.opset_import}
    if model.functions:
        model = _inlined(model)
    opset = opsets.get("", 0)
    notes = []
    if not opset and any(node.domain in ONNX_DOMAINS for node in model.graph.node):
        raise _refused(path, "it does not say which version of ONNX's operators it uses")
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
    graph.compute = Runner(path).compute
    return graph


def _refused(path: Path, reason: str) -> UserError:
    return UserError(f"{path.name} cannot be read as ONNX: {printable(reason[:300])}.", hint=AGAIN)


def _model(path: Path) -> "onnx.ModelProto":
    import onnx

    try:
        with open_file(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > LIMIT_BYTES:
                raise _refused(path, f"it has {size:,} bytes; an ONNX file has less than {LIMIT_BYTES:,}")
            data = file.read(size)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.", code="not_found") from None
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except Exception:  # protobuf raises classes of its own, by its implementation
        raise _refused(path, "it is no ONNX file, or is damaged") from None
    if not model.HasField("graph") or not (model.graph.node or model.graph.output):
        raise _refused(path, "it holds no graph")
    if len(model.graph.node) > MOST_NODES:
        raise _refused(path, f"it has {len(model.graph.node):,} operators; at most {MOST_NODES:,} are read")
    return model


def _inlined(model: "onnx.ModelProto") -> "onnx.ModelProto":
    """Return the model with its own functions in place of their calls. Raises `UserError` where they call each
    other."""
    from onnx import inliner

    calls = {(one.domain, one.name): [(node.domain, node.op_type) for node in one.node] for one in model.functions}
    sizes: dict[tuple[str, str], int] = {}

    def size(key: tuple[str, str], within: tuple[tuple[str, str], ...]) -> int:
        if key in within or len(within) > 50:
            raise UserError("The functions in the file call themselves, which ONNX does not allow.", hint=AGAIN)
        if key not in sizes:
            sizes[key] = sum(size(one, (*within, key)) if one in calls else 1 for one in calls[key])
        return sizes[key]

    total = sum(size((n.domain, n.op_type), ()) for n in model.graph.node if (n.domain, n.op_type) in calls)
    if total > MOST_NODES:
        raise UserError(f"The functions in the file stand for {total:,} operators; at most {MOST_NODES:,} are read.")
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
        name = _text(tensor.name)
        if not name or name in constants:
            raise _refused(path, f"two tensors are named '{name}', or one has no name")
        constants[name] = _constant(tensor, path)
    for sparse in proto.sparse_initializer:
        raise _refused(path, f"the tensor '{sparse.values.name}' is sparse, which is not read")
    inputs = tuple(_value(one, path) for one in proto.input if _text(one.name) not in constants)
    own = "netwright" in {entry.key for entry in model.metadata_props}
    producer = "netwright" if own else _text(model.producer_name)
    nodes = [_node(node, path, constants) for node in proto.node]
    _check_names(nodes, [*constants, *(one.name for one in inputs)], [_text(one.name) for one in proto.output], path)
    return Graph(
        nodes=_sorted(nodes, {*constants, *(one.name for one in inputs)}, path),
        constants=constants,
        inputs=inputs,
        outputs=tuple(_value(one, path) for one in proto.output),
        opset=opset,
        opsets=opsets,
        title=path.stem,
        producer=" ".join(filter(None, (producer, _text(model.producer_version)))),
        metadata={_text(entry.key): _text(entry.value) for entry in model.metadata_props},
    )


def _value(proto: "onnx.ValueInfoProto", path: Path) -> Value:
    from onnx import helper

    if not proto.type.HasField("tensor_type"):
        kind = proto.type.WhichOneof("value") or "nothing"
        if kind in ("sequence_type", "map_type", "optional_type", "sparse_tensor_type"):
            return Value(_text(proto.name), None, kind.removesuffix("_type"))
        return Value(_text(proto.name), None)
    tensor = proto.type.tensor_type
    try:
        dtype = str(helper.tensor_dtype_to_np_dtype(tensor.elem_type)) if tensor.elem_type else "float32"
    except (KeyError, ValueError):
        raise _refused(path, f"'{proto.name}' has an unknown data type") from None
    if not tensor.HasField("shape"):
        return Value(_text(proto.name), None, dtype)
    sizes: list[int | str | None] = []
    for dim in tensor.shape.dim:
        if dim.HasField("dim_value"):
            sizes.append(dim.dim_value if dim.dim_value > 0 else None)  # exporters write 0 or -1 for a free size
        else:
            sizes.append(_text(dim.dim_param) or None)
    return Value(_text(proto.name), tuple(sizes), dtype)


# ---- nodes ----


def _node(proto: "onnx.NodeProto", path: Path, constants: Mapping[str, Constant]) -> Node:
    attributes = {_text(one.name): _attribute(one, path, proto.op_type) for one in proto.attribute}
    return Node(
        op=_text(proto.op_type),
        inputs=[_text(name) for name in proto.input],
        outputs=[_text(name) for name in proto.output],
        attributes=attributes,
        name=_text(proto.name),
        domain="" if proto.domain in ONNX_DOMAINS else _text(proto.domain),
        scope=_with_weights(proto, scope_of(proto), constants),
        raw=proto,
    )


def _text(value: str | bytes) -> str:
    """Return a name; protobuf gives bytes for one that is not UTF-8."""
    return value if isinstance(value, str) else value.decode(errors="replace")


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
            return _constant(proto.t, path)
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
        raise _refused(path, f"'{proto.name}' of {op} refers to an attribute of a function")
    return proto


def _refuse_deep(graph: "onnx.GraphProto", path: Path, depth: int = 1) -> None:
    if depth > DEEPEST:
        raise _refused(path, f"its subgraphs are nested more than {DEEPEST} deep")
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
                noted = [str(one) for one in ast.literal_eval(entry.value)][:-1]
            except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
                break
            return _relative(noted, separator=".")
    name = _text(proto.name)
    if "/" not in name:
        return ()
    parts = name.strip("/").split("/")[:-1]
    return _relative(parts, separator=".") if len(parts) <= 32 else ()


def _with_weights(
    proto: "onnx.NodeProto", scope: tuple[str, ...], constants: Mapping[str, Constant]
) -> tuple[str, ...]:
    """Return the module whose weights a convolution has: torch notes the normalisation that was folded into it."""
    name = (
        _text(proto.input[1]) if scope and proto.op_type in ("Conv", "ConvTranspose") and len(proto.input) > 1 else ""
    )
    if not name.endswith(".weight") or name not in constants:
        return scope
    found = tuple(part for part in name.removesuffix(".weight").split(".") if part)
    return found if len(found) == len(scope) and found[:-1] == scope[:-1] else scope


def _relative(parts: Iterable[str], separator: str) -> tuple[str, ...]:
    """Return each path without the path before it: `layer1`, `layer1.0` becomes `layer1`, `0`."""
    found: list[str] = []
    before = ""
    for part in parts:
        if not part or part == before:
            continue
        short = part.removeprefix(before + separator) if before else part
        found += [one for one in short.split(separator) if one]
        before = part
    return tuple(found[:32])


def _check_names(nodes: Sequence[Node], given: Sequence[str], outputs: Sequence[str], path: Path) -> None:
    """Refuse values that nothing computes, or that are computed twice."""
    known = set()
    for name in given:
        if not name or name in known:
            raise _refused(path, f"two inputs are named '{name}', or one has no name")
        known.add(name)
    for node in nodes:
        if not node.op:
            raise _refused(path, "one of its operators has no name")
        for name in node.outputs:
            if name and name in known:
                raise _refused(path, f"'{name}' is computed twice")
            known.add(name)
    for node in nodes:
        for name in node.inputs:
            if name and name not in known:
                raise _refused(path, f"{node.op} {node.name} takes '{name}', which nothing computes")
    for name in outputs:
        if name not in known:
            raise _refused(path, f"nothing computes its output '{name}'")


def _sorted(nodes: list[Node], given: set[str], path: Path) -> list[Node]:
    """Return the nodes in topological order, unchanged where they have one. Raises `UserError` for a cycle."""
    known = set(given)
    waiting = nodes
    ordered: list[Node] = []
    while waiting:
        later = []
        for node in waiting:
            needs = [*node.inputs, *_outer_names(node)]
            if all(not name or name in known for name in needs):
                known.update(node.outputs)
                ordered.append(node)
            else:
                later.append(node)
        if len(later) == len(waiting):
            raise _refused(path, f"its operators form a cycle, in which '{later[0].op}' is")
        if len(ordered) < len(nodes) // 64 and len(nodes) > 4096:
            raise _refused(path, "its operators are not in the order of their inputs")
        waiting = later
    return ordered


def _outer_names(node: Node) -> list[str]:
    """Return the values around it that the subgraphs of a node take."""
    graphs = [one for value in node.attributes.values() for one in (value if isinstance(value, list) else [value])]
    return [name for graph in graphs if hasattr(graph, "initializer") for name in outer_names(graph)]


def outer_names(graph: "onnx.GraphProto") -> list[str]:
    """Return the names that a subgraph takes from the graph around it."""
    own = {one.name for one in (*graph.input, *graph.initializer)} | {n for node in graph.node for n in node.output}
    needed = [name for node in graph.node for name in node.input if name] + [one.name for one in graph.output]
    inner = [
        name
        for node in graph.node
        for attribute in node.attribute
        for sub in (*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs)
        for name in outer_names(sub)
    ]
    return [name for name in dict.fromkeys([*needed, *inner]) if name not in own]


# ---- tensors ----


def _constant(proto: "onnx.TensorProto", path: Path) -> Constant:
    from onnx import TensorProto, helper

    name = _text(proto.name) or "a tensor"
    shape = tuple(proto.dims)
    if any(size < 0 for size in shape):
        raise _refused(path, f"{name} has the sizes {list(shape)}, of which one is negative")
    count = math.prod(shape)
    if count > MOST_ELEMENTS:
        raise _refused(path, f"{name} has {count:,} numbers")
    if proto.data_type == TensorProto.STRING:
        if count != len(proto.string_data):
            raise _refused(path, f"{name} has {len(proto.string_data):,} texts, and should have {count:,}")
        return Constant.of(
            np.array([text.decode(errors="replace") for text in proto.string_data], object).reshape(shape)
        )
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(proto.data_type))
    except (KeyError, ValueError, TypeError):
        raise _refused(path, f"{name} has an unknown data type") from None
    if proto.data_location == TensorProto.EXTERNAL:
        return _external(proto, shape, dtype, path)
    _refuse_short(proto, count, dtype, path)

    def load() -> np.ndarray:
        from onnx import numpy_helper

        try:
            return np.asarray(numpy_helper.to_array(proto)).reshape(shape)
        except Exception as error:  # numpy raises what it likes on data that does not fit
            raise _refused(path, f"the numbers of {name} are damaged ({type(error).__name__})") from None

    return Constant(shape, dtype, load)


def _refuse_short(proto: "onnx.TensorProto", count: int, dtype: np.dtype[Any], path: Path) -> None:
    """Refuse a tensor whose sizes promise more numbers than there are, before memory is taken for them."""
    if proto.raw_data:
        held = len(proto.raw_data) * 8
        bits = max(2, dtype.itemsize * 8)
        if "int4" in str(dtype) or "float4" in str(dtype):
            bits = 4
        elif "int2" in str(dtype):
            bits = 2
        if held < count * bits or held > (count + 8) * bits:
            raise _refused(path, f"{proto.name or 'a tensor'} has {held // 8:,} bytes, and needs {count * bits // 8:,}")
        return
    fields = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data")
    held = max(len(getattr(proto, name)) for name in fields)
    least = count // 4 if "4" in str(dtype) or "2" in str(dtype).removeprefix("u") else count
    if held < min(least, count) or (count == 0 and held):
        raise _refused(path, f"{proto.name or 'a tensor'} has {held:,} numbers, and needs {count:,}")


def _external(proto: "onnx.TensorProto", shape: tuple[int, ...], dtype: np.dtype[Any], path: Path) -> Constant:
    """Return a tensor in another file. Raises `UserError` for a file outside the folder of the model."""
    said = {_text(entry.key): _text(entry.value) for entry in proto.external_data}
    file = external_file(path, said.get("location", ""))
    try:
        offset = int(said.get("offset", "0") or 0)
        length = int(said.get("length", "0") or 0)
    except ValueError:
        raise _refused(path, f"the place of {proto.name} in its file is not a whole number") from None
    needed = math.prod(shape) * dtype.itemsize
    if not re.fullmatch(r"(u?int|float|bfloat|complex|bool).*", str(dtype)) or (
        str(dtype)[-1:] == "4" and dtype.itemsize == 1
    ):
        raise _refused(path, f"{proto.name} has numbers of type {dtype} in another file, which is not read")
    if offset < 0 or (length and length < needed) or offset + needed > file.stat().st_size:
        raise _refused(path, f"{proto.name} does not lie in {file.name}, which is too short")

    def load() -> np.ndarray:
        if not needed:
            return np.zeros(shape, dtype)
        return np.memmap(file, dtype=dtype, mode="r", offset=offset, shape=shape)

    return Constant(shape, dtype, load)


def external_file(model: Path, location: str) -> Path:
    """Return the file of external data. Raises `UserError` unless it is a regular file in the folder of the model, or
    below it, that no link leads out of."""
    folder = model.resolve().parent
    parts = Path(location).parts
    if not location or "\0" in location or Path(location).is_absolute() or ".." in parts or "\\" in location:
        raise UserError(
            f"{model.name} names the file {printable(location[:200])!r} for its numbers, outside its folder."
        )
    file = folder / location
    resolved = file.resolve()
    if not resolved.is_relative_to(folder):
        raise UserError(
            f"{model.name} names the file {printable(location[:200])!r}, a link that leads out of its folder."
        )
    if not resolved.is_file():
        raise UserError(
            f"{model.name} has its numbers in {printable(location[:200])}, which is not beside it.",
            hint="Copy that file into the same folder.",
            code="not_found",
        )
    return resolved


# ---- ONNX Runtime ----


class Runner:
    """Computes values of a file with ONNX Runtime, in a child process: an operator may crash it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def compute(self, inputs: Mapping[str, np.ndarray], names: Sequence[str]) -> list[np.ndarray]:
        """Return the values of these names. Raises `RunError` where ONNX Runtime cannot run the file, crashes, or takes
        longer than `PATIENCE_S` seconds."""
        from engine.core.errors import RunError

        if not hasattr(os, "fork"):
            return self._run(inputs, names)
        output = read_from_fork(lambda: self._answer(inputs, names), PATIENCE_S)
        if output is None:
            raise RunError(f"ONNX Runtime took longer than {PATIENCE_S:.0f} s for {self.path.name}.")
        if not output:
            raise RunError(f"ONNX Runtime crashed while it ran {self.path.name}.")
        if output[:1] != ARRAYS:
            raise RunError(output[1:].decode(errors="replace"))
        with np.load(io.BytesIO(output[1:]), allow_pickle=False) as held:
            return [held[f"a{number}"] for number in range(len(names))]

    def _answer(self, inputs: Mapping[str, np.ndarray], names: Sequence[str]) -> bytes:
        """Return the arrays, or the reason why there are none, for the parent."""
        from engine.core.errors import RunError

        try:
            found = self._run(inputs, names)
        except RunError as error:
            return b"!" + str(error).encode()
        data = io.BytesIO()
        plain = {f"a{at}": one if one.dtype != object else one.astype(str) for at, one in enumerate(found)}
        np.savez(data, **plain)  # type: ignore[arg-type]  # its stubs take `allow_pickle` for one of them
        return ARRAYS + data.getvalue()

    def _run(self, inputs: Mapping[str, np.ndarray], names: Sequence[str]) -> list[np.ndarray]:
        from engine.core.errors import RunError
        from engine.exchange.onnx_check import first_line
        from engine.lowering.modules.onnx_operator import as_matrix

        try:
            session = self._open(names)
            wanted = {one.name for one in session.get_inputs()}
            found = session.run(list(names), {k: v for k, v in inputs.items() if k in wanted})
        except Exception as error:  # ONNX Runtime has a class per status and no base of its own
            raise RunError(f"ONNX Runtime cannot run {self.path.name}: {first_line(error)}") from None
        return [as_matrix(one) for one in found]

    def _open(self, names: Sequence[str]) -> "InferenceSession":
        """Open the file; with further outputs where values inside are asked for."""
        import onnx

        from engine.exchange.onnx_check import open_session

        model = onnx.load(str(self.path), load_external_data=False)
        outputs = {one.name for one in model.graph.output}
        inner = [name for name in names if name not in outputs]
        if not inner:
            return open_session(self.path)
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in inner)
        onnx.load_external_data_for_model(model, str(self.path.parent))
        return open_session(model.SerializeToString())
