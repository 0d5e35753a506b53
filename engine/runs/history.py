"""The runs of a folder, newest first, read from their own files."""

import contextlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import UserError
from engine.runs.folder import RunFolder, runs_beside


@dataclass(frozen=True)
class RunSummary:
    """One run: its folder, name, state, when it was made (seconds since the epoch), environment, and result if any."""

    path: Path
    name: str
    state: str
    created: float
    environment: str
    result: dict[str, Any] | None

    def write(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "run_dir": str(self.path),
            "name": self.name,
            "state": self.state,
            "created": self.created,
            "environment": self.environment,
            "result": self.result,
        }


def list_runs(folder: Path) -> list[RunSummary]:
    """The runs in this folder, newest first; what is not a run, or is damaged, is left out. Raises `UserError`."""
    try:
        candidates = list(folder.iterdir())
    except OSError as error:
        raise UserError(f"{folder} cannot be listed: {error.strerror}. Name the folder that holds the runs.") from None
    found = []
    for path in candidates:
        with contextlib.suppress(UserError, OSError):  # damaged, or somebody else's
            if (path / "run.json").is_file():
                found.append(summary(RunFolder(path)))
    return sorted(found, key=lambda run: (run.created, run.path.name), reverse=True)


def last_run(project_path: Path) -> RunFolder | None:
    """The newest run of a project among those beside it, or None. Runs of a project that was moved with them count."""
    found: list[tuple[float, str, RunFolder]] = []
    with contextlib.suppress(OSError):
        for path in runs_beside(project_path).iterdir():
            with contextlib.suppress(UserError, OSError):
                run = RunFolder(path)
                info = run.read_info() if run.info.is_file() else {}
                if Path(str(info.get("project_path", ""))).name == project_path.name:
                    found.append((_created(info), path.name, run))
    return max(found, key=lambda run: run[:2])[2] if found else None


def summary(run: RunFolder) -> RunSummary:
    """One run in short. Raises `UserError` where `run.json` is damaged; a damaged result counts as none."""
    info = run.read_info()
    environment = info.get("environment")
    result = None
    with contextlib.suppress(UserError):
        result = run.read_result()
    return RunSummary(
        path=run.path,
        name=str(info.get("name", run.path.name)),
        state=run.state(),
        created=_created(info),
        environment=str(environment.get("resolved", "")) if isinstance(environment, dict) else "",
        result=result,
    )


def _created(info: dict[str, Any]) -> float:
    """When a run was made; a damaged time is the oldest there is."""
    created = info.get("created")
    return float(created) if isinstance(created, (int, float)) and math.isfinite(created) else 0.0
