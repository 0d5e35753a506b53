"""A project as a few bars and lines, small enough for a card: made without Qt, kept in the user's cache folder.

The network is drawn as it stands on the canvas, laid on its side and pushed together, so that a deep one fits: each
layer is a bar in the colour of its family, from left to right; a very deep one goes on in further rows, like text. What
would fall on the same spot is drawn once, so a sketch stays small however large the network is. It holds no colours and
no pixels: one sketch serves both themes and every screen.
"""

import contextlib
import hashlib
import json
import os
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import Any

from app.start_page.unfolded import LONG, THICK, Unfolded, unfold
from engine.core.errors import UserError
from engine.core.files import open_file, write_atomically
from engine.core.version import VERSION
from engine.network.analysis import analyse
from engine.network.layout import Layout
from engine.network.network import Network
from engine.network.table import num_layers, short_count
from engine.project.file import loads

WIDTH, HEIGHT = 196.0, 108.0
FORMAT = 3
LARGEST_BYTES = 2 * 2**20
"""Of a project that is drawn: some ten thousand layers, a second of work."""
MOST_KEPT = 300
_THICKEST, _THINNEST, _LONGEST = 15.0, 3.0, 54.0
_MOST_ROWS, _ROW_GAP, _BROADEST = 4, 6.0, 6.0

Bar = tuple[float, float, float, float, str]
"""Left, top, width, height, and the family that gives the colour."""
Way = tuple[float, ...]
"""x and y of a start, and of three points for each cubic behind it."""


@dataclass(frozen=True)
class Sketch:
    """Bars, the ways of connections, and the size in words. `problem` says why a file cannot be read or drawn."""

    bars: tuple[Bar, ...] = ()
    ways: tuple[Way, ...] = ()
    size: str = ""
    problem: str = ""


def cache_folder() -> Path:
    """Where sketches are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "netwright" / "sketches"


def sketch_of(path: Path) -> Sketch:
    """The sketch of a project file, from the cache if the same bytes were drawn before. Raises nothing."""
    try:
        with open_file(path) as file:
            data = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        return Sketch(problem=f"The file cannot be read: {error.strerror}.")
    if len(data) > LARGEST_BYTES:
        return Sketch(size="a very large network")
    key = hashlib.sha256(f"{FORMAT} {VERSION}\n".encode() + data).hexdigest()[:32]
    kept = cache_folder() / f"{key}.json"
    known = _read(kept)
    if known is not None:
        return known
    try:
        project = loads(data.decode("utf-8-sig")).project
    except (UserError, UnicodeDecodeError) as error:
        return Sketch(problem=f"The file cannot be opened: {error}")
    found = draw(project.network, project.layout)
    _keep(kept, found)
    return found


def sketch_from(values: dict[str, Any]) -> Sketch:
    """A sketch from its fields, as JSON tells them. Raises `TypeError`, `ValueError` or `KeyError` for others."""
    bars = tuple((float(x), float(y), float(w), float(h), str(family)) for x, y, w, h, family in values["bars"])
    ways = tuple(tuple(map(float, way)) for way in values["ways"])
    return Sketch(bars, ways, str(values["size"]), str(values["problem"]))


def _read(path: Path) -> Sketch | None:
    """A sketch from the cache; None where there is none, or nothing that could be one."""
    try:
        return sketch_from(json.loads(path.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _keep(path: Path, sketch: Sketch) -> None:
    """Into the cache; without room or permission it is drawn again next time."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(path, json.dumps(asdict(sketch), ensure_ascii=False).encode(), mode=0o600)


def tidy_cache() -> None:
    """Forget the sketches that were made longest ago, where there are many."""
    with contextlib.suppress(OSError):
        kept = sorted(cache_folder().glob("*.json"), key=lambda path: path.stat().st_mtime)
        for path in kept[:-MOST_KEPT]:
            path.unlink()


def draw(network: Network, layout: Layout) -> Sketch:
    """The network in a box of `WIDTH` by `HEIGHT`, in the middle of it."""
    if not network.layers:
        return Sketch(size="empty")
    drawing = _Drawing(unfold(network, layout))
    return Sketch(drawing.bars(), drawing.ways(), _size(network))


def _size(network: Network) -> str:
    """How many layers and learnables; that it is unfinished, where learnables cannot be known."""
    analysis = analyse(network)
    count = num_layers(network)
    layers = f"{count:,} layer{'' if count == 1 else 's'}"
    learnables = "unfinished" if analysis.has_errors else f"{_short(analysis.parameters)} learnables"
    return f"{layers} · {learnables}"


def _short(number: int) -> str:
    return short_count(number) if number >= 1_000_000 else f"{number:,}"


class _Drawing:
    """Pushes an unfolded network together until it fits."""

    def __init__(self, whole: Unfolded) -> None:
        self._whole, self._top = whole, whole.top
        self._rows = self._num_rows()
        self._row_length = whole.deep / self._rows
        height = (HEIGHT + _ROW_GAP) / self._rows - _ROW_GAP
        self._u = min(WIDTH / self._row_length, _THICKEST / THICK)
        self._v = min(height / whole.broad, _LONGEST / LONG)
        self._row_step = whole.broad * self._v + _ROW_GAP
        used = self._rows * self._row_step - _ROW_GAP
        self._shift = ((WIDTH - self._row_length * self._u) / 2, (HEIGHT - used) / 2)
        self._lefts = [row * self._row_length for row in range(self._rows)]
        for u in sorted((u for u, _, _ in whole.layers), reverse=True):
            self._lefts[self._row(u)] = u  # a row begins with its first bar

    def _num_rows(self) -> int:
        """One, or where bars would be too thin to tell apart as many as make them thick enough."""
        thickness = THICK * WIDTH / self._whole.deep
        if self._whole.broad > _BROADEST * LONG or thickness >= _THINNEST:
            return 1
        return min(_MOST_ROWS, ceil(_THINNEST / thickness))

    def _row(self, u: float) -> int:
        return max(0, min(self._rows - 1, int(u / self._row_length)))

    def _placed(self, u: float, v: float, row: int) -> tuple[float, float]:
        return (
            round((u - self._lefts[row]) * self._u + self._shift[0], 1),
            round((v - self._top) * self._v + row * self._row_step + self._shift[1], 1),
        )

    def bars(self) -> tuple[Bar, ...]:
        """A bar for each layer."""
        width, height = max(1.0, round(THICK * self._u, 1)), max(1.0, round(LONG * self._v, 1))
        seen: dict[tuple[int, int], Bar] = {}
        for u, v, family in self._whole.layers:
            x, y = self._placed(u, v, self._row(u))
            seen[round(x * 2), round(y * 2)] = (x, y, width, height, family)
        return tuple(seen.values())

    def ways(self) -> tuple[Way, ...]:
        """The ways of connections that do not lead into another row, where they are understood."""
        found: dict[Way, None] = {}
        for way in self._whole.ways:
            row = self._row(way[0][0] - THICK)
            if self._row(way[-1][0]) == row:
                found[tuple(number for u, v in way for number in self._placed(u, v, row))] = None
        return tuple(found)
