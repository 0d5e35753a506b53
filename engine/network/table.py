"""The layers of a network as rows of a table, those inside blocks below their block."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.layers.block import Block, BlockInput, BlockOutput
from engine.network.analysis import Analysis, Facts
from engine.network.network import Layer, Network


@dataclass(frozen=True)
class TableRow:
    """A layer by its id path and by the path of names, and what is known of it: of a repeated block's in one copy."""

    id: str
    path: str
    layer: Layer
    facts: Facts | None

    @property
    def label(self) -> str:
        """What kind of layer it is, how often a block is repeated, and that it is bypassed."""
        type = self.layer.type
        return (
            f"{self.layer.label} × {type.repeat:,}" if isinstance(type, Block) and type.repeat > 1 else self.layer.label
        )


def table_rows(network: Network, analysis: Analysis) -> Iterator[TableRow]:
    """All layers in the order of the data, those on a cycle and behind it at the end; ports of blocks are none.

    The row of a block sums up all its copies; below it stand the layers of the first.
    """
    ordered = set(network.order)
    for id in (*network.order, *(id for id in network.layers if id not in ordered)):
        layer = network.layers[id]
        if isinstance(layer.type, BlockInput | BlockOutput):
            continue
        yield TableRow(id, layer.name, layer, analysis.facts.get(id))
        if isinstance(layer.type, Block) and not layer.bypassed:
            inside = analysis.inside.get(id)
            found = inside.copies[0] if inside else Analysis({}, ())
            for row in table_rows(layer.type.network, found):
                yield replace(row, id=f"{id}/{row.id}", path=f"{layer.name}/{row.path}")
