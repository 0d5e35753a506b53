"""A coordinator in a process of its own: the run goes on when whoever started it, or the terminal, has gone."""

import os
import subprocess
import sys
from pathlib import Path

from engine.environments.launch import ROOT
from engine.runs.folder import RunFolder, open_run
from engine.training.starting.preparing import hold, lock_of
from engine.training.supervision.coordinator import coordinate, exit_code

# Kept so that Python does not complain of processes that are meant to outlive it.
_started: list["subprocess.Popen[bytes]"] = []


def start_detached(folder: RunFolder) -> None:
    """Hand a prepared run over, with its lock, so that at no moment it looks lost."""
    lock = lock_of(folder)
    log = os.open(folder.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _started.append(
            subprocess.Popen(
                [sys.executable, "-m", "engine.training.starting.detached", str(folder.path), str(lock)],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(lock,),
                start_new_session=True,
            )
        )
    finally:
        os.close(log)
        os.close(lock)


def main(arguments: list[str]) -> int:
    """The detached process: the run's folder, and the lock that was handed over."""
    folder, lock = open_run(Path(arguments[0])), int(arguments[1])
    os.set_inheritable(lock, False)
    hold(folder, lock)
    coordinate(folder)
    return exit_code(folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
