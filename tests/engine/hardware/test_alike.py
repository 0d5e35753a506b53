"""Every strategy gives the numbers of one worker, and goes on to the bit from the middle of an epoch.

Unequal loads, an uneven last batch, two pieces a batch and joint batch statistics for all of them; the stages of a
pipeline have tests of their own.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.parallel.process_group import SingleProcess
from tests.engine.hardware.alike import CASES, EPOCHS, MIDDLE, STEPS_PER_EPOCH, Training, network_of

ROOT = Path(__file__).parents[3]
PATIENCE_S = 300


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the first of two processes knows of all cases."""
    folder = tmp_path_factory.mktemp("two")
    command = [sys.executable, "-m", "tests.engine.hardware.alike", str(folder)]
    own = {**os.environ, "PYTHONPATH": str(ROOT)}
    workers = [subprocess.Popen([*command, str(rank), "2"], cwd=ROOT, env=own) for rank in range(2)]
    try:
        assert [worker.wait(PATIENCE_S) for worker in workers] == [0, 0]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    found: dict[str, dict[str, Any]] = torch.load(folder / "found.pt")
    return found


@pytest.mark.parametrize("name", CASES)
def test_two_workers_are_one(name: str, two_workers: dict[str, dict[str, Any]]) -> None:
    """Losses, scores and weights; gradients that are rounded on their way by so much as that."""
    case, two = CASES[name], two_workers[name]
    one = Training(case, SingleProcess())
    losses = one.steps(0, STEPS_PER_EPOCH * EPOCHS)
    ended, state = one.ended(), two["state"]["network"]
    assert list(state) == list(ended["state"]["network"])
    if case.rounding is None:
        assert two["losses"][1:] != pytest.approx(losses[1:], rel=1e-3)
        assert np.isfinite(two["losses"]).all()
        return
    assert two["losses"] == pytest.approx(losses, rel=case.rounding)
    if case.rounding < 1e-3:
        assert two["scores"] == pytest.approx(ended["scores"], rel=1e-4)
        torch.testing.assert_close(state, ended["state"]["network"], rtol=1e-3, atol=1e-4)
    else:
        assert two["losses"] != losses


@pytest.mark.parametrize("name", CASES)
def test_what_goes_on_from_the_middle_of_an_epoch_ends_the_same(
    name: str, two_workers: dict[str, dict[str, Any]]
) -> None:
    """To the bit, from a checkpoint on disk, with what the solver and a compression remember."""
    two = two_workers[name]
    assert two["more"] == two["losses"][MIDDLE:]
    assert two["again"]["scores"] == two["scores"]
    torch.testing.assert_close(two["again"]["state"], two["state"], rtol=0, atol=0)


@pytest.mark.parametrize("name", CASES)
def test_what_is_kept_is_the_whole_network(name: str, two_workers: dict[str, dict[str, Any]]) -> None:
    """Under the names and in the sizes that everything which leaves is made from."""
    network = network_of(CASES[name])
    module = build(network, analyse(network))
    module.load_state_dict(two_workers[name]["state"]["network"])
