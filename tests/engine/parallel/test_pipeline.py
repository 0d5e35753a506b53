"""Stages of a pipeline give the numbers of one worker with as many pieces."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.strategies.pipeline import schedule
from tests.engine.parallel.pipeline_cases import CASES, trained

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def three_workers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the first of three processes knows of all cases."""
    folder = tmp_path_factory.mktemp("three")
    command = [sys.executable, "-m", "tests.engine.parallel.pipeline_cases", str(folder)]
    own = {**os.environ, "PYTHONPATH": str(ROOT)}
    workers = [subprocess.Popen([*command, str(rank), "3"], cwd=ROOT, env=own) for rank in range(3)]
    assert [worker.wait(250) for worker in workers] == [0, 0, 0]
    found: dict[str, dict[str, Any]] = torch.load(folder / "found.pt")
    return found


@pytest.mark.parametrize("name", CASES)
def test_three_stages_are_one_worker(name: str, three_workers: dict[str, dict[str, Any]]) -> None:
    """Losses, outputs, scores, weights, statistics and what the solver remembers, which is numbered as one does."""
    one, three = trained(CASES[name], SingleProcess()), three_workers[name]
    rounding = 1e-2 if CASES[name].precision == "bf16" else 1e-5
    for figures in ("losses", "seen", "scores"):
        assert three[figures] == pytest.approx(one[figures], rel=rounding, abs=rounding), figures
    for moment in ("kept", "ended"):
        assert list(three[moment]["network"]) == list(one[moment]["network"])
        torch.testing.assert_close(three[moment], one[moment], rtol=10 * rounding, atol=10 * rounding)
    torch.testing.assert_close(three["taken up"], one["kept"], rtol=0, atol=0)


@pytest.mark.parametrize(("stage", "count", "pieces"), [(0, 3, 5), (1, 3, 5), (2, 3, 5), (0, 4, 2), (0, 2, 1)])
def test_each_piece_goes_on_and_back_and_few_are_held(stage: int, count: int, pieces: int) -> None:
    turns = list(schedule(stage, count, pieces))
    assert [piece for forward, piece in turns if forward] == list(range(pieces))
    assert [piece for forward, piece in turns if not forward] == list(range(pieces))
    held = most = 0
    for forward, _ in turns:
        held += 1 if forward else -1
        most = max(most, held)
    assert most == min(pieces, count - stage)
