"""Notes in an ONNX file on layers whose operators do not say which layer they are, so that the file can be read back.

A loop over steps, a grid of places or a Fourier transform by products of matrices is many operators. The note has the
layer, and the names of the values and weights in the file that enter and leave it; the reader puts the layer in the
place of the operators between them (`netwright.engine.exchange.importing.lifts.noted`). A note is written only where
these values are those of torch.
"""

import itertools
import json
import operator
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import fx

from netwright.engine.core.errors import RunError
from netwright.engine.core.types import TensorType
from netwright.engine.exchange.exported_network import ExportedNetwork
from netwright.engine.exchange.onnx_check import distances, read_model
from netwright.engine.exchange.onnx_layers import REAL, computed_values, seen_outputs, values_by_layer
from netwright.engine.exchange.sample_inputs import Arrays
from netwright.engine.layers.base import LayerType
from netwright.engine.lowering.module import LAYER, prefixes
from netwright.engine.network.analysis import LayerShapes, analyse, owner_path, type_at

KEY = "layers"
"""Key of the metadata."""
BATCH = "N"
LOOPS = ("projected_lstm", "projected_gru", "peephole_lstm", "lstm", "bilstm", "gru", "bigru", "rnn", "birnn")
SPECTRA = ("stft", "inverse_stft", "cwt", "inverse_cwt", "modwt")
PLACES = ("resize1d", "resize2d", "resize3d", "max_unpool2d", "fractional_max_pool3d")
SEVERAL = ("max_pool2d", "attention")
"""Layer types that need a note where they have several outputs: places beside numbers, scores beside values."""
SUMS = ("embedding_bag", "quadratic", "einsum", "grouped_attention", "fold", "unfold", "one_hot", "flip", "repeat")
POSITIONS = ("position_embedding", "sinusoidal_position", "cast")
TRANSFORMERS = ("transformer_encoder_layer", "transformer_decoder_layer", "self_attention", "multihead_attention")
"""Operators of a head that is one number wide, over any number of steps, have no layers."""
NOTED = frozenset((*LOOPS, *TRANSFORMERS, *POSITIONS, *SPECTRA, *PLACES, *SEVERAL, *SUMS))
"""Layer types that get a note: those that the operators alone do not give back in every case."""
GATES = ((0,), (1, 0, 2), (0, 2, 3, 1))
"""Gates of ONNX's recurrent operators in torch's order: of an RNN, a GRU (update, reset, hidden) and an LSTM (input,
output, forget, cell)."""
DIRECTIONS = 2
MOST_SAMPLES = 4
CLOSE = 1e-3
"""Largest difference of a value of the file from that of torch, relative to its largest number. Which value it is has
to be told here, not whether it is exact: that is compared before."""
End = dict[str, Any]


def noted_layers(exported: ExportedNetwork, data: bytes | Path, batch: Arrays) -> str:
    """Return the notes as JSON; empty where no layer needs one."""
    analysis = analyse(exported.network)
    shapes = dict(analysis.all_shapes())
    layers = _nodes_by_layer(exported.module, shapes)
    types = {path: type_at(exported.network, path) for path in layers}
    single_layers = {path: nodes for path, nodes in layers.items() if _needs_note(types[path]) and _is_single(nodes)}
    if not single_layers:
        return ""
    some = tuple(array[:MOST_SAMPLES] for array in batch)
    try:
        notes = _Notes(exported, data, some, [node for nodes in single_layers.values() for node in _ends_of(nodes)])
    except RunError:
        return ""
    keys = prefixes(exported.network, analysis)
    rows = []
    for path, nodes in single_layers.items():
        owner = owner_path(exported.network, path)
        own = replace(shapes[path], weights=shapes[owner].weights)
        row = notes.row(types[path], own, nodes, keys[owner])
        if row is not None:
            rows.append({"name": nodes[-1].meta[LAYER], **row})
    return json.dumps(rows, ensure_ascii=False) if rows else ""


def _nodes_by_layer(module: fx.GraphModule, paths: Collection[str]) -> dict[str, list[fx.Node]]:
    """Return the nodes of each layer, from what takes its inputs to what gives its outputs. A module that returns
    several tensors, of which one is picked, is no layer by itself and stands before the first node of one."""
    waiting: dict[str, list[fx.Node]] = {}
    layers: dict[str, list[fx.Node]] = {}
    for node in module.graph.nodes:
        path = node.meta.get("path")
        if path not in paths:
            continue
        if LAYER in node.meta:
            layers.setdefault(path, waiting.pop(path, [])).append(node)
        elif path not in layers:
            waiting.setdefault(path, []).append(node)
    return layers


def _needs_note(type: LayerType) -> bool:
    """Return whether the operators of a layer may not say what it is."""
    return type.key in NOTED and (type.key not in SEVERAL or len(type.output_ports()) > 1)


def _is_single(nodes: Sequence[fx.Node]) -> bool:
    """Return whether a layer is computed once, not at several times of an ODE."""
    targets = [node.target for node in nodes if node.op == "call_module"]
    return len(set(targets)) == len(targets)


def _ends_of(nodes: Sequence[fx.Node]) -> Iterator[fx.Node]:
    yield from nodes[0].all_input_nodes
    yield nodes[-1]
    yield from _picked(nodes[-1])


def _picked(last: fx.Node) -> list[fx.Node]:
    """Return the outputs of a layer that gives several, by their number."""
    getters = [user for user in last.users if user.target is operator.getitem]
    return sorted(getters, key=lambda node: int(node.args[1]))  # type: ignore[arg-type]


class _Notes:
    """Finds values of the file by their numbers."""

    def __init__(self, exported: ExportedNetwork, data: bytes | Path, batch: Arrays, ends: Sequence[fx.Node]) -> None:
        self.model = read_model(data)
        self.leaving = values_by_layer(exported.module, self.model, (*REAL, onnx.TensorProto.INT64))
        arguments = [node for node in exported.module.graph.nodes if node.op == "placeholder"]
        self.inputs = dict(zip(arguments, (one.name for one in self.model.graph.input), strict=True))
        names = [name for node in dict.fromkeys(ends) for name in self._candidates(node)]
        inner = [name for name in dict.fromkeys(names) if name not in self.inputs.values()]
        self.values = computed_values(data, inner, batch, exported.options.batch)
        self.values |= dict(zip(self.inputs.values(), batch, strict=True))
        self.seen = seen_outputs(exported.module, set(ends), batch)
        self.state = exported.module.state_dict()
        folder = "" if isinstance(data, bytes) else str(data.parent)
        self.stored = {
            one.name: numpy_helper.to_array(one, folder)
            for one in self.model.graph.initializer
            if one.data_type == onnx.TensorProto.FLOAT
        }

    def row(
        self, type: LayerType, shapes: LayerShapes, nodes: Sequence[fx.Node], attributes: Sequence[str]
    ) -> dict[str, Any] | None:
        """Return the note on a layer, None where the file lacks a value or a weight of it."""
        sources = nodes[0].all_input_nodes
        ends = [nodes[-1]] if len(shapes.outputs) == 1 else _picked(nodes[-1])
        if len(sources) != len(shapes.inputs) or len(ends) != len(shapes.outputs):
            return None
        inputs = [self._end(node, one) for node, one in zip(sources, shapes.inputs, strict=True)]
        outputs = [self._end(node, one) if node.users else None for node, one in zip(ends, shapes.outputs, strict=True)]
        weights = self._weights(shapes.weights, attributes[-1] if attributes else "")
        used = [one for node, one in zip(ends, outputs, strict=True) if node.users]
        if weights is None or None in inputs or None in used:
            return None
        row = {"type": type.key, "fields": type.write(), "inputs": inputs, "outputs": outputs}
        return {**row, "weights": weights} if weights else row

    def _candidates(self, node: fx.Node) -> list[str]:
        """Return the values of the file that may be that of a node: of its layer, or of the one before if the file has
        no operators for it."""
        while node not in self.inputs:
            if values := self.leaving.get(node.meta.get(LAYER, "")):
                return values
            if len(node.all_input_nodes) != 1:
                return []
            (node,) = node.all_input_nodes
        return [self.inputs[node]]

    def _end(self, node: fx.Node, type: TensorType) -> End | None:
        """Return the value that a node has in the file and its dimensions there: transpositions may be left out.
        Of several with equal numbers it is the one that is read last: others lie inside the layer."""
        if node not in self.seen:
            return None
        ours = self.seen[node]
        names = (BATCH, *type.axes)
        for value in reversed(self._candidates(node)):
            theirs = self.values[value]
            if ours.ndim != len(names) or theirs.ndim != ours.ndim:
                continue
            for order in itertools.permutations(range(ours.ndim)):
                turned = ours.transpose(order)
                if turned.shape == theirs.shape and _is_close(turned, theirs):
                    return {"value": value, "dims": [names[at] for at in order], "kind": type.kind}
        return None

    def _weights(self, parameters: Mapping[str, Any], attribute: str) -> dict[str, Any] | None:
        """Return, by the name of each weight, the tensors of the file that it is: itself, transposed, in pieces, or a
        part of the tensor of a recurrent operator."""
        notes = {}
        for name in parameters:
            tensor = self.state.get(f"{attribute}.{name}")
            if tensor is None or (stored := self._stored(tensor)) is None:
                return None
            notes[name] = stored
        return notes

    def _stored(self, tensor: torch.Tensor) -> dict[str, Any] | None:
        array = tensor.detach().numpy()
        for is_transposed in (False, True) if array.ndim == 2 else (False,):
            target = array.T if is_transposed else array
            for name, one in self.stored.items():
                if one.shape == target.shape and _is_equal(one, target):
                    return {"tensors": [name], "transposed": is_transposed}
        return self._pieces(array) or self._part(array)

    def _pieces(self, array: np.ndarray) -> dict[str, Any] | None:
        """Return the tensors whose rows one after another are the array."""
        pieces: list[str] = []
        start = 0
        while start < len(array):
            names = [name for name, one in self.stored.items() if _begins(array[start:], one)]
            if not names:
                return None
            pieces.append(max(names, key=lambda name: len(self.stored[name])))
            start += len(self.stored[pieces[-1]])
        return {"tensors": pieces, "transposed": False} if pieces else None

    def _part(self, array: np.ndarray) -> dict[str, Any] | None:
        """Return the tensor of a recurrent operator of which the array is one direction, with its gates in another
        order; both biases are in one tensor there."""
        rows = len(array)
        for name, one in self.stored.items():
            is_like = one.ndim == array.ndim + 1 and one.shape[2:] == array.shape[1:] and len(one) <= DIRECTIONS
            if not is_like or not rows or one.shape[1] % rows:
                continue
            for direction, start in itertools.product(range(len(one)), range(0, one.shape[1], rows)):
                part = one[direction, start : start + rows]
                for gates in GATES:
                    if not rows % len(gates) and np.array_equal(with_gates(part, gates), array):
                        place = {"direction": direction, "start": start, "gates": gates}
                        return {"tensors": [name], "transposed": False, **place}
        return None


def with_gates(rows: np.ndarray, gates: Sequence[int]) -> np.ndarray:
    """Return rows of weights with the gates that they are made of in another order."""
    parts = np.split(rows, len(gates))
    return np.concatenate([parts[gate] for gate in gates])


def _is_equal(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether two arrays of one shape are equal; the first numbers tell most weights apart in less time."""
    return np.array_equal(one.flat[:64], other.flat[:64]) and np.array_equal(one, other)


def _begins(array: np.ndarray, piece: np.ndarray) -> bool:
    is_like = piece.ndim == array.ndim and piece.shape[1:] == array.shape[1:]
    return is_like and 0 < len(piece) <= len(array) and np.array_equal(array[: len(piece)], piece)


def _is_close(one: np.ndarray, other: np.ndarray) -> bool:
    size = float(np.abs(one[np.isfinite(one)]).max(initial=0.0))
    return bool(distances(one, other.astype(np.float64)).max(initial=0.0) <= CLOSE * size)
