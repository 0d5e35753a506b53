"""Numbers of a run as a person reads them, in a window or a terminal."""

import math

from engine.project.options.metrics import is_share


def duration(seconds: float) -> str:
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


def bytes_in_words(count: int) -> str:
    """`612 MiB`, `1.4 GiB`, or nothing for zero."""
    if count <= 0:
        return ""
    mib = count / 2**20
    return f"{mib:,.0f} MiB" if mib < 1024 else f"{mib / 1024:,.1f} GiB"


def metric_value(name: str, value: float) -> str:
    """`accuracy 96.4 %`, `loss 0.113`."""
    if is_share(name) and math.isfinite(value):
        return f"{name} {100 * value:.1f} %"
    return f"{name} {value:.4g}"
