"""What other users of the machine can do to a run: nothing. Its workers take no connections, its folder is private."""

import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.runs import ROOT, Running
from tests.system.test_training import TWO, digits, mlp
from tests.system.test_training_ends import ENDLESS

STRATEGIES = ["data-parallel", "local-sgd", "fully-sharded", "pipeline"]
PROBING = """
import os, sys
from pathlib import Path

os.setgroups([])
os.setgid(65534)
os.setuid(65534)  # nobody, who need not be able to start this Python
run, memories = Path(sys.argv[1]), [Path(f"/proc/{pid}/fd") for pid in sys.argv[2:]]
attempts = [
    lambda: list(run.iterdir()),
    lambda: (run / "events.jsonl").read_bytes(),
    lambda: (run / "control" / "1_stop.json").write_text('{"do": "stop"}'),
    *(lambda memory=memory: list(memory.iterdir()) for memory in memories),
    *(lambda path=memory / str(number): path.read_bytes() for memory in memories for number in range(3, 20)),
]
refused = 0
for attempt in attempts:
    try:
        attempt()
    except PermissionError:
        refused += 1
print(len(attempts) - refused)
"""
CROWDED = """
import os, subprocess, sys
from pathlib import Path
import torch
from netwright.engine.parallel import process_group
from tests.faults.test_privacy import CONNECTING

folder, rank = Path(sys.argv[1]), int(sys.argv[2])
join = torch.distributed.init_process_group

def crowded(*arguments, **options):
    # another program connects to the port, while the other worker still waits for this one
    join(*arguments, **options)
    (descriptor,) = (one for one, is_port in process_group._tcp_sockets().items() if is_port)
    port = process_group._opened(descriptor).getsockname()[1]
    command = [sys.executable, "-c", CONNECTING, str(port)]
    subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE).stdout.read(1)

if rank == 1:
    torch.distributed.init_process_group = crowded
group = process_group.TorchProcessGroup(rank, 2, "gloo", folder / "rendezvous")
x = torch.ones(100_000)
torch.distributed.all_reduce(x)
print(int(x.sum()), *process_group.notes(group), flush=True)
group.close()
os._exit(0)
"""
CONNECTING = """
import socket, sys
ends = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(30)]
ends[0].sendall(bytes(8))
print("x", flush=True)
sys.stdin.read()
"""


def can_connect(host: str, port: int) -> bool:
    """Whether a port of this machine answers: it does so before `connect_ex` returns, or never."""
    with socket.socket() as end:
        end.setblocking(False)
        end.connect_ex((host, port))
        return bool(select.select([], [end], [], 0)[1]) and not end.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)


def test_what_answers_is_seen_to_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert can_connect(*server.getsockname())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_process_of_a_run_takes_connections(strategy: str, tmp_path: Path) -> None:
    with Running(digits(mlp(), {**TWO, "strategy": strategy}, **ENDLESS), tmp_path / "run") as run:
        run.wait_for_training()
        for pid in [run.process.pid, *run.workers]:
            ends = psutil.Process(pid).net_connections("inet")
            assert [end.laddr for end in ends if end.status == psutil.CONN_LISTEN and can_connect(*end.laddr)] == []
        run.folder.request("stop")
        assert run.finish().result["state"] == "stopped"


def test_connections_of_another_program_are_closed_and_told(tmp_path: Path) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", CROWDED, str(tmp_path), str(rank)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    said = [worker.communicate(timeout=100)[0] for worker in workers]
    note = "Another program connected to the workers' ports (30 connections, closed)."
    assert said == [f"200000 {note}\n"] * 2


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter; pytest's own may not be entered."""
    with tempfile.TemporaryDirectory(prefix="netwright-") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
def test_another_user_cannot_read_a_run_or_ask_it_for_anything(open_folder: Path) -> None:
    with Running(digits(mlp(), TWO, **ENDLESS), open_folder / "run") as run:
        run.wait_for_training()
        command = [sys.executable, "-I", "-c", PROBING, str(run.folder.path), *map(str, run.workers)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stdout == "0\n", done.stderr
        run.folder.request("stop")
        run.finish()
