"""Requests that `serve` answers in child processes, and the loop of such a process.

The processes are forked from the warm server and read strangers' files, so each has a limit of memory and can be killed
at any time. One that was asked about a data set stays for the next question, with its outline and samples in memory.
"""

import contextlib
import json
import os
import socket
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from netwright.engine.cli.limits import over_memory
from netwright.engine.cluster.follower import resume_job, start_job
from netwright.engine.core import platform, progress
from netwright.engine.core.errors import EXIT_DONE, UserError
from netwright.engine.core.fork import fork, run_in_child_process
from netwright.engine.core.part_registry import entry
from netwright.engine.core.process import MessageReader, MessageWriter, readable
from netwright.engine.operations.operation import operation
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import admit, granting, look_up
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.file import load, loads
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.data_record import changes_since
from netwright.engine.runs.folder import RunFolder, open_run
from netwright.engine.runs.remote import read_remote

Answer = dict[str, Any]
IDLE_S = 0.2
QUICK_S = 1.0
"""Data that is read within this time is read again rather than kept by a process without what a run needs."""
NICENESS = 15
WEIGHTS_PATIENCE_S = 600.0
"""Limit for reading a file of weights, in seconds."""
OVERHEAD_BYTES = 2**28
"""Memory that is allowed beside the limit, for modules that a request imports."""


def answer(request: Mapping[str, Any]) -> Answer:
    """Return the answer to one request, with its `id` and `result` or `error`. Raises `MemoryError`."""
    id, do, values = request.get("id"), request.get("do"), request.get("with") or {}
    handler = HANDLERS.get(str(do))
    if handler is None and (declared := operation(str(do))) is not None:
        handler = declared.answer
    if handler is None:
        handler = entry("requests", str(do))
    if handler is None:
        return {"id": id, "error": {"message": f"There is no request '{do}'.", "defect": True}}
    try:
        values = dict(values)
        with granting(values.pop("hosts", None) or {}):
            return {"id": id, "result": handler(values)}
    except UserError as error:
        said = error.write()
        return {"id": id, "error": {"message": said.pop("error"), "defect": False, **said}}
    except Exception as error:  # a defect in one answer must not end the process
        from netwright.engine.training.out_of_memory import is_out_of_memory

        if is_out_of_memory(error):
            raise MemoryError from error
        traceback.print_exc()
        return {"id": id, "error": {"message": f"{type(error).__name__}: {error}", "defect": True}}


# ---- the process ----


def serve_jobs(
    connection: socket.socket,
    parent: int,
    limit_bytes: int,
    warm_up: Callable[[], object] | None,
    folder: Path | None = None,
) -> int:
    """Answer the requests that come through `connection`, one after the other, until it is closed or memory is over the
    limit. Returns the exit code.

    `warm_up` imports what a run needs, so that a run forked from this process starts at once: it is called where much
    was read, once nothing is to do. `folder` is the place of temporary files, which the parent removes.
    """
    platform.end_with_parent(parent)
    platform.lead_group()  # to be killed with its children; and Ctrl-C in the window's terminal is not for it
    platform.limit_memory(limit_bytes + OVERHEAD_BYTES)
    if folder is not None:
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)

    requests, answers = MessageReader(connection.fileno()), MessageWriter(connection.fileno())

    def tell(done: int, total: int, unit: str) -> None:
        answers.send({"id": request.get("id"), "progress": {"done": done, "total": total, "unit": unit}})

    spent_s = 0.0
    while True:
        if warm_up is not None and spent_s > QUICK_S and not readable([connection.fileno()], IDLE_S):
            warm_up()
            warm_up = None
        if (request := requests.receive()) is None:
            return EXIT_DONE
        started = time.monotonic()
        try:
            with progress.listening(progress.Throttle(tell)):
                message = answer_within(request, limit_bytes)
            answers.send(message)
        except (BrokenPipeError, ConnectionResetError):
            return EXIT_DONE  # the server has ended
        spent_s += time.monotonic() - started
        if "over_limit" in message:
            return EXIT_DONE


def answer_within(request: Mapping[str, Any], limit_bytes: int) -> Answer:
    """Return the answer; an error with the key `over_limit` where the memory does not suffice."""
    try:
        return answer(request)
    except MemoryError:
        error = {"message": over_memory(request, limit_bytes), "defect": False}
        return {"id": request.get("id"), "error": error, "over_limit": True}


# ---- data ----


def _facts(values: dict[str, Any]) -> Answer:
    from netwright.engine.data.loading.load import facts

    return facts(DataOptions.read(values["data"], "data"), Path(values["base"])).write()


def _guess(values: dict[str, Any]) -> Answer:
    from netwright.engine.project.sources.guess import guesses, not_understood

    path = Path(values["path"])
    found = guesses(path)
    return {"guesses": [asdict(guess) for guess in found], "refusal": "" if found else not_understood(path)}


def _preview(values: dict[str, Any]) -> Answer:
    from netwright.engine.data.loading.preview_data import preview

    options = DataOptions.read(values["data"], "data")
    wanted = (options, Path(values["base"]), Path(values["folder"]), int(values.get("count", 24)))
    training = TrainingOptions.read(values.get("training") or {}, "training")
    if not values.get("epoch"):
        return preview(*wanted, training=training)
    from netwright.engine.data.loading.augmentation import EpochChange

    # It computes with torch, which a process that runs are forked from must never do.
    change = EpochChange(training, options, int(values["epoch"]))
    return run_in_child_process(lambda: preview(*wanted, change, training=training))


def _first_samples(values: dict[str, Any]) -> Answer:
    """Return samples of the beginning of data, in a process of its own while another one reads all of it."""
    from netwright.engine.data.loading.excerpt import first_samples

    options = DataOptions.read(values["data"], "data")
    return first_samples(options, Path(values["base"]), Path(values["folder"]), int(values.get("count", 24)))


def _data_changes(values: dict[str, Any]) -> Answer:
    """Return what has changed in the data of a run since it was recorded, a sentence per file or folder."""
    return {"changes": list(changes_since(Path(values["run_dir"])))}


def _check_data(values: dict[str, Any]) -> Answer:
    """Check data before training, at a low priority: a training goes first."""
    from netwright.engine.data.loading.checks import check_data

    platform.lower_priority(NICENESS)
    options = DataOptions.read(values["data"], "data")
    return check_data(options, Path(values["base"]), labels=bool(values.get("labels")), files=False).write()


# ---- weights ----


def _weights(values: dict[str, Any]) -> Answer:
    """Return what of its weights fills the network of a project: `MatchReport` as JSON."""
    from netwright.engine.lowering.start_weights import start_report
    from netwright.engine.project import user_code

    project, base = loads(values["project"]).project, Path(values["base"])
    user_code.ready(project, base)
    return run_in_child_process(lambda: start_report(project, base).write(), WEIGHTS_PATIENCE_S)


def _fetch_weights(values: dict[str, Any]) -> Answer:
    """Fetch published weights by name; a request that is cancelled goes on from there when it is asked again."""
    from netwright.engine.data.sources.fetch_weights import fetch
    from netwright.engine.project.published_weights import published_entry

    return {"path": str(fetch(published_entry(str(values["name"]))))}


# ---- devices and runs ----


def _inventory(values: dict[str, Any]) -> Answer:
    from netwright.engine.hardware.devices import probe

    return probe().write()


def _train(values: dict[str, Any]) -> Answer:
    """Read the facts within the limits of this process, then start the run from what is in memory now."""
    project = loads(values["project"]).project
    project_path = Path(values["project_path"]) if values.get("project_path") else None
    if project_path is not None:
        look_up(project_path)
    admit(project.data)
    if "data" in values and "base" in values:
        from netwright.engine.data.loading.load import facts

        with contextlib.suppress(UserError):  # said by `prepare`, if the project has no other errors
            facts(DataOptions.read(values["data"], "data"), Path(values["base"]))

    run_dir = Path(values["run_dir"]) if values.get("run_dir") else None
    if (job := start_job(project, project_path, run_dir)) is not None:
        return {"run_dir": str(job.path)}

    def prepared() -> RunFolder:
        from netwright.engine.launch.prepare import prepare

        return prepare(project, project_path, run_dir)

    return _start_run(prepared, values, project.environment)


def _resume(values: dict[str, Any]) -> Answer:
    if read_remote(Path(values["run_dir"])) is not None:
        return {"run_dir": str(resume_job(Path(values["run_dir"])).path)}
    look_up(Path(values["run_dir"]))
    admit(load(open_run(Path(values["run_dir"])).project).project.data)

    def prepared() -> RunFolder:
        from netwright.engine.launch.resume import prepare_resume

        folder = open_run(Path(values["run_dir"]))
        allowed = values.get("allow_changed_data") is True
        prepare_resume(folder, values.get("settings", ()), allow_changed_data=allowed)
        return folder

    return _start_run(prepared, values)


def _start_run(
    prepared: Callable[[], RunFolder], values: Mapping[str, Any], environment: EnvironmentOptions | None = None
) -> Answer:
    """Fork the coordinator of a run, which prepares it. Return the run's folder, once there is one. `environment`:
    where it trains, if that is known before. Raises `UserError` where the run cannot be prepared.

    It is forked twice: the process between ends at once, so that the coordinator belongs to nobody but the system (or
    the server, which collects such processes) and its end leaves nothing behind here.
    """
    reading, writing = os.pipe()

    def coordinate() -> int:
        platform.lead_group(leaves_terminal=True)
        return _coordinate(prepared, values, environment, writing)

    platform.wait_for_process(fork(lambda: 0 if fork(coordinate, keep=(writing,)) else 1, keep=(writing,)))
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        message: Answer = json.loads(pipe.read() or b'{"defect": "The engine ended before the run began."}')
    if "refusal" in message:
        raise UserError(message["refusal"], code=message["code"])
    if "defect" in message:
        raise RuntimeError(message["defect"])
    return message


def _coordinate(
    prepared: Callable[[], RunFolder], values: Mapping[str, Any], environment: EnvironmentOptions | None, writing: int
) -> int:
    """Be the coordinator of a run, in a session of its own."""
    from netwright.engine.hardware import devices
    from netwright.engine.launch.forked_coordinator import coordinate_forked
    from netwright.engine.launch.remote.placers import begun_placer

    platform.lift_memory_limit()
    devices.remember(values.get("inventory"))
    with begun_placer(environment or EnvironmentOptions()) as placer:
        return coordinate_forked(prepared, writing, placer)


HANDLERS: dict[str, Callable[[dict[str, Any]], Mapping[str, Any]]] = {
    "facts": _facts,
    "guess": _guess,
    "preview": _preview,
    "first_samples": _first_samples,
    "check_data": _check_data,
    "data_changes": _data_changes,
    "weights": _weights,
    "fetch_weights": _fetch_weights,
    "inventory": _inventory,
    "train": _train,
    "resume": _resume,
}
