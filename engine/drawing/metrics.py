"""How wide text is, without a screen: the widths of Helvetica, which every PDF reader has and others resemble."""

# Thousandths of the size, for the characters from the space to the tilde.
_REGULAR = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 "
    "584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 "
    "667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 "
    "278 556 500 722 500 500 500 334 260 334 584"
)
_BOLD = (
    "278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 333 333 "
    "584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722 667 944 "
    "667 667 611 333 278 333 584 556 333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 "
    "333 611 556 778 556 556 500 389 280 389 584"
)
_OTHERS = {"×": 584, "·": 278, "…": 1000, "−": 584, "’": 222}
WIDER, WIDEST_FONT = 1.08, 1.22
"""How much wider interface fonts are than this one: Inter, and the widest that is common."""

_UNKNOWN = 667
_WIDE = 1000
_WIDTHS = {
    is_bold: {chr(32 + n): int(width) for n, width in enumerate(table.split())}
    for is_bold, table in ((False, _REGULAR), (True, _BOLD))
}


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of a text; of one in another script a guess that is not too small."""
    widths = _WIDTHS[bold]
    units = (widths.get(c) or _OTHERS.get(c) or (_WIDE if ord(c) > 0x2E7F else _UNKNOWN) for c in text)
    return sum(units) * size / 1000


def elided(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """The text, or its beginning and end where it has no room."""
    if text_width(text, size, bold=bold) <= room:
        return text
    keep = len(text) - 1
    while keep > 0:
        shown = text[: (keep + 1) // 2] + "…" + (text[-(keep // 2) :] if keep > 1 else "")
        if text_width(shown, size, bold=bold) <= room:
            return shown
        keep -= 1
    return "…"
