"""Clusters that tests start on this machine: a Slurm of several nodes, and hosts that ssh reaches.

All programs are children of the test, listen on loopback or in network namespaces alone, and have their files in its
folder. Nothing of the machine's own Slurm or ssh is used.
"""

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from netwright.engine.core import posix_processes
from tests.runs import wait_for

SLURM_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun")
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
SLURM_CONF = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1,bf_interval=1
ReturnToService=2
KillWait=10
InactiveLimit=0
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverTimeLimit=0
"""


def hide_local_ray(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the Ray of this machine be looked for in a folder alone: others may have one here."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(folder))
    monkeypatch.setattr(posix_processes, "PROCESSES", folder / "proc")


def free_ports(count: int) -> list[int]:
    """Return ports of loopback that nothing listens at now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]


@contextlib.contextmanager
def daemon(*words: str | Path, env: Mapping[str, str] | None = None) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program in the foreground until the context ends."""
    process = subprocess.Popen(
        list(map(str, words)),
        env={**os.environ, "PATH": PATH, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclass
class Slurm:
    """A Slurm that runs; `nodes` are the daemons of its nodes by name."""

    folder: Path
    nodes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def fail_node(self, name: str) -> None:
        """Pause the daemon of a node, and let Slurm know at once what it would find out after some minutes."""
        self.nodes[name].send_signal(signal.SIGSTOP)
        self.command("scontrol", "update", f"nodename={name}", "state=down", "reason=test")

    def repair_node(self, name: str) -> None:
        """Let the daemon of a node go on, which takes part again."""
        self.nodes[name].send_signal(signal.SIGCONT)

    @property
    def environment(self) -> dict[str, str]:
        """Return what its commands need in their environment."""
        return {"SLURM_CONF": f"{self.folder}/slurm.conf"}

    def command(self, *words: str) -> str:
        """Run a command of Slurm and return what it prints."""
        done = subprocess.run(words, env={**os.environ, **self.environment}, capture_output=True, text=True)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout.strip()

    def cancel_all(self) -> None:
        """End all jobs and wait until they are gone."""
        self.command("scancel", "--full", "--signal=KILL", "--user", getpass.getuser())
        self.command("scancel", "--user", getpass.getuser())
        wait_for(lambda: not self.command("squeue", "-h"), "the end of all jobs")


@contextlib.contextmanager
def slurm(folder: Path, nodes: int = 2, cpus: int = 4) -> Iterator[Slurm]:
    """Start a Slurm whose nodes are daemons of this machine with ports of their own. The path of the folder is short:
    that of a socket has 108 characters at most."""
    folder.mkdir(parents=True, exist_ok=True)
    ports = free_ports(nodes + 1)
    lines = [
        f"NodeName=n{number + 1} NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[number + 1]} CPUs={cpus} "
        "RealMemory=8000 State=UNKNOWN"
        for number in range(nodes)
    ]
    text = SLURM_CONF.format(
        host=socket.gethostname().partition(".")[0],
        ports=ports,
        user=getpass.getuser(),
        folder=folder,
        nodes="\n".join(lines),
    )
    (folder / "slurm.conf").write_text(text, encoding="utf-8")
    for name in ("state", *(f"spool-n{number + 1}" for number in range(nodes))):
        (folder / name).mkdir(exist_ok=True)
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o400)
    found = Slurm(folder)
    env = found.environment
    with contextlib.ExitStack() as stack:
        munge = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munged.pid", "seed-file": "seed"}
        options = [f"--{name}={folder}/{file}" for name, file in {**munge, "log-file": "munged.log"}.items()]
        stack.enter_context(daemon("munged", "--foreground", "--force", *options))
        wait_for((folder / "munge.socket").exists, "munged")
        stack.enter_context(daemon("slurmctld", "-D", "-c", "-f", folder / "slurm.conf", env=env))
        for number in range(nodes):
            name = f"n{number + 1}"
            found.nodes[name] = stack.enter_context(daemon("slurmd", "-D", "-N", name, env=env))
        wait_for(lambda: _idle_nodes(env) == nodes, f"the nodes of Slurm, see {folder}")
        try:
            yield found
        finally:
            with contextlib.suppress(AssertionError):
                found.cancel_all()


def _idle_nodes(env: Mapping[str, str]) -> int:
    done = subprocess.run(["sinfo", "-h", "-N", "-o", "%t"], env={**os.environ, **env}, capture_output=True, text=True)
    return done.stdout.split().count("idle")


def missing_programs(*names: str) -> list[str]:
    """Return the programs that this machine lacks."""
    return [name for name in names if shutil.which(name, path=PATH) is None]


SSH = """#!/bin/sh
exec {ssh} -F {folder}/ssh_config "$@"
"""
SSH_CONFIG = """Host {name}
  HostName {address}
  Port {port}
  IdentityFile {folder}/user
  UserKnownHostsFile {folder}/known
  StrictHostKeyChecking accept-new
"""
SSHD_CONFIG = """Port {port}
ListenAddress {address}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
StrictModes no
UsePAM no
PidFile none
"""


@contextlib.contextmanager
def ssh_server(folder: Path, name: str, address: str, port: int, *before: str) -> Iterator[None]:
    """Start a server of ssh. `ssh` in the folder reaches it by its name. `before`: words before its command line."""
    ssh = shutil.which("ssh", path=os.environ["PATH"].replace(str(folder), ""))
    values = {"folder": folder, "name": name, "address": address, "port": port}
    (folder / "ssh").write_text(SSH.format(ssh=ssh, folder=folder), encoding="utf-8")
    (folder / "ssh").chmod(0o700)
    with (folder / "ssh_config").open("a", encoding="utf-8") as file:
        file.write(SSH_CONFIG.format(**values))
    (folder / f"server-{name}").write_text(SSHD_CONFIG.format(**values), encoding="utf-8")
    for key in ("host", "user"):
        if not (folder / key).exists():
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
    Path("/run/sshd").mkdir(exist_ok=True)
    sshd = shutil.which("sshd", path=PATH)
    assert sshd is not None
    with daemon(*before, sshd, "-D", "-f", folder / f"server-{name}"):
        wait_for(
            lambda: subprocess.run([folder / "ssh", name, "true"], capture_output=True).returncode == 0,
            f"the ssh server {name}",
        )
        yield


@dataclass
class Hosts:
    """Hosts in network namespaces, which ssh in `folder` reaches as `node1`, `node2`; all see the same files."""

    folder: Path
    prefix: str

    def unplug(self, number: int) -> None:
        """Cut the network of a host."""
        ip("link", "set", f"{self.prefix}{number}", "down")

    def plug(self, number: int) -> None:
        """Connect the network of a host again."""
        ip("link", "set", f"{self.prefix}{number}", "up")

    def agents(self, number: int) -> list[int]:
        """Return the process ids of the agents on a host, each before the workers that it has started."""
        words = ["ip", "netns", "pids", f"{self.prefix}{number}"]
        pids = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PATH": PATH}).stdout.split()
        return [int(pid) for pid in sorted(pids, key=int) if _is_agent(pid)]


def _is_agent(pid: str) -> bool:
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return b"netwright.engine.cluster.nodes.node_agent" in words and b"-m" in words
    return False


def ip(*words: str) -> None:
    """Run `ip`, which needs root for what it changes."""
    subprocess.run(["ip", *words], check=True, capture_output=True, env={**os.environ, "PATH": PATH})


@contextlib.contextmanager
def namespaces(prefix: str, network: str, count: int = 2) -> Iterator[list[str]]:
    """Make network namespaces, PREFIX1 to PREFIXn, and return their names. Their addresses are NETWORK.1 to NETWORK.n;
    a bridge joins them, and this machine as NETWORK.254. Raises `CalledProcessError` or `OSError` where it may not."""
    with contextlib.ExitStack() as stack:
        bridge = f"{prefix}b"
        ip("link", "add", bridge, "type", "bridge")
        stack.callback(ip, "link", "delete", bridge)
        ip("address", "add", f"{network}.254/24", "dev", bridge)
        ip("link", "set", bridge, "up")
        names = [f"{prefix}{number}" for number in range(1, count + 1)]
        for number, name in enumerate(names, 1):
            ip("netns", "add", name)
            stack.callback(ip, "netns", "delete", name)
            ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("link", "set", name, "master", bridge, "up")
            ip("-n", name, "address", "add", f"{network}.{number}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield names


@contextlib.contextmanager
def hosts_in_namespaces(folder: Path, count: int = 2) -> Iterator[Hosts]:
    """Make hosts with a network of their own, joined by a bridge that this machine is at, too. Needs root."""
    prefix, network = f"nw{os.getpid() % 100_000}n", f"10.{os.getpid() % 200 + 20}.{os.getpid() // 200 % 250}"
    with namespaces(prefix, network, count) as names, contextlib.ExitStack() as stack:
        for number, name in enumerate(names, 1):
            inside = ("ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c")
            start = f'hostname node{number}; exec "$0" "$@"'
            stack.enter_context(ssh_server(folder, f"node{number}", f"{network}.{number}", 22, *inside, start))
        yield Hosts(folder, prefix)
