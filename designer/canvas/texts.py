"""Numbers and sizes as the canvas says them."""

from engine.network.analysis import Facts
from engine.network.table import short_count as short_count


def sizes(facts: Facts | None, port: str) -> str:
    """What flows along a connection from this port: 8 × 28 × 28, or nothing where it is not known."""
    if facts is None:
        return ""
    return facts.at(port).short() if port in facts.ports else facts.outputs[0].short()
