"""Trains a project by the real command, for proofs: the losses of its steps, and its result."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netwright.engine.runs.events import Points
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import EventReader

EXAMPLES = Path(__file__).parents[2] / "resources" / "examples"


def train(project: Path, folder: Path, changes: Mapping[str, object]) -> RunFolder:
    """Train, with changed options, in a folder of the run."""
    words = [word for name, value in changes.items() for word in ("--set", f"{name}={value}")]
    command = [sys.executable, "-m", "netwright.engine", "train", str(project), "--run-dir", str(folder), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return RunFolder(folder)


def losses(run: RunFolder) -> list[float]:
    """Return the training loss of every step."""
    events: list[Any] = EventReader(run, 2**30).read()
    return [x for one in events if isinstance(one, Points) and one.split == "training" for x in one.values["loss"]]


def apart(found: list[float], expected: list[float]) -> list[float]:
    """Return the relative difference of each step."""
    assert len(found) == len(expected) > 0, (len(found), len(expected))
    return [abs(a - b) / abs(b) for a, b in zip(found, expected, strict=True)]
