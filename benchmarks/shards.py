"""Read small JPEG files from tar shards, beside the same files in folders.

    python benchmarks/shards.py [--images 2000] [--rounds 5]

Both are read in random order by one thread, in turns. Speeds are per second of processor time, which other work on the
machine disturbs less; the ratio is that of the speeds within a round.
"""

import argparse
import os
import statistics
import tarfile
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from netwright.engine.data.loading.load import load
from netwright.engine.project.data import DataOptions

PER_SHARD = 500


def write(folder: Path, count: int) -> None:
    """Write pictures of 96 × 96 into two class folders, and the same bytes into tar files."""
    drawn = np.random.default_rng(0)
    for start in range(0, count, PER_SHARD):
        with tarfile.open(folder / f"{start // PER_SHARD:04d}.tar", "w") as tar:
            for number in range(start, min(start + PER_SHARD, count)):
                place = folder / "pictures" / f"class_{number % 2}" / f"{number:06d}.jpg"
                place.parent.mkdir(parents=True, exist_ok=True)
                small = Image.fromarray(drawn.integers(0, 256, (12, 12, 3), dtype=np.uint8))
                small.resize((96, 96), Image.Resampling.BICUBIC).save(place, quality=90)
                label = place.with_suffix(".cls")
                label.write_text(str(number % 2))
                for file in (place, label):
                    tar.add(file, file.name)
                label.unlink()


def main() -> None:
    """Print samples per second and the ratio of shards to files."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as where:
        folder = Path(where)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        write(folder, asked.images)
        plain = DataOptions(validation_share=0.0, test_share=0.0, readers="threads")
        sources = {
            "files": plain.replace(source="images", path="pictures"),
            "shards": plain.replace(source="shards", path="*.tar"),
        }
        begun = time.process_time()
        (files, shards) = (load(given, folder, is_streamed=True).inputs[0] for given in sources.values())
        print(f"outline and index of both: {time.process_time() - begun:.2f} s")
        speeds: dict[str, list[float]] = {"files": [], "shards": []}
        for number in range(asked.rounds + 1):
            order = np.random.default_rng(number).permutation(asked.images)
            for name, reader in (("files", files), ("shards", shards)):
                out = np.empty((8, 3, 96, 96), np.float32)
                begun = time.process_time()
                for start in range(0, len(order) - 7, 8):
                    reader.read(order[start : start + 8], out)
                speeds[name].append(len(order) / (time.process_time() - begun))
        ratios = [s / f for f, s in zip(speeds["files"][1:], speeds["shards"][1:], strict=True)]
        for name, found in speeds.items():
            print(f"{name}: {statistics.median(found[1:]):,.0f} samples per processor second")
        print(
            f"ratio, median of {asked.rounds}: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        )


if __name__ == "__main__":
    main()
