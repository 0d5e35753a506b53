"""A run to look at."""

from pathlib import Path

import pytest

from netwright.engine.runs.create import create
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.info import RunInfo


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A new run."""
    return create(tmp_path / "run", '{"netwright": [1, 0]}\n', RunInfo(name="digits"))
