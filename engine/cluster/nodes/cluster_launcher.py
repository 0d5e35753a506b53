"""The launcher of a run on a cluster: a placer starts agents on its hosts, and those start the workers."""

import contextlib
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial

from netwright.engine.cluster.nodes.interfaces import address_of, address_towards
from netwright.engine.cluster.nodes.nodes import Node, Nodes, RemoteWorker
from netwright.engine.cluster.nodes.offer import Offer
from netwright.engine.cluster.nodes.placers import AgentLostError, Placer, address_by_ssh, address_in_job, placer_of
from netwright.engine.cluster.nodes.stream import FrameKind, tls_of_run
from netwright.engine.cluster.profile_file import profile_of
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.ray_address import head_of
from netwright.engine.core.errors import RunError
from netwright.engine.core.platform_files import open_descriptor
from netwright.engine.launch.launcher import StartPoint
from netwright.engine.launch.local_launcher import uses_compiler
from netwright.engine.parallel.worker_spec import WorkerSpec
from netwright.engine.placement.candidates import resized
from netwright.engine.project.file import load
from netwright.engine.project.moved_paths import moved_paths
from netwright.engine.runs.folder import RunFolder, write_info

TICK_S = 0.1
FIRST_PATIENCE_S = 600.0
"""Seconds that a run waits at its start for workers of a busy cluster."""
PATIENCE_S = 15.0
"""Seconds that a run waits for room in place of lost workers, and, where fewer are enough, for all of them."""
AGENT_S = 30.0
"""Seconds that it waits for agents that have room and have not connected."""
RETURN_S = 1.0
"""Seconds in which an agent that has lost its connection is back, so that no other one takes its place."""
MOST_TIMES_AGAIN = 5
"""How often an attempt asks again for agents that were lost before they connected."""
SOON_S = 10.0
"""Seconds after which the log says what the run waits for."""
START_S = 60.0
"""Seconds for a node to start a worker."""


def launcher_of(
    folder: RunFolder, say: Callable[[str], None], *, strategy: str = "", placer: Placer | None = None
) -> "ClusterLauncher":
    """Return the launcher of a run on the cluster of its project. Raises `UserError`."""
    environment = load(folder.project).project.environment
    profile, least, most = profile_of(environment), environment.min_workers, environment.num_workers
    return ClusterLauncher(folder, profile, say, strategy=strategy, least=least, most=most, placer=placer)


class ClusterLauncher:
    """Starts the workers of a run on the nodes of a cluster, as many as `run.json` has places.

    Agents live as long as the run, so that an attempt after a death starts at once. Lost ones are replaced; where the
    cluster has no room for that, the run goes on with fewer workers, down to `least`.
    """

    def __init__(
        self,
        folder: RunFolder,
        profile: ClusterProfile,
        say: Callable[[str], None],
        *,
        strategy: str = "",
        least: int = 0,
        most: int = 0,
        placer: Placer | None = None,
    ) -> None:
        """`say` is called with what the user should know. `least` and `most` workers: 0 for all, and for those of the
        profile. Raises `UserError`."""
        self._folder = folder
        self._profile = profile
        self._say = say
        self._strategy = strategy
        self._per_worker = max(1, profile.gpus_per_worker)
        """Processes of a worker of the profile: one for each of its GPUs."""
        self._wanted = (most or profile.workers) * self._per_worker  # the run may have had fewer last
        self._least = least * self._per_worker or self._wanted
        tls, self._certificate = tls_of_run() if profile.encrypted else (None, "")
        self._token = secrets.token_bytes(32)
        self._paths = moved_paths(load(folder.project).project, profile.remote_path) if profile.path_map else {}
        self._address = _own_address(profile)
        self._nodes = Nodes(self._address, self._token, tls, self._print)
        self._placer = placer or placer_of(profile)
        self._with_compiler = uses_compiler(folder)
        self._ranks: list[tuple[Node, int]] = []
        self._starting: list[tuple[Node, RemoteWorker]] = []
        self._since_s = 0.0
        self._num_lost = self._times_again = 0
        self._patience_s = FIRST_PATIENCE_S
        self._judged: set[Node] = set()
        self._said = ""
        self._has_begun = False
        self._is_binding = False
        self._is_refused = False
        """Whether a host has refused, or did not answer, in this attempt."""

    def begin(self) -> None:
        """Begin an attempt with the nodes that are there, and ask for more where some were lost."""
        self._is_binding = self._is_refused = False
        self._since_s, self._times_again = time.monotonic(), MOST_TIMES_AGAIN
        if any(node.lost for node in self._nodes.all):
            self._nodes.wait_for(lambda: self._num_slots() >= self._wanted, RETURN_S)
        for node in self._nodes.live:
            node.bound = None
        self._ask_for_more()

    def _ask_for_more(self) -> None:
        self._num_lost = sum(bool(node.lost) for node in self._nodes.all)
        if (missing := self._wanted - self._num_slots()) > 0:
            info = self._folder.read_info()
            self._placer.place(
                -(-missing // self._per_worker),
                Offer(
                    self._address,
                    self._nodes.port,
                    self._token.hex(),
                    self._certificate,
                    self._on_hosts(str(self._folder.path)),
                    info.project_sha256,
                    self._profile.interface,
                    self._with_compiler,
                ),
                {node.label for node in self._nodes.all if node.lost} - {node.label for node in self._nodes.live},
            )

    def is_ready(self) -> bool:
        """Return whether there are enough nodes, and the first one has a port for the rendezvous.

        Raises `RunError` where a node refuses, or the cluster has no room for the fewest workers in time.
        """
        waits_for = self._look_at_placer()
        if refused := next((node.refused for node in self._nodes.all if node.refused), ""):
            raise RunError(refused)
        if self._is_binding:
            return self._is_bound()
        if self._num_slots() >= self._wanted or self._may_go_on(waits_for):
            self._assign()
            self._is_binding = True
            if len(self._ranks) == 1:
                return True
            self._nodes.post(self._ranks[0][0], FrameKind.BIND)
        self._nodes.wait_for(lambda: False, TICK_S)
        return False

    def _look_at_placer(self) -> str:
        """Return the reason for waiting, and ask again for what was lost. Raises `RunError` where no more can come."""
        labels = {node.label for node in self._nodes.all}
        try:
            waits_for = self._placer.poll(labels)
            if sum(bool(node.lost) for node in self._nodes.all) > self._num_lost and not self._is_binding:
                self._ask_for_more()
            return waits_for
        except RunError as error:
            if isinstance(error, AgentLostError) and self._times_again and not self._is_refused:
                self._times_again -= 1
                self._ask_for_more()
                return ""
            if self._num_slots() < self._least:
                raise RunError(f"{error}{self._way_out}") from None
            self._is_refused = True
            if str(error) != self._said:
                self._said = str(error)
                self._say(self._said)
            return ""

    def _is_bound(self) -> bool:
        first = self._ranks[0][0]
        if any(node.lost for node, _ in self._ranks):
            self._is_binding = False
            self._ask_for_more()
            return False
        return len(self._ranks) == 1 or self._nodes.wait_for(lambda: first.bound, TICK_S)

    def _may_go_on(self, waits_for: str) -> bool:
        """Return whether the run starts with fewer workers than asked for. Raises `RunError` after a time."""
        waited_s, slots = time.monotonic() - self._since_s, self._num_slots()
        num_coming = self._nodes.num_coming_slots * self._per_worker
        are_coming = waits_for or num_coming or not self._is_refused
        if slots >= self._least and (waited_s > PATIENCE_S or not are_coming):
            self._say(f"The cluster has room for {slots:,} of {self._wanted:,} workers; the run goes on with those.")
            return True
        limit_s = self._patience_s if waits_for else max(self._patience_s, AGENT_S)
        if waited_s > limit_s and num_coming + slots < self._wanted:
            raise RunError(
                f"The cluster {self._profile.name} has room for {slots:,} of {self._wanted:,} workers, and no more "
                f"came within {limit_s:.0f} seconds{f' ({waits_for})' if waits_for else ''}.{self._way_out}",
                hint="Wait until others have finished, or train with fewer workers (environment.num_workers).",
            )
        if waits_for and waits_for != self._said and waited_s > SOON_S:
            self._said = waits_for
            self._say(f"The run waits for the cluster {self._profile.name}: {waits_for}.")
        return False

    @property
    def _way_out(self) -> str:
        """Return the way out where a run that had workers has too few of them now; empty for one that had none yet."""
        if not self._has_begun:
            return ""
        return (
            " `resume` goes on from its last checkpoint once the hosts are there; environment.min_workers lets a run "
            "go on with fewer workers by itself."
        )

    def _num_slots(self) -> int:
        return sum(map(self._slots_of, self._nodes.live))

    def _slots_of(self, node: Node) -> int:
        return (node.slots + self._placer.grown().get(node.label, 0)) * self._per_worker

    def _assign(self) -> None:
        """Give each rank a node and its number there, and write the places of the workers."""
        slots = [(node, number) for node in self._nodes.live for number in range(self._slots_of(node))]
        self._ranks = slots[: self._wanted]
        if len(slots) >= self._wanted:
            self._placer.give_up()
        self._patience_s, self._has_begun = PATIENCE_S, True
        info = self._folder.read_info()
        devices = [f"cuda:{number}" if self._profile.gpus_per_worker else "cpu" for _, number in self._ranks]
        placement = resized(info.placement, devices, whole=info.strategy == "pipeline")
        write_info(self._folder, replace(info, placement=placement))

    def start(self, rank: int, start: StartPoint) -> RemoteWorker:
        """Begin to start one worker."""
        node, _ = self._ranks[rank]
        bound = self._ranks[0][0].bound
        info = self._folder.read_info()
        spec = WorkerSpec(
            self._on_hosts(str(self._folder.path)),
            rank,
            f"{bound[0]}:{bound[1]}" if bound else "",
            strategy=self._strategy,
            checkpoint=start.checkpoint,
            rate_factor=start.rate_factor,
            pending_requests=start.pending_requests if rank == 0 else "",
            base=self._on_hosts(info.base),
            paths=self._paths,
        )
        worker = self._nodes.start(node, rank, asdict(spec))
        self._starting.append((node, worker))
        return worker

    def await_started(self) -> None:
        """Wait until all workers have processes. Raises `RunError`, which names the host, where one cannot start."""
        end = time.monotonic() + START_S
        starting, self._starting = self._starting, []
        for node, worker in starting:
            has_begun = partial(_has_begun, worker)
            if not self._nodes.wait_for(has_begun, max(0.0, end - time.monotonic())):
                self._nodes.leave(node, "it does not start workers")
            if worker.poll() is not None and worker.cause not in ("", "lost"):
                raise RunError(f"On {node.host}: {worker.cause}")

    def watch(self) -> None:
        """End agents that nobody needs, and decide on those whose starter is gone.

        Where the placer is there it has ended them, and decides; otherwise they go on.
        """
        nodes = {node for node, _ in self._ranks}
        for node in self._nodes.live:
            if node not in nodes and len(self._ranks) == self._wanted:
                self._nodes.dismiss(node)
            elif node.is_orphaned and node not in self._judged:
                self._judged.add(node)
                if self._placer.is_there():
                    self._nodes.dismiss(node)
                else:
                    self._say(f"What has started the workers on {node.host} is gone. They go on without it.")

    def _on_hosts(self, path: str) -> str:
        """Return the hosts' name of a path of this machine."""
        return self._profile.remote_path(path) or path

    def end(self) -> None:
        """End an attempt. The agents stay for the next one."""
        self._ranks, self._starting = [], []

    def close(self) -> None:
        """End the agents, and what has started them."""
        self._nodes.close()
        self._placer.close()

    def _print(self, words: bytes) -> None:
        """Append what workers print to the log of the run."""
        with contextlib.suppress(OSError):
            descriptor = open_descriptor(self._folder.log, "a")
            try:
                os.write(descriptor, words)
            finally:
                os.close(descriptor)


def _has_begun(worker: RemoteWorker) -> bool:
    return bool(worker.pid) or worker.poll() is not None


def _own_address(profile: ClusterProfile) -> str:
    """Return the address of this machine that the hosts connect to; nothing listens at another one."""
    if profile.interface:
        with contextlib.suppress(RunError):
            return address_of(profile.interface)
    if profile.kind == "ray":
        return address_towards(head_of(profile.address))
    if profile.kind == "slurm":
        return address_in_job()
    return address_by_ssh(profile.hosts[0])
