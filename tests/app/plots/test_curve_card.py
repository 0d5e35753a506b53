import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel

from netwright.app.plots.curve_card import CurveCard
from netwright.app.plots.run_plot import RunPlot
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel


@pytest.fixture
def card(qtbot, qapp: QApplication) -> Iterator[CurveCard]:
    theme.apply(qapp, "light")
    card = CurveCard("Loss", token="loss")
    qtbot.addWidget(card)
    card.resize(700, 300)
    card.show()
    qtbot.waitExposed(card)
    yield card
    card.shutdown()


def plot_of(card: CurveCard) -> RunPlot:
    assert isinstance(card.plot, RunPlot)
    return card.plot


def picture(card: CurveCard) -> QImage:
    card.flush()
    return plot_of(card).grab().toImage()


def num_of(image: QImage, colour: QColor) -> int:
    converted = image.convertToFormat(QImage.Format.Format_RGB32)  # named, or its memory goes before it is read
    pixels = np.frombuffer(converted.constBits(), np.uint32)
    return int(np.count_nonzero((pixels & 0xFFFFFF) == (colour.rgb() & 0xFFFFFF)))


def words_of(card: CurveCard) -> list[str]:
    """What stands in its head, but for the legend."""
    return [label.text() for label in card.findChildren(QLabel) if label.parent() is card and label.text()]


def falling(count: int) -> list[float]:
    noise = np.random.default_rng(0).normal(size=count) * 0.1
    return [float(value) for value in 0.3 + 2 * np.exp(-np.arange(count) / count * 4) + noise]


def test_an_empty_card_says_what_comes(card: CurveCard) -> None:
    assert words_of(card) == ["Loss"]
    image = picture(card)
    assert num_of(image, theme.light().muted) > 20
    assert num_of(image, theme.light().line) == 0


def test_points_are_drawn_raw_smoothed_and_with_validation(card: CurveCard) -> None:
    card.append("training", 1, 1, falling(2000))
    card.append("validation", 500, 500, [1.2, 0.8, 0.6, 0.5])
    image = picture(card)
    data = plot_of(card).data
    assert num_of(image, data.raw_colour) > 300
    assert num_of(image, data.colour) > 300
    assert num_of(image, theme.light().warning) > 50
    assert num_of(image, theme.light().line) > 300


def test_the_figure_is_that_of_validation_and_names_it(card: CurveCard) -> None:
    card.append("training", 1, 1, [2.0, 0.7151])
    card.flush()
    assert words_of(card) == ["Loss", "0.715", "training"]
    card.append("validation", 2, 1, [0.113])
    card.data.is_percent = True
    card.refresh()
    card.flush()
    assert words_of(card) == ["Loss", "11.3 %", "validation"]


def test_what_came_before_anything_was_learned_counts_until_training_began(card: CurveCard) -> None:
    card.append("validation", 0, 1, [2.3])
    card.flush()
    assert words_of(card) == ["Loss", "2.30", "validation"]
    card.append("training", 1, 1, [2.0, 0.7151])
    card.flush()
    assert words_of(card) == ["Loss", "0.715", "training"]
    card.append("validation", 50, 1, [0.4])
    card.flush()
    assert words_of(card) == ["Loss", "0.400", "validation"]


def test_after_the_end_validation_and_test_are_both_shown_and_named(card: CurveCard) -> None:
    card.data.is_percent = True
    card.append("training", 1, 1, [0.5] * 20)
    card.append("validation", 10, 10, [0.989, 0.985])
    card.flush()
    assert words_of(card) == ["Loss", "98.5 %", "validation"]
    card.append("test", 10, 1, [0.974])
    card.flush()
    assert words_of(card) == ["Loss", "98.9 %", "best validation", "97.4 %", "test"], "of the same network"


def test_markers_are_ten_pixels_apart_and_the_newest_has_one(card: CurveCard) -> None:
    plot = plot_of(card)
    for is_log, count in ((False, 5000), (False, 90), (True, 5000)):
        card.data.clear()
        card.data.x_axis.is_log = is_log
        card.append("validation", 1, 1, falling(count))
        card.flush()
        x, _ = plot._markers["validation"].getData()
        pixels, _ = plot.to_pixels(10**x if is_log else x, np.zeros(len(x)))
        assert len(x) > 20
        assert float(np.diff(pixels).min()) >= 9.99
        assert (10 ** x[-1] if is_log else x[-1]) == pytest.approx(count)
        if not is_log:
            assert len(set(np.diff(x)[:-1])) == 1, "evenly spread"
    card.data.x_axis.is_log = False
    card.data.clear()
    card.append("validation", 500, 500, [1.0, 0.5, 0.4])
    card.flush()
    assert len(plot._markers["validation"].getData()[0]) == 3


def test_a_curve_at_the_upper_end_is_not_cut(card: CurveCard) -> None:
    card.data.is_percent = True
    card.append("training", 1, 1, [1.0] * 100)
    card.flush()
    plot = plot_of(card)
    (low, high), top = plot.view.viewRange()[1], plot.y.ticks[-1]
    assert top == 1.0
    assert high - top == pytest.approx(0.02 * (top - low))


def test_a_spike_between_a_million_points_is_drawn(card: CurveCard) -> None:
    values = np.full(1_000_000, 0.5)
    card.set_smoothing(0)
    card.append("training", 1, 1, values)
    calm = picture(card)
    values[456_789] = 0.9
    card.append("training", 1, 1, values)
    image = picture(card)
    colour = plot_of(card).data.raw_colour
    rows = {y for y in range(image.height()) for x in range(image.width()) if image.pixelColor(x, y) == colour}
    assert len(rows) > 30
    assert num_of(calm, colour) > 300


def test_buttons_are_named_by_the_quantity_that_is_shown(card: CurveCard) -> None:
    card.set_title("RMSE")
    names = {button.accessibleName() for button in card.findChildren(QAbstractButton)}
    assert {"Close RMSE", "Logarithmic axis of RMSE"} <= names


def test_drawing_waits_but_no_point_is_dropped(card: CurveCard, qtbot) -> None:
    for step in range(500):
        card.append("training", step + 1, 1, [float(step)])
    assert len(card.rows()) == 500
    qtbot.waitUntil(lambda: "499" in words_of(card))


def test_rows_are_the_points_as_they_came(card: CurveCard) -> None:
    card.append("training", 1, 1, [0.1, float("inf")])
    card.append("validation", 2, 2, [0.3, 0.4])
    card.append("test", 4, 1, [0.25])
    assert card.rows() == [
        ("training", 1, 0.1),
        ("training", 2, float("inf")),
        ("validation", 2, 0.3),
        ("validation", 4, 0.4),
        ("test", 4, 0.25),
    ]
    card.clear()
    assert card.rows() == []


def test_a_value_that_is_no_number_is_marked(card: CurveCard) -> None:
    card.append("training", 1, 1, falling(100))
    before = num_of(picture(card), theme.light().warning)
    card.append("training", 101, 1, [float("nan")] * 5 + falling(100))
    assert before == 0
    assert num_of(picture(card), theme.light().warning) > 100


@pytest.mark.parametrize("values", [[float("nan")] * 3, [1.0], [0.0, 0.0], [-5.0, -1e30, 1e30], [float("inf"), 1.0]])
@pytest.mark.parametrize("is_log", [False, True])
def test_odd_values_are_drawn_without_complaint(card: CurveCard, values: list[float], is_log: bool) -> None:
    card.set_log_y(is_log)
    card.append("training", 1, 1, values)
    card.append("validation", 1, 1, values)
    picture(card)


def test_a_logarithmic_axis_moves_the_curve(card: CurveCard) -> None:
    card.append("training", 1, 1, falling(500))
    linear = picture(card)
    card.set_log_y(True)
    assert picture(card) != linear


def test_a_logarithmic_lower_axis_shows_every_decade_and_every_spike(card: CurveCard) -> None:
    values = np.linspace(2, 1, 200_000)
    values[[5, 50_000]] = 9.0
    card.append("training", 1, 1, values)
    card.append("validation", 0, 1, [2.0])
    linear = picture(card)
    card.data.x_axis.is_log = True
    assert picture(card) != linear
    x, y = card.data.window(1, 200_000, 600)
    assert len(x) <= 1300
    assert bool((np.diff(x) > 0).all())
    assert [float(y[(x >= low) & (x <= high)].max()) for low, high in ((1, 20), (40_000, 60_000))] == [9.0, 9.0]
    assert len(x[x < 1000]) > 250, "half of the picture"
    smooth, _ = card.data.smoothed(1, 200_000, 400)
    assert bool((np.diff(smooth) > 0).all())


def test_smoothing_calms_the_line(card: CurveCard) -> None:
    card.append("training", 1, 1, falling(400))
    card.set_smoothing(0.0)
    raw = picture(card)
    card.set_smoothing(0.95)
    assert num_of(picture(card), plot_of(card).data.colour) > num_of(raw, plot_of(card).data.colour) + 200


def test_expected_steps_leave_room(card: CurveCard) -> None:
    card.append("training", 1, 1, falling(500))
    colour = plot_of(card).data.colour

    def right_end(image: QImage) -> int:
        return max(x for x in range(image.width()) for y in range(image.height()) if image.pixelColor(x, y) == colour)

    full = right_end(picture(card))
    card.set_expected_steps(1000)
    assert right_end(picture(card)) < 0.6 * full


def test_the_pointer_reads_the_curves(card: CurveCard, qtbot) -> None:
    card.append("training", 1, 1, falling(1000))
    card.append("validation", 500, 500, [0.875, 0.625])
    before = picture(card)
    plot = plot_of(card)
    readings = dict(plot.readings(480.0))
    assert readings["iteration"] == "480"
    assert readings["validation at 500"] == "0.875"
    qtbot.mouseMove(plot.viewport(), QPoint(300, 100))
    qtbot.waitUntil(lambda: num_of(plot.grab().toImage(), theme.light().raised) > 1000)
    plot.forget_pointer()
    assert picture(card) == before


def test_a_switch_of_the_theme_restyles(card: CurveCard, qapp: QApplication) -> None:
    card.append("training", 1, 1, falling(500))
    picture(card)
    theme.apply(qapp, "dark")
    assert num_of(picture(card), theme.dark().loss) > 200
    theme.apply(qapp, "light")


def test_pictures_are_written(card: CurveCard, tmp_path: Path, qtbot) -> None:
    card.append("training", 1, 1, falling(500))
    card.append("validation", 100, 100, [1.0, 0.8, 0.7, 0.6, 0.5])
    card.export_png(tmp_path / "loss.png")
    image = QImage(str(tmp_path / "loss.png"))
    assert image.size() == card.size() * 2
    assert num_of(image, plot_of(card).data.colour) > 400
    card.export_svg(tmp_path / "loss.svg")
    assert "<image" not in (tmp_path / "loss.svg").read_text(), "it scales: it holds no pixels"
    renderer = QSvgRenderer(str(tmp_path / "loss.svg"))
    assert renderer.isValid()
    drawn = QImage(card.size(), QImage.Format.Format_RGB32)
    drawn.fill(Qt.GlobalColor.white)
    painter = QPainter(drawn)
    renderer.render(painter)
    painter.end()
    assert num_of(drawn, plot_of(card).data.colour) > 100


def test_a_picture_that_cannot_be_written_says_so(card: CurveCard, tmp_path: Path) -> None:
    for export in (card.export_png, card.export_svg):
        with pytest.raises(FileNotFoundError):
            export(tmp_path / "nowhere" / "loss")


def test_lines_break_at_gaps(card: CurveCard) -> None:
    card.set_smoothing(0)
    card.append("training", 1, 1, [1, 2, float("nan"), 4, float("nan"), 6])
    card.flush()
    path = plot_of(card)._raw.getPath()
    starts = [number for number in range(path.elementCount()) if path.elementAt(number).isMoveTo()]
    assert len(starts) >= 3
    assert path.boundingRect().right() == 6


def test_a_program_that_forgets_its_cards_leaves_cleanly() -> None:
    code = (
        "from PySide6.QtWidgets import QApplication; from netwright.designer import theme\n"
        "from netwright.app.plots.curve_card import CurveCard\n"
        "app = QApplication([]); theme.apply(app); card = CurveCard('Loss'); card.show()\n"
        "card.append('training', 1, 1, [1.0, 2.0, 3.0]); card.flush(); app.processEvents()\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert ended.returncode == 0, ended.stderr


def test_the_legend_names_what_is_drawn(qtbot, card: CurveCard) -> None:
    card.set_smoothing(0.6)
    card.append("training", 1, 1, [2.0, 1.0])
    card.append("validation", 2, 1, [1.5])
    card.flush()
    legend = card._legend
    assert legend.names == ["training", "smoothed", "validation"]
    assert "validation" in legend.toolTip()
    above = legend.y()
    card.resize(280, 300)
    qtbot.waitUntil(lambda: legend.y() > above)  # a line of its own in a narrow card


@pytest.mark.parametrize("width", [480, 560, 700, 1000])
def test_the_names_in_a_legend_are_whole_at_every_width(qtbot, width: int) -> None:
    card = CurveCard("Loss", token="loss")
    qtbot.addWidget(card)
    card.resize(width, 260)
    card.show()
    for split in ("training", "validation", "test"):
        card.append(split, 1, 1, [0.5, 0.0289])
    card.set_smoothing(0.6)
    card.flush()
    qtbot.waitUntil(lambda: not any(word.is_elided for word in card._legend.findChildren(ElidedLabel)))
    assert card.width() == width, "nothing widens the card"
    card.shutdown()


def test_a_screen_reader_gets_the_curves_as_a_sentence(card: CurveCard) -> None:
    assert card.plot.accessibleDescription() == ""
    card.append("training", 1, 1, [2.0, 1.5, 1.2, 1.1])
    card.flush()
    assert card.plot.accessibleDescription() == "Loss in training: 1.10 after iteration 4, falling."
    card.append("validation", 10, 10, [0.9, 0.5, 0.4, 0.31])
    card.flush()
    assert card.plot.accessibleDescription() == "Loss in validation: 0.310 after iteration 40, falling."
    card.append("validation", 50, 10, [0.31, 0.32, 0.31, 0.31])
    card.data.bests = [(60, 0.305)]
    card.append("test", 60, 10, [0.33])
    card.flush()
    assert card.plot.accessibleDescription() == (
        "Loss in validation: 0.310 after iteration 80, level. Best 0.305 after iteration 60. Test 0.330."
    )
    card.clear()
    card.append("validation", 10, 10, [float("nan")])
    card.flush()
    assert card.plot.accessibleDescription() == "Loss: no value is finite."
