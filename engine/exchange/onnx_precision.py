"""Convert an ONNX file to half precision, or quantise it to 8-bit integers, with the tools of ONNX Runtime."""

import contextlib
import logging
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnx_ir

from netwright.engine.core.errors import RunError
from netwright.engine.exchange.onnx_check import run_session
from netwright.engine.exchange.onnx_opset import outer_names
from netwright.engine.exchange.sample_inputs import Arrays
from netwright.engine.lowering.modules.onnx_runtime import onnx_runtime, open_session
from netwright.engine.project.export_options import OnnxOptions

DYNAMIC = ["MatMul", "Gemm", "LSTM", "Gather"]
"""Operators whose weights become 8-bit integers with activations measured at run time. ONNX Runtime has no convolution
of signed weights for it on the CPU."""
WEIGHTS = {"per_channel": True, "reduce_range": True}
"""A scale per output channel, and 7 of the 8 bits: on x86-64 processors without VNNI, sums of two products of 8 bits
saturate. Source: https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html"""

AFFINE = ("Sub", "Mul", "Add", "Div", "BatchNormalization")
PASSING = ("Cast", "Identity", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze")


def reduced(data: bytes, options: OnnxOptions, calibration: Arrays | None) -> bytes:
    """Return the file in the precision of the options. `calibration` are samples for int8-static, as the file takes
    them. Raises `RunError` if the conversion fails."""
    try:
        with _silent():
            if options.precision == "float16":
                data = _half(data, options)
            elif options.precision == "int8-dynamic":
                data = _dynamic(data)
            elif calibration is not None:
                data = _static(data, calibration, options)
            onnx.checker.check_model(data)
        return data
    except Exception as error:  # the tools raise whatever their parts do
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise RunError(
            f"The network cannot be converted to {options.precision}: {reason}", hint="Export it in float32."
        ) from error


def _half(data: bytes, options: OnnxOptions) -> bytes:
    float16 = onnx_runtime("transformers.float16")
    model = onnx.load_from_string(data)
    # Indices stay float32: half precision has no whole numbers above 2,048.
    indices = [value.name for value in model.graph.input if _is_index(model, value.name)]
    keeps = True if options.float32_inputs else indices
    outside = _take_outside(model) if options.float32_inputs else onnx.GraphProto()
    half = float16.convert_float_to_float16(model, keep_io_types=keeps)
    if outside.node:
        del half.graph.value_info[:]  # it has the number formats of before
        for name in ("node", "initializer"):
            getattr(half.graph, name).extend(getattr(outside, name))
        for name in ("input", "output"):
            del getattr(half.graph, name)[:]
            getattr(half.graph, name).extend(getattr(outside, name))
    converted = onnx_ir.from_proto(half)
    converted.graph.sort()  # conversions of inputs are appended at the end
    content: bytes = onnx_ir.to_proto(converted).SerializeToString()
    return content


def _take_outside(model: onnx.ModelProto) -> onnx.GraphProto:
    """Take the nodes that stay in float32 from a model, in place. Return them with their numbers, and with the inputs
    and outputs that the model had."""
    graph, names = model.graph, set(normalizing_nodes(model.graph))
    types = {one.name: one for one in (*onnx.shape_inference.infer_shapes(model).graph.value_info, *graph.output)}
    nodes = [node for node in graph.node if node.name in names]
    inner = [node for node in graph.node if node.name not in names]
    if not inner:
        return onnx.GraphProto()
    constants = {one.name: one for one in graph.initializer}
    outside = onnx.GraphProto(node=nodes, input=graph.input, output=graph.output)
    for node in outside.node:
        for at, name in enumerate(node.input):
            if name in constants:
                node.input[at] = f"{node.name}/{name}"
                outside.initializer.add().CopyFrom(constants[name])
                outside.initializer[-1].name = node.input[at]
    (outer_inputs, outer_results), (inner_inputs, inner_results) = _ends(nodes), _ends(inner)
    inputs = [one for one in graph.input if one.name in inner_inputs]
    inputs += [types[name] for name in sorted(outer_results & inner_inputs)]
    outputs = [one for one in graph.output if one.name in inner_results]
    outputs += [types[name] for name in sorted(outer_inputs & inner_results - {one.name for one in outputs})]
    weights = [constants[name] for name in constants if name in inner_inputs]
    for name, values in {"node": inner, "input": inputs, "output": outputs, "initializer": weights}.items():
        del getattr(graph, name)[:]
        getattr(graph, name).extend(values)
    return outside


def _ends(nodes: Sequence[onnx.NodeProto]) -> tuple[set[str], set[str]]:
    """Return the values that nodes take, also in their subgraphs, and those that they give."""
    subgraphs = [one.g for node in nodes for one in node.attribute if one.HasField("g")]
    inputs = {name for node in nodes for name in node.input}.union(*map(outer_names, subgraphs))
    return inputs, {name for node in nodes for name in node.output}


def _is_index(model: onnx.ModelProto, name: str) -> bool:
    """Return whether an input goes into a conversion to whole numbers."""
    users = [node for node in model.graph.node if name in node.input]
    whole = (onnx.TensorProto.INT64, onnx.TensorProto.INT32)
    return any(node.op_type == "Cast" and node.attribute[0].i in whole for node in users)


def _dynamic(data: bytes) -> bytes:
    tools = onnx_runtime("quantization")
    model = onnx.load_from_string(data)
    del model.graph.value_info[:]  # it has the sizes of weights that are transposed here
    with tempfile.TemporaryDirectory(prefix="netwright-") as folder:
        to = Path(folder) / "quantised.onnx"
        tools.quantize_dynamic(model, to, op_types_to_quantize=DYNAMIC, weight_type=tools.QuantType.QInt8, **WEIGHTS)
        return to.read_bytes()


def _static(data: bytes, calibration: Arrays, options: OnnxOptions) -> bytes:
    tools = onnx_runtime("quantization")
    names = [value.name for value in open_session(data).get_inputs()]
    size = options.batch or 1
    total = len(calibration[0])

    class Samples(tools.CalibrationDataReader):  # type: ignore[misc,name-defined]  # of a library without types
        """Gives the samples batch by batch."""

        def __init__(self) -> None:
            self._starts = iter(range(0, total, size))

        def get_next(self) -> dict[str, np.ndarray] | None:
            start = next(self._starts, None)
            if start is None:
                return None
            places = np.arange(start, start + size) % total
            return {name: array[places] for name, array in zip(names, calibration, strict=True)}

    nodes_in_float = normalizing_nodes(onnx.load_from_string(data).graph)
    with tempfile.TemporaryDirectory(prefix="netwright-") as folder:
        source, to = Path(folder) / "float.onnx", Path(folder) / "quantised.onnx"
        source.write_bytes(data)
        tools.quantize_static(
            source,
            to,
            Samples(),
            quant_format=tools.QuantFormat.QDQ,
            activation_type=tools.QuantType.QUInt8,
            weight_type=tools.QuantType.QInt8,
            **WEIGHTS,
            nodes_to_exclude=nodes_in_float,
        )
        return to.read_bytes()


def normalizing_nodes(graph: onnx.GraphProto) -> list[str]:
    """Return the names of the nodes that normalise an input, and of those that give an output its units back.

    They stay in float32: 8 bits for the numbers of all columns of a table together leave nothing of a column of small
    ones, and half precision has no years of which the parts count, and no prices above 65,504.
    """
    constants = {one.name for one in graph.initializer}
    users: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    makers = {name: node for node in graph.node for name in node.output}
    nodes: dict[str, None] = {}
    ends = [one.name for one in graph.input]
    while ends:
        for node in users.get(ends.pop(), []):
            if _normalizes(node, constants) and node.name not in nodes:
                nodes[node.name] = None
                ends += node.output
    ends = [one.name for one in graph.output]
    while ends:
        node = makers.get(ends.pop())
        if node is not None and _normalizes(node, constants) and node.name not in nodes:
            nodes[node.name] = None
            ends += node.input
    return list(nodes)


def _normalizes(node: onnx.NodeProto, constants: Collection[str]) -> bool:
    """Return whether a node shifts, scales or passes on one tensor."""
    is_scaling = node.op_type in AFFINE and sum(name not in constants for name in node.input) == 1
    return is_scaling or node.op_type in PASSING


def refuse_overflow(module_outputs: list[np.ndarray], data: bytes, batch: Arrays, options: OnnxOptions) -> float:
    """Run the converted file; return the largest difference from torch's outputs, relative to the largest of each.
    Raises `RunError` where it cannot be run, or gives infinities or NaN where torch gives numbers."""
    try:
        outputs = run_session(open_session(data), batch, options.batch)
    except Exception as error:  # ONNX Runtime has a class per status and no base of its own
        reason = str(error).strip().partition("\n")[0]
        raise RunError(
            f"ONNX Runtime cannot run the network in {options.precision}: {reason} The file was not kept.",
            hint="Export it in float32.",
        ) from error
    largest = 0.0
    for one, other in zip(module_outputs, outputs, strict=True):
        received = other.astype(np.float64)
        if (np.isfinite(one) & ~np.isfinite(received)).any():
            raise RunError(
                f"The network gives infinities in {options.precision}, whose numbers end at 65,504. The file was not "
                "kept.",
                hint="Export it in float32.",
            )
        apart = np.abs(one - received)[np.isfinite(one)]
        size = np.abs(one[np.isfinite(one)]).max(initial=0.0)
        largest = max(largest, float(apart.max(initial=0.0) / size) if size else 0.0)
    return largest


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Keep the tools from logging advice: output may be JSON."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
