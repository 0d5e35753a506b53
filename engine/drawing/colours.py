"""Colours by role, shared by the theme of the window and by headless drawings."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

FALLBACK_FAMILY = "Utility"
# One colour per family in both schemes: it is used for edges and squares only, never for text.
FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        "Input": "#7d8aa5",
        "Output": "#7d8aa5",
        "Convolution": "#4f8cff",
        "Normalisation": "#19b5a5",
        "Activation": "#f0a830",
        "Reshape": "#a3a86b",
        "Utility": "#a3a86b",
        "Pooling": "#9b7bff",
        "Combination": "#ec6fa9",
        "Arithmetic": "#b98a62",
        "Fully connected": "#3fbf6f",
        "Recurrent": "#f07c4a",
        "Attention": "#2fb5d6",
        "Resize": "#8fb0d9",
        "Signal": "#c98be0",
        "Block": "#b08968",
        "Custom": "#b9c23c",
    }
)
DARK: Mapping[str, str] = MappingProxyType(
    {
        "background": "#15171c",
        "panel": "#1b1e25",
        "raised": "#242833",
        "line": "#2d323d",
        "text": "#e7e9ef",
        "muted": "#8f97aa",
        "accent": "#5b8cff",
        "primary": "#3f6fe6",
        "canvas": "#13151a",
        "dots": "#23272f",
        "node": "#222632",
        "error": "#ff6b6b",
        "warning": "#f0b23e",
        "good": "#3ecf8e",
        "on_primary": "#ffffff",
    }
)
LIGHT: Mapping[str, str] = MappingProxyType(
    {
        "background": "#f4f5f8",
        "panel": "#ffffff",
        "raised": "#f3f4f7",
        "line": "#dde1e8",
        "text": "#1b2130",
        "muted": "#687084",
        "accent": "#2f6bff",
        "primary": "#2f6bff",
        "canvas": "#fafbfc",
        "dots": "#e4e7ee",
        "node": "#ffffff",
        "error": "#d92d20",
        "warning": "#8f5d10",
        "good": "#0c7a4d",
        "on_primary": "#ffffff",
    }
)
SCHEMES: Mapping[str, Mapping[str, str]] = MappingProxyType({"light": LIGHT, "dark": DARK})
# One colour per tone in both schemes; frames and comments mix it with their background colour.
TONES: Mapping[str, str] = MappingProxyType(
    {
        "grey": "#8a93a6",
        "blue": "#4f8cff",
        "green": "#3fbf6f",
        "yellow": "#e0b23c",
        "orange": "#ef8a43",
        "red": "#ee6470",
        "violet": "#9b7bff",
    }
)
# One colour per pipeline stage, repeated cyclically: those that Okabe and Ito (2008) chose for colour-blind readers, in
# an order in which neighbours also differ in lightness. The stage number is always shown as well.
STAGES: tuple[str, ...] = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442")


def family(name: str) -> str:
    """Return the colour of a layer family; that of utilities for an unknown one."""
    return FAMILIES.get(name, FAMILIES[FALLBACK_FAMILY])


def parts(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue (0 to 255) of `#rrggbb`."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def mixed(colour: str, ground: str, share: float) -> str:
    """Return an opaque colour: `share` (0 to 1) of `colour`, the rest of `ground`."""
    pairs = zip(parts(colour), parts(ground), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


class Toned(NamedTuple):
    """Colours of a frame or comment: background, border and text."""

    fill: str
    line: str
    text: str


def frame(tone: str, scheme: str) -> Toned:
    """Return the colours of a frame; its background is close to that of the canvas, so layers remain legible on it."""
    colours, colour = SCHEMES[scheme], TONES[tone]
    ground = colours["canvas"]
    return Toned(mixed(colour, ground, 0.09), mixed(colour, ground, 0.42), mixed(colour, colours["text"], 0.25))


def comment(tone: str, scheme: str) -> Toned:
    """Return the colours of a comment; it stands out from the canvas and from frames."""
    colours, colour = SCHEMES[scheme], TONES[tone]
    ground = colours["node"]
    return Toned(mixed(colour, ground, 0.20), mixed(colour, ground, 0.50), colours["text"])
