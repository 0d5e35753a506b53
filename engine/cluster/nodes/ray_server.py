"""The process that is connected to the Ray of a profile: it tries the cluster, and keeps jobs there. See `RayHost`.

    python -m netwright.engine.core.child netwright.engine.cluster.nodes.ray_server

The first line of its standard input is the profile as JSON. Each further one names what to do, with its values; the
answer is a line with `answer`, or with `refused` and `hint`. What it tries ends when its input is closed.
"""

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from netwright.engine.cluster import host_script
from netwright.engine.cluster.hosts import python_of
from netwright.engine.cluster.nodes import ray_tasks
from netwright.engine.cluster.nodes.ray_placer import connect, first_line, send_by_value
from netwright.engine.cluster.nodes.ray_tasks import (
    OnNode,
    RayJob,
    attempted,
    give_chunk,
    make_sample,
    pack,
    remove,
    run_probe,
    take_chunk,
)
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.ray_address import ray_environment
from netwright.engine.cluster.ray_host import NodeRefusedError
from netwright.engine.core.errors import RunError, UserError, plural
from netwright.engine.core.process import MessageReader, keep_output

NAMESPACE = "netwright"
MOST_NODES = 64
ROOM_S = 20.0
TASK_S = 60.0
ANSWER_S = 50.0
POLL_S = 20.0
"""Seconds for the answer to a poll: a task on a node that has just died waits until Ray has noticed."""
PING_S = 1.0
START_S = 15.0
CHUNK_BYTES = 2**24
DELETE_AGAIN = 10
"""How often to try to delete a folder in which processes that were ended may still write, once per second."""


def connect_to(profile: ClusterProfile) -> None:
    """Connect this process to the Ray of a profile. Raises `UserError` with the way out."""
    os.environ.update(ray_environment(profile))
    try:
        connect(profile.address)
    except RunError as error:
        words = str(error)
        if "mismatch" in words.lower():
            hint = "Install the version of Ray that the cluster has: pip install ray==VERSION."
        elif "token" in words.lower() or "unauth" in words.lower() or "refuses" in words:
            hint = f"token_file of the profile {profile.name} must hold the cluster's token."
        else:
            hint = "See whether it runs on the host of its head: ray status."
        raise RunError(words, hint=hint) from error


class RayServer:
    """Jobs and trials on the Ray of a profile that this process is connected to."""

    def __init__(self, profile: ClusterProfile) -> None:
        """Connect. Raises `UserError`."""
        connect_to(profile)
        import ray

        self._ray, self._profile = ray, profile
        send_by_value(host_script.__name__, ray_tasks.__name__)
        self._python = list(python_of(profile))
        amounts = {"CPU": profile.cores_per_worker, "GPU": profile.gpus_per_worker}
        amounts["memory"] = round(profile.memory * 1e9)
        self._amounts = {name: amount for name, amount in amounts.items() if amount}
        self._pings: dict[str, Any] = {}

    def reach(self) -> str:
        """Return the version, nodes and cores."""
        cores = int(self._ray.cluster_resources().get("CPU", 0))
        return f"Ray {self._ray.__version__}, {plural(len(self._nodes()), 'node')}, {plural(cores, 'core')}"

    def versions(self) -> list[dict[str, Any]]:
        """Return the versions that the Python of the profile has on each node."""
        return self._on_nodes(host_script.versions, {"python": self._python, "limit_s": TASK_S})

    def sees(self, path: str) -> list[dict[str, Any]]:
        """Return for each node whether it sees a file."""
        return self._on_nodes(host_script.seen, {"path": path})

    def make_sample(self, **values: Any) -> dict[str, Any]:
        """Make a folder with a file on the first node."""
        return self._on_nodes(make_sample, values, most=1)[0]

    def remove(self, folder: str) -> None:
        """Delete that folder again."""
        self._on_nodes(remove, {"folder": folder}, most=1)

    def task(self) -> dict[str, Any]:
        """Return where one worker runs. Raises `RunError` where there is no room."""
        rooms = self._rooms(1)
        try:
            place: dict[str, Any] = self._ray.get(self._in_room(host_script.reach, rooms[0]).remote({}), timeout=TASK_S)
        finally:
            self._leave(rooms)
        return place

    def workers(self, folder: str, program: str) -> list[dict[str, Any]]:
        """Return the answers of all workers, which run at the same time. Raises `RunError`."""
        rooms = self._rooms(self._profile.workers)
        tasks = [
            self._in_room(run_probe, room).remote(
                self._python, program.encode(), folder, rank, len(rooms), self._profile.interface
            )
            for rank, room in enumerate(rooms)
        ]
        try:
            answers: list[dict[str, Any]] = self._ray.get(tasks, timeout=2 * TASK_S)
        finally:
            self._leave(rooms)
        if poor := next((answer["said"] for answer in answers if "said" in answer), ""):
            raise RunError(
                f"A worker has not answered: {poor.rstrip('.')}.",
                hint="All hosts must see the folder (storage, path_map), and reach each other over the interface.",
            )
        return answers

    def _nodes(self) -> list[dict[str, Any]]:
        return [node for node in self._ray.nodes() if node["Alive"]]

    def _able_nodes(self) -> list[dict[str, Any]]:
        """Return the nodes that have cores, and so perhaps Netwright; all where none has."""
        nodes = self._nodes()
        return [node for node in nodes if node["Resources"].get("CPU")] or nodes

    def _on_nodes(self, function: OnNode, request: dict[str, Any], most: int = MOST_NODES) -> list[dict[str, Any]]:
        """Return the answers of a function of the script of hosts on each node that can have workers."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        able = self._able_nodes()
        tasks = [
            self._ray.remote(attempted)
            .options(num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False))
            .remote(function, request)
            for node in able[:most]
        ]
        answers = self._ray.get(tasks, timeout=2 * TASK_S)
        hosts = [node["NodeManagerHostname"] for node in able]
        for host, answer in zip(hosts, answers, strict=False):
            if "refused" in answer:
                hint = "Correct the Python of the profile, or install it there with Netwright and torch."
                raise RunError(f"{host} of Ray: {answer['refused'].rstrip('.')}.", hint=hint)
        return [{"host": host, **answer["result"]} for host, answer in zip(hosts, answers, strict=False)]

    def _rooms(self, count: int) -> list[Any]:
        """Return room for so many workers. Raises `RunError` where that does not come in time."""
        from ray.util.placement_group import placement_group

        groups = [placement_group([self._amounts]) for _ in range(count)]
        _, late = self._ray.wait([group.ready() for group in groups], num_returns=count, timeout=ROOM_S)
        if late:
            self._leave(groups)
            each = ", ".join(f"{name} {amount:g}" for name, amount in self._amounts.items())
            raise RunError(
                f"Ray had room for {count - len(late)} of {plural(count, 'worker')} in {ROOM_S:g} s ({each} for each).",
                hint="Set fewer workers in the profile, or less for each (cores_per_worker, gpus_per_worker, memory), "
                "or wait until others have finished: ray status.",
            )
        return groups

    def _leave(self, rooms: list[Any]) -> None:
        from ray.util.placement_group import remove_placement_group

        for room in rooms:
            remove_placement_group(room)

    def _in_room(self, function: Callable[..., Any], room: Any) -> Any:
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        cpus, gpus = self._amounts.get("CPU", 0), self._amounts.get("GPU", 0)
        strategy = PlacementGroupSchedulingStrategy(room, 0)
        return self._ray.remote(function).options(num_cpus=cpus, num_gpus=gpus, scheduling_strategy=strategy)

    def address(self) -> str:
        """Return the address of the head as the nodes know it."""
        return str(self._ray.get_runtime_context().gcs_address)

    def act(self, action: str, asked: dict[str, Any]) -> dict[str, Any]:
        """Do an action of `host_script` on a node; jobs are actors. Raises `NodeRefusedError`."""
        match action:
            case "start":
                return self._start(asked["folder"])
            case "poll":
                return self._poll(asked)
            case "cancel":
                return self._cancel(asked["job"])
        for _ in range(DELETE_AGAIN if action == "delete" else 0):
            try:
                return self._on_node(host_script.delete, asked)
            except NodeRefusedError as error:
                if not str(error).startswith("Directory not"):
                    raise
            time.sleep(1.0)
        return self._on_node(host_script.ACTIONS[action], asked)

    def _start(self, folder: str) -> dict[str, Any]:
        """Start the actor of a job. Raises `NodeRefusedError` where there is one."""
        name = Path(folder).name
        if self._actor(name) is not None:
            raise NodeRefusedError(f"the job {name} is at work already")
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
        return {"job": name}

    def _poll(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state of a job, known before what is new in its logs."""
        state, reason = self._state(request["job"])
        answer = self._on_node(host_script.poll, {**request, "kind": "ssh", "job": ""}, POLL_S)
        return {**answer, "job_state": state, "job_reason": reason}

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
        return {}

    def _actor(self, job: str) -> Any:
        with contextlib.suppress(ValueError):
            return self._ray.get_actor(job, namespace=NAMESPACE)
        return None

    def put(self, archive: str, folder: str) -> None:
        """Unpack an archive of this machine in a folder of the cluster. Raises `NodeRefusedError`."""
        with open(archive, "rb") as file:
            is_last = False
            while not is_last:
                data = file.read(CHUNK_BYTES)
                is_last = file.tell() == os.fstat(file.fileno()).st_size
                self._on_node(take_chunk, {"folder": folder, "data": data, "is_last": is_last})

    def get(self, folder: str, names: list[str], archive: str) -> None:
        """Write what is fetched of the run of a job to an archive of this machine. Raises `NodeRefusedError`."""
        packed = self._on_node(pack, {"folder": folder, "names": names})
        path, size = packed["path"], packed["size"]
        with open(archive, "wb") as file:
            for offset in range(0, size, CHUNK_BYTES):
                chunk = {"path": path, "offset": offset, "size": CHUNK_BYTES, "is_last": offset + CHUNK_BYTES >= size}
                file.write(self._on_node(give_chunk, chunk)["data"])

    def _on_node(self, function: OnNode, request: dict[str, Any], limit_s: float = ANSWER_S) -> dict[str, Any]:
        """Return the answer of a function on a node. Raises `NodeRefusedError`."""
        task = self._ray.remote(attempted).options(num_cpus=0, scheduling_strategy=self._strategy())
        answer: dict[str, Any] = self._ray.get(task.remote(function, request), timeout=limit_s)
        if "refused" in answer:
            raise NodeRefusedError(answer["refused"])
        result: dict[str, Any] = answer["result"]
        return result

    def _strategy(self) -> Any:
        """Return where jobs and what is done for them run: on the head, unless it has no cores, and so perhaps no
        Netwright; then on another node than this machine. Others do where that one is gone."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        nodes = self._able_nodes()
        here = self._ray.get_runtime_context().get_node_id()
        best = min(nodes, key=lambda n: ("node:__internal_head__" not in n["Resources"], n["NodeID"] == here))
        return NodeAffinitySchedulingStrategy(best["NodeID"], soft=True)


def main(arguments: list[str]) -> int:
    """Answer until the input is closed; return the exit code. The first answer is that of `reach`."""
    answers = keep_output()  # Ray prints
    server: RayServer | None = None
    for request in MessageReader(0).messages():
        try:
            if server is None:
                server = RayServer(ClusterProfile(**request))
                reply: dict[str, Any] = {"answer": server.reach()}
            else:
                reply = {"answer": getattr(server, request.pop("do"))(**request)}
        except UserError as error:
            text, by_node = str(error).removesuffix(error.hint).strip(), isinstance(error, NodeRefusedError)
            reply = {"refused": text, "hint": error.hint, "by_node": by_node}
        except Exception as error:  # Ray raises what it likes
            reply = {"refused": f"Ray: {first_line(error)}", "hint": "", "by_node": False}
        answers.send(reply)
    return 0
