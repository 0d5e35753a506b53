"""Automatic layout in a separate process: the outline as JSON on standard input, positions on standard output.

python -m netwright.engine.core.child netwright.engine.network.arrange_program
"""

import json
import sys
from dataclasses import asdict
from typing import Any

from netwright.engine.network.arrangement import Outline, positions
from netwright.engine.network.layout import Position


def request(shape: Outline) -> bytes:
    """Return the JSON text that the process receives."""
    return json.dumps(asdict(shape), ensure_ascii=True, separators=(",", ":")).encode()


def answer(shape: Outline, output: bytes) -> dict[str, Position]:
    """Return the positions that the process wrote. Raises `ValueError` for any other output."""
    try:
        places = [(float(x), float(y)) for x, y in json.loads(output)]
    except TypeError as error:
        raise ValueError("these are no places") from error
    return dict(zip(shape.names, places, strict=True))


def main(arguments: list[str]) -> None:
    """Read an outline, and write the positions of its layers in the same order."""
    data: dict[str, Any] = json.load(sys.stdin)
    links, unseen = (tuple(tuple(row) for row in data[key]) for key in ("links", "unseen"))
    names, hints, first = (tuple(data[key]) for key in ("names", "hints", "first"))
    places = positions(Outline(names, links, unseen, hints, first, data["flow"], data["may_fold"], data["aspect"]))
    json.dump([places[name] for name in names], sys.stdout, separators=(",", ":"))
