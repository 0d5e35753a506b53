"""One workshop for all tests here, runs that nothing happens to as the measure, and a look at what is left behind."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from netwright.engine.project.project import Project
from tests.faults.harness import Workshop
from tests.runs import Done, wait_for
from tests.system.test_restarts import OFTEN
from tests.system.test_training import TWO, digits, mlp

EPOCHS = 12


def project_of(environment: dict[str, Any] | None = None, **training: Any) -> Project:
    """Small, saved every seven steps, validated every five, and the same to the bit each time."""
    return digits(mlp(), environment, **{"max_epochs": EPOCHS, **OFTEN, **training})


@pytest.fixture(scope="session")
def workshop(_session_leaves_nothing_running: None) -> Iterator[Workshop]:
    with Workshop() as workshop:
        yield workshop


def _reference(workshop: Workshop, folder: Path, environment: dict[str, Any] | None) -> Done:
    run = workshop.train(project_of(environment), folder)
    done = run.end()
    assert done.folder.state() == "finished", run.printed()
    return done


@pytest.fixture(scope="session")
def alone(workshop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A run of one worker that nothing happened to."""
    return _reference(workshop, tmp_path_factory.mktemp("alone") / "run", None)


@pytest.fixture(scope="session")
def together(workshop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """The same with two workers."""
    return _reference(workshop, tmp_path_factory.mktemp("together") / "run", TWO)


def _shared_memory() -> set[Path]:
    """Files of torch's, which are named by the process that made them, whose process is gone."""
    files = Path("/dev/shm").glob("torch_*_*")
    return {file for file in files if not psutil.pid_exists(int(file.name.split("_")[1]))}


@pytest.fixture(autouse=True)
def _no_shared_memory_stays() -> Iterator[None]:
    """Of what others use meanwhile, as of another process of tests, nothing is said."""
    before = _shared_memory()
    yield
    wait_for(lambda: _shared_memory() <= before, "the end of what workers shared")
