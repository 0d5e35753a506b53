"""What it costs to record every step, on steps so short that it shows, and how long nothing waits for a reader that
does not read.

    python -m benchmarks.recording

Epochs of W2 of the shared benchmark, in turns: with losses recorded and sent through a pipe to a process that reads
them, as a worker does, with accuracy as well, and without either. Times are the processor's, of the thread that trains:
the difference within a round, of all rounds the median. `by itself` is what recording takes of the results of an epoch
that is over.
"""

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from statistics import median

import torch

from benchmarks.peer import WORKLOADS, network
from netwright.engine.core.platform_files import PIPE_BYTES, widen_pipe
from netwright.engine.core.types import features
from netwright.engine.data.loading.batches import BatchLoader, ResidentDataset, SampleOrder
from netwright.engine.launch.channel import ReportPipe
from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.strategies.single import Single
from netwright.engine.project.bindings import alone
from netwright.engine.project.dataset_info import TargetInfo
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.losses import loss_for
from netwright.engine.training.metrics import Accuracy
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.recorder import Clock, Recorder
from netwright.engine.training.reporter import NoRequests, Reporter
from netwright.engine.training.solvers import Solver
from netwright.engine.training.step import TrainStep

ROUNDS = 80
LOAD = WORKLOADS["W2"]
STEPS, BATCH = LOAD["steps"], LOAD["batch"]


class Training:
    """W2 in this process."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        inputs = torch.randn(STEPS * BATCH, 20)
        targets = (inputs @ torch.randn(20, 3)).argmax(1)
        built = network(LOAD["layers"])
        module = build(built, analyse(built), logits=True)
        options = TrainingOptions(solver="adam", l2_regularization=0.0, mini_batch_size=BATCH)
        wanted = alone(TargetInfo("y", features(3), "classes", ("a", "b", "c")))
        self.metrics, group = [Accuracy()], SingleProcess()
        model = TrainedModel(module, Single(module), Solver(options, module), group)
        self.train = TrainStep(model, loss_for(options, wanted, (targets,)), lambda step: 0.001)
        self.batches = BatchLoader(
            ResidentDataset((inputs,), (targets,)), SampleOrder(len(inputs), BATCH, "every-epoch", 0), group
        )
        self.group, self.epoch, self.step = group, 0, 0

    def run(self, reporter: Reporter | None) -> float:
        """One epoch; the seconds of this thread."""
        began = time.thread_time()
        self.epoch += 1
        for batch in self.batches.of_epoch(self.epoch):
            done = self.train(batch, self.step)
            self.step += 1
            if reporter is not None and reporter.record(done):
                reporter.report(self.epoch, self.step, 0.001)
        if reporter is not None and reporter.has_steps:
            reporter.report(self.epoch, self.step, 0.001)
        return time.thread_time() - began

    def reporter(self, outbox: ReportPipe, metrics: Sequence[Accuracy]) -> Reporter:
        """One that sends there."""
        clock = Clock()
        recorder = Recorder(metrics, self.group, lambda: 0, clock)
        return Reporter(metrics, recorder, outbox, NoRequests(), clock, 10**7)

    def alone(self, reporter: Reporter) -> float:
        """The seconds that recording one epoch takes of this thread, without the training."""
        self.epoch += 1
        all_done = [self.train(batch, self.step) for batch in self.batches.of_epoch(self.epoch)]
        began = time.thread_time()
        for done in all_done:
            self.step += 1
            if reporter.record(done):
                reporter.report(self.epoch, self.step, 0.001)
        if reporter.has_steps:
            reporter.report(self.epoch, self.step, 0.001)
        return time.thread_time() - began


def cost(training: Training) -> None:
    """With a reader that reads."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as reader:
        assert reader.stdin is not None
        pipe = ReportPipe(reader.stdin.fileno())
        losses, both = training.reporter(pipe, []), training.reporter(pipe, training.metrics)
        ways: dict[str, Callable[[], float]] = {
            "nothing": lambda: training.run(None),
            "losses": lambda: training.run(losses),
            "losses and accuracy": lambda: training.run(both),
            "losses, by itself": lambda: training.alone(losses),
            "losses and accuracy, by itself": lambda: training.alone(both),
        }
        rounds: list[dict[str, float]] = []
        for number in range(ROUNDS):
            turns = list(ways.items())[:: 1 if number % 2 else -1]
            rounds.append({name: 1e6 * way() / STEPS for name, way in turns})
        reader.stdin.close()
    plain = median(each["nothing"] for each in rounds)
    print(f"{'nothing':32} {plain:7.1f} us a step")
    for name in [name for name in ways if name != "nothing"]:
        is_alone = name.endswith("by itself")
        added = median(each[name] - (0.0 if is_alone else each["nothing"]) for each in rounds)
        print(f"{name:32} {added:7.1f} us a step more  {added / 5:5.1f} % of 2,000 steps per second")


def patience(training: Training) -> None:
    """With a reader that reads nothing: how many steps are made before the first has to wait."""
    read_end, write_end = os.pipe()
    widen_pipe(write_end)
    reporter = training.reporter(ReportPipe(write_end), training.metrics)
    before = training.step
    done = threading.Event()

    def train() -> None:
        with contextlib.suppress(OSError):
            while not done.is_set():
                training.run(reporter)

    thread = threading.Thread(target=train)
    thread.start()
    seen = -1
    while seen != training.step:
        seen = training.step
        time.sleep(2.0)
    print(f"{seen - before:,} steps fit into a pipe of {PIPE_BYTES / 2**20:.0f} MiB")
    done.set()
    while thread.is_alive():
        os.read(read_end, 2**20)
        thread.join(0.1)


def main() -> None:
    """Both."""
    torch.set_num_threads(1)
    training = Training()
    training.run(None)
    cost(training)
    patience(training)


if __name__ == "__main__":
    main()
