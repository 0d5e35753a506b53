"""The season that is found in a series, or not."""

import numpy as np
import pytest

from netwright.engine.data.sources.seasons import guessed_season

TIME = np.arange(24 * 40)
DAILY = np.sin(2 * np.pi * TIME / 24)


@pytest.mark.parametrize(
    ("name", "values", "season"),
    [
        ("daily", DAILY, 24),
        ("noisy", DAILY + np.random.default_rng(0).normal(0, 0.5, len(TIME)), 24),
        ("with a trend", DAILY + 0.05 * TIME, 24),
        ("pattern", np.tile([1.0, 2, 3, 4, 9, 6, 0], 30), 7),
        ("noise", np.random.default_rng(1).normal(0, 1, 900), 0),
        ("random walk", np.cumsum(np.random.default_rng(2).normal(0, 1, 900)), 0),
        ("constant", np.full(99, 4.0), 0),
        ("straight line", 1.0 * TIME, 0),
        ("short", np.array([1.0, 2.0]), 0),
        ("two periods", DAILY[:48], 0),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_season_is_found_where_there_is_one(name: str, values: np.ndarray, season: int) -> None:
    assert guessed_season(values) == season
