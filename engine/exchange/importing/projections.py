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


def with_projections(ctx: Context, ends: Collection[Port], made: Mapping[str, Counter[str]]) -> None:
    """Replace each attention whose queries, keys, values and output are all projected. `ends` are the outputs of the
    network; `made` counts the layers by operator, for the report."""
    fuser = _Fuser(ctx, ends)
    for layer in [one for one in ctx.layers if type(one.type) is Attention]:
        label = fuser.replaced(layer)
        if label:
            _count(made, Attention.label, 1, label)
            _count(made, FullyConnected.label, fuser.taken[FullyConnected.label])
            _count(made, Slice.label, fuser.taken[Slice.label])


def _count(made: Mapping[str, Counter[str]], label: str, number: int, instead: str = "") -> None:
    """Take a number of layers out of the counts, and put one in for a new label."""
    for counter in made.values():
        taken = min(number, counter[label])
        counter.subtract({label: taken})
        if instead and taken:
            counter[instead] += taken
        number -= taken
        for empty in [key for key, value in counter.items() if not value]:
            del counter[empty]


class _Fuser:
    def __init__(self, ctx: Context, ends: Collection[Port]) -> None:
        self.ctx, self.ends = ctx, {port.layer for port in ends}
        self.taken: Counter[str] = Counter()

    def replaced(self, layer: Placed) -> str:
        """Replace an attention with its projections; return the label of the new layer, empty where it stays."""
        self.layers = {one.id: one for one in self.ctx.layers}
        self.entering: dict[str, list[Connection]] = {}
        self.leaving: dict[str, list[Connection]] = {}
        for one in self.ctx.connections:
            self.entering.setdefault(one.target.layer, []).append(one)
            self.leaving.setdefault(one.source.layer, []).append(one)
        attention = layer.type
        after = self._only_user(layer.id)
        if not isinstance(attention, Attention) or attention.scale or after is None:
            return ""
        gone = {layer.id}
        given = {one.target.name: one.source for one in self.entering[layer.id]}
        parts = [self._projection(given[name].layer, layer.id, gone) for name in NAMES]
        if any(one is None for one in parts) or not isinstance(after.type, FullyConnected):
            return ""
        sources = [one[0] for one in parts if one is not None]
        matrices = [one[1] for one in parts if one is not None] + [_matrix(after)]
        values = self._values(attention, matrices)
        is_self = len(set(sources)) == 1
        (query, _), (key, _), (value, _), (result, _) = matrices
        if query.shape[0] != key.shape[0] or value.shape[0] != result.shape[1]:
            return ""
        type = (SelfAttention if is_self else MultiheadAttention)(**values)
        weights = _weights(matrices, has_bias=bool(values["bias"]))
        stored = frozenset[str]().union(*(self.layers[id].stored for id in (*gone, after.id)))
        self._put(Placed(after.id, type, self._scope([*gone, after.id]), "", weights, layer.op, stored), sources, gone)
        self.taken = Counter(self.layers[id].type.label for id in gone if id != layer.id)
        self.taken[FullyConnected.label] += 1
        return type.label

    def _only_user(self, id: str) -> Placed | None:
        users = self.leaving.get(id, [])
        return self.layers[users[0].target.layer] if len(users) == 1 and id not in self.ends else None

    def _projection(self, id: str, user: str, gone: set[str]) -> tuple[Port, Matrix] | None:
        """Return what enters the projection that a layer gives, with its rows; notes the layers that it consists of."""
        rows = slice(None)
        found = self.layers[id]
        if isinstance(found.type, Slice):
            cut = found.type
            if (
                cut.axis != "C"
                or cut.step != 1
                or cut.start < 0
                or any(one.target.layer != user for one in self.leaving[id])
            ):
                return None
            rows = slice(cut.start, cut.end or None)
            gone.add(id)
            found = self.layers[self.entering[id][0].source.layer]
        if not isinstance(found.type, FullyConnected) or found.id in self.ends:
            return None
        users = {one.target.layer for one in self.leaving[found.id]}
        slices = {one for one in users if isinstance(self.layers[one].type, Slice) and self._reaches(one, user)}
        if users - slices - {user}:
            return None
        gone.add(found.id)
        weight, bias = _matrix(found)
        return self.entering[found.id][0].source, (weight[rows], None if bias is None else bias[rows])

    def _reaches(self, id: str, user: str) -> bool:
        return id not in self.ends and all(one.target.layer == user for one in self.leaving[id])

    def _values(self, attention: Attention, matrices: list[Matrix]) -> dict[str, Any]:
        channels = matrices[0][0].shape[1]
        keys, values, outputs = matrices[0][0].shape[0], matrices[2][0].shape[0], matrices[3][0].shape[0]
        given: dict[str, Any] = {"heads": attention.heads, "mask": attention.mask}
        given |= {"key_channels": keys} if keys != channels else {}
        given |= {"value_channels": values} if values != keys else {}
        given |= {"outputs": outputs} if outputs != channels else {}
        return given | {"bias": any(bias is not None for _, bias in matrices)}

    def _scope(self, ids: list[str]) -> tuple[str, ...]:
        """Return the modules that all of these layers are in."""
        scopes = [self.layers[id].scope for id in ids]
        count = 0
        while all(len(scope) > count and scope[count] == scopes[0][count] for scope in scopes):
            count += 1
        return scopes[0][:count]

    def _put(self, new: Placed, sources: list[Port], gone: set[str]) -> None:
        """Put the new layer in the place of the last of those that go."""
        ctx = self.ctx
        ctx.layers[:] = [new if one.id == new.id else one for one in ctx.layers if one.id not in gone]
        kept = [one for one in ctx.connections if one.target.layer not in {*gone, new.id}]
        ports = new.type.input_ports()
        ctx.connections[:] = kept + [
            Connection(source, Port(new.id, port)) for source, port in zip(sources, ports, strict=False)
        ]


def _matrix(layer: Placed) -> Matrix:
    return layer.weights["weight"], layer.weights.get("bias")


def _weights(matrices: list[Matrix], *, has_bias: bool) -> dict[str, np.ndarray]:
    found = {}
    for name, (weight, bias) in zip((*NAMES, "result"), matrices, strict=True):
        found[f"{name}.weight"] = weight
        if has_bias:
            found[f"{name}.bias"] = np.zeros(len(weight), np.float32) if bias is None else bias
    return found
