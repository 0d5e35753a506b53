"""Where layers stand on the canvas. A value beside the network, so that moving a layer invalidates no analysis."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Position = tuple[float, float]

NODE_WIDTH = 176.0
NODE_HEIGHT = 42.0


@dataclass(frozen=True)
class Layout:
    """The top left corner of each layer, in canvas units, by the layer's id."""

    positions: Mapping[str, Position] = field(default_factory=dict)

    def __hash__(self) -> int:
        return id(self)

    def moved(self, positions: Mapping[str, Position]) -> "Layout":
        """The same layout with some layers elsewhere."""
        return Layout({**self.positions, **positions})

    def without(self, ids: Iterable[str]) -> "Layout":
        """The same layout without these layers."""
        gone = set(ids)
        return Layout({id: at for id, at in self.positions.items() if id not in gone})

    def at(self, id: str) -> Position:
        """Where a layer stands; the origin if nobody said."""
        return self.positions.get(id, (0.0, 0.0))

    def written(self, id: str) -> list[Any]:
        """The position as it stands in the project file: whole numbers where they are whole."""
        return [int(v) if float(v).is_integer() else round(v, 2) for v in self.at(id)]
