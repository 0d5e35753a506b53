"""Process group of a run: the workers and their collectives. Collectives of a single worker return at once."""

import contextlib
import ctypes
import hashlib
import json
import operator
import os
import secrets
import select
import socket
import stat
import struct
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import timedelta
from functools import reduce
from pathlib import Path
from typing import Any, Protocol

import psutil
import torch
import torch.distributed

from netwright.engine.core.errors import RunError, UnavailableError, plural
from netwright.engine.core.platform_files import open_descriptors
from netwright.engine.parallel.rendezvous import AddressStore, Exchange, NetworkRendezvous, open_store
from netwright.engine.parallel.shared_memory import Memory, PeerUnavailableError, SharedMemoryReducer
from netwright.engine.placement.inventory import LOOPBACK, NO_LOOPBACK, can_share, has_loopback

TIMEOUT = timedelta(minutes=5)
"""Timeout of a collective: long enough for a slow disk of the first worker. The coordinator detects dead workers."""
SHUTDOWN_TIMEOUT = timedelta(seconds=5)
SHARED_MEMORY_TRIAL_S = 10.0
"""Shared memory that does not answer within this time is not used."""
ACCEPT_TRIES = 1000
"""How often a port is looked at, a millisecond apart, until nobody waits at it any more."""
_SO_ATTACH_FILTER, _BPF_RETURN = 26, 6
"""Of Linux: the socket option that sets a filter of packets, and the filter's instruction that ends it."""


class PeerFailureError(RunError):
    """Another worker has ended or does not answer. The coordinator, which watches all of them, knows why."""


class ProcessGroup(Protocol):
    """All workers of a run. A collective is called by every worker at the same place, with tensors of the same size."""

    @property
    def rank(self) -> int:
        """Return the number of this worker, from 0."""

    @property
    def size(self) -> int:
        """Return the number of workers (the world size)."""

    @property
    def communication_s(self) -> float:
        """Return the seconds of communication so far, including the wait for slower workers.

        Of communication that overlaps with computing only the remaining wait is counted.
        """

    def all_reduce(self, tensor: torch.Tensor) -> torch.Tensor:
        """Sum a tensor over all workers, in place, and return it. A collective."""

    def add_communication_time(self, seconds: float) -> None:
        """Add the time of communication other than `all_reduce`, such as point-to-point."""

    def close(self) -> None:
        """Leave the group, at the end. No collective may follow."""


class SingleProcess:
    """The group of a single worker."""

    rank = 0
    size = 1
    communication_s = 0.0

    def all_reduce(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return the tensor as it is."""
        return tensor

    def add_communication_time(self, seconds: float) -> None:
        """Do nothing: there is no communication."""

    def close(self) -> None:
        """Do nothing: there is no group to leave."""


class TorchProcessGroup:
    """Workers in torch's process group. Those of one machine find each other by a file in a private folder, those of a
    cluster by a port on one network interface.

    Over gloo, tensors on the CPU are summed through shared memory where that works
    (`netwright.engine.parallel.shared_memory`); `shared_memory_refusal` says why not, where it should have.
    `num_foreign_connections` counts the connections of other programs to the workers' ports, which are open until the
    workers are connected.
    """

    def __init__(
        self,
        rank: int,
        size: int,
        backend: str,
        rendezvous: Path | NetworkRendezvous,
        *,
        timeout: timedelta = TIMEOUT,
        share_memory: bool = True,
    ) -> None:
        """`rendezvous` is where the workers find each other. A collective.

        Raises `PeerFailureError`, and `UnavailableError` where there is no loopback network interface.
        """
        interface = loopback_interface() if isinstance(rendezvous, Path) else rendezvous.interface
        if interface == LOOPBACK and not has_loopback():
            words = f"{NO_LOOPBACK[0].upper()}{NO_LOOPBACK[1:]}"
            raise UnavailableError(f"{words}.", hint="Or train in one process (environment.target=cpu).")
        self.rank = rank
        self.size = size
        self.communication_s = 0.0
        self.shared_memory_refusal = ""
        self.num_foreign_connections = 0
        for variable in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
            os.environ[variable] = interface  # nothing may listen to other networks
        os.environ["TORCH_GLOO_LAZY_INIT"] = "0"  # all workers connect here, while the ports are open
        try:
            self._store = open_store(rendezvous, rank, size, timeout)
            self._exchange = Exchange(self._store, rank, size, timeout)
            # The ports are open for as long as the slowest worker takes to come.
            secret = self._exchange.agree("here", "", lambda _: secrets.token_bytes(32))
            # nccl asks the store from threads of its own, which should not wait for Python.
            collected = AddressStore(self._exchange) if backend == "gloo" and not isinstance(rendezvous, Path) else None
            self._torch_store = collected or self._store  # referenced: torch's later groups call methods of Python
            with closed_ports() as descriptors:
                torch.distributed.init_process_group(
                    _backends(backend), store=self._torch_store, rank=rank, world_size=size, timeout=timeout
                )
            if collected is not None:
                collected.is_collecting = False
            self.num_foreign_connections = self._close_foreign(descriptors, secret)
            if not isinstance(rendezvous, Path) and rank == 0 and backend == "gloo":  # nccl connects again later
                _drop_all(rendezvous.listener)
            self._reducer = self._share_memory(timeout) if share_memory and backend == "gloo" else None
        except RuntimeError as error:
            raise _peer_failure(rank, error) from error

    @property
    def shares_memory(self) -> bool:
        """Return whether tensors on the CPU are summed through shared memory."""
        return self._reducer is not None

    def _close_foreign(self, descriptors: Collection[int], secret: bytes) -> int:
        """Close the connections that lead to no worker; return how many all workers had. A collective.

        What a program sends as if it was a worker is not read either: the first sum fails, and the run is restarted.
        """
        with contextlib.ExitStack() as stack:
            own, other = {}, {}
            for descriptor in descriptors:
                with contextlib.suppress(OSError):  # closed, not connected any more, or a port
                    each = stack.enter_context(_opened(descriptor))
                    own[each], other[each] = each.getsockname(), each.getpeername()
            ends = [(own[each], other[each]) for each in other]
            if not any(self._exchange.agree("ends", ends_sum(ends, secret), ends_total)):
                return 0
            strangers = json.loads(self._exchange.agree("strangers", json.dumps(ends), ends_of_strangers))
            foreign = set(map(tuple, strangers))
            for each in (each for each, end in other.items() if end in foreign):
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
        return len(strangers)

    def _share_memory(self, timeout: timedelta) -> SharedMemoryReducer | None:
        """Return the reducer, or None where not every worker can use it. A collective."""
        reducer, error = None, ""
        try:
            reducer = self._open_memory()
        except Exception as refused:  # whatever a system or a version refuses, gloo takes its place
            error = str(refused)
        if not self._all_agree(reducer is not None):
            if can_share():
                self.shared_memory_refusal = error or "a worker cannot open it"
            return None
        assert reducer is not None
        try:
            reducer.connect()
            works = reducer.is_correct()
        except Exception as refused:
            works, error = False, str(refused)
        if not self._all_agree(works):
            reducer.close()
            self.shared_memory_refusal = error or "sums came out wrong"
            return None
        reducer.timeout_s = timeout.total_seconds()
        return reducer

    def _open_memory(self) -> SharedMemoryReducer | None:
        """Open the first worker's memory. That worker always publishes a path, since the others wait for it."""
        path, memory = "", None
        if self.rank == 0:
            try:
                memory = Memory.make(self.size) if can_share() else None
                path = memory.path if memory else ""
            finally:
                self._store.set("memory", path)
        elif path := self._store.get("memory").decode():
            memory = Memory.open(path, self.size) if can_share() else None
        if memory is None:
            return None
        return SharedMemoryReducer(memory, self.rank, self.size, timeout_s=SHARED_MEMORY_TRIAL_S)

    def _all_agree(self, vote: bool) -> bool:
        votes = torch.tensor([int(vote)])
        torch.distributed.all_reduce(votes)
        return int(votes) == self.size

    def all_reduce(self, tensor: torch.Tensor) -> torch.Tensor:
        """Sum a tensor over all workers, in place, and return it. Raises `PeerFailureError`."""
        start = time.perf_counter()
        try:
            if self._reducer is not None and tensor.device.type == "cpu":
                self._reducer.all_reduce(tensor)
            else:
                torch.distributed.all_reduce(tensor)
        except (RuntimeError, PeerUnavailableError) as error:
            raise _peer_failure(self.rank, error) from error
        self.add_communication_time(time.perf_counter() - start)
        return tensor

    def add_communication_time(self, seconds: float) -> None:
        """Add the time of communication other than `all_reduce`."""
        self.communication_s += seconds

    def close(self) -> None:
        """Wait until all others leave, too: a connection that closes early can take with it what a slower worker has
        not read yet.

        torch's group itself is never destroyed; it ends with the process, by `os._exit`. Its destructor joins a thread
        that may just then need Python's lock to release the last tensor, and DistributedDataParallel's reducer, where
        it is the group's last owner, holds that lock meanwhile: a worker that was done would hang for good.
        """
        with contextlib.suppress(RuntimeError):  # a worker that failed never comes: there is nothing left to wait for
            self._exchange.leave(SHUTDOWN_TIMEOUT)


def notes(group: ProcessGroup) -> tuple[str, ...]:
    """Return notes on the group for the user: shared memory that is not used, connections of other programs."""
    if not isinstance(group, TorchProcessGroup):
        return ()
    texts = []
    if group.shared_memory_refusal:
        texts.append(f"The acceleration shared-memory is not used: {group.shared_memory_refusal}.")
    if count := group.num_foreign_connections:
        texts.append(f"Another program connected to the workers' ports ({plural(count, 'connection')}, closed).")
    return tuple(texts)


def ends_sum(ends: Iterable[tuple[Any, Any]], secret: bytes) -> bytes:
    """Return the exclusive or of the hashes of connections, each by its own and its other end in either order.

    That of all workers is zero where every connection leads from one to another: each is in it twice. Who does not know
    the secret cannot make connections that cancel out.
    """
    total = 0
    for pair in ends:
        text = json.dumps(sorted(pair)).encode()
        total ^= int.from_bytes(hashlib.blake2b(text, key=secret, digest_size=32).digest(), "big")
    return total.to_bytes(32, "big")


def ends_total(sums: Sequence[bytes]) -> bytes:
    """Return the exclusive or of the sums of all workers."""
    return reduce(operator.xor, (int.from_bytes(each, "big") for each in sums)).to_bytes(32, "big")


def ends_of_strangers(texts: Sequence[bytes]) -> str:
    """Return the other ends of connections that are an own end of no worker, as JSON; `texts` as that of each."""
    pairs = [(tuple(own), tuple(other)) for text in texts for own, other in json.loads(text)]
    known = {own for own, _ in pairs}
    return json.dumps([other for _, other in pairs if other not in known])


@contextlib.contextmanager
def closed_ports() -> Iterator[set[int]]:
    """Close the TCP ports that torch opens in this context to all others once it ends: the workers are connected then.

    gloo listens on loopback, where every user of this machine can connect, accepts all connections for as long as the
    process lives, and ends it where it has no descriptor left for one. It knows no other transport and closes no port.
    Yields a set, which holds the descriptors of the new connections afterwards.
    """
    before = set(_tcp_sockets())
    descriptors: set[int] = set()
    yield descriptors
    for descriptor, is_port in _tcp_sockets().items():
        if is_port and descriptor not in before:
            _drop_all(descriptor)
    descriptors.update(descriptor for descriptor in _tcp_sockets() if descriptor not in before)


def _tcp_sockets() -> dict[int, bool]:
    """Return the descriptors of this process's TCP sockets, and whether each is a port that takes connections.

    None where the system does not list descriptors (Linux without /proc). psutil would read the table of the whole
    machine, which takes 70 ms.
    """
    sockets: dict[int, bool] = {}
    with contextlib.suppress(OSError):
        if sys.platform == "linux":
            for descriptor in open_descriptors():
                with contextlib.suppress(OSError):  # the descriptor of the listing itself is closed again
                    if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                        continue
                    with _opened(descriptor) as each:
                        if each.family in (socket.AF_INET, socket.AF_INET6) and each.type == socket.SOCK_STREAM:
                            sockets[descriptor] = bool(each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    return sockets


def _opened(descriptor: int) -> socket.socket:
    """Return the socket of a descriptor, which stays open when that is closed."""
    return socket.socket(fileno=os.dup(descriptor))


def _drop_all(port: int) -> None:
    """Let a port drop every packet from now on, and wait until gloo has accepted what came before.

    A socket that is closed or shut down under gloo would end the process.
    """
    program = ctypes.create_string_buffer(struct.pack("HBBI", _BPF_RETURN, 0, 0, 0))  # keep 0 bytes of each packet
    with contextlib.suppress(OSError), _opened(port) as each:  # a sandbox may forbid it
        each.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HP", 1, ctypes.addressof(program)))
        for _ in range(ACCEPT_TRIES):
            if not select.select([each], [], [], 0)[0]:
                return
            time.sleep(0.001)


def loopback_interface() -> str:
    """Return the name of the network interface on which workers of one machine listen."""
    if sys.platform == "win32":
        for name, addresses in psutil.net_if_addrs().items():
            if any(each.address == "127.0.0.1" for each in addresses):
                return str(name)
    return LOOPBACK


def all_gather_rows(group: ProcessGroup, rows: torch.Tensor) -> torch.Tensor:
    """Gather rows `(n, ...)` of all workers, in the order of the workers; `n` may differ between them. A collective.

    Each worker puts its rows into zeros, and these are summed: exact, and it takes no other collective.
    """
    counts = torch.zeros(group.size, dtype=torch.double, device=rows.device)
    counts[group.rank] = len(rows)
    lengths = [int(count) for count in group.all_reduce(counts).tolist()]
    begin = sum(lengths[: group.rank])
    gathered = rows.new_zeros((sum(lengths), *rows.shape[1:]))
    gathered[begin : begin + len(rows)] = rows
    return group.all_reduce(gathered)


def _backends(backend: str) -> str:
    """Return the backend per device type, in torch's form.

    Offloaded weights are on the CPU, whose tensors a backend for accelerators refuses.
    """
    kinds = torch.distributed.Backend.backend_capability.get(backend, ["cpu"])
    if "cpu" in kinds or not torch.distributed.is_gloo_available():
        return backend
    return ",".join(["cpu:gloo", *(f"{kind}:{backend}" for kind in kinds)])


def _peer_failure(rank: int, error: Exception) -> PeerFailureError:
    reason = str(error).strip().partition("\n")[0][:200]
    return PeerFailureError(f"Worker {rank} lost the other workers: {reason}")


def is_peer_failure(error: BaseException) -> bool:
    """Return whether the error, or its cause, reports the end of another worker rather than a fault of this one."""
    while True:
        if isinstance(error, PeerFailureError | torch.distributed.DistError):
            return True
        # DistributedDataParallel meets the failure inside autograd, which passes on the message alone.
        if isinstance(error, RuntimeError) and ("gloo" in str(error) or "NCCL" in str(error)):
            return True
        if error.__cause__ is None:
            return False
        error = error.__cause__
