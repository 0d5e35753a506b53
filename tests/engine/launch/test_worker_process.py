"""When a worker may be forked. How workers run and end is in the tests of the coordinator."""

from pathlib import Path

import pytest
import torch

from netwright.engine.core import posix_files
from netwright.engine.launch import worker_process


def test_no_worker_is_forked_from_a_process_that_has_a_driver_of_an_accelerator_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `torch.cuda.is_available()` leaves it, after which torch still calls itself uninitialised."""
    driver = tmp_path / "nvidiactl"
    driver.touch()
    monkeypatch.setattr(worker_process, "_DRIVERS", (str(driver),))
    assert worker_process.can_fork()
    with driver.open():
        assert not torch.cuda.is_initialized()
        assert not worker_process.can_fork()
    assert worker_process.can_fork()


@pytest.mark.parametrize(
    ("path", "is_driver"), [("/dev/nvidiactl", True), ("/dev/kfd", True), ("/dev/null", False), ("socket:[1]", False)]
)
def test_drivers_are_known_by_what_they_open(
    path: str, is_driver: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "3").symlink_to(path)
    (tmp_path / "4").write_text("no link: it has gone meanwhile")
    monkeypatch.setattr(posix_files, "OPEN_FILES", tmp_path)
    assert worker_process.has_driver_open() is is_driver
    monkeypatch.setattr(posix_files, "OPEN_FILES", tmp_path / "nothing shows them")
    assert not worker_process.has_driver_open()
