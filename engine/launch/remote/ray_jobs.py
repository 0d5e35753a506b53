"""The process that keeps jobs on a Ray cluster: what `host_script` does on a host, done on a node. See `RayHost`.

    python -m netwright.engine.core.child netwright.engine.launch.remote.ray_jobs

A job is a detached actor, which runs the job's script: it goes on without the process that has started it. The script
starts the run's coordinator, or goes on with the run where that has begun. The actor runs it again where that is
killed, and Ray starts the actor again, on another node where it must, when its process or its node dies. All nodes must
see the folder of the job.
"""

import contextlib
import os
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from netwright.engine.cluster import host_script
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import RunError
from netwright.engine.launch.remote.ray_placer import send_by_value
from netwright.engine.launch.remote.ray_probe import answered, connect_to, serve
from netwright.engine.project.project import RunOptions

NAMESPACE = "netwright"
ANSWER_S = 50.0
POLL_S = 20.0
"""Seconds for the answer to a poll: a task on a node that has just died waits until Ray has noticed."""
PING_S = 1.0
START_S = 15.0
CHUNK_BYTES = 2**24
DELETE_AGAIN = 10
"""How often to try to delete a folder in which processes that were ended may still write, once per second."""
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
        import json

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


def refused_or_done(function: OnNode, request: dict[str, Any]) -> dict[str, Any]:
    """Return `result`, or `refused` with the reason."""
    try:
        return {"result": function(request)}
    except host_script.Refused as error:
        return {"refused": str(error)}
    except OSError as error:
        return {"refused": f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"}


class RayJobs:
    """Jobs on the cluster that this process is connected to. Answers have `result`, or `refused` with the reason."""

    def __init__(self, profile: ClusterProfile) -> None:
        """Connect. Raises `UserError`."""
        connect_to(profile)
        import ray

        self._ray = ray
        send_by_value(host_script.__name__, __name__, answered.__module__)
        self._pings: dict[str, Any] = {}

    def reach(self) -> str:
        """Return the version of Ray."""
        return f"Ray {self._ray.__version__}"

    def address(self) -> dict[str, Any]:
        """Return the address of the head as the nodes know it."""
        return self._on_node(_address, {})

    def act(self, action: str, asked: dict[str, Any]) -> dict[str, Any]:
        """Do an action of `host_script` on a node; jobs are actors."""
        match action:
            case "start":
                return self._start(asked["folder"])
            case "poll":
                return self._poll(asked)
            case "cancel":
                return self._cancel(asked["job"])
        for _ in range(DELETE_AGAIN if action == "delete" else 0):
            if not (answer := self._on_node(host_script.delete, asked)).get("refused", "").startswith("Directory not"):
                return answer
            time.sleep(1.0)
        return self._on_node(host_script.ACTIONS[action], asked)

    def _start(self, folder: str) -> dict[str, Any]:
        """Start the actor of a job. Raises `RunError` where there is one."""
        name = Path(folder).name
        if self._actor(name) is not None:
            raise RunError(f"The job {name} is at work on Ray already.")
        actor = self._ray.remote(RayJob).options(
            name=name,
            namespace=NAMESPACE,
            lifetime="detached",
            num_cpus=0,
            max_restarts=-1,
            scheduling_strategy=self._strategy(),
        )
        job = actor.remote(folder)
        ready, _ = self._ray.wait([job.ping.remote()], timeout=START_S)
        if ready:
            self._ray.get(ready[0])
        return {"result": {"job": name}}

    def _poll(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state of a job, known before what is new in its logs."""
        state, reason = self._state(request["job"])
        answer = self._on_node(host_script.poll, {**request, "kind": "ssh", "job": ""}, POLL_S)
        if "result" in answer:
            answer["result"] |= {"job_state": state, "job_reason": reason}
        return answer

    def _state(self, job: str) -> tuple[str, str]:
        actor = self._actor(job)
        if actor is None:
            self._pings.pop(job, None)
            return "gone", ""
        if job not in self._pings:
            self._pings[job] = actor.ping.remote()
        ready, _ = self._ray.wait([self._pings[job]], timeout=PING_S)
        if not ready:
            return "waiting", "Ray has not started its process yet"
        try:
            self._ray.get(self._pings.pop(job))
        except self._ray.exceptions.RayActorError:
            is_there = self._actor(job) is not None  # Ray starts it again
            return ("waiting", "Ray starts its process again") if is_there else ("gone", "")
        return "running", ""

    def _cancel(self, job: str) -> dict[str, Any]:
        """End a job, with its script, at once."""
        if (actor := self._actor(job)) is not None:
            self._ray.kill(actor, no_restart=True)
            end = time.monotonic() + START_S
            while self._actor(job) is not None and time.monotonic() < end:
                time.sleep(0.1)
        return {"result": {}}

    def _actor(self, job: str) -> Any:
        with contextlib.suppress(ValueError):
            return self._ray.get_actor(job, namespace=NAMESPACE)
        return None

    def put(self, archive: str, folder: str) -> dict[str, Any]:
        """Unpack an archive of this machine in a folder of the cluster."""
        answer: dict[str, Any] = {}
        with open(archive, "rb") as file:
            is_last = False
            while not is_last:
                data = file.read(CHUNK_BYTES)
                is_last = file.tell() == os.fstat(file.fileno()).st_size
                answer = self._on_node(take_chunk, {"folder": folder, "data": data, "is_last": is_last})
                if "refused" in answer:
                    return answer
        return answer

    def get(self, folder: str, names: list[str], archive: str) -> dict[str, Any]:
        """Write what is fetched of the run of a job to an archive of this machine."""
        packed = self._on_node(pack, {"folder": folder, "names": names})
        if "refused" in packed:
            return packed
        path, size = packed["result"]["path"], packed["result"]["size"]
        with open(archive, "wb") as file:
            for offset in range(0, size, CHUNK_BYTES):
                chunk = {"path": path, "offset": offset, "size": CHUNK_BYTES, "is_last": offset + CHUNK_BYTES >= size}
                if "refused" in (answer := self._on_node(give_chunk, chunk)):
                    return answer
                file.write(answer["result"]["data"])
        return {"result": {}}

    def _on_node(self, function: OnNode, request: dict[str, Any], limit_s: float = ANSWER_S) -> dict[str, Any]:
        task = self._ray.remote(refused_or_done).options(num_cpus=0, scheduling_strategy=self._strategy())
        answer: dict[str, Any] = self._ray.get(task.remote(function, request), timeout=limit_s)
        return answer

    def _strategy(self) -> Any:
        """Return where jobs and what is done for them run: on the head, unless it has no cores, and so perhaps no
        Netwright; then on another node than this machine. Others do where that one is gone."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        nodes = [node for node in nodes if node["Resources"].get("CPU")] or nodes
        here = self._ray.get_runtime_context().get_node_id()
        best = min(nodes, key=lambda n: ("node:__internal_head__" not in n["Resources"], n["NodeID"] == here))
        return NodeAffinitySchedulingStrategy(best["NodeID"], soft=True)


def _address(request: dict[str, Any]) -> dict[str, Any]:
    import ray

    return {"address": ray.get_runtime_context().gcs_address}


def main(arguments: list[str]) -> int:
    """Keep jobs on a cluster until the input is closed; return the exit code."""
    return serve(RayJobs)
