"""Runs on a Ray cluster of this machine: what happens when something is killed, and how long a start takes.

    PYTHON_WITH_RAY benchmarks/clusters_ray.py faults --kinds worker,node,head --rounds 20
    PYTHON_WITH_RAY benchmarks/clusters_ray.py start --rounds 5 --niceness 0
    PYTHON_WITH_RAY benchmarks/clusters_ray.py recovery --rounds 3 --niceness 0

It starts a head and two nodes with four cores each on loopback, with a token. `faults` takes the time from signal 9 to
the next step that is reported, or to the end of the run in words. `start` takes, in turns, the time from the command to
the first step of a run with two workers on this machine and on Ray, and the time that Ray alone takes for two tasks
that do nothing, and for two that import torch. `recovery` takes, in turns, the time from signal 9 to a worker in the
middle of a run to the end of the run, of ours and of Ray Train with the same network, data, batch and checkpoints.
"""

import argparse
import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import psutil

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from peer import network  # noqa: E402

from netwright.engine.cluster.profile_file import save_profile  # noqa: E402
from netwright.engine.cluster.profiles import ClusterProfile  # noqa: E402
from netwright.engine.cluster.ray_address import ray_environment  # noqa: E402
from netwright.engine.project.file import save  # noqa: E402
from netwright.engine.project.project import Project  # noqa: E402

LAYERS: list[tuple[str, dict[str, Any]]] = [
    ("image_input", {"size": 8}),
    ("conv2d", {"filters": 8, "kernel": 3}),
    ("relu", {}),
    ("fully_connected", {"outputs": 10}),
    ("softmax", {}),
]
ON_RAY = {"target": "parallel", "cluster": "ray", "num_workers": 2}
LOCAL = {"target": "multi-cpu", "num_workers": 2}
LIMIT_S = 120.0
STEADY_S = 5.0
MARK = "NETWRIGHT_BENCHMARK_RAY"
BARE = """
import sys, time
began = time.monotonic()
import ray
ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")
@ray.remote
def nothing():
    time.sleep(0)
@ray.remote
def torch_too():
    import torch
ray.get([nothing.remote() for _ in range(2)])
nothing_s = time.monotonic() - began
ray.get([torch_too.remote() for _ in range(2)])
print(nothing_s, time.monotonic() - began)
"""


EPOCHS = 20
KILLED_AFTER = 10
MIDDLE = [
    ("image_input", {"size": 8}),
    ("conv2d", {"filters": 48, "kernel": 3}),
    ("relu", {}),
    ("conv2d", {"filters": 48, "kernel": 3}),
    ("relu", {}),
    ("fully_connected", {"outputs": 10}),
    ("softmax", {}),
]
"""Layers of a network that takes about half a second per epoch of the digits."""
RAY_TRAIN = """
import os, sys, tempfile
import numpy as np, torch
from torch import nn
import ray
from ray import train
from ray.train import Checkpoint, CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, prepare_model

def per_worker(config):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rank, world = train.get_context().get_world_rank(), train.get_context().get_world_size()
    with np.load(config["data"]) as arrays:
        x = torch.from_numpy(arrays["images"].astype("float32")).reshape(-1, 1, 8, 8) / 16
        y = torch.from_numpy(arrays["labels"].astype("int64"))
    x, y = x[:config["samples"]][rank::world], y[:config["samples"]][rank::world]
    model = nn.Sequential(nn.Conv2d(1, 48, 3, padding=1), nn.ReLU(), nn.Conv2d(48, 48, 3, padding=1), nn.ReLU(),
                          nn.Flatten(), nn.Linear(48 * 64, 10))
    first = 0
    before = train.get_checkpoint()
    if before:
        with before.as_directory() as folder:
            saved = torch.load(os.path.join(folder, "state.pt"))
        model.load_state_dict(saved["model"])
        first = saved["epoch"] + 1
    model = prepare_model(model)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    if before:
        optimizer.load_state_dict(saved["optimizer"])
    for epoch in range(first, config["epochs"]):
        order = torch.randperm(len(x), generator=torch.Generator().manual_seed(epoch))
        for batch in order.split(128 // world):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
            optimizer.step()
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = None
            if rank == 0:
                state = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
                torch.save(state, os.path.join(folder, "state.pt"))
                checkpoint = Checkpoint.from_directory(folder)
            train.report({"epoch": epoch, "pid": os.getpid()}, checkpoint=checkpoint)
            with open(config["log"] + f".{rank}", "a") as log:
                print(epoch, os.getpid(), file=log, flush=True)

ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")
config = {"data": sys.argv[2], "log": sys.argv[3], "epochs": int(sys.argv[4]), "samples": int(sys.argv[5])}
result = TorchTrainer(
    per_worker,
    train_loop_config=config,
    scaling_config=ScalingConfig(num_workers=2),
    run_config=RunConfig(storage_path=sys.argv[6], failure_config=FailureConfig(max_failures=3),
                         checkpoint_config=CheckpointConfig(num_to_keep=2)),
).fit()
"""


class Cluster:
    """A head without workers and two nodes, and the profile that leads there."""

    def __init__(self, folder: Path, niceness: int) -> None:
        self.mark = secrets.token_hex(8)
        token = folder / "token"
        token.write_text(secrets.token_hex(16))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.profile = ClusterProfile(
            name="ray",
            address=f"127.0.0.1:{self.port}",
            python=sys.executable,
            interface="lo",
            token_file=str(token),
        )
        self.environment = {**os.environ, **ray_environment(self.profile), "PYTHONPATH": str(ROOT)}
        self.environment |= {MARK: self.mark, "RAY_worker_niceness": str(niceness)}
        self._ray("--head", f"--port={self.port}", "--include-dashboard=false", "--num-cpus=0")
        self.add_node()
        self.add_node()

    def add_node(self) -> None:
        """Start one more node."""
        self._ray(f"--address=127.0.0.1:{self.port}", "--num-cpus=4")

    def _ray(self, *arguments: str) -> None:
        sizes = ("--num-gpus=0", "--disable-usage-stats")
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", *arguments, *sizes]
        subprocess.run(command, env=self.environment, check=True, capture_output=True)

    def processes(self, name: str = "", **variables: str) -> list[psutil.Process]:
        """Those of the cluster, and agents and workers in it, oldest first."""
        found = []
        for each in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                environment = each.environ()
                fits = environment.get(MARK) == self.mark and variables.items() <= environment.items()
                if fits and (not name or each.name() == name):
                    found.append(each)
        return sorted(found, key=lambda each: each.create_time())

    def of_node(self, raylet: psutil.Process) -> list[psutil.Process]:
        """All that runs on a node, as if it were a machine."""
        below = [each for each in self.processes() if each.environ().get("RAY_RAYLET_PID") == str(raylet.pid)]
        return [raylet, *raylet.children(recursive=True), *below]

    def close(self) -> None:
        """End everything."""
        kill(self.processes())


def kill(processes: list[psutil.Process]) -> None:
    """By signal 9."""
    for each in processes:
        with contextlib.suppress(psutil.Error):
            each.kill()


class Run:
    """A run by the command line, and its log."""

    def __init__(
        self,
        folder: Path,
        environment: dict[str, Any],
        layers: Sequence[tuple[str, dict[str, Any]]] = LAYERS,
        **training: Any,
    ) -> None:
        project = Project(network(layers))
        project = replace(
            project,
            data=project.data.replace(source="digits"),
            training=project.training.replace(**training),
            run=project.run.replace(max_restarts=1000),
            environment=project.environment.replace(threads=1, **environment),
        )
        self.folder = folder / f"run-{secrets.token_hex(4)}"
        save(project, folder / "p.netwright")
        self.began = time.time()
        self.process = self.command("train", str(folder / "p.netwright"), "--run-dir", str(self.folder))

    def command(self, *words: str) -> "subprocess.Popen[bytes]":
        """Start a command of the engine."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "netwright.engine", *words]
        return subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def info(self) -> dict[str, Any]:
        """What run.json holds."""
        read: dict[str, Any] = json.loads((self.folder / "run.json").read_text())
        return read

    def events(self) -> Iterator[dict[str, Any]]:
        """The log so far."""
        with contextlib.suppress(FileNotFoundError), open(self.folder / "events.jsonl", encoding="utf-8") as log:
            for line in log:
                with contextlib.suppress(ValueError):
                    yield json.loads(line)

    def first(self, fact: Callable[[dict[str, Any]], bool], after: float = 0.0) -> dict[str, Any]:
        """The first event for which this is so, after a time. Raises `TimeoutError`."""
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            for event in self.events():
                if event["time"] > after and fact(event):
                    return event
            time.sleep(0.05)
        raise TimeoutError("nothing came")

    def stop(self) -> None:
        """Ask it to end, and wait."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(30)
            self.process.kill()
            self.process.wait()


def agents(run: Run) -> list[psutil.Process]:
    """The agents of the workers, by rank."""
    return [psutil.Process(pid).parent() or psutil.Process(pid) for pid in run.info()["workers"]]


def fault(kind: str, cluster: Cluster, run: Run) -> str:
    """Do the harm, and return which event must come before the step that counts: none where a run goes on."""
    raylets = cluster.processes("raylet")
    match kind:
        case "worker":
            os.kill(run.info()["workers"][-1], signal.SIGKILL)
        case "agent":
            agents(run)[-1].kill()
        case "node":
            own = {each.pid for each in agents(run)}
            nodes = [cluster.of_node(raylet) for raylet in raylets[1:]]  # the first one is the head's
            kill(next((node for node in nodes if own & {each.pid for each in node}), nodes[-1]))
        case "head":
            kill([*cluster.processes("gcs_server"), *cluster.of_node(raylets[0])])
            return ""
        case "connection":
            agent = agents(run)[-1].pid
            rows = subprocess.run(["ss", "-Htnp"], capture_output=True, text=True, check=True).stdout.splitlines()
            port = next(row.split()[3].rpartition(":")[2] for row in rows if f"pid={agent}," in row)
            subprocess.run(["ss", "-K", "-tn", "sport", "=", f":{port}"], check=True, capture_output=True)
        case "silence":
            paused = agents(run)[-1]
            paused.suspend()
        case "coordinator":
            run.process.kill()
            run.process.wait()
            run.process = run.command("resume", str(run.folder))
        case _:
            raise SystemExit(f"There is no fault {kind}.")
    return "resumed"


def begun(folder: Path) -> Run:
    """A run on Ray that lasts, with a checkpoint per second."""
    lasting = {"max_epochs": 10**6, "checkpoint_unit": "seconds", "checkpoint_frequency": 1}
    return Run(folder, ON_RAY, validation_frequency=10**6, **lasting)


def one_fault(kind: str, cluster: Cluster, run: Run) -> tuple[float, str]:
    """Seconds until the run steps again, or has ended in words, and which."""
    try:
        run.first(lambda event: event["kind"] == "checkpoint", time.time())
        began = time.time()
        before = fault(kind, cluster, run)
        ends = {"ended"}
        event = run.first(lambda event: event["kind"] in {before or "progress", *ends}, began)
        if before and event["kind"] not in ends:
            event = run.first(lambda event: event["kind"] in {"progress", *ends}, event["time"])
        took = event["time"] - began
        if event["kind"] in ends:
            return took, f"ended: {event['reason'][:150]}"
        time.sleep(STEADY_S)
        last = list(run.events())[-1]
        return took, "goes on" if last["kind"] != "ended" else f"ended later: {last['reason'][:150]}"
    except TimeoutError as error:
        return LIMIT_S, f"failed: {error}"


def faults(kinds: list[str], rounds: int, niceness: int) -> None:
    """Print each round, and the median and the longest of each kind. What ends a run or the head has a new one next."""
    for kind in kinds:
        with tempfile.TemporaryDirectory() as name:
            os.environ["XDG_CONFIG_HOME"] = f"{name}/settings"
            taken = _rounds(kind, rounds, Path(name), niceness)
        in_time = sum(took <= 30 for took, _ in taken)
        times = [took for took, _ in taken]
        print(
            f"{kind}: {in_time} of {rounds} within 30 s, median {median(times):.1f} s, at most {max(times):.1f} s, "
            f"{sum(how == 'goes on' for _, how in taken)} go on",
            flush=True,
        )


def _rounds(kind: str, rounds: int, folder: Path, niceness: int) -> list[tuple[float, str]]:
    taken: list[tuple[float, str]] = []
    cluster: Cluster | None = None
    run: Run | None = None
    try:
        for number in range(rounds):
            if cluster is None:
                cluster = Cluster(folder, niceness)
                save_profile(cluster.profile, replacing="ray" if number else None)
            if run is None:
                run = begun(folder)
            load = os.getloadavg()[0]
            taken.append(one_fault(kind, cluster, run))
            print(f"{kind} {number + 1}: {taken[-1][0]:.1f} s, {taken[-1][1]} (load {load:.0f})", flush=True)
            if taken[-1][1] != "goes on" or kind == "head":
                run.stop()
                shutil.rmtree(run.folder, ignore_errors=True)
                run = None
            if kind == "head":
                cluster.close()
                cluster = None
            elif kind == "node":
                cluster.add_node()
        return taken
    finally:
        if run is not None:
            run.stop()
        if cluster is not None:
            cluster.close()


def starts(rounds: int, niceness: int) -> None:
    """Print the times of each round, and medians."""
    rows: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CONFIG_HOME"] = f"{name}/settings"
        cluster = Cluster(Path(name), niceness)
        save_profile(cluster.profile)
        try:
            for _ in range(rounds):
                row = {}
                for title, environment in (("local", LOCAL), ("ours", ON_RAY)):
                    run = Run(Path(name), environment, max_epochs=2)
                    row[title] = run.first(lambda event: event["kind"] == "progress")["time"] - run.began
                    run.process.wait()
                bare = [sys.executable, "-c", BARE, cluster.profile.address]
                said = subprocess.run(bare, env=cluster.environment, capture_output=True, text=True, check=True).stdout
                row["ray"], row["ray_torch"] = map(float, said.split()[-2:])
                row["allowed"] = 1.5 * row["local"] + row["ray"]
                row["share"] = row["ours"] / row["allowed"]
                rows.append(row)
                print(
                    {key: round(value, 2) for key, value in row.items()}, f"load {os.getloadavg()[0]:.0f}", flush=True
                )
        finally:
            cluster.close()
    print("median", {key: round(median(row[key] for row in rows), 2) for key in rows[0]})


def recoveries(rounds: int, niceness: int) -> None:
    """Print the seconds from a killed worker to the end of the run, of ours and of Ray Train, and their ratio."""
    rows: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CONFIG_HOME"] = f"{name}/settings"
        cluster = Cluster(Path(name), niceness)
        save_profile(cluster.profile)
        try:
            for number in range(rounds):
                row = {"ours": _recovery(Path(name)), "ray_train": _recovery_of_ray_train(Path(name), number, cluster)}
                row["ratio"] = row["ours"] / row["ray_train"]
                rows.append(row)
                print({key: round(value, 2) for key, value in row.items()}, f"load {os.getloadavg()[0]:.0f}")
        finally:
            cluster.close()
    print("median", {key: round(median(row[key] for row in rows), 2) for key in rows[0]})


def _recovery(folder: Path) -> float:
    options = {"max_epochs": EPOCHS, "checkpoint_unit": "epochs", "checkpoint_frequency": 1, "mini_batch_size": 128}
    run = Run(folder, ON_RAY, MIDDLE, validation_frequency=10**6, **options)
    middle = KILLED_AFTER * run.first(lambda event: event["kind"] == "started")["steps_per_epoch"]
    run.first(lambda event: event["kind"] == "checkpoint" and event["iteration"] >= middle)
    os.kill(run.info()["workers"][-1], signal.SIGKILL)
    began = time.monotonic()
    run.process.wait()
    took = time.monotonic() - began
    assert run.process.returncode == 0
    assert any(event["kind"] == "resumed" for event in run.events())
    return took


def _recovery_of_ray_train(folder: Path, number: int, cluster: Cluster) -> float:
    data = ROOT / "resources" / "data" / "digits.npz"
    log = folder / f"ray-train-{number}"
    samples = 1437  # of the training split of ours
    words = [cluster.profile.address, data, log, EPOCHS, samples, folder / f"storage-{number}"]
    command = [sys.executable, "-c", RAY_TRAIN, *map(str, words)]
    process = subprocess.Popen(command, env=cluster.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    reported = log.with_name(f"{log.name}.1")
    end = time.monotonic() + LIMIT_S
    while not (reported.exists() and len(reported.read_text().splitlines()) >= KILLED_AFTER):
        assert time.monotonic() < end, "Ray Train has not begun"
        time.sleep(0.05)
    os.kill(int(reported.read_text().split()[-1]), signal.SIGKILL)
    began = time.monotonic()
    process.wait()
    assert process.returncode == 0
    return time.monotonic() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True)
    for what in ("faults", "start", "recovery"):
        command = commands.add_parser(what)
        command.add_argument("--rounds", type=int, default=20 if what == "faults" else 5)
        command.add_argument("--niceness", type=int, default=15, help="of Ray's workers, 15 by default")
        if what == "faults":
            kinds = "worker,agent,node,head,connection,coordinator"
            command.add_argument("--kinds", default=kinds, help=f"of {kinds},silence")
    asked = parser.parse_args()
    if asked.what in ("start", "recovery"):
        (starts if asked.what == "start" else recoveries)(asked.rounds, asked.niceness)
    else:
        faults(asked.kinds.split(","), asked.rounds, asked.niceness)


if __name__ == "__main__":
    main()
