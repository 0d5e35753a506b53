"""Checkpoints: any damage is found, an older one takes the place of a damaged one, the last few are kept."""

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.runs.checkpoint_files import (
    FILES,
    MANIFEST,
    Checkpoint,
    all_checkpoints,
    beside,
    newest_whole,
    place,
    put_in_place,
    write_manifest,
)
from netwright.engine.runs.folder import RunFolder


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


def make(run: RunFolder, iteration: int, *, kept: int = 9) -> Checkpoint:
    written = beside(run, iteration)
    written.mkdir(parents=True)
    for name in FILES:
        (written / name).write_bytes(f"{name} of {iteration}".encode() * 20)
    write_manifest(written, iteration)
    put_in_place(run, iteration, kept)
    return Checkpoint(place(run, iteration), iteration)


def test_every_flipped_bit_is_found(run: RunFolder) -> None:
    """Of the manifest those that change its meaning: between two items may stand one space or another."""
    one = make(run, 7)
    assert one.damage() == ""
    draw = random.Random(3)
    for name in FILES:
        file = one.path / name
        whole = file.read_bytes()
        for _ in range(100):
            bit = draw.randrange(8 * len(whole))
            data = bytearray(whole)
            data[bit // 8] ^= 1 << bit % 8
            file.write_bytes(data)
            assert one.damage() == f"{name} is not what was saved"
        file.write_bytes(whole)
    manifest = one.path / MANIFEST
    whole = manifest.read_bytes()
    for at in [i for i, byte in enumerate(whole) if chr(byte).isalnum()]:
        manifest.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert one.damage()


@pytest.mark.parametrize("name", [*FILES, MANIFEST])
@pytest.mark.parametrize("content", [b"", b"{", b"\xff\x00" * 50, b"[" * 100_000, None])
def test_the_one_before_takes_the_place_of_a_damaged_one(run: RunFolder, name: str, content: bytes | None) -> None:
    older, newest = make(run, 5), make(run, 10)
    file = newest.path / name
    file.unlink() if content is None else file.write_bytes(content)
    found, refused = newest_whole(run)
    assert found == older
    assert len(refused) == 1
    assert refused[0].startswith("The checkpoint of iteration 10 is damaged (")


def test_one_of_another_iteration_is_not_taken_for_this(run: RunFolder) -> None:
    make(run, 5).path.rename(place(run, 6))
    assert newest_whole(run) == (
        None,
        ["The checkpoint of iteration 6 is damaged (it is one of iteration 5) and is not used."],
    )


def test_the_last_few_are_kept_and_those_of_a_try_that_was_given_up_go(run: RunFolder) -> None:
    for iteration in (5, 10, 15, 20):
        make(run, iteration, kept=3)
    assert [one.iteration for one in all_checkpoints(run)] == [20, 15, 10]
    make(run, 12, kept=3)
    assert [one.iteration for one in all_checkpoints(run)] == [12, 10]
    make(run, 12, kept=3)
    assert newest_whole(run)[0] == Checkpoint(place(run, 12), 12)


def test_what_stands_beside_and_other_folders_are_none(run: RunFolder) -> None:
    assert newest_whole(run) == (None, [])
    beside(run, 5).mkdir(parents=True)
    (run.checkpoints / "notes").mkdir()
    assert all_checkpoints(run) == []


@pytest.mark.parametrize(
    "changed",
    [{"version": "x"}, {"iteration": "x"}, {"iteration": None}, {"files": dict.fromkeys(FILES, 5)}, {"files": []}, {}],
)
def test_a_strange_manifest_whose_checksum_fits_is_damage(tmp_path: Path, changed: dict[str, Any]) -> None:
    folder = RunFolder(tmp_path)
    path = place(folder, 7)
    path.mkdir(parents=True)
    for name in FILES:
        (path / name).write_text(name)
    write_manifest(path, 7)
    assert newest_whole(folder)[0] is not None
    body = json.loads((path / "manifest.json").read_text())
    body.pop("sha256" if changed else "version")
    body |= changed
    sha256 = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()  # it fits, as a stranger's would
    (path / "manifest.json").write_text(json.dumps({**body, "sha256": sha256}))
    checkpoint, refused = newest_whole(folder)
    assert checkpoint is None
    assert "manifest.json is not what was saved" in refused[0]


def test_a_link_among_the_checkpoints_leads_nowhere(run: RunFolder, tmp_path: Path) -> None:
    """A stranger's run folder: what is removed or written there is the link, never what it leads to."""
    goal = tmp_path / "goal"
    goal.mkdir()
    (goal / "thesis.txt").write_text("important")
    run.checkpoints.mkdir()
    for path in (place(run, 7), place(run, 14), run.checkpoints / f".{place(run, 14).name}.gone.tmp"):
        path.symlink_to(goal)
    assert newest_whole(run)[0] is None
    make(run, 14)
    make(run, 21, kept=1)
    assert [one.iteration for one in all_checkpoints(run)] == [21]
    assert sorted(path.name for path in run.checkpoints.iterdir()) == [place(run, 21).name]
    assert (goal / "thesis.txt").read_text() == "important"
    assert [path.name for path in goal.iterdir()] == ["thesis.txt"]
