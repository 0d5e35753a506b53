"""What random changes of images cost, as a share of a training step without them, in processor time of one thread.

    python -m benchmarks.augmentation

The network is W1 of the shared benchmark (three small convolutions) for images of several sizes; changes and steps take
turns, and the best of the rounds counts. A batch has 128 images; small ones are changed several batches at a time, as
a run does it.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.nn import functional

from benchmarks.peer import WORKLOADS, network
from netwright.engine.data.loading.augment_mixing import Mixing
from netwright.engine.data.loading.augmentation import Augmentation, Image
from netwright.engine.data.loading.batches import GATHERED_BYTES, Batch, Tensors
from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.strategies.single import Single
from netwright.engine.parallel.sync_batch_norm import Share, join_batch_norms
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.solvers import Solver
from netwright.engine.training.step import TrainStep

ROUNDS = 12
BATCH = 128
SIZES = ((1, 8), (1, 28), (3, 32), (3, 64))
AFFINE = {
    "rand_rotation": (-20, 20),
    "rand_scale": (0.8, 1.2),
    "rand_x_shear": (-10, 10),
    "rand_x_translation": (-3, 3),
}
COLOURS = {"jitter_brightness": 0.2, "jitter_contrast": 0.2}
RECIPES: dict[str, dict[str, Any]] = {
    "reflection": {"rand_x_reflection": 0.5},
    "reflection and crop (CIFAR)": {"rand_x_reflection": 0.5, "rand_crop_padding": 4},
    "reflection, rotation, scale, shear, translation": {"rand_x_reflection": 0.5, **AFFINE},
    "brightness and contrast": COLOURS,
    "saturation": {"jitter_saturation": 0.2},
    "hue": {"jitter_hue": 0.1},
    "noise": {"noise_deviation": 5.0},
    "erasing": {"erasing_probability": 0.5},
    "mixup": {"mixup_alpha": 0.4},
    "CutMix": {"cutmix_alpha": 1.0},
    "all of them": {
        "rand_x_reflection": 0.5,
        **AFFINE,
        **COLOURS,
        "jitter_saturation": 0.2,
        "jitter_hue": 0.1,
        "noise_deviation": 5.0,
        "erasing_probability": 0.5,
    },
}


def training_step(channels: int, size: int) -> Callable[[], object]:
    """A step of W1 for images of this size."""
    (_, given), *rest = WORKLOADS["W1"]["layers"]
    made = network([("image_input", {**given, "channels": channels, "size": size}), *rest])
    module, share, group = build(made, analyse(made)), Share(), SingleProcess()
    join_batch_norms(module, group, share)
    inputs, targets = torch.rand(BATCH, channels, size, size), torch.randint(0, 10, (BATCH,))
    batch = Batch((inputs,), (targets,), BATCH, BATCH)
    model = TrainedModel(module, Single(module), Solver(TrainingOptions(), module), group)

    def loss(outputs: Tensors, targets: Tensors) -> torch.Tensor:
        return functional.cross_entropy(outputs[0], targets[0], reduction="sum")

    return partial(TrainStep(model, loss, lambda step: 0.01, share), batch, 0)


def changing(channels: int, size: int, given: dict[str, Any]) -> tuple[Callable[[], object], int]:
    """A change of so many batches at once, and how many those are."""
    options = TrainingOptions(**given)
    if channels == 1:
        options = options.replace(jitter_saturation=0.0, jitter_hue=0.0)
    batches = max(1, GATHERED_BYTES // (BATCH * (channels * size * size * 4 + 8)))
    numbers = torch.arange(batches * BATCH)
    mixing = Mixing(options, len(numbers), 10) if options.mixes else None
    change = Augmentation(options, [Image(0, (0.0, 255.0))], mixing=mixing)
    whole = torch.rand(len(numbers), channels, size, size) * 255
    classes = numbers % 10

    def work() -> None:
        images, targets = whole, classes
        if mixing is not None:  # gathering those that are mixed in is a part of it
            wanted = change.wanted(numbers, 1)
            images, targets = whole.index_select(0, wanted), classes.index_select(0, wanted)
        change((images,), (targets,), numbers, 1)

    return work, batches


def seconds(work: Callable[[], object]) -> float:
    """Processor time of this thread."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def main() -> None:
    """A line for each size of images: the step, and each recipe as a share of it."""
    torch.set_num_threads(1)
    for channels, size in SIZES:
        step = training_step(channels, size)
        works = {name: changing(channels, size, given) for name, given in RECIPES.items()}
        best = dict.fromkeys(("step", *works), float("inf"))
        for _ in range(ROUNDS):
            best["step"] = min(best["step"], seconds(step))
            for name, (work, batches) in works.items():
                best[name] = min(best[name], seconds(work) / batches)
        print(f"{channels} x {size} x {size}: a step takes {1000 * best['step']:.2f} ms")
        for name in works:
            print(f"  {name:50} {100 * best[name] / best['step']:5.1f} %")


if __name__ == "__main__":
    main()
