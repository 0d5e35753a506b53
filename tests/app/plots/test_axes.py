import itertools

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPixmap

from netwright.app.plots.axes import (
    Axis,
    Unit,
    linear_axis,
    log_axis,
    places_axis,
    tick_labels,
    values_axis,
)
from netwright.app.plots.plot import Plot
from netwright.app.plots.timeline import Along

X, UNIT = Axis(low=0, high=1000, ticks=(0, 500, 1000)), Unit(name="iterations", is_whole=True)


@pytest.mark.parametrize(
    ("low", "high"), [(0.1, 2.4), (-3, 5), (1000, 1001), (7, 7), (0, 0), (-1e-9, 1e-9), (0, 1e300)]
)
def test_an_axis_holds_its_values_between_round_ends(low: float, high: float) -> None:
    axis = linear_axis(low, high, 5)
    assert axis.low <= low
    assert axis.high >= high
    assert axis.low < axis.high
    assert 2 <= len(axis.ticks) <= 9


def test_an_axis_near_zero_starts_there() -> None:
    assert linear_axis(0.1, 2.4, 4).low == 0
    assert linear_axis(90, 100, 4).low == 90


@pytest.mark.parametrize(("low", "high"), [(0.004, 2.4), (1, 1), (1e-12, 1e6)])
def test_a_logarithmic_axis_has_whole_decades(low: float, high: float) -> None:
    axis = log_axis(low, high, 5)
    assert axis.low <= low
    assert axis.high >= high
    assert np.log10(axis.low) == pytest.approx(round(np.log10(axis.low)))
    assert len(axis.ticks) <= 8


def test_what_a_logarithmic_axis_cannot_show_is_a_gap() -> None:
    view = log_axis(0.1, 10, 5).to_view(np.array([0.1, 10.0, 0.0, -1.0]))
    np.testing.assert_allclose(view, [-1, 1, np.nan, np.nan])


def test_only_finite_values_count_and_only_positive_ones_on_a_logarithmic_axis() -> None:
    values = np.array([np.nan, -5.0, 0.02, 3.0, np.inf])
    assert values_axis(values, 5).low <= -5
    assert (values_axis(values, 5, is_log=True).low, values_axis(values, 5, is_log=True).high) == (0.01, 10)
    assert not values_axis(np.array([-1.0, 0.0]), 5, is_log=True).is_log
    assert values_axis(values[:1], 5) == linear_axis(0, 1, 5)


def test_places_have_round_ticks_and_units() -> None:
    axis, unit = places_axis(0, 3, "iterations", 6)
    assert axis.ticks == (0, 1, 2, 3)
    assert unit.label(2, 1) == "2"
    axis, unit = places_axis(11_800, 12_300, "iterations", 6)
    assert (axis.low, axis.high) == (11_800, 12_300)
    assert axis.ticks == (11_800, 11_900, 12_000, 12_100, 12_200, 12_300)
    assert unit.label(12_000, 100) == "12,000"
    axis, unit = places_axis(0, 14_400, "time", 4)
    assert (unit.name, unit.label(axis.ticks[1], axis.ticks[1])) == ("h", "1")
    axis, unit = places_axis(2.95, 3.05, "epochs", 4)
    assert unit.label(axis.ticks[0], axis.ticks[1] - axis.ticks[0]) == "2.950"


def test_a_logarithmic_lower_axis_counts_decades() -> None:
    axis, unit = places_axis(1, 48_000, "iterations", 6, is_log=True)
    assert [unit.label(tick, tick) for tick in axis.ticks] == ["1", "10", "100", "1,000", "10,000"]
    axis, unit = places_axis(0.02, 3, "epochs", 6, is_log=True)
    assert [unit.label(tick, tick) for tick in axis.ticks] == ["0.1", "1"]
    assert not places_axis(0, 10, "time", 6, is_log=True)[0].is_log, "nothing has taken time yet"


def test_tick_labels_carry_the_same_decimals() -> None:
    whole = Axis(low=0, high=1, ticks=(0.0, 0.5, 1.0))
    assert tick_labels(whole) == ["0", "0.5", "1.0"]
    assert tick_labels(whole, is_percent=True) == ["0", "50", "100 %"]
    assert tick_labels(Axis(low=0, high=20_000, ticks=(0.0, 10_000.0, 20_000.0))) == ["0", "10,000", "20,000"]


@pytest.mark.parametrize(
    ("high", "along", "ticks"),
    [
        (948, "iterations", (0, 200, 400, 600, 800)),
        (1200, "iterations", (0, 200, 400, 600, 800, 1000, 1200)),
        (11.7, "epochs", (0, 2, 4, 6, 8, 10)),
        (75.3, "time", (0, 20, 40, 60)),
        (700, "time", (0, 120, 240, 360, 480, 600)),
    ],
)
def test_every_tick_is_a_round_number(high: float, along: Along, ticks: tuple[float, ...]) -> None:
    axis, _ = places_axis(0, high, along, 6)
    assert axis.ticks == ticks
    assert axis.high == high


def test_a_part_between_two_decades_has_round_ticks() -> None:
    axis, _ = places_axis(21, 48, "iterations", 6, is_log=True)
    assert axis.is_log
    assert axis.ticks == (25, 30, 35, 40, 45)


class RoundPlot(Plot):
    """A plot from 0 to 1,000 iterations."""

    def draw(self) -> str:
        self.show_axes(X, UNIT, linear_axis(0, 1, 4), ["0"] * 5)
        return ""


def drawn_labels(qtbot, width: int) -> list[tuple[QRectF, str]]:
    """The labels below a plot of this width, from the left, as they are drawn."""
    plot = RoundPlot()
    qtbot.addWidget(plot)
    plot.resize(width, 200)
    plot.show()
    pixmap = QPixmap(10, 10)
    painter = QPainter(pixmap)
    painter.setFont(plot.axes()[0].style["tickFont"])
    texts = plot.axes()[0].generateDrawSpecs(painter)[2]
    painter.end()
    return [(box, text) for box, _, text in reversed(texts)]


@pytest.mark.parametrize(
    ("width", "labels"),
    [(600, ["0", "500", "1,000 iterations"]), (230, ["0 iterations", "500", "1,000"])],
)
def test_the_unit_stands_once_and_over_no_neighbour(qtbot, width: int, labels: list[str]) -> None:
    drawn = drawn_labels(qtbot, width)
    assert [text for _, text in drawn] == labels
    for (box, _), (after, _) in itertools.pairwise(drawn):
        assert box.right() < after.left()
