"""`serve`: answer the window's requests on standard input and output."""

import argparse
import importlib
import json
import os
import select
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from engine.cli.commands import Commands
from engine.core.errors import EXIT_DONE, UserError
from engine.hardware.threads import calm_threads
from engine.project.data import DataOptions
from engine.project.file import loads
from engine.project.training import TrainingOptions
from engine.runs.folder import RunFolder, open_run

REQUEST_LIMIT_BYTES = 128 * 2**20
IDLE_S = 0.2
Answer = dict[str, Any]


class Handover(Exception):
    """A run was prepared: the process stops serving and becomes its coordinator."""

    def __init__(self, folder: RunFolder) -> None:
        super().__init__(str(folder.path))
        self.folder = folder


def serve() -> int:
    """Serve until the input closes. Returns the exit code."""
    channel = Channel()
    calm_threads()
    import torch  # noqa: F401  # the point of a warm process: it is here before it is asked for

    channel.send({"ready": True})
    for request in channel.requests(when_idle=_warm_up):
        try:
            channel.send(answer(request))
        except Handover as handover:
            channel.send({"id": request.get("id"), "result": {"run_dir": str(handover.folder.path)}})
            channel.close()
            return _coordinate(handover.folder)
    return EXIT_DONE


def _warm_up() -> None:
    """Import in advance what a run takes, and what else comes in on the way to its first step."""
    from engine.launch.coordinator import preload
    from engine.network.catalog import catalog

    preload()
    catalog()
    importlib.import_module("numpy.ma")  # telling classes apart asks for it


class Channel:
    """Standard input and output as lines of JSON. What anything else prints goes to standard error."""

    def __init__(self) -> None:
        self._out = os.dup(1)
        os.set_inheritable(self._out, False)
        os.dup2(2, 1)

    def send(self, message: Answer) -> None:
        """Write one line; a window that has gone is no reason to fail."""
        data = (json.dumps(message, ensure_ascii=False) + "\n").encode()
        try:
            while data:
                data = data[os.write(self._out, data) :]
        except BrokenPipeError:
            sys.exit(EXIT_DONE)

    def requests(self, *, when_idle: Callable[[], object]) -> Iterator[dict[str, Any]]:
        """Each line of the input; read without a buffer or a thread, which would not survive a fork.

        `when_idle` is called once, as soon as nothing was asked for a moment.
        """
        buffer = b""
        was_idle = False
        while True:
            if not was_idle and not select.select([0], [], [], IDLE_S)[0]:
                when_idle()
                was_idle = True
            if not (chunk := os.read(0, 2**16)):
                return
            *lines, buffer = (buffer + chunk).split(b"\n")
            for line in lines:
                if line.strip():
                    yield self._parse(line)
            if len(buffer) > REQUEST_LIMIT_BYTES:
                buffer = b""

    @staticmethod
    def _parse(line: bytes) -> dict[str, Any]:
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            request = None
        return request if isinstance(request, dict) else {"do": "", "id": None}

    def close(self) -> None:
        """Leave the window's pipes."""
        os.close(self._out)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)


def _coordinate(folder: RunFolder) -> int:
    """Be the coordinator of a run, in a session of its own, with the run's log as output."""
    from engine.launch.coordinator import coordinate
    from engine.launch.detached_coordinator import replace_by_small_process

    os.setsid()
    log = os.open(folder.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    coordinate(folder, shrink=replace_by_small_process)
    return EXIT_DONE


def answer(request: dict[str, Any]) -> Answer:
    """The answer to one request. Raises `Handover` for a run that was prepared."""
    id, do, values = request.get("id"), request.get("do"), request.get("with") or {}
    handler = HANDLERS.get(str(do))
    if handler is None:
        return {"id": id, "error": {"message": f"There is no request '{do}'.", "defect": True}}
    try:
        return {"id": id, "result": handler(values)}
    except UserError as error:
        return {"id": id, "error": {"message": str(error), "defect": False}}
    except Handover:
        raise
    except Exception as error:  # a defect in one answer must not take the server down
        traceback.print_exc()
        return {"id": id, "error": {"message": f"{type(error).__name__}: {error}", "defect": True}}


def _facts(values: dict[str, Any]) -> Answer:
    from engine.data.load import facts

    return facts(DataOptions.read(values["data"], "data"), Path(values["base"])).write()


def _preview(values: dict[str, Any]) -> Answer:
    from engine.data.load import preview

    options = DataOptions.read(values["data"], "data")
    wanted = (options, Path(values["base"]), Path(values["folder"]), int(values.get("count", 24)))
    training = TrainingOptions.read(values.get("training") or {}, "training")
    if not values.get("epoch"):
        return preview(*wanted, training=training)
    from engine.core.child_process import run_in_child_process
    from engine.data.augmentation import change_for

    # It computes with torch, which this process must never do.
    change = change_for(training, options, int(values["epoch"]))
    return run_in_child_process(lambda: preview(*wanted, change, training=training))


def _inventory(values: dict[str, Any]) -> Answer:
    from engine.hardware.devices import probe

    return probe().write()


def _train(values: dict[str, Any]) -> Answer:
    from engine.launch.prepare import prepare

    project = loads(values["project"]).project
    project_path = Path(values["project_path"]) if values.get("project_path") else None
    run_dir = Path(values["run_dir"]) if values.get("run_dir") else None
    raise Handover(prepare(project, project_path, run_dir))


def _resume(values: dict[str, Any]) -> Answer:
    from engine.launch.resume import prepare_resume

    folder = open_run(Path(values["run_dir"]))
    prepare_resume(folder, values.get("settings", ()))
    raise Handover(folder)


def _alive(values: dict[str, Any]) -> Answer:
    from engine.runs.history import ProjectKey, runs_of

    path, identity = values.get("project_path"), str(values.get("project_id") or "")
    project = ProjectKey(Path(path) if path else None, identity)
    runs = [str(run.path) for run in runs_of(project) if run.is_alive]
    return {"project_path": path, "project_id": identity, "runs": runs}


HANDLERS: dict[str, Callable[[dict[str, Any]], Answer]] = {
    "facts": _facts,
    "preview": _preview,
    "inventory": _inventory,
    "train": _train,
    "resume": _resume,
    "alive": _alive,
}


def register(commands: Commands) -> None:
    """Add the command."""
    text = "Answer requests as JSON lines on standard input and output. The window starts this by itself."
    command = commands.add_parser("serve", description=text)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until standard input closes."""
    # MOVED

    return serve()


if __name__ == "__main__":
    sys.exit(serve())
