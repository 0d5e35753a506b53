"""100,000 small JPEG files: read, read while a network learns, and learnt from once decoded; beside torch and Pillow.

    python benchmarks/jpegs.py [--files 100000] [--rounds 5] [--folder DIR]

The files are 1,000 different pictures of 96 × 96 over again, in ten classes, and are read as 64 × 64. torch's
DataLoader has a data set as one writes it by hand (Pillow, NumPy, torch), and as many workers as Netwright has reading
processes. Ways read in turns; each is told in samples per second by the clock and in processor time per sample of all
processes, as medians, both with the ratio to the DataLoader within the same round.
"""

import argparse
import io
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count, islice
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from streaming import BATCH, SIZE, Pair, Small, processor_s
from torch.utils.data import DataLoader, Dataset

from netwright.engine.data.loading.batches import BatchLoader, SampleOrder
from netwright.engine.data.loading.load import load
from netwright.engine.data.loading.sequences import Padding
from netwright.engine.data.loading.streaming import streamed
from netwright.engine.data.sources.prefetch import num_threads
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.project.data import DataOptions

CLASSES, DIFFERENT, PLAIN = 10, 1000, 10_000
SKIPPED = 40
"""Batches that are not counted after a pause: read ahead meanwhile."""


def make_files(folder: Path, count: int) -> None:
    """Write the pictures: smooth, as JPEG has it."""
    drawn = np.random.default_rng(0)
    contents = []
    for _ in range(DIFFERENT):
        small = Image.fromarray(drawn.integers(0, 256, (12, 12, 3), dtype=np.uint8))
        room = io.BytesIO()
        small.resize((96, 96), Image.Resampling.BICUBIC).save(room, "jpeg", quality=90)
        contents.append(room.getvalue())
    for number in range(count):
        place = folder / "pictures" / f"class_{number % CLASSES}"
        if number < CLASSES:
            place.mkdir(parents=True, exist_ok=True)
        (place / f"{number:06d}.jpg").write_bytes(contents[number % DIFFERENT])


def decoded(file: str) -> np.ndarray:
    """Return a picture (H, W, C) as Pillow reads it."""
    with Image.open(file) as picture:
        return np.asarray(picture.convert("RGB").resize((SIZE, SIZE), Image.Resampling.BILINEAR))


class ByHand(Dataset[Pair]):
    """A data set as one writes it for torch: a file per sample, decoded in the worker."""

    def __init__(self, folder: Path) -> None:
        classes = sorted((folder / "pictures").iterdir())
        self.files = [(str(file), label) for label, place in enumerate(classes) for file in sorted(place.iterdir())]

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, number: int) -> Pair:
        file, label = self.files[number]
        return torch.from_numpy(decoded(file).transpose(2, 0, 1).astype(np.float32)), torch.tensor(label)


def netwright(folder: Path, cache_bytes: int) -> Callable[[int], Iterator[Pair]]:
    """Return the engine's batches by epoch: files are read by processes, and kept once decoded."""
    options = DataOptions(
        source="images",
        path="pictures",
        image_size=SIZE,
        validation_share=0.0,
        test_share=0.0,
        loading="stream",
        readers="processes",
    )
    part = load(options, folder, is_streamed=True, cache_bytes=cache_bytes).split("training")
    held = streamed(part.inputs, ["real"], part.targets, torch.device("cpu"), [], Padding(), [None])
    batches = BatchLoader(held, SampleOrder(len(held), BATCH, "every-epoch", 0), SingleProcess())
    return lambda epoch: ((b.inputs[0], b.targets[0]) for b in batches.of_epoch(epoch))


@dataclass
class Way:
    """A way to read: its batches from the first epoch on, and what is done with them."""

    name: str
    epoch: Callable[[int], Iterator[Pair]]
    use: Callable[[Iterator[Pair]], object]
    speeds: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)

    @cached_property
    def batches(self) -> Iterator[Pair]:
        """All batches of as many epochs as are asked for."""
        return chain.from_iterable(map(self.epoch, count(1)))

    def go(self, batches: int) -> None:
        """Use some batches, and note the speed and the processor time per sample."""
        self.use(islice(self.batches, SKIPPED))  # what was read ahead while others were at work
        began, worked = time.perf_counter(), processor_s()
        self.use(islice(self.batches, batches))
        self.speeds.append(BATCH * batches / (time.perf_counter() - began))
        self.worked.append(1e6 * (processor_s() - worked) / BATCH / batches)


def drained(batches: Iterable[Pair]) -> None:
    """Take all batches, and do nothing with them."""
    for _ in batches:
        pass


def in_turns(ways: Sequence[Way], rounds: int, batches: int) -> None:
    """Let the ways read in turns, and print their medians, with the ratios to the last one within each round."""
    for _ in range(rounds):
        for way in ways:
            way.go(batches)
    last = ways[-1]
    for way in ways:
        speed = statistics.median(a / b for a, b in zip(way.speeds, last.speeds, strict=True))
        worked = statistics.median(b / a for a, b in zip(way.worked, last.worked, strict=True))
        clock, processor = statistics.median(way.speeds), statistics.median(way.worked)
        print(f"| {way.name} | {clock:,.0f} | {speed:.2f} | {processor:,.0f} | {worked:.2f} |", flush=True)


def compare(folder: Path, total: int, rounds: int, batches: int) -> None:
    """Print a line for each way."""
    workers = num_threads()
    by_hand = ByHand(folder)
    began = time.process_time()
    plain = netwright(folder, 0)
    listed = time.process_time() - began
    print(f"{total:,} files, {workers} processes; listed and divided in {listed:.1f} s of the processor", flush=True)
    began = time.process_time()
    for file, _ in by_hand.files[:: max(1, total // PLAIN)]:
        decoded(file)
    print(f"| Pillow alone | | | {1e6 * (time.process_time() - began) / min(total, PLAIN):,.0f} | |")
    loader = DataLoader(by_hand, BATCH, shuffle=True, num_workers=workers, persistent_workers=True)
    other = DataLoader(by_hand, BATCH, shuffle=True, num_workers=workers, persistent_workers=True)
    in_turns(
        [
            Way("Netwright, reading alone", plain, drained),
            Way("DataLoader, reading alone", lambda epoch: iter(loader), drained),
        ],
        rounds,
        batches,
    )
    in_turns(
        [
            Way("Netwright, with training", plain, Small(8, CLASSES).epoch),
            Way("DataLoader, with training", lambda epoch: iter(other), Small(8, CLASSES).epoch),
        ],
        rounds,
        batches,
    )
    kept = netwright(folder, 2 * total * 3 * SIZE * SIZE)
    drained(kept(1))  # fills the cache
    second = Way("Netwright, second epoch from the cache", lambda epoch: kept(epoch + 1), Small(8, CLASSES).epoch)
    in_turns([second], 1, total // BATCH - SKIPPED)


def main() -> None:
    """Make the files, unless they are there, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=120, help="per way and round")
    parser.add_argument("--folder", type=Path, help="keep the files here")
    given = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as made:
        folder = given.folder or Path(made)
        if not (folder / "pictures").is_dir():
            make_files(folder, given.files)
        total = sum(len(files) for _, _, files in os.walk(folder / "pictures"))
        compare(folder, total, given.rounds, given.batches)


if __name__ == "__main__":
    main()
