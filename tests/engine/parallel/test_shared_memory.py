"""Sums through shared memory: by threads, which share it as processes do, and by real processes that end."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.engine.parallel import shared_memory
from netwright.engine.parallel.shared_memory import Memory, PeerUnavailableError, SharedMemoryReducer
from netwright.engine.placement.inventory import can_share

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.skipif(not can_share(), reason="memory is shared by processors with ordered stores alone")


def together(size: int, work: Callable[[SharedMemoryReducer, int], Any], timeout_s: float = 60) -> list[Any]:
    """What each of so many workers comes to, or what it raised."""
    memory, found = Memory.make(size), [None] * size
    sums = [SharedMemoryReducer(memory, rank, size, timeout_s=timeout_s) for rank in range(size)]

    def be(rank: int) -> None:
        try:
            found[rank] = work(sums[rank], rank)
        except Exception as error:
            found[rank] = error  # type: ignore[call-overload]

    threads = [threading.Thread(target=be, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    return found


def numbers(rank: int, turn: int, length: int, kind: torch.dtype = torch.float32) -> torch.Tensor:
    made = torch.Generator().manual_seed(1000 * turn + rank)
    return (torch.randn(length, generator=made, dtype=torch.float64) * 100).to(kind)


@pytest.mark.parametrize("size", [2, 3])
def test_all_get_the_sum_in_the_order_of_the_workers(size: int) -> None:
    """Sizes that take one part and several, of several types, one after the other through the same slots."""
    most = shared_memory.SLOT_BYTES // 4
    cases = [(1, torch.float64), (7, torch.int64), (most, torch.float32), (2 * most + 3, torch.float32)]
    cases += [(0, torch.float32), (1000, torch.bfloat16), (5, torch.float32)]

    def work(sums: SharedMemoryReducer, rank: int) -> list[torch.Tensor]:
        given = [numbers(rank, turn, *case) for turn, case in enumerate(cases)]
        for tensor in given:
            sums.all_reduce(tensor)
        return given

    for turn, (case, found) in enumerate(zip(cases, zip(*together(size, work), strict=True), strict=True)):
        wanted = numbers(0, turn, *case)
        for rank in range(1, size):
            wanted = wanted + numbers(rank, turn, *case)
        assert all(torch.equal(one, wanted) for one in found), case


def test_what_does_not_lie_in_one_piece_is_summed_in_place() -> None:
    def work(sums: SharedMemoryReducer, rank: int) -> torch.Tensor:
        whole = torch.zeros(4, 6)
        whole[:, 1:3] = 1.0 + rank
        sums.all_reduce(whole[:, 1:3])
        sums.all_reduce(torch.nn.Parameter(torch.ones(3)))
        return whole

    for whole in together(2, work):
        assert whole[:, 1:3].eq(3).all()
        assert whole.sum() == 24


def test_a_slow_worker_is_waited_for_and_a_mute_one_is_not() -> None:
    pause = threading.Event()

    def slow(sums: SharedMemoryReducer, rank: int) -> float:
        x = torch.ones(3)
        for _ in range(3):
            pause.wait(0.05 * rank)
            sums.all_reduce(x)
        return float(x[0])

    def mute(sums: SharedMemoryReducer, rank: int) -> None:
        if rank == 0:
            sums.all_reduce(torch.ones(3))

    assert together(2, slow) == [8.0, 8.0]
    error = together(2, mute, timeout_s=0.2)[0]
    assert isinstance(error, PeerUnavailableError)
    assert str(error) == "worker 1 gave no answer for 0.2 s"


WORKERS = """
import json, os, signal, sys, threading
from datetime import timedelta
from pathlib import Path
import torch
from netwright.engine.parallel import process_group, shared_memory
from netwright.engine.parallel.process_group import PeerFailureError, TorchProcessGroup

folder = Path(sys.argv[1])
torch.set_num_threads(1)
process_group.SHARED_MEMORY_TRIAL_S = 60.0


def files():
    # names of the files in memory that this process has
    lines = Path("/proc/self/maps").read_text().splitlines()
    return sorted({line.split(maxsplit=5)[5] for line in lines if "netwright" in line or "/dev/shm" in line})


def be(what, rank):
    if what == "one cannot" and rank == 1:
        shared_memory.Memory.open = lambda *_: (_ for _ in ()).throw(OSError("no"))
    if what == "wrong" and rank == 0:
        is_correct = shared_memory.SharedMemoryReducer.is_correct
        shared_memory.SharedMemoryReducer.is_correct = lambda reducer: is_correct(reducer) and False
    if what == "other processor":
        process_group.can_share = lambda: False
    joined = TorchProcessGroup(rank, 2, "gloo", folder / f"rendezvous {what}", timeout=timedelta(seconds=60),
                               share_memory=what != "switched off")
    said = {"shares": joined.shares_memory, "files": files(), "notes": process_group.notes(joined)}
    torch.manual_seed(rank)
    x = torch.randn(100_000)
    y = x.clone()
    joined.all_reduce(x)
    torch.distributed.all_reduce(y)
    said["equal"] = torch.equal(x, y)
    said["spent"] = joined.communication_s > 0
    if what == "dies":
        if rank == 1:
            while not (folder / "through").exists():  # to the end of what was begun together
                threading.Event().wait(0.01)
            os.kill(os.getpid(), signal.SIGKILL)
        (folder / "through").touch()
        try:
            while True:
                joined.all_reduce(x)
        except PeerFailureError as error:
            said["error"] = str(error)
    else:
        joined.close()
    (folder / f"{what} {rank}").write_text(json.dumps(said))
    os._exit(0)


for what in sys.argv[2:]:
    children = []
    for rank in range(2):
        pid = os.fork()
        if pid == 0:
            be(what, rank)
        children.append(pid)
    for child in children:
        os.waitpid(child, 0)
"""
NAMELESS = "/memfd:netwright-sums (deleted)"
FALLBACKS = {
    "one cannot": ("a worker cannot open it", "no"),
    "wrong": ("sums came out wrong", "sums came out wrong"),
    "switched off": ("", ""),
    "other processor": ("", ""),
}
"""What keeps shared memory from being used, and what each of the two workers says of it."""


def test_two_processes_sum_as_over_gloo_and_leave_nothing(tmp_path: Path) -> None:
    """Through shared memory, or over gloo where one of them cannot or finds it wrong; and who waits for a worker that
    was killed knows it at once."""
    command = [sys.executable, "-c", WORKERS, str(tmp_path), "all is well", "dies", *FALLBACKS]
    subprocess.run(command, cwd=ROOT, check=True, timeout=100)

    def said(what: str) -> list[dict[str, Any]]:
        return [json.loads(file.read_text()) for file in sorted(tmp_path.glob(f"{what} *"))]

    assert said("all is well") == [{"shares": True, "files": [NAMELESS], "notes": [], "equal": True, "spent": True}] * 2
    assert [one["error"] for one in said("dies")] == ["Worker 0 lost the other workers: worker 1 has ended"]
    for what, refusals in FALLBACKS.items():
        notes = [[f"The acceleration shared-memory is not used: {refusal}."] if refusal else [] for refusal in refusals]
        plain = {"shares": False, "files": [], "equal": True, "spent": True}
        assert said(what) == [{**plain, "notes": note} for note in notes], what
