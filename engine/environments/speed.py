"""How fast a device is at the two things training does most: matrix products and moving memory.

Measured in a throw-away process, so that neither the window nor a server ever initialises an accelerator.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from engine.errors import RunError

MEASURE_S = 0.5


def measure_in_process(device: str) -> dict[str, float]:
    """`matmul_gflops` (float32) and `copy_gbs` (read plus write) of one device. Raises `RunError`."""
    command = [sys.executable, "-m", "engine.environments.speed", device]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        speeds: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return speeds
    except subprocess.CalledProcessError as error:
        last = (error.stderr or "").strip().splitlines()[-1:] or ["no message"]
        raise RunError(f"Device {device} could not be measured: {last[0]}") from None
    except subprocess.TimeoutExpired:
        raise RunError(f"Device {device} did not answer within 120 s.") from None


def measure(device: str) -> dict[str, float]:
    """The figures, in this process."""
    import torch

    on_cpu = device == "cpu"
    size = 1024 if on_cpu else 4096
    a = torch.randn(size, size, device=device)
    big = torch.empty(64 * 2**20 // 4 if on_cpu else 2**28, device=device)
    target = torch.empty_like(big)
    wait: Callable[[], Any] = (lambda: None) if on_cpu else (lambda: torch.accelerator.synchronize(device))
    products = _rate(lambda: torch.mm(a, a), wait)
    copies = _rate(lambda: target.copy_(big), wait)
    return {"matmul_gflops": 2e-9 * size**3 * products, "copy_gbs": 2e-9 * big.numel() * 4 * copies}


def _rate(work: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """Calls a second, after a warm-up."""
    for _ in range(3):
        work()
    wait()
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < MEASURE_S:
        for _ in range(5):
            work()
        wait()
        count += 5
    return count / (time.perf_counter() - start)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
