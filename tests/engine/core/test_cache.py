"""Entries of the cache folder: made once, whole, within limits, and made anew where they are damaged."""

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from netwright.engine.core.cache import LEFT_BEHIND_S, Cache
from netwright.engine.core.errors import UserError
from netwright.engine.core.folders import cache_folder

CACHE = Cache("things", "Things are kept in")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def obtain(cache: Cache, name: str, text: str = "text", size: int = 0) -> str:
    return cache.obtain(cache.entry(name), Path.read_text, lambda path: path.write_text(text), f"Thing {name}", size)


def names(cache: Cache) -> list[str]:
    return sorted(path.name for path in cache.folder.iterdir())


def use(cache: Cache, name: str, seconds_ago: float) -> None:
    when = time.time() - seconds_ago
    os.utime(cache.entry(name), (when, when))


def test_an_entry_is_made_once_and_marked_as_used() -> None:
    assert obtain(CACHE, "a", "first") == "first"
    use(CACHE, "a", 1000)
    assert obtain(CACHE, "a", "second") == "first"
    assert time.time() - CACHE.entry("a").stat().st_mtime < 500
    if sys.platform != "win32":
        assert CACHE.folder.stat().st_mode & 0o77 == 0


def test_keys_are_told_apart() -> None:
    assert len({CACHE.entry(*key) for key in [("a",), ("b",), ("a", 1), ("a", "1"), (), ("\udc80",)]}) == 6


def test_a_damaged_entry_is_made_anew() -> None:
    def read(path: Path) -> int:
        return int((path / "number").read_text())

    def write(path: Path) -> None:
        path.mkdir()
        (path / "number").write_text("7")

    entry = CACHE.entry("folder")
    assert CACHE.obtain(entry, read, write, "A folder") == 7
    (entry / "number").write_text("damaged")
    assert CACHE.obtain(entry, read, write, "A folder") == 7


def test_what_was_not_written_to_its_end_is_no_entry() -> None:
    def write(path: Path) -> None:
        path.mkdir()
        (path / "half").touch()
        raise UserError("The source is damaged.")

    with pytest.raises(UserError, match="The source is damaged"):
        CACHE.obtain(CACHE.entry("a"), Path.read_text, write, "Thing a")
    assert names(CACHE) == []


def test_threads_that_want_the_same_entry_wait_for_the_first() -> None:
    made: list[Path] = []
    is_wanted, results = threading.Barrier(4), []

    def write(path: Path) -> None:
        made.append(path)
        path.write_text("whole")

    def work() -> None:
        is_wanted.wait()
        results.append(CACHE.obtain(CACHE.entry("a"), Path.read_text, write, "Thing a"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(made), results) == (1, ["whole"] * 4)


def test_entries_used_least_recently_are_removed() -> None:
    cache = Cache("things", "Things are kept in", most_bytes=10, most_entries=3)
    for age, name in enumerate("cba"):
        obtain(cache, name, "123")
        use(cache, name, 100 * (3 - age))
    obtain(cache, "d", "123", size=3)
    assert names(cache) == sorted(cache.entry(name).name for name in "bad")
    obtain(cache, "large", "12345678", size=1)
    assert names(cache) == [cache.entry("large").name]


def test_entries_in_use_and_their_open_files_stay() -> None:
    cache = Cache("things", "Things are kept in", most_entries=1, unused_s=50)
    obtain(cache, "recent")
    use(cache, "recent", 20)
    with cache.entry("recent").open() as file:
        obtain(cache, "new")
        assert len(names(cache)) == 2
        use(cache, "recent", 60)
        obtain(cache, "newer")
        if sys.platform != "win32":  # where a file that another program has open cannot be deleted
            assert not cache.entry("recent").exists()
        assert file.read() == "text"


def test_remains_of_killed_processes_are_removed() -> None:
    obtain(CACHE, "a")
    for name, age in (("old", LEFT_BEHIND_S + 1), ("young", 10)):
        (CACHE.folder / f".{name}.tmp").mkdir()
        (CACHE.folder / f".{name}.tmp" / "part").touch()
        os.utime(CACHE.folder / f".{name}.tmp", (time.time() - age,) * 2)
    obtain(CACHE, "b")
    assert [name for name in names(CACHE) if name.endswith("tmp")] == [".young.tmp"]


def test_a_folder_that_cannot_be_used_and_a_full_disk_are_named(tmp_path: Path) -> None:
    full = Cache("things", "Things are kept in", spare_bytes=2**62)
    with pytest.raises(
        UserError, match=r"Thing a needs about 3 B in the cache folder .*things; .* are free\. Set [NX]"
    ):
        obtain(full, "a", size=3)
    (cache_folder() / "files").write_text("no folder")
    with pytest.raises(UserError, match=r"Things are kept in the cache folder, which cannot be used: .*Set [NX]"):
        obtain(Cache("files", "Things are kept in"), "a")
