"""The process that tries a Ray cluster for the validation of a profile. See `netwright.engine.cluster.ray_validation`.

    python -m netwright.engine.core.child netwright.engine.launch.remote.ray_probe

The first line of its standard input is the profile as JSON. Each further one names what to do, with its values; the
answer is a line with `answer`, or with `refused` and `hint`. What it has started ends when its input is closed.
"""

import json
import os
import shutil
from collections.abc import Callable
from typing import Any

from netwright.engine.cluster import host_script
from netwright.engine.cluster.hosts import python_of
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import RunError, UserError, plural
from netwright.engine.core.process import MessageReader, keep_output
from netwright.engine.launch.remote.ray_address import ray_environment
from netwright.engine.launch.remote.ray_placer import connect, first_line, send_by_value

OnNode = Callable[[dict[str, Any]], dict[str, Any]]
MOST_NODES = 64
ROOM_S = 20.0
TASK_S = 60.0


def sees(request: dict[str, Any]) -> dict[str, Any]:
    """Return whether a file is there."""
    return {"is_there": os.path.isfile(os.path.expanduser(request["path"]))}


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


def answered(function: OnNode, request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of a function, or `said` where it refuses."""
    try:
        return function(request)
    except Exception as error:  # of a class that only this process may know
        return {"said": str(error)}


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
        place = "netwright.engine.launch.remote.interfaces"
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


class RayProbe:
    """The probe of a profile on a Ray cluster that this process is connected to."""

    def __init__(self, profile: ClusterProfile) -> None:
        """Connect. Raises `UserError`."""
        connect_to(profile)
        import ray

        self._ray, self._profile = ray, profile
        send_by_value(host_script.__name__, __name__)
        self._python = list(python_of(profile))
        amounts = {"CPU": profile.cores_per_worker, "GPU": profile.gpus_per_worker}
        self._amounts = {name: amount for name, amount in amounts.items() if amount}
        if profile.memory:
            self._amounts["memory"] = round(profile.memory * 1e9)

    def reach(self) -> str:
        """Return the version, nodes and cores."""
        cores = int(self._ray.cluster_resources().get("CPU", 0))
        return f"Ray {self._ray.__version__}, {plural(len(self._nodes()), 'node')}, {plural(cores, 'core')}"

    def versions(self) -> list[dict[str, Any]]:
        """Return the versions that the Python of the profile has on each node."""
        return self._on_nodes(host_script.versions, {"python": self._python, "limit_s": TASK_S})

    def sees(self, path: str) -> list[dict[str, Any]]:
        """Return for each node whether it sees a file."""
        return self._on_nodes(sees, {"path": path})

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

    def _on_nodes(self, function: OnNode, request: dict[str, Any], most: int = MOST_NODES) -> list[dict[str, Any]]:
        """Return the answers of a function of the script of hosts on each node that can have workers."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        able = [node for node in self._nodes() if node["Resources"].get("CPU")] or self._nodes()
        tasks = [
            self._ray.remote(answered)
            .options(num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False))
            .remote(function, request)
            for node in able[:most]
        ]
        answers = self._ray.get(tasks, timeout=2 * TASK_S)
        if refused := next(((n, a["said"]) for n, a in zip(able, answers, strict=False) if "said" in a), None):
            where = f"{refused[0]['NodeManagerHostname']} of Ray: {refused[1].rstrip('.')}."
            raise RunError(
                where, hint="Correct the Python of the profile, or install it there with Netwright and torch."
            )
        return [{"host": node["NodeManagerHostname"], **answer} for node, answer in zip(able, answers, strict=False)]

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


def serve(connected: Callable[[ClusterProfile], Any]) -> int:
    """Answer until the input is closed; return the exit code. `connected` gives what has the methods that are asked
    for, and `reach` for the first answer."""
    answers = keep_output()  # Ray prints
    server: Any = None
    for request in MessageReader(0).messages():
        try:
            if server is None:
                server = connected(ClusterProfile(**request))
                answer: Any = server.reach()
            else:
                answer = getattr(server, request.pop("do"))(**request)
            reply = {"answer": answer}
        except UserError as error:
            reply = {"refused": str(error).removesuffix(error.hint).strip(), "hint": error.hint}
        except Exception as error:  # Ray raises what it likes
            reply = {"refused": f"Ray: {first_line(error)}", "hint": ""}
        answers.send(reply)
    return 0


def main(arguments: list[str]) -> int:
    """Try a cluster until the input is closed; return the exit code."""
    return serve(RayProbe)
