"""The workers of a run as one object: which one am I, how many are we, what is our sum. Alone it answers at once."""

import contextlib
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol

import torch
import torch.distributed

from engine.core.errors import RunError
from engine.parallel.shared_memory import Memory, PeerUnavailableError, SharedMemoryReducer
from engine.placement.inventory import can_share

# Long enough for a slow disk under the first worker; a worker that died is found by the coordinator, not by this.
TIMEOUT = timedelta(minutes=5)
FAREWELL = timedelta(seconds=5)
TRIAL_S = 10.0
"""So long shared memory is tried before gloo takes its place."""
OF_ACCELERATORS = {"nccl": "cuda", "xccl": "xpu"}
"""What joins accelerators alone, and torch's word for these."""
LOOPBACK = "lo" if sys.platform == "linux" else "lo0"


class PeerFailureError(RunError):
    """Another worker is gone or does not answer. Whoever watches all of them knows why."""


class ProcessGroup(Protocol):
    """All workers of a run. `sum` is a collective: every worker calls it at the same place, with the same size."""

    @property
    def rank(self) -> int:
        """Which worker this is, from 0."""

    @property
    def size(self) -> int:
        """How many workers there are."""

    @property
    def communication_s(self) -> float:
        """Seconds that sums have taken so far, with waiting for slower workers; of what is sent beside the computation
        only the rest that had to be waited for."""

    def all_reduce(self, tensor: torch.Tensor) -> torch.Tensor:
        """The sum over all workers, in place."""

    def add_communication_time(self, seconds: float) -> None:
        """What was sent in another way than by a sum took so long, with waiting."""

    def close(self) -> None:
        """Part from the others, at the end. Nothing can be summed after it."""


class SingleProcess:
    """One worker."""

    rank = 0
    size = 1
    communication_s = 0.0

    def all_reduce(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor itself."""
        return tensor

    def add_communication_time(self, seconds: float) -> None:
        """There is nobody to send to."""

    def close(self) -> None:
        """Nothing to leave."""


class TorchProcessGroup:
    """Several processes of one machine, joined by torch's process group over a file in a private folder. Over gloo,
    what is on the CPU is summed through shared memory, where that is found to work."""

    def __init__(self, rank: int, size: int, backend: str, meeting: Path, *, timeout: timedelta = TIMEOUT) -> None:
        self.rank = rank
        self.size = size
        self.communication_s = 0.0
        for variable in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
            os.environ[variable] = LOOPBACK  # nothing may listen to other machines
        self._store = torch.distributed.FileStore(str(meeting), size)  # type: ignore[attr-defined]  # public, not listed
        try:
            torch.distributed.init_process_group(
                _for_both(backend), store=self._store, rank=rank, world_size=size, timeout=timeout
            )
            self._shared = self._share_memory(timeout) if backend == "gloo" else None
        except RuntimeError as error:
            raise _lost(rank, error) from error

    @property
    def shares_memory(self) -> bool:
        """Whether sums on the CPU go through shared memory."""
        return self._shared is not None

    def _share_memory(self, timeout: timedelta) -> SharedMemoryReducer | None:
        """Memory for sums, or None where not every worker can use it. A collective."""
        sums = None
        with contextlib.suppress(OSError, ValueError):
            sums = self._open_memory()
        if not self._all_agree(sums is not None):
            return None
        assert sums is not None
        works = False
        with contextlib.suppress(OSError, PeerUnavailableError):
            sums.meet()
            works = _is_right(sums, self.rank, self.size)
        if not self._all_agree(works):
            sums.close()
            return None
        sums.timeout_s = timeout.total_seconds()
        return sums

    def _open_memory(self) -> SharedMemoryReducer | None:
        """The first worker's memory. It always says something, since the others wait for it."""
        path, memory = "", None
        if self.rank == 0:
            try:
                memory = Memory.make(self.size) if can_share() else None
                path = memory.path if memory else ""
            finally:
                self._store.set("memory", path)
        elif path := self._store.get("memory").decode():
            memory = Memory.open(path, self.size) if can_share() else None
        return SharedMemoryReducer(memory, self.rank, self.size, timeout_s=TRIAL_S) if memory else None

    def _all_agree(self, yes: bool) -> bool:
        votes = torch.tensor([int(yes)])
        torch.distributed.all_reduce(votes)
        return int(votes) == self.size

    def all_reduce(self, tensor: torch.Tensor) -> torch.Tensor:
        """The sum over all workers, in place. Raises `PeerFailureError`."""
        began = time.perf_counter()
        try:
            if self._shared is not None and tensor.device.type == "cpu":
                self._shared.all_reduce(tensor)
            else:
                torch.distributed.all_reduce(tensor)
        except (RuntimeError, PeerUnavailableError) as error:
            raise _lost(self.rank, error) from error
        self.add_communication_time(time.perf_counter() - began)
        return tensor

    def add_communication_time(self, seconds: float) -> None:
        """What was sent took so long."""
        self.communication_s += seconds

    def close(self) -> None:
        """Wait until all others are through with the group too: a connection that closes early can take with it what a
        slower worker has not read yet.

        The group itself is never destroyed; it ends with the process, by `os._exit`. Its destructor joins a thread that
        may just then need Python's lock to let go of the last sum, and DistributedDataParallel's reducer, where it is
        the group's last owner, holds that lock meanwhile: a worker that was done would hang for good.
        """
        with contextlib.suppress(RuntimeError):  # one that failed never comes: there is nothing left to wait for
            self._store.set(f"left/{self.rank}", "")
            self._store.wait([f"left/{rank}" for rank in range(self.size)], FAREWELL)


def all_gather_rows(group: ProcessGroup, rows: torch.Tensor) -> torch.Tensor:
    """The rows of all workers, in the order of the workers, which may have different numbers of them. A collective.

    Each puts its own into zeros, and these are summed: exact, and it takes no other collective than the sum.
    """
    counts = torch.zeros(group.size, dtype=torch.double, device=rows.device)
    counts[group.rank] = len(rows)
    found = [int(count) for count in group.all_reduce(counts).tolist()]
    begin = sum(found[: group.rank])
    whole = rows.new_zeros((sum(found), *rows.shape[1:]))
    whole[begin : begin + len(rows)] = rows
    return group.all_reduce(whole)


def _for_both(backend: str) -> str:
    """What joins the workers, for each kind of tensor. Those of the CPU too: weights that are offloaded lie there, and
    what joins accelerators refuses them."""
    kind = OF_ACCELERATORS.get(backend)
    has_gloo = torch.distributed.is_gloo_available()
    return backend if kind is None or not has_gloo else f"cpu:gloo,{kind}:{backend}"


def _is_right(sums: SharedMemoryReducer, rank: int, size: int) -> bool:
    """Whether a few sums give what they should."""
    for length, kind in ((1, torch.int64), (1000, torch.float64), (300_000, torch.float32)):
        numbers = torch.full((length,), 1 + rank, dtype=kind)
        sums.all_reduce(numbers)
        if not bool((numbers == size * (size + 1) // 2).all()):
            return False
    return True


def _lost(rank: int, error: Exception) -> PeerFailureError:
    reason = str(error).strip().partition("\n")[0][:200]
    return PeerFailureError(f"Worker {rank} lost the other workers: {reason}")


def is_peer_failure(error: BaseException) -> bool:
    """Whether the error, or what caused it, tells of another worker's end rather than of a fault here."""
    while True:
        if isinstance(error, PeerFailureError | torch.distributed.DistError):
            return True
        # DistributedDataParallel meets the loss inside autograd, which passes on the words alone.
        if isinstance(error, RuntimeError) and ("gloo" in str(error) or "NCCL" in str(error)):
            return True
        if error.__cause__ is None:
            return False
        error = error.__cause__


@dataclass(frozen=True)
class WorkerSpec:
    """What a worker is told: the run, who it is, where the workers meet, its pipes, its parent."""

    folder: str
    rank: int
    meeting: str
    reports: int
    requests: int
    parent: int
    strategy: str = ""
    checkpoint: int = -1
    """The run goes on from the checkpoint after so many iterations; negative: it begins."""
    rate_factor: float = 1.0
    """What the learn rates of the checkpoint are multiplied by."""
    asked: str = ""
    """Requests, one a line, that are obeyed before the first step after a checkpoint."""

    def write(self) -> str:
        """As text, for the command line of a fresh interpreter."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> "WorkerSpec":
        """From the text of `write`."""
        return cls(**json.loads(text))
