"""Programs for the nodes of a Ray: the actor of a job, and tasks. Ray takes it along by value, as its processes have
nothing of Netwright.

A job is a detached actor, which runs the job's script: it goes on without the process that has started it. The script
starts the run's coordinator, or goes on with the run where that has begun. The actor runs it again where that is
killed, and Ray starts the actor again, on another node where it must, when its process or its node dies. All nodes must
see the folder of the job.
"""

import json
import os
import shutil
import socket
from collections.abc import Callable, Mapping
from typing import Any

from netwright.engine.cluster import host_script
from netwright.engine.project.project import RunOptions

MAX_RESTARTS = RunOptions().max_restarts
"""Restarts of a coordinator that is killed before it has written its record, which has the limit of the run."""
OnNode = Callable[[dict[str, Any]], dict[str, Any]]


class RayJob:
    """A job as an actor, which ends when the run has, or the coordinator was killed more often than the run restarts.

    Runs in a process of Ray, which has nothing of Netwright. The script dies with this process, so that there are
    never two where Ray starts the actor again.
    """

    SILENCE_S = 95.0
    """Seconds without a sign of life after which a coordinator on another host counts as dead: see `liveness`."""
    LEAST_CODE_OF_SIGNAL = 128
    """A program that was started by another one, as by conda or in a container, and killed has a code above this."""

    def __init__(self, folder: str) -> None:
        import threading

        self._folder = folder
        threading.Thread(target=self._run, daemon=True).start()  # it starts the script, and lives as long as that

    def ping(self) -> str:
        """Return the host."""
        return socket.gethostname()

    def _run(self) -> None:
        import ray

        self._wait_for_silence()
        restarts = 0
        while self._is_killed() and restarts < self._info().get("max_restarts", MAX_RESTARTS):
            restarts += 1
        ray.kill(ray.get_runtime_context().current_actor, no_restart=True)

    def _is_killed(self) -> bool:
        """Run the script; return whether it was killed before the end of the run was recorded, rather than refused."""
        code = host_script.run_to_end(self._folder)
        is_by_signal = code < 0 or code > self.LEAST_CODE_OF_SIGNAL
        return is_by_signal and not self._is_over(self._info())

    def _wait_for_silence(self) -> None:
        """Wait until a coordinator of this run on another host, whose node Ray has lost, gives no sign of life."""
        import time

        lock, mark = os.path.join(self._folder, "run", "run.lock"), os.path.join(self._folder, ".now")
        while (info := self._info()) and not self._is_over(info) and info.get("host") != socket.gethostname():
            try:
                with open(mark, "w"):
                    pass
                silent_s = os.stat(mark).st_mtime - os.stat(lock).st_mtime
            except OSError:
                return
            if silent_s > self.SILENCE_S:
                return
            time.sleep(1.0)

    def _info(self) -> dict[str, Any]:
        """Return the record of the run; nothing where it has none yet."""
        try:
            with open(os.path.join(self._folder, "run", "run.json"), encoding="utf-8") as file:
                info: dict[str, Any] = json.load(file)
                return info
        except (OSError, ValueError):
            return {}

    @staticmethod
    def _is_over(info: Mapping[str, Any]) -> bool:
        return info.get("state") in ("finished", "stopped", "failed", "lost")


def take_chunk(request: dict[str, Any]) -> dict[str, Any]:
    """Append bytes to an archive, and unpack it in its folder after the last ones."""
    import tarfile

    path = os.path.join(request["folder"], ".bundle.tar")
    with open(path, "ab") as file:
        file.write(request["data"])
    if request["is_last"]:
        with tarfile.open(path) as archive:
            archive.extractall(request["folder"], filter="data")
        os.unlink(path)
    return {}


def pack(request: dict[str, Any]) -> dict[str, Any]:
    """Write what is fetched of a run to an archive in the folder of its job; return its path and size."""
    import tarfile
    import tempfile

    run = os.path.join(os.path.expanduser(request["folder"]), "run")
    handle, path = tempfile.mkstemp(prefix=".fetch-", suffix=".tar", dir=os.path.dirname(run))
    with os.fdopen(handle, "wb") as file, tarfile.open(fileobj=file, mode="w") as archive:
        for name in request["names"]:
            if os.path.exists(os.path.join(run, name)):
                archive.add(os.path.join(run, name), arcname=name)
    return {"path": path, "size": os.path.getsize(path)}


def give_chunk(request: dict[str, Any]) -> dict[str, Any]:
    """Return bytes of an archive, which is deleted after the last ones."""
    with open(request["path"], "rb") as file:
        file.seek(request["offset"])
        data = file.read(request["size"])
    if request["is_last"]:
        os.unlink(request["path"])
    return {"data": data}


def make_sample(request: dict[str, Any]) -> dict[str, Any]:
    """Make a folder with a file in it; return how fast its disk is written, and the free bytes."""
    host_script.prepare(request)
    sample = host_script.storage(request)
    with open(os.path.join(sample["folder"], "sample"), "w"):
        pass
    return sample


def remove(request: dict[str, Any]) -> dict[str, Any]:
    """Delete a folder that `make_sample` has made."""
    shutil.rmtree(request["folder"], ignore_errors=True)
    return {}


def attempted(function: OnNode, request: dict[str, Any]) -> dict[str, Any]:
    """Return `result`, or `refused` with the reason: an error may be of a class that only this process knows."""
    try:
        return {"result": function(request)}
    except OSError as error:
        return {"refused": f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"}
    except Exception as error:
        return {"refused": str(error)}


def run_probe(python: list[str], program: bytes, folder: str, rank: int, world: int, interface: str) -> dict[str, Any]:
    """Run the probe of a worker on a node, and return its answer, or `said` where it has ended without one.

    Runs in a process of Ray, which has nothing of Netwright.
    """
    import os
    import socket
    import subprocess
    import tempfile

    import ray

    where, python = {"host": socket.gethostname()}, [os.path.expanduser(word) for word in python]
    if not os.path.isdir(folder):
        return {**where, "said": f"{where['host']} does not see {folder}"}
    if not interface:
        place = "netwright.engine.cluster.nodes.interfaces"
        code = f"import sys; from {place} import interface_with as f; print(f(sys.argv[1]))"
        lookup = [*python, "-c", code, ray.util.get_node_ip_address()]
        process = subprocess.run(lookup, capture_output=True, text=True, check=False)
        interface = process.stdout.strip() or "lo"
    environment = {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(world), "GLOO_SOCKET_IFNAME": interface}
    with tempfile.NamedTemporaryFile(suffix=".py") as file:
        file.write(program)
        file.flush()
        command = [*python, file.name, folder, "workers"]
        probe = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    try:
        with open(os.path.join(folder, f"answer-{rank}.json"), encoding="utf-8") as answer:
            return {**where, **json.load(answer)}
    except OSError:
        return {**where, "said": probe.stderr.strip().rpartition("\n")[2][-300:] or f"code {probe.returncode}"}
