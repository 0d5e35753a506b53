"""Make one layer of an attention and the fully connected layers around it: self-attention, or multi-head attention."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from netwright.engine.exchange.importing.context import Context, Placed
from netwright.engine.layers.attention import SelfAttention
from netwright.engine.layers.cross_attention import Attention, MultiheadAttention
from netwright.engine.layers.linear import FullyConnected
from netwright.engine.layers.reshape import Slice
from netwright.engine.network.network import Connection, Port

NAMES = ("query", "key", "value")
Matrix = tuple[np.ndarray, np.ndarray | None]
"""Weight and bias of a fully connected layer."""


def with_projections(ctx: Context, ends: Collection[Port], counts: Mapping[str, Counter[str]]) -> None:
    """Replace each attention whose queries, keys, values and output are all projected. `ends` are the outputs of the
    network; `counts` are the layers by operator, for the report."""
    fuser = _Fuser(ctx, ends)
    for layer in [layer for layer in ctx.layers if type(layer.type) is Attention]:
        label = fuser.replaced(layer)
        if label:
            _count(counts, Attention.label, 1, label)
            _count(counts, FullyConnected.label, fuser.taken[FullyConnected.label])
            _count(counts, Slice.label, fuser.taken[Slice.label])


def _count(counts: Mapping[str, Counter[str]], label: str, number: int, instead: str = "") -> None:
    """Take a number of layers out of the counts, and put one in for a new label."""
    for counter in counts.values():
        amount = min(number, counter[label])
        counter.subtract({label: amount})
        if instead and amount:
            counter[instead] += amount
        number -= amount
        for empty in [key for key, value in counter.items() if not value]:
            del counter[empty]


class _Fuser:
    def __init__(self, ctx: Context, ends: Collection[Port]) -> None:
        self.ctx, self.ends = ctx, {port.layer for port in ends}
        self.taken: Counter[str] = Counter()

    def replaced(self, layer: Placed) -> str:
        """Replace an attention with its projections; return the label of the new layer, empty where it stays."""
        self.layers = {layer.id: layer for layer in self.ctx.layers}
        self.entering: dict[str, list[Connection]] = {}
        self.leaving: dict[str, list[Connection]] = {}
        for connection in self.ctx.connections:
            self.entering.setdefault(connection.target.layer, []).append(connection)
            self.leaving.setdefault(connection.source.layer, []).append(connection)
        attention = layer.type
        after = self._only_user(layer.id)
        if not isinstance(attention, Attention) or attention.scale or after is None:
            return ""
        old_ids = {layer.id}
        ports = {connection.target.name: connection.source for connection in self.entering[layer.id]}
        parts = [self._projection(ports[name].layer, layer.id, old_ids) for name in NAMES]
        if any(part is None for part in parts) or not isinstance(after.type, FullyConnected):
            return ""
        sources = [part[0] for part in parts if part is not None]
        matrices = [part[1] for part in parts if part is not None] + [_matrix(after)]
        values = self._values(attention, matrices)
        is_self = len(set(sources)) == 1
        (query, _), (key, _), (value, _), (result, _) = matrices
        if query.shape[0] != key.shape[0] or value.shape[0] != result.shape[1]:
            return ""
        type = (SelfAttention if is_self else MultiheadAttention)(**values)
        weights = _weights(matrices, has_bias=bool(values["bias"]))
        stored = frozenset[str]().union(*(self.layers[id].stored for id in (*old_ids, after.id)))
        self._put(
            Placed(after.id, type, self._scope([*old_ids, after.id]), "", weights, layer.op, stored), sources, old_ids
        )
        self.taken = Counter(self.layers[id].type.label for id in old_ids if id != layer.id)
        self.taken[FullyConnected.label] += 1
        return type.label

    def _only_user(self, id: str) -> Placed | None:
        users = self.leaving.get(id, [])
        return self.layers[users[0].target.layer] if len(users) == 1 and id not in self.ends else None

    def _projection(self, id: str, user: str, old_ids: set[str]) -> tuple[Port, Matrix] | None:
        """Return the input of the projection that a layer computes, and its matrix; add its layers to `old_ids`."""
        rows = slice(None)
        layer = self.layers[id]
        if isinstance(layer.type, Slice):
            cut = layer.type
            if (
                cut.axis != "C"
                or cut.step != 1
                or cut.start < 0
                or any(connection.target.layer != user for connection in self.leaving[id])
            ):
                return None
            rows = slice(cut.start, cut.end or None)
            old_ids.add(id)
            layer = self.layers[self.entering[id][0].source.layer]
        if not isinstance(layer.type, FullyConnected) or layer.id in self.ends:
            return None
        users = {connection.target.layer for connection in self.leaving[layer.id]}
        slices = {
            user_id
            for user_id in users
            if isinstance(self.layers[user_id].type, Slice) and self._reaches(user_id, user)
        }
        if users - slices - {user}:
            return None
        old_ids.add(layer.id)
        weight, bias = _matrix(layer)
        return self.entering[layer.id][0].source, (weight[rows], None if bias is None else bias[rows])

    def _reaches(self, id: str, user: str) -> bool:
        return id not in self.ends and all(connection.target.layer == user for connection in self.leaving[id])

    def _values(self, attention: Attention, matrices: list[Matrix]) -> dict[str, Any]:
        channels = matrices[0][0].shape[1]
        keys, values, outputs = matrices[0][0].shape[0], matrices[2][0].shape[0], matrices[3][0].shape[0]
        fields: dict[str, Any] = {"heads": attention.heads, "mask": attention.mask}
        fields |= {"key_channels": keys} if keys != channels else {}
        fields |= {"value_channels": values} if values != keys else {}
        fields |= {"outputs": outputs} if outputs != channels else {}
        return fields | {"bias": any(bias is not None for _, bias in matrices)}

    def _scope(self, ids: list[str]) -> tuple[str, ...]:
        """Return the modules that all of these layers are in."""
        scopes = [self.layers[id].scope for id in ids]
        count = 0
        while all(len(scope) > count and scope[count] == scopes[0][count] for scope in scopes):
            count += 1
        return scopes[0][:count]

    def _put(self, new: Placed, sources: list[Port], old_ids: set[str]) -> None:
        """Replace the last of the old layers with the new one, and remove the others."""
        ctx = self.ctx
        ctx.layers[:] = [new if layer.id == new.id else layer for layer in ctx.layers if layer.id not in old_ids]
        others = [connection for connection in ctx.connections if connection.target.layer not in {*old_ids, new.id}]
        ports = new.type.input_ports()
        ctx.connections[:] = others + [
            Connection(source, Port(new.id, port)) for source, port in zip(sources, ports, strict=False)
        ]


def _matrix(layer: Placed) -> Matrix:
    return layer.weights["weight"], layer.weights.get("bias")


def _weights(matrices: list[Matrix], *, has_bias: bool) -> dict[str, np.ndarray]:
    weights = {}
    for name, (weight, bias) in zip((*NAMES, "result"), matrices, strict=True):
        weights[f"{name}.weight"] = weight
        if has_bias:
            weights[f"{name}.bias"] = np.zeros(len(weight), np.float32) if bias is None else bias
    return weights
