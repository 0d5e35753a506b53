"""What requests come to when several arrive at once, and what means nothing."""

from typing import Any

import pytest

from engine.runs.requests import NOTHING, Asked, asked


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ([{"do": "pause"}, {"do": "resume"}], Asked(pause=-1)),
        ([{"do": "resume"}, {"do": "pause"}, {"do": "stop"}], Asked(pause=1, stop=True)),
        ([{"do": "set", "rate_factor": 0.5}, {"do": "set", "rate_factor": 0.5}], Asked(rate_factor=0.25)),
        ([{"do": "set", "rate_factor": 0.5}, {"do": "set", "rate": 0.01}], Asked(rate=0.01)),
        ([{"do": "set", "rate": 0.01, "epochs": 9}], Asked(rate=0.01, epochs=9)),
        ([{"do": "pause", "release": 1}, {"do": "pause"}], Asked(pause=1, release=True)),
        ([{"do": "pause", "release": 1}, {"do": "resume"}], Asked(pause=-1)),
        (
            [{"do": "watch", "layers": 1}, {"do": "watch", "gradient_norm": 0}],
            Asked(watch_layers=1, watch_gradient_norm=-1),
        ),
        ([{"do": "checkpoint"}, {"do": "validate"}], Asked(checkpoint=True, validate=True)),
    ],
)
def test_several_at_once(requests: list[dict[str, Any]], expected: Asked) -> None:
    assert asked(requests) == expected
    assert Asked.of(expected.numbers()) == expected


@pytest.mark.parametrize(
    "noise",
    [
        {},
        {"do": "dance"},
        {"do": ["stop"]},
        {"do": "watch", "layers": "yes", "gradient_norm": 2},
        {"do": "set", "rate": "fast", "epochs": None},
        {"do": "set", "rate": -1.0, "rate_factor": 0.0, "epochs": 0},
        {"do": "set", "rate": 10**400, "rate_factor": float("inf"), "epochs": 10**400},
        {"do": "set", "rate": float("nan"), "epochs": 1e300, "rate_factor": True},
    ],
)
def test_what_means_nothing_is_passed_over(noise: dict[str, Any]) -> None:
    assert asked([noise]) == NOTHING


def test_many_factors_stay_a_number() -> None:
    found = asked([{"do": "set", "rate_factor": 1e11}] * 100)
    assert Asked.of(found.numbers()) == found
