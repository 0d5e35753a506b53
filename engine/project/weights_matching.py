"""Which weights of a file belong to which layers of a network: by layer id, by name, or by the layout of a publisher.

It compares names and shapes alone. `netwright.engine.lowering.start_weights` reads files and fills networks.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from netwright.engine.core.errors import UserError, did_you_mean, plural
from netwright.engine.core.fields import path_part
from netwright.engine.project.weights_layouts import LAYOUTS, Layout, Source

Shape = tuple[int, ...]
Layers = Mapping[str, Sequence[str]]
COUNTERS = ".num_batches_tracked"
"""Ends of keys that may be missing: they change no output."""
MOST_TOLD = 200
"""Number of keys of each kind in the JSON of a report."""


@dataclass(frozen=True)
class Side:
    """Shapes by key, and the beginnings of the keys per id path of a layer (empty for a file of another program)."""

    shapes: Mapping[str, Shape]
    layers: Layers = field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    """Keys that need no numbers, since they are measured on the data otherwise."""

    def needs(self, key: str) -> bool:
        """Return whether a key without numbers is worth mentioning."""
        return key not in self.optional and not key.endswith(COUNTERS)


@dataclass(frozen=True)
class Match:
    """A key of the network and where its numbers stand in the file; `how`: map, layer, name or layout."""

    key: str
    source: Source
    how: str


@dataclass(frozen=True)
class OtherShape:
    """A key whose counterpart has another shape, so that its layer starts fresh."""

    key: str
    file_key: str
    shape: Shape
    file_shape: Shape


@dataclass(frozen=True)
class LayerMatch:
    """The start of a layer: `loaded`, `partly` or `fresh`, and why, in words."""

    id: str
    name: str
    state: str
    why: str = ""


@dataclass(frozen=True)
class MatchReport:
    """The match between the keys of a file and the weights of a network."""

    matched: tuple[Match, ...] = ()
    other_shape: tuple[OtherShape, ...] = ()
    missing: tuple[str, ...] = ()
    """Keys of the network that the file has no numbers for."""
    left_over: tuple[str, ...] = ()
    """Keys of the file that no layer takes."""
    layers: tuple[LayerMatch, ...] = ()
    layout: str = ""
    """Name of the publisher's layout that the keys follow, or empty."""
    file: str = ""
    sha256: str = ""

    def count(self, state: str) -> int:
        """Return the number of layers in this state."""
        return sum(layer.state == state for layer in self.layers)

    def refuse_nothing(self) -> None:
        """Raise `UserError` if nothing of the file fills anything."""
        if not self.matched:
            clash = ""
            if self.other_shape:
                entry = self.other_shape[0]
                clash = f" {path_part(entry.key)} is {sizes(entry.shape)} here, {sizes(entry.file_shape)} in the file."
            raise UserError(
                f"No weight of {self.file} belongs to this network.{clash}",
                hint="Choose other weights, or name keys in weights.map; `netwright-engine weights` lists both.",
            )

    def sentence(self) -> str:
        """Return the outcome in one sentence."""
        loaded, fresh = self.count("loaded") + self.count("partly"), self.count("fresh")
        by = f", by the layout {self.layout}" if self.layout else ""
        rest = f" {plural(fresh, 'layer')} start{'s' if fresh == 1 else ''} fresh." if fresh else ""
        num_keys = len(self.left_over)
        unused = (
            f" {plural(num_keys, 'key')} of the file {'is' if num_keys == 1 else 'are'} left over." if num_keys else ""
        )
        return f"{plural(loaded, 'layer')} loaded{by}.{rest}{unused}"

    def record(self) -> dict[str, Any]:
        """Return the entry for `run.json`."""
        counts = {"loaded": self.count("loaded"), "partly": self.count("partly"), "fresh": self.count("fresh")}
        fresh = [layer.name for layer in self.layers if layer.state == "fresh"][:MOST_TOLD]
        return {"file": self.file, "sha256": self.sha256, "layout": self.layout, **counts, "fresh_layers": fresh}

    def write(self) -> dict[str, Any]:
        """Return the report as JSON, with at most `MOST_TOLD` keys of each kind."""
        return {
            "file": self.file,
            "sha256": self.sha256,
            "layout": self.layout,
            "sentence": self.sentence(),
            "layers": [vars(layer) for layer in self.layers],
            "counts": {
                "matched": len(self.matched),
                "other_shape": len(self.other_shape),
                "missing": len(self.missing),
                "left_over": len(self.left_over),
            },
            "matched": [[entry.key, entry.source.key, entry.how] for entry in self.matched[:MOST_TOLD]],
            "other_shape": [
                {
                    "key": entry.key,
                    "file_key": entry.file_key,
                    "shape": [*entry.shape],
                    "file_shape": [*entry.file_shape],
                }
                for entry in self.other_shape[:MOST_TOLD]
            ],
            "missing": list(self.missing[:MOST_TOLD]),
            "left_over": list(self.left_over[:MOST_TOLD]),
        }


def match(own: Side, file: Side, names: Iterable[tuple[str, str]] = ()) -> MatchReport:
    """Match the keys of a file to those of a network.

    names: pairs of a key of the network, or its beginning, and one of the file; they go before all else, and nothing in
    the file's place leaves a weight as it starts. Then layers are matched by id where the file says which layer its
    keys belong to and was written for this network or an earlier state of it, else keys by name, or by the layout of a
    publisher, whichever fits more. A layer with a weight of another shape starts fresh as a whole.

    Raises `UserError` for names that are not there.
    """
    sources = dict(_mapped(own, file, names))
    layout = ""
    if _is_kin(own, file):
        candidates: Mapping[str, Source] = _by_layer(own, file)
        how = "layer"
    else:
        candidates, layout = _by_name(own, file)
        how = "layout" if layout else "name"
    pairs: dict[str, tuple[Source, str]] = {key: (source, how) for key, source in candidates.items()}
    pairs |= {key: (source, "map") for key, source in sources.items() if source is not None}
    for key, source in sources.items():
        if source is None:
            pairs.pop(key, None)
    return _report(own, file, pairs, layout, set(sources))


def _mapped(own: Side, file: Side, names: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Source | None]]:
    for key, file_key in names:
        inside = [k for k in own.shapes if k == key or k.startswith(f"{key}.")]
        if not inside:
            hint = did_you_mean(key, own.shapes) or "Names are those that `netwright-engine weights PROJECT` lists."
            raise UserError(f"weights.map: the network has no '{path_part(key)}'.", hint=hint)
        for k in inside:
            name = f"{file_key}{k.removeprefix(key)}" if file_key else ""
            if name and name not in file.shapes:
                if k.endswith(COUNTERS):
                    continue
                hint = did_you_mean(name, file.shapes)
                raise UserError(f"weights.map: the file has no '{path_part(name)}'.", hint=hint)
            yield k, Source(name) if name else None


# ---- by layer ----


def _is_kin(own: Side, file: Side) -> bool:
    """Return whether the layers of a file have the ids of this network because they are the same layers: most of them
    have the same names, or most the same shapes. The ids of two templates are equal by chance."""
    if not file.layers:
        return False
    here, there = _keys_by_layer(own), _keys_by_layer(file)
    shared = [id for id in here if id in there]
    num_same_name = sum(tuple(own.layers[id]) == tuple(file.layers[id]) for id in shared)
    num_same_shape = sum(
        all(own.shapes[key] == file.shapes[there[id][place]] for place, key in here[id].items() if place in there[id])
        for id in shared
    )
    return bool(shared) and (2 * num_same_name >= len(shared) or 2 * num_same_shape > len(shared))


def _keys_by_layer(side: Side) -> dict[str, dict[tuple[int, str], str]]:
    """Return the keys of each layer that has some, by the number of their beginning and their end."""
    owners = {prefix: (id, number) for id, prefixes in side.layers.items() for number, prefix in enumerate(prefixes)}
    keys: dict[str, dict[tuple[int, str], str]] = {}
    for key in side.shapes:
        prefix = key
        while prefix:
            prefix = prefix.rpartition(".")[0]
            if prefix in owners:
                id, number = owners[prefix]
                keys.setdefault(id, {})[number, key[len(prefix) :]] = key
                break
    return keys


def _by_layer(own: Side, file: Side) -> dict[str, Source]:
    """Return the source of each key whose layer the file has: by the path of ids, or after grouping by the last id."""
    here, there = _keys_by_layer(own), _keys_by_layer(file)
    partners = {id: id for id in here if id in there}
    free = [id for id in there if id not in partners]
    for id in (id for id in here if id not in partners):
        last = id.rpartition("/")[2]
        same = [other for other in free if other.rpartition("/")[2] == last]
        rivals = [other for other in here if other not in there and other.rpartition("/")[2] == last]
        if len(same) == len(rivals) == 1:
            partners[id] = same[0]
    return {
        key: Source(there[other][place])
        for id, other in partners.items()
        for place, key in here[id].items()
        if place in there[other]
    }


# ---- by name ----


def _by_name(own: Side, file: Side) -> tuple[dict[str, Source], str]:
    """Return the source of each key in the naming that fits most keys, and the name of the layout that it follows."""
    stripped = _without_wrapper(own, file)
    best: dict[str, Source] = {key: Source(stripped[key]) for key in own.shapes if key in stripped}
    best_fit, best_name = _fitting(own, file, best), ""
    for layout in LAYOUTS:
        candidates = _by_layout(own, stripped, layout)
        fit = _fitting(own, file, candidates)
        if fit > best_fit:
            best, best_fit, best_name = candidates, fit, layout.name
    return best, best_name


def _without_wrapper(own: Side, file: Side) -> dict[str, str]:
    """Return the file's keys without a beginning that all share (such as `module.` of a wrapper), unless the network's
    keys begin so, too; each with the key as it stands in the file."""
    names = {key: key for key in file.shapes}
    while True:
        first = next(iter(names), "").partition(".")[0] + "."
        if first == "." or not all(key.startswith(first) for key in names):
            return names
        if any(key.startswith(first) for key in own.shapes):
            return names
        names = {key.removeprefix(first): whole for key, whole in names.items()}


def _by_layout(own: Side, stripped: Mapping[str, str], layout: Layout) -> dict[str, Source]:
    sources: dict[str, Source] = {}
    for key in own.shapes:
        for source in layout.sources(key):
            if source.key in stripped:
                sources[key] = source._replace(key=stripped[source.key])
                break
    return sources


def _fitting(own: Side, file: Side, sources: Mapping[str, Source]) -> int:
    return sum(fits(own.shapes[key], file.shapes[source.key], source.parts) for key, source in sources.items())


def fits(shape: Shape, file_shape: Shape, parts: int = 1) -> bool:
    """Return whether a tensor, or one of the equal parts of its rows, fills another one; axes of size 1 do not
    count."""
    if parts > 1:
        if not file_shape or file_shape[0] % parts:
            return False
        file_shape = (file_shape[0] // parts, *file_shape[1:])
    return [n for n in shape if n != 1] == [n for n in file_shape if n != 1]


# ---- the report ----


def _report(
    own: Side, file: Side, pairs: Mapping[str, tuple[Source, str]], layout: str, by_hand: set[str]
) -> MatchReport:
    other = {
        key: OtherShape(key, source.key, own.shapes[key], file.shapes[source.key])
        for key, (source, _) in pairs.items()
        if not fits(own.shapes[key], file.shapes[source.key], source.parts)
    }
    matched: list[Match] = []
    layers: list[LayerMatch] = []
    refused = [key for key in by_hand if key in other]
    if refused:
        entry = other[refused[0]]
        raise UserError(
            f"weights.map: '{path_part(entry.key)}' is {sizes(entry.shape)}, '{path_part(entry.file_key)}' in the file "
            f"{sizes(entry.file_shape)}."
        )
    for id, keys in _keys_by_layer(own).items():
        weights = [key for key in keys.values() if key in pairs or own.needs(key)]
        loaded = [key for key in weights if key in pairs]
        name = own.layers[id][0].replace(".", "/")
        if clash := next((other[key] for key in loaded if key in other), None):
            why = f"{clash.key} is {sizes(clash.shape)} here, {sizes(clash.file_shape)} in the file"
            layers.append(LayerMatch(id, name, "fresh", why))
            continue
        matched += [Match(key, *pairs[key]) for key in loaded]
        if not weights:
            continue
        absent = [key for key in weights if key not in pairs]
        state = "loaded" if not absent else "partly" if loaded else "fresh"
        why = "" if not absent else "the file has nothing for it" if not loaded else f"{absent[0]} is not in the file"
        layers.append(LayerMatch(id, name, state, why))
    file_keys = {entry.source.key for entry in matched}
    matched_keys = {entry.key for entry in matched}
    missing = [key for key in own.shapes if key not in matched_keys and key not in other and own.needs(key)]
    unused = [key for key in file.shapes if key not in file_keys and not key.endswith(COUNTERS)]
    return MatchReport(
        tuple(matched), tuple(other.values()), tuple(missing), tuple(unused), tuple(layers), layout if matched else ""
    )


def sizes(shape: Shape) -> str:
    """Format a shape for a message."""
    return " × ".join(map(str, shape)) or "one number"
