"""The layers of a network as rows of a table (layers inside a block below it), search, and counts as text."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from netwright.engine.layers.base import LayerType
from netwright.engine.network.analysis import Analysis, LayerShapes
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.network import Layer, Network
from netwright.engine.network.problems import Problem

_SIZES = re.compile(r"(?<=\d)\s*[x×*]\s*(?=\d)")
_STEPS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k"))


@dataclass(frozen=True)
class TableRow:
    """A layer by its id path and name path, with its shapes where known; of a repeated block, in one copy."""

    id: str
    path: str
    layer: Layer
    shapes: LayerShapes | None

    @property
    def label(self) -> str:
        """Return the label of the layer's type, the number of copies of a repeated block, and a note if it is
        bypassed."""
        type = self.layer.type
        return (
            f"{self.layer.label} × {type.repeat:,}" if isinstance(type, Block) and type.repeat > 1 else self.layer.label
        )


def table_rows(network: Network, analysis: Analysis) -> Iterator[TableRow]:
    """Return all layers in topological order, those on a cycle and downstream of it at the end; ports of blocks are
    omitted.

    The row of a block sums all its copies; below it are the layers of the first copy.
    """
    ordered = set(network.order)
    for id in (*network.order, *(id for id in network.layers if id not in ordered)):
        layer = network.layers[id]
        if isinstance(layer.type, BlockInput | BlockOutput):
            continue
        yield TableRow(id, layer.name, layer, analysis.shapes.get(id))
        if isinstance(layer.type, Block) and not layer.bypassed:
            inside = analysis.inside.get(id)
            inner = inside.copies[0] if inside else Analysis({}, ())
            for row in table_rows(layer.type.network, inner):
                yield replace(row, id=f"{id}/{row.id}", path=f"{layer.name}/{row.path}")


def find_layers(network: Network, analysis: Analysis, problems: Iterable[Problem], text: str) -> list[str]:
    """Return the id paths of the layers that contain every word of the text, in topological order, ignoring case; those
    inside a block behind it.

    The search covers a layer's name, the label, key and family of its type, the sizes at its outputs (`64 x 56 x 56`),
    and the severity and message of its problems. An empty text matches nothing.
    """
    words = _SIZES.sub("×", text.lower()).split()
    if not words:
        return []
    sizes = [re.compile(rf"(?<!\d){re.escape(word)}(?!\d)") for word in words if "×" in word]
    words = [word for word in words if "×" not in word]
    messages: dict[str, list[str]] = defaultdict(list)
    for problem in problems:
        if problem.layer:
            messages[problem.layer].append(f"{problem.severity} {problem.message}")
    paths = []
    for path, layer, shapes in _with_inner(network, analysis):
        parts = (layer.name, layer.type.label, layer.type_key, layer.type.family, *messages.get(path, ()))
        haystack = "\n".join(parts).lower()
        if all(word in haystack for word in words) and all(size.search(_sizes_text(shapes)) for size in sizes):
            paths.append(path)
    return paths


def _with_inner(network: Network, analysis: Analysis) -> Iterator[tuple[str, Layer, LayerShapes | None]]:
    """Return all layers with their id paths and shapes, those inside a block, in its first copy, behind it."""
    ordered = set(network.order)
    for id in (*network.order, *(id for id in network.layers if id not in ordered)):
        layer = network.layers[id]
        yield id, layer, analysis.shapes.get(id)
        if isinstance(layer.type, Block):
            inside = analysis.inside.get(id)
            copy = inside.copies[0] if inside and inside.copies else Analysis({}, ())
            yield from (
                (f"{id}/{path}", inner_layer, shapes)
                for path, inner_layer, shapes in _with_inner(layer.type.network, copy)
            )


def _sizes_text(shapes: LayerShapes | None) -> str:
    """Return the sizes at all outputs as a search writes them, one per line: `64×56×56`."""
    outputs = shapes.outputs if shapes else ()
    return "\n".join(output.short().replace(" ", "").replace(",", "").lower() for output in outputs)


def short_count(number: int) -> str:
    """Return a count as at most five characters and a letter: 584, 9,216, 15.7 k, 1.2 M."""
    for limit, letter in _STEPS:
        if number >= limit * (1 if letter == "k" else 0.99995):
            value = number / (1e3 if letter == "k" else limit)
            return f"{value:.1f} {letter}" if value < 99.95 else f"{value:,.0f} {letter}"
    return f"{number:,}"


def has_blocks(network: Network) -> bool:
    """Return whether a layer of the network is a block."""
    return any(isinstance(layer.type, Block) for layer in network.layers.values())


def num_layers(network: Network) -> int:
    """Return the number of layers, with the contents of each copy of a block in place of the block; ports of blocks do
    not count."""
    return sum(_num_layers(layer.type) for layer in network.layers.values())


def _num_layers(type: LayerType) -> int:
    if isinstance(type, Block):
        return type.repeat * num_layers(type.network)
    return 0 if isinstance(type, BlockInput | BlockOutput) else 1
