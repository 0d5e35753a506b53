"""Colours by role, shared by the theme of the window and by headless drawings."""

from collections.abc import Mapping
from colorsys import hsv_to_rgb
from types import MappingProxyType
from typing import NamedTuple

FALLBACK_FAMILY = "Utility"
# Colours of families, dark and light: for edges and squares only, never for text.
_FAMILIES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "Input": ("#7d8aa5", "#6f7c97"),
        "Output": ("#7d8aa5", "#6f7c97"),
        "Convolution": ("#4f8cff", "#3d78ee"),
        "Normalisation": ("#19b5a5", "#138a7e"),
        "Activation": ("#f0a830", "#b07a1c"),
        "Reshape": ("#a3a86b", "#80844f"),
        "Utility": ("#a3a86b", "#80844f"),
        "Pooling": ("#9b7bff", "#8a68f2"),
        "Combination": ("#ec6fa9", "#cf5a91"),
        "Arithmetic": ("#b98a62", "#a06f45"),
        "Fully connected": ("#3fbf6f", "#2f9455"),
        "Recurrent": ("#f07c4a", "#cf6226"),
        "Attention": ("#2fb5d6", "#1f86a0"),
        "Resize": ("#8fb0d9", "#5f7fa6"),
        "Signal": ("#c98be0", "#a263bf"),
        "Block": ("#b08968", "#94704f"),
        "Custom": ("#b9c23c", "#7d8420"),
    }
)
FAMILIES = tuple(_FAMILIES)
CLASS_FAMILIES = ("Convolution", "Activation", "Pooling", "Recurrent", "Normalisation", "Combination")
"""Families whose colours are those of the first classes and channels."""
# The tokens, dark and light.
_TOKENS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "background": ("#15171c", "#f4f5f8"),
        "panel": ("#1b1e25", "#ffffff"),
        "raised": ("#242833", "#f3f4f7"),
        "selected": ("#29344f", "#e3ebff"),
        "hover": ("#222630", "#eef1f6"),
        "line": ("#2d323d", "#dde1e8"),
        "edge": ("#474e5d", "#bcc3cf"),
        "outline": ("#7d869b", "#7f889b"),
        "segments": ("#111318", "#e6e9ef"),
        "segment": ("#2d333f", "#ffffff"),
        "text": ("#e7e9ef", "#1b2130"),
        "muted": ("#98a0b3", "#5c6478"),
        "accent": ("#5b8cff", "#2f6bff"),
        "link": ("#7aa2ff", "#2459e0"),
        "primary": ("#3b69dd", "#275fe8"),
        "canvas": ("#13151a", "#f1f3f7"),
        "dots": ("#23272f", "#dde1e8"),
        "node": ("#222632", "#ffffff"),
        "error": ("#ff7373", "#c9261a"),
        "warning": ("#f0b23e", "#8f5d10"),
        "good": ("#3ecf8e", "#0c7a4d"),
        "on_primary": ("#ffffff", "#ffffff"),
    }
)
SCHEMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "light": MappingProxyType({name: light for name, (_, light) in _TOKENS.items()}),
        "dark": MappingProxyType({name: dark for name, (dark, _) in _TOKENS.items()}),
    }
)
# The tokens that differ in high contrast, dark and light: words reach 7:1, lines between parts 3:1.
HIGH_CONTRAST: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "background": ("#000000", "#ffffff"),
        "panel": ("#000000", "#ffffff"),
        "raised": ("#14161b", "#f6f6f6"),
        "selected": ("#18306e", "#d4e0ff"),
        "hover": ("#1f2430", "#eceff6"),
        "line": ("#8d96a8", "#6b7280"),
        "edge": ("#c3c9d6", "#3c4350"),
        "outline": ("#ffffff", "#000000"),
        "segments": ("#000000", "#d5d9e2"),
        "segment": ("#3a4252", "#ffffff"),
        "text": ("#ffffff", "#000000"),
        "muted": ("#d6dae3", "#2f3542"),
        "accent": ("#8fb4ff", "#0037c2"),
        "link": ("#b3ccff", "#0034a8"),
        "primary": ("#2148b4", "#0a3fc0"),
        "canvas": ("#000000", "#ffffff"),
        "node": ("#000000", "#ffffff"),
        "error": ("#ffb8b8", "#8c0d04"),
        "warning": ("#ffd479", "#5f3a00"),
        "good": ("#7ff0bd", "#004d33"),
    }
)
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


def family(name: str, scheme: str) -> str:
    """Return the colour of a layer family; that of utilities for an unknown one."""
    return _FAMILIES.get(name, _FAMILIES[FALLBACK_FAMILY])[0 if scheme == "dark" else 1]


def class_colour(number: int, scheme: str = "light") -> str:
    """Return the colour of a class in masks and along sequences: those of families first, then others far apart."""
    if number < len(CLASS_FAMILIES):
        return family(CLASS_FAMILIES[number], scheme)
    return "#" + "".join(f"{round(255 * part):02x}" for part in hsv_to_rgb((number * 0.618034) % 1.0, 0.55, 0.85))


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
