"""Shards of two workers, written by threads of this process and read by torch.distributed.checkpoint."""

import errno
from pathlib import Path

import pytest
import torch

from netwright.engine.runs.checkpoint_files import Checkpoint, shard_name
from netwright.engine.runs.events import Checkpointed, Event, Points, Resumed, end_of_saved, standing
from netwright.engine.training import sharded_checkpoints
from netwright.engine.training.checkpoints import read, write_files
from netwright.engine.training.sharded_checkpoints import BackgroundWrite, Piece

WHOLE = torch.arange(15, dtype=torch.float32).view(5, 3)
ITERATION = 7


def save(folder: Path, *, ranks: tuple[int, ...] = (0, 1), finite: bool = True, size: int = 2) -> BackgroundWrite:
    """Write the first three rows as worker 0, which writes the rest, too, and the others as worker 1."""
    state = {"weight": {"$shard": 0, "shape": [5, 3]}, "other": {"$tensor": 0}, "step": ITERATION}
    pieces = {0: Piece("s0", WHOLE[:3].clone(), (0, 0)), 1: Piece("s0", WHOLE[3:].clone(), (3, 0))}

    def finish(sums):
        write_files(state, [torch.ones(2)], folder, ITERATION, sums)

    writes = [
        BackgroundWrite(folder, ITERATION, rank, size, [pieces[rank]], finish, is_finite=finite or rank == 0)
        for rank in ranks
    ]
    for write in writes:
        write.wait()
    return writes[-1] if ranks == (1,) else writes[ranks.index(0)]


def test_shards_are_read_as_the_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "000000007"
    assert save(folder, ranks=(1, 0)).is_whole
    checkpoint = Checkpoint(folder, ITERATION)
    assert checkpoint.damage() == ""
    names = ["manifest.json", shard_name(0), shard_name(1), "state.json", "tensors.safetensors"]
    assert sorted(path.name for path in folder.iterdir()) == names
    state = read(checkpoint)
    assert torch.equal(state["weight"], WHOLE)
    assert torch.equal(state["other"], torch.ones(2))
    part = read(checkpoint, by_shards=True)["weight"]
    assert part.shape == (5, 3)
    assert torch.equal(part.shard_like(torch.zeros(5, 3, dtype=torch.float64)), WHOLE.double())


def test_a_changed_or_missing_shard_is_damage(tmp_path: Path) -> None:
    save(tmp_path / "one")
    shard = tmp_path / "one" / shard_name(1)
    content = bytearray(shard.read_bytes())
    content[-1] ^= 1
    shard.write_bytes(content)
    assert Checkpoint(tmp_path / "one", ITERATION).damage() == f"{shard_name(1)} is not what was saved"
    shard.unlink()
    assert "No such file" in Checkpoint(tmp_path / "one", ITERATION).damage()


def test_weights_that_are_not_finite_on_another_worker_are_not_kept(tmp_path: Path) -> None:
    write = save(tmp_path / "one", finite=False)
    assert (write.is_whole, write.error) == (False, "")
    assert not (tmp_path / "one").exists()


def test_a_worker_that_cannot_write_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(pieces, path):
        if path.name == shard_name(1):
            raise OSError(errno.ENOSPC, "No space left on device")
        return ""

    monkeypatch.setattr(sharded_checkpoints, "write_shard", full)
    assert save(tmp_path / "one").error == "worker 1: No space left on device"
    assert not (tmp_path / "one").exists()


def test_a_worker_that_never_writes_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharded_checkpoints, "PATIENCE_S", 0.0)
    assert "worker 1 did not write its shards" in save(tmp_path / "one", ranks=(0,)).error


def test_steps_that_came_while_a_checkpoint_was_written_are_trained_again() -> None:
    def steps(n: int, first: int) -> Points:
        return Points(n=n, split="training", first_step=first, steps_apart=1, values={"loss": [1.0] * 10})

    saved = Checkpointed(n=4, iteration=10, epoch=1, seconds=0.1)
    events: list[Event] = [steps(1, 1), steps(2, 11), steps(3, 21), saved, steps(5, 31)]
    assert end_of_saved(events, 10) == 1
    events += [Resumed(n=6, iteration=10, after=1, reason="", restarts=1, repeated=30), steps(7, 11)]
    events += [Resumed(n=8, iteration=10, after=end_of_saved(events, 10), reason="", restarts=2, repeated=10)]
    assert [event.n for event in standing(events) if isinstance(event, Points)] == [1]
    assert end_of_saved([steps(1, 1), Checkpointed(n=2, iteration=10, epoch=1, seconds=0.1), steps(3, 11)], 10) == 2
