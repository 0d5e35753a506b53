"""Two workers on this machine that meet, add up, and measure how long that takes, in processes of their own."""

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from engine.core.errors import RunError
from engine.core.files import ROOT

SIZES = (4 * 2**10, 64 * 2**10, 2**20, 16 * 2**20)
PATIENCE_S = 60.0
ROUND_S = 0.2


def together(backend: str, devices: tuple[str, str]) -> list[tuple[int, float]]:
    """Bytes, and the seconds in which two workers with so many each have the sum. Raises `RunError` with the reason."""
    with tempfile.TemporaryDirectory(prefix="netwright-") as folder:
        started = [
            subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "engine.launch.measure_pair",
                    str(Path(folder) / "store"),
                    str(rank),
                    backend,
                    on,
                ],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank, on in enumerate(devices)
        ]
        try:
            said = [process.communicate(timeout=PATIENCE_S) for process in started]
        except subprocess.TimeoutExpired:
            raise RunError(f"two workers did not meet over {backend} within {PATIENCE_S:.0f} s") from None
        finally:
            for process in started:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                process.wait()
    for process, (_, errors) in zip(started, said, strict=True):
        if process.returncode:
            raise RunError((errors.strip() or f"a worker ended with {process.returncode}").rpartition("\n")[2][:300])
    return [(int(size), float(seconds)) for size, seconds in json.loads(said[0][0].strip().rpartition("\n")[2])]


def _work(store: Path, rank: int, backend: str, device: str) -> list[tuple[int, float]]:
    """One of the two. Raises where a sum is wrong."""
    import torch

    from engine.parallel.process_group import TorchProcessGroup

    torch.set_num_threads(1)
    if device != "cpu":
        torch.accelerator.set_device_index(torch.device(device).index)
    group = TorchProcessGroup(rank, 2, backend, store, timeout=timedelta(seconds=PATIENCE_S))
    found = []
    for size in SIZES:
        tensor = torch.ones(size // 4, device=device)
        if float(group.all_reduce(tensor)[0]) != 2.0:
            raise RunError("the sum over two workers is wrong")
        found.append((size, _seconds(group, tensor.zero_())))
    group.close()
    return found


def _seconds(group: Any, tensor: Any) -> float:
    """Of one sum; as many as go into a short time, of which the first worker says how many."""
    import torch

    def sums(count: int) -> float:
        began = time.perf_counter()
        for _ in range(count):
            group.all_reduce(tensor)
        if tensor.device.type != "cpu":
            torch.accelerator.synchronize(tensor.device)
        return time.perf_counter() - began

    sums(1)
    count = torch.tensor([max(1.0, ROUND_S / max(1e-6, sums(3) / 3))], device=tensor.device)
    agreed = min(2000, max(1, int(float(group.all_reduce(count)[0]) / 2)))
    return sums(agreed) / agreed


if __name__ == "__main__":
    print(json.dumps(_work(Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:5])), flush=True)
    import os

    os._exit(0)  # see `TorchProcessGroup.close`
