"""A table of 20 million rows that is read from disk, beside what pyarrow alone takes to read the same file.

    python benchmarks/tables.py [--rows 20000000] [--format parquet] [--rounds 3]

Rows per second of pyarrow's batches as arrays of NumPy, of the conversion (once), and of an epoch in the order of the
file and in random order, in turns; then the largest memory of a process that reads an epoch, for a tenth of the rows
and for all.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from netwright.engine.data.loading.load import load
from netwright.engine.data.sources.prefetch import LazyArray
from netwright.engine.project.data import DataOptions

COLUMNS, CHUNK, BATCH = 10, 1_000_000, 4096


def make(path: Path, rows: int) -> None:
    """Write a table of random numbers in single precision."""
    drawn = np.random.default_rng(0)
    names = [*(f"x{i}" for i in range(COLUMNS - 1)), "y"]
    schema = pa.schema([(name, pa.float32()) for name in names])
    is_parquet = path.suffix == ".parquet"
    with pa.parquet.ParquetWriter(path, schema) if is_parquet else pa.csv.CSVWriter(path, schema) as writer:
        for start in range(0, rows, CHUNK):
            numbers = drawn.normal(size=(COLUMNS, min(CHUNK, rows - start))).astype(np.float32)
            writer.write_table(pa.table(dict(zip(names, numbers, strict=True)), schema))


def by_pyarrow(path: Path) -> int:
    """Read all rows by pyarrow into rows of NumPy, a batch at a time; return their number."""
    if path.suffix == ".parquet":
        batches = pa.parquet.ParquetFile(path, memory_map=True).iter_batches(2**16)
    else:
        batches = pa.csv.open_csv(path)
    count = 0
    for batch in batches:
        rows = np.stack([column.to_numpy() for column in batch.columns], axis=1, dtype=np.float32)
        count += len(rows)
    return count


def opened(path: Path) -> LazyArray:
    """Return the inputs of a table on disk, converted unless they were before."""
    options = DataOptions(source="table", path=str(path), loading="stream", validation_share=0.0, test_share=0.0)
    inputs = load(options, path.parent, is_streamed=True).split("training").inputs[0]
    assert isinstance(inputs, LazyArray)
    return inputs


def epoch(inputs: LazyArray, *, is_shuffled: bool) -> int:
    """Read all rows, a batch at a time; return their number."""
    order = np.random.default_rng(1).permutation(len(inputs)) if is_shuffled else np.arange(len(inputs))
    count = 0
    for start in range(0, len(order), BATCH):
        chosen = inputs.numbers[order[start : start + BATCH]]
        out = np.empty((len(chosen), *inputs.shape[1:]), np.float32)
        inputs.stored.read(chosen, out)
        count += len(out)
    return count


def rate(work: object, *given: object, **named: object) -> float:
    """Return rows per second."""
    began = time.perf_counter()
    assert callable(work)
    return int(work(*given, **named)) / (time.perf_counter() - began)


def main() -> None:
    """Make the table, compare, and measure memory."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--format", choices=("parquet", "csv"), default="parquet")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only")
    given = parser.parse_args()
    if given.only:
        print(epoch(opened(Path(given.only)), is_shuffled=True))
        print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "RssAnon" in line))
        print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line))
        return
    with tempfile.TemporaryDirectory() as made:
        os.environ["XDG_CACHE_HOME"] = made
        path = Path(made) / f"large.{given.format}"
        small = Path(made) / f"small.{given.format}"
        make(path, given.rows)
        make(small, given.rows // 10)
        began = time.perf_counter()
        inputs = opened(path)
        print(f"converted, split and fitted: {given.rows / (time.perf_counter() - began):,.0f} rows/s", flush=True)
        rates: dict[str, list[float]] = {"pyarrow": [], "in order": [], "shuffled": []}
        for _ in range(given.rounds):
            rates["pyarrow"].append(rate(by_pyarrow, path))
            rates["in order"].append(rate(epoch, inputs, is_shuffled=False))
            rates["shuffled"].append(rate(epoch, inputs, is_shuffled=True))
        for name, found in rates.items():
            ratios = [one / other for one, other in zip(found, rates["pyarrow"], strict=True)]
            print(
                f"{name}: {statistics.median(found):,.0f} rows/s, {statistics.median(ratios):.2f} of pyarrow",
                flush=True,
            )
        for file in (small, path):
            command = [sys.executable, __file__, "--only", str(file)]
            subprocess.check_output(command)  # converts
            rows, held, most = subprocess.check_output(command, text=True).split()
            print(f"{int(rows):,} rows: {int(held) / 1024:,.0f} MiB at the end, {int(most) / 1024:,.0f} MiB at most")


if __name__ == "__main__":
    main()
