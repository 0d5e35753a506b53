"""The widgets that show samples, rows and classes."""

from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableWidget

from netwright.app.data.lanes import Lanes
from netwright.app.data.preview_panel import Preview
from netwright.app.data.sample_tables import make_table
from netwright.app.data.tiles import (
    CAPTION_HEIGHT,
    GAP,
    PICTURE,
    Masked,
    Picture,
    Sound,
    Sparkline,
    Tiles,
    class_colour,
)
from netwright.app.plots.bar_rows import SWATCH, BarRows
from netwright.designer import theme
from netwright.engine.core.types import image
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of

NAMES = {"label": "b", "split": "training"}
FACTS = DatasetInfo((InputInfo("image", image(3, 224, 224)),), {"training": 1200}, classes_of("a", "b"))


@pytest.fixture
def preview(qtbot) -> Preview:
    preview = Preview()
    qtbot.addWidget(preview)
    preview.resize(760, 600)
    preview.show()
    return preview


def cells(table: QTableWidget) -> list[list[str]]:
    items = [[table.item(i, j) for j in range(table.columnCount())] for i in range(table.rowCount())]
    return [[item.text() if item else "" for item in row] for row in items]


def test_pictures_flow_into_the_width_there_is(qtbot, preview: Preview, tmp_path: Path) -> None:
    Image.new("L", (8, 8), 200).save(tmp_path / "p.png")
    pictures = [{"file": str(tmp_path / "p.png"), "label": str(i), "split": "training"} for i in range(20)]
    preview.show_answer({"pictures": pictures}, FACTS)
    tiles = preview.content.findChild(Tiles)
    assert tiles is not None
    qtbot.waitUntil(lambda: tiles.height() == tiles.heightForWidth(tiles.width()))
    rows = -(-20 // tiles.columns(tiles.width()))
    assert tiles.height() == rows * (PICTURE + CAPTION_HEIGHT + GAP) - GAP
    assert all(tile.geometry().right() < tiles.width() for tile in tiles.tiles)
    wide = tiles.columns(tiles.width())
    preview.resize(400, 600)
    qtbot.waitUntil(lambda: tiles.columns(tiles.width()) < wide)
    qtbot.waitUntil(lambda: tiles.height() == tiles.heightForWidth(tiles.width()))
    assert isinstance(tiles.tiles[0], Picture)
    assert tiles.tiles[0].pixmap.width() == PICTURE
    assert tiles.tiles[0].accessibleName() == "Sample: 0 (training)"


def test_a_picture_that_cannot_be_read_leaves_a_gap_and_no_error(qtbot, preview: Preview) -> None:
    preview.show_answer({"pictures": [{"file": "/none.png", "label": "a", "split": "test"}]}, FACTS)
    preview.grab()


@pytest.mark.parametrize("values", [[[1.0, 2.0, 3.0]], [[1.0], [2.0]], [[]], [], [[5.0, 5.0]]])
def test_series_of_any_length_are_drawn(qtbot, values: list[list[float]]) -> None:
    line = Sparkline(values, "sine")
    qtbot.addWidget(line)
    line.resize(150, 84)
    line.grab()


def test_tables_group_digits_and_align_numbers(preview: Preview) -> None:
    preview.show_answer(
        {
            "columns": [
                {"name": "price", "role": "response", "kind": "number", "low": 1, "mean": 1234567.0, "high": 2}
            ],
            "rows": [[12345], [None], ["text"]],
            "classes": [{"name": "a", "training": 1000, "validation": 2, "test": 3}],
        },
        FACTS,
    )
    rows, columns = preview.content.findChildren(QTableWidget)
    assert cells(columns) == [["price", "response", "number"]]
    assert cells(rows) == [["12,345"], ["–"], ["text"]]
    (classes,) = preview.content.findChildren(BarRows)
    assert [row.cells for row in classes.rows] == [("a", "1,005")]


def test_texts_of_numbers_are_aligned_as_numbers_and_long_texts_are_wide(preview: Preview) -> None:
    text = "a review of many words " * 3
    table = make_table(["text", "stars", "class"], [[text, "4.5"], ["", "3"]])
    assert cells(table) == [[text, "4.5"], ["–", "3"]], "no sample has a cell of the column class"
    sides = [table.model().index(0, j).data(Qt.ItemDataRole.TextAlignmentRole) for j in (0, 1)]
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    assert sides[0] is None
    assert int(sides[1]) == right.value
    assert table.horizontalHeader().maximumSectionSize() > 600
    assert table.model().index(0, 0).data(Qt.ItemDataRole.ToolTipRole) == text
    many = make_table([str(i) for i in range(5)], [[text] * 5])
    assert many.horizontalHeader().maximumSectionSize() == 220


def test_masks_and_steps_have_the_colours_of_the_table(preview: Preview, tmp_path: Path) -> None:
    Image.new("L", (8, 8), 200).save(tmp_path / "p.png")
    mask = Image.new("L", (2, 2), 0)
    mask.putdata([0, 1, 255, 1])
    mask.save(tmp_path / "m.png")
    picture = {"file": str(tmp_path / "p.png"), "mask": str(tmp_path / "m.png"), "label": "0, 1", "split": "test"}
    series = {"values": [[1.0, 2.0, 3.0]], "steps": [1, 1, -1], "label": "1", "split": "test"}
    classes = [{"name": name, "training": 1, "validation": 2, "test": 3} for name in ("0", "1")]
    preview.show_answer({"pictures": [picture], "classes": classes, "counted": "pixels"}, FACTS)
    (tile,) = preview.content.findChildren(Masked)
    seen = tile.classes.toImage()
    assert seen.pixelColor(5, 5) == class_colour(0)
    assert seen.pixelColor(PICTURE - 5, 5) == class_colour(1)
    assert seen.pixelColor(5, PICTURE - 5).alpha() == 0
    (chart,) = preview.content.findChildren(BarRows)
    assert chart.viewport().grab().toImage().pixelColor(SWATCH // 2, 3 * chart.look.row // 2) == class_colour(1)
    preview.show_answer({"series": [series], "classes": classes, "counted": "steps"}, FACTS)
    (line,) = preview.content.findChildren(Sparkline)
    line.resize(150, 84)
    drawn = line.grab().toImage()
    y = 84 - CAPTION_HEIGHT - 3
    assert drawn.pixelColor(40, y) == class_colour(1)
    assert drawn.pixelColor(140, y) != class_colour(1)


def test_what_follows_a_window_is_drawn_in_the_colour_of_its_channel(preview: Preview) -> None:
    window = {"values": [[0.0] * 10, [1.0] * 10], "label": "5", "split": "training", "channels": ["a", "b"]}
    preview.show_answer({"series": [{**window, "ahead": {"b": [1.0] * 5}}]}, FACTS)
    (line,) = preview.content.findChildren(Sparkline)
    assert (line.caption, line.ahead) == ("b: 5", [(1, [1.0] * 5)])
    line.resize(150, 84)
    drawn = line.grab().toImage()
    assert drawn.pixelColor(140, 47) == class_colour(1), "behind the window, in the lane of the channel"


def test_each_channel_has_a_lane_and_a_scale_of_its_own(preview: Preview) -> None:
    small, large = [0.0, 1.0] * 5, [5000.0, 9000.0] * 5
    series = [{"values": [small, large], "label": "a", "split": "test"}, {"values": [[3.0], [1.0]], **NAMES}]
    preview.show_answer({"series": series}, FACTS)
    first, second = preview.content.findChildren(Sparkline)
    assert first.spans == second.spans == [(0.0, 3.0), (1.0, 9000.0)], "tiles share their scales"
    (legend,) = preview.content.findChildren(Lanes)
    assert legend.texts == [("Channel 1", "0 to 3"), ("Channel 2", "1 to 9,000")]
    first.resize(160, 84)
    drawn = first.grab().toImage()
    rows = {y for y in range(64) for x in range(160) if drawn.pixelColor(x, y) == class_colour(1)}
    assert rows
    assert min(rows) > 30, "the second channel stays in the lower half"
    legend.grab()


def test_a_sound_shows_its_waveform_over_the_spectrogram(preview: Preview, tmp_path: Path) -> None:
    Image.new("L", (98, 40), 200).save(tmp_path / "s.png")
    picture = {"file": str(tmp_path / "s.png"), "wave": [[-0.5, 0.5], [0.0, 0.0]], **NAMES}
    preview.show_answer({"pictures": [picture]}, FACTS)
    (tile,) = preview.content.findChildren(Sound)
    tile.resize(160, 128)
    drawn = tile.grab().toImage()
    assert drawn.pixelColor(80, 100).lightness() > 150
    assert drawn.pixelColor(40, 10).hslHue() == pytest.approx(theme.current().accent.hslHue(), abs=4)
