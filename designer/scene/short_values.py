"""The short value of a layer on the canvas, such as `16 filters`, in the language of the window.

The engine has it in English (`LayerType.short_value`). What is of no form known here, such as a formula, is shown as it
is.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from netwright.designer.language import current, noop, tr, translation

_COUNTED: dict[str, Callable[[int], str]] = {
    "channel": lambda n: tr("%n channel(s)", "", n),
    "class": lambda n: tr("%n class(es)", "", n),
    "feature": lambda n: tr("%n feature(s)", "", n),
    "filter": lambda n: tr("%n filter(s)", "", n),
    "group": lambda n: tr("%n group(s)", "", n),
    "head": lambda n: tr("%n head(s)", "", n),
    "input": lambda n: tr("%n input(s)", "", n),
    "layer": lambda n: tr("%n layer(s)", "", n),
    "level": lambda n: tr("%n level(s)", "", n),
    "output": lambda n: tr("%n output(s)", "", n),
    "position": lambda n: tr("%n position(s)", "", n),
    "scale": lambda n: tr("%n scale(s)", "", n),
    "slice": lambda n: tr("%n slice(s)", "", n),
    "step": lambda n: tr("%n step(s)", "", n),
    "unit": lambda n: tr("%n unit(s)", "", n),
}
_PHRASES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"along (\w+)"), lambda part: tr("along {axis}", axis=part[1])),
    (re.compile(r"([\d,]+) parts along (\w+)"), lambda part: tr("{n} parts along {axis}", n=part[1], axis=part[2])),
    (re.compile(r"([\d,]+) times along (\w+)"), lambda part: tr("{n} times along {axis}", n=part[1], axis=part[2])),
    (re.compile(r"([+-][\d,]+) along (\w+)"), lambda part: tr("{shift} along {axis}", shift=part[1], axis=part[2])),
    (re.compile(r"up to (\S+)"), lambda part: tr("up to {limit}", limit=part[1])),
    (re.compile(r"above (\S+)"), lambda part: tr("above {limit}", limit=part[1])),
    (re.compile(r"([\d.+-]+) to ([\d.+-]+)"), lambda part: tr("{low} to {high}", low=part[1], high=part[2])),
    (re.compile(r"(\d+) \+ (\d+) layers"), lambda part: tr("{n} + {m} layers", n=part[1], m=part[2])),
    (re.compile(r"(\d+) steps of (\w+)"), lambda part: tr("{n} steps of {method}", n=part[1], method=part[2])),
    (re.compile(r"(\d+) bits, (\S+)"), lambda part: tr("{n} bits, {scale}", n=part[1], scale=part[2])),
    (re.compile(r"([\d,]+) from the start"), lambda part: tr("{n} from the start", n=part[1])),
    (re.compile(r"([\d,]+) from the end"), lambda part: tr("{n} from the end", n=part[1])),
    (
        re.compile(r"(\w+) over (\w+)"),
        lambda part: tr("{reduction} over {axis}", reduction=translation(part[1]), axis=translation(part[2])),
    ),
)
_WORDS = frozenset({
    *(noop("channel-wise"), noop("to numbers"), noop("to indices"), noop("places")),
    *(noop("zeros"), noop("constant"), noop("reflection"), noop("replication"), noop("circular")),
    *(noop("first"), noop("last"), noop("rows"), noop("columns"), noop("positions")),
    *(noop("mean"), noop("sum"), noop("max"), noop("min"), noop("norm"), noop("variance")),
})  # fmt: skip
"""Values that are words."""


def short_value(text: str) -> str:
    """Translate the short value of a layer type."""
    return _translated(text, current())


@lru_cache(maxsize=4096)
def _translated(text: str, _language: str) -> str:
    number, _, word = text.partition(" ")
    counted = _COUNTED.get(word.removesuffix("s")) or _COUNTED.get(word.removesuffix("es"))
    if counted and number.replace(",", "").isdecimal():
        return counted(int(number.replace(",", "")))
    for pattern, fill in _PHRASES:
        if match := pattern.fullmatch(text):
            return fill(match)
    return translation(text) if text in _WORDS else text
