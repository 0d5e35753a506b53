"""Which layers are where: a grid of cells, so that looking one up does not look at all."""

from collections.abc import Iterable, Iterator

from PySide6.QtCore import QRectF

from engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Position

_WIDTH = 256.0
_HEIGHT = 128.0
Cell = tuple[int, int]


class Index:
    """Positions of layers by id, found again by place."""

    def __init__(self) -> None:
        self.positions: dict[str, Position] = {}
        self._cells: dict[Cell, dict[str, None]] = {}
        self._bounds: QRectF | None = None

    def put(self, id: str, at: Position) -> None:
        """Put a layer somewhere, from wherever it was."""
        old = self.positions.get(id)
        if old == at:
            return
        self.positions[id] = at
        self._bounds = None
        new_cells = _cells_of(at)
        if old is not None:
            if (old_cells := _cells_of(old)) == new_cells:
                return
            self._leave(id, old_cells)
        for cell in new_cells:
            self._cells.setdefault(cell, {})[id] = None

    def drop(self, id: str) -> None:
        """Forget a layer."""
        self._leave(id, _cells_of(self.positions.pop(id)))
        self._bounds = None

    def _leave(self, id: str, cells: Iterable[Cell]) -> None:
        for cell in cells:
            here = self._cells[cell]
            del here[id]
            if not here:
                del self._cells[cell]

    def at(self, x: float, y: float) -> str | None:
        """The layer whose box holds a point; of several the one that was put there last."""
        cell = self._cells.get((int(x // _WIDTH), int(y // _HEIGHT)))
        if cell is not None:
            for id in reversed(cell):
                left, top = self.positions[id]
                if 0 <= x - left <= NODE_WIDTH and 0 <= y - top <= NODE_HEIGHT:
                    return id
        return None

    def is_free(self, left: float, top: float, right: float, bottom: float) -> bool:
        """Whether no layer touches an area, which is small: all cells that it touches are looked through."""
        cells, positions = self._cells, self.positions
        for cx in range(int(left // _WIDTH), int(right // _WIDTH) + 1):
            for cy in range(int(top // _HEIGHT), int(bottom // _HEIGHT) + 1):
                for id in cells.get((cx, cy), ()):
                    x, y = positions[id]
                    if x <= right and y <= bottom and x + NODE_WIDTH >= left and y + NODE_HEIGHT >= top:
                        return False
        return True

    def inside(self, area: QRectF) -> Iterator[str]:
        """The layers whose boxes touch an area, in the order they were put."""
        left, top, right, bottom = area.left(), area.top(), area.right(), area.bottom()
        first_x, last_x = int((left) // _WIDTH), int(right // _WIDTH)
        first_y, last_y = int((top) // _HEIGHT), int(bottom // _HEIGHT)
        found: Iterable[str]
        if (last_x - first_x + 1) * (last_y - first_y + 1) >= len(self._cells):
            found = self.positions
        else:
            found = dict.fromkeys(
                id
                for cx in range(first_x, last_x + 1)
                for cy in range(first_y, last_y + 1)
                for id in self._cells.get((cx, cy), ())
            )
        for id in found:
            x, y = self.positions[id]
            if x <= right and y <= bottom and x + NODE_WIDTH >= left and y + NODE_HEIGHT >= top:
                yield id

    def bounds(self) -> QRectF:
        """The box around all layers."""
        if self._bounds is None:
            xs = [x for x, _ in self.positions.values()] or [0.0]
            ys = [y for _, y in self.positions.values()] or [0.0]
            left, top = min(xs), min(ys)
            size = (max(xs) - left + NODE_WIDTH, max(ys) - top + NODE_HEIGHT) if self.positions else (0.0, 0.0)
            self._bounds = QRectF(left, top, *size)
        return QRectF(self._bounds)


def _cells_of(at: Position) -> tuple[Cell, ...]:
    left, right = int(at[0] // _WIDTH), int((at[0] + NODE_WIDTH) // _WIDTH)
    top, bottom = int(at[1] // _HEIGHT), int((at[1] + NODE_HEIGHT) // _HEIGHT)
    # A layer is smaller than a cell: it touches two at most in each direction.
    if left == right:
        return ((left, top),) if top == bottom else ((left, top), (left, bottom))
    if top == bottom:
        return (left, top), (right, top)
    return (left, top), (left, bottom), (right, top), (right, bottom)
