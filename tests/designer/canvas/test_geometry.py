"""The canvas and drawings made without it lead connections the same way."""

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainterPath

from designer.canvas import geometry
from designer.canvas.index import Index
from engine.drawing import curves

COORDINATES = st.integers(-600, 600).map(float)
POINTS = st.tuples(COORDINATES, COORDINATES)


def elements(path: QPainterPath) -> list[tuple[float, float]]:
    return [(path.elementAt(n).x, path.elementAt(n).y) for n in range(path.elementCount())]


def assert_same(path: QPainterPath, curve: curves.Curve) -> None:
    drawn = [curve.start, *(point for piece in curve.pieces for point in piece)]
    shown = elements(path)
    assert len(drawn) == len(shown)
    for one, other in zip(drawn, shown, strict=True):
        assert abs(one[0] - other[0]) < 1e-6
        assert abs(one[1] - other[1]) < 1e-6


@given(st.integers(0, 7), st.integers(1, 8))
def test_ports_are_at_the_same_places(index: int, count: int) -> None:
    assert curves.port_offset(index, count) == geometry.port_offset(index, count)


@given(POINTS, POINTS)
def test_direct_curves_are_the_same(start: tuple[float, float], end: tuple[float, float]) -> None:
    assert_same(geometry.direct_curve(QPointF(*start), QPointF(*end)), curves.direct_curve(start, end))


@given(POINTS, POINTS, st.lists(POINTS, max_size=4, unique=True))
def test_ways_around_layers_are_the_same(
    start: tuple[float, float], end: tuple[float, float], layers: list[tuple[float, float]]
) -> None:
    index, positions = Index(), {f"l{n}": at for n, at in enumerate(layers)}
    for id, at in positions.items():
        index.put(id, at)
    places = curves.Places(positions)

    def taken(x: float, y: float) -> float | None:
        id = index.at(x, y)
        return None if id is None else index.positions[id][0]

    path, lane = geometry.route(QPointF(*start), QPointF(*end), taken)
    curve, own = curves.route(start, end, places.at, 12.0, None)
    if (lane is None) == (own is None):  # where a curve only grazes a layer the two may see it differently
        assert lane == own
        assert_same(path, curve)
