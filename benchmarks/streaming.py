"""An image folder that is streamed, beside the same one in memory and beside torch's DataLoader over the same files.

    python benchmarks/streaming.py [--images 5000] [--rounds 3]
    python benchmarks/streaming.py --draft

Every peer trains the same small network with the same batches; an epoch of each in turns, in one process, and its speed
as a ratio to that of the data in memory within the same round. Then each once more in a process of its own, whose
largest memory is told. With `--draft`: what decoding large JPEG files at a part of their size saves, and changes.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

from netwright.engine.data.loading.batches import BatchLoader, ResidentDataset, SampleOrder
from netwright.engine.data.loading.load import load
from netwright.engine.data.loading.sequences import Padding
from netwright.engine.data.loading.streaming import streamed
from netwright.engine.data.sources.image_file import read
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.project.data import DataOptions

SIZE, BATCH = 64, 64
Pair = tuple[torch.Tensor, torch.Tensor]
Epoch = Callable[[int], Iterator[Pair]]
PEERS = (
    "in memory",
    "streamed",
    "streamed, by processes",
    "streamed, decoded cache",
    "DataLoader, 0 workers",
    "DataLoader, 2 workers",
)


def pictures(folder: Path, count: int) -> None:
    """Photographs of nothing: smooth, as JPEG has it, in two classes."""
    drawn = np.random.default_rng(0)
    for number in range(count):
        place = folder / "pictures" / f"class_{number % 2}"
        place.mkdir(parents=True, exist_ok=True)
        small = Image.fromarray(drawn.integers(0, 256, (12, 12, 3), dtype=np.uint8))
        small.resize((96, 96), Image.Resampling.BICUBIC).save(place / f"{number:06d}.jpg", quality=90)


class Files(Dataset[Pair]):
    """As one writes it for torch: a file per sample, decoded in the worker."""

    def __init__(self, folder: Path) -> None:
        classes = sorted((folder / "pictures").iterdir())
        self._files = [(file, label) for label, place in enumerate(classes) for file in sorted(place.iterdir())]

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, number: int) -> Pair:
        file, label = self._files[number]
        numbers = torch.from_numpy(read(file, "rgb", SIZE, SIZE).astype(np.float32))
        return numbers, torch.tensor(label)


def netwright(folder: Path, *, is_streamed: bool, cache_bytes: int = 0, readers: str = "threads") -> Epoch:
    """The engine's own batches."""
    options = DataOptions(
        source="images",
        path="pictures",
        image_size=SIZE,
        validation_share=0.0,
        test_share=0.0,
        loading="stream",
        readers=readers,
    )
    part = load(options, folder, is_streamed=is_streamed, cache_bytes=cache_bytes).split("training")
    cpu = torch.device("cpu")
    held: ResidentDataset = (
        streamed(part.inputs, ["real"], part.targets, cpu, [], Padding(), [None])
        if is_streamed
        else ResidentDataset.of(part.inputs, ["real"], part.targets, cpu)
    )
    batches = BatchLoader(held, SampleOrder(len(held), BATCH, "every-epoch", 0), SingleProcess())
    return lambda epoch: ((b.inputs[0], b.targets[0]) for b in batches.of_epoch(epoch))


def data_loader(folder: Path, workers: int) -> Epoch:
    """torch's, which keeps its workers between epochs."""
    loader = DataLoader(Files(folder), BATCH, shuffle=True, num_workers=workers, persistent_workers=workers > 0)
    return lambda epoch: iter(loader)


def peer(name: str, folder: Path) -> Epoch:
    """One of `PEERS`."""
    match name:
        case "in memory":
            return netwright(folder, is_streamed=False)
        case "streamed":
            return netwright(folder, is_streamed=True)
        case "streamed, by processes":
            return netwright(folder, is_streamed=True, readers="processes")
        case "streamed, decoded cache":
            return netwright(folder, is_streamed=True, cache_bytes=2**30)
    return data_loader(folder, int(name.removeprefix("DataLoader, ")[0]))


class Small:
    """A network with a few layers, and its optimizer."""

    def __init__(self, width: int, classes: int = 2) -> None:
        torch.manual_seed(0)
        self._network = nn.Sequential(
            nn.Conv2d(3, width, 3, stride=2), nn.ReLU(), nn.Conv2d(width, width, 3, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes),
        )  # fmt: skip
        self._optimizer = torch.optim.SGD(self._network.parameters(), 0.01, momentum=0.9, fused=True)

    def epoch(self, batches: Iterator[Pair]) -> float:
        """Samples a second."""
        began, count = time.perf_counter(), 0
        for inputs, targets in batches:
            self._optimizer.zero_grad()
            nn.functional.cross_entropy(self._network(inputs / 255.0), targets).backward()
            self._optimizer.step()
            count += len(targets)
        return count / (time.perf_counter() - began)


def processor_s() -> float:
    """Of this process and its children, so far."""
    own = psutil.Process()
    return sum(sum(each.cpu_times()[:2]) for each in (own, *own.children(recursive=True)))


def compare(folder: Path, rounds: int, width: int) -> None:
    """Print the speed of each, its ratio, and the processor's time of a sample, of all threads and processes."""
    peers = {name: peer(name, folder) for name in PEERS}
    networks = {name: Small(width) for name in PEERS}
    speeds: dict[str, list[float]] = {name: [] for name in PEERS}
    worked: dict[str, list[float]] = {name: [] for name in PEERS}
    count = len(Files(folder))
    for number in range(rounds + 1):  # the first one fills the cache
        for name in PEERS:
            began = processor_s()
            speed = networks[name].epoch(peers[name](number + 1))
            if number:
                speeds[name].append(speed)
                worked[name].append(1e6 * (processor_s() - began) / count)
    print(f"network of width {width}")
    for name in PEERS:
        ratios = [one / held for one, held in zip(speeds[name], speeds["in memory"], strict=True)]
        figures = f"{statistics.median(speeds[name]):,.0f} | {statistics.median(ratios):.2f} | {min(worked[name]):,.0f}"
        print(f"| {name} | {figures} |", flush=True)


def draft(folder: Path) -> None:
    """Print time and pixels of large JPEG files that are decoded at a part of their size, beside those decoded whole.

    Smooth pictures with details of all sizes and noise, as photographs have.
    """
    drawn = np.random.default_rng(0)
    for width, height in ((640, 480), (1024, 768), (4000, 3000)):
        numbers = drawn.normal(0.0, 3.0, (height, width, 3))
        for octave in range(2, 10):
            small = Image.fromarray(drawn.integers(0, 256, (2**octave, 2**octave, 3), dtype=np.uint8))
            numbers += np.asarray(small.resize((width, height), Image.Resampling.BICUBIC)) / 2 ** (0.6 * octave)
        path = folder / f"{width}.jpg"
        numbers *= 255 / numbers.max()
        Image.fromarray(numbers.clip(0, 255).astype(np.uint8)).save(path, quality=90)
        for size in (64, 128, 224):
            times: dict[bool, list[float]] = {True: [], False: []}
            for _ in range(5):
                for is_whole in times:
                    began = time.process_time()
                    with Image.open(path) as picture:
                        if is_whole:
                            expected = np.asarray(picture.resize((size, size), Image.Resampling.BILINEAR))
                        else:
                            found = read(path, "rgb", size, size).transpose(1, 2, 0)
                    times[is_whole].append(1000 * (time.process_time() - began))
            differences = np.abs(found.astype(int) - expected)
            print(
                f"| {width} × {height} | {size} | {min(times[True]):.1f} | {min(times[False]):.1f} | "
                f"{min(times[True]) / min(times[False]):.2f} | {differences.mean():.2f} | {differences.max()} |"
            )


def main() -> None:
    """Make the pictures, compare, and measure memory in processes of their own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--draft", action="store_true")
    parser.add_argument("--only", nargs=2, metavar=("PEER", "FOLDER"))
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    if given.only:
        name, folder = given.only
        Small(8).epoch(peer(name, Path(folder))(1))
        print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line))
        return
    with tempfile.TemporaryDirectory() as made:
        if given.draft:
            draft(Path(made))
            return
        pictures(Path(made), given.images)
        for width in (8, 32):
            compare(Path(made), given.rounds, width)
        for name in PEERS:
            command = [sys.executable, __file__, "--only", name, made]
            print(f"| {name} | {float(subprocess.check_output(command)) / 1024:,.0f} MiB |", flush=True)


if __name__ == "__main__":
    main()
