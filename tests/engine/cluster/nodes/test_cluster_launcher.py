"""Which agents a run waits for, goes on with and ends, with a placer that does as a test says."""

import hashlib
import json
import os
import subprocess
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.cluster.nodes.cluster_launcher import ClusterLauncher
from netwright.engine.cluster.nodes.nodes import Nodes
from netwright.engine.cluster.nodes.offer import Offer
from netwright.engine.cluster.nodes.placers import AgentLostError, Placer
from netwright.engine.cluster.nodes.stream import FrameKind, connect
from netwright.engine.cluster.profile_file import save_profile
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import EXIT_DONE, RunError
from netwright.engine.core.process import module_command
from netwright.engine.launch.prepare import prepare
from netwright.engine.project.file import load, save
from netwright.engine.runs.folder import RunFolder
from tests.engine.cluster.nodes.test_nodes import PATIENCE_S, TOKEN
from tests.runs import ROOT
from tests.system.test_training import digits, mlp


class StandIn(Placer):
    """Starts nothing; agents are ends of connections."""

    def __init__(self) -> None:
        self.offers: list[tuple[int, Offer]] = []
        self.errors: list[RunError] = []
        self.room: dict[str, int] = {}
        self.is_head_there = True
        self.streams: list[Any] = []

    def place(self, workers: int, offer: Offer, lost: Collection[str] = ()) -> None:
        self.offers.append((workers, offer))

    def poll(self, connected: Collection[str]) -> str:
        if self.errors:
            raise self.errors.pop(0)
        return ""

    def grown(self) -> dict[str, int]:
        return self.room

    def give_up(self) -> None:
        self.offers.append((0, self.offers[-1][1]))

    def is_there(self) -> bool:
        return self.is_head_there

    def close(self) -> None:
        for stream in self.streams:
            stream.close()

    def agent(self, label: str = "1") -> Any:
        """The connection of an agent with room for one worker."""
        offer = self.offers[-1][1]
        stream = connect((offer.host, offer.port), bytes.fromhex(offer.token), "")
        self.streams.append(stream)
        hello = {"host": f"host-{label}", "slots": 1, "label": label}
        stream.put(FrameKind.HELLO, 0, json.dumps(hello).encode())
        stream.put(FrameKind.READY)
        stream.flush()
        return stream


@pytest.fixture
def placer() -> StandIn:
    return StandIn()


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A run for two workers."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    save_profile(ClusterProfile(name="lab", address="127.0.0.1:9", interface="lo", workers=2))
    file = tmp_path / "p.netwright"
    save(digits(mlp(), {"target": "parallel", "cluster": "lab", "num_workers": 2}), file)
    return prepare(load(file).project, file, tmp_path / "run")


@pytest.fixture
def launcher(folder: RunFolder, placer: StandIn, said: list[str]) -> Iterator[ClusterLauncher]:
    profile = ClusterProfile(name="lab", address="127.0.0.1:9", interface="lo", workers=2)
    found = ClusterLauncher(folder, profile, said.append, least=1, placer=placer)
    found.begin()
    yield found
    found.close()


def until(fact: Callable[[], object]) -> None:
    while not fact():
        pass


def wait_for(stream: Any, kind: FrameKind) -> None:
    until(lambda: any(frame.kind == kind for frame in stream.read()))


def test_a_run_goes_on_at_once_with_fewer_workers_where_no_more_can_come(
    launcher: ClusterLauncher, placer: StandIn, said: list[str]
) -> None:
    placer.agent()
    until(lambda: launcher._nodes.live)
    placer.errors = [RunError("The head does not answer.")]
    until(launcher.is_ready)
    assert said[0] == "The head does not answer."
    assert said[1].startswith("The cluster has room for 1 of 2 workers")


def test_a_worker_with_several_gpus_has_a_process_for_each(folder: RunFolder, placer: StandIn, said: list[str]) -> None:
    profile = ClusterProfile(name="lab", address="127.0.0.1:9", interface="lo", workers=2, gpus_per_worker=3)
    launcher = ClusterLauncher(folder, profile, said.append, placer=placer)
    try:
        launcher.begin()
        for label in ("1", "2"):
            placer.agent(label)
        until(lambda: len(launcher._nodes.live) == 2)
        assert not launcher.is_ready(), "the first node has no port yet"
        places = folder.read_info().placement.places
        assert [place.device for place in places] == ["cuda:0", "cuda:1", "cuda:2"] * 2
        assert sum(place.samples for place in places) == load(folder.project).project.training.mini_batch_size
        assert folder.read_info().placement.environment["backend"] == "nccl"
        assert [workers for workers, _ in placer.offers] == [2, 0], "workers of the profile are asked for"
    finally:
        launcher.close()


def test_agents_that_were_lost_before_they_connected_are_asked_for_again(
    launcher: ClusterLauncher, placer: StandIn
) -> None:
    placer.errors = [AgentLostError("Ray has lost the agent.")]
    assert not launcher.is_ready()
    assert [workers for workers, _ in placer.offers] == [2, 2]
    placer.errors = [AgentLostError("Ray has lost the agent.")] * 5
    with pytest.raises(RunError, match="has lost the agent"):
        until(launcher.is_ready)


def test_an_agent_takes_more_workers_where_its_node_has_room(launcher: ClusterLauncher, placer: StandIn) -> None:
    agent = placer.agent()
    placer.room = {"1": 1}
    until(lambda: launcher._is_binding or launcher.is_ready())
    wait_for(agent, FrameKind.BIND)
    agent.put(FrameKind.BOUND, 0, b'{"host": "127.0.0.1", "port": 9}')
    agent.flush()
    until(launcher.is_ready)
    assert [number for _, number in launcher._ranks] == [0, 1]
    assert placer.offers[-1][0] == 0, "what was asked for beyond that is given up"


@pytest.mark.parametrize("is_there", [True, False])
def test_where_ray_is_there_it_decides_about_agents_that_it_has_left(
    launcher: ClusterLauncher, placer: StandIn, said: list[str], is_there: bool
) -> None:
    placer.is_head_there = is_there
    agents = [placer.agent("1"), placer.agent("2")]
    until(lambda: len(launcher._nodes.live) == 2)
    until(lambda: launcher._is_binding or launcher.is_ready())
    agents[1].put(FrameKind.ORPHANED)
    agents[1].flush()
    until(lambda: any(node.is_orphaned for node in launcher._nodes.all))
    launcher.watch()
    if is_there:
        wait_for(agents[1], FrameKind.LEAVE)
    assert said == ([] if is_there else ["What has started the workers on host-2 is gone. They go on without it."])


def test_agents_that_nobody_needs_are_ended(launcher: ClusterLauncher, placer: StandIn) -> None:
    agents = [placer.agent("1"), placer.agent("2"), placer.agent("3")]
    until(lambda: len(launcher._nodes.live) == 3)
    until(lambda: launcher._is_binding or launcher.is_ready())
    launcher.watch()
    wait_for(agents[2], FrameKind.LEAVE)


def test_an_agent_comes_back_after_its_connection_broke_and_outlives_its_starter(
    folder: RunFolder, tmp_path: Path
) -> None:
    nodes = Nodes("127.0.0.1", TOKEN, None, lambda words: None)
    project = hashlib.sha256(folder.project.read_bytes()).hexdigest()
    offer = Offer("127.0.0.1", nodes.port, TOKEN.hex(), "", str(folder.path), project, "lo", label="1", stays=True)
    command = module_command("netwright.engine.cluster.nodes.node_agent")
    (left := tmp_path / "temporary").mkdir()
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=ROOT, env={**os.environ, "TMPDIR": str(left)}) as agent:
        assert agent.stdin is not None
        agent.stdin.write(offer.write().encode())
        agent.stdin.flush()
        assert nodes.wait_for(lambda: nodes.live, PATIENCE_S)
        first = nodes.live[0]
        worker = nodes.start(first, 0, {"folder": str(folder.path), "rank": 0, "rendezvous": ""})
        nodes.wait_for(lambda: worker.pid, PATIENCE_S)
        assert not list(left.iterdir()), "what an agent that is killed now would leave behind"
        nodes.leave(first, "the connection is closed for a test")
        assert nodes.wait_for(lambda: nodes.live and nodes.live[0] is not first, PATIENCE_S)
        assert (first.lost != "", worker.poll() is not None, nodes.live[0].label) == (True, True, "1")
        agent.stdin.close()
        assert nodes.wait_for(lambda: nodes.live[0].is_orphaned, PATIENCE_S)
        nodes.dismiss(nodes.live[0])
        assert agent.wait(PATIENCE_S) == EXIT_DONE
    worker.close()
    nodes.close()
