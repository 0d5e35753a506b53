"""Mark the layers of torch in a program of `torch.export`: the operators of each become one node of our own domain.

torch's exporter to ONNX writes a recurrent layer out step by step, or its directions and stacked layers apart, and an
attention as a dozen changes of shape. The program still says what they were: `aten.lstm`, and the module that each
operator was part of. The nodes made here pass through the exporter as they are (`torch.onnx.ops`), with the names of
the modules around them; `lifts/torch_layers.py` makes layers of them. What is not understood is left as it is.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import fx
from torch.onnx.ops import _symbolic_impl

from netwright.engine.exchange.importing.graph import OWN_DOMAIN

ATEN = torch.ops.aten
FxNode = Any
"""A `torch.fx.Node`: its arguments are of a dozen types, which no checker can tell apart."""
FLOAT = 1
"""ONNX's number of the type float32."""
PROBED = 7
"""A size that is only known when the network runs, where a mask is computed to see what it is."""
RECURRENT = {
    ATEN.lstm.input: "nn.LSTM",
    ATEN.gru.input: "nn.GRU",
    ATEN.rnn_tanh.input: "nn.RNN",
    ATEN.rnn_relu.input: "nn.RNN",
}
SPLITS = (ATEN.chunk.default, ATEN.split.Tensor, ATEN.split_with_sizes.default, ATEN.split.sizes)


class NotMarked(Exception):
    """What stands in the program is not quite the layer: it is left as it is."""


class Marker:
    """Replaces parts of the graph of a program. `made` has, for each node that it made, its operator and attributes."""

    def __init__(self, program: torch.export.ExportedProgram) -> None:
        self.graph = program.graph
        self.made: dict[FxNode, tuple[str, dict[str, Any]]] = {}
        signature = program.graph_signature
        self.names: dict[str, str] = {
            **signature.inputs_to_parameters,
            **signature.inputs_to_buffers,
            **signature.inputs_to_lifted_tensor_constants,
        }
        """Names in the model of the weights and other tensors that are inputs of the graph."""
        self._tensors: Mapping[str, Any] = {**program.state_dict, **program.constants}

    def stored(self, node: Any) -> str:
        """Return the name in the model of a weight or another stored tensor, empty for all else."""
        return self.names.get(node.name, "") if isinstance(node, fx.Node) and node.op == "placeholder" else ""

    def order(self) -> dict[FxNode, int]:
        """Return the place of each node."""
        return {node: place for place, node in enumerate(self.graph.nodes)}

    def regions(self, kind: str) -> list[list[FxNode]]:
        """Return the nodes of each module of a class, in order."""
        by_path: dict[str, list[FxNode]] = {}
        for node in self.graph.nodes:
            for path, name in (node.meta.get("nn_module_stack") or {}).values():
                if name == kind:
                    by_path.setdefault(path, []).append(node)
        return list(by_path.values())

    def value(self, node: Any, values: dict[FxNode, Any] | None = None) -> Any:
        """Return the numbers of a node that depends on no input. Raises `NotMarked` where it does."""
        values = {} if values is None else values
        if isinstance(node, (list, tuple)):
            return [self.value(part, values) for part in node]
        if not isinstance(node, fx.Node):
            return node
        if node not in values:
            values[node] = self._computed(node, values)
        return values[node]

    def _computed(self, node: FxNode, values: dict[FxNode, Any]) -> Any:
        value = node.meta.get("val")
        if isinstance(value, torch.SymInt):
            return PROBED
        if name := self.stored(node):
            return self._tensors[name]
        if node.op != "call_function" or not (isinstance(value, torch.Tensor | int)):
            raise NotMarked("depends on an input")
        return node.target(
            *(self.value(arg, values) for arg in node.args),
            **{name: self.value(arg, values) for name, arg in node.kwargs.items()},
        )

    def _size(self, size: Any, sources: Iterable[FxNode], meta: Mapping[str, Any]) -> Any:
        """Return a size for a node that is made: a number, or a node that gives the size of one of the sources."""
        if isinstance(size, int):
            return size
        for source in sources:
            for dim, other in enumerate(source.meta["val"].shape):
                if str(other) == str(size):
                    node = self.graph.call_function(ATEN.sym_size.int, (source, dim))
                    node.meta = {**meta, "val": other}
                    return node
        raise NotMarked(f"has the size {size}, which none of its inputs has")

    def put(
        self,
        before: FxNode,
        op: str,
        inputs: Sequence[FxNode | None],
        shapes: Sequence[Sequence[Any]],
        attributes: Mapping[str, Any],
    ) -> list[FxNode]:
        """Insert a node of our domain, in the module of the node that it precedes, and return its outputs, of these
        shapes."""
        meta = {name: value for name, value in before.meta.items() if name != "val"}
        with self.graph.inserting_before(before):
            sources = [node for node in inputs if node is not None and not self.stored(node)]
            sizes = [[self._size(size, sources, meta) for size in shape] for shape in shapes]
            encoded = _symbolic_impl.EncodedAttrs.from_dict(dict(attributes))
            names = ("attr_keys", "attr_types", "attr_pos", "attr_ints", "attr_floats", "attr_strs")
            encoding = {name: getattr(encoded, name) for name in names}
            node = self.graph.call_function(
                torch.ops.onnx_symbolic._symbolic_multi_out.default,
                (list(inputs), op, [FLOAT] * len(shapes)),
                {
                    **encoding,
                    "shapes": sizes,
                    "metadata_props_keys": [],
                    "metadata_props_values": [],
                    "domain": OWN_DOMAIN,
                    "version": 1,
                },
            )
            outputs = [self.graph.call_function(operator.getitem, (node, number)) for number in range(len(shapes))]
        for new_node in (node, *outputs):
            new_node.meta = dict(meta)
        self.made[node] = (op, dict(attributes))
        return outputs

    def clean(self) -> None:
        """Remove what nothing uses any more, also where it draws random numbers when it learns."""
        self.graph.eliminate_dead_code(lambda node: bool(node.is_impure(impure_random=False)))

    def attempt(self, rule: Callable[["Marker", Any], None], target: Any) -> None:
        """Apply a rule, where it fits."""
        try:
            rule(self, target)
        except (NotMarked, KeyError, IndexError, ValueError, TypeError, AttributeError, RuntimeError, StopIteration):
            return  # of another form than torch's layers have: torch's exporter writes it out


def item(node: FxNode, number: int) -> FxNode | None:
    """Return the node that takes one output of a node with several; None where nothing does."""
    users = [user for user in node.users if user.target is operator.getitem and user.args[1] == number]
    return users[0] if users and users[0].users else None


# ---- recurrent layers ----


def recurrent(marker: Marker, node: FxNode) -> None:
    """Mark `aten.lstm`, `gru` and `rnn`: (input, states, weights, has_biases, layers, dropout, train, both directions,
    batch first).

    Its outputs are those of torch, and one more: the last output of the top layer, of the backward direction after its
    last step, which is what `hidden[-1]` and `cat((hidden[-2], hidden[-1]), 1)` are.
    """
    x, state, weights, has_biases, layers, _, _, is_both, is_batch_first = node.args
    directions = 2 if is_both else 1
    if len(x.meta["val"].shape) != 3 or len(weights) != layers * directions * (4 if has_biases else 2):
        raise NotMarked("is not batched, or projects its state")
    states = list(state) if isinstance(state, (list, tuple)) else [state]
    is_zero = all(part.target in (ATEN.zeros.default, ATEN.zeros_like.default) for part in states)
    values = [value.shape for value in node.meta["val"]]
    batch = values[1][1]
    outputs = marker.put(
        node,
        RECURRENT[node.target],
        [x, *([] if is_zero else states), *weights],
        [*values, (batch, directions * values[1][2])],
        {
            "layers": layers,
            "directions": directions,
            "batch_first": int(is_batch_first),
            "biases": int(has_biases),
            "states": 0 if is_zero else len(states),
            "relu": int(node.target is ATEN.rnn_relu.input),
        },
    )
    for number, output in enumerate(outputs[:-1]):
        if (getter := item(node, number)) is not None:
            output.meta["val"] = node.meta["val"][number]
            getter.replace_all_uses_with(output)
    _use_last(marker, outputs, layers, directions, steps=1 if is_batch_first else 0)


def _use_last(marker: Marker, outputs: list[FxNode], layers: int, directions: int, *, steps: int) -> None:
    """Let what takes the hidden state of the top layer take the last output."""
    top = {
        user: user.args[2] % (layers * directions)
        for user in outputs[1].users
        if user.target is ATEN.select.int and user.args[1] == 0
    }
    for user, number in top.items():
        if directions == 1 and number == layers - 1:
            others = [other for other in outputs[1].users if other is not user]
            if not outputs[0].users and not others and not any(output.users for output in outputs[2:-1]):
                user.replace_all_uses_with(outputs[-1])
                continue
            with marker.graph.inserting_before(user):  # the last step of the sequence is the same
                last = marker.graph.call_function(ATEN.select.int, (outputs[0], steps, -1))
            last.meta = dict(user.meta)
            user.replace_all_uses_with(last)
    both = [2 * layers - 2, 2 * layers - 1]
    for user in list(next(iter(top), outputs[-1]).users) if directions == 2 else ():
        parts = user.args[0] if user.target is ATEN.cat.default else ()
        if [top.get(part) for part in parts] == both and (user.args[1:] or (0,))[0] in (1, -1):
            user.replace_all_uses_with(outputs[-1])


# ---- operators of one input ----


def split(marker: Marker, node: FxNode) -> None:
    """Write `chunk` and `split` as slices, which ONNX has without sequences of tensors."""
    x, dim = node.args[0], (node.args[2] if len(node.args) > 2 else 0)
    start = 0
    for number, part in enumerate(node.meta["val"]):
        size = part.shape[dim]
        if not isinstance(size, int):
            raise NotMarked("has sizes that are known only when the network runs")
        if (getter := item(node, number)) is not None:
            with marker.graph.inserting_before(node):
                piece = marker.graph.call_function(ATEN.slice.Tensor, (x, dim, start, start + size))
            piece.meta = dict(getter.meta)
            getter.replace_all_uses_with(piece)
        start += size


def dropout(marker: Marker, node: FxNode) -> None:
    """Mark a dropout, which the exporter would leave out: it counts when the network learns again."""
    x, probability = node.args[:2]
    if not 0 < probability < 1 or node.meta["val"].dtype != torch.float32:
        raise NotMarked("does nothing")
    (output,) = marker.put(node, "nn.Dropout", [x], [node.meta["val"].shape], {"probability": float(probability)})
    output.meta["val"] = node.meta["val"]
    node.replace_all_uses_with(output)
