"""Workers on two hosts: every strategy computes as on one machine, and a run survives the loss of a host."""

from pathlib import Path
from typing import Any

import pytest

from tests.hosts import Hosts, hosts, networks
from tests.runs import Done, Running, train
from tests.system.test_resume_runs import engine
from tests.system.test_training import TWO, convolution, digits, largest_difference

__all__ = ["hosts", "networks"]  # the fixtures
pytestmark = pytest.mark.cluster
ON_HOSTS = {"target": "parallel", "cluster": "lab"}
LONG: dict[str, Any] = {
    "max_epochs": 10_000,
    "mini_batch_size": 157,
    "shuffle": "every-epoch",
    "solver": "sgdm",
    "checkpoint_unit": "iterations",
    "checkpoint_frequency": 20,
    "validation_frequency": 10**6,
}


@pytest.mark.parametrize("workers", [2, 4])
@pytest.mark.parametrize(
    "strategy",
    [
        {"strategy": "data-parallel"},
        {"gradient_compression": "fp16"},
        {"strategy": "fully-sharded"},
        {"strategy": "local-sgd", "averaging_interval": 3},
        {"strategy": "pipeline"},
    ],
    ids=lambda options: str(next(iter(options.values()))),
)
def test_strategies_compute_on_two_hosts_as_on_one(
    hosts: Hosts, tmp_path: Path, strategy: dict[str, Any], workers: int
) -> None:
    # In fp32 a rounding error moves a number over the threshold of a ReLU on some processors.
    options = {"max_epochs": 2, "mini_batch_size": 157, "shuffle": "every-epoch", "solver": "sgdm", "precision": "fp64"}
    own = {"num_workers": workers, **strategy}
    local = train(digits(convolution(), {**TWO, **own}, **options), tmp_path / "local")
    there = train(digits(convolution(), {**ON_HOSTS, **own}, **options), tmp_path / "there")
    assert largest_difference(local, there) < 1e-5
    assert there.result["validation"] == pytest.approx(local.result["validation"], rel=1e-4)


@pytest.mark.parametrize("strategy", ["data-parallel", "fully-sharded"])
def test_a_run_that_loses_a_host_goes_on_with_fewer_and_takes_it_again(
    hosts: Hosts, tmp_path: Path, strategy: str
) -> None:
    """The global batch stays the same, and so do the losses. Shards of two workers are read by one, and again."""
    own = {**ON_HOSTS, "num_workers": 2, "min_workers": 1, "strategy": strategy}
    with Running(digits(convolution(), own, **LONG), tmp_path / "run") as run:
        run.wait_for_kind("checkpoint")
        hosts.lose(hosts.addresses[1])
        assert "cannot be reached" in run.wait_for_kind("resumed")["reason"]
        said = run.wait_for(lambda event: "goes on with those" in event.get("text", ""))
        assert "room for 1 of 2 workers" in said["text"]
        run.wait_for_kind("checkpoint")
        assert len(run.workers) == 1
        hosts.bring_back(hosts.addresses[1])
        while len(run.workers) < 2:  # a busy host takes part at a later restart, of which there are few
            hosts.kill_worker(hosts.addresses[0])
            run.wait_for_kind("resumed")
            run.wait_for_kind("checkpoint")
        run.folder.request("stop")
        done = run.finish()
    assert done.result["state"] == "stopped"
    epochs = -(-len(done.losses) // 9)
    local = train(digits(convolution(), TWO, **{**LONG, "max_epochs": epochs}), tmp_path / "local")
    assert done.losses == pytest.approx(local.losses[: len(done.losses)], rel=1e-5)


def test_a_run_that_may_not_go_on_with_fewer_says_so_and_resumes_later(hosts: Hosts, tmp_path: Path) -> None:
    with Running(digits(convolution(), {**ON_HOSTS, "num_workers": 2}, **LONG), tmp_path / "run") as run:
        run.wait_for_kind("checkpoint")
        hosts.lose(hosts.addresses[1])
        done = run.finish()
    assert done.result["state"] == "failed"
    assert "No route to host" in done.result["reason"]
    assert "min_workers" in done.result["reason"]
    iterations = done.result["iterations"]
    hosts.bring_back(hosts.addresses[1])
    epochs = iterations // 9 + 3
    engine("resume", done.folder.path, "--set", f"training.max_epochs={epochs}")
    done = Done(done.folder, [])
    assert (done.folder.read_result() or {})["state"] == "finished"
    assert len(done.folder.read_info().placement.places) == 2
    local = train(digits(convolution(), TWO, **{**LONG, "max_epochs": epochs}), tmp_path / "local")
    assert done.losses == pytest.approx(local.losses, rel=1e-5)
