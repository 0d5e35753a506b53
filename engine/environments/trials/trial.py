"""A few training steps on made-up samples, in a process that is thrown away: how much memory they take, and how long.

The process that asks has torch but never used it, and forks one child a trial: a child that runs out of memory, or
hangs an accelerator, takes nothing with it.
"""

import contextlib
import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from engine.environments.apart import read_all
from engine.network.analysis import analyse
from engine.project import code
from engine.project.project import Project

PATIENCE_S = 60.0
ENOUGH_S = 4.0
"""Steps are timed until they took so long together: long ones differ little from each other."""


@dataclass(frozen=True)
class Tried:
    """One trial of a worker's share: the memory of the worker at its highest, the seconds of a step, or why not."""

    samples: int
    bytes: int = 0
    seconds: float = 0.0
    refusal: str = ""


def attempt(
    project: Project, samples: int, device: str = "cpu", threads: int = 1, steps: int = 2, limit_bytes: int = 0
) -> Tried:
    """One worker's share of so many samples, with so many bytes at most on the CPU (0: any). Needs `os.fork`."""
    _warm()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_child(writing, project, samples, device, threads, steps, limit_bytes)
    os.close(writing)
    told = read_all(reading, PATIENCE_S)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if told is None:
        return Tried(samples, refusal=f"{steps} steps take longer than {PATIENCE_S:.0f} s")
    return Tried(**json.loads(told)) if told else Tried(samples, refusal="the system ended it: out of memory")


def _warm() -> None:
    """Import once what every child needs; torch's optimizers import the compiler at their first step."""
    for module in ("torch._dynamo", "engine.training.trying"):
        importlib.import_module(module)


def _be_child(writing: int, project: Project, samples: int, device: str, *how: int) -> None:
    """The life of a child. Nothing of it may reach the stack below."""
    try:
        tried = _try(project, samples, device, *how)
        os.write(writing, json.dumps(asdict(tried)).encode())
    except BaseException as error:  # whatever it was: the trial failed, and says of what
        words = str(error).strip().partition("\n")[0][:200] or type(error).__name__
        with contextlib.suppress(Exception):
            os.write(writing, json.dumps(asdict(Tried(samples, refusal=words))).encode())
    finally:
        os._exit(0)


def _try(project: Project, samples: int, device: str, threads: int, steps: int, limit_bytes: int) -> Tried:
    import torch

    from engine.training.trying import Rehearsal

    torch.set_num_threads(threads)
    _limit(limit_bytes)
    place = torch.device(device)
    if place.type != "cpu":
        torch.accelerator.set_device_index(place.index)
    try:
        rehearsal = Rehearsal(project, place, samples)
        rehearsal.step()
        seconds: list[float] = []
        while len(seconds) < steps and sum(seconds) < ENOUGH_S:
            began = time.perf_counter()
            rehearsal.step()
            if place.type != "cpu":
                torch.accelerator.synchronize()
            seconds.append(time.perf_counter() - began)
    except (MemoryError, torch.OutOfMemoryError) as error:
        return Tried(samples, refusal=f"out of memory ({str(error).partition('.')[0][:100]})")
    except RuntimeError as error:
        if "allocate memory" in str(error):
            return Tried(samples, refusal="out of memory")
        raise
    return Tried(samples, _peak_bytes(place), sorted(seconds)[len(seconds) // 2])


def _limit(limit_bytes: int) -> None:
    """Let this process have no more memory than what it has and so many bytes, where the system can see to it."""
    if not limit_bytes or sys.platform != "linux":
        return
    import resource

    with open("/proc/self/status", encoding="ascii") as status:
        has = next((int(line.split()[1]) * 1024 for line in status if line.startswith("VmData")), 0)
    resource.setrlimit(resource.RLIMIT_DATA, (has + limit_bytes, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _peak_bytes(device: Any) -> int:
    import resource

    import torch

    if device.type in ("cuda", "xpu"):
        return torch.accelerator.max_memory_reserved(device)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def can_try() -> bool:
    """Whether trials can be made here: they are forked."""
    return hasattr(os, "fork") and sys.platform == "linux"


def refusals(project: Project) -> Iterator[str]:
    """Why no trial of this project can be made."""
    options = project.training
    if options.is_full_batch:
        yield (
            f"The solver {options.solver} takes all samples in each iteration, and trials are made with mini-batches. "
            "Choose another solver."
        )
    if not project.network.layers or analyse(project.network).has_errors:
        yield "The network has errors; correct them first (see the command check)."
    if code.has_code(project):
        yield "The project has code of its own, which trials do not run yet."
    if not can_try():
        yield "Trials are forked processes, which this system does not have."
