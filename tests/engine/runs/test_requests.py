"""What requests come to when several arrive at once, and what means nothing."""

from typing import Any

import pytest

from netwright.engine.runs.requests import NOTHING, PendingRequests


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ([{"do": "pause"}, {"do": "resume"}], PendingRequests({"resume": 1})),
        ([{"do": "resume"}, {"do": "pause"}, {"do": "stop"}], PendingRequests({"pause": 1, "stop": 1})),
        (
            [{"do": "set", "rate_factor": 0.5}, {"do": "set", "rate_factor": 0.5}],
            PendingRequests({"set.rate_factor": 0.25}),
        ),
        ([{"do": "set", "rate_factor": 0.5}, {"do": "set", "rate": 0.01}], PendingRequests({"set.rate": 0.01})),
        ([{"do": "set", "rate": 0.01, "epochs": 9}], PendingRequests({"set.rate": 0.01, "set.epochs": 9})),
        ([{"do": "pause", "release": 1}, {"do": "pause"}], PendingRequests({"pause": 1, "pause.release": 1})),
        ([{"do": "pause", "release": 1}, {"do": "resume"}], PendingRequests({"resume": 1})),
        (
            [{"do": "watch", "layers": 1}, {"do": "watch", "gradient_norm": 0}],
            PendingRequests({"watch.layers": 1, "watch.gradient_norm": -1}),
        ),
        ([{"do": "checkpoint"}, {"do": "validate"}], PendingRequests({"checkpoint": 1, "validate": 1})),
    ],
)
def test_several_at_once(requests: list[dict[str, Any]], expected: PendingRequests) -> None:
    assert PendingRequests.of(*requests) == expected
    assert PendingRequests.from_numbers(expected.to_numbers()) == expected


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
    assert PendingRequests.of(noise) == NOTHING


def test_many_factors_stay_a_number() -> None:
    found = PendingRequests.of(*[{"do": "set", "rate_factor": 1e11}] * 100)
    assert PendingRequests.from_numbers(found.to_numbers()) == found
