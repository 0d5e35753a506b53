"""The ONNX graph of a module: made by torch's exporter, its nodes named after layers."""

import ast
import contextlib
import copy
import functools
import itertools
import logging
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx
import onnx_ir
import torch
from torch import fx

from netwright.engine.core.errors import RunError
from netwright.engine.core.text import first_line
from netwright.engine.core.types import Symbol
from netwright.engine.core.version import VERSION
from netwright.engine.exchange.foreign_operators import restore_operators
from netwright.engine.exchange.onnx_forms import MARK, exportable
from netwright.engine.exchange.onnx_opset import LOWEST_EXPORTED, with_opset
from netwright.engine.exchange.sample_inputs import Arrays
from netwright.engine.layers.custom_layers import UserCode
from netwright.engine.lowering.plan import unique
from netwright.engine.network.network import Layer, Network
from netwright.engine.project.export_options import OnnxOptions

CHATTY = ("torch.onnx", "torch.export", "torch._dynamo", "onnxscript", "onnx_ir")
DEFAULT = OnnxOptions()
TABLE_IS_KEPT = "_netwright_keeps_it"
"""Attribute that marks a function of torch's exporter as changed here."""


def output_names(network: Network) -> list[str]:
    """Return one name per output: that of its layer, followed by the port if the layer has several outputs."""
    input_names = {layer.name for layer in network.inputs}
    names = []
    for port in network.output_ports:
        layer = network.layers[port.layer]
        name = f"{layer.name}_{port.name}" if len(layer.type.output_ports()) > 1 else layer.name
        names.append(unique(f"{name}_out" if name in input_names else name, input_names))
        input_names.add(names[-1])
    return names


def content(
    module: fx.GraphModule,
    network: Network,
    batch: Arrays,
    described: Mapping[str, str],
    options: OnnxOptions = DEFAULT,
) -> bytes:
    """Return the whole file, checked, with the metadata `described`.

    Raises `RunError` if the exporter or the ONNX checker fails, and `UserError` where the opset lacks a layer's form.
    """
    model = program(module, network, batch, options)
    model.metadata_props.update(described)
    try:
        written = onnx_ir.to_proto(model)
        if options.opset < LOWEST_EXPORTED:
            written = with_opset(written, options.opset)
        data: bytes = written.SerializeToString()
        onnx.checker.check_model(data, full_check=True)
    except onnx.checker.ValidationError as error:
        raise _failed(error, network) from error
    return data


def program(module: fx.GraphModule, network: Network, batch: Arrays, options: OnnxOptions = DEFAULT) -> onnx_ir.Model:
    """Return the graph with its weights, in the opset of the options or the lowest that torch's exporter knows.

    Raises `RunError` if the exporter fails.
    """
    opset = max(options.opset, LOWEST_EXPORTED)
    inputs = [layer.name for layer in network.inputs]
    is_only = sum(not layer.type.output().is_known for layer in network.inputs) == 1
    dynamic = tuple(_dynamic_axes(layer, is_only, is_fixed=bool(options.batch)) for layer in network.inputs)
    if options.batch:
        batch = tuple(np.resize(array, (options.batch, *array.shape[1:])) for array in batch)
    keep_small_numbers()
    keep_operator_table()
    try:
        with quiet():
            exported = torch.onnx.export(
                exportable(module),
                tuple(torch.from_numpy(array) for array in batch),
                dynamo=True,
                external_data=False,
                opset_version=opset,
                input_names=inputs,
                output_names=output_names(network),
                dynamic_shapes=dynamic,
                verbose=False,
            )
    except torch.onnx.OnnxExporterError as error:
        raise _failed(error, network) from error
    if exported is None:
        raise RunError("torch returned no ONNX program.")
    restore_operators(exported.model, module, opset)
    keep_layer_names(exported.model)
    forget_origin(exported.model)
    exported.model.producer_name, exported.model.producer_version = "netwright", VERSION
    return exported.model


def keep_small_numbers() -> None:
    """Let the exporter's optimiser leave out x + 0 and x · 1 only where the numbers are exactly these.

    It takes all below 1e-8 for 0 (seen in onnxscript 0.7), such as the 1e-12 before a logarithm of the power of a
    spectrum, which gave -inf for silence. The tolerance has no public setting; a version without these names exports
    as it does by itself, and the check of the file finds what differs.
    """
    with contextlib.suppress(ImportError, AttributeError):
        from onnxscript.rewriter._pattern_ir import Constant
        from onnxscript.rewriter.rules.common import _no_op

        for rule in _no_op.rules.rules:
            for node in rule._target_pattern._nodes:
                for value in node.inputs:
                    if isinstance(value, Constant):
                        value._rel_tol = value._abs_tol = 0.0


def keep_operator_table() -> None:
    """Let the exporter build its table of operators once per process and opset, not once per export.

    It reads the source of 500 functions for it: 0.5 of the 0.8 s of processor time that a small network takes (torch
    2.13, onnxscript 0.7). Each export gets a copy, because operators can be added to a table. The table is not public;
    a version without these names exports as it does by itself.
    """
    look_up_operators_once()
    with contextlib.suppress(ImportError, AttributeError):
        from torch.onnx._internal.exporter._registration import ONNXRegistry

        build = ONNXRegistry.from_torchlib
        if hasattr(build, TABLE_IS_KEPT):
            return
        cached = functools.cache(build)

        def copied(*args: Any, **kwargs: Any) -> ONNXRegistry:
            table = copy.copy(cached(*args, **kwargs))
            table.functions = {target: list(entries) for target, entries in table.functions.items()}
            return table

        setattr(copied, TABLE_IS_KEPT, True)
        ONNXRegistry.from_torchlib = staticmethod(copied)  # type: ignore[method-assign]


def look_up_operators_once() -> None:
    """Let the exporter look up the composite operators of ATen only when there are new ones.

    It asks `torch.ops` for each of them, for every library that is registered and twice per export: a sixth of the
    processor time of a small network (torch 2.13). Not public, as the table above.
    """
    with contextlib.suppress(ImportError, AttributeError):
        from torch._export import utils

        look_up = utils._materialize_cpp_cia_ops
        if hasattr(look_up, TABLE_IS_KEPT):
            return
        known: list[str] = []

        def look_up_new() -> None:
            names = torch._C._dispatch_get_registrations_for_dispatch_key("CompositeImplicitAutograd")
            if names != known:
                look_up()
                known[:] = names

        setattr(look_up_new, TABLE_IS_KEPT, True)
        utils._materialize_cpp_cia_ops = look_up_new


def _failed(error: Exception, network: Network) -> RunError:
    return RunError(f"The network cannot be exported to ONNX: {_cause(error)}{_own_code(network)}")


def _own_code(network: Network) -> str:
    """Return a hint that names the layers of user code, or ''; the bundled layers are tested with the exporter."""
    names = [layer.name for layer in network.layers.values() if isinstance(layer.effective_type, UserCode)]
    if not names:
        return ""
    return f". Look first at the project's own code ({', '.join(names)}). Export to PyTorch takes any operation."


def keep_layer_names(model: onnx_ir.Model) -> None:
    """Name nodes, and the values between them, after the layers that they compute: `stage/2/conv/Conv`.

    The exporter notes the path of modules that each node comes from; its own names count nodes. A convolution that a
    normalisation was folded into is named after its weights, which the exporter notes as the normalisation's.
    """
    others = {value.name for value in (*model.graph.inputs, *model.graph.outputs, *model.graph.initializers.values())}
    for node in model.graph:
        scopes = ast.literal_eval(node.metadata_props.get("pkg.torch.onnx.name_scopes", "[]"))
        path = [scope for scope in scopes[:-1] if scope and not scope.startswith("_")]
        if not path:
            continue
        module = path[-1].partition(MARK)[0]
        if node.op_type in ("Conv", "ConvTranspose") and (weights := node.inputs[1]) and weights.name:
            module = weights.name.removesuffix(".weight") if weights.name.endswith(".weight") else module
        layer = module.replace(".", "/")
        node.name = _numbered(f"{layer}/{node.op_type}", others)
        for value in node.outputs:
            if not value.is_graph_output():
                value.name = _numbered(f"{node.name}_output", others)


def _numbered(name: str, value_names: set[str | None]) -> str:
    """Return the name, with a number if it is taken, and add it to the names taken."""
    numbered = (f"{name}_{number}" for number in itertools.count(2))
    free = next(text for text in itertools.chain((name,), numbered) if text not in value_names)
    value_names.add(free)
    return free


def forget_origin(model: onnx_ir.Model) -> None:
    """Remove the metadata that torch wrote while tracing: it names files and folders of this machine."""
    model.metadata_props.clear()
    for graph in (model.graph, *(function.graph for function in model.functions.values())):
        graph.metadata_props.clear()
        values = [*graph.inputs, *graph.initializers.values()]
        for node in onnx_ir.traversal.RecursiveGraphIterator(graph):
            node.metadata_props.clear()
            values += node.outputs
        for value in values:
            value.metadata_props.clear()


def _dynamic_axes(layer: Layer, is_only: bool, *, is_fixed: bool) -> dict[int, str]:
    """Return the names of the dynamic axes by dimension: the batch unless it `is_fixed`, and every symbolic size,
    which is named after its input unless that `is_only` one of its kind: inputs may differ in length."""
    type = layer.type.output()
    prefix, axis_names = "" if is_only else f"{layer.name}_", {"T": "time"}
    symbols = {axis: axis_names.get(axis, axis.lower()) for axis in type.axes if isinstance(type[axis], Symbol)}
    return {
        **({} if is_fixed else {0: "batch"}),
        **{type.dim(axis): f"{prefix}{name}" for axis, name in symbols.items()},
    }


def _cause(error: BaseException) -> str:
    """Return the first line of the root cause; the exporter wraps it in advice to its own developers."""
    while error.__cause__ is not None:
        error = error.__cause__
    return first_line(error)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppress the warnings and log lines of the exporter, which would mix with JSON on standard output."""
    loggers = [logging.getLogger(name) for name in CHATTY]
    before = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
