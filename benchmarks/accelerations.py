"""What each acceleration gives: training with all of them against training without one, and without any.

    python -m benchmarks.accelerations [--workloads W1,W2,W3] [--rounds 20]
    python -m benchmarks.accelerations --memory [--workloads W1,W3,W3T] [--rounds 5]
    python -m benchmarks.accelerations --runs [--rounds 3] [--seconds 5]

The first form measures manual backward and fused optimizers: epochs of the shared benchmark's networks,
recorded and reported as in a worker, all cases in turn within each round, in processor time of the thread that trains,
with one thread. The second measures the reuse of memory, each epoch in a process of its own, with its peak of memory.
The third measures shared memory and placement trials in wall-clock time, since waiting is what they
change, and so on a quiet machine alone: real runs by the real command, in turn, by the best epoch's worth of steps
(`placement.py`). Ratios above 1 say that training is faster with the acceleration. Prints a table in Markdown.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

import torch

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from peer import WORKLOADS, network, prepare  # noqa: E402  # the folder has no package
from placement import EPOCH_S, PLACEMENTS, best_epoch  # noqa: E402

from netwright.engine.core.fork import read_from_child  # noqa: E402
from netwright.engine.core.platform import peak_resident_bytes  # noqa: E402
from netwright.engine.data.loading.batches import BatchLoader, ResidentDataset, SampleOrder  # noqa: E402
from netwright.engine.launch.channel import ReportPipe  # noqa: E402
from netwright.engine.lowering.module import build  # noqa: E402
from netwright.engine.network.analysis import analyse  # noqa: E402
from netwright.engine.parallel.process_group import SingleProcess  # noqa: E402
from netwright.engine.parallel.strategies.single import Single  # noqa: E402
from netwright.engine.parallel.sync_batch_norm import Share, join_batch_norms  # noqa: E402
from netwright.engine.project.environment import EnvironmentOptions  # noqa: E402
from netwright.engine.project.file import load, save  # noqa: E402
from netwright.engine.project.project import ACCELERATIONS, RunOptions  # noqa: E402
from netwright.engine.project.training import TrainingOptions  # noqa: E402
from netwright.engine.runs.events import Progress  # noqa: E402
from netwright.engine.runs.folder import RunFolder  # noqa: E402
from netwright.engine.runs.log import EventReader  # noqa: E402
from netwright.engine.training.fast.accelerations import keep_freed_memory  # noqa: E402
from netwright.engine.training.losses import SingleOutputLoss, cross_entropy  # noqa: E402
from netwright.engine.training.metrics import Accuracy  # noqa: E402
from netwright.engine.training.model import TrainedModel  # noqa: E402
from netwright.engine.training.recorder import Clock, Recorder  # noqa: E402
from netwright.engine.training.reporter import NoRequests, Reporter  # noqa: E402
from netwright.engine.training.solvers import Solver  # noqa: E402
from netwright.engine.training.step import StepOptions, TrainStep  # noqa: E402

IN_STEPS = ("manual-backward", "fused-optimizers")
IN_RUNS = {"shared-memory": "2x1", "placement-trials": "auto"}
"""What is measured in whole runs, and in which placement."""
STEPS = {"W1": 10, "W2": 391, "W3": 10, "W3T": 4}
TRIAL_RUN_S = 12.0
"""Shorter runs would not try their placements."""


class Training:
    """One of the networks in this process, with some of the accelerations."""

    def __init__(self, name: str, accelerations: RunOptions, reports: ReportPipe) -> None:
        torch.manual_seed(0)
        load = WORKLOADS[name]
        inputs = torch.randn(STEPS[name] * load["batch"], *load["shape"])
        targets = torch.randint(0, load["classes"], (len(inputs),))
        built = network(load["layers"])
        module = build(built, analyse(built), logits=True)
        options = TrainingOptions(solver=load["solver"], l2_regularization=0.0, mini_batch_size=load["batch"])
        group, share, metrics = SingleProcess(), Share(), [Accuracy()]
        join_batch_norms(module, group, share)
        solver = Solver(options, module, fused=accelerations.accelerates("fused-optimizers"))
        chosen = StepOptions(manual_backward=accelerations.accelerates("manual-backward"))
        loss = SingleOutputLoss(cross_entropy)
        model = TrainedModel(module, Single(module), solver, group)
        self._train = TrainStep(model, loss, lambda step: load["rate"], share, chosen)
        order = SampleOrder(len(inputs), load["batch"], "every-epoch", 0)
        self._batches = BatchLoader(ResidentDataset((inputs,), (targets,)), order, group)
        clock = Clock()
        self._reporter = Reporter(
            metrics, Recorder(metrics, group, lambda: 0, clock), reports, NoRequests(), clock, 10**7
        )
        self._epoch, self._step = 0, 0

    def run_epoch(self) -> float:
        """Train for an epoch and return the seconds of processor time of this thread."""
        began = time.thread_time()
        self._epoch += 1
        for batch in self._batches.of_epoch(self._epoch):
            if self._reporter.record(self._train(batch, self._step)):
                self._reporter.report(self._epoch, self._step + 1, 0.001)
            self._step += 1
        return time.thread_time() - began


def cases(names: tuple[str, ...]) -> dict[str, RunOptions]:
    """Return all accelerations, all without each of the names, and none of them."""
    without = {n: RunOptions(accelerations=tuple(other for other in ACCELERATIONS if other != n)) for n in names}
    return {"": RunOptions(), **without, "all of them": RunOptions(accelerations=("none",))}


def steps(name: str, rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Yield the seconds of the epochs of each case."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as reader:
        assert reader.stdin is not None
        reports = ReportPipe(reader.stdin.fileno())
        trainings = {case: Training(name, options, reports) for case, options in cases(IN_STEPS).items()}
        seconds: dict[str, list[float]] = {case: [] for case in trainings}
        for number in range(rounds + 1):
            for case, training in list(trainings.items())[:: 1 if number % 2 else -1]:
                spent = training.run_epoch()
                if number:  # the first round compares manual backward with autograd, and warms up
                    seconds[case].append(spent)
        reader.stdin.close()
    yield from seconds.items()


def memory(name: str, rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Yield the seconds of an epoch of each case in processes of their own, and print their peaks of memory."""
    seconds: dict[str, list[float]] = {case: [] for case in cases(("memory-reuse",))}
    peaks: dict[str, list[float]] = {case: [] for case in seconds}

    def measure(options: RunOptions) -> bytes:
        if options.accelerates("memory-reuse"):
            keep_freed_memory()
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as reader:
            assert reader.stdin is not None
            training = Training(name, options, ReportPipe(reader.stdin.fileno()))
            spent = min(training.run_epoch() for _ in range(4))
            reader.stdin.close()
        return json.dumps([spent, peak_resident_bytes()]).encode()

    for _ in range(rounds):
        for case, options in cases(("memory-reuse",)).items():
            spent, peak = json.loads(read_from_child(partial(measure, options), 600) or b"")
            seconds[case].append(spent)
            peaks[case].append(peak)
    for case, values in peaks.items():
        print(f"<!-- {name} {case or 'all'}: {median(values) / 2**20:.0f} MiB -->")
    yield from seconds.items()


def runs(name: str, placement: str, off: str, rounds: int, length_s: float) -> Iterator[tuple[str, list[float]]]:
    """Yield the seconds of the best epoch of each run of each case."""
    seconds: dict[str, list[float]] = {case: [] for case in cases((off,))}
    epochs = max(3, round(length_s / EPOCH_S[name]))
    for _ in range(rounds):
        for case, options in cases((off,)).items():
            with tempfile.TemporaryDirectory() as folder:
                file = prepare(name, epochs, 1, 1, Path(folder))
                environment = EnvironmentOptions(**PLACEMENTS[placement])
                save(replace(load(file).project, environment=environment, run=options), file)
                command = [sys.executable, "-m", "netwright.engine", "train", str(file), "--run-dir", f"{folder}/run"]
                subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                events = EventReader(RunFolder(Path(folder) / "run"), 2**30).read()
                reached = [(event.time, event.iteration) for event in events if isinstance(event, Progress)]
                seconds[case].append(best_epoch(reached, WORKLOADS[name]["steps"]))
    yield from seconds.items()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workloads", default="W1,W2,W3")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--runs", action="store_true")
    parser.add_argument("--memory", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print("| workload | without | times as fast with it, best (median) |\n|---|---|---|")
    for name in arguments.workloads.split(","):
        if arguments.memory:
            _print(name, "", dict(memory(name, arguments.rounds or 5)))
            continue
        if not arguments.runs:
            _print(name, "", dict(steps(name, arguments.rounds or 20)))
            continue
        for off, placement in IN_RUNS.items():
            length_s = max(arguments.seconds, TRIAL_RUN_S) if placement == "auto" else arguments.seconds
            _print(name, f", {placement}", dict(runs(name, placement, off, arguments.rounds or 3, length_s)))


def _print(name: str, placement: str, seconds: dict[str, list[float]]) -> None:
    """Print a row for each case but the first, which is that of all accelerations."""
    fast = seconds[""]
    for case, plain in seconds.items():
        if case:
            ratios = f"{min(plain) / min(fast):.2f} ({median(plain) / median(fast):.2f})"
            print(f"| {name}{placement} | {case} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
