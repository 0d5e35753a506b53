"""Tables, arrays and images behind URLs: fsspec's file systems in memory, a web server, and what must not be told."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from netwright.engine.cli.main import main
from netwright.engine.core.errors import FieldErrors, UserError
from netwright.engine.core.folders import cache_folder
from netwright.engine.data.loading import open_data as loads
from netwright.engine.data.loading.data_places import record, remote_changes
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.loading.open_data import options_for
from netwright.engine.data.sources import remote_files, shard_places
from netwright.engine.data.sources.shard_places import Shard
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import load as load_project
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.runs.data_record import DataRecord
from tests.builders import classifier
from tests.engine.data.sources.shard_files import jpeg, serving

CSV = "x,y\n" + "".join(f"{number},{'ab'[number % 2]}\n" for number in range(20))


@pytest.fixture(autouse=True)
def fresh(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty caches, no pauses between tries, a network that is asked each time, and a bucket that may be contacted."""
    monkeypatch.setenv("NETWRIGHT_ALLOWED_HOSTS", "s3://bucket")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr(shard_places, "PAUSE_S", 0)
    monkeypatch.setattr(remote_files, "FRESH_S", 0.0)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("_OUTLINES", "_FITTED", "_SAMPLES"):
        monkeypatch.setattr(loads, name, loads._Kept())


@pytest.fixture
def bucket() -> Iterator[MemoryFileSystem]:
    """A file system in memory, which all of this process see."""
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def options(source: str, path: str, **values: Any) -> DataOptions:
    return DataOptions(source=source, path=path, validation_share=0.0, test_share=0.0, **values)


def copies() -> list[Path]:
    return [path for path in (cache_folder() / "remote").glob("*/**/*") if path.is_file() and path.suffix != ".json"]


def changes(given: DataOptions, before: DataRecord) -> tuple[str, ...]:
    """What is told when a run is resumed, whose record went through its file."""
    return remote_changes(given, Path(), DataRecord.read(json.loads(json.dumps(before.write()))))


def test_a_table_of_a_bucket_is_read_once_and_a_change_is_noticed(
    bucket: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.pipe("/lab/train.csv", CSV.encode())
    given = options("table", "memory://lab/train.csv")
    opened: list[str] = []
    open_file = MemoryFileSystem._open

    def noted(self: Any, path: str, *arguments: Any, **values: Any) -> Any:
        opened.append(path)
        return open_file(self, path, *arguments, **values)

    monkeypatch.setattr(MemoryFileSystem, "_open", noted)
    for _ in range(2):
        assert load(given, Path()).split("training").inputs[0][:].ravel().tolist() == list(range(20))
    assert opened == ["/lab/train.csv"]
    [copy] = copies()
    assert (copy.name, copy.stat().st_mode & 0o77) == ("train.csv", 0)

    before = record(given, Path(), {})
    assert [(place.kind, place.path, place.bytes) for place in before.places] == [
        ("remote", "memory://lab/train.csv", len(CSV))
    ]
    assert changes(given, before) == ()
    bucket.pipe("/lab/train.csv", CSV.replace("19,b", "99,b").encode())
    assert changes(given, before) == ("memory://lab/train.csv is another version.",)
    assert load(given, Path()).split("training").inputs[0][:].max() == 99


def test_a_folder_of_images_is_copied_and_only_what_is_new_is_fetched_again(
    bucket: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(8):
        bucket.pipe(f"/lab/pets/{['cat', 'dog'][number % 2]}/{number}.jpg", jpeg(number))
    bucket.pipe("/lab/pets/.hidden/x.jpg", b"")
    given = options("images", "memory://lab/pets", image_size=8)
    found = facts(given, Path())
    assert (found.samples["training"], list(found.targets[0].classes)) == (8, ["cat", "dog"])
    fetched: list[str] = []

    def noted(file: Shard) -> Iterator[bytes]:
        fetched.append(file.shown)
        return shard_places.read_all(file)

    monkeypatch.setattr(remote_files, "read_all", noted)
    bucket.pipe("/lab/pets/cat/8.jpg", jpeg(8))
    assert facts(given, Path()).samples["training"] == 9
    assert [name.rpartition("/")[2] for name in fetched] == ["8.jpg"]


@pytest.mark.parametrize("name", ["a.npz", "arrays/x.npy"])
def test_arrays_of_a_bucket_are_read_with_those_beside(bucket: MemoryFileSystem, tmp_path: Path, name: str) -> None:
    x, y = np.arange(12.0).reshape(6, 2), np.arange(6) % 2
    (tmp_path / "arrays").mkdir()
    np.savez(tmp_path / "a.npz", x=x, y=y)
    np.save(tmp_path / "arrays" / "x.npy", x)
    np.save(tmp_path / "arrays" / "y.npy", y)
    for file in ("a.npz", "arrays/x.npy", "arrays/y.npy"):
        bucket.pipe(f"/lab/{file}", (tmp_path / file).read_bytes())
    given = options("arrays", f"memory://lab/{name}")
    assert np.array_equal(load(given, Path()).split("training").inputs[0][:], x)


def test_files_by_url_and_splits_in_folders(bucket: MemoryFileSystem, tmp_path: Path) -> None:
    (tmp_path / "a b.csv").write_text(CSV, encoding="utf-8")
    assert facts(options("table", (tmp_path / "a b.csv").as_uri()), Path()).samples["training"] == 20
    for number in range(12):
        bucket.pipe(f"/lab/{'train' if number < 8 else 'val'}/{'ab'[number % 2]}/{number}.jpg", jpeg(number))
    given = DataOptions(source="images", path="memory://lab", image_size=8, split="folders", test_share=0.0)
    assert facts(given, Path()).samples == {"training": 8, "validation": 4, "test": 0}


def test_a_web_server_is_asked_for_what_has_changed(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text(CSV, encoding="utf-8")
    with serving(tmp_path) as server:
        given = options("table", f"{server.url}/train.csv?token=secret")
        before = record(given, Path(), {})
        assert facts(given, Path()).samples["training"] == 20
        assert len(server.asked("GET")) == 1
        assert before.places[0].path == f"{server.url}/train.csv"
        assert "secret" not in json.dumps(before.write())
        (tmp_path / "train.csv").write_text(CSV + "20,a\n", encoding="utf-8")
        os.utime(tmp_path / "train.csv", (0, 0))
        assert "bytes instead of" in changes(given, before)[0]
        assert facts(given, Path()).samples["training"] == 21


def test_errors_name_the_url_and_no_secret(bucket: MemoryFileSystem, tmp_path: Path) -> None:
    bucket.pipe("/lab/bad.csv", b"x,y\n1,2\n3\n")
    with pytest.raises(UserError, match=r"memory://lab/bad\.csv") as wrong:
        load(options("table", "memory://lab/bad.csv"), Path())
    assert str(cache_folder()) not in str(wrong.value)
    with pytest.raises(UserError, match=r"memory://lab/none\.csv cannot be read: there is no such file"):
        facts(options("table", "memory://lab/none.csv"), Path())
    with serving(tmp_path) as server:
        server.code = 403
        with pytest.raises(UserError, match=r"/a\.csv cannot be read: .*refuses it \(403\)") as refused:
            facts(options("table", f"{server.url}/a.csv?token=secret"), Path())
        assert "secret" not in str(refused.value)
        with pytest.raises(UserError, match="does not list the files of a folder"):
            facts(options("images", f"{server.url}/pets/"), Path())


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("s3://me:key@bucket/a.csv", "user or password, which a project must not hold"),
        ("sftp://me:key@host/a.csv", "user or password"),
        ("nfs://host/a.csv", "are not read by nfs://. Use one of: http"),
    ],
)
def test_urls_that_a_project_must_not_have_are_refused(path: str, message: str) -> None:
    with pytest.raises(FieldErrors, match=message) as refused:
        facts(options("table", path), Path())
    assert "key" not in str(refused.value)


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(protocol: str) -> None:
        raise ImportError

    monkeypatch.setattr(fsspec, "filesystem", missing)
    with pytest.raises(UserError, match=r"Data behind s3:// needs s3fs, .* pip install s3fs"):
        facts(options("table", "s3://bucket/a.csv"), Path())


def test_access_that_is_denied_says_where_credentials_belong(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed(MemoryFileSystem):  # type: ignore[misc]  # fsspec has no types
        cachable = False

        def info(self, path: str, **_: Any) -> Any:
            raise PermissionError("AccessKey AKIA123")

    monkeypatch.setattr(fsspec, "filesystem", lambda protocol: Closed())
    with pytest.raises(UserError, match="may not be read; set credentials in the environment") as refused:
        facts(options("table", "s3://bucket/a.csv"), Path())
    assert "AKIA" not in str(refused.value)


def test_unused_copies_make_room_for_new_ones(bucket: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        bucket.pipe(f"/lab/{name}.csv", CSV.encode())
    facts(options("table", "memory://lab/a.csv"), Path())
    facts(options("table", "memory://lab/b.csv"), Path())
    [old] = [path for path in copies() if path.name == "a.csv"]
    os.utime(old.parent, (0, 0))
    monkeypatch.setattr(remote_files, "MOST_BYTES", 2 * len(CSV))
    facts(options("table", "memory://lab/c.csv"), Path())
    assert sorted(path.name for path in copies()) == ["b.csv", "c.csv"]
    monkeypatch.setattr(remote_files, "SPARE_BYTES", 2**62)
    bucket.pipe("/lab/d.csv", CSV.encode())
    with pytest.raises(UserError, match="Set XDG_CACHE_HOME to a folder with room"):
        facts(options("table", "memory://lab/d.csv"), Path())


def test_the_kind_of_data_behind_a_url_is_guessed(bucket: MemoryFileSystem) -> None:
    bucket.pipe("/lab/train.csv", CSV.encode())
    for number in range(4):
        bucket.pipe(f"/lab/pets/{'ab'[number % 2]}/{number}.jpg", jpeg(number))
    for text, source in (("memory://lab/train.csv", "table"), ("memory://lab/pets", "images")):
        found, _ = options_for(text)
        assert (found.source, found.path) == (source, text)
    assert options_for("s3://bucket/train-{0..3}.tar")[0].source == "shards"


def test_check_reads_nothing_over_the_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.netwright"
    save(Project(classifier(), data=options("table", "s3://bucket/train.csv")), path)
    assert main(["check", str(path)]) == 0
    assert "was not looked at" in "".join(capsys.readouterr())


def test_a_project_is_made_for_data_behind_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.csv").write_text(CSV, encoding="utf-8")
    with serving(tmp_path) as server:
        assert main(["new", "--data", f"{server.url}/train.csv"]) == 0
        project = load_project(tmp_path / "train.netwright").project
        assert (project.data.source, project.data.path) == ("table", f"{server.url}/train.csv")
