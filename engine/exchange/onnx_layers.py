"""Compare an ONNX file with its torch module layer by layer, to find the first layer that computes other numbers.

Nodes in the file are named after layers (`stage/2/conv/Conv`), so that the value which leaves the nodes of a layer is
found there. A temporary copy of the file has these values as further outputs.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from torch import fx

from netwright.engine.core.errors import RunError
from netwright.engine.exchange.onnx_check import (
    ERRORS_OF_TORCH,
    VARYING,
    accepted_difference,
    changed_copy,
    distances,
    per_channel,
    read_model,
    run_session,
    spread_and_size,
)
from netwright.engine.exchange.onnx_runner import PATIENCE_S, arrays_from_child
from netwright.engine.exchange.sample_inputs import Arrays
from netwright.engine.lowering.module import LAYER
from netwright.engine.lowering.modules.onnx_runtime import open_session

MOST_SAMPLES = 8
"""Number of samples that layers are compared on: the outputs of all layers are in memory at once."""
LEAST_SHARE = 0.1
"""A channel counts as varying by at least this share of the mean spread of its layer's channels."""
NOISE_SAMPLES = 2
"""Number of samples that the rounding errors of torch are measured on, in float64, which is slow."""
REAL = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE)


@dataclass(frozen=True)
class LayerValue:
    """A layer and the value in the file that holds its output. `absorbed` are layers after it without nodes of their
    own, such as a normalisation that was folded into a convolution: the value is the output of the last of them.

    The value is that of one of `nodes`, not always the last: two transpositions in series are left out of the file.
    """

    layer: str
    value: str
    nodes: tuple[fx.Node, ...]
    absorbed: tuple[str, ...] = ()


@dataclass(frozen=True)
class LayerDifference:
    """Largest difference of a layer's output in the file from that in torch; `relative` is that of the worst channel,
    divided by its spread over the samples (by its largest absolute value where it does not vary). `layer` has the path
    of names; `is_first` marks the first layer that differs by more than is accepted."""

    layer: str
    value: str
    difference: float
    relative: float
    agrees: bool
    is_first: bool = False
    absorbed: tuple[str, ...] = ()

    def write(self) -> dict[str, Any]:
        """Return the row as JSON."""
        return {**asdict(self), "absorbed": list(self.absorbed)}


def layer_values(module: fx.GraphModule, model: onnx.ModelProto) -> list[LayerValue]:
    """Return the layers whose output can be found in the file, in the order of computation."""
    parts = _parts(module)
    leaving = values_by_layer(module, model)
    values: dict[fx.Node, LayerValue] = {}
    for layer, nodes in parts.items():
        if len(leaving.get(layer, [])) == 1:
            values[nodes[-1]] = LayerValue(layer, leaving[layer][0], tuple(nodes))
            continue
        before = nodes[0].all_input_nodes[0] if len(nodes[0].all_input_nodes) == 1 else None
        if layer not in leaving and before in values and len(before.users) == 1:
            earlier = values.pop(before)
            values[nodes[-1]] = replace(earlier, nodes=tuple(nodes), absorbed=(*earlier.absorbed, layer))
    return list(values.values())


def values_by_layer(
    module: fx.GraphModule, model: onnx.ModelProto, formats: Sequence[int] = REAL
) -> dict[str, list[str]]:
    """Return, by the path of names of each layer, the values of these number formats that its nodes hand to those of
    other layers or to the outputs of the file."""
    parts = _parts(module)
    owners = {_path(node): layer for layer, nodes in parts.items() for node in nodes if _path(node)}
    return _leaving(model, {**owners, **{layer: layer for layer in parts}}, formats)


def _parts(module: fx.GraphModule) -> dict[str, list[fx.Node]]:
    """Return the nodes of the module by layer."""
    parts: dict[str, list[fx.Node]] = {}
    for node in module.graph.nodes:
        if LAYER in node.meta:
            parts.setdefault(node.meta[LAYER], []).append(node)
    return parts


def _path(node: fx.Node) -> str:
    return str(node.target).replace(".", "/") if node.op == "call_module" else ""


def _leaving(model: onnx.ModelProto, owners: Mapping[str, str], formats: Sequence[int]) -> dict[str, list[str]]:
    """Return, by layer, the values that its nodes hand to those of other layers or to the outputs."""
    maker: dict[str, str] = {}
    for node in model.graph.node:
        parts = node.name.split("/")[:-1]
        paths = ("/".join(parts[:count]) for count in range(len(parts), 0, -1))
        owner = next((owners[path] for path in paths if path in owners), "")
        maker |= dict.fromkeys(node.output, owner)
    inferred = onnx.shape_inference.infer_shapes(model).graph
    kinds = {value.name: value.type.tensor_type.elem_type for value in (*inferred.value_info, *inferred.output)}
    readers = [(name, maker.get(node.output[0], "")) for node in model.graph.node for name in node.input]
    readers += [(value.name, "") for value in model.graph.output]
    leaving: dict[str, list[str]] = {}
    for name, reader in readers:
        layer = maker.get(name, "")
        values = leaving.setdefault(layer, []) if layer else []
        if reader != layer and name not in values and kinds.get(name, formats[0]) in formats:
            values.append(name)
    return leaving


def differences(
    module: fx.GraphModule, data: bytes | Path, batch: Arrays, values: Sequence[LayerValue], size: int = 0
) -> list[LayerDifference]:
    """Return one row per layer that is found in the file. Raises `RunError` if ONNX Runtime cannot run it."""
    model = read_model(data)
    value_names = {name for node in model.graph.node for name in node.output}
    values = [value for value in values if value.value in value_names]
    received = computed_values(data, [value.value for value in values], batch, size)
    nodes = {node for value in values for node in value.nodes}
    expected = seen_outputs(module, nodes, batch)
    rows: list[LayerDifference] = []
    precise: dict[fx.Node, np.ndarray] | None = None
    for value in values:
        other = received[value.value].astype(np.float64)
        ours = [node for node in value.nodes if node in expected and expected[node].shape == other.shape]
        if not ours:
            continue
        node, row = min(((one, _row(value, expected[one], other)) for one in ours), key=lambda pair: pair[1].relative)
        if not row.agrees:
            precise = precise if precise is not None else _precise(module, nodes, batch)
            exact = precise.get(node, expected[node][:0])
            row = _row(value, expected[node], other, distances(expected[node][: len(exact)], exact))
        rows.append(replace(row, is_first=not row.agrees and all(before.agrees for before in rows)))
    return rows


def computed_values(data: bytes | Path, names: Sequence[str], batch: Arrays, size: int = 0) -> dict[str, np.ndarray]:
    """Return values inside a file, by name, from a child process: with these as outputs ONNX Runtime may crash where
    the file alone does not. Raises `RunError` if it cannot run the file."""
    if not names:
        return {}  # ONNX Runtime would give the outputs
    model = read_model(data)
    outputs = {value.name for value in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in dict.fromkeys(names) if name not in outputs)
    copied = changed_copy(model, data)

    def work() -> list[np.ndarray]:
        try:
            return run_session(open_session(copied), batch, size, list(names))
        except Exception as error:  # ONNX Runtime has a class per status and no base of its own
            raise RunError(f"The file cannot be compared layer by layer: {error}") from error

    received = arrays_from_child(work, "it compared the file layer by layer", PATIENCE_S)
    return dict(zip(names, received, strict=True))


def _row(
    value: LayerValue, expected: np.ndarray, received: np.ndarray, rounding: np.ndarray | None = None
) -> LayerDifference:
    """Return the row of one layer; `rounding` are the rounding errors of torch, where they are known."""
    dim = {2: 1, 3: 2, 4: 1, 5: 1}.get(expected.ndim)
    apart = per_channel(distances(expected, received), dim)
    spread, size = spread_and_size(expected, dim)
    # An activation cuts off nearly all of some channels, whose own spread tells nothing.
    unit = np.maximum(spread, LEAST_SHARE * spread.mean())
    unit = np.where(unit > VARYING * size, unit, size.max(initial=0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(apart > 0.0, apart / unit, 0.0)
    accepted = accepted_difference(unit, size) + ERRORS_OF_TORCH * (
        rounding.max(initial=0.0) if rounding is not None else 0.0
    )
    agrees = bool((apart <= accepted).all())
    largest, worst = float(apart.max(initial=0.0)), float(relative.max(initial=0.0))
    return LayerDifference(value.layer, value.value, largest, worst, agrees, absorbed=value.absorbed)


def seen_outputs(module: fx.GraphModule, nodes: set[fx.Node], batch: Arrays) -> dict[fx.Node, np.ndarray]:
    """Return the outputs of some nodes for a batch, as float64."""
    watch = _Watch(module, nodes)
    with torch.no_grad():
        watch.run(*(torch.from_numpy(array) for array in batch))
    return watch.seen


def _precise(module: fx.GraphModule, nodes: set[fx.Node], batch: Arrays) -> dict[fx.Node, np.ndarray]:
    """Return the outputs of some nodes computed in float64; none where the network cannot compute them."""
    copied = copy.deepcopy(module).double()
    places = {ours.name: ours for ours in nodes}
    targets = {node for node in copied.graph.nodes if node.name in places}
    try:
        seen = seen_outputs(copied, targets, tuple(array[:NOISE_SAMPLES].astype(np.float64) for array in batch))
    except Exception:  # user code may make float32 tensors, which do not mix with float64
        return {}
    return {places[node.name]: array for node, array in seen.items()}


class _Watch(fx.Interpreter):
    """Runs the module and keeps the outputs of some nodes."""

    def __init__(self, module: fx.GraphModule, nodes: set[fx.Node]) -> None:
        super().__init__(module)
        self.seen: dict[fx.Node, np.ndarray] = {}
        self._nodes = nodes

    def run_node(self, node: fx.Node) -> Any:
        result = super().run_node(node)
        if node in self._nodes and isinstance(result, torch.Tensor):
            self.seen[node] = result.numpy().astype(np.float64)
        return result


def layer_table(
    module: fx.GraphModule, data: bytes | Path, batch: Arrays, sample: int = 0, size: int = 0
) -> list[LayerDifference]:
    """Compare the file layer by layer on up to `MOST_SAMPLES` samples of the batch, `sample` among them. `size` is its
    fixed batch size, if it has one."""
    total = len(batch[0])
    places = sorted({sample, *np.linspace(0, total - 1, min(total, MOST_SAMPLES), dtype=int).tolist()})
    some = tuple(np.ascontiguousarray(array[places]) for array in batch)
    return differences(module, data, some, layer_values(module, read_model(data)), size)


def first_bad(rows: Sequence[LayerDifference]) -> str:
    """Return a sentence on the first layer that computes other numbers; empty if none does."""
    row = next((row for row in rows if row.is_first), None)
    if row is None:
        return ""
    after = f" (with {' and '.join(row.absorbed)}, which the file has within it)" if row.absorbed else ""
    return f"The first layer that differs is '{row.layer}'{after}, by {row.relative:.2g} times its spread."
