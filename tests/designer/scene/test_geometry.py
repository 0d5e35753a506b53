"""The canvas and drawings made without it lead connections the same way."""

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainterPath

from netwright.designer.scene import geometry
from netwright.designer.scene.node_items import Index
from netwright.engine.drawing import routes
from netwright.engine.network.layout import FLOWS, Flow

COORDINATES = st.integers(-600, 600).map(float)
POINTS = st.tuples(COORDINATES, COORDINATES)


def elements(path: QPainterPath) -> list[tuple[float, float]]:
    return [(path.elementAt(n).x, path.elementAt(n).y) for n in range(path.elementCount())]


def assert_same(path: QPainterPath, curve: routes.Curve) -> None:
    drawn = [curve.start, *(point for piece in curve.pieces for point in piece)]
    shown = elements(path)
    assert len(drawn) == len(shown)
    for one, other in zip(drawn, shown, strict=True):
        assert abs(one[0] - other[0]) < 1e-6
        assert abs(one[1] - other[1]) < 1e-6


@given(st.integers(0, 7), st.integers(1, 8))
def test_ports_are_at_the_same_places(index: int, count: int) -> None:
    for flow in FLOWS:
        for is_input, place in ((True, geometry.input_point), (False, geometry.output_point)):
            at = place((8.0, 16.0), index, count, flow)
            assert routes.port_point((8.0, 16.0), index, count, is_input=is_input, flow=flow) == (at.x(), at.y())


@given(POINTS, POINTS, st.sampled_from(FLOWS))
def test_direct_curves_are_the_same(start: tuple[float, float], end: tuple[float, float], flow: Flow) -> None:
    assert_same(geometry.direct_curve(QPointF(*start), QPointF(*end), flow), routes.direct_curve(start, end, flow))


@given(POINTS, POINTS, st.lists(POINTS, max_size=4, unique=True), st.sampled_from(FLOWS))
def test_a_path_has_the_points_of_its_curve(
    start: tuple[float, float], end: tuple[float, float], layers: list[tuple[float, float]], flow: Flow
) -> None:
    places = routes.Places({f"l{n}": at for n, at in enumerate(layers)})
    curve, _ = routes.route(start, end, places.at, 12.0, None, (flow, flow))
    assert_same(geometry.path_of(curve), curve)


def test_a_connection_to_the_right_leaves_and_arrives_level() -> None:
    start = geometry.output_point((0.0, 0.0), 0, 1, "right")
    end = geometry.input_point((248.0, 100.0), 1, 2, "right")
    assert (start.x(), start.y()) == (176.0, 21.0)
    assert (end.x(), end.y()) == (248.0, 128.0)
    path = geometry.direct_curve(start, end, "right")
    assert path.angleAtPercent(0) % 180 < 1
    assert path.angleAtPercent(1) % 180 < 1


def test_a_connection_to_the_right_goes_around_what_is_in_its_way() -> None:
    index = Index()
    index.put("between", (248.0, 0.0))

    def taken(x: float, y: float) -> tuple[float, float] | None:
        id = index.at(x, y)
        return None if id is None else index.positions[id]

    curve, lane = routes.route((176, 21), (496, 21), taken, 12.0, None, ("right", "right"))
    path = geometry.path_of(curve)
    assert lane is not None
    assert not 0 <= lane <= 42
    assert path.currentPosition() == QPointF(496, 21)
    assert all(taken(*path.pointAtPercent(n / 50).toTuple()) is None for n in range(51))
