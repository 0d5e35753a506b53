import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetricsF, QGuiApplication, QIcon, QImage, QPainter
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPushButton, QWidget

from netwright.designer import icons, theme
from netwright.designer.scene import stage_colours
from netwright.engine.drawing import colours
from netwright.engine.network.catalog import built_in

SCHEMES = {"dark": theme.dark, "light": theme.light}
HIGH: dict[str, Callable[[], theme.Palette]] = {
    f"high {name}": partial(theme.high_contrast, is_dark=name == "dark") for name in SCHEMES
}
PALETTES: dict[str, Callable[[], theme.Palette]] = {**SCHEMES, **HIGH}
WANTED_ICONS = """
    new open save undo redo cut copy paste trash zoom-in zoom-out fit arrange play stop pause settings search export
    data image table chart plus minus close warning error info check chevron-down chevron-right chip folder reset
    network log layers
"""


@pytest.fixture(autouse=True)
def _back_to_light(qapp: QApplication) -> Iterator[None]:
    theme.apply(qapp, "light")
    yield
    theme.apply(qapp, "light")


def luminance(colour: QColor) -> float:
    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)

    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF())


def contrast(one: QColor, other: QColor) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", PALETTES)
@pytest.mark.parametrize("ink", ["text", "muted", "warning", "good", "error", "link"])
@pytest.mark.parametrize("ground", ["background", "panel", "raised", "hover", "canvas", "node"])
def test_words_are_readable(scheme: str, ink: str, ground: str) -> None:
    palette = PALETTES[scheme]()
    assert contrast(getattr(palette, ink), getattr(palette, ground)) >= (4.5 if ink != "muted" else 4.7)


@pytest.mark.parametrize("scheme", PALETTES)
def test_words_on_selected_rows_and_the_primary_button_are_readable(scheme: str) -> None:
    palette = PALETTES[scheme]()
    for ink in ("text", "error", "link", "muted"):
        assert contrast(getattr(palette, ink), palette.selected) >= 4.5, ink
    assert contrast(palette.on_primary, palette.primary) >= 4.5
    for ground in ("primary_hover", "primary_down"):
        assert contrast(palette.on_primary, theme.mixtures(palette)[ground]) >= 4.5


@pytest.mark.parametrize("scheme", HIGH)
def test_high_contrast_reaches_seven_to_one_for_words_and_three_to_one_for_lines(scheme: str) -> None:
    palette = HIGH[scheme]()
    for ground in ("background", "panel", "raised", "hover", "canvas", "node", "selected"):
        for ink in ("text", "muted", "warning", "good", "error", "link"):
            assert contrast(getattr(palette, ink), getattr(palette, ground)) >= 7, (ink, ground)
        for line in ("line", "edge", "outline", "accent"):
            assert contrast(getattr(palette, line), getattr(palette, ground)) >= 3, (line, ground)
    assert contrast(palette.on_primary, palette.primary) >= 7


def test_high_contrast_is_chosen_or_asked_for_by_the_system(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    theme.apply(qapp, "contrast")
    assert theme.current() is theme.high_contrast(is_dark=False)
    assert theme.current().tokens() != theme.light().tokens()
    theme.apply(qapp, "system")
    assert theme.current() is theme.light()
    wish = SimpleNamespace(contrastPreference=lambda: Qt.ContrastPreference.HighContrast)
    hints = SimpleNamespace(colorScheme=lambda: Qt.ColorScheme.Dark, accessibility=lambda: wish)
    monkeypatch.setattr(QGuiApplication, "styleHints", lambda: hints)
    assert theme._resolved("system") is theme.high_contrast(is_dark=True)
    assert theme._resolved("light") is theme.light(), "what the user chose holds"


@pytest.mark.parametrize("scheme", PALETTES)
def test_segments_are_told_apart_and_readable(scheme: str) -> None:
    palette = PALETTES[scheme]()
    assert contrast(palette.muted, palette.segments) >= 4.7
    assert contrast(palette.text, palette.segment) >= 4.5
    assert contrast(palette.segment, palette.segments) >= 1.2
    assert contrast(palette.edge, palette.segments) >= 1.4


@pytest.mark.parametrize("scheme", PALETTES)
@pytest.mark.parametrize(
    ("mark", "grounds"),
    [("edge", ("panel", "canvas", "raised")), ("outline", ("panel", "canvas", "background", "node"))],
)
def test_borders_of_fields_and_nodes_are_seen_and_connections_reach_three_to_one(
    scheme: str, mark: str, grounds: tuple[str, ...]
) -> None:
    palette = PALETTES[scheme]()
    least = 3.0 if mark == "outline" else 1.5
    for ground in grounds:
        assert contrast(getattr(palette, mark), getattr(palette, ground)) >= least, ground


@pytest.mark.parametrize("scheme", PALETTES)
@pytest.mark.parametrize("family", theme.FAMILIES)
def test_the_edge_of_every_family_is_seen_on_a_node_and_on_the_canvas(scheme: str, family: str) -> None:
    palette = PALETTES[scheme]()
    for ground in (palette.node, palette.canvas):
        assert contrast(palette.family(family), ground) >= 3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_layers_in_the_colour_of_their_stage_are_readable_and_neighbours_differ_without_colour(
    qapp: QApplication, scheme: theme.Scheme
) -> None:
    theme.apply(qapp, scheme)
    palette = theme.current()
    for number in range(len(colours.STAGES)):
        ground = stage_colours.ground(number)
        assert contrast(palette.text, ground) >= 4.5
        assert contrast(stage_colours.ink(number), ground) >= 4.5
        assert contrast(stage_colours.number_ink(number), palette.stage(number)) >= 4.5
        assert contrast(palette.stage(number), palette.stage(number + 1)) > 1.1


def test_every_family_has_a_colour_and_a_stranger_gets_one_too() -> None:
    assert {type.family for type in built_in().values()} <= set(theme.FAMILIES)
    assert all(theme.light().family(name).isValid() for name in theme.FAMILIES)
    assert theme.dark().family("Convolution") == QColor("#4f8cff")
    assert theme.light().family("Unheard of") == theme.light().family("Utility")


def test_applying_again_switches_and_tells(qapp: QApplication, qtbot) -> None:
    with qtbot.waitSignal(theme._theme().changed):
        theme.apply(qapp, "dark")
    assert theme.current() is theme.dark()
    assert qapp.palette().window().color() == theme.dark().background
    theme.apply(qapp, "light")
    assert theme.current() is theme.light()
    assert qapp.palette().window().color() == theme.light().background


def test_applying_the_same_again_tells_nobody(qapp: QApplication, qtbot) -> None:
    with qtbot.assertNotEmitted(theme._theme().changed):
        theme.apply(qapp, "light")


def test_an_unknown_system_scheme_is_light(qapp: QApplication) -> None:
    theme.apply(qapp, "dark")
    theme.apply(qapp, "system")  # the offscreen platform has no opinion
    assert theme.current() is theme.light()


def test_an_input_paints_the_tokens(qapp: QApplication, qtbot) -> None:
    box = QComboBox()
    qtbot.addWidget(box)
    box.resize(160, 30)
    for scheme, palette in SCHEMES.items():
        theme.apply(qapp, scheme)  # type: ignore[arg-type]  # the keys are schemes
        image = box.grab().toImage()
        assert image.pixelColor(80, 6) == palette().raised
        assert image.pixelColor(80, 0) == palette().edge


def test_marking_a_widget_dresses_it_again(qtbot) -> None:
    button = QPushButton("Train")
    qtbot.addWidget(button)
    button.resize(120, 32)
    assert button.grab().toImage().pixelColor(8, 16) == theme.light().raised
    theme.mark(button, "primary", True)
    assert button.grab().toImage().pixelColor(8, 16) == theme.light().primary


def test_a_panel_of_a_class_of_its_own_has_its_ground(qtbot) -> None:
    class Bar(QWidget):
        pass

    bar = Bar()
    qtbot.addWidget(bar)
    bar.resize(40, 40)
    theme.mark(bar, "role", "panel")
    assert bar.grab().toImage().pixelColor(20, 20) == theme.light().panel


def test_a_large_figure_is_larger(qtbot) -> None:
    label, large = QLabel("96.4 %"), QLabel("96.4 %")
    for widget in (label, large):
        qtbot.addWidget(widget)
    theme.mark(large, "role", "large")
    assert large.sizeHint().height() > 1.5 * label.sizeHint().height()


def ink(icon: QIcon, mode: QIcon.Mode = QIcon.Mode.Normal, scale: int = 1) -> QImage:
    return icon.pixmap(QSize(24, 24), float(scale), mode, QIcon.State.Off).toImage()


def strongest(image: QImage) -> QColor:
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return max(pixels, key=lambda colour: colour.alpha())


@pytest.mark.parametrize("name", WANTED_ICONS.split())
def test_every_icon_draws_something_and_fits(name: str) -> None:
    image = ink(theme.icon(name))
    assert strongest(image).alpha() > 150
    edge = [image.pixelColor(i, j).alpha() for i in range(24) for j in (0, 23)]
    assert max(edge) == 0


def test_an_icon_follows_a_switch(qapp: QApplication) -> None:
    icon = theme.icon("stop")
    assert strongest(ink(icon)) == theme.light().text
    theme.apply(qapp, "dark")
    assert strongest(ink(icon)) == theme.dark().text


def test_a_disabled_icon_is_fainter_than_muted() -> None:
    palette = theme.current()
    drawn = strongest(ink(theme.icon("stop"), QIcon.Mode.Disabled))
    assert luminance(palette.panel) > luminance(drawn) > luminance(palette.muted)


def test_an_icon_is_drawn_at_the_pixels_of_the_screen() -> None:
    assert ink(theme.icon("new"), scale=2).size() == QSize(48, 48)


def test_an_icon_painted_into_a_wide_rectangle_keeps_its_shape() -> None:
    image = QImage(60, 20, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    theme.icon("stop").paint(painter, QRect(0, 0, 60, 20))
    painter.end()
    assert image.pixelColor(30, 10).alpha() > 200
    assert image.pixelColor(10, 10).alpha() == 0


def test_an_unknown_icon_or_token_is_refused() -> None:
    with pytest.raises(KeyError, match="No icon is named 'unicorn'"):
        theme.icon("unicorn")
    with pytest.raises(AttributeError):
        theme.icon("new", "unheard")


def test_all_icons_share_one_stroke() -> None:
    for name in icons.names():
        text = icons.outline(name)
        assert 'viewBox="0 0 24 24"' in text, name
        assert 'stroke-width="1.75"' in text, name
        assert "#" not in text, name


def test_importing_the_theme_makes_no_qt_object() -> None:
    code = "import netwright.designer.theme as t; "
    code += "raise SystemExit(t._theme.cache_info().currsize + t.light.cache_info().currsize)"
    assert subprocess.run([sys.executable, "-c", code], cwd=os.getcwd(), check=False).returncode == 0


def test_a_program_with_icons_leaves_cleanly() -> None:
    code = (
        "from PySide6.QtWidgets import QApplication, QPushButton; from netwright.designer import theme\n"
        "app = QApplication([]); theme.apply(app, 'dark')\n"
        "button = QPushButton(theme.icon('play', 'on_primary'), 'Train'); button.show(); app.processEvents()\n"
        "theme.apply(app, 'light'); app.processEvents()\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=os.getcwd(), check=False, capture_output=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("weight", [400, 500, 600, 700])
def test_inter_is_shipped_in_every_weight_that_the_style_sheet_names(qapp: QApplication, weight: int) -> None:
    font = qapp.font()
    font.setWeight(QFont.Weight(weight))
    assert (QFontInfo(font).family(), QFontInfo(font).weight()) == ("Inter", weight)


def test_figures_have_digits_of_one_width(qapp: QApplication) -> None:
    metrics = QFontMetricsF(theme.figures(qapp.font()))
    assert metrics.horizontalAdvance("1111") == metrics.horizontalAdvance("8888")
