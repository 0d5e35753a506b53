"""A coordinator in a process that was forked for it: it prepares the run, tells its parent what came of that, and
trains."""

import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

from netwright.engine.core.errors import EXIT_DEFECT, UserError
from netwright.engine.launch.coordinator import coordinate, exit_code
from netwright.engine.launch.detached_coordinator import replace_by_small_process
from netwright.engine.launch.remote.placers import Placer
from netwright.engine.runs.folder import RunFolder


def coordinate_forked(prepared: Callable[[], RunFolder], writing: int, placer: Placer | None = None) -> int:
    """Prepare a run in this process and train it, with the run's log as output. Returns its exit code. `placer`: what
    starts the agents of a run on a cluster, where it has begun already or is not left to the profile.

    A JSON object goes through the pipe `writing`, which is closed then: `run_dir`, or why the run was not prepared:
    `refusal` and its `code`, or `defect`.
    """
    folder = None
    try:
        folder = prepared()
        message: dict[str, Any] = {"run_dir": str(folder.path)}
    except UserError as error:
        message = {"refusal": str(error), "code": error.code}
    except BaseException as error:  # whatever it was, the parent is to say it
        traceback.print_exc()
        message = {"defect": f"{type(error).__name__}: {error}"}
    os.write(writing, json.dumps(message).encode())
    os.close(writing)
    if folder is None:
        return EXIT_DEFECT
    sys.stdout.flush()
    log = os.open(folder.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    may_shrink = placer is None or placer.is_of_profile
    coordinate(folder, shrink=replace_by_small_process if may_shrink else None, placer=placer)
    return exit_code(folder)
