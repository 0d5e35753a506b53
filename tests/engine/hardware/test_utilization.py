"""How busy the processors are, and what is said where nobody knows."""

import math
import time

import pytest
import torch

from netwright.engine.hardware.utilization import utilization_of


def test_a_busy_process_says_so() -> None:
    busy = utilization_of(torch.device("cpu"), 1)
    until = time.process_time() + 0.2
    while time.process_time() < until:
        pass
    assert 0 < busy() <= 1


def test_what_is_not_known_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def refuse(device: object) -> int:
        asked.append(device)
        raise ModuleNotFoundError("nvidia-ml-py does not seem to be installed")

    monkeypatch.setattr(torch.cuda, "utilization", refuse)
    busy = utilization_of(torch.device("cuda"), 2)
    assert math.isnan(busy())
    assert math.isnan(busy())
    assert len(asked) == 1
    assert math.isnan(utilization_of(torch.device("meta"), 1)())


def test_the_parts_of_gpus_add_up_to_their_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "utilization", lambda device: 80)
    assert utilization_of(torch.device("cuda"), 2)() == 0.4
