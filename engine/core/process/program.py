"""A module of Netwright as a program in a process of its own, started by `python -m netwright.engine.core.process`."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from netwright.engine.core.files import ROOT
from netwright.engine.core.platform.files import open_descriptor
from netwright.engine.core.platform.processes import start_process

STARTER = "netwright.engine.core.process"
_detached: list["subprocess.Popen[bytes]"] = []
"""Referenced, so that Python does not warn of processes that are meant to outlive it."""


def print_line(message: object) -> None:
    """Print a JSON value as a line, for the process that started this one; end where that one has ended.

    Raises `SystemExit` then: to whom nobody listens, there is nothing more to do.
    """
    try:
        print(json.dumps(message, separators=(",", ":")), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else Python flushes once more, and complains
        raise SystemExit(0) from None


def module_command(module: str, *arguments: str) -> list[str]:
    """Return the command line that calls `main` of a module with these arguments, in a process of its own."""
    return [sys.executable, *module_words(module), *arguments]


def module_words(module: str) -> list[str]:
    """Return the arguments with which any Python that has Netwright calls `main` of a module."""
    return ["-m", STARTER, module]


def engine_command(*arguments: str) -> list[str]:
    """Return the command line of `netwright-engine` of this installation."""
    return [sys.executable, "-m", "netwright.engine", *arguments]


def module_environment() -> dict[str, str]:
    """Return our environment variables, with which `module_command` finds this installation from any folder."""
    paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def start_detached_module(
    log: Path, module: str, *arguments: str, descriptors: Sequence[int] = ()
) -> "subprocess.Popen[bytes]":
    """Start a module in a session of its own, so that it outlives this process and its terminal.

    Its output is appended to the file `log`; it inherits the descriptors. Raises `OSError`.
    """
    _detached[:] = [process for process in _detached if process.poll() is None]
    output = open_descriptor(log, "a")
    try:
        process = start_process(
            module_command(module, *arguments),
            (subprocess.DEVNULL, output, output),
            folder=ROOT,
            environment=module_environment(),
            has_own_group=True,
            inherits=descriptors,
        )
    finally:
        os.close(output)
    _detached.append(process)
    return process
