"""How a worker says what went wrong in it."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import torch

from netwright.engine.core.progress import report
from netwright.engine.launch import worker
from netwright.engine.launch.channel import ReportPipe
from netwright.engine.launch.worker import _describe
from netwright.engine.parallel.worker_spec import WorkerSpec
from netwright.engine.runs.events import Event, Preparing
from netwright.engine.runs.folder import RunFolder


def test_what_has_no_deterministic_form_is_no_defect_of_ours(tmp_path: Path) -> None:
    torch.use_deterministic_algorithms(True)
    try:
        with pytest.raises(RuntimeError) as raised:
            torch.zeros(3).put_(torch.tensor([0]), torch.ones(1))
    finally:
        torch.use_deterministic_algorithms(False)
    said = _describe(raised.value, RunFolder(tmp_path))
    assert said["cause"].startswith("torch has no deterministic form of put_ on this device")
    assert "training.deterministic" in said["cause"]
    assert not said["defect"]


def test_memory_that_ran_out_where_workers_are_joined_is_no_lost_worker(tmp_path: Path) -> None:
    """A run that lost a worker is tried again, which would end the same."""
    words = "NCCL error in: NCCLUtils.cpp:94, unhandled cuda error. Last error: Cuda failure 2 'out of memory'"
    said = _describe(torch.distributed.DistBackendError(words), RunFolder(tmp_path))
    assert not said["is_peer_failure"]
    assert said["cause"].startswith("There is not enough memory to train")
    lost = _describe(torch.distributed.DistBackendError("NCCL error: remote process exited"), RunFolder(tmp_path))
    assert lost["is_peer_failure"]


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (
            "CUDA error: CUDA-capable device(s) is/are busy or unavailable\nSearch for",
            "it is taken by another program.",
        ),
        ("CUDA error: device-side assert triggered\nCUDA kernel errors", "CUDA error: device-side assert triggered."),
    ],
)
def test_a_device_that_fails_is_no_defect_of_ours(words: str, cause: str, tmp_path: Path) -> None:
    said = _describe(torch.AcceleratorError(words), RunFolder(tmp_path))
    assert said["cause"].startswith(f"The device failed: {cause} Train on the CPU")
    assert not said["defect"]


def test_the_first_worker_tells_how_far_the_data_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "PREPARING_S", 0.0)
    told: list[Event] = []
    reports = SimpleNamespace(put=told.append)
    for rank in (0, 1):
        with worker.preparing_events(WorkerSpec(folder="", rank=rank, rendezvous=""), cast(ReportPipe, reports)):
            report(3, 4, "rows")
    report(4, 4, "rows")
    assert told == [Preparing(done=3, total=4, unit="rows")]
    monkeypatch.setattr(worker, "PREPARING_S", 3600.0)
    with worker.preparing_events(WorkerSpec(folder="", rank=0, rendezvous=""), cast(ReportPipe, reports)):
        report(3, 4, "rows")
    assert len(told) == 1, "what is quick is not told"
