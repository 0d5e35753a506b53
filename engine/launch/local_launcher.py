"""The launcher of a run on this machine: workers are forked, and find each other by a file in the run's folder."""

import importlib
import mmap
import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.fork import PATIENCE_S, read_from_child
from netwright.engine.core.platform import CAN_FORK, address_limit_bytes
from netwright.engine.hardware.threads import calm_threads
from netwright.engine.launch import worker_process
from netwright.engine.launch.launcher import StartPoint
from netwright.engine.launch.worker_process import WorkerProcess
from netwright.engine.parallel.worker_spec import WorkerSpec
from netwright.engine.project.file import load as load_project
from netwright.engine.runs.folder import RunFolder

HEADROOM_BYTES = 2**27
"""Addresses that a worker needs beside torch, for its threads and data, where they are limited."""


class LocalLauncher:
    """Starts the workers of a run as processes of this machine.

    Call it from a thread that lives as long as the run: the workers die with the thread that started them.
    """

    def __init__(self, folder: RunFolder, work: Callable[[WorkerSpec], int], strategy: str = "") -> None:
        """`work` is called in a forked worker."""
        self._folder = folder
        self._work = work
        self._strategy = strategy
        self._rendezvous = Path()

    def begin(self) -> None:
        """Make a private folder where the workers of this attempt find each other."""
        self._rendezvous = self._folder.path / f".rendezvous-{secrets.token_hex(4)}"
        self._rendezvous.mkdir(0o700)

    def is_ready(self) -> bool:
        """Return True: this machine is there."""
        return True

    def start(self, rank: int, start: StartPoint) -> WorkerProcess:
        """Start one worker. Raises `RunError` if the system cannot start another process."""
        spec = WorkerSpec(
            str(self._folder.path),
            rank,
            str(self._rendezvous / "store"),
            strategy=self._strategy,
            checkpoint=start.checkpoint,
            rate_factor=start.rate_factor,
            pending_requests=start.pending_requests if rank == 0 else "",
        )
        return worker_process.start(spec, self._work, log=self._folder.log)

    def await_started(self) -> None:
        """Return: a worker of this machine has its process at once."""

    def watch(self) -> None:
        """Do nothing: there is nothing beside the workers."""

    def end(self) -> None:
        """Remove the folder of the rendezvous."""
        shutil.rmtree(self._rendezvous, ignore_errors=True)

    def close(self) -> None:
        """Do nothing: nothing outlives an attempt."""


def uses_compiler(folder: RunFolder) -> bool:
    """Return whether the training creates one of torch's own optimizers, which import torch's compiler."""
    try:
        project = load_project(folder.project).project
        return project.training.solver in ("nadam", "rmsprop") or not project.run.accelerates("fused-optimizers")
    except UserError:
        return True  # the workers will report the error


def preload_for(folder: RunFolder) -> Callable[[WorkerSpec], int]:
    """Return the work function of a run's workers, with what they need imported.

    Raises `RunError` where the address space of this process is limited (`ulimit -v`) to less than that: torch itself
    would end the process, so a child tries it first.
    """
    with_compiler = uses_compiler(folder)

    def attempt() -> bytes:
        with open(os.devnull, "wb") as null:
            os.dup2(null.fileno(), 2)
        preload(with_compiler=with_compiler)
        mmap.mmap(-1, HEADROOM_BYTES).close()
        return b"fits"

    limit_bytes = address_limit_bytes()
    if limit_bytes is not None and read_from_child(attempt, PATIENCE_S) != b"fits":
        raise RunError(
            f"There is not enough memory to load torch: this process is limited to {limit_bytes / 2**20:,.0f} MiB of "
            "addresses (`ulimit -v`).",
            hint="Lift the limit (`ulimit -v unlimited`) and train again.",
        )
    return preload(with_compiler=with_compiler)


def preload(*, with_compiler: bool = True) -> Callable[[WorkerSpec], int]:
    """Import what a forked worker needs and return its work function; a run after this call starts at once.

    torch's compiler takes as long to import as the rest of torch. An idle server imports it in advance; otherwise only
    workers that need it do. Workers that are not forked import everything themselves.
    """
    if not CAN_FORK:
        return lambda spec: worker_process.EXIT_BROKEN
    calm_threads()  # before torch is imported
    importlib.import_module("torch")
    if with_compiler:
        importlib.import_module("torch._dynamo")
    work: Callable[[WorkerSpec], int] = importlib.import_module("netwright.engine.launch.worker").work
    return work
