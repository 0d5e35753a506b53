"""Where the workers of a run find each other: a file on one machine, a port on one network interface of a cluster."""

import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch.distributed


@dataclass(frozen=True)
class NetworkRendezvous:
    """A port of the first worker's host. `listener` is its descriptor in the first worker, -1 in the others.

    The port was opened on the interface of the cluster by the agent of the node: torch's own would listen on all.
    """

    host: str
    port: int
    interface: str
    listener: int = -1


def read_rendezvous(text: str, interface: str, listener: int) -> Path | NetworkRendezvous:
    """Return the rendezvous of a `WorkerSpec`: a path, or host:port where there is an interface."""
    if not interface:
        return Path(text)
    host, _, port = text.rpartition(":")
    return NetworkRendezvous(host, int(port), interface, listener)


def open_store(rendezvous: Path | NetworkRendezvous, rank: int, size: int, timeout: timedelta) -> Any:
    """Return torch's store of keys at the rendezvous. Raises `RuntimeError` where the first worker does not answer."""
    if isinstance(rendezvous, Path):
        return torch.distributed.FileStore(str(rendezvous), size)  # type: ignore[attr-defined]  # public, not listed
    return torch.distributed.TCPStore(  # type: ignore[attr-defined]  # public, not listed
        rendezvous.host,
        rendezvous.port,
        size,
        rank == 0,
        timeout,
        wait_for_workers=False,
        master_listen_fd=rendezvous.listener if rank == 0 else None,
        use_libuv=sys.platform != "win32",  # its torch is built without
    )


class Exchange:
    """What workers tell each other through a store of keys, before they are connected and when they leave.

    The first worker reads what all have written, in one request, and writes one answer, which all read: the requests
    grow with the number of workers, and not with its square.
    """

    def __init__(self, store: Any, rank: int, size: int, timeout: timedelta) -> None:
        self.store, self.rank, self.size, self.timeout = store, rank, size, timeout

    def agree(self, name: str, value: bytes | str, answer: Callable[[list[bytes]], bytes | str]) -> bytes:
        """Return the answer of the first worker to the values of all, in their order. A collective. Raises
        `RuntimeError` where a worker does not come in time."""
        self.store.set(f"{name}/{self.rank}", value)
        whole = f"{name}/all"
        if self.rank == 0:
            keys = [f"{name}/{rank}" for rank in range(self.size)]
            self.store.wait(keys, self.timeout)
            self.store.set(whole, answer(self.store.multi_get(keys)))
        self.store.wait([whole], self.timeout)
        return bytes(self.store.get(whole))

    def leave(self, timeout: timedelta) -> None:
        """Wait until all workers have come here. A collective. Raises `RuntimeError` where one does not in time."""
        if self.store.add("left", 1) == self.size:
            self.store.set("left/all", "")
        self.store.wait(["left/all"], timeout)


class AddressStore(torch.distributed.Store):  # type: ignore[misc, name-defined]  # public, not listed
    """The store, as gloo gets it: each worker writes its address under its number and reads that of every other one.

    While `is_collecting`, the first worker's answer brings the addresses of all at once.
    """

    def __init__(self, exchange: Exchange) -> None:
        super().__init__()
        self.is_collecting = True
        self._exchange, self._store = exchange, exchange.store
        self._joined = b""
        self._addresses: dict[str, bytes] = {}

    def set(self, key: str, value: bytes) -> None:
        """Write a value; the own address once those of all others are there."""
        folder, _, number = key.rpartition("/")
        if self.is_collecting and number == str(self._exchange.rank):
            self._joined = self._exchange.agree(folder, value, joined)
            self._addresses = {f"{folder}/{rank}": b"" for rank in range(self._exchange.size)}
        else:
            self._store.set(key, value)

    def get(self, key: str) -> bytes:
        """Return a value, once it is there."""
        if key not in self._addresses:
            return bytes(self._store.get(key))
        if self._joined:
            self._addresses, self._joined = dict(zip(self._addresses, apart(self._joined), strict=True)), b""
        return self._addresses[key]

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until there is a value under each key."""
        if missing := [key for key in keys if key not in self._addresses]:
            self._store.wait(missing, timeout or self._exchange.timeout)

    def add(self, key: str, amount: int) -> int:
        """Add to a count, and return it."""
        return int(self._store.add(key, amount))

    def check(self, keys: Sequence[str]) -> bool:
        """Return whether there is a value under each key."""
        return bool(self._store.check([key for key in keys if key not in self._addresses]))


def joined(values: Sequence[bytes]) -> bytes:
    """Return values in one, compressed. Addresses of gloo hold a number for each other worker, and are alike but for
    their beginning: of each only what is different from the first one takes place."""
    different = [values[0], *(_xor(value, values[0]) for value in values[1:])]
    return zlib.compress(b"".join(len(value).to_bytes(4, "big") + value for value in different), 1)


def apart(whole: bytes) -> list[bytes]:
    """Return the values that were joined."""
    data, at = zlib.decompress(whole), 0
    values: list[bytes] = []
    while at < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "big")
        value = data[at + 4 : end]
        values.append(_xor(value, values[0]) if values else value)
        at = end
    return values


def _xor(value: bytes, first: bytes) -> bytes:
    """Return the exclusive or of values of the same length; any other value unchanged."""
    if len(value) != len(first):
        return value
    return (int.from_bytes(value, "big") ^ int.from_bytes(first, "big")).to_bytes(len(value), "big")
