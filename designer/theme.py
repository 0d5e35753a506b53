"""The look: colours, fonts, spacing and icons, light and dark. The colours are those of
`netwright.engine.drawing.colours`, which drawings made without a screen use too.

`apply` sets palette and style sheet of the application; `current` is the palette in use, for everything that paints
itself; `changed` is emitted when it is time to paint again. Widgets ask for a look through dynamic properties,
set with `mark`: `role` ("section", "muted", "card", "error", "chip", "large", "link", "segments", ...),
`primary` on the one main button of a view, `invalid` on an input whose value is refused.
"""

import atexit
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTemporaryDir, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QIcon, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory, QWidget

from netwright.designer import icons, language, stylesheet
from netwright.designer.focus_ring import FocusRing
from netwright.designer.language import noop
from netwright.designer.wheel_guard import WheelGuard
from netwright.engine.core.files import RESOURCES
from netwright.engine.drawing import colours

Scheme = Literal["system", "light", "dark", "contrast"]
"""System and contrast are light or dark as the desktop is; system has high contrast where the desktop asks for it."""

FONT_PIXELS = 13
TEXT_SIZES = {noop("Small"): 12, noop("Medium"): FONT_PIXELS, noop("Large"): 15, noop("Very large"): 17}
"""Sizes of the text that the user can choose, in pixels."""
FONTS = RESOURCES / "fonts"
_FONT_SIZE = re.compile(r"font-size: (\d+)px")
FAMILIES = colours.FAMILIES


@dataclass(frozen=True, kw_only=True)
class Palette:
    """The colours of a scheme, by their use."""

    is_dark: bool
    background: QColor
    panel: QColor
    raised: QColor
    selected: QColor
    hover: QColor
    line: QColor
    edge: QColor
    outline: QColor
    segments: QColor
    segment: QColor
    text: QColor
    muted: QColor
    accent: QColor
    link: QColor
    primary: QColor
    canvas: QColor
    dots: QColor
    node: QColor
    error: QColor
    warning: QColor
    good: QColor
    on_primary: QColor

    def family(self, name: str) -> QColor:
        """The colour of a layer family; an unknown family gets that of utilities."""
        return QColor(colours.family(name, "dark" if self.is_dark else "light"))

    def stage(self, number: int) -> QColor:
        """The colour of a stage of a pipeline, from 0."""
        return QColor(colours.STAGES[number % len(colours.STAGES)])

    def mixed(self, colour: QColor, ground: QColor, share: float) -> QColor:
        """A solid colour: `share` of one, the rest of the ground below it."""
        mixture = QColor.fromRgbF(
            colour.redF() * share + ground.redF() * (1 - share),
            colour.greenF() * share + ground.greenF() * (1 - share),
            colour.blueF() * share + ground.blueF() * (1 - share),
        )
        # Rounded to what screens show: otherwise equal pixels would be unequal colours.
        return QColor(mixture.rgb())

    @property
    def baseline(self) -> QColor:
        """Answers that need no network, beside the curves of one."""
        return QColor("#b9c0ce" if self.is_dark else "#5f6779")

    @property
    def loss(self) -> QColor:
        """The training curve of a loss, so that the two plots of a run cannot be confused."""
        return self.mixed(self.error, self.family("Recurrent"), 0.75)

    def tokens(self) -> Iterator[tuple[str, QColor]]:
        """Name and value of every colour that has a fixed place in the table."""
        return ((name, value) for name, value in vars(self).items() if isinstance(value, QColor))


def _palette(scheme: Literal["light", "dark"]) -> Palette:
    tokens = {name: QColor(value) for name, value in colours.SCHEMES[scheme].items()}
    return Palette(is_dark=scheme == "dark", **tokens)


@cache
def dark() -> Palette:
    """The dark palette."""
    return _palette("dark")


@cache
def light() -> Palette:
    """The light palette."""
    return _palette("light")


@cache
def high_contrast(*, is_dark: bool) -> Palette:
    """The palette of high contrast, dark or light."""
    tokens = {name: QColor(pair[0 if is_dark else 1]) for name, pair in colours.HIGH_CONTRAST.items()}
    return replace(dark() if is_dark else light(), **tokens)  # type: ignore[arg-type]  # only colours are in the table


class _Theme(QObject):
    """The applied scheme and palette. One object, made on first use."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.scheme: Scheme = "system"
        self.text_size = FONT_PIXELS
        self.palette: Palette | None = None
        self.arrows: QTemporaryDir | None = None
        self.follows_system = False

    def follow_system(self) -> None:
        """Hears the platform switch between light and dark, or to high contrast, once."""
        if not self.follows_system:
            hints = QGuiApplication.styleHints()
            hints.colorSchemeChanged.connect(self.system_switched)
            hints.accessibility().contrastPreferenceChanged.connect(self.system_switched)
            self.follows_system = True

    def system_switched(self) -> None:
        app = QApplication.instance()
        if self.scheme in ("system", "contrast") and isinstance(app, QApplication):
            apply(app, self.scheme)


@cache
def _theme() -> _Theme:
    return _Theme()


class _Changed:
    """`theme.changed.connect(slot)`, without a Qt object made at import."""

    def connect(self, slot: Callable[[], object]) -> None:
        """Calls a slot after every switch; a widget's method is let go with its widget."""
        _theme().changed.connect(slot)

    def disconnect(self, slot: Callable[[], object]) -> None:
        """Calls it no more."""
        _theme().changed.disconnect(slot)


changed = _Changed()


def current() -> Palette:
    """The palette in use; the light one before any was applied."""
    return _theme().palette or light()


@contextmanager
def painted_with(palette: Palette) -> Iterator[None]:
    """Let what is painted meanwhile have another palette, as on paper. Nothing is told: the screen keeps its own."""
    theme, before = _theme(), _theme().palette
    theme.palette = palette
    try:
        yield
    finally:
        theme.palette = before


def apply(app: QApplication, scheme: Scheme = "system", text_size: int = 0) -> None:
    """Dresses the whole application; call it again to switch. `text_size` is in pixels; 0 keeps the size."""
    theme = _theme()
    theme.scheme = scheme
    theme.follow_system()
    palette = _resolved(scheme)
    is_resized = text_size not in (0, theme.text_size)
    theme.text_size = text_size or theme.text_size
    if palette is theme.palette and not is_resized:
        return
    if theme.palette is None:
        app.setStyle(QStyleFactory.create("Fusion"))
        _add_fonts()
        FocusRing(app)
        WheelGuard(app)
    if theme.palette is None or is_resized:
        app.setFont(_font(theme.text_size))
    theme.palette = palette
    app.setPalette(_qt_palette(palette))
    set_style_sheet(app, sheet(palette, _arrows(theme, palette)))
    theme.changed.emit()


def icon(name: str, token: str = "text") -> QIcon:
    """An icon in a colour of the palette ("text", "muted", "accent", "on_primary", "error", ...)."""
    getattr(light(), token)  # an unknown token is refused here, not while painting

    def colour(mode: QIcon.Mode) -> QColor:
        palette = current()
        if mode == QIcon.Mode.Disabled:
            # Solid: with real transparency, stroke and filling would show where they overlap.
            return palette.mixed(palette.muted, palette.panel, 0.5)
        return QColor(getattr(palette, token))

    return icons.make(name, colour)


def mark(widget: QWidget, name: str, value: object) -> None:
    """Sets a property that the style sheet looks at, and dresses the widget again if it changed."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        # Without this a subclass of QWidget shows no ground of its own.
        widget.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        if widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):  # else it is dressed when it is first shown
            widget.style().unpolish(widget)
            widget.style().polish(widget)


def pixels(size: int) -> int:
    """The size of a text, in pixels, which is `size` where the user has not chosen another one."""
    return round(size * _theme().text_size / FONT_PIXELS)


def figures(font: QFont) -> QFont:
    """The same font with digits of one width, so that changing numbers do not dance."""
    tabular = QFont(font)
    tabular.setFeature(QFont.Tag("tnum"), 1)
    return tabular


def _resolved(scheme: Scheme) -> Palette:
    if scheme in ("light", "dark"):
        return dark() if scheme == "dark" else light()
    hints = QGuiApplication.styleHints()
    is_dark = hints.colorScheme() == Qt.ColorScheme.Dark
    if scheme == "contrast" or hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast:
        return high_contrast(is_dark=is_dark)
    return dark() if is_dark else light()


def _add_fonts() -> None:
    for path in sorted(FONTS.glob("*.otf")):
        QFontDatabase.addApplicationFont(str(path))


def _font(pixels: int) -> QFont:
    """Return Inter, which comes with the program; characters that it lacks are drawn in a font of the language, or in
    the system's font."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font.setFamilies(["Inter", *language.FONTS.get(language.current(), ()), font.family()])
    font.setPixelSize(pixels)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


def _arrows(theme: _Theme, palette: Palette) -> dict[str, str]:
    """Files of the small outlines that the style sheet names, in this scheme's colours."""
    if theme.arrows is None:
        theme.arrows = QTemporaryDir()
        atexit.register(theme.arrows.remove)  # Python destroys no object of a cache as it ends
    colours = {
        "muted": palette.muted,
        "line": palette.mixed(palette.muted, palette.panel, 0.5),
        "on": palette.on_primary,
    }
    pairs = [(name, colour) for name in stylesheet.ARROWS for colour in ("muted", "line")]
    files: dict[str, str] = {}
    for name, colour in [*pairs, ("check", "on"), ("minus", "on")]:
        path = theme.arrows.filePath(f"{name}-{colours[colour].name()[1:]}.svg")
        with open(path, "wb") as file:
            file.write(icons.coloured(name, colours[colour]))
        files[f"{name}-{colour}"] = path.replace("\\", "/")
    return files


def _qt_palette(palette: Palette) -> QPalette:
    """Return the palette of Fusion, for widgets that no style sheet reaches."""
    role = QPalette.ColorRole
    result = QPalette()
    for roles, colour in (
        ((role.Window, role.AlternateBase), palette.background),
        ((role.Base, role.ToolTipBase), palette.panel),
        ((role.Button,), palette.raised),
        ((role.WindowText, role.Text, role.ButtonText, role.ToolTipText, role.BrightText), palette.text),
        ((role.PlaceholderText,), palette.muted),
        ((role.Highlight,), palette.selected),
        ((role.HighlightedText,), palette.text),
        ((role.Link, role.LinkVisited), palette.link),
        ((role.Accent,), palette.accent),
        ((role.Light, role.Midlight, role.Mid, role.Dark), palette.line),
    ):
        for colour_role in roles:
            result.setColor(colour_role, colour)
    faint = palette.mixed(palette.muted, palette.panel, 0.6)
    for colour_role in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        result.setColor(QPalette.ColorGroup.Disabled, colour_role, faint)
    return result


def sheet(palette: Palette, arrows: dict[str, str]) -> str:
    """The style sheet of a palette; `arrows` are the files of the outlines, by name and tone."""
    values = {name: colour.name() for name, colour in palette.tokens()}
    values |= {name.replace("-", "_"): path for name, path in arrows.items()}
    values |= {name: colour.name() for name, colour in mixtures(palette).items()}
    return _FONT_SIZE.sub(lambda rule: f"font-size: {pixels(int(rule[1]))}px", stylesheet.SHEET.substitute(values))


def mixtures(palette: Palette) -> dict[str, QColor]:
    """The colours mixed from those of the palette: edges, and hovered, pressed or disabled widgets."""
    mixed = palette.mixed
    deep = palette.background if palette.is_dark else palette.text
    values = {
        "faint": mixed(palette.muted, palette.panel, 0.6),
        "lifted": mixed(palette.text, palette.raised, 0.07 if palette.is_dark else 0.05),
        "selection": mixed(palette.accent, palette.raised, 0.35),
        "primary_hover": mixed(deep, palette.primary, 0.1),
        "primary_down": mixed(deep, palette.primary, 0.22),
        "primary_off": mixed(palette.primary, palette.panel, 0.45),
    }
    values["on_primary_off"] = mixed(palette.on_primary, values["primary_off"], 0.5 if palette.is_dark else 0.85)
    return values


_POLISHED = Qt.WidgetAttribute.WA_WState_Polished


class _PolishWhenShown(QObject):
    """Polishes a hidden widget and its children when it is shown."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget):
            watched.removeEventFilter(self)
            for widget in (watched, *watched.findChildren(QWidget)):
                if not widget.testAttribute(_POLISHED):
                    widget.setAttribute(_POLISHED)
                    widget.style().polish(widget)
                    QCoreApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))
        return False


@cache
def _polish_when_shown() -> _PolishWhenShown:
    return _PolishWhenShown()


def set_style_sheet(app: QApplication, sheet: str) -> None:
    """Set the style sheet of the application without waiting for widgets that are not visible.

    When one sheet replaces another, Qt polishes each widget once for each widget around it: seven times on average.
    It finds them by what it remembers of their old style. So all are unpolished first, and each visible one is polished
    once here. What is hidden in a window, such as the pages of its other tabs, is polished when it is shown.
    """
    if not app.styleSheet():
        app.setStyleSheet(sheet)
        return
    visible = _unpolish(app)
    app.style().unpolish(app)  # rules that were asked for meanwhile are forgotten too
    app.setStyleSheet(sheet)
    app.style().polish(app)
    for widget in visible:
        widget.style().polish(widget)
    for widget in visible:
        QCoreApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))


def _unpolish(app: QApplication) -> list[QWidget]:
    """Unpolish every widget; return those that are to be polished again at once."""
    visible = []
    for widget in app.allWidgets():
        if not widget.testAttribute(_POLISHED):
            continue
        widget.style().unpolish(widget)
        if widget.isVisible() or not widget.window().isVisible():
            visible.append(widget)
            continue
        widget.setAttribute(_POLISHED, False)
        if widget.isHidden():
            widget.installEventFilter(_polish_when_shown())
    return visible
