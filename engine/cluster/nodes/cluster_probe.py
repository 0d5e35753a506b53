"""Program of a worker that tries a cluster: notes where it runs, and with others sums numbers and measures speed.

It is copied to the cluster and run there by the Python of the profile: it needs the standard library, and torch for
more than one worker. Arguments: the folder for its answer, `task` or `workers`. The environment has its rank.
"""

from __future__ import annotations

import datetime
import json
import os
import socket
import sys
import time
from typing import Any

NUMBERS = 1 << 20
SIZE = 512
PATIENCE_S = 60
REPEATS = 5


def place() -> dict[str, Any]:
    """Return where this worker runs, and with what."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return {"host": socket.gethostname(), "cores": cores, "python": ".".join(map(str, sys.version_info[:3]))}


def _interface() -> str:
    """Return the network interface that leads to the other workers: that towards the host where they meet, or the
    first node of a job of Slurm."""
    first = os.environ.get("MASTER_ADDR", "")
    if not first and os.environ.get("SLURM_JOB_NUM_NODES", "1") == "1":
        return "lo"
    from netwright.engine.cluster.nodes.interfaces import address_towards, interface_with

    return interface_with(address_towards(first or os.environ["SLURM_LAUNCH_NODE_IPADDR"]))


def _store(folder: str, rank: int, world: int, timeout: datetime.timedelta) -> Any:
    """Return torch's store of keys: a file of this host, or at the address where workers of several hosts meet; nothing
    listens at another one."""
    from torch import distributed

    if not (address := os.environ.get("MASTER_ADDR", "")):
        return distributed.FileStore(f"{folder}/rendezvous", world)  # type: ignore[attr-defined]
    port = int(os.environ["MASTER_PORT"])
    listener = socket.create_server((address, port), backlog=world).detach() if rank == 0 else None
    return distributed.TCPStore(  # type: ignore[attr-defined]
        address, port, world, rank == 0, timeout, wait_for_workers=False, master_listen_fd=listener
    )


def together(folder: str, rank: int, world: int) -> dict[str, Any]:
    """Sum numbers over all workers; return whether the sum is right, bytes per second of it and FLOPs per second."""
    import torch
    from torch import distributed

    os.environ.setdefault("GLOO_SOCKET_IFNAME", _interface())
    timeout = datetime.timedelta(seconds=PATIENCE_S)
    distributed.init_process_group(
        "gloo", store=_store(folder, rank, world, timeout), rank=rank, world_size=world, timeout=timeout
    )
    numbers = torch.full((NUMBERS,), rank + 1.0)
    distributed.all_reduce(numbers)
    is_right = bool((numbers == world * (world + 1) / 2).all())
    distributed.barrier()
    begin = time.perf_counter()
    for _ in range(REPEATS):
        distributed.all_reduce(numbers)
    seconds = time.perf_counter() - begin
    matrix = torch.rand(SIZE, SIZE)
    begin = time.perf_counter()
    for _ in range(REPEATS):
        matrix @ matrix
    flops = REPEATS * 2 * SIZE**3 / max(time.perf_counter() - begin, 1e-9)
    distributed.barrier()
    distributed.destroy_process_group()
    return {
        "is_right": is_right,
        "numbers": NUMBERS,
        "bytes_per_s": REPEATS * NUMBERS * 4 / max(seconds, 1e-9),
        "flops": flops,
        "gpus": torch.accelerator.device_count(),
    }


def main(folder: str, action: str) -> None:
    """Do what is asked, and leave the answer in the folder."""
    rank = int(os.environ.get("SLURM_PROCID", os.environ.get("RANK", "0")))
    world = int(os.environ.get("SLURM_NTASKS", os.environ.get("WORLD_SIZE", "1")))
    answer = place()
    if action == "workers":
        answer.update(together(folder, rank, world))
    path = os.path.join(folder, f"answer-{rank}.json")
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        json.dump(answer, file)
    os.rename(path + ".tmp", path)


if __name__ == "__main__":
    main(*sys.argv[1:])
