"""The runs of a folder or of a project, newest first. The folders are the truth; an index spares reading them again."""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from engine.errors import UserError
from engine.runs.creating import is_shipped, runs_beside
from engine.runs.folder import RunFolder
from engine.runs.index import Index, Known
from engine.runs.summary import (
    RunSummary,
    created_in,
    read_summary,
    stamp_of,
    summary_from,
    with_changes,
    with_state_now,
)

CLOCKS_APART_S = 60.0
"""How far the clock of a disk in the network may be behind."""


def list_runs(folder: Path) -> list[RunSummary]:
    """The runs in this folder, newest first; what is not a run, or cannot be read, is left out. Raises `UserError`."""
    try:
        candidates = [entry.path for entry in os.scandir(folder) if not entry.name.startswith(".")]
    except OSError as error:
        raise UserError(f"{folder} cannot be listed: {error.strerror}. Name the folder that holds the runs.") from None
    index = Index(folder)
    try:
        known = index.read()
        found: list[RunSummary] = []
        learned: dict[str, Known] = {}
        for path in candidates:
            with contextlib.suppress(OSError):  # somebody else's, or just deleted
                _look_at(path, known, found, learned)
        index.write(learned, known.keys() - {run.path.name for run in found})
    finally:
        index.close()
    return in_order(with_state_now(run) for run in found)


def _look_at(path: str, known: dict[str, Known], found: list[RunSummary], learned: dict[str, Known]) -> None:
    """Find a run as it is known, or read it."""
    stamp = stamp_of(path)  # before the files are read: a change meanwhile is then seen the next time
    if not stamp:
        return
    name = os.path.basename(path)
    if name in known and known[name].stamp == stamp:
        with contextlib.suppress(ValueError):
            found.append(summary_from({**known[name].record, "run_dir": path}))
            return
    run = read_summary(Path(path))
    learned[name] = Known(stamp, run.write())
    found.append(run)


def in_order(runs: Iterable[RunSummary]) -> list[RunSummary]:
    """Newest first, each with what differs from the one before it."""
    return with_changes(sorted(runs, key=lambda run: (run.created, run.path.name), reverse=True))


def own_runs() -> Path | None:
    """The folder of runs in the user's data directory: of projects without a file, of shipped ones, and of those beside
    which nobody may write."""
    with contextlib.suppress(RuntimeError):
        return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "netwright" / "runs"
    return None


def is_of(run: RunSummary, project_path: Path | None) -> bool:
    """Whether a run is of this project; runs beside a project that was moved with them count by its name."""
    if project_path is None or run.path.parent == own_runs():
        return run.project_path == (str(project_path) if project_path else "")
    return Path(run.project_path).name == project_path.name


def runs_of(project_path: Path | None) -> list[RunSummary]:
    """Every run of a project, wherever runs are put by themselves, newest first; of one without a file for None."""
    folders = [runs_beside(project_path)] if project_path is not None else []
    own = own_runs()
    found: list[RunSummary] = []
    for folder in dict.fromkeys([*folders, *([own] if own is not None else [])]):
        if folder.is_dir():
            with contextlib.suppress(UserError):
                found += [run for run in list_runs(folder) if is_of(run, project_path)]
    return in_order(found)


def last_run(project_path: Path) -> RunFolder | None:
    """The newest run of a project among those beside it, of a shipped one among those in the user's data, or None. Runs
    of a project that was moved with them count.

    Of thousands only those are read that can be the newest: no `run.json` was written before its run was made.
    """
    written: list[tuple[float, str]] = []
    own = own_runs() if is_shipped(project_path) else None
    with contextlib.suppress(OSError):
        for entry in os.scandir(own or runs_beside(project_path)):
            with contextlib.suppress(OSError):
                written.append((os.stat(f"{entry.path}/run.json").st_mtime, entry.path))
    best: tuple[float, str] | None = None
    for when, path in sorted(written, reverse=True):
        if best is not None and when + CLOCKS_APART_S < best[0]:
            break
        with contextlib.suppress(UserError, OSError):
            info = RunFolder(Path(path)).read_info()
            known = str(info.get("project_path", ""))
            if known == str(project_path) or (own is None and Path(known).name == project_path.name):
                best = max(best or (-1.0, ""), (created_in(info), path))
    return RunFolder(Path(best[1])) if best is not None else None
