"""What the user's own code costs a step: hooks that are absent, empty or read the loss; a step and a loss of one's own
that compute what the built-in ones compute. Processor time of a whole training in this process, in turns, of a network
so small that nothing else is to be seen.

`python -m benchmarks.hooks` prints microseconds a step and the ratio to none, the best of seven.
"""

import os
import tempfile
import time
from pathlib import Path

import torch

from netwright.engine.user_code import trust
from tests.small_training import STEPS_PER_EPOCH, Small

ROUNDS, EPOCHS = 7, 400
CODE = """
from torch.nn import functional
def on_step(run): ...
def training_step(network, inputs, targets, loss): return loss(network(*inputs), targets)
def loss(outputs, targets): return functional.cross_entropy(outputs, targets)
"""
READS = "def on_step(run): run.loss\n"
NONE = "no code"
CASES: dict[str, dict[str, str]] = {
    NONE: {},
    "an empty on_step": {"hooks_file": "code.py"},
    "on_step reads the loss": {"hooks_file": "reads.py"},
    "a training step": {"step_function": "code.py"},
    "a loss": {"loss": "custom", "loss_function": "code.py"},
}


def microseconds(folder: Path, options: dict[str, str]) -> float:
    """Processor time per step of one training."""
    small = Small(folder, epochs=EPOCHS, validation_frequency=10**6, **options)
    began = time.process_time()
    small.run()
    return 1e6 * (time.process_time() - began) / (EPOCHS * STEPS_PER_EPOCH)


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    os.environ[trust.GRANTS] = "[]"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "code.py").write_text(CODE, encoding="utf-8")
        (folder / "reads.py").write_text(READS, encoding="utf-8")
        found: dict[str, list[float]] = {case: [] for case in CASES}
        for _ in range(ROUNDS):
            for case, options in CASES.items():
                found[case].append(microseconds(folder, options))
    for case, times in found.items():
        print(f"{case:26} {min(times):6.1f} µs   {min(times) / min(found[NONE]):.3f}")


if __name__ == "__main__":
    main()
