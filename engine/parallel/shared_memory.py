"""Sums over the workers of one machine through memory that they share: for what is small, several times faster than a
connection.

Each worker has two slots and a counter. To add something up it copies its part into one of its slots, counts, waits
until all others have counted as far, and adds up the slots of all in the order of the workers: the result is the same
on each of them, and the same again every time. The next sum uses the other slots. So one wait a sum is enough: whoever
fills a slot for the second time knows by the counters that all are through with the sum before last, which read it.

What is read behind a counter must have been written before it. Stores of x86-64 become visible in their order, and
loads are made in theirs, so a plain counter does; ARM promises neither, and Python has no fence to ask for: there the
workers sum over gloo, as they do wherever the trial at the start does not give what it should.

The memory is a file without a name: nothing of it is left, however the workers end. That a worker has ended the others
see by its process descriptor, and one that is stopped is found by the coordinator, as over gloo.
"""

import mmap
import os
import select
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

LINE = 128
"""Bytes between two counters, so that no two share a line of the cache."""
SLOT_BYTES = 2**20
"""What is larger goes through in parts, which stay in the cache meanwhile."""
SPINS = 200
YIELD_S = 0.002
LONGEST_NAP_S = 0.005
MOST_KNOWN = 256
"""So many sizes have their views kept."""


class PeerUnavailableError(Exception):
    """Another worker has ended, or does not answer."""


@dataclass(frozen=True)
class Memory:
    """The shared memory of a number of workers, and where others of this machine can open it."""

    map: mmap.mmap
    path: str
    descriptor: int = -1

    @classmethod
    def make(cls, size: int) -> "Memory":
        """Make it, without a name in any folder. Only what is used of it takes memory. Raises `OSError`."""
        descriptor = os.memfd_create("netwright-sums", os.MFD_CLOEXEC)
        os.ftruncate(descriptor, _bytes(size))
        # The descriptor stays open: it is how the others get at the memory.
        return cls(mmap.mmap(descriptor, _bytes(size)), f"/proc/{os.getpid()}/fd/{descriptor}", descriptor)

    @classmethod
    def open(cls, path: str, size: int) -> "Memory":
        """That of another worker. Raises `OSError`, and `ValueError` where it is too small."""
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            return cls(mmap.mmap(descriptor, _bytes(size)), path)
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Nobody can open it any more. It goes with the last one that uses it."""
        if self.descriptor >= 0:
            os.close(self.descriptor)


def _bytes(size: int) -> int:
    return _slots_at(size) + 2 * size * SLOT_BYTES


def _slots_at(size: int) -> int:
    """Behind two lines a worker: its counter, and its process."""
    return -(-2 * size * LINE // mmap.PAGESIZE) * mmap.PAGESIZE


class SharedMemoryReducer:
    """One worker's access to the memory. All of them make the same sums in the same order."""

    def __init__(self, memory: Memory, rank: int, size: int, *, timeout_s: float) -> None:
        """`timeout_s`: how long the others are waited for; it can be changed."""
        self._rank, self.timeout_s = rank, timeout_s
        self._counters = memoryview(memory.map).cast("B")[: 2 * size * LINE].cast("q")
        self._places = [worker * 2 * LINE // 8 for worker in range(size)]
        self._others = [worker for worker in range(size) if worker != rank]
        whole = torch.frombuffer(memory.map, dtype=torch.uint8)[_slots_at(size) : _bytes(size)]
        self._slots = whole.view(2, size, SLOT_BYTES)
        self._known: dict[tuple[torch.dtype, int], list[Sequence[torch.Tensor]]] = {}
        self._processes: dict[int, int] = {}
        self._turn = 0
        self._counters[self._places[rank] + LINE // 8] = os.getpid()

    def meet(self) -> None:
        """Get to know the processes of the others, all of whom have made theirs by now. Raises `OSError` where one has
        gone, or cannot be watched."""
        for other in self._others:
            self._processes[other] = os.pidfd_open(self._counters[self._places[other] + LINE // 8])

    def close(self) -> None:
        """Forget the processes of the others."""
        for descriptor in self._processes.values():
            os.close(descriptor)
        self._processes = {}

    def all_reduce(self, tensor: torch.Tensor) -> None:
        """Put the sum over all workers into the tensor, which is on the CPU. Raises `PeerUnavailableError`."""
        given = tensor.detach()
        flat = given.contiguous().view(-1)
        most = SLOT_BYTES // flat.element_size()
        for begin in range(0, len(flat), most):
            self._sum(flat[begin : begin + most] if len(flat) > most else flat)
        if not given.is_contiguous():
            given.copy_(flat.view_as(given))

    def _sum(self, part: torch.Tensor) -> None:
        self._turn += 1
        slots = self._views(part)[self._turn & 1]
        slots[self._rank].copy_(part)
        self._counters[self._places[self._rank]] = self._turn
        for other in self._others:
            if self._counters[self._places[other]] < self._turn:
                self._wait_for(other)
        torch.add(slots[0], slots[1], out=part)
        for slot in slots[2:]:
            part.add_(slot)

    def _views(self, part: torch.Tensor) -> list[Sequence[torch.Tensor]]:
        """Both slots of every worker as tensors like this one."""
        key = part.dtype, len(part)
        if (found := self._known.get(key)) is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            found = [[slot.view(part.dtype)[: len(part)] for slot in slots] for slots in self._slots]
            self._known[key] = found
        return found

    def _wait_for(self, other: int) -> None:
        """Until the other one has counted as far: at first at the ready, then so that others can compute, and at last
        asleep. Spinning alone would take the processor from the very worker that is waited for, where cores are few."""
        counters, place, turn = self._counters, self._places[other], self._turn
        for _ in range(SPINS):
            if counters[place] >= turn:
                return
        began = time.monotonic()
        while (waited := time.monotonic() - began) < YIELD_S:
            os.sched_yield()
            if counters[place] >= turn:
                return
        while counters[place] < turn:
            # Asked before the counter is read again: a worker may count and then end, all is well then.
            has_ended = self._nap(other, min(waited / 8, LONGEST_NAP_S))
            if counters[place] >= turn:
                return
            if has_ended:
                raise PeerUnavailableError(f"worker {other} has ended")
            if (waited := time.monotonic() - began) > self.timeout_s:
                raise PeerUnavailableError(f"worker {other} gave no answer for {self.timeout_s:g} s")

    def _nap(self, other: int, seconds: float) -> bool:
        """Sleep for a moment; whether the other one has ended."""
        process: Any = self._processes.get(other)
        if process is None:
            time.sleep(seconds)
            return False
        return bool(select.select([process], [], [], seconds)[0])


class SharedMemoryGroup:
    """Several processes of this machine that have nothing in common but the memory they were forked with."""

    def __init__(self, memory: Memory, rank: int, size: int, *, timeout_s: float) -> None:
        """A collective. Raises `PeerUnavailableError`, and `OSError` where another one cannot be watched."""
        self.rank, self.size, self.communication_s = rank, size, 0.0
        self._reducer = SharedMemoryReducer(memory, rank, size, timeout_s=timeout_s)
        self._reducer.all_reduce(torch.zeros(1))
        self._reducer.meet()

    def all_reduce(self, tensor: torch.Tensor) -> torch.Tensor:
        """The sum over all of them, in place. Raises `PeerUnavailableError`."""
        self._reducer.all_reduce(tensor)
        return tensor

    def add_communication_time(self, seconds: float) -> None:
        """What was sent took so long."""
        self.communication_s += seconds

    def close(self) -> None:
        """Part from the others."""
        self._reducer.close()
