import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.ray_address import address_of_head, running_ray
from netwright.engine.cluster.validation import validate
from netwright.engine.core.errors import UnavailableError
from tests.clusters import hide_local_ray


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder of Ray, and in `proc` the processes of the machine."""
    hide_local_ray(tmp_path, monkeypatch)
    return tmp_path


@contextlib.contextmanager
def head() -> Iterator[str]:
    """The address of something that listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def add_process(folder: Path, pid: int, *words: str) -> None:
    (folder / "proc" / str(pid)).mkdir(parents=True)
    (folder / "proc" / str(pid) / "cmdline").write_bytes("\0".join([*words, ""]).encode())


def add_node(folder: Path, pid: int, address: str) -> None:
    add_process(folder, pid, "/env/ray/core/src/ray/raylet/raylet", "--node_id=8a", f"--gcs-address={address}")


def note(folder: Path, address: str) -> None:
    (folder / "ray").mkdir(exist_ok=True)
    (folder / "ray" / "ray_current_cluster").write_text(address, encoding="utf-8")


def test_a_ray_with_a_temporary_folder_of_its_own_is_the_one_of_this_machine(folder: Path) -> None:
    with head() as address:
        add_process(folder, 7, "")  # of the kernel
        add_process(folder, 8, "vi", "--gcs-address=10.0.0.9:1")
        add_node(folder, 9, address)
        add_node(folder, 10, address)  # two nodes of one head
        assert address_of_head("auto") == running_ray() == address
        assert running_ray([ClusterProfile(name="lab", address=address)]) is None


def test_a_head_that_is_gone_is_not_meant(folder: Path) -> None:
    with head() as gone:
        pass
    note(folder, gone)
    add_node(folder, 9, gone)
    with pytest.raises(UnavailableError, match=r"^No Ray runs on this machine\. Start one: .* name host:port"):
        address_of_head("auto")
    with head() as address:
        add_node(folder, 10, address)
        assert address_of_head("auto") == address


def test_of_several_the_one_started_last_is_meant_or_all_are_named(folder: Path) -> None:
    with head() as one, head() as other:
        add_node(folder, 9, one)
        add_node(folder, 10, other)
        with pytest.raises(UnavailableError, match=r"^2 Rays run on this machine: .* Name one of them") as refused:
            address_of_head("auto")
        assert one in str(refused.value)
        assert other in str(refused.value)
        assert running_ray() is None
        stages = list(validate(ClusterProfile(name="lab", address="auto")))
        assert (stages[0].state, stages[0].detail) == ("failed", str(refused.value).removesuffix(stages[0].hint)[:-1])
        note(folder, other)
        assert address_of_head("auto") == other


def test_the_variable_of_ray_comes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with head() as address:
        note(folder, address)
        monkeypatch.setenv("RAY_ADDRESS", "head:6380")
        assert address_of_head("auto") == "head:6380"
        assert running_ray() is None, "it does not answer"
        monkeypatch.setenv("RAY_ADDRESS", "http://127.0.0.1:8265")  # that of the job server
        assert address_of_head("auto") == address
