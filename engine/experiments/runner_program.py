"""Runs the experiment in a folder to its end, in a process of its own.

python -m netwright.engine.core.child netwright.engine.experiments.runner_program FOLDER
"""

import sys
from pathlib import Path

from netwright.engine.core.errors import EXIT_DONE, EXIT_RUN_FAILED, UserError
from netwright.engine.experiments.runner import Runner
from netwright.engine.runs.experiments import open_experiment


def main(arguments: list[str]) -> int:
    """Run the experiment in a folder; return the exit code."""
    try:
        info = Runner(open_experiment(Path(arguments[0]))).run()
    except UserError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    if info.state == "failed":
        print(info.reason, file=sys.stderr)
        return EXIT_RUN_FAILED
    return EXIT_DONE
