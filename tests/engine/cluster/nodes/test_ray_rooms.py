"""Room for workers in a Ray cluster: which nodes are asked, against a stand-in for Ray with nodes of some cores."""

import sys
from types import ModuleType
from typing import Any

import pytest

from netwright.engine.cluster.nodes import ray_placer
from netwright.engine.cluster.nodes.offer import Offer
from netwright.engine.cluster.nodes.ray_placer import RayRooms

OFFER = Offer("127.0.0.1", 1, "00", "", "/runs/1", "", "lo")


class Ray:
    """Nodes with free cores, of which each placement group of one bundle takes those that it asks for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, cores: dict[str, float]) -> None:
        self.free = dict(cores)
        self.tasks: list[dict[str, Any]] = []
        """Options of the agents that were started."""
        groups, strategies, ray = ModuleType("groups"), ModuleType("strategies"), ModuleType("ray")
        groups.placement_group = lambda bundles: Group(self, bundles)  # type: ignore[attr-defined]
        groups.remove_placement_group = Group.remove  # type: ignore[attr-defined]
        groups.placement_group_table = lambda group: {"bundles_to_node_id": {0: group.node}}  # type: ignore[attr-defined]
        strategies.PlacementGroupSchedulingStrategy = lambda group, bundle: group  # type: ignore[attr-defined]
        ray.remote = lambda function: self  # type: ignore[attr-defined]
        ray.wait = lambda tasks, num_returns, timeout: ([], tasks)  # type: ignore[attr-defined]
        modules = {"ray": ray, "ray.util.placement_group": groups, "ray.util.scheduling_strategies": strategies}
        for name, module in modules.items():
            monkeypatch.setitem(sys.modules, name, module)

    def options(self, **options: Any) -> "Ray":
        self.tasks.append(options)
        return self

    def remote(self, command: list[str], offer: str) -> int:
        self.tasks[-1]["slots"] = Offer.read(offer).slots
        return len(self.tasks)


class Group:
    """A placement group, which has a node where one had room for it."""

    def __init__(self, ray: Ray, bundles: list[dict[str, float]]) -> None:
        self.ray, self.cores = ray, bundles[0]["CPU"]
        self.node = ""

    def wait(self, timeout_s: float) -> bool:
        if not self.node:
            self.node = next((node for node, cores in self.ray.free.items() if cores >= self.cores), "")
            if self.node:
                self.ray.free[self.node] -= self.cores
        return bool(self.node)

    def remove(self) -> None:
        if self.node:
            self.ray.free[self.node] += self.cores


@pytest.fixture(autouse=True)
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_placer, "DIVIDE_S", 0.0)


@pytest.mark.parametrize(
    ("cores", "workers", "agents"),
    [
        ({"a": 4, "b": 4}, 4, [4]),
        ({"a": 4, "b": 4}, 6, [3, 3]),
        ({"a": 4, "b": 2}, 5, [3, 2]),
        ({"a": 1, "b": 1, "c": 1}, 3, [1, 1, 1]),
    ],
)
def test_workers_are_on_as_few_nodes_as_have_room_for_them(
    monkeypatch: pytest.MonkeyPatch, cores: dict[str, float], workers: int, agents: list[int]
) -> None:
    ray = Ray(monkeypatch, cores)
    rooms = RayRooms(["python"], {"CPU": 1}, lambda **values: None)
    rooms.ask(workers, OFFER)
    while rooms.is_asking:
        rooms.poll()
    assert [task["slots"] for task in ray.tasks] == agents
    assert [task["num_cpus"] for task in ray.tasks] == agents


def test_room_that_is_there_later_goes_to_the_agent_of_that_node(monkeypatch: pytest.MonkeyPatch) -> None:
    ray, said = Ray(monkeypatch, {"a": 4}), []
    monkeypatch.setattr(ray_placer, "SOON_S", 0.0)
    rooms = RayRooms(["python"], {"CPU": 2}, lambda **values: said.append(values))
    rooms.ask(3, OFFER)
    for _ in range(5):
        rooms.poll()
    assert said[-1] == {"waits": "Ray has no room yet for 1 of 3 workers"}
    assert [task["slots"] for task in ray.tasks] == [2]
    ray.free["a"] += 2
    rooms.poll()
    label = next(values["label"] for values in said if "more" in values)
    assert {"label": label, "more": 1} in said
    assert not rooms.is_asking


def test_room_that_is_no_longer_wanted_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = Ray(monkeypatch, {"a": 2})
    rooms = RayRooms(["python"], {"CPU": 1}, lambda **values: None)
    rooms.ask(3, OFFER)
    for _ in range(3):
        rooms.poll()
    rooms.ask(0, OFFER)
    rooms.poll()
    ray.free["a"] += 1
    rooms.poll()
    assert (ray.free["a"], sum(task["slots"] for task in ray.tasks)) == (1, 2)
