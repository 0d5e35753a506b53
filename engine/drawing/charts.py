"""Charts as SVG text: lines, points, bars and matrices, for pages that show them without a program."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from netwright.engine.core.fields import printable
from netwright.engine.core.text import xml_text
from netwright.engine.core.ticks import decades, multiples, nice_step
from netwright.engine.drawing.colours import mixed
from netwright.engine.drawing.picture import elided, text_width

BLUE, ORANGE, GREEN, VIOLET = "#0072b2", "#d55e00", "#009e73", "#aa4499"
"""Colours that people who see few colours tell apart (Okabe and Ito, Color Universal Design, 2008)."""
INK, MUTED, RULE, PAPER = "#1b2130", "#5b6375", "#e3e6ec", "#ffffff"
FONTS = "Inter, 'Segoe UI', 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
SIZE = 11.0
WIDTH, HEIGHT = 480.0, 260.0
TOP, RIGHT, BOTTOM = 12.0, 14.0, 40.0
LEGEND = 20.0
TICKS = 5
DECADES = 8
MOST_NUMBERED = 20
"""Classes up to which the cells of a matrix have numbers."""

Numbers = Sequence[float]


@dataclass(frozen=True)
class Marks:
    """Marks of one colour in a chart: a `line` through points, `points`, or `bars` from 0, each `width` wide in the
    units of x. `label` stands in the legend."""

    x: Numbers
    y: Numbers
    kind: str = "line"
    label: str = ""
    colour: str = BLUE
    is_dashed: bool = False
    is_faint: bool = False
    width: float = 0.0


@dataclass(frozen=True)
class Axis:
    """An axis: its name, its ends where they are fixed, whether it is logarithmic, and whether it shows percents.
    `texts` stand at 0, 1, 2 and so on in place of numbers."""

    name: str = ""
    low: float | None = None
    high: float | None = None
    is_log: bool = False
    is_percent: bool = False
    texts: Sequence[str] = ()


@dataclass(frozen=True)
class Chart:
    """A chart; `title` is what a reader that cannot see it is told."""

    title: str
    marks: Sequence[Marks]
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    width: float = WIDTH
    height: float = HEIGHT

    def svg(self) -> str:
        """Return the SVG element."""
        bars = [marks for marks in self.marks if marks.kind == "bars"]
        ends = [value + side * marks.width / 2 for marks in bars for value in marks.x for side in (-1, 1)]
        x_scale = _Scale(self.x, [*(value for marks in self.marks if marks not in bars for value in marks.x), *ends])
        heights = [value for marks in self.marks for value in marks.y]
        y_scale = _Scale(self.y, [*heights, *([0.0] if bars else [])])
        labels = [y_scale.label(tick) for tick in y_scale.ticks]
        left = 14.0 + max(map(_width, labels), default=0.0) + (16.0 if self.y.name else 0.0)
        legend = [marks for marks in self.marks if marks.label]
        top = TOP + (LEGEND if legend else 0.0)
        right, bottom = self.width - RIGHT, self.height - BOTTOM
        across = x_scale.onto(left, right)
        down = y_scale.onto(bottom, top)
        parts = [*_grid(y_scale, labels, down, left, right), *_ticks(x_scale, across, bottom)]
        parts += [_shape(marks, across, down) for marks in self.marks]
        parts.append(f'<path d="M{_n(left)} {_n(bottom)}H{_n(right)}" stroke="{MUTED}" fill="none"/>')
        if self.x.name:
            parts.append(_text((left + right) / 2, self.height - 6, self.x.name, "middle"))
        if self.y.name:
            parts.append(_text(11, (top + bottom) / 2, self.y.name, "middle", turned=True))
        parts += _legend(legend, left)
        return framed(self.title, self.width, self.height, parts)


@dataclass(frozen=True)
class Matrix:
    """Counts (rows: true classes, columns: predicted ones) as a chart, shaded by the share of their row."""

    title: str
    names: Sequence[str]
    counts: Sequence[Sequence[int]]

    def svg(self) -> str:
        """Return the SVG element."""
        count = len(self.names)
        has_numbers = count <= MOST_NUMBERED
        side = max(5.0, min(44.0, 560.0 / max(1, count)))
        size = min(SIZE, side * 0.8)
        names = [elided(name, 110, size) for name in self.names] if size >= 7 else [""] * count
        left = 30.0 + max(map(_width, names), default=0.0)
        top = 12.0
        longest = max(map(_width, names), default=0.0)
        is_turned = longest > side - 4
        below = 26.0 + (longest if is_turned else SIZE)
        parts = []
        for row, (name, cells) in enumerate(zip(self.names, self.counts, strict=True)):
            total = sum(cells)
            for column, number in enumerate(cells):
                share = number / total if total else 0.0
                x, y = left + column * side, top + row * side
                fill = mixed(BLUE if row == column else ORANGE, PAPER, share**0.6)
                tooltip = f"{name} as {self.names[column]}: {number:,}"
                parts.append(
                    f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(side)}" height="{_n(side)}" fill="{fill}" '
                    f'stroke="{RULE}" stroke-width="0.5"><title>{xml_text(tooltip)}</title></rect>'
                )
                if has_numbers and number:
                    colour = PAPER if share > 0.5 else INK
                    size_here = min(size, side * 1.5 / max(2, len(f"{number:,}")))
                    middle = y + side / 2 + size_here * 0.35
                    parts.append(_text(x + side / 2, middle, f"{number:,}", "middle", size=size_here, colour=colour))
        for place, name in enumerate(names):
            middle = (place + 0.5) * side + size * 0.35
            parts.append(_text(left - 6, top + middle, name, "end", size=size))
            if is_turned:
                parts.append(_text(left + middle, top + count * side + 6, name, "end", size=size, turned=True))
            else:
                x = left + (place + 0.5) * side
                parts.append(_text(x, top + count * side + size + 5, name, "middle", size=size))
        width, height = left + count * side + 8, top + count * side + below
        parts.append(_text(11, top + count * side / 2, "true class", "middle", turned=True))
        parts.append(_text(left + count * side / 2, height - 4, "predicted class", "middle"))
        return framed(self.title, max(width, left + 90), height, parts)


def framed(title: str, width: float, height: float, parts: Sequence[str]) -> str:
    """Return an SVG element with a title."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(height)}" '
        f'viewBox="0 0 {_n(width)} {_n(height)}" role="img" font-family="{FONTS}">'
    )
    return "\n".join([head, f"<title>{xml_text(title)}</title>", *parts, "</svg>"])


def smoothed(values: Numbers, window: float) -> list[float]:
    """Return the exponential moving average of values, with weights that fall to 1/e over `window` values and sum to 1
    from the first value on. Values that are not finite leave the average as it is."""
    decay = math.exp(-1 / max(window, 1e-9))
    means, total, weight = [], 0.0, 0.0
    for value in values:
        if math.isfinite(value):
            total, weight = decay * total + (1 - decay) * value, decay * weight + 1 - decay
        means.append(total / weight if weight else math.nan)
    return means


def extremes(x: Numbers, y: Numbers, most: int) -> tuple[list[float], list[float]]:
    """Return at most about `most` points that draw the same line: the lowest and the highest of each piece."""
    if len(x) <= most:
        return list(x), list(y)
    step = math.ceil(2 * len(x) / most)
    places: list[int] = []
    for start in range(0, len(x), step):
        finite = [place for place in range(start, min(len(x), start + step)) if math.isfinite(y[place])]
        if finite:
            places += sorted({min(finite, key=y.__getitem__), max(finite, key=y.__getitem__)})
    return [x[place] for place in places], [y[place] for place in places]


class _Scale:
    """Ends and ticks of an axis that holds values."""

    def __init__(self, axis: Axis, values: Numbers) -> None:
        self.axis = axis
        if axis.texts:
            self.ticks = [float(place) for place in range(len(axis.texts))]
            self.low, self.high = -0.5, len(axis.texts) - 0.5
            return
        finite = [value for value in values if math.isfinite(value) and (value > 0 or not axis.is_log)]
        low = axis.low if axis.low is not None else min(finite, default=1.0 if axis.is_log else 0.0)
        high = axis.high if axis.high is not None else max(finite, default=10.0 if axis.is_log else 1.0)
        if axis.is_log:
            first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
            self.low, self.high = 10.0**first, 10.0 ** max(last, first + 1)
            self.ticks = decades(self.low, self.high, DECADES)
            return
        if high <= low:
            low, high = low - max(0.5, abs(low) / 10), high + max(0.5, abs(high) / 10)
        step = nice_step(high - low, TICKS)
        self.low = low if axis.low is not None else math.floor(low / step + 1e-9) * step
        self.high = high if axis.high is not None else math.ceil(high / step - 1e-9) * step
        self.ticks = multiples(self.low, self.high, step)

    def label(self, tick: float) -> str:
        if self.axis.texts:
            return self.axis.texts[round(tick)]
        if self.axis.is_percent:
            return f"{100 * tick:.6g} %"
        return f"{tick:,.6g}" if abs(tick) < 1e6 else f"{tick:.3g}"

    def onto(self, start: float, end: float) -> Callable[[float], float]:
        """Return the function from values to positions between two."""
        change = math.log10 if self.axis.is_log else float
        low, high = change(self.low), change(self.high)

        def place(value: float) -> float:
            if self.axis.is_log and value <= 0:
                return math.nan
            return start + (change(value) - low) / (high - low) * (end - start)

        return place


def _grid(
    scale: _Scale, labels: Sequence[str], down: Callable[[float], float], left: float, right: float
) -> Iterator[str]:
    for tick, label in zip(scale.ticks, labels, strict=True):
        y = down(tick)
        yield f'<path d="M{_n(left)} {_n(y)}H{_n(right)}" stroke="{RULE}" fill="none"/>'
        yield _text(left - 6, y + SIZE * 0.35, label, "end")


def _ticks(scale: _Scale, across: Callable[[float], float], bottom: float) -> Iterator[str]:
    for tick in scale.ticks:
        x = across(tick)
        yield f'<path d="M{_n(x)} {_n(bottom)}v4" stroke="{MUTED}" fill="none"/>'
        yield _text(x, bottom + 16, scale.label(tick), "middle")


def _shape(marks: Marks, across: Callable[[float], float], down: Callable[[float], float]) -> str:
    colour = mixed(marks.colour, PAPER, 0.35) if marks.is_faint else marks.colour
    points = [(across(x), down(y)) for x, y in zip(marks.x, marks.y, strict=True)]
    there = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
    if marks.kind == "points":
        dots = "".join(f"M{_n(x - 1.8)} {_n(y)}a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0 -3.6 0" for x, y in there)
        return f'<path d="{dots}" fill="{colour}" fill-opacity="{0.5 if marks.is_faint else 0.8}"/>'
    if marks.kind == "bars":
        floor = down(0.0)
        bars = []
        for middle, height in zip(marks.x, marks.y, strict=True):
            left, right, top = across(middle - marks.width / 2), across(middle + marks.width / 2), down(height)
            if all(map(math.isfinite, (left, right, top, floor))):
                bars.append(f"M{_n(left)} {_n(floor)}V{_n(top)}H{_n(right)}V{_n(floor)}Z")
        return f'<path d="{"".join(bars)}" fill="{colour}"/>'
    pieces, is_open = [], False
    for x, y in points:
        if not (math.isfinite(x) and math.isfinite(y)):
            is_open = False
            continue
        pieces.append(f"{'L' if is_open else 'M'}{_n(x)} {_n(y)}")
        is_open = True
    dash = ' stroke-dasharray="4 3"' if marks.is_dashed else ""
    wide = 1.0 if marks.is_faint else 1.6
    return f'<path d="{"".join(pieces)}" fill="none" stroke="{colour}" stroke-width="{wide}"{dash}/>'


def _legend(marks: Sequence[Marks], left: float) -> Iterator[str]:
    for item in marks:
        colour = mixed(item.colour, PAPER, 0.35) if item.is_faint else item.colour
        dash = ' stroke-dasharray="4 3"' if item.is_dashed else ""
        middle = TOP + 2
        if item.kind == "line":
            yield f'<path d="M{_n(left)} {_n(middle)}h16" stroke="{colour}" stroke-width="2" fill="none"{dash}/>'
        else:
            yield f'<circle cx="{_n(left + 8)}" cy="{_n(middle)}" r="3" fill="{colour}"/>'
        yield _text(left + 21, middle + SIZE * 0.35, item.label)
        left += 37 + _width(item.label)


def _text(
    x: float,
    y: float,
    text: str,
    anchor: str = "start",
    *,
    size: float = SIZE,
    colour: str = MUTED,
    turned: bool = False,
) -> str:
    turn = f' transform="rotate(-90 {_n(x)} {_n(y)})"' if turned else ""
    return (
        f'<text x="{_n(x)}" y="{_n(y)}" font-size="{_n(size)}" fill="{colour}" text-anchor="{anchor}"{turn}>'
        f"{xml_text(printable(text))}</text>"
    )


def _width(text: str) -> float:
    return text_width(text, SIZE) * 1.08


def _n(value: float) -> str:
    """Return a number with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
