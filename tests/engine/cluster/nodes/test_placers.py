import os
from pathlib import Path

import pytest

from netwright.engine.cluster.hosts import ssh_words
from netwright.engine.cluster.nodes import placers
from netwright.engine.cluster.nodes.interfaces import address_of, address_towards, interface_with
from netwright.engine.cluster.nodes.offer import Offer, folder_problem
from netwright.engine.cluster.nodes.placers import CommandPlacer
from netwright.engine.cluster.profile_file import save_profile
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.ray_address import address_of_head, head_of, ray_environment
from netwright.engine.core.errors import RunError, UnavailableError
from netwright.engine.launch.launcher import begun_placer
from netwright.engine.placement.inventory import LOOPBACK
from netwright.engine.project.environment import EnvironmentOptions
from tests.runs import wait_for


def offer(folder: Path) -> Offer:
    return Offer("127.0.0.1", 9, "00", "", str(folder), "0" * 64)


def stand_in(folder: Path, name: str, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program of this name before all others."""
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def poll_for_ever(placer: CommandPlacer) -> None:
    while True:
        placer.poll(())


def test_ssh_shares_the_workers_among_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, "ssh", f'read line; echo "$@ $line" >> {tmp_path}/told; exec cat > /dev/null', monkeypatch)
    placer = CommandPlacer(ClusterProfile(name="lab", kind="ssh", address="anna@one:22; two", python="py"))
    placer.place(3, offer(tmp_path))
    assert placer.poll(()) == "no agent has connected from anna@one:22 and two yet"
    assert placer.poll(("1", "2")) == ""
    wait_for(lambda: (tmp_path / "told").exists() and (tmp_path / "told").read_text().count("\n") == 2, "both agents")
    placer.place(2, offer(tmp_path))  # both hosts have an agent
    placer.place(2, offer(tmp_path), lost=("1",))
    assert placer.poll(("2",)) == "no agent has connected from anna@one:22 yet"
    wait_for(lambda: (tmp_path / "told").read_text().count("\n") == 3, "the third agent")
    placer.close()  # their input ends, and so do they
    told = sorted((tmp_path / "told").read_text().splitlines())
    assert [line.count("BatchMode=yes") for line in told] == [1, 1, 1]
    assert "-- two py -m" in told[0]
    assert '"slots": 1' in told[0]
    for line in told[1:]:
        assert "-p 22 -- anna@one py -m netwright.engine.core.child netwright.engine.cluster.nodes.node_agent" in line
        assert '"slots": 2' in line


def test_an_agent_that_ends_at_once_is_reported_with_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, "ssh", "echo 'Host key verification failed.' >&2; exit 255", monkeypatch)
    placer = CommandPlacer(ClusterProfile(name="lab", kind="ssh", address="one"))
    placer.place(1, offer(tmp_path))
    with pytest.raises(RunError, match=r"^one: the agent ended with code 255: Host key verification failed\.$"):
        poll_for_ever(placer)
    placer.close()
    stand_in(tmp_path, "ssh", "echo 'conda: not found' >&2; exit 127", monkeypatch)
    placer = CommandPlacer(ClusterProfile(name="lab", kind="ssh", address="one", environment="conda", conda="nw"))
    placer.place(1, offer(tmp_path))
    with pytest.raises(RunError, match=r"conda: not found Install it there, or change the Python environment"):
        poll_for_ever(placer)
    placer.close()


def test_slurm_starts_an_agent_per_node_of_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, "scontrol", f'echo "$@" >> {tmp_path}/asked; echo n1; echo n2', monkeypatch)
    stand_in(tmp_path, "srun", f'read line; echo "$@ $line" >> {tmp_path}/told; exec cat > /dev/null', monkeypatch)
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-2]")
    profile = ClusterProfile(
        name="hpc", kind="slurm", workers=4, nodes=2, cores_per_worker=3, environment="conda", conda="nw"
    )
    placer = CommandPlacer(profile)
    placer.place(4, offer(tmp_path))
    placer.close()
    assert (tmp_path / "asked").read_text() == "show hostnames n[1-2]\n"
    first, second = sorted((tmp_path / "told").read_text().splitlines())
    assert first.startswith(
        "--overlap --nodelist=n1 --nodes=1 --ntasks=1 --cpus-per-task=6 "
        "conda run --no-capture-output --name nw python "
        "-m netwright.engine.core.child netwright.engine.cluster.nodes.node_agent "
    )
    assert "--nodelist=n2" in second
    assert '"slots": 2' in first
    stand_in(tmp_path, "scontrol", "echo 'Invalid hostlist' >&2; exit 1", monkeypatch)
    with pytest.raises(RunError, match="Slurm does not say which nodes the job has: Invalid hostlist"):
        placer.place(4, offer(tmp_path))


def test_an_address_of_ssh_is_no_option() -> None:
    assert ssh_words("one")[-2:] == ["--", "one"]


def test_a_ray_cluster_is_not_used_without_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_AUTH_TOKEN_PATH", raising=False)
    file = tmp_path / "token"
    profile = ClusterProfile(name="lab", address="head:6379", token_file=str(file))
    with pytest.raises(UnavailableError, match=r"not used without a token.*No such file.*get-auth-token"):
        ray_environment(profile)
    file.touch()
    with pytest.raises(UnavailableError, match="is empty"):
        ray_environment(profile)
    file.write_text("secret")
    file.chmod(0o644)  # as ray writes it
    environment = ray_environment(profile)
    assert environment["RAY_AUTH_MODE"] == "token"
    assert environment["RAY_AUTH_TOKEN_PATH"] == str(file)
    assert environment["RAY_USAGE_STATS_ENABLED"] == "0"
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_head_of_a_ray_cluster() -> None:
    assert (address_of_head("head"), head_of("ray://10.0.0.1:10001")) == ("head:6379", "10.0.0.1")


def test_the_folder_of_the_run_must_be_seen(tmp_path: Path) -> None:
    assert "does not see the folder of the run" in folder_problem(offer(tmp_path))
    (tmp_path / "project.netwright").write_text("{}")
    assert "sees another folder of this name" in folder_problem(offer(tmp_path))


def test_interfaces() -> None:
    assert address_of(LOOPBACK) == "127.0.0.1"
    assert interface_with("127.0.0.1") == LOOPBACK
    assert address_towards("127.0.0.1") == "127.0.0.1"
    with pytest.raises(UnavailableError, match=rf"has no network interface none7 .* {LOOPBACK}"):
        address_of("none7")
    with pytest.raises(UnavailableError, match=r"has the address 192\.0\.2\.1"):
        interface_with("192.0.2.1")


@pytest.mark.parametrize(("target", "kind"), [("parallel", "ray"), ("parallel", "ssh"), ("cpu", "ray")])
def test_only_ray_is_connected_to_while_a_run_is_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, kind: str
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    save_profile(ClusterProfile(name="lab", kind=kind, address="127.0.0.1:9"))
    ended: list[str] = []

    class Connected(CommandPlacer):
        def close(self) -> None:
            ended.append(self._profile.name)

    monkeypatch.setattr(placers, "placer_of", Connected)
    is_begun = (target, kind) == ("parallel", "ray")
    with begun_placer(EnvironmentOptions(target=target, cluster="lab")) as placer:
        assert (placer is not None) == is_begun
    assert ended == (["lab"] if is_begun else [])


def test_a_cluster_that_cannot_be_used_is_left_to_the_coordinator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with begun_placer(EnvironmentOptions(target="parallel", cluster="none")) as placer:
        assert placer is None
