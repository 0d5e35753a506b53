"""Numbers and sizes as the canvas says them."""

from engine.layers.types import TensorType
from engine.network.counts import short_count as short_count


def sizes(type: TensorType | None) -> str:
    """What flows along a connection: 8 × 28 × 28, or nothing where it is not known."""
    return type.short() if type else ""
