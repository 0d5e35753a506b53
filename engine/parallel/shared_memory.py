"""All-reduce over the workers of one machine through shared memory: for small tensors several times faster than gloo.

Each worker has two slots and a counter. To sum a tensor it copies its part into one of its slots, counts, waits until
all others have counted as far, and adds the slots of all in the order of the ranks: every worker gets the same bits,
and the same again every time. The next sum uses the other slots. So one wait per sum is enough: a worker that fills a
slot for the second time knows by the counters that all have finished the sum before last, which read it.

What is read after a counter must have been written before it. Stores of x86-64 become visible in their order, and
loads are made in theirs, so a plain counter suffices; ARM guarantees neither, and Python has no memory fence: there the
workers sum over gloo, as they do if the trial at the start gives a wrong result.

The memory is a file without a name: nothing of it stays, however the workers end. Process descriptors tell when a
worker has ended; one that is stopped is found by the coordinator, as over gloo.
"""

import mmap
import os
import select
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from netwright.engine.core.platform import let_others_run, watch_process
from netwright.engine.core.platform_files import make_shared_memory, open_descriptor

LINE = 128
"""Bytes between two counters, so that no two share a cache line."""
SLOT_BYTES = 2**20
"""Larger tensors are sent in chunks, which stay in the cache meanwhile."""
SPINS = 200
YIELD_S = 0.002
LONGEST_NAP_S = 0.005
MAX_CACHED_VIEWS = 256
"""The number of tensor sizes whose views are cached."""


class PeerUnavailableError(Exception):
    """Another worker has ended, or does not answer."""


@dataclass(frozen=True)
class Memory:
    """The shared memory of a group of workers, and the path by which others on this machine open it."""

    map: mmap.mmap
    path: str
    descriptor: int = -1

    @classmethod
    def make(cls, size: int) -> "Memory":
        """Create the memory, without a name in any folder. Unused pages take no memory. Raises `OSError`."""
        descriptor, path = make_shared_memory("netwright-sums", _bytes(size))
        return cls(mmap.mmap(descriptor, _bytes(size)), path, descriptor)  # open, as the others open the memory by it

    @classmethod
    def open(cls, path: str, size: int) -> "Memory":
        """Open the memory of another worker. Raises `OSError`, and `ValueError` where it is too small."""
        descriptor = open_descriptor(path, "r+")
        try:
            return cls(mmap.mmap(descriptor, _bytes(size)), path)
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Close the descriptor, after which nobody can open the memory. It is freed with its last user."""
        if self.descriptor >= 0:
            os.close(self.descriptor)


def _bytes(size: int) -> int:
    return _slots_at(size) + 2 * size * SLOT_BYTES


def _slots_at(size: int) -> int:
    """Return the offset of the slots in bytes, behind two cache lines per worker: its counter and its process id."""
    return -(-2 * size * LINE // mmap.PAGESIZE) * mmap.PAGESIZE


class SharedMemoryReducer:
    """One worker's access to the memory. All workers make the same sums in the same order."""

    def __init__(self, memory: Memory, rank: int, size: int, *, timeout_s: float) -> None:
        """Open the memory as this rank. `timeout_s`: seconds to wait for the others; can be changed later."""
        self._rank, self.timeout_s = rank, timeout_s
        self._counters = memoryview(memory.map).cast("B")[: 2 * size * LINE].cast("q")
        self._counter_at = [worker * 2 * LINE // 8 for worker in range(size)]
        self._others = [worker for worker in range(size) if worker != rank]
        slots = torch.frombuffer(memory.map, dtype=torch.uint8)[_slots_at(size) : _bytes(size)]
        self._slots = slots.view(2, size, SLOT_BYTES)
        self._view_cache: dict[tuple[torch.dtype, int], list[Sequence[torch.Tensor]]] = {}
        self._processes: dict[int, int] = {}
        self._turn = 0
        self._counters[self._counter_at[rank] + LINE // 8] = os.getpid()

    def connect(self) -> None:
        """Open the process descriptors of the others, which have all written their ids.

        Raises `OSError` if one of them has ended or cannot be watched.
        """
        for other in self._others:
            self._processes[other] = watch_process(self._counters[self._counter_at[other] + LINE // 8])

    def close(self) -> None:
        """Close the process descriptors of the others."""
        for descriptor in self._processes.values():
            os.close(descriptor)
        self._processes = {}

    def is_correct(self) -> bool:
        """Return whether a few sums give the right result. A collective. Raises `PeerUnavailableError`."""
        size = len(self._others) + 1
        for length, kind in ((1, torch.int64), (1000, torch.float64), (300_000, torch.float32)):
            numbers = torch.full((length,), 1 + self._rank, dtype=kind)
            self.all_reduce(numbers)
            if not bool((numbers == size * (size + 1) // 2).all()):
                return False
        return True

    def all_reduce(self, tensor: torch.Tensor) -> None:
        """Sum a tensor on the CPU over all workers, in place. Raises `PeerUnavailableError`."""
        values = tensor.detach()
        flat = values.contiguous().view(-1)
        chunk = SLOT_BYTES // flat.element_size()
        for begin in range(0, len(flat), chunk):
            self._reduce(flat[begin : begin + chunk] if len(flat) > chunk else flat)
        if not values.is_contiguous():
            values.copy_(flat.view_as(values))

    def _reduce(self, part: torch.Tensor) -> None:
        self._turn += 1
        slots = self._views(part)[self._turn & 1]
        slots[self._rank].copy_(part)
        self._counters[self._counter_at[self._rank]] = self._turn
        for other in self._others:
            if self._counters[self._counter_at[other]] < self._turn:
                self._wait_for(other)
        torch.add(slots[0], slots[1], out=part)
        for slot in slots[2:]:
            part.add_(slot)

    def _views(self, part: torch.Tensor) -> list[Sequence[torch.Tensor]]:
        """Return both slots of every worker as tensors like this one."""
        key = part.dtype, len(part)
        if (views := self._view_cache.get(key)) is None:
            if len(self._view_cache) >= MAX_CACHED_VIEWS:
                self._view_cache.clear()
            views = [[slot.view(part.dtype)[: len(part)] for slot in slots] for slots in self._slots]
            self._view_cache[key] = views
        return views

    def _wait_for(self, other: int) -> None:
        """Wait until the counter of the other worker reaches this turn: spin, then yield, then sleep.

        With few cores, spinning alone would take the processor from the worker that is waited for.
        """
        counters, place, turn = self._counters, self._counter_at[other], self._turn
        for _ in range(SPINS):
            if counters[place] >= turn:
                return
        start = time.monotonic()
        while (waited := time.monotonic() - start) < YIELD_S:
            let_others_run()
            if counters[place] >= turn:
                return
        while counters[place] < turn:
            # Asked before the counter is read again: a worker may count and then end, which is fine.
            has_ended = self._nap(other, min(waited / 8, LONGEST_NAP_S))
            if counters[place] >= turn:
                return
            if has_ended:
                raise PeerUnavailableError(f"worker {other} has ended")
            if (waited := time.monotonic() - start) > self.timeout_s:
                raise PeerUnavailableError(f"worker {other} gave no answer for {self.timeout_s:g} s")

    def _nap(self, other: int, seconds: float) -> bool:
        """Sleep for a moment, and return whether the other worker has ended."""
        process: Any = self._processes.get(other)
        if process is None:
            time.sleep(seconds)
            return False
        return bool(select.select([process], [], [], seconds)[0])


class SharedMemoryGroup:
    """Process group of forked processes of this machine that share only the memory they were forked with."""

    def __init__(self, memory: Memory, rank: int, size: int, *, timeout_s: float) -> None:
        """Join the group. A collective. Raises `PeerUnavailableError`, and `OSError` if a process cannot be watched."""
        self.rank, self.size, self.communication_s = rank, size, 0.0
        self._reducer = SharedMemoryReducer(memory, rank, size, timeout_s=timeout_s)
        self._reducer.all_reduce(torch.zeros(1))
        self._reducer.connect()

    def all_reduce(self, tensor: torch.Tensor) -> torch.Tensor:
        """Sum a tensor over all processes, in place, and return it. Raises `PeerUnavailableError`."""
        self._reducer.all_reduce(tensor)
        return tensor

    def add_communication_time(self, seconds: float) -> None:
        """Add the time of communication other than `all_reduce`."""
        self.communication_s += seconds

    def close(self) -> None:
        """Leave the group."""
        self._reducer.close()
