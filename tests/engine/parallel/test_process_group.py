"""Two real processes that part: no sum is lost on the way out, and nobody hangs."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PARTING = """
import os, sys, threading
from pathlib import Path
import torch
from netwright.engine.parallel.process_group import TorchProcessGroup
from netwright.engine.parallel.strategies.ddp import Ddp

folder, rank = Path(sys.argv[1]), int(sys.argv[2])
group = TorchProcessGroup(rank, 2, "gloo", folder / "rendezvous")
network = torch.nn.Linear(3, 2)
strategy = Ddp(network, network, group)
strategy.zero_grad()
strategy.backward(strategy.module(torch.ones(1, 3)).sum())
is_late = rank == 1
if is_late:
    threading.Event().wait(0.5)
assert group.all_reduce(torch.ones(1)).item() == 2
Path(folder, f"through{rank}").touch()
if is_late:
    threading.Event().wait(0.5)
group.close()
assert Path(folder, f"through{1 - rank}").exists(), "left before the other one was through"
# Dropping the strategy destroys its reducer, which must not be the last owner of the group.
assert torch.distributed.is_initialized()
del strategy
print("gone", flush=True)
os._exit(0)
"""


def _said_by_two(code: str, folder: Path) -> list[str]:
    """What two workers print."""
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(folder), str(rank)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    return [worker.communicate(timeout=100)[0] for worker in workers]


def test_nobody_leaves_before_all_are_through_and_the_group_outlives_the_strategy(tmp_path: Path) -> None:
    assert _said_by_two(PARTING, tmp_path) == ["gone\n", "gone\n"]


OFFLOADED = """
import os, sys
from pathlib import Path
import torch
from torch.testing._internal.distributed import fake_pg  # joins accelerators that are not here, and adds up nothing
from netwright.engine.parallel import process_group

torch.distributed.Backend.backend_capability["fake"] = ["cuda"]
folder, rank = Path(sys.argv[1]), int(sys.argv[2])
group = process_group.TorchProcessGroup(rank, 2, "fake", folder / "rendezvous")
sums = group.all_reduce(torch.full((2,), 1.0 + rank))
print(sums.tolist(), process_group.all_gather_rows(group, torch.full((1, 1), rank)).tolist())
group.close()
sys.stdout.flush()
os._exit(0)
"""


def test_what_joins_accelerators_leaves_tensors_of_the_cpu_to_gloo(tmp_path: Path) -> None:
    assert _said_by_two(OFFLOADED, tmp_path) == ["[3.0, 3.0] [[0], [1]]\n"] * 2
