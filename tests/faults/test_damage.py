"""Files of a run that broke off, cut short or overwritten: the run goes on as it was, or says what is wrong."""

import contextlib
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.runs.checkpoint_files import all_checkpoints
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.history import list_runs
from netwright.engine.runs.log import read_all
from tests.faults.conftest import project_of
from tests.faults.harness import Workshop, assert_over, leftovers, repetitions
from tests.faults.test_killed import forms
from tests.runs import Done


def cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data))]


def nothing(chance: random.Random, data: bytes) -> bytes:
    return b""


def zeros(chance: random.Random, data: bytes) -> bytes:
    """What some file systems leave of a file after a loss of power."""
    return bytes(len(data))


def noise(chance: random.Random, data: bytes) -> bytes:
    begin = chance.randrange(len(data))
    length = min(len(data) - begin, chance.choice([16, 200, 4096]))
    return data[:begin] + chance.randbytes(length) + data[begin + length :]


def all_noise(chance: random.Random, data: bytes) -> bytes:
    return chance.randbytes(len(data))


def one_bit(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


DAMAGES: tuple[Callable[[random.Random, bytes], bytes], ...] = (cut, nothing, zeros, noise, all_noise, one_bit)


@pytest.fixture(scope="module")
def lost(workshop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run whose coordinator was killed when two checkpoints were there."""
    seam = {"who": "coordinator", "what": "kill", "at": 120}
    run = workshop.train(project_of(), tmp_path_factory.mktemp("lost") / "run", seam=seam)
    run.end()
    assert_over(run)
    assert run.folder.state() == "lost"
    return run.folder


def files_of(folder: RunFolder) -> list[Path]:
    """What matters of its folder.

    The death may have come while a checkpoint was written: a file of it that has no bytes yet cannot be damaged.
    """
    found = [folder.project, folder.info, folder.events]
    return found + [file for file in sorted(folder.checkpoints.rglob("*")) if file.is_file() and file.stat().st_size]


@forms(3, 300)
def test_a_run_with_a_damaged_file(
    workshop: Workshop, lost: RunFolder, alone: Done, tmp_path: Path, times: int
) -> None:
    came_to = {"finished": 0, "refused": 0}
    for number, chance in enumerate(repetitions(5, times)):
        folder = RunFolder(tmp_path / f"run{number}")
        shutil.copytree(lost.path, folder.path)
        file, damage = chance.choice(files_of(folder)), chance.choice(DAMAGES)
        if file == folder.events and damage is one_bit:
            damage = noise  # another digit in a number that is only drawn has no checksum
        what = f"{damage.__name__} of {file.relative_to(folder.path)}, repetition {number}"
        damaged = damage(chance, file.read_bytes())
        file.write_bytes(damaged)
        look_at(folder)
        run = workshop.resume(folder)
        done = run.end()
        said = run.said()
        if "refused" in said:
            came_to["refused"] += 1
            assert str(file) in said["refused"] or file.name in said["refused"], f"{what}: {said['refused']}"
            assert file.read_bytes() == damaged, f"{what}: it is left as it is"
            assert not folder.is_alive()
        else:
            came_to["finished"] += 1
            assert said["result"]["state"] == "finished", f"{what}: {said['result']['reason']}"
            for name in ("best", "last"):
                mine, theirs = (one.path / name / "weights.safetensors" for one in (folder, alone.folder))
                assert mine.read_bytes() == theirs.read_bytes(), f"{what}: the weights of {name}"
            curve = done.curve("training", "loss")
            assert all(curve[step] == alone.losses[step - 1] for step in curve), what
            assert leftovers(folder) == [], what
        shutil.rmtree(folder.path)
    print(came_to)


def test_a_run_without_its_log_goes_on_from_its_checkpoint(
    workshop: Workshop, lost: RunFolder, alone: Done, tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path / "run")
    shutil.copytree(lost.path, folder.path)
    folder.events.unlink()
    newest = all_checkpoints(folder)[0].iteration
    done = workshop.resume(folder).end()
    assert folder.state() == "finished"
    assert list(done.curve("training", "loss")) == list(range(newest + 1, len(alone.losses) + 1))
    mine, theirs = (one.last / "weights.safetensors" for one in (folder, alone.folder))
    assert mine.read_bytes() == theirs.read_bytes()


def look_at(folder: RunFolder) -> None:
    """Every reader of runs comes to an answer."""
    read_all(folder)
    with contextlib.suppress(UserError):
        folder.state()
    assert len(list_runs(folder.path.parent)) >= 1
    assert os.listdir(folder.path)
