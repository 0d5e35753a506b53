"""Draw the rooms of the code, `docs/rooms.svg`, from the import contracts in `pyproject.toml` and from the source.

python scripts/make_architecture.py

A bar for each room, as long as its code, in three bands: window, heavy and light rooms. An arrow leads from a room to
one that it imports, the wider the more modules do so. So that not every change of the code changes the picture, and
with it the test that compares the two, lengths are rounded to `STEP` lines and arrows have the widths of `WIDTHS`;
imports that are too few for the least of these have no arrow, nor have those of `core`, which every room imports.
"""

import ast
import tomllib
from collections import Counter
from xml.sax.saxutils import escape

from scripts.code_facts import PREFIX, ROOT, Facts, read_facts

PATH = ROOT / "docs" / "rooms.svg"
FIRST_HEAVY, LAST = "lowering", "core"
STEP = 1000
WIDTHS = {10: 1.2, 30: 3.0, 100: 6.0}
"""Least number of importing modules, and the width of the arrow in pixels."""
WIDTH, ROW, HEADER, GAP, FOOTER = 800, 25, 28, 8, 76
NAME_X, BAR_X, ARROW_X = 26, 132, 432
LONGEST_BAR, LEAST_BAR, FARTHEST = 235, 3, 330
INK, PALE = "#1f2430", "#5d6475"
BANDS = {
    "window": ("Window", "with Qt and the light rooms", "#edf3fb", "#5b8fd0"),
    "heavy": ("Heavy rooms of the engine", "with torch and NumPy", "#fbf2ea", "#d08a4f"),
    "light": ("Light rooms of the engine", "with the standard library alone", "#edf7ee", "#5aa469"),
}
"""Title, what its rooms use, colour of the band, colour of its bars and arrows."""


def rooms() -> list[str]:
    """The rooms of the engine from high to low, as the layers contract lists them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    contract = next(
        contract for contract in settings["contracts"] if contract.get("containers") == ["netwright.engine"]
    )
    return [room for layer in contract["layers"] for room in layer.split(" | ")]


def purpose(room: str) -> str:
    """The first line of the docstring of a room."""
    package = ROOT / room if room in ("app", "designer") else ROOT / "engine" / room
    text = (package / "__init__.py" if package.is_dir() else package.with_suffix(".py")).read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").replace("`", "").splitlines()[0]


def room_of(module: str) -> str:
    """The room of a module, such as `runs` of `netwright.engine.runs.folder`; empty for other modules."""
    top, _, inside = module.removeprefix("netwright.").partition(".")
    return inside.partition(".")[0] if top == "engine" else top


def measured(facts: list[Facts]) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """The lines of each room, and the number of modules of a room that import another one."""
    lines: Counter[str] = Counter()
    imports: Counter[tuple[str, str]] = Counter()
    for file in facts:
        room = room_of(file.module)
        lines[room] += file.num_lines
        others = {room_of(line.name) for line in file.imports if line.name.startswith(PREFIX)}
        imports.update((room, other) for other in others - {room})
    return lines, imports


def bands() -> dict[str, list[str]]:
    """The rooms of each band, from high to low."""
    engine = rooms()
    heavy = engine.index(FIRST_HEAVY) + 1
    return {"window": ["app", "designer"], "heavy": engine[:heavy], "light": engine[heavy:]}


def drawing(facts: list[Facts]) -> str:
    """The picture: a row for each room, high to low; arrows lead down only, as the contracts demand."""
    lines, imports = measured(facts)
    height = GAP + sum(HEADER + len(group) * ROW + 2 * GAP for group in bands().values()) + FOOTER
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        ' font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    middles: dict[str, float] = {}
    colours: dict[str, str] = {}
    longest = max(map(rounded, lines.values()))
    y = GAP
    for band, group in bands().items():
        title, needs, pale, colour = BANDS[band]
        size = HEADER + len(group) * ROW + GAP
        parts.append(f'<rect x="{GAP}" y="{y}" width="{WIDTH - 2 * GAP}" height="{size}" rx="6" fill="{pale}"/>')
        text = f"{title}, {needs}"
        parts.append(f'<text x="{NAME_X}" y="{y + 19}" font-size="12" fill="{PALE}">{text}</text>')
        for number, room in enumerate(group):
            middles[room], colours[room] = y + HEADER + (number + 0.5) * ROW, colour
            parts += row(room, middles[room], rounded(lines[room]), LONGEST_BAR / longest, colour)
        y += size + GAP
    order = list(middles)
    arrows = [
        (width(count), order.index(room), order.index(other))
        for (room, other), count in imports.items()
        if room in middles and other in middles and other != LAST and width(count)
    ]
    for pixels, above, below in sorted(arrows, reverse=True):
        start, end = (middles[order[place]] for place in (above, below))
        parts += arrow(start, end, (below - above) / (len(order) - 1), pixels, colours[order[above]])
    return "\n".join([*parts, *legend(y + 6), "</svg>", ""])


def rounded(lines: int) -> int:
    """Lines of code in steps of `STEP`."""
    return round(lines / STEP) * STEP


def width(count: int) -> float:
    """The width of the arrow for a number of imports; 0 for none."""
    return max((pixels for least, pixels in WIDTHS.items() if count >= least), default=0.0)


def row(room: str, middle: float, lines: int, scale: float, colour: str) -> list[str]:
    """Name, bar and size of a room, and the line to its arrows. Its purpose is shown under the mouse."""
    length = max(LEAST_BAR, lines * scale)
    size = f"{lines // STEP}k" if lines else "&lt; 1k"
    after = BAR_X + length + 38
    return [
        f"<g><title>{escape(purpose(room))}</title>",
        f'<text x="{NAME_X}" y="{middle + 4.5:.1f}" font-weight="bold" fill="{INK}">{room}</text>',
        f'<rect x="{BAR_X}" y="{middle - 8:.1f}" width="{length:.1f}" height="16" rx="2" fill="{colour}"/>',
        f'<text x="{BAR_X + length + 6:.1f}" y="{middle + 4.5:.1f}" font-size="12" fill="{PALE}">{size}</text>',
        f'<line x1="{after:.1f}" y1="{middle:.1f}" x2="{ARROW_X}" y2="{middle:.1f}" stroke="{PALE}"'
        ' stroke-width="0.6" stroke-dasharray="1 4"/>',
        "</g>",
    ]


def arrow(start: float, end: float, share: float, pixels: float, colour: str) -> list[str]:
    """A curve from a room down to one that it imports, with a head; `share` of the way from top to bottom."""
    reach = ARROW_X + (22 + FARTHEST * share**0.8) * 4 / 3
    start, end, tip = start + 4, end - 3, 5 + pixels
    return [
        f'<path d="M{ARROW_X},{start:.1f} C{reach:.0f},{start:.1f} {reach:.0f},{end:.1f}'
        f' {ARROW_X + tip - 1:.1f},{end:.1f}"'
        f' fill="none" stroke="{colour}" stroke-width="{pixels}" stroke-opacity="0.6"/>',
        f'<path d="M{ARROW_X},{end:.1f} l{tip:.1f},{-tip / 2:.1f} v{tip:.1f} z" fill="{colour}"/>',
    ]


def legend(y: float) -> list[str]:
    """What lengths and widths mean."""
    parts = [
        f'<text x="{NAME_X}" y="{y + 16}" font-size="12" fill="{INK}">Bar: lines of code, in thousands.'
        " Arrow: the upper room imports the lower one; the number of modules that do:</text>"
    ]
    for number, (least, pixels) in enumerate(WIDTHS.items()):
        x = NAME_X + number * 130
        parts.append(
            f'<line x1="{x}" y1="{y + 36}" x2="{x + 34}" y2="{y + 36}" stroke="{PALE}" stroke-width="{pixels}"/>'
        )
        parts.append(f'<text x="{x + 42}" y="{y + 40}" font-size="12" fill="{INK}">{least} or more</text>')
    text = f"Fewer have no arrow, nor have the imports of {LAST}, which every room has."
    parts.append(f'<text x="{NAME_X}" y="{y + 62}" font-size="12" fill="{INK}">{text}</text>')
    return parts


if __name__ == "__main__":
    PATH.write_text(drawing(read_facts()), encoding="utf-8")
