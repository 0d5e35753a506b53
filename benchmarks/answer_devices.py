"""Batches of answers per second: one thread, all threads on one batch (`--device cpu`), a batch per core (`multi-cpu`).

    .venv/bin/python benchmarks/answer_devices.py [--rounds 5] [--batches 24]

Networks with initial weights answer batches of 256 samples as `evaluate` and `predict` have them computed, in turns in
one process. Prints the median over rounds of the times that one thread takes, divided by those of the others.
"""

import argparse
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch

ROOT = Path(__file__).parents[1]
BATCH = 256


def main() -> None:
    """Measure all networks."""
    from netwright.engine.models.open_model import initial_network
    from netwright.engine.models.trained_model import DEVICE, Model, outputs_in_order
    from netwright.engine.project.project import Project
    from tests.builders import chain, layer

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=24)
    arguments = parser.parse_args()
    cores = torch.get_num_threads()
    head = layer("fully_connected", outputs=10)
    convolution = chain(
        layer("image_input", channels=3, size=32),
        *[part for filters in (32, 64) for part in (layer("conv2d", filters=filters), layer("relu"))],
        layer("global_average_pool"),
        head,
    )
    recurrent = chain(layer("sequence_input", channels=32), layer("lstm", hidden_units=128, output_mode="last"), head)
    samples = {"convolution": (convolution, (3, 32, 32)), "lstm": (recurrent, (64, 32))}
    for name, (network, sizes) in samples.items():
        model = Model(ROOT, Project(network), ROOT, None, name, ROOT)
        model = replace(model, weights=initial_network(model).state_dict())
        batches = [(torch.randn(BATCH, *sizes),) for _ in range(arguments.batches)]
        ratios: dict[str, list[float]] = {"cpu": [], "multi-cpu": []}
        for _ in range(arguments.rounds):
            times = {}
            for way, threads, devices in (("one", 1, 1), ("cpu", cores, 1), ("multi-cpu", cores, cores)):
                torch.set_num_threads(threads)
                placed = replace(model, devices=(DEVICE,) * devices)
                module = placed.answering
                began_s = time.perf_counter()
                for _ in outputs_in_order(placed, module, batches, lambda batch: batch):
                    pass
                times[way] = time.perf_counter() - began_s
            for way, values in ratios.items():
                values.append(times["one"] / times[way])
        rates = ", ".join(f"{way} {statistics.median(values):.2f}" for way, values in ratios.items())
        print(f"{name}: times one thread, {cores} cores: {rates}")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
