"""A network that grows layer by layer, for code that makes networks."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from netwright.engine.network import edits
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.catalog import layer_type
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Network, Port

Values = tuple[str, Mapping[str, Any]]
Step = str | Values
"""A layer in a row: the key of its type, with values where it has some."""


class Sketch:
    """A network, or the contents of a block, that grows layer by layer. Layers are named by their first output."""

    def __init__(self) -> None:
        self.network = Network.empty()
        self.inside: dict[str, Layout] = {}

    def add(self, key: str, *feeds: Port, name: str = "", **values: object) -> Port:
        """Add a layer that is fed by these ports; return its first output."""
        type = layer_type(key)(**values)
        id = f"l{len(self.network) + 1:02d}"
        self.network, layer = edits.add_layer(self.network, type, name, id=id)
        for source, port in zip(feeds, type.input_ports(), strict=True):
            self.network = edits.connect(self.network, source, Port(id, port))
        return Port(id, next(iter(layer.type.output_ports()), ""))

    def chain(self, feed: Port, *steps: Step) -> Port:
        """Add layers in a row: keys, with values where they have some. Return the output of the last."""
        for step in steps:
            key, values = step if isinstance(step, tuple) else (step, {})
            feed = self.add(key, feed, **values)
        return feed

    def input(self, name: str = "input_1") -> Port:
        """Add an input of the block."""
        return self.add(BlockInput.key, name=name)

    def output(self, feed: Port, name: str = "output_1") -> Self:
        """Add an output of the block, which is then whole."""
        self.add(BlockOutput.key, feed, name=name)
        return self

    def block(self, name: str, inner: "Sketch", *feeds: Port, repeat: int = 1) -> Port:
        """Add a block with this inside; return its first output."""
        id = f"l{len(self.network) + 1:02d}"
        block = Block(inner.network, repeat=repeat)
        self.network, _ = edits.add_layer(self.network, block, name, id=id)
        for source, port in zip(feeds, block.input_ports(), strict=True):
            self.network = edits.connect(self.network, source, Port(id, port))
        self.inside[id] = inner.layout()
        return Port(id, block.output_ports()[0])

    def layout(self) -> Layout:
        """Return the layout of the automatic arrangement."""
        return replace(arrange(self.network, Layout()), inside=self.inside)
