"""The state of files: what changed since is named, copies do not count, nothing of a stranger's record is believed."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from netwright.engine.runs import data_files
from netwright.engine.runs.data_files import DataPlace, pack, unpack


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("cat/1.png", "cat/2.png", "cat/3.png", "dog/1.png", "dog/2.png", ".hidden/x", "dog/.x", "notes.txt"):
        path = tmp_path / "pets" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        os.utime(path, ns=(1_000, 1_000))
    return tmp_path / "pets"


def seen(folder: Path) -> DataPlace:
    return DataPlace.look("path", folder, [".png"])


def test_only_the_files_that_count_are_recorded(folder):
    place = seen(folder)
    assert list(place.listing or {}) == ["cat/1.png", "cat/2.png", "cat/3.png", "dog/1.png", "dog/2.png"]
    assert (place.files, place.bytes, place.content.is_whole) == (5, 45, True)
    (folder / "notes.txt").write_text("other")
    (folder / "dog" / ".y").touch()
    assert place.changes() == ""


def test_the_record_survives_json(folder):
    (folder / "cat" / os.fsdecode(b"b\xffd\n.png")).touch()
    place = seen(folder)
    assert DataPlace.read(place.write()) == place
    assert place.changes() == ""


def test_what_changed_is_named(folder):
    place = seen(folder)
    (folder / "cat/3.png").write_text("cat/4.png")  # as long
    (folder / "dog/1.png").write_text("longer than before")
    (folder / "cat/1.png").unlink()
    (folder / "cat/2.png").unlink()
    (folder / "dog/9.png").touch()
    assert place.changes() == (
        f"5 of 5 files in {folder}: cat/3.png is newer; dog/1.png has 18 bytes instead of 9; "
        "2 are gone (cat/1.png, cat/2.png); 1 is new (dog/9.png)."
    )


def test_files_that_were_copied_or_touched_count_as_unchanged(folder):
    place = seen(folder)
    for file in folder.glob("*/*.png"):
        os.utime(file)
    assert place.changes() == ""


def test_times_alone_count_where_contents_were_not_hashed_as_a_whole(folder, monkeypatch):
    monkeypatch.setattr(data_files, "WHOLE_FILES", 2)
    place = seen(folder)
    os.utime(folder / "dog/2.png", ns=(0, 0))
    same = "The contents that were looked at are the same."
    assert place.changes() == f"1 of 5 files in {folder}: dog/2.png is older. {same}"


def test_other_contents_behind_the_same_names_sizes_and_times_are_found(folder):
    place = seen(folder)
    (folder / "dog/2.png").write_text("dog/3.png")
    os.utime(folder / "dog/2.png", ns=(1_000, 1_000))
    expected = f"The files of {folder} have the same names, sizes and times as before, and other contents."
    assert place.changes() == expected


def test_a_file_is_named_with_its_path(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("a,b\n1,2\n")
    place = DataPlace.look("path", file)
    file.write_text("a,b\n1,2\n3,4\n")
    assert place.changes() == f"{file} has 12 bytes instead of 8."
    file.unlink()
    assert place.changes() == f"{file} is gone."


def test_a_large_file_is_sampled_from_its_first_to_its_last_byte(tmp_path, monkeypatch):
    monkeypatch.setattr(data_files, "WHOLE_BYTES", 10)
    monkeypatch.setattr(data_files, "SAMPLED_BYTES", 4)
    monkeypatch.setattr(data_files, "SAMPLED_PLACES", 3)
    file = tmp_path / "a.npy"
    file.write_bytes(b"aaaa----bbbb----cccc")
    contents = [DataPlace.look("path", file).content]
    for text in (b"aaaa----bbbb----cccd", b"aaax----bbbb----cccc", b"aaaa----bbbx----cccc"):
        file.write_bytes(text)
        contents.append(DataPlace.look("path", file).content)
    assert len({content.sha256 for content in contents}) == 4
    assert contents[0].bytes == 12
    assert not contents[0].is_whole


def test_too_many_files_are_compared_by_subfolder(folder, monkeypatch):
    monkeypatch.setattr(data_files, "MOST_LISTED", 4)
    place = seen(folder)
    assert place.listing is None
    assert DataPlace.read(place.write()) == place
    (folder / "cat/3.png").write_text("other")
    (folder / "dog/3.png").touch()
    (folder / "new").mkdir()
    (folder / "new/1.png").touch()
    assert place.changes() == (
        f"In {folder}, of 5 files: files in cat/ have other names, sizes or times; dog/ has 3 files instead of 2; "
        "new/ is new."
    )


def test_links_in_a_ring_end(folder):
    (folder / "cat" / "up").symlink_to(folder)
    (folder / "cat" / "here").symlink_to(folder / "cat")
    (folder / "gone.png").symlink_to(folder / "nowhere")
    names = list(seen(folder).listing or {})
    assert names.count("dog/1.png") == 1
    assert "gone.png" in names
    assert len(names) < 12


def test_a_record_that_names_a_huge_folder_does_not_have_all_of_it_read(folder, monkeypatch):
    monkeypatch.setattr(data_files, "SPARE_ENTRIES", 3)
    place = replace(seen(folder), files=0)
    assert place.changes() == f"{folder} cannot be read: it has more than 3 files and folders, many more than before."


@pytest.mark.parametrize("text", ["", "no base64!", "AAAA", pack(b"x" * 100)[:-8]])
def test_damaged_packed_values_are_refused(text):
    with pytest.raises(ValueError, match=r"packed"):
        unpack(text)


def test_packed_values_are_unpacked_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(data_files, "UNPACKED_LIMIT", 1000)
    assert unpack(pack(bytes(1000))) == bytes(1000)
    with pytest.raises(ValueError, match=r"packed"):
        unpack(pack(bytes(1001)))
