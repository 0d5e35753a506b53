"""Tables that are read from disk, beside what pyarrow alone takes for the same; and what they take in memory.

    python -m benchmarks.tables [--rows 5000000] [--rounds 5]
    python -m benchmarks.tables --memory [--rows 20000000]

Processor time per row of all threads, the best of several rounds in turns: of reading a CSV or Parquet file into rows
of NumPy by pyarrow and of its conversion, of reading a CSV file into memory, of the split and the fitting that follow,
and of an epoch in the order of the file and in random order, beside pyarrow's `take` of the same rows from a mapped
Arrow file of one batch. With `--memory`: the largest memory of a training from a CSV file, by the kinds of
`memory.py`, for a tenth of the rows and for all.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from benchmarks.memory import highest
from benchmarks.peer import network
from netwright.engine.data.loading.load import load
from netwright.engine.data.sources.prefetch import LazyArray
from netwright.engine.data.tables.csv_file import read_columns
from netwright.engine.data.tables.stored_table import Reading, store
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions

COLUMNS, CHUNK, BATCH = 10, 1_000_000, 4096
Work = Callable[[], object]


def make(path: Path, rows: int, columns: int = COLUMNS, digits: int | None = None) -> None:
    """Write a table of random numbers in single precision."""
    drawn = np.random.default_rng(0)
    names = [*(f"x{i}" for i in range(columns - 1)), "y"]
    schema = pa.schema([(name, pa.float32()) for name in names])
    writers = {".parquet": pa.parquet.ParquetWriter, ".csv": pa.csv.CSVWriter, ".arrow": pa.ipc.new_file}
    with writers[path.suffix](path, schema) as writer:
        for start in range(0, rows, CHUNK):
            numbers = drawn.normal(size=(columns, min(CHUNK, rows - start))).astype(np.float32)
            table = pa.table(dict(zip(names, numbers if digits is None else numbers.round(digits), strict=True)))
            writer.write_table(table)


def rows_of(batch: pa.RecordBatch | pa.Table) -> np.ndarray:
    """Return a batch as rows of NumPy."""
    return np.stack([column.to_numpy() for column in batch.columns], axis=1, dtype=np.float32)


def by_pyarrow(path: Path) -> None:
    """Read all rows by pyarrow into rows of NumPy, a batch at a time."""
    is_parquet = path.suffix == ".parquet"
    file = pa.parquet.ParquetFile(path, memory_map=True) if is_parquet else None
    for batch in file.iter_batches(2**16) if file else pa.csv.open_csv(path):
        rows_of(batch)


def converted(path: Path) -> None:
    """Convert a table, and remove what was written."""
    shutil.rmtree(store(path, time.monotonic_ns(), Reading()).folder)


def opened(path: Path) -> LazyArray:
    """Return the inputs of a table on disk, converted unless they were before."""
    options = DataOptions(source="table", path=str(path), loading="stream", validation_share=0.0, test_share=0.0)
    inputs = load(options, path.parent, is_streamed=True).split("training").inputs[0]
    assert isinstance(inputs, LazyArray)
    return inputs


def epoch(order: np.ndarray, inputs: LazyArray) -> None:
    """Read rows, a batch at a time."""
    for start in range(0, len(order), BATCH):
        chosen = inputs.numbers[order[start : start + BATCH]]
        out = np.empty((len(chosen), *inputs.shape[1:]), np.float32)
        inputs.stored.read(chosen, out)


def epoch_by_take(order: np.ndarray, batch: pa.RecordBatch) -> None:
    """Read rows from a mapped batch of pyarrow, a batch at a time."""
    for start in range(0, len(order), BATCH):
        rows_of(batch.take(pa.array(order[start : start + BATCH])))


def compare(title: str, rows: int, rounds: int, ways: dict[str, Work]) -> None:
    """Print the processor time of each way and its speed beside the first."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, work in ways.items():
            began = time.process_time()
            work()
            times[name].append(time.process_time() - began)
    first = min(next(iter(times.values())))
    for name, spent in times.items():
        print(f"| {title}: {name} | {1e9 * min(spent) / rows:,.0f} | {first / min(spent):.2f} |", flush=True)


def memory(folder: Path, rows: int) -> None:
    """Train from a CSV file of three columns for one epoch, and print the largest memory of all processes."""
    layers = [("feature_input", {"channels": 2}), ("fully_connected", {"outputs": 8}), ("relu", {})]
    project = Project(
        network([*layers, ("fully_connected", {"outputs": 1})]),
        data=DataOptions(source="table", path=str(folder / "table.csv"), loading="stream"),
        training=TrainingOptions(max_epochs=1, mini_batch_size=BATCH, shuffle="every-epoch"),
    )
    save(project, folder / "table.netwright")
    for count in (rows // 10, rows):
        make(folder / "table.csv", count, 3, 2)
        command = ["train", str(folder / "table.netwright"), "--run-dir", str(folder / str(count))]
        for when in ("with conversion", "again"):
            most, _ = highest([sys.executable, "-m", "netwright.engine", *command])
            shutil.rmtree(folder / str(count))
            sizes = ", ".join(f"{most[kind]:,.0f} MiB {kind}" for kind in ("Anonymous", "Uss", "Pss"))
            print(f"{count:,} rows, {when}: {sizes}", flush=True)


def main() -> None:
    """Make the tables, compare, or measure memory."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        os.environ["XDG_CACHE_HOME"] = made
        if given.memory:
            memory(folder, given.rows or 20_000_000)
            return
        rows = given.rows or 5_000_000
        parquet, csv, arrow = (folder / f"table.{suffix}" for suffix in ("parquet", "csv", "arrow"))
        for path in (parquet, csv):
            make(path, rows)
        for path in (parquet, csv):
            ways: dict[str, Work] = {"pyarrow": partial(by_pyarrow, path), "conversion": partial(converted, path)}
            compare(path.suffix, rows, given.rounds, ways)
        ways = {"pyarrow": lambda: rows_of(pa.csv.read_csv(csv)), "in memory": partial(read_columns, csv)}
        compare(".csv", rows, given.rounds, ways)
        store(parquet, None, Reading())
        began = time.process_time()
        inputs = opened(parquet)
        print(f"converted, split and fitted: {1e9 * (time.process_time() - began) / rows:,.0f} ns per row")
        table = pa.parquet.read_table(parquet).combine_chunks()
        with pa.ipc.new_file(arrow, table.schema) as writer:
            writer.write_table(table, max_chunksize=rows)
        del table
        mapped = pa.ipc.open_file(pa.memory_map(str(arrow))).get_batch(0)
        order = np.arange(rows)
        for title in ("in order", "shuffled"):
            ways = {"take": partial(epoch_by_take, order, mapped), "netwright": partial(epoch, order, inputs)}
            compare(title, rows, given.rounds, ways)
            order = np.random.default_rng(1).permutation(rows)


if __name__ == "__main__":
    main()
