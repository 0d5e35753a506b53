"""Text formats: durations, sizes in bytes, percentages, text in XML."""

import math
from collections.abc import Mapping
from datetime import datetime
from numbers import Integral, Real
from typing import Any

from netwright.engine.core.fields import printable

LEAST_EXPONENT, MOST_EXPONENT = -4, 12
"""Powers of ten within which a number is written without one."""
NOTHING = "–"
"""The text of a value that there is not."""
MOST_ENTRIES = 8
_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB")
_FLOPS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def format_percent(share: float, places: int = 0) -> str:
    """A share of one in per cent, `places` behind the point, as in `4.2 %`."""
    return f"{100 * share:,.{places}f} %" if math.isfinite(share) else _rounded(share, places)


def format_number(value: float, digits: int = 3) -> str:
    """A number with at least so many digits that matter, without zeros at its end: `12,345`, `0.0975`, `4`, `3.2e-5`.

    No digit before the point is dropped; an integer is never rounded.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = _rounded(value, digits)
    mantissa, mark, power = text.partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}{mark}{power}" if "." in mantissa else text


def format_figure(value: float, digits: int = 3) -> str:
    """A measured value, such as a loss, with at least so many digits that matter: `12,345`, `4.00`, `0.0975`."""
    return _rounded(float(value), digits)


def format_value(value: object, *, is_percent: bool = False, is_measured: bool = False, digits: int = 3) -> str:
    """Return any value as a table, a card or a readout shows it: shares in per cent with one decimal, other numbers
    with at least three digits that matter, whole numbers whole, lists by their first entries, and `–` where there is
    none. A measured one keeps zeros at its end, so that columns line up."""
    if isinstance(value, list | tuple):
        texts = (format_value(item, is_percent=is_percent, is_measured=is_measured) for item in value[:MOST_ENTRIES])
        return ", ".join(texts) + (", …" if len(value) > MOST_ENTRIES else "")
    if isinstance(value, bool) or not isinstance(value, Real):
        return NOTHING if value is None or value == "" else str(value)
    if isinstance(value, Integral) and not is_percent:
        return f"{int(value):,}"
    number = float(value)
    if math.isnan(number):
        return NOTHING
    if is_percent:
        return format_percent(number, 1)
    return format_figure(number, digits) if is_measured else format_number(number, digits)


def format_signed(value: float) -> str:
    """Return a difference with its sign: `+0.25`, `−3`, `±0`."""
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{format_number(abs(value))}"


def _rounded(value: float, digits: int) -> str:
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    if value == 0:
        return "0"
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    if LEAST_EXPONENT <= exponent < MOST_EXPONENT:
        return f"{value:,.{max(0, digits - 1 - exponent)}f}"
    mantissa = f"{value:.{digits - 1}e}".partition("e")[0]
    return f"{mantissa}e{exponent}"


def format_duration(seconds: float) -> str:
    """`1 h 2 m`, `4 m 36 s`, `0.8 s`."""
    if not math.isfinite(seconds):
        return "?"
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes} m"
    return f"{minutes} m {rest} s" if minutes else f"{rest} s"


def format_ago(seconds: float) -> str:
    """Return a time in the past by its distance: `just now`, `5 min ago`, `2 h ago`, `yesterday`, `3 days ago`."""
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min ago" if seconds < 3570 else "1 h ago"
    if seconds < 22 * 3600:
        return f"{seconds / 3600:.0f} h ago"
    days = max(1, round(seconds / 86400))
    return "yesterday" if days == 1 else f"{days:,} days ago"


def iso_time(seconds: float) -> str | None:
    """Return a time in seconds since the epoch in ISO 8601 with its time zone; None for 0, which stands for unknown,
    and for a number that is no time."""
    try:
        return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds") if seconds else None
    except (ValueError, OverflowError, OSError):
        return None


def format_bytes(count: int) -> str:
    """`612 B`, `3.1 MiB`, `28 MiB`: two or three digits that matter."""
    if count < 1024:
        return f"{count:,} B"
    value, unit = count / 1024, _UNITS[0]
    for unit in _UNITS:
        if value < 1023.5 or unit == _UNITS[-1]:
            break
        value /= 1024
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:,.0f} {unit}"


def format_flops(per_second: float) -> str:
    """Return a rate of floating-point operations: `830 MFLOP/s`, `1.25 TFLOP/s`."""
    scale, unit = next(((s, u) for s, u in _FLOPS if per_second >= s), _FLOPS[-1])
    return f"{per_second / scale:.3g} {unit}FLOP/s"


def xml_text(text: str) -> str:
    """Return text as it stands between the tags of XML. `xml.sax.saxutils` would import TLS and HTTP for this."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def first_line(error: BaseException) -> str:
    """Return the first sentence of an error's text, with the line after it where it ends at a colon."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    text = lines[0]
    for line in lines[1:]:
        if not text.endswith(":"):
            break
        text = f"{text} {line}"
    return text.rstrip(":")


LEAST_TOLD = 0.0005
"""Smallest probability beside the largest that is printed."""


def answer_in_words(answer: Mapping[str, Any]) -> str:
    """Return an answer as text: `3 (0.982), 8 (0.011)`, a number, labels."""
    if "top" in answer:
        first, *others = answer["top"]
        likely = [first, *(row for row in others if row["probability"] >= LEAST_TOLD)]
        top = ", ".join(f"{printable(row['class'])} ({row['probability']:.3f})" for row in likely)
        top += "; unlike the training data" if answer.get("unlike_training") else ""
        return f"{', '.join(map(printable, answer['labels'])) or 'none'}; {top}" if "labels" in answer else top
    if "shares" in answer:
        shares = sorted(answer["shares"].items(), key=lambda pair: -pair[1])
        return ", ".join(f"{printable(name)} {share:.1%}" for name, share in shares if share)
    if "text" in answer:
        return printable(answer["text"])
    value = answer.get("value", answer.get("classes", answer.get("transcript")))
    if isinstance(value, dict):
        return ", ".join(f"{printable(name)} {number:.6g}" for name, number in value.items())
    if len(sizes := _sizes(value)) > 1:
        return f"{' × '.join(f'{size:,}' for size in sizes)} numbers"
    if isinstance(value, list):
        return " ".join(f"{item:.6g}" if isinstance(item, float) else printable(str(item)) for item in value)
    return f"{value:.6g}"


def _sizes(value: Any) -> list[int]:
    """Return the lengths of nested lists, from the outside."""
    return [len(value), *_sizes(value[0])] if isinstance(value, list) and value else []
