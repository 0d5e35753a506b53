"""Reads and changes runs for the window in a process of its own, so that neither thousands of folders nor a disk that
does not answer block it.

python -m netwright.engine.core.child netwright.app.history.run_reader PROJECT ID

The project's file and identity may be empty. Lines of JSON on standard input say what to do: `{"do": "look"}`,
`{"do": "note", "run", "note", "tags"}`, `{"do": "rename", "run", "run_name"}`, `{"do": "delete", "runs"}`. Those on
standard output tell what changed since the last look: `{"runs": [...]}` and `{"gone": [...]}` by path,
`{"live": {path: [share, elapsed, remaining]}}` of those under way, then `{"looked": true}`; `{"noted": run}` that a
note was dealt with; `{"refused": "..."}` what could not be done.
The process ends when its input closes.
"""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.process import MessageReader, print_line, readable
from netwright.engine.runs.create import runs_beside
from netwright.engine.runs.folder import RunFolder, open_run
from netwright.engine.runs.history import ProjectKey, in_order, list_runs, own_runs, roots_of
from netwright.engine.runs.notes import write_notes
from netwright.engine.runs.summary import RunSummary
from netwright.engine.runs.trash import move_run_to_trash
from netwright.engine.runs.trial_reader import read_live

MODULE = "netwright.app.history.run_reader"
RUNS_A_LINE = 25
REST = 15
"""The pause after a look, as a multiple of its duration: watching costs a few per cent of a core."""


class RunReader:
    """Carries out requests, and remembers what was reported of the runs in the folders of a project."""

    def __init__(self, project: ProjectKey) -> None:
        self._project = project
        self._told: dict[str, dict[str, Any]] = {}
        self._not_before = 0.0

    def do(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Carry out a request, and yield what to report."""
        action = request.get("do")
        try:
            if action == "note":
                write_notes(open_run(Path(request["run"])), note=request["note"], tags=tuple(request["tags"]))
            elif action == "rename":
                write_notes(open_run(Path(request["run"])), run_name=request["run_name"])
            elif action == "delete":
                yield from self._each(request["runs"], lambda path: move_run_to_trash(RunFolder(path)))
        except UserError as error:
            yield {"refused": str(error)}
        if action == "note":
            yield {"noted": request["run"]}
        if action != "look" or time.monotonic() >= self._not_before:
            yield from self.look()

    def _each(self, paths: Sequence[str], do: Callable[[Path], None]) -> Iterator[dict[str, Any]]:
        refused = []
        for path in paths:
            try:
                do(Path(path))
            except UserError as error:
                refused.append(str(error))
        if refused:
            more = f"\n… and {len(refused) - 3:,} more." if len(refused) > 3 else ""
            yield {"refused": "\n".join(refused[:3]) + more}

    def look(self) -> Iterator[dict[str, Any]]:
        """Yield what has changed in the folders."""
        began = time.monotonic()
        runs = self._runs()
        now = {str(run.path): run.write() for run in runs}
        new = [run for path, run in now.items() if self._told.get(path) != run]
        for start in range(0, len(new), RUNS_A_LINE):
            yield {"runs": new[start : start + RUNS_A_LINE]}
        missing = [path for path in self._told if path not in now]
        if missing:
            yield {"gone": missing}
        self._told = now
        live = {}
        for run in runs:
            if run.is_alive:
                with contextlib.suppress(OSError):
                    live[str(run.path)] = read_live(run.path).write()
        yield {"live": live}
        yield {"looked": True}
        ended = time.monotonic()
        self._not_before = ended + REST * (ended - began)

    def _runs(self) -> list[RunSummary]:
        """Return all runs beside the project and in the user's data directory, and its own that lie elsewhere."""
        runs: list[RunSummary] = []
        common = (runs_beside(self._project.path) if self._project.path is not None else None, own_runs())
        for folder in roots_of(self._project):
            with contextlib.suppress(UserError):  # no run was made there yet
                summaries = list_runs(folder)
                runs += (
                    summaries if folder in common else [run for run in summaries if self._project.owns(run, run.path)]
                )
        return in_order(runs)


def requests(descriptor: int) -> Iterator[dict[str, Any]]:
    """Yield the requests, until the input closes. Several pending looks count as one."""
    reader = MessageReader(descriptor)
    for first in reader.messages():
        pending = [first, *reader.read()]
        yield from (request for request in pending if request.get("do") != "look")
        if any(request.get("do") == "look" for request in pending) and not readable([descriptor], 0):
            yield {"do": "look"}


def main(arguments: Sequence[str]) -> None:
    """Answer requests until the input closes."""
    path, identity = arguments
    attendant = RunReader(ProjectKey(Path(path) if path else None, identity))
    for request in requests(sys.stdin.fileno()):
        for report in attendant.do(request):
            print_line(report)
