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

from tests.faults.harness import wait_for

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
