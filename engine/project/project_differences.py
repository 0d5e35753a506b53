"""The differences of two projects in readable form: layers, their fields, connections, options.

Layers are matched by id, which survives renaming. Where two files were created independently and their ids are
unrelated, layers with the same name and type match. The contents of blocks have paths: `stage/conv.filters`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from netwright.engine.core.errors import plural
from netwright.engine.core.fields import QUOTE_LIMIT, printable
from netwright.engine.core.records import Record
from netwright.engine.layers.custom_layers import UserCode
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.blocks import names_of, network_in
from netwright.engine.network.catalog import Placeholder
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Connection, Layer, Network
from netwright.engine.project.network_json import write_comment, write_frame
from netwright.engine.project.project import SECTIONS, Project

Kind = Literal["added", "removed", "renamed", "retyped", "changed", "connected", "disconnected", "ordered", "moved"]
KINDS: tuple[Kind, ...] = (
    "removed",
    "added",
    "renamed",
    "retyped",
    "changed",
    "disconnected",
    "connected",
    "ordered",
    "moved",
)
_SIGNS = {"added": "+", "connected": "+", "removed": "-", "disconnected": "-"}
_WORDS = {
    "added": "layer {name} ({after})",
    "removed": "layer {name} ({before})",
    "renamed": "layer {before} is now {after}",
    "retyped": "{name}: {before} -> {after}",
    "changed": "{name}: {before} -> {after}",
    "connected": "connection {name}",
    "disconnected": "connection {name}",
    "ordered": "order of {name}: {before} -> {after}",
    "moved": "{name} moved: {before} -> {after}",
}
_Ends = tuple[str, str, str, str]


@dataclass(frozen=True)
class Difference:
    """One difference: the kind of change and the item, with values as a user would type them.

    `old` and `new` are the ids of the layers concerned, in the first and in the second project, as paths for those
    inside blocks (`stage/conv`); a connection has its target layer, and the connection there.
    """

    kind: Kind
    name: str
    before: str = ""
    after: str = ""
    old: str = ""
    new: str = ""
    old_connection: Connection | None = None
    new_connection: Connection | None = None

    @property
    def sign(self) -> str:
        """Return `+`, `-` or `~`."""
        return _SIGNS.get(self.kind, "~")

    def __str__(self) -> str:
        return f"{self.sign} {_WORDS[self.kind].format(name=self.name, before=self.before, after=self.after)}"

    def write(self) -> dict[str, str]:
        """Return the difference as JSON."""
        return {"kind": self.kind, "name": self.name, "before": self.before, "after": self.after}


@dataclass(frozen=True)
class Comparison:
    """All differences, and the matching layers of both projects by id paths. It is true where the projects differ."""

    differences: tuple[Difference, ...]
    partners: Mapping[str, str]

    def __bool__(self) -> bool:
        return bool(self.differences)

    def counts(self) -> dict[str, int]:
        """Return the number of differences of each kind that occurs."""
        totals = {kind: sum(d.kind == kind for d in self.differences) for kind in KINDS}
        return {kind: count for kind, count in totals.items() if count}


def compare(before: Project, after: Project, *, with_layout: bool = False) -> Comparison:
    """Compare two projects; positions, frames and comments only on request."""
    partners = dict(_partners(before.network, after.network))
    differences = [*_network(before.network, after.network), *_kept_unread(before, after, partners)]
    for section in SECTIONS:
        differences += _record(section, before.section(section), after.section(section), "", "")
    differences += _json("", before.unknown, after.unknown, "", "")
    if with_layout:
        differences += _layout(before.network, after.network, before.layout, after.layout)
    return Comparison(tuple(differences), partners)


def _partners(before: Network, after: Network) -> Iterator[tuple[str, str]]:
    """Return the matching layers by id paths, including those inside blocks."""
    for old, new in matched(before, after).items():
        yield old, new
        inner = _both_blocks(before.layers[old], after.layers[new])
        if inner is not None:
            yield from ((f"{old}/{inner_old}", f"{new}/{inner_new}") for inner_old, inner_new in _partners(*inner))


def _both_blocks(old: Layer, new: Layer) -> tuple[Network, Network] | None:
    """Return the contents of two layers, where both are blocks."""
    if isinstance(old.type, Block) and isinstance(new.type, Block):
        return old.type.network, new.type.network
    return None


def _lifted(difference: Difference, old: Layer, new: Layer) -> Difference:
    """Return a difference inside a block with paths as seen from the network around the block."""
    kind, name = difference.kind, f"{new.name}/{difference.name}"
    if kind == "ordered":
        name = f"{difference.name} of {new.name}"
    outer = replace(
        difference,
        name=name,
        old="" if kind in ("added", "connected") else "/".join(filter(None, (old.id, difference.old))),
        new="" if kind in ("removed", "disconnected") else "/".join(filter(None, (new.id, difference.new))),
    )
    if kind == "renamed":
        return replace(outer, before=f"{new.name}/{difference.before}", after=f"{new.name}/{difference.after}")
    return outer


def matched(before: Network, after: Network) -> dict[str, str]:
    """Return for each layer that is in both networks, by its id in the first, its id in the second."""
    pairs: dict[str, str] = {}
    shared = [id for id in before.layers if id in after.layers]
    alike = [id for id in shared if _are_alike(before.layers[id], after.layers[id])]
    namesakes = dict(_namesakes(before, after))
    num_same = sum(old == new for old, new in namesakes.items())
    num_astray = sum(old != new and (old in after.layers or new in before.layers) for old, new in namesakes.items())
    if 2 * len(alike) >= len(shared) and num_astray <= num_same:  # else the ids come from somewhere else, say nothing
        elsewhere = {*namesakes, *namesakes.values()}.difference(alike)
        pairs = {id: id for id in shared if id not in elsewhere}
    new_ids = set(pairs.values())
    pairs |= {old: new for old, new in namesakes.items() if old not in pairs and new not in new_ids}
    return {id: pairs[id] for id in before.layers if id in pairs}


def _namesakes(before: Network, after: Network) -> Iterator[tuple[str, str]]:
    """Return the ids of the layers with equal name and type in both networks."""
    for id, layer in before.layers.items():
        other = after.by_name.get(layer.name)
        if other is not None and other.type_key == layer.type_key:
            yield id, other.id


def _are_alike(layer: Layer, other: Layer) -> bool:
    return layer.name == other.name or layer.type_key == other.type_key


def _network(before: Network, after: Network) -> Iterator[Difference]:
    pairs = matched(before, after)
    came = set(after.layers) - set(pairs.values())
    for id, layer in before.layers.items():
        if id not in pairs:
            yield Difference("removed", layer.name, before=_describe_layer(layer), old=id)
    for id, layer in after.layers.items():
        if id in came:
            yield Difference("added", layer.name, after=_describe_layer(layer), new=id)
    for old, new in pairs.items():
        yield from _layer(before.layers[old], after.layers[new])
        inner = _both_blocks(before.layers[old], after.layers[new])
        if inner is not None and inner[0] is not inner[1]:
            yield from (_lifted(difference, before.layers[old], after.layers[new]) for difference in _network(*inner))
    yield from _connections(before, after, pairs)
    yield from _order("inputs", _entries(before), _entries(after), after, pairs)
    yield from _order("outputs", _exits(before), _exits(after), after, pairs)


def _entries(network: Network) -> list[str]:
    """Return the layers where data enters: input layers, and the ports of a block."""
    return [id for id, layer in network.layers.items() if layer.type.is_input or isinstance(layer.type, BlockInput)]


def _exits(network: Network) -> list[str]:
    ports = [id for id, layer in network.layers.items() if isinstance(layer.type, BlockOutput)]
    return ports or [port.layer for port in network.output_ports]


def _layer(old: Layer, new: Layer) -> Iterator[Difference]:
    path = new.name
    if old.name != new.name:
        yield Difference("renamed", path, old.name, new.name, old.id, new.id)
    for name in (f.name for f in fields(Layer) if f.name not in ("id", "name", "type")):
        yield from _value(f"{path}.{name}", getattr(old, name), getattr(new, name), old.id, new.id)
    if old.type_key != new.type_key or isinstance(old.type, Placeholder) != isinstance(new.type, Placeholder):
        yield Difference("retyped", path, _describe_layer(old), _describe_layer(new), old.id, new.id)
    elif isinstance(old.type, Placeholder):
        yield from _json(f"{path}.", old.type.write(), new.type.write(), old.id, new.id)
    else:
        yield from _record(path, old.type, new.type, old.id, new.id)


def _describe_layer(layer: Layer) -> str:
    """Return the type and its non-default values: `conv2d: filters 8, kernel 5 × 5`."""
    if isinstance(layer.type, Placeholder):
        return printable(layer.type_key)
    parts = [f"{name} {_shown(layer.type, name)}" for name in layer.type.changed()]
    if isinstance(layer.type, Block):
        parts.append(plural(len(layer.type.network), "layer"))
    return f"{layer.type_key}: {', '.join(parts)}" if parts else layer.type_key


def _record(path: str, old: Record, new: Record, old_id: str, new_id: str) -> Iterator[Difference]:
    """Return the fields with different values, including defaults that follow another field, where they apply."""
    for name in dict.fromkeys((*old.fields, *new.fields)):
        if name not in old.fields or name not in new.fields:  # of code of the user's, whose fields have changed
            was, now = (_shown(r, name) if name in r.changed() else "nothing" for r in (old, new))
            if was != now:
                yield Difference("changed", f"{path}.{name}", was, now, old_id, new_id)
            continue
        if getattr(old, name) == getattr(new, name):
            continue
        if any(name in r.changed() or r.is_visible(name) for r in (old, new)):
            yield Difference("changed", f"{path}.{name}", _shown(old, name), _shown(new, name), old_id, new_id)
    keys = {*old.fields, *new.fields, *(("values",) if isinstance(old, UserCode) else ())}
    unread, others = ({key: value for key, value in r.write().items() if key not in keys} for r in (old, new))
    yield from _json(f"{path}.", unread, others, old_id, new_id)


def _shown(record: Record, name: str) -> str:
    text = printable(record.fields[name].show(getattr(record, name)))
    return text if text else '""'


def _value(path: str, old: object, new: object, old_id: str, new_id: str) -> Iterator[Difference]:
    if old != new:
        yield Difference("changed", path, _json_text(old), _json_text(new), old_id, new_id)


def _json(path: str, old: Mapping[str, Any], new: Mapping[str, Any], old_id: str, new_id: str) -> Iterator[Difference]:
    """Return keys that this version cannot read: those of a layer of unknown type, or of a newer version."""
    for key in dict.fromkeys((*old, *new)):
        if key not in old or key not in new or old[key] != new[key]:
            was, now = (_json_text(side[key]) if key in side else "nothing" for side in (old, new))
            yield Difference("changed", printable(path + key), was, now, old_id, new_id)


def _json_text(value: object) -> str:
    text = printable(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= 2 * QUOTE_LIMIT else text[: 2 * QUOTE_LIMIT - 3] + "..."


def _kept_unread(before: Project, after: Project, pairs: Mapping[str, str]) -> Iterator[Difference]:
    """Return the keys of the network and its layers that a newer version wrote."""
    yield from _json("network.", before.unknown_in_network, after.unknown_in_network, "", "")
    for old, new in pairs.items():
        sides = before.unknown_in_layers.get(old, {}), after.unknown_in_layers.get(new, {})
        if any(sides):
            *outer, id = new.split("/")
            name_path = "/".join((*names_of(after.network, outer), network_in(after.network, outer).layers[id].name))
            yield from _json(f"{name_path}.", *sides, old, new)


def _connections(before: Network, after: Network, pairs: Mapping[str, str]) -> Iterator[Difference]:
    back = {new: old for old, new in pairs.items()}
    names = dict(_port_names(before, after, pairs))
    earlier = {(pairs[id], new): old for (id, old), new in names.items()}
    ends_after, ends_before = ({_ends(line) for line in network.connections} for network in (after, before))
    for line in before.connections:
        if _translated(line, pairs, names) not in ends_after:
            name = _route(before, line)
            yield Difference("disconnected", name, old=line.target.layer, old_connection=line)
    for line in after.connections:
        if _translated(line, back, earlier) not in ends_before:
            name = _route(after, line)
            yield Difference("connected", name, new=line.target.layer, new_connection=line)


def _port_names(before: Network, after: Network, pairs: Mapping[str, str]) -> Iterator[tuple[tuple[str, str], str]]:
    """Return the new name of each port of a block; a renamed port is reported inside the block."""
    for old, new in pairs.items():
        inner = _both_blocks(before.layers[old], after.layers[new])
        if inner is not None:
            for old_port, new_port in matched(*inner).items():
                if isinstance(inner[0].layers[old_port].type, BlockInput | BlockOutput):
                    yield (old, inner[0].layers[old_port].name), inner[1].layers[new_port].name


def _ends(connection: Connection) -> _Ends:
    """Return a connection as texts, which are hashed faster than ports in a set of thousands."""
    source, target = connection.source, connection.target
    return source.layer, source.name, target.layer, target.name


def _translated(connection: Connection, ids: Mapping[str, str], names: Mapping[tuple[str, str], str]) -> _Ends | None:
    """Return the same connection in the other network, if both of its layers exist there."""
    source, source_port, target, target_port = _ends(connection)
    if source not in ids or target not in ids:
        return None
    return (
        ids[source],
        names.get((source, source_port), source_port),
        ids[target],
        names.get((target, target_port), target_port),
    )


def _route(network: Network, connection: Connection) -> str:
    ends = []
    for port, is_input in ((connection.source, False), (connection.target, True)):
        layer = network.layers[port.layer]
        ports = layer.type.input_ports() if is_input else layer.type.output_ports()
        ends.append(layer.name if len(ports) == 1 or not port.name else f"{layer.name}:{port.name}")
    return " -> ".join(ends)


def _order(
    kind: str, old: Iterable[str], new: Iterable[str], after: Network, pairs: Mapping[str, str]
) -> Iterator[Difference]:
    """Return a difference if the order of inputs or outputs changed, which callers of the network depend on."""
    olds = [pairs[id] for id in old if id in pairs]
    news = [id for id in new if id in set(pairs.values())]
    if olds != news and sorted(olds) == sorted(news):
        was, now = (", ".join(after.layers[id].name for id in ids) for ids in (olds, news))
        yield Difference("ordered", kind, was, now)


def _layout(before: Network, after: Network, old: Layout, new: Layout) -> Iterator[Difference]:
    """Return differences of positions, frames and comments, also inside blocks."""
    yield from _value("flow", old.flow, new.flow, "", "")
    for kind, writer in (("frame", _frames), ("comment", _comments)):
        was, now = writer(old), writer(new)
        for id in dict.fromkeys((*was, *now)):
            sides = was.get(id, {}), now.get(id, {})
            name = printable(f"{kind} {id}")
            if not all(sides):
                was_so, is_so = (_json_text(side) if side else "nothing" for side in sides)
                yield Difference("changed", name, was_so, is_so)
            else:
                yield from _json(f"{name}.", *sides, "", "")
    for id, partner in matched(before, after).items():
        layer, other = before.layers[id], after.layers[partner]
        if old.written(id) != new.written(partner):
            was_at, is_at = (", ".join(map(str, side)) for side in (old.written(id), new.written(partner)))
            yield Difference("moved", other.name, was_at, is_at, id, partner)
        inner = _both_blocks(layer, other)
        if inner is not None:
            layouts = old.within([id]), new.within([partner])
            yield from (_lifted(difference, layer, other) for difference in _layout(*inner, *layouts))


def _frames(layout: Layout) -> dict[str, dict[str, Any]]:
    return {frame.id: write_frame(frame) for frame in layout.frames}


def _comments(layout: Layout) -> dict[str, dict[str, Any]]:
    return {comment.id: write_comment(comment) for comment in layout.comments}
