"""Two real processes that part: no sum is lost on the way out, and nobody hangs."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PARTING = """
import os, sys, threading
from pathlib import Path
import torch
from engine.environments.gang import ProcessGang
from engine.environments.strategies.ddp import Ddp

folder, rank = Path(sys.argv[1]), int(sys.argv[2])
gang = ProcessGang(rank, 2, "gloo", folder / "meeting")
network = torch.nn.Linear(3, 2)
strategy = Ddp(network, network, gang, torch.device("cpu"))
strategy.clear()
strategy.backward(strategy.module(torch.ones(1, 3)).sum())
is_late = rank == 1
if is_late:
    threading.Event().wait(0.5)
assert gang.sum(torch.ones(1)).item() == 2
Path(folder, f"through{rank}").touch()
if is_late:
    threading.Event().wait(0.5)
gang.close()
assert Path(folder, f"through{1 - rank}").exists(), "left before the other one was through"
# Dropping the strategy destroys its reducer, which must not be the last owner of the group.
assert torch.distributed.is_initialized()
del strategy
print("gone", flush=True)
os._exit(0)
"""


def test_nobody_leaves_before_all_are_through_and_the_group_outlives_the_strategy(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARTING, str(tmp_path)]
    workers = [
        subprocess.Popen([*command, str(rank)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for rank in range(2)
    ]
    said = [worker.communicate(timeout=100)[0] for worker in workers]
    assert said == ["gone\n", "gone\n"]
