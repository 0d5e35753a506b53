"""Two hosts that this machine stands in for: a program in place of ssh starts agents in them.

Where the tests may make network namespaces (as root), each host is one, with processes and a network of its own, so
that nothing but TCP joins its workers to those of the other. Elsewhere both are this machine, over loopback.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from netwright.engine.cluster.profile_file import save_profile
from netwright.engine.cluster.profiles import ClusterProfile
from tests.clusters import namespaces
from tests.runs import ROOT

SSH = """#!/bin/sh
for last; do host=$command; command=$last; done
cd {folder}
if [ -e "down-$host" ]; then echo "ssh: connect to host $host: No route to host" >&2; exit 255; fi
echo $$ > "agent-$host"
export PYTHONPATH={root}
{enter} sh -c "exec $command"
"""
INSIDE = 'exec ip netns exec "{name}${{host##*.}}" unshare --pid --fork --kill-child --mount-proc'


class Hosts:
    """The hosts by their addresses."""

    def __init__(self, folder: Path, name: str, addresses: list[str], enter: str) -> None:
        self.folder, self.name, self.addresses = folder, name, addresses
        (folder / "ssh").write_text(SSH.format(folder=folder, root=ROOT, enter=enter))
        (folder / "ssh").chmod(0o700)

    def lose(self, address: str) -> None:
        """Let a host die: its agent and its workers at once, and ssh does not reach it any more."""
        (self.folder / f"down-{address}").touch()
        first = psutil.Process(int((self.folder / f"agent-{address}").read_text()))
        for process in [first, *first.children(recursive=True)]:
            process.send_signal(signal.SIGKILL)

    def kill_worker(self, address: str) -> None:
        """Kill a worker of a host; its agent lives on."""
        agent = psutil.Process(int((self.folder / f"agent-{address}").read_text()))
        next(each for each in agent.children(recursive=True) if not each.children()).kill()

    def bring_back(self, address: str) -> None:
        """Let ssh reach a host again."""
        (self.folder / f"down-{address}").unlink()


NET = f"10.77.{os.getpid() % 250}"


@pytest.fixture(scope="session")
def networks() -> Iterator[str]:
    """What the names of two network namespaces begin with, before 1 and 2; empty where none may be made."""
    prefix = f"nw{os.getpid()}h"
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(namespaces(prefix, NET))
        except (OSError, subprocess.CalledProcessError):
            prefix = ""
        yield prefix


@pytest.fixture
def hosts(networks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hosts:
    """Two hosts, and the profile `lab` that means them."""
    folder = tmp_path / "hosts"
    folder.mkdir()
    net = NET if networks else "127.0.0"
    found = Hosts(folder, networks, [f"{net}.1", f"{net}.2"], INSIDE.format(name=networks) if networks else "exec")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    address = "; ".join(found.addresses)
    save_profile(ClusterProfile(name="lab", kind="ssh", address=address, workers=2, python=sys.executable))
    return found
