"""Output on a terminal: tables, colour and progress by rich. It is imported when it is used, and only on a terminal.

Elsewhere the commands print plain lines. NO_COLOR leaves colours out.
"""

import contextlib
import io
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from netwright.engine.cli.answers import table
from netwright.engine.cli.printing import is_terminal, say
from netwright.engine.core import progress
from netwright.engine.core.fields import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

LINE_EVERY_S = 5.0
"""Time between two lines of progress where there is no terminal, in seconds."""
REACH = 24
"""Half of the width that a line of progress is cleared over."""
STYLES: Mapping[str, str] = {
    "finished": "green",
    "ok": "green",
    "yes": "green",
    "requirement met": "green",
    "running": "cyan",
    "trains": "cyan",
    "paused": "yellow",
    "stopped": "yellow",
    "warning": "yellow",
    "error": "red",
    "failed": "red",
    "lost": "red",
    "refused": "red",
    "damaged": "red",
    "requirement not met": "red",
}
"""Colours by the beginning of a text, up to a colon or comma."""
SHORTEST_BAR, LONGEST_CELL = 8, 1000
LEAST_SHADE = 26
"""Strength of a colour, of 255, below which it is left out."""


def print_table(rows: Sequence[Sequence[str]], right: Sequence[int] = (), *, has_header: bool = True) -> None:
    """Print aligned columns, the first row a header; on a terminal in colour and within its width, where all
    columns but the first, the name, take several lines. `right`: indexes of the right-aligned columns."""
    rows = [[_cell(text) for text in row] for row in rows]
    if not is_terminal(sys.stdout):
        say(*table(rows, right))
        return
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_header=has_header)
    longest = max(len(row[0]) for row in rows)
    for i, name in enumerate(rows[0]):
        grid.add_column(
            Text(name if has_header else ""),
            justify="right" if i in right else "left",
            no_wrap=i == 0,
            overflow="fold",
            min_width=longest if i == 0 else None,
        )
    for row in rows[1:] if has_header else rows:
        grid.add_row(*map(_styled, row))
    _console(sys.stdout).print(grid)


def print_shaded(words: Sequence[tuple[str, float]]) -> None:
    """Print words in a row; on a terminal each on a ground of its share, -1 to 1: blue, none, red."""
    if not is_terminal(sys.stdout):
        say(" ".join(word for word, _ in words))
        return
    from rich.text import Text

    row = Text()
    for word, share in words:
        strength = round(255 * min(1.0, abs(share)))
        ground = f"#{strength:02x}0000" if share > 0 else f"#0000{strength:02x}"
        row.append(printable(word), f"#ffffff on {ground}" if strength >= LEAST_SHADE else "")
        row.append(" ")
    _console(sys.stdout).print(row)


def _cell(text: str) -> str:
    """Return the text of a cell on one line, and no longer than anybody reads."""
    return printable(text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…")


def _styled(text: str) -> "Text":
    from rich.text import Text

    return Text(text, style=STYLES.get(text.partition(":")[0].partition(",")[0], ""))


def _console(stream: TextIO) -> "Console":
    from rich.console import Console

    return Console(file=stream, highlight=False, force_terminal=True)


class _Lenient(io.TextIOBase):
    """Text stream that drops what cannot be written, so that a closed terminal does not end the training."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self._stream, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._stream.flush()


class Display:
    """Lines above, and below them a few that are replaced: what is under way. Without a thread, which would not survive
    the fork of a worker."""

    def __init__(self, stream: TextIO) -> None:
        lenient = _Lenient(stream)
        self._console = _console(lenient)  # type: ignore[arg-type]
        self._is_utf8 = "utf" in lenient.encoding.lower()
        self._live: Live | None = None

    def say(self, *lines: str) -> None:
        """Print lines above."""
        for line in lines:
            self._console.print(_styled(printable(line)), soft_wrap=True)

    def show(self, *lines: "Text | str") -> None:
        """Replace the lines that are under way. Each is cut at the width of the terminal."""
        from rich.console import Group
        from rich.live import Live
        from rich.text import Text

        texts = [Text(printable(line)) if isinstance(line, str) else line for line in lines]
        for text in texts:
            text.no_wrap, text.overflow = True, "ellipsis"
        if self._live is None:
            self._live = Live(
                console=self._console,
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
            self._console.show_cursor(True)  # a killed process must not leave it hidden
        self._live.update(Group(*texts), refresh=True)

    def show_progress(self, position: str, share: float, speed: Sequence[str], metrics: str) -> None:
        """Show the lines of `progress_lines`."""
        self.show(*self.progress_lines(position, share, speed, metrics))

    def progress_lines(self, position: str, share: float, speed: Sequence[str], metrics: str) -> "list[Text | str]":
        """Return a bar between position and speed, and metrics below. Nothing is cut: what does not fit takes lines of
        its own."""
        from rich.text import Text

        width, position = self._console.width, printable(position)
        below = textwrap.wrap(printable(metrics), width)
        whole = "  ".join(speed)
        room = width - len(position) - len(whole) - 4
        if room < SHORTEST_BAR:
            return [*textwrap.wrap(position, width), *([whole] if len(whole) <= width else speed), *below]
        filled = round(room * min(1.0, max(0.0, share)))
        full, rest = ("━", "─") if self._is_utf8 else ("#", ".")
        bar = Text.assemble(position, "  ", (full * filled, "cyan"), (rest * (room - filled), "dim"), "  ", whole)
        return [bar, *below]

    def close(self) -> None:
        """Remove the lines that are under way."""
        if self._live is not None:
            self._live.stop()
            self._live = None


@contextlib.contextmanager
def showing(doing: str) -> Iterator[None]:
    """Show the progress of what is done inside: on a terminal in one line, else a line every `LINE_EVERY_S` seconds."""
    if not is_terminal(sys.stderr):

        def tell(done: int, total: int, unit: str) -> None:
            say(f"{doing}: {progress.in_words(done, total, unit)}", to=sys.stderr, flush=True)

        with progress.listening(progress.Throttle(tell, LINE_EVERY_S, LINE_EVERY_S)):
            yield
        return

    def show(done: int, total: int, unit: str) -> None:
        _write(f"\r{doing}: {progress.in_words(done, total, unit)}".ljust(REACH * 2))

    with progress.listening(progress.Throttle(show)):
        yield
    _write("\r".ljust(REACH * 2) + "\r")


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
