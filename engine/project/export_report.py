"""Tables of an exported ONNX file as texts, for the command line and the window."""

from collections.abc import Mapping, Sequence
from typing import Any

from netwright.engine.core.fields import printable

Rows = list[tuple[str, ...]]


def measured_rows(measured: Sequence[Mapping[str, Any]]) -> Rows:
    """Return the table of accuracy, size and speed, its header first."""
    metrics, batches = list(measured[0]["metrics"]), list(measured[0]["milliseconds"])
    rows: Rows = [("", "size", *metrics, *(f"ms, batch {batch}" for batch in batches))]
    for row in measured:
        numbers = [_number(row["metrics"][name], 4) for name in metrics]
        times = [_number(row["milliseconds"][batch], 3) for batch in batches]
        rows.append((f"{row['runs_in']}, {row['precision']}", _size(row["size_bytes"]), *numbers, *times))
    return rows


def measured_where(measured: Sequence[Mapping[str, Any]]) -> str:
    """Return a line on the data and the threads of the table."""
    first = measured[0]
    threads = "1 thread" if first["threads"] == 1 else f"{first['threads']} threads"
    speed = f"speed on the CPU with {threads}"
    return f"metrics on {first['samples']:,} samples of the {first['split']} data; {speed}" if first["split"] else speed


def layer_rows(layers: Sequence[Mapping[str, Any]]) -> Rows:
    """Return the table of differences layer by layer, its header first."""
    rows: Rows = [("layer", "difference", "relative to spread", "")]
    for row in layers:
        mark = "first that differs" if row["is_first"] else "" if row["agrees"] else "differs"
        name = " + ".join((row["layer"], *row["absorbed"]))
        rows.append((printable(name), _number(row["difference"], 2), _number(row["relative"], 2), mark))
    return rows


def _number(value: float | str, digits: int) -> str:
    """Return a number for a reader; one that is not finite is a text already where it comes from JSON."""
    return value if isinstance(value, str) else f"{value:.{digits}g}"


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 1e5 else f"{count / 1e3:,.1f} kB"
