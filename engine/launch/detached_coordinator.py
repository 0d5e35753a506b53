"""A coordinator in a process of its own: the run continues when the process that started it, or its terminal, ends.

python -m netwright.engine.core.child netwright.engine.launch.detached_coordinator FOLDER LOCK [ITERATION RESTARTS]

`LOCK` is the number of the run's lock (`name_for_child`); the numbers are those of an offloaded run (`OffloadedRun`).
"""

import contextlib
import os
import sys
from pathlib import Path

from netwright.engine.core.files import ROOT
from netwright.engine.core.locks import adopt_lock
from netwright.engine.core.platform_files import name_for_child
from netwright.engine.core.process import module_command, start_detached_module
from netwright.engine.launch.coordinator import coordinate, exit_code
from netwright.engine.launch.offload import OffloadedRun
from netwright.engine.launch.prepare import hold, lock_of
from netwright.engine.runs.folder import RunFolder, open_run

MODULE = "netwright.engine.launch.detached_coordinator"


def start_detached(folder: RunFolder) -> None:
    """Start a detached coordinator for a prepared run. It inherits the lock, so that the run never looks lost."""
    lock = lock_of(folder)
    try:
        words = str(folder.path.absolute()), str(name_for_child(lock))
        start_detached_module(folder.log, MODULE, *words, descriptors=(lock,))
    finally:
        os.close(lock)


def replace_by_small_process(folder: RunFolder, lock: int, released: OffloadedRun) -> None:
    """Replace the program of this process by a coordinator without torch; process id, lock and output stay the same.

    It takes a tenth of the memory while the run waits, and two seconds longer to continue. Returns only if the system
    refuses, as Windows does: a program that takes the place of another has another process id there.
    """
    if sys.platform == "win32":
        return
    numbers = [str(folder.path), str(lock), str(released.iteration), str(released.restarts)]
    os.set_inheritable(lock, True)
    with contextlib.suppress(OSError):
        os.chdir(ROOT)
        os.execv(sys.executable, module_command(MODULE, *numbers))
    os.set_inheritable(lock, False)


def main(arguments: list[str]) -> int:
    """Coordinate the run given by the arguments in this process; return its exit code."""
    folder, lock = open_run(Path(arguments[0])), adopt_lock(int(arguments[1]))
    hold(folder, lock)
    numbers = [int(text) for text in arguments[2:]]
    coordinate(folder, shrink=replace_by_small_process, released=OffloadedRun(*numbers) if numbers else None)
    return exit_code(folder)
