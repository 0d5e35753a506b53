"""Charts as SVG: well-formed, their marks where the numbers say, whatever the numbers are."""

import math
from xml.etree import ElementTree

import pytest

from netwright.engine.drawing.charts import Axis, Chart, Marks, Matrix, extremes, smoothed

SVG = "{http://www.w3.org/2000/svg}"


def test_a_line_ends_at_the_corners_of_its_axes() -> None:
    chart = Chart("A < B", [Marks((0.0, 10.0), (0.0, 1.0))], Axis("x & y"), Axis("z"))
    root = ElementTree.fromstring(chart.svg())
    assert root.findtext(f"{SVG}title") == "A < B"
    assert "x & y" in [text.text for text in root.iter(f"{SVG}text")]
    line = next(path for path in root.iter(f"{SVG}path") if path.get("stroke-width") == "1.6")
    first, last = ([float(number) for number in point.split()] for point in line.attrib["d"][1:].split("L"))
    ground = next(path.attrib["d"] for path in root.iter(f"{SVG}path") if "H" in path.attrib["d"])
    left, bottom = (float(number) for number in ground[1:].split("H")[0].split())
    assert (first, last[0]) == ([left, bottom], 480.0 - 14.0)
    assert last[1] == 12.0


@pytest.mark.parametrize("values", [[], [math.nan], [math.inf, 1.0], [3.0, 3.0], [-1.0, 0.0], [1e-300, 1e300]])
@pytest.mark.parametrize("is_log", [False, True])
def test_any_numbers_can_be_drawn(values: list[float], is_log: bool) -> None:
    steps = [float(step) for step in range(len(values))]
    marks = [Marks(steps, values, kind=kind, width=0.5, label=kind) for kind in ("line", "points", "bars")]
    text = Chart("any", marks, Axis("step"), Axis("loss", is_log=is_log)).svg()
    ElementTree.fromstring(text)
    assert "nan" not in text
    assert "inf" not in text


def test_a_line_is_broken_where_a_value_is_missing() -> None:
    text = Chart("gap", [Marks((0.0, 1.0, 2.0, 3.0), (1.0, math.nan, 1.0, 2.0))]).svg()
    root = ElementTree.fromstring(text)
    line = next(path.attrib["d"] for path in root.iter(f"{SVG}path") if path.get("stroke-width") == "1.6")
    assert (line.count("M"), line.count("L")) == (2, 1)


def test_ticks_are_round() -> None:
    text = Chart("log", [Marks((1.0, 2.0), (0.02, 300.0))], y=Axis(is_log=True)).svg()
    labels = [text.text for text in ElementTree.fromstring(text).iter(f"{SVG}text")]
    assert {"0.01", "0.1", "1", "10", "100", "1,000"} <= set(labels)


def test_a_matrix_has_its_counts_and_names() -> None:
    text = Matrix("Confusion matrix", ("a<b", "a very long name of a class"), ((7, 0), (2, 1))).svg()
    root = ElementTree.fromstring(text)
    said = [title.text for title in root.iter(f"{SVG}title")]
    assert "a<b as a<b: 7" in said
    assert [one.text for one in root.iter(f"{SVG}text") if one.text and one.text in "7210"] == ["7", "2", "1"]


def test_the_average_starts_at_the_first_value_and_ignores_what_is_no_number() -> None:
    assert smoothed([5.0, 5.0, math.nan, 5.0], 3) == pytest.approx([5.0] * 4)
    decay = math.exp(-1)
    assert smoothed([0.0, 1.0], 1)[1] == pytest.approx(1 / (1 + decay))


def test_a_thinned_line_keeps_its_spikes() -> None:
    values = [0.0] * 10_000
    values[1234], values[8000] = 9.0, -9.0
    x, y = extremes([float(place) for place in range(10_000)], values, 100)
    assert len(x) <= 110
    assert (max(y), min(y)) == (9.0, -9.0)
    assert x[y.index(9.0)] == 1234.0
