"""Runs the experiment in a folder to its end, in a process of its own.

python -m netwright.engine.core.child netwright.engine.experiments.runner_program FOLDER [LEASH]

With a leash, the number of a descriptor to read from, the experiment is stopped once all writing ends of that pipe are
closed: the process that has started it is gone, or wants no more.
"""

import os
import sys
from pathlib import Path

from netwright.engine.core.errors import EXIT_DEFECT, EXIT_DONE, EXIT_RUN_FAILED, UserError
from netwright.engine.core.fork import fork
from netwright.engine.core.platform import ended_process, lift_memory_limit
from netwright.engine.core.process import readable
from netwright.engine.experiments.runner import LOOK_S, Runner
from netwright.engine.runs.experiments import ExperimentFolder, open_experiment


def main(arguments: list[str]) -> int:
    """Run the experiment in a folder; return the exit code."""
    folder = Path(arguments[0])
    return _run_on_leash(folder, int(arguments[1])) if arguments[1:] else _run(folder)


def _run(folder: Path) -> int:
    try:
        info = Runner(open_experiment(folder)).run()
    except UserError as error:
        print(error, file=sys.stderr, flush=True)
        return error.exit_code
    if info.state == "failed":
        print(info.reason, file=sys.stderr, flush=True)
        return EXIT_RUN_FAILED
    return EXIT_DONE


def _run_on_leash(folder: Path, leash: int) -> int:
    """Run it in a forked child, and ask that to stop at the end of the leash."""
    lift_memory_limit()  # of a process that reads files for the window; each run has limits of its own
    pid = fork(lambda: _run(folder), EXIT_DEFECT)
    leashes = [leash]
    while (code := ended_process(pid, otherwise=EXIT_DEFECT)) is None:
        if readable(leashes, LOOK_S):
            ExperimentFolder(folder).request("stop")
            os.close(leashes.pop())
    return code
