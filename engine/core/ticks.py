"""Ticks of axes: round numbers, for the plots of the window and the drawings of reports."""

import math

_TINY = 1e-300
"""No step is useful below this: a float has no digits left."""
_MOST_TICKS = 64
"""A range that has no two round numbers so close has no others either: a float has no digits left."""


def nice_step(span: float, count: int, *, is_whole: bool = False) -> float:
    """Return 1, 2, 2.5 or 5 times a power of ten that divides a span into about `count` parts, at most `count` of them;
    with `is_whole` a whole number."""
    raw = max(span / max(1, count), 1.0 if is_whole else _TINY)
    power = 10.0 ** math.floor(math.log10(raw))
    factors = (1, 2, 5) if is_whole and power < 10 else (1, 2, 2.5, 5)
    return next((factor * power for factor in factors if raw <= factor * power * 1.0001), 10 * power)


def multiples(low: float, high: float, step: float) -> list[float]:
    """Return the multiples of a step from `low` to `high`, both ends included."""
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step + 0.0 for number in range(first, last + 1)]


def decades(low: float, high: float, count: int) -> list[float]:
    """Return powers of ten from `low` to `high`, about `count` of them; 2 and 5 times them where there are few."""
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    stride = max(1, math.ceil((last - first) / max(1, count)))
    factors = (1, 2, 5) if last - first <= 2 else (1,)
    places = [factor * 10.0**power for power in range(first, last + 1, stride) for factor in factors]
    return [place for place in places if low * 0.999 <= place <= high * 1.001]


def round_ticks(low: float, high: float, count: int, *, is_whole: bool = False) -> list[float]:
    """Return round numbers from `low` to `high`, about `count` of them, two at least where there are so many; with
    `is_whole` whole numbers."""
    if not low < high:
        return [low]
    step = nice_step(high - low, count, is_whole=is_whole)
    ticks = multiples(low, high, step)
    is_finest = count > _MOST_TICKS or (is_whole and step <= 1)
    return ticks if len(ticks) > 1 or is_finest else round_ticks(low, high, 2 * count, is_whole=is_whole)
