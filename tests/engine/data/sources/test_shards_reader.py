"""Shards on disk: tar files as WebDataset writes them, and Parquet files."""

import json
import os
import pickle
import tarfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading import open_data as loads
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.loading.preview_data import preview
from netwright.engine.data.sources import shard_index
from netwright.engine.data.sources.shards_reader import ShardReader
from netwright.engine.project.data import DataOptions
from netwright.engine.project.sources.shards import expand
from tests.engine.data.sources.shard_files import jpeg, npy, pictures, write_shards, write_tar


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    for name in ("_OUTLINES", "_FITTED", "_SAMPLES"):
        monkeypatch.setattr(loads, name, loads._Kept())


def options(path: str, **values: Any) -> DataOptions:
    return DataOptions(source="shards", path=path, validation_share=0.0, test_share=0.0, **values)


def levels(folder: Path, given: DataOptions, *, is_streamed: bool = True) -> list[int]:
    """The level of grey of each sample, which is its number."""
    inputs = load(given, folder, is_streamed=is_streamed).split("training").inputs[0][:]
    return np.rint(inputs.mean(axis=(1, 2, 3))).astype(int).tolist()


@pytest.mark.parametrize("path", ["train-{0000..0003}.tar", "train-*.tar", ".", "train-{0000,0001,0002,0003}.tar"])
def test_samples_of_all_shards_come_in_order(tmp_path: Path, path: str) -> None:
    write_shards(tmp_path)
    given = options(path)
    found = facts(given, tmp_path)
    assert (found.inputs[0].name, found.inputs[0].type.sizes, found.inputs[0].span) == (
        "image",
        (3, 8, 8),
        (0.0, 255.0),
    )
    assert found.samples["training"] == 24
    assert found.classes == ("0", "1", "2")
    assert levels(tmp_path, given) == levels(tmp_path, given, is_streamed=False) == list(range(24))
    assert load(given, tmp_path).targets[0].tolist() == [number % 3 for number in range(24)]


def test_a_file_url_is_a_path(tmp_path: Path) -> None:
    write_shards(tmp_path)
    assert levels(tmp_path, options(f"file://{tmp_path}/train-0001.tar")) == list(range(6, 12))


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_every_form_of_tar_with_long_names_and_other_members(tmp_path: Path, form: int) -> None:
    deep = "/".join(["long" * 10] * (3 if form == tarfile.USTAR_FORMAT else 6))
    members = {f"{deep}/{name}": content for name, content in pictures(0, 2).items()}
    members |= {"__meta__.json": b"{}", ".hidden.jpg": b"", "README": b"no sample"}
    with tarfile.open(write_tar(tmp_path / "a.tar", members, form), "a", format=form) as file:
        file.addfile(tarfile.TarInfo("folder.d/"))
        link = tarfile.TarInfo("9.jpg")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        file.addfile(link)
    assert levels(tmp_path, options("a.tar")) == [0, 1]


def test_targets_are_named_by_suffix_or_by_key(tmp_path: Path) -> None:
    write_shards(tmp_path, 2)
    numbers = load(options("train-*.tar", response="json:size", task="numbers"), tmp_path)
    assert numbers.targets[0][:, 0].tolist() == [number / 4 for number in range(12)]
    assert facts(options("train-*.tar", response="json:name"), tmp_path).classes == ("x", "y")
    with pytest.raises(UserError, match=r"no key 'sise'.* It has: size, name"):
        facts(options("train-*.tar", response="json:sise"), tmp_path)
    with pytest.raises(UserError, match=r"name the key of the target: data.response=json:size"):
        facts(options("train-*.tar", response="json"), tmp_path)
    with pytest.raises(UserError, match=r"has no members cla .*Did you mean.*cls"):
        facts(options("train-*.tar", response="cla"), tmp_path)


def test_arrays_are_inputs_and_targets(tmp_path: Path) -> None:
    drawn = np.random.default_rng(0).normal(size=(5, 4, 3))
    members = {}
    for number, values in enumerate(drawn):
        members[f"{number}.x.npy"] = npy(values)
        members[f"{number}.y.npy"] = npy(values[0] * 2)
    write_tar(tmp_path / "a.tar", members)
    given = options("a.tar", sample_input="x.npy", response="y.npy")
    assert facts(given, tmp_path).inputs[0].type.axes == ("T", "C")
    data = load(given, tmp_path, is_streamed=True)
    np.testing.assert_array_equal(data.split("training", [0]).inputs[0][:], drawn)
    np.testing.assert_allclose(data.targets[0], drawn[:, 0] * 2, rtol=1e-6)


def parquet_of(folder: Path, **columns: Any) -> str:
    pq.write_table(pa.table(columns), folder / "a.parquet", row_group_size=4)
    return "a.parquet"


def test_parquet_rows_of_pictures_lists_and_numbers(tmp_path: Path) -> None:
    labels = ["x", "y"] * 5
    held = [{"bytes": jpeg(number), "path": None} for number in range(10)]
    assert levels(tmp_path, options(parquet_of(tmp_path, image=held, label=labels))) == list(range(10))
    lists = [[number, number / 2] for number in range(10)]
    given = options(parquet_of(tmp_path, values=lists, more=["?"] * 10, label=labels))
    assert load(given, tmp_path).split("training").inputs[0].tolist() == lists
    given = options(parquet_of(tmp_path, a=range(10), b=[0.5] * 10, y=[number / 7 for number in range(10)]))
    data = load(given, tmp_path, is_streamed=True)
    assert data.facts.inputs[0].columns == ("a", "b")
    assert data.split("training").inputs[0][:].tolist() == [[number, 0.5] for number in range(10)]
    assert data.facts.targets[0].task == "numbers"
    with pytest.raises(UserError, match=r"no column 'z' to predict.* Its columns are: a, b, y"):
        facts(given.replace(response="z"), tmp_path)


def test_a_gap_in_a_parquet_file_names_its_row(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"Row 3 of .*a\.parquet lacks a, b"):
        facts(options(parquet_of(tmp_path, a=[1.0, 2, None, 4], b=[1.0] * 4, label=[0, 1, 0, 1])), tmp_path)
    with pytest.raises(UserError, match="lacks the response 'label' of row 2"):
        facts(options(parquet_of(tmp_path, a=[1.0, 2, 3, 4], label=[0, None, 0, 1])), tmp_path)


def test_an_index_is_made_once_and_anew_when_the_shard_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from netwright.engine.data.sources import shard_store

    write_shards(tmp_path, 2)
    made: list[str] = []
    real = shard_index.index_tar

    def counted(file: BinaryIO, shown: str) -> shard_index.ShardIndex:
        made.append(Path(shown).name)
        return real(file, shown)

    monkeypatch.setattr(shard_store, "index_tar", counted)
    for _ in range(2):
        monkeypatch.setattr(loads, "_OUTLINES", loads._Kept())
        facts(options("train-*.tar"), tmp_path)
    assert sorted(made) == ["train-0000.tar", "train-0001.tar"]
    write_tar(tmp_path / "train-0001.tar", pictures(50, 7))
    assert facts(options("train-*.tar"), tmp_path).samples["training"] == 13
    assert made[2:] == ["train-0001.tar"]


def test_a_shard_that_changes_while_it_is_read_is_named(tmp_path: Path) -> None:
    write_shards(tmp_path, 1)
    inputs = load(options("train-0000.tar"), tmp_path, is_streamed=True).split("training").inputs[0]
    os.utime(tmp_path / "train-0000.tar", ns=(1, 1))
    with pytest.raises(UserError, match=r"train-0000\.tar has changed since the run began"):
        inputs[:]


def test_damage_is_named(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "a.tar", pictures(0, 3))
    whole = path.read_bytes()
    for content, words in (
        (whole[:900], r"a\.tar is no tar file, or a damaged one: it ends in the middle of its member some/000000.jpg"),
        (whole[:100], "it ends in the middle of a header, at byte 0"),
        (b"x" * 4096, "no header of a member stands at byte 0"),
        (b"\x1f\x8b" + whole, "is compressed"),
        (b"\0" * 1024, "has no samples"),
    ):
        path.write_bytes(content)
        with pytest.raises(UserError, match=words):
            facts(options("a.tar"), tmp_path)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    members = pictures(0, 3)
    del members["some/000001.cls"]
    write_tar(tmp_path / "a.tar", members)
    with pytest.raises(UserError, match=r"a\.tar lacks the member some/000001\.cls"):
        facts(options("a.tar"), tmp_path)
    write_tar(tmp_path / "b.tar", {"1.jpg": jpeg(1), "2.jpg": jpeg(2)})
    with pytest.raises(UserError, match=r"b\.tar has no members cls, json, txt with the target"):
        facts(options("b.tar"), tmp_path)
    with pytest.raises(UserError, match=r"no file or folder .*c-3\.tar"):
        facts(options("c-{3..4}.tar"), tmp_path)
    with pytest.raises(UserError, match=r"There is no \.tar or \.parquet file at \*\.none"):
        facts(options("*.none"), tmp_path)


def test_a_damaged_picture_is_named_and_previewed_without(tmp_path: Path) -> None:
    members = {**pictures(0, 3), "some/000001.jpg": b"no picture"}
    write_tar(tmp_path / "a.tar", members)
    with pytest.raises(UserError, match=r"some/000001 of .*a\.tar cannot be used: it is not a picture"):
        levels(tmp_path, options("a.tar"))


def test_limits_are_those_of_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_shards(tmp_path, 1)
    for name, least, words in (
        ("MOST_MEMBERS", 5, "more than 5 members"),
        ("MOST_SUFFIXES", 2, "more than 2 different suffixes"),
        ("MOST_MEMBER_BYTES", 100, "at most 100"),
        ("MOST_LABELS_BYTES", 10, "of targets"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(shard_index, name, least)
            with pytest.raises(UserError, match=words):
                facts(options("train-0000.tar"), tmp_path)
    with pytest.raises(UserError, match="at most 100,000"):
        expand("{0..9999}{0..9999}")
    assert expand("a{08..10}{x,y}") == ["a08x", "a08y", "a09x", "a09y", "a10x", "a10y"]


def test_names_that_lead_elsewhere_write_nothing(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    write_tar(inside / "a.tar", {f"../../{name}": content for name, content in pictures(0, 2).items()})
    assert levels(inside, options("a.tar")) == [0, 1]
    assert [entry.name for entry in tmp_path.iterdir()] == ["inside"]


def test_a_reader_in_another_process_reads_the_same(tmp_path: Path) -> None:
    write_shards(tmp_path, 2)
    (reader,) = load(options("train-*.tar"), tmp_path, is_streamed=True).inputs
    assert isinstance(reader, ShardReader)
    chosen = np.array([7, 0, 3])
    out = np.empty((3, *reader.shape[1:]), np.float32)
    pickle.loads(pickle.dumps(reader)).read(chosen, out)
    assert np.rint(out.mean(axis=(1, 2, 3))).tolist() == [7, 0, 3]
    assert reader.name_of(7) == f"some/000007 of {tmp_path}/train-0001.tar"


def test_a_preview_shows_pictures(tmp_path: Path) -> None:
    write_shards(tmp_path, 2)
    look = preview(options("train-*.tar"), tmp_path, tmp_path / "look", 3)
    assert json.dumps(look)
    assert len(look["pictures"]) == 3


def test_validation_shards_of_their_own_are_read(tmp_path: Path) -> None:
    write_shards(tmp_path, 2)
    write_tar(tmp_path / "val-0.tar", pictures(100, 3))
    data = load(options("train-*.tar", validation_path="val-{0..0}.tar"), tmp_path, is_streamed=True)
    found = [
        np.rint(data.split(name).inputs[0][:].mean(axis=(1, 2, 3))).tolist() for name in ("training", "validation")
    ]
    assert found == [list(range(12)), [100, 101, 102]]
