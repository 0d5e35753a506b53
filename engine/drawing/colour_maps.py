"""Colour maps for values: viridis from low to high, and blue over white to red around zero.

The stops are those of matplotlib's viridis and of ColorBrewer's RdBu (Harrower, Brewer, 2003), reversed.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

Rgb = tuple[int, int, int]
STOPS: Mapping[str, Sequence[Rgb]] = {
    "sequential": (
        (68, 1, 84),
        (71, 44, 122),
        (59, 81, 139),
        (44, 113, 142),
        (33, 144, 141),
        (39, 173, 129),
        (92, 200, 99),
        (170, 220, 50),
        (253, 231, 37),
    ),
    "diverging": (
        (5, 48, 97),
        (33, 102, 172),
        (67, 147, 195),
        (146, 197, 222),
        (247, 247, 247),
        (244, 165, 130),
        (214, 96, 77),
        (178, 24, 43),
        (103, 0, 31),
    ),
    "grey": ((0, 0, 0), (255, 255, 255)),
}
COUNT = 256


@lru_cache
def colours(name: str) -> tuple[Rgb, ...]:
    """Return the `COUNT` colours of a map, from the lowest value to the highest."""
    stops = STOPS[name]
    palette = []
    for number in range(COUNT):
        at = number * (len(stops) - 1) / (COUNT - 1)
        low = min(int(at), len(stops) - 2)
        share = at - low
        red, green, blue = (round(a + (b - a) * share) for a, b in zip(stops[low], stops[low + 1], strict=True))
        palette.append((red, green, blue))
    return tuple(palette)


def limits(low: float, high: float, *, is_signed: bool) -> tuple[float, float]:
    """Return the values of the first and the last colour: signed values have the same on both sides of zero."""
    if is_signed:
        most = max(abs(low), abs(high)) or 1.0
        return -most, most
    return low, high if high > low else low + 1.0
