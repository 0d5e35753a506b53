"""A slow machine: engine processes run for a fraction of the time, so that all that a window does not know yet stays
unknown for long.

python -m tests.journeys.slowing MARK
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SHARE = 0.35
"""Fraction of the time in which engine processes run."""
PERIOD_S = 0.08
LOOK_S = 0.3
"""Time between two searches for new processes, in seconds."""


@contextmanager
def slowed() -> Iterator[None]:
    """Context in which the processes that this one starts are slow, those that outlive their parent too."""
    command = [sys.executable, "-m", "tests.journeys.slowing", os.environ["NETWRIGHT_TEST_SESSION"]]
    slowing = subprocess.Popen(command, stdin=subprocess.PIPE)
    try:
        yield
    finally:
        slowing.communicate()  # which closes its input


def main(mark: str) -> None:
    """Stop and continue the processes whose environment has the mark, until standard input is closed."""
    pids: list[int] = []
    looked, is_over = 0.0, False
    try:
        while not is_over:
            if time.monotonic() - looked > LOOK_S:
                pids, looked = list(_marked(mark)), time.monotonic()
            _signal(pids, signal.SIGSTOP)
            is_over = bool(select.select([0], [], [], PERIOD_S * (1 - SHARE))[0])
            _signal(pids, signal.SIGCONT)
            is_over = is_over or bool(select.select([0], [], [], PERIOD_S * SHARE)[0])
    finally:
        _signal(pids, signal.SIGCONT)


def _marked(mark: str) -> Iterator[int]:
    """Yield the processes of the session but for this one and the one that started it, which has the window."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and int(folder.name) not in (os.getpid(), os.getppid()):
            with contextlib.suppress(OSError):
                if mark.encode() in (folder / "environ").read_bytes():
                    yield int(folder.name)


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


if __name__ == "__main__":
    main(sys.argv[1])
