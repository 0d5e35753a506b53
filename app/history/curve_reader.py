"""Reads curves and progress of trials for the window in a process of its own, so that long logs do not block it.

python -m netwright.engine.core.child netwright.app.history.curve_reader FOLDER

Lines of JSON on standard input say what is wanted: `{"score": "validation.loss", "curves": ["1", "2"], "live": ["3"]}`
by the names of runs; a newer line takes the place of one that waits. Those on standard output are `{"curves": {name:
values}}` and `{"live": {name: [share, elapsed, remaining]}}`. The process ends when its input closes.
"""

import contextlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from netwright.engine.core.process import MessageReader, print_line, readable
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.trial_reader import read_curve, read_live

MODULE = "netwright.app.history.curve_reader"
CURVES_A_LINE = 8


def answers(folder: ExperimentFolder, request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield progress and curves of runs, a few at a time. Runs without a log have empty ones."""
    live = {}
    for name in request.get("live", ()):
        with contextlib.suppress(OSError, ValueError):
            live[name] = read_live(folder.run_path(str(name))).write()
    if live:
        yield {"live": live}
    curves: dict[str, list[float]] = {}
    for name in request.get("curves", ()):
        curves[name] = []
        with contextlib.suppress(OSError, ValueError):
            curves[name] = read_curve(folder.run_path(str(name)), str(request.get("score", "")))
        if len(curves) == CURVES_A_LINE:
            yield {"curves": curves}
            curves = {}
    if curves:
        yield {"curves": curves}


def main(arguments: list[str]) -> None:
    """Answer requests until the input closes; one that a newer one has replaced is left."""
    folder = ExperimentFolder(Path(arguments[0]))
    reader = MessageReader(sys.stdin.fileno())
    for request in reader.messages():
        newest = [request, *reader.read()][-1]
        for report in answers(folder, newest):
            print_line(report)
            if "curves" in report and readable([reader.descriptor], 0):
                break
