"""Convert an ONNX file to half precision, or quantise it to 8-bit integers, with the tools of ONNX Runtime."""

import contextlib
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnx_ir

from engine.core.errors import RunError
from engine.data.sample_inputs import Arrays
from engine.exchange.onnx_check import run_session
from engine.lowering.modules.onnx_runtime import onnx_runtime, open_session
from engine.project.export_options import OnnxOptions

DYNAMIC = ["MatMul", "Gemm", "LSTM", "Gather"]
"""Operators whose weights become 8-bit integers with activations measured at run time. ONNX Runtime has no convolution
of signed weights for it on the CPU."""


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
    converted = onnx_ir.from_proto(float16.convert_float_to_float16(model, keep_io_types=keeps))
    converted.graph.sort()  # conversions of inputs are appended at the end
    content: bytes = onnx_ir.to_proto(converted).SerializeToString()
    return content


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
        tools.quantize_dynamic(
            model, to, op_types_to_quantize=DYNAMIC, per_channel=True, weight_type=tools.QuantType.QInt8
        )
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
            chosen = np.arange(start, start + size) % total
            return {name: array[chosen] for name, array in zip(names, calibration, strict=True)}

    with tempfile.TemporaryDirectory(prefix="netwright-") as folder:
        source, to = Path(folder) / "float.onnx", Path(folder) / "quantised.onnx"
        source.write_bytes(data)
        tools.quantize_static(
            source,
            to,
            Samples(),
            quant_format=tools.QuantFormat.QDQ,
            per_channel=True,
            activation_type=tools.QuantType.QUInt8,
            weight_type=tools.QuantType.QInt8,
        )
        return to.read_bytes()


def refuse_overflow(module_outputs: list[np.ndarray], data: bytes, batch: Arrays, options: OnnxOptions) -> float:
    """Run the converted file; return the largest difference from torch's outputs, relative to the largest of each.
    Raises `RunError` where it cannot be run, or gives infinities or NaN where torch gives numbers."""
    try:
        found = run_session(open_session(data), batch, options.batch)
    except Exception as error:  # ONNX Runtime has a class per status and no base of its own
        reason = str(error).strip().partition("\n")[0]
        raise RunError(
            f"ONNX Runtime cannot run the network in {options.precision}: {reason} The file was not kept.",
            hint="Export it in float32.",
        ) from error
    largest = 0.0
    for one, other in zip(module_outputs, found, strict=True):
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
