"""Loading in general, shown on the built-in digits and small tables."""

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.sources import table_reader
from netwright.engine.data.tables import csv_file
from netwright.engine.data.tables.csv_file import Columns
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo

ROOT = Path(__file__).parents[4]
DIGITS = DataOptions(source="digits")


def small_table(folder: Path, rows: int = 20) -> DataOptions:
    lines = [f"{i},{i * 0.5}" for i in range(rows)]
    (folder / "small.csv").write_text("\n".join(["a,y", *lines]))
    return DataOptions(source="table", path="small.csv", task="numbers")


def test_the_digits_are_the_real_ones(tmp_path):
    found = facts(DIGITS, tmp_path)
    assert found.samples == {"training": 1257, "validation": 270, "test": 270}
    assert found.classes == tuple("0123456789")
    assert found.inputs[0].type.sizes == (1, 8, 8)
    data = load(DIGITS, tmp_path)
    images = np.concatenate([data.split(name).inputs[0] for name in found.samples])
    assert images.min() == 0
    assert images.max() == 16
    assert images.sum() == 561_718  # of scikit-learn's copy


def test_the_digits_file_has_the_bytes_that_the_script_writes():
    from sklearn.datasets import load_digits

    with np.load(ROOT / "resources/data/digits.npz", allow_pickle=False) as file:
        assert file["images"].dtype == file["labels"].dtype == np.uint8
        np.testing.assert_array_equal(file["images"], load_digits().images)
        np.testing.assert_array_equal(file["labels"], load_digits().target)


@pytest.mark.parametrize("share", [(0.15, 0.15), (0.0, 0.0), (0.3, 0.0), (0.5, 0.45)])
def test_facts_promise_what_load_gives(tmp_path, share):
    options = DIGITS.replace(validation_share=share[0], test_share=share[1])
    found, data = facts(options, tmp_path), load(options, tmp_path)
    assert data.facts == found
    for name, count in found.samples.items():
        part = data.split(name)
        assert part.inputs[0].shape == (count, 1, 8, 8)
        assert part.inputs[0].dtype == np.float32
        assert part.targets[0].shape == (count,)
        assert part.targets[0].dtype == np.int64


def test_facts_survive_the_way_to_the_window(tmp_path):
    found = facts(DIGITS, tmp_path)
    assert DatasetInfo.read(found.write()) == found


def test_the_same_split_each_time_and_another_with_another_seed(tmp_path):
    parts = [load(DIGITS.replace(split_seed=seed), tmp_path).split("test").targets[0].tolist() for seed in (0, 0, 1)]
    assert parts[0] == parts[1] != parts[2]


def test_the_same_split_is_made_once(tmp_path):
    one, other = (load(DataOptions(source="digits", split_seed=seed), tmp_path) for seed in (5, 6))
    again = load(DataOptions(source="digits", split_seed=5), tmp_path)
    assert again.numbers["training"] is one.numbers["training"]
    assert other.numbers["training"] is not one.numbers["training"]


def test_changing_a_part_changes_nothing_that_is_kept(tmp_path):
    part = load(DIGITS, tmp_path).split("test")
    part.inputs[0][:] = -1
    assert load(DIGITS, tmp_path).split("test").inputs[0].min() == 0


def test_another_split_does_not_read_the_file_again_and_a_change_does(tmp_path, monkeypatch):
    reads: list[Path] = []

    def read(path: Path, *given: Any, **named: Any) -> Columns:
        reads.append(path)
        return csv_file.read_columns(path, *given, **named)

    monkeypatch.setattr(table_reader, "read_columns", read)
    options = small_table(tmp_path)
    facts(options, tmp_path)
    load(options.replace(split_seed=5, test_share=0.3), tmp_path)
    assert len(reads) == 1
    small_table(tmp_path, rows=30)
    os.utime(tmp_path / "small.csv", (1, 1))
    assert sum(facts(options, tmp_path).samples.values()) == 30
    assert len(reads) == 2


def test_reading_leaves_the_data_as_it_was(tmp_path):
    options = small_table(tmp_path)
    before = hashlib.sha256((tmp_path / "small.csv").read_bytes()).digest(), os.listdir(tmp_path)
    load(options, tmp_path).split("training")
    assert (hashlib.sha256((tmp_path / "small.csv").read_bytes()).digest(), os.listdir(tmp_path)) == before


def test_relative_paths_start_at_the_base(tmp_path):
    (tmp_path / "data").mkdir()
    options = small_table(tmp_path / "data").replace(path="data/small.csv")
    assert sum(facts(options, tmp_path).samples.values()) == 20
    absolute = options.replace(path=str(tmp_path / "data" / "small.csv"))
    assert facts(absolute, Path("/")) == facts(options, tmp_path)


@pytest.mark.parametrize("source", ["images", "table", "arrays"])
def test_missing_data_is_named_with_the_base(tmp_path, source):
    (tmp_path / "smal.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UserError) as refused:
        facts(DataOptions(source=source, path="small.csv"), tmp_path)
    text = str(refused.value)
    assert str(tmp_path / "small.csv") in text
    assert f"project's folder, {tmp_path}" in text
    assert "Did you mean 'smal.csv'?" in text


def test_no_data_no_path_and_too_large_shares_are_refused(tmp_path):
    with pytest.raises(UserError, match="no data yet"):
        facts(DataOptions(), tmp_path)
    with pytest.raises(UserError, match="choose the CSV, Excel or Parquet file"):
        facts(DataOptions(source="table"), tmp_path)
    with pytest.raises(UserError, match="leave at least 5 %"):
        load(DIGITS.replace(validation_share=0.6, test_share=0.6), tmp_path)


def test_a_path_that_no_file_can_have(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        facts(DataOptions(source="table", path="x" * 4000), tmp_path)
