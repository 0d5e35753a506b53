"""Sharded checkpoints whose writers are killed at random moments: what is in place is whole."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.runs import ROOT

pytestmark = pytest.mark.faults
KILLS = 20
WRITER = """
import os, random, shutil, signal, sys, threading
from pathlib import Path
import torch
from netwright.engine.runs.checkpoint_files import all_checkpoints, beside, put_in_place
from netwright.engine.runs.folder import RunFolder
from netwright.engine.training.checkpoints import read, write_files
from netwright.engine.training.sharded_checkpoints import BackgroundWrite, Piece

torch.set_num_threads(1)  # no threads of torch before a fork
folder, half = RunFolder(Path(sys.argv[1])), 0
folder.checkpoints.mkdir()


def save(number):
    weights = torch.full((2_000_000,), float(number))
    path = beside(folder, number)
    state = {"weights": {"$shard": 0, "shape": [2_000_000]}, "same": {"$tensor": 0}}

    def finish(sums):
        write_files(state, [weights], path, number, sums)

    pieces = [Piece("s0", weights[:1_000_000], (0,)), Piece("s0", weights[1_000_000:], (1_000_000,))]
    writes = [BackgroundWrite(path, number, rank, 2, [pieces[rank]], finish, is_finite=True) for rank in (0, 1)]
    for write in writes:
        write.wait()
    assert writes[0].is_whole, writes[0].error
    put_in_place(folder, number, 2)


for kill in range(int(sys.argv[2])):
    newest = next((each.iteration for each in all_checkpoints(folder)), 0)
    if not (child := os.fork()):
        while True:
            newest += 1
            save(newest)
    threading.Event().wait(0.3 + 0.7 * random.Random(kill).random())
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    for each in all_checkpoints(folder):
        assert each.damage() == ""
        state = read(each)
        assert torch.equal(state["weights"], state["same"])
    left = list(folder.checkpoints.glob(".*.tmp"))
    half += any(path.name.count("gone") == 0 for path in left)
    for path in left:
        shutil.rmtree(path)
print(half, newest)
"""


def test_a_killed_writer_leaves_whole_checkpoints_alone(tmp_path: Path) -> None:
    words = [sys.executable, "-W", "ignore", "-c", WRITER, str(tmp_path), str(KILLS)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    half, newest = map(int, done.stdout.split())
    assert half > 0, "some were killed while they wrote"
    assert newest > 0, "some were kept"
