"""Where the workers of a run find each other: a file on one machine, a port on one network interface of a cluster."""

import sys
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
