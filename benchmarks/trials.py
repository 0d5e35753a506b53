"""Trials of an experiment: what one costs beside its training, and how many there are in an hour beside optuna and Ray.

    python benchmarks/trials.py overhead --trials 12
    python benchmarks/trials.py contest --trials 100 --rounds 1 --peers ours,optuna,ray --python PYTHON_WITH_RAY
    python benchmarks/trials.py contest --trials 20 --peers ours_on_ray,ray --profile NAME --python PYTHON_WITH_RAY
    python benchmarks/trials.py reading --trials 10000

`overhead` trains a small network, one trial at a time. Of each trial it takes the time from its first line in the log
to its last, less the time of the training that its result tells, and the processor time of all its processes.

`contest` trains W2 of `peer.py` with the same learn rates in turns: by `experiment run`, by a hand-written script for
optuna in one process, and by Ray Tune with a trial per core; each from the start of its process to its end, and without
the time until its first trial begins. With a profile, `ours_on_ray` and Ray Tune have their trials on the Ray cluster
of that profile, which runs already, as many at a time as this machine has cores. The scripts of the others only train
and measure the accuracy at the end; ours keeps curves, checkpoints and networks.

`reading` writes the log of an experiment of so many trials, every tenth of them failed, and takes the time of the
commands that read it, each a process of its own.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
BATCH, FEATURES, CLASSES, HIDDEN = 256, 20, 3, 64


def rates(count: int) -> list[float]:
    """The learn rates of the trials, from 0.0001 to 0.1, spread evenly on a logarithmic scale."""
    return [10 ** (-4 + 3 * number / max(1, count - 1)) for number in range(count)]


def write_project(folder: Path, count: int, steps: int, epochs: int, at_once: int) -> Path:
    """Write data and project of an experiment with so many trials."""
    import numpy as np
    from peer import WORKLOADS, network

    from netwright.engine.project.data import DataOptions
    from netwright.engine.project.environment import EnvironmentOptions
    from netwright.engine.project.experiment import ExperimentOptions
    from netwright.engine.project.file import save
    from netwright.engine.project.project import Project
    from netwright.engine.project.training import TrainingOptions

    random = np.random.default_rng(1234)
    x = random.standard_normal((BATCH * steps, FEATURES), dtype=np.float32)
    y = (x @ random.standard_normal((FEATURES, CLASSES), dtype=np.float32)).argmax(1)
    np.savez(folder / "data.npz", x=x, y=y)
    training = TrainingOptions(
        solver="adam",
        max_epochs=epochs,
        mini_batch_size=BATCH,
        validation_frequency=steps * epochs,
        validation_patience=0,
    )
    project = Project(
        network(WORKLOADS["W2"]["layers"]),
        data=DataOptions(source="arrays", path="data.npz", validation_share=0.2, test_share=0.0),
        training=training,
        environment=EnvironmentOptions(target="cpu", threads=1),
    )
    values = {"path": "training.initial_learn_rate", "values": rates(count)}
    options = ExperimentOptions(parameters=[values], strategy="grid", at_once=at_once)
    save(replace(project, experiment=options), folder / "search.netwright")
    return folder / "search.netwright"


# ---- what a trial costs ----


def overhead(count: int, epochs: int) -> dict[str, float]:
    """Print and return the times of trials of so many epochs, one after another, in seconds."""
    from netwright.engine.experiments.begin import begin
    from netwright.engine.experiments.runner import Runner

    with tempfile.TemporaryDirectory() as folder:
        path = write_project(Path(folder), count, 40, epochs, 1)
        experiment = begin(_loaded(path), path)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        Runner(experiment).run()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        trials = experiment.read_trials()
    more = sorted(trial.ended - trial.started - trial.seconds for trial in trials)
    busy = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / count
    found = {
        "training": median(trial.seconds for trial in trials),
        "more": median(more),
        "least": more[0],
        "processor": busy,
    }
    print(f"{epochs} epochs: " + ", ".join(f"{name} {value:.3f} s" for name, value in found.items()), flush=True)
    return found


def _loaded(path: Path) -> Any:
    from netwright.engine.project.file import load

    return load(path).project


# ---- what reading costs ----


def reading(count: int) -> None:
    """Print the seconds of each command that reads the log of so many trials."""
    from tests.trials import ACCURACY, FILTERS, RATE, SOLVER, trial, written

    trials = []
    for number, rate in enumerate(rates(count), 1):
        values = {RATE: rate, SOLVER: ("sgdm", "adam")[number % 2], FILTERS: (4, 8, 16)[number % 3]}
        score = {"accuracy": number * 7919 % count / count, "loss": rate}
        trials.append(trial(number, values, **score) if number % 10 else trial(number, values, "failed"))
    with tempfile.TemporaryDirectory() as folder:
        path = str(written(Path(folder), trials, [ACCURACY, "validation.loss"]).path)
        for words in ("status", "status --json", "best", "export", "report", "list", "run"):
            way, *more = words.split()
            what = f"{folder}/net.netwright" if way == "list" else path
            command = [sys.executable, "-m", "netwright.engine", "experiment", way, what, *more]
            began = time.monotonic()
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, env=environment)
            print(f"{words}: {time.monotonic() - began:.2f} s", flush=True)


# ---- beside others ----


def contest(peers: list[str], count: int, rounds: int, python: str, epochs: int, profile: str) -> None:
    """Run the peers in turns and print their trials per hour."""
    found: dict[str, list[float]] = {peer: [] for peer in peers}
    for _ in range(rounds):
        for peer in peers:
            with tempfile.TemporaryDirectory() as folder:
                path = write_project(Path(folder), count, 391, epochs, os.cpu_count() or 1)
                began = time.time()
                first, last = globals()[f"by_{peer}"](path, count, epochs, python, profile)
                found[peer].append(3600 * count / (last - first))
                print(f"{peer}: {found[peer][-1]:,.0f} trials per hour, {first - began:.1f} s to the first", flush=True)
    best = max(median(found[peer]) for peer in peers if not peer.startswith("ours"))
    print(json.dumps({"trials_per_hour": {p: round(median(v)) for p, v in found.items()}}))
    for peer in (peer for peer in peers if peer.startswith("ours")):
        print(f"{peer}, times the better of the others: {median(found[peer]) / best:.2f}")


def by_ours(path: Path, count: int, epochs: int, python: str, profile: str) -> tuple[float, float]:
    """Train the trials by `experiment run`; return when the first began and the last ended."""
    return _by_command([sys.executable], path, count)


def by_ours_on_ray(path: Path, count: int, epochs: int, python: str, profile: str) -> tuple[float, float]:
    """The same in places of a Ray cluster."""
    return _by_command([python], path, count, "--environment", "parallel", "--profile", profile)


def _by_command(python: list[str], path: Path, count: int, *where: str) -> tuple[float, float]:
    command = [*python, "-m", "netwright.engine", "experiment", "run", str(path), "--json", *where]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    from netwright.engine.runs.experiments import open_experiment

    trials = open_experiment(path).read_trials()
    assert [trial.state for trial in trials] == ["finished"] * count
    return min(trial.started for trial in trials), max(trial.ended for trial in trials)


def by_optuna(path: Path, count: int, epochs: int, python: str, profile: str) -> tuple[float, float]:
    """Train the trials by optuna in one process."""
    return _by_script("optuna", path, count, epochs, python)


def by_ray(path: Path, count: int, epochs: int, python: str, profile: str) -> tuple[float, float]:
    """Train the trials by Ray Tune, one per core at a time."""
    if not profile:
        return _by_script("ray", path, count, epochs, python)
    from netwright.engine.cluster.profile_file import find_profile
    from netwright.engine.cluster.ray_address import address_of_head, ray_environment

    cluster = find_profile(profile)
    environment = {**os.environ, **ray_environment(cluster), "PYTHONPATH": str(ROOT)}
    address = address_of_head(cluster.address)
    return _by_script("ray", path, count, epochs, python, f"--address={address}", environment=environment)


def _by_script(
    name: str, path: Path, count: int, epochs: int, python: str, *more: str, environment: dict[str, str] | None = None
) -> tuple[float, float]:
    command = [python, __file__, name, "--data", str(path.with_name("data.npz")), f"--trials={count}", *more]
    command.append(f"--epochs={epochs}")
    ran = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    first, last = json.loads(ran.stdout.splitlines()[-1])
    return first, last


def train(x: Any, y: Any, rate: float, epochs: int, threads: int) -> float:
    """Train the network of W2 by hand and return its accuracy on the last fifth of the data."""
    import torch
    from torch import nn

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    cut = len(x) * 4 // 5
    model = nn.Sequential(
        nn.Linear(FEATURES, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, CLASSES)
    )
    optimizer, loss_of = torch.optim.Adam(model.parameters(), lr=rate), nn.CrossEntropyLoss()
    for _ in range(epochs):
        order = torch.randperm(cut)
        for at in range(0, cut - BATCH + 1, BATCH):
            chosen = order[at : at + BATCH]
            optimizer.zero_grad()
            loss_of(model(x[chosen]), y[chosen]).backward()
            optimizer.step()
    with torch.no_grad():
        return float((model(x[cut:]).argmax(1) == y[cut:]).float().mean())


def optuna_script(data: Path, count: int, epochs: int) -> None:
    """The whole search as somebody would write it for optuna; prints when the first trial began and the last ended."""
    import numpy as np
    import optuna
    import torch

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    loaded = np.load(data)
    x, y = torch.from_numpy(loaded["x"]), torch.from_numpy(loaded["y"])
    study = optuna.create_study(direction="maximize")
    for rate in rates(count):
        study.enqueue_trial({"rate": min(max(rate, 1e-4), 1e-1)})
    began = time.time()
    study.optimize(lambda trial: train(x, y, trial.suggest_float("rate", 1e-4, 1e-1, log=True), epochs, 1), count)
    print(json.dumps([began, time.time()]))


def ray_script(data: Path, count: int, epochs: int, address: str) -> None:
    """The same for Ray Tune, on a cluster of its own or one at an address: the data lies in its object store, each
    trial has a core."""
    import numpy as np
    import ray
    import torch
    from ray import tune

    own = {} if address else {"num_cpus": os.cpu_count(), "include_dashboard": False}
    ray.init(address=address or None, logging_level="ERROR", log_to_driver=False, **own)
    loaded = np.load(data)

    def trial(config: dict[str, Any], x: Any, y: Any) -> None:
        began = time.time()
        accuracy = train(torch.tensor(x), torch.tensor(y), config["rate"], epochs, 1)
        tune.report({"accuracy": accuracy, "began": began, "ended": time.time()})

    with_data = tune.with_resources(tune.with_parameters(trial, x=loaded["x"], y=loaded["y"]), {"cpu": 1})
    with tempfile.TemporaryDirectory() as folder:
        tuner = tune.Tuner(
            with_data,
            param_space={"rate": tune.grid_search(rates(count))},
            tune_config=tune.TuneConfig(metric="accuracy", mode="max", max_concurrent_trials=os.cpu_count()),
            run_config=tune.RunConfig(storage_path=folder, verbose=0),
        )
        ends = [result.metrics for result in tuner.fit()]
    print(json.dumps([min(end["began"] for end in ends), max(end["ended"] for end in ends)]))


def main() -> None:
    """Run the part that is named."""
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=("overhead", "contest", "reading", "optuna", "ray"))
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--peers", default="ours,optuna,ray")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with torch, optuna and ray[tune]")
    parser.add_argument("--profile", default="", help="cluster profile of a Ray that runs already")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--address", default="")
    given = parser.parse_args()
    match given.part:
        case "overhead":
            short, long = overhead(given.trials, 1), overhead(given.trials, 24)
            per_epoch = (long["processor"] - short["processor"]) / 23
            print(f"processor time per trial beside its epochs: {short['processor'] - per_epoch:.3f} s")
        case "contest":
            contest(given.peers.split(","), given.trials, given.rounds, given.python, given.epochs, given.profile)
        case "reading":
            reading(given.trials)
        case "optuna":
            optuna_script(given.data, given.trials, given.epochs)
        case "ray":
            ray_script(given.data, given.trials, given.epochs, given.address)


if __name__ == "__main__":
    main()
