"""Rich text, and the characters that widgets read as more than text, or that make a text read as another one.

The style sheet makes every label, message box and tooltip plain: names, notes and messages come from files, and rich
text reads pictures and style sheets from wherever they say. `show` is the one way to rich text, and takes only
`Markup`, in which everything but a template of ours is escaped. `tests/architecture/test_markup.py` keeps it so.

Bidirectional controls in a name turn the rest of its line around, in all widgets. `visible` shows them as JSON does;
all functions here, `elided` for painters, and the models and items of `designer/items.py` do so. A field in which a
text is edited has the exact one.
"""

import html
import re
import textwrap
from collections.abc import Iterable

from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF, QPixmap
from PySide6.QtWidgets import QLabel

from netwright.designer import theme

TOOLTIP_COLUMNS = 80
_BIDI_CONTROLS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class Markup(str):
    """Rich text that was made by this module."""


def visible(text: str) -> str:
    """Escape the bidirectional controls of a text, as in JSON. Names in Arabic or Hebrew need none."""
    return text if text.isascii() else _BIDI_CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", text)


def elided(metrics: QFontMetrics | QFontMetricsF, text: str, mode: Qt.TextElideMode, width: float) -> str:
    """Elide a text to a width, with its bidirectional controls escaped."""
    if isinstance(metrics, QFontMetrics):
        return metrics.elidedText(visible(text), mode, int(width))
    return metrics.elidedText(visible(text), mode, width)


def filled(template: str, *parts: object) -> Markup:
    """Fill the `{}` of a template, a literal, with parts. Parts are escaped unless they are `Markup` themselves."""
    return Markup(
        template.format(*(part if isinstance(part, Markup) else html.escape(visible(str(part))) for part in parts))
    )


def joined(parts: Iterable[Markup]) -> Markup:
    """Join pieces of rich text."""
    return Markup("".join(parts))


def picture(pixmap: QPixmap, pixels: int) -> Markup:
    """Return a picture of `pixels` x `pixels` for rich text. It holds its own data."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    pixmap.save(buffer, "PNG")
    data = bytes(buffer.data().toBase64().data()).decode()
    template = '<img src="data:image/png;base64,{}" width="{}" height="{}" style="vertical-align: middle">'
    return filled(template, data, pixels, pixels)


def show(label: QLabel, text: Markup) -> None:
    """Show rich text in a label, which stays a label for rich text."""
    theme.mark(label, "markup", "true")
    label.setText(text)


def without_mnemonic(text: str) -> str:
    """Return the text for a menu entry, button or tab, where a single ampersand would underline the next letter, and
    a tab would begin the shortcut of a menu entry."""
    return visible(text).replace("&", "&&").replace("\t", " ")


def window_title(text: str) -> str:
    """Return the text for the title of a window, where Qt replaces `[*]` by a mark of unsaved changes."""
    return visible(text).replace("[*]", "[*][*]")


def notification(text: str) -> str:
    """Return the text for a desktop notification: desktops read tags in it, and some do not read escaped ones."""
    return visible(text).replace("<", "‹").replace(">", "›")


def wrapped(text: str) -> str:
    """Break the lines of a tooltip, which Qt does not do for plain text."""
    lines = (
        textwrap.wrap(line, TOOLTIP_COLUMNS, replace_whitespace=False) or [""] for line in visible(text).split("\n")
    )
    return "\n".join(part for line in lines for part in line)


def italic_code(text: str) -> Markup:
    """Return a sentence as rich text, with the words between backticks in italics."""
    parts = re.split(r"`([^`]*)`", text)
    return joined(filled("<i>{}</i>" if number % 2 else "{}", part) for number, part in enumerate(parts))
