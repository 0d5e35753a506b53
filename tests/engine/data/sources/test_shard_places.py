"""Shards over the network: a web server with and without ranges, fsspec's protocols, and what must not be told."""

from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from netwright.engine.core.errors import FieldErrors, UserError
from netwright.engine.core.folders import cache_folder
from netwright.engine.data.loading import open_data as loads
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.sources import shard_places, shard_store
from netwright.engine.project.data import DataOptions
from tests.engine.data.sources.shard_files import parquet_pictures, pictures, serving, write_shards, write_tar

ALL = list(range(24))


@pytest.fixture(autouse=True)
def fresh(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty caches, no pauses between tries, and a bucket that may be contacted."""
    monkeypatch.setenv("NETWRIGHT_ALLOWED_HOSTS", "s3://bucket 127.0.0.1:1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr(shard_places, "PAUSE_S", 0)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("_OUTLINES", "_FITTED", "_SAMPLES"):
        monkeypatch.setattr(loads, name, loads._Kept())


def options(path: str, **values: Any) -> DataOptions:
    return DataOptions(source="shards", path=path, validation_share=0.0, test_share=0.0, **values)


def levels(given: DataOptions, folder: Path) -> list[int]:
    """The level of grey of each sample, which is its number."""
    inputs = load(given, folder, is_streamed=True).split("training").inputs[0][:]
    return np.rint(inputs.mean(axis=(1, 2, 3))).astype(int).tolist()


def kept() -> list[Path]:
    return list((cache_folder() / "shards" / "data").iterdir())


@pytest.mark.parametrize("has_ranges", [True, False])
def test_a_server_is_asked_for_each_shard_once(tmp_path: Path, *, has_ranges: bool) -> None:
    pattern = write_shards(tmp_path)
    with serving(tmp_path, has_ranges=has_ranges) as server:
        given = options(f"{server.url}/{pattern}")
        assert levels(given, tmp_path) == levels(given, tmp_path) == ALL
        assert sorted(server.asked("GET")) == [f"/train-{number:04d}.tar" for number in range(4)]
        assert len(kept()) == 4


@pytest.mark.parametrize("has_ranges", [True, False])
def test_a_lost_connection_is_taken_up(tmp_path: Path, *, has_ranges: bool) -> None:
    pattern = write_shards(tmp_path, 1, 24)
    with serving(tmp_path, has_ranges=has_ranges) as server:
        server.cut_at = [700, 3000]
        assert levels(options(f"{server.url}/{pattern}"), tmp_path) == ALL
        asked = [wanted for method, _, wanted in server.requests if method == "GET"]
        size = (tmp_path / "train-0000.tar").stat().st_size
        assert asked[:2] == ["", f"bytes=700-{size - 1}"]
        assert len(asked) == 3


def test_a_server_that_stays_away_is_named_with_the_way_out(tmp_path: Path) -> None:
    write_shards(tmp_path, 1)
    with serving(tmp_path) as server:
        server.cut_at = [100] * shard_places.TRIES
        with pytest.raises(UserError, match=r"train-0000\.tar cannot be read: 4 tries failed.*resume RUN"):
            facts(options(f"{server.url}/train-0000.tar?token=geheim"), tmp_path)
        for code, words in ((404, "no such file"), (403, "refuses it"), (503, "4 tries failed.*503")):
            server.code = code
            with pytest.raises(UserError, match=words) as caught:
                facts(options(f"{server.url}/train-0000.tar?token=geheim"), tmp_path)
            assert "geheim" not in str(caught.value)


def test_a_shard_that_changed_on_the_server_is_refused(tmp_path: Path) -> None:
    write_shards(tmp_path, 1)
    with serving(tmp_path) as server:
        inputs = load(options(f"{server.url}/train-0000.tar"), tmp_path, is_streamed=True).split("training").inputs[0]
        kept()[0].unlink()
        write_tar(tmp_path / "train-0000.tar", pictures(1, 6))
        with pytest.raises(UserError, match="has changed since the run began"):
            inputs[:]


def test_the_cache_stays_within_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = write_shards(tmp_path)
    size = (tmp_path / "train-0000.tar").stat().st_size
    real = shard_store.ShardStore.__init__

    def small(self: Any, shards: Any, cache_bytes: int, *rest: Any) -> None:
        real(self, shards, 2 * size, *rest)

    monkeypatch.setattr(shard_store.ShardStore, "__init__", small)
    with serving(tmp_path) as server:
        for window, whole in ((2, True), (4, False)):
            server.requests.clear()
            monkeypatch.setattr(loads, "_OUTLINES", loads._Kept())
            given = options(f"{server.url}/{pattern}", shuffle_window=window)
            assert levels(given, tmp_path) == ALL
            assert sum(path.stat().st_size for path in kept()) <= 2 * size
            assert any(wanted for *_, wanted in server.requests) != whole, "single members only where nothing else fits"
        monkeypatch.setattr(shard_places, "read_range", None)
        small_cache = shard_store.ShardStore((shard_places.Shard(f"{server.url}/x.tar", 3 * size, ""),), 0, 1)
        with pytest.raises(UserError, match=r"x\.tar has .*; the shard cache holds .*data\.shard_cache"):
            small_cache.index(0)


def test_parquet_files_of_a_server_are_converted_and_not_kept_twice(tmp_path: Path) -> None:
    parquet_pictures(tmp_path / "a.parquet", 10)
    with serving(tmp_path) as server:
        assert levels(options(f"{server.url}/a.parquet"), tmp_path) == list(range(10))
        assert server.asked("GET") == ["/a.parquet"]
    assert len(kept()) == 1


class Bucket(MemoryFileSystem):  # type: ignore[misc]
    """A stand-in for s3fs: files in memory behind s3://."""

    protocol = "s3"
    store: dict[str, Any] = {}
    pseudo_dirs = [""]

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return super()._strip_protocol(path.removeprefix("s3://"))


def test_a_bucket_is_read_through_fsspec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fsspec, "filesystem", lambda protocol: Bucket())
    write_shards(tmp_path)
    for path in tmp_path.glob("*.tar"):
        Bucket().pipe_file(f"s3://bucket/{path.name}", path.read_bytes())
    assert levels(options("s3://bucket/train-*.tar"), tmp_path) == ALL
    assert levels(options("s3://bucket/train-{0001..0002}.tar"), tmp_path) == ALL[6:18]
    with pytest.raises(UserError, match=r"s3://bucket/none\.tar cannot be read: there is no such file"):
        facts(options("s3://bucket/none.tar"), tmp_path)


def test_a_missing_library_is_named_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(protocol: str) -> Any:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec, "filesystem", missing)
    with pytest.raises(UserError, match=r"behind s3:// needs s3fs, which is not installed") as caught:
        facts(options("s3://bucket/a.tar"), tmp_path)
    assert caught.value.hint == "Install it: pip install s3fs"


def test_errors_of_libraries_do_not_tell_what_they_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(Bucket):
        def info(self, path: str, **rest: Any) -> Any:
            raise RuntimeError("key=geheim")

    monkeypatch.setattr(fsspec, "filesystem", lambda protocol: Failing())
    with pytest.raises(UserError, match="fails with RuntimeError") as caught:
        facts(options("s3://bucket/a.tar"), tmp_path)
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("ftp://host/a.tar", "not read by ftp://. Use one of: http, https, s3, gs, abfs, file"),
        ("memory://a.tar", "not read by memory://"),
        ("https://me:geheim@host/a.tar", "https://host/a.tar is given with a user or password"),
        ("https://[host/a.tar", "no URL"),
    ],
)
def test_places_that_are_not_read(tmp_path: Path, path: str, words: str) -> None:
    with pytest.raises(FieldErrors) as caught:
        facts(options(path), tmp_path)
    assert words in str(caught.value)
    assert "geheim" not in str(caught.value)


def test_a_web_server_does_not_list(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not list its files"):
        facts(options("http://127.0.0.1:1/*.tar"), tmp_path)
