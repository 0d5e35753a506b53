"""What commands print: the one way to standard output and standard error.

Names of files, classes, columns and runs, notes and messages come from files that a stranger may have written. A
terminal obeys control characters in them, and bidirectional ones let a line read as another. What is printed as lines
has them escaped as JSON does; a line break in a name begins no line. JSON is ASCII, and exact.
"""

import json
import os
import re
import sys
from collections.abc import Mapping
from typing import Any, TextIO

from netwright.engine.core.fields import printable

LONGEST_LINE = 8192
"""Characters of a line on standard error: a path has at most 4096."""
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def say(*lines: object, to: TextIO | None = None, flush: bool = False) -> None:
    """Print lines, each of them one line whatever is in it. On standard error one that nobody would read to its end
    loses its middle."""
    out = sys.stdout if to is None else to
    shown = [printable(_shortened(str(line)) if out is sys.stderr else str(line)) for line in lines]
    out.write("".join([f"{line}\n" for line in shown]))
    if flush:
        out.flush()


def _shortened(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE // 2]} ... {line[-LONGEST_LINE // 4 :]}"


def say_json(value: Mapping[str, Any]) -> None:
    """Print an object as JSON on one line of standard output. ASCII only."""
    sys.stdout.write(f"{json.dumps(value, allow_nan=False)}\n")


class TableOutput:
    """Standard output for a CSV table, whose texts are exact but for control characters; on a terminal all characters
    are escaped that are not printable. Line breaks within cells stay."""

    def __init__(self, out: TextIO) -> None:
        self._out, self._is_terminal = out, out.isatty()

    def write(self, text: str) -> None:
        """Write a part of the table."""
        if self._is_terminal:
            text = "\n".join(map(printable, text.split("\n")))
        self._out.write(_CONTROL.sub(lambda control: f"\\u{ord(control[0]):04x}", text))
