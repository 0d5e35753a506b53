"""Speeds that are measured in processes of their own."""

import os

from netwright.engine.hardware import speed


def test_every_core_has_a_speed() -> None:
    cores = sorted(os.sched_getaffinity(0))[:2]
    found = speed.measure_cores(cores)
    assert len(found) == len(cores)
    assert min(found) > 0


def test_noise_makes_no_difference() -> None:
    assert speed.evened([100.0, 104.0]) == (102.0, 102.0)
    assert speed.evened([100.0, 50.0]) == (100.0, 50.0)
