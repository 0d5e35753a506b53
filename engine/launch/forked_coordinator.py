"""A coordinator in a process that was forked for it: it prepares the run, tells its parent what came of that, and
trains."""

import contextlib
import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from netwright.engine.core import platform
from netwright.engine.core.errors import EXIT_DEFECT, UserError
from netwright.engine.core.fork import fork
from netwright.engine.core.platform_files import open_descriptor
from netwright.engine.data.loading.load import facts
from netwright.engine.hardware import devices
from netwright.engine.launch.coordinator import coordinate, exit_code
from netwright.engine.launch.detached_coordinator import replace_by_small_process, start_detached
from netwright.engine.launch.launcher import Placer, begun_placer
from netwright.engine.launch.prepare import prepare
from netwright.engine.launch.resume import prepare_resume
from netwright.engine.operations.started_runs import ResumeRequest, TrainRequest
from netwright.engine.placement.cluster_part import cluster_function
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import admit, look_up
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.file import load, loads
from netwright.engine.runs.folder import RunFolder, open_run
from netwright.engine.runs.remote import read_remote


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
    log = open_descriptor(folder.log, "a")
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    may_shrink = placer is None or placer.is_of_profile
    coordinate(folder, shrink=replace_by_small_process if may_shrink else None, placer=placer)
    return exit_code(folder)


# ---- runs that the window starts ----


def train(request: TrainRequest) -> Mapping[str, Any]:
    """Read the facts within the limits of this process, then start the run from what is in memory now. Raises
    `UserError`."""
    project = loads(request.project).project
    if request.project_path is not None:
        look_up(request.project_path)
    admit(project.data)
    if request.data is not None and request.base is not None:
        with contextlib.suppress(UserError):  # said by `prepare`, if the project has no other errors
            facts(DataOptions.read(request.data, "data"), request.base)
    is_parallel = project.environment.target == "parallel"
    start_job = cluster_function("start_job") if is_parallel else None
    if start_job is not None and (job := start_job(project, request.project_path, request.run_dir)) is not None:
        return {"run_dir": str(job.path)}

    def prepared() -> RunFolder:
        return prepare(project, request.project_path, request.run_dir)

    return _start_run(prepared, request.inventory, project.environment)


def resume(request: ResumeRequest) -> Mapping[str, Any]:
    """Resume a run. Raises `UserError`."""
    if read_remote(request.run_dir) is not None:
        return {"run_dir": str(cluster_function("resume_job")(request.run_dir).path)}
    look_up(request.run_dir)
    admit(load(open_run(request.run_dir).project).project.data)

    def prepared() -> RunFolder:
        folder = open_run(request.run_dir)
        prepare_resume(folder, request.settings, allow_changed_data=request.allow_changed_data)
        return folder

    return _start_run(prepared, request.inventory, EnvironmentOptions())


def _start_run(
    prepared: Callable[[], RunFolder], inventory: Mapping[str, Any] | None, environment: EnvironmentOptions
) -> Mapping[str, Any]:
    """Fork the coordinator of a run, which prepares it. Return the run's folder, once there is one. `environment`:
    where it trains. Raises `UserError` where the run cannot be prepared.

    It is forked twice: the process between ends at once, so that the coordinator belongs to nobody but the system (or
    the server, which collects such processes) and its end leaves nothing behind here. Where the system cannot fork,
    this process prepares the run, and starts the coordinator anew.
    """
    if not platform.CAN_FORK:
        devices.remember(inventory)
        folder = prepared()
        start_detached(folder)
        return {"run_dir": str(folder.path)}
    reading, writing = os.pipe()

    def coordinate() -> int:  # in a session of its own
        platform.lead_group(leaves_terminal=True)
        platform.lift_memory_limit()
        devices.remember(inventory)
        with begun_placer(environment) as placer:
            return coordinate_forked(prepared, writing, placer)

    platform.wait_for_process(fork(lambda: 0 if fork(coordinate, keep=(writing,)) else 1, keep=(writing,)))
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        message: Mapping[str, Any] = json.loads(pipe.read() or b'{"defect": "The engine ended before the run began."}')
    if "refusal" in message:
        raise UserError(message["refusal"], code=message["code"])
    if "defect" in message:
        raise RuntimeError(message["defect"])
    return message
