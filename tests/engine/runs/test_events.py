"""Events: documented, readable back, never longer than a line."""

import dataclasses
import json
import math
import re
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.placement.choose import Placement
from netwright.engine.runs.events import (
    KINDS,
    Best,
    Checkpointed,
    Ended,
    EpochEnded,
    Event,
    Failed,
    Health,
    Message,
    Points,
    Preparing,
    Progress,
    Refused,
    Requested,
    Resumed,
    SampleSkipped,
    Started,
    StateChanged,
    ThinnedPoints,
    UnknownEvent,
    read_event,
    standing,
)
from netwright.engine.runs.log_lines import LINE_LIMIT_BYTES, split_points

EXAMPLES: list[Event] = [
    Started(
        environment=Placement("auto", "cpu", "", (), "").write(),
        hardware="CPU",
        epochs=3,
        iterations=30,
        steps_per_epoch=10,
        metric="accuracy",
        samples={"training": 100, "test": 0},
        parameters=12,
    ),
    StateChanged(state="running"),
    Points(split="training", first_step=1, steps_apart=1, values={"loss": [1.0, math.nan, math.inf, -math.inf, 2]}),
    ThinnedPoints(
        split="training",
        first_steps=[1, 16],
        last_steps=[15, 16],
        counts=[15, 1],
        curves={
            "loss": {
                "lowest": [0.5, math.nan],
                "lowest_steps": [3, 0],
                "highest": [7.25, math.nan],
                "highest_steps": [1, 0],
                "mean": [1.5, math.nan],
                "nonfinite": [0, 1],
                "nonfinite_steps": [0, 16],
            }
        },
    ),
    Progress(
        epoch=1, iteration=2, elapsed_s=0.5, remaining_s=math.inf, rate=1e-3, samples_per_second=9.5, memory_bytes=2**40
    ),
    Preparing(done=3, total=2**40, unit="rows"),
    Health(iteration=3, layers={"id1": [0.5, math.nan, 0.0]}),
    EpochEnded(epoch=1, iteration=10),
    Best(iteration=4, objective="loss", value=math.nan),
    Checkpointed(iteration=4, epoch=1, seconds=0.02),
    Resumed(iteration=4, after=7, reason="resumed on request", restarts=2),
    Requested(what="rate", iteration=5, value=1e-3),
    Refused(what="release", iteration=5, reason="NaN"),
    Message(severity="warning", text="NaN"),
    SampleSkipped(sample="cat/é.png", reason="it is damaged"),
    Failed(cause="Infinity\nand beyond", worker=1, detail="é\x00", defect=True),
    Ended(state="failed", reason="-Infinity", result={"loss": math.nan, "metrics": {"rmse": math.inf}, "reason": "x"}),
]


def is_same(a: Any, b: Any) -> bool:
    """Equal, NaN included."""
    return json.dumps(a) == json.dumps(b)


def test_there_is_an_example_of_every_kind() -> None:
    assert [type(event) for event in EXAMPLES] == list(KINDS.values())
    assert all(kind == cls.kind for kind, cls in KINDS.items())


@pytest.mark.parametrize("kind", KINDS.values())
def test_every_field_of_every_kind_is_documented(kind: type[Event]) -> None:
    named = set(re.findall(r"`(\w+)", kind.__doc__ or ""))
    assert {field.name for field in dataclasses.fields(kind)} - {"n", "time"} <= named


@pytest.mark.parametrize("event", EXAMPLES)
def test_an_event_is_read_back_as_it_was(event: Event) -> None:
    event = dataclasses.replace(event, n=7, time=1.5)
    text = json.dumps(event.write(), allow_nan=False)
    assert list(json.loads(text))[:3] == ["n", "time", "kind"]
    found = read_event(json.loads(text))
    assert type(found) is type(event)
    assert is_same(dataclasses.asdict(found), dataclasses.asdict(event))


POINTS = {"n": 3, "kind": "points", "split": "training", "first_step": 1, "steps_apart": 1, "values": {"loss": [1.0]}}


@pytest.mark.parametrize(
    "data",
    [
        {"n": 3, "kind": "no such"},
        {"n": 3},
        {"n": 3, "kind": []},
        {"n": 3, "kind": "epoch"},
        {"n": 3, "kind": "epoch", "epoch": "one", "iteration": 1},
        {"n": 3, "kind": "points", "split": "training", "first_step": 1, "steps_apart": 1, "values": 5},
        {"n": 3, "kind": "message", "severity": "note", "text": None},
        {"n": 3, "kind": "epoch", "epoch": 10**400, "iteration": 1},
        {"n": 3, "kind": "request", "what": "rate", "iteration": 1, "value": "Infinity"},
        {**POINTS, "values": {"loss": [None]}},
        {**POINTS, "values": {"loss": [10**400]}},
        {**POINTS, "values": {"loss": [True]}},
        {**POINTS, "steps_apart": 0},
        {"n": 3, "kind": "health", "iteration": 1, "layers": {"a": []}},
        {**POINTS, "split": "../../escaped"},
    ],
)
def test_what_is_not_known_is_passed_over(data: dict[str, Any]) -> None:
    found = read_event(data)
    assert isinstance(found, UnknownEvent)
    assert found.n == 3


def test_a_field_of_a_newer_version_is_left_out() -> None:
    assert read_event({"n": 1, "kind": "epoch", "epoch": 1, "iteration": 2, "more": 3}) == EpochEnded(
        n=1, epoch=1, iteration=2
    )


def longest(parts: list[Points]) -> int:
    """Bytes of the longest line."""
    numbered = [dataclasses.replace(part, n=10**9, time=1_800_000_000.123) for part in parts]
    return max(
        len(json.dumps(part.write(), separators=(",", ":"), ensure_ascii=False).encode()) + 1 for part in numbered
    )


@pytest.mark.parametrize(
    ("names", "value"),
    [
        (["loss"], -1.2345678901234567e-308),
        (["loss"], -math.inf),
        (["loss", "accuracy", "rmse"], -1.2345678901234567e-308),
        (["loss", "accuracy", "rmse"], 0.0),
        ([f"accuracy of the class 'é{i}'" for i in range(300)], -1.2345678901234567e-308),
    ],
)
def test_points_of_any_length_are_split_into_lines(names: list[str], value: float) -> None:
    points = Points(
        split="validation", first_step=10**9, steps_apart=50, values={name: [value] * 1000 for name in names}
    )
    assert longest(list(split_points(points))) < LINE_LIMIT_BYTES


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(st.lists(st.floats(), min_size=n, max_size=n), min_size=0, max_size=400)
    ),
    st.integers(0, 10**6),
    st.integers(1, 100),
)
def test_splitting_keeps_every_value_at_its_step(rows: list[list[float]], first: int, apart: int) -> None:
    names = [f"curve{i}" for i in range(len(rows[0]))] if rows else ["loss"]
    values = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    points = Points(split="training", first_step=first, steps_apart=apart, values=values)
    parts = list(split_points(points))
    found: dict[str, list[tuple[int, float]]] = {name: [] for name in names}
    for part in parts:
        assert (part.split, part.steps_apart) == ("training", apart)
        for name, numbers in part.values.items():
            found[name] += [(part.first_step + i * apart, number) for i, number in enumerate(numbers)]
    expected = {name: [(first + i * apart, v) for i, v in enumerate(column)] for name, column in values.items()}
    assert is_same(found, expected)
    assert not parts or longest(parts) < LINE_LIMIT_BYTES


def test_nothing_to_split_is_nothing() -> None:
    assert list(split_points(Points(split="test", first_step=1, steps_apart=1, values={}))) == []
    assert list(split_points(Points(split="test", first_step=1, steps_apart=1, values={"loss": []}))) == []


def test_splitting_a_million_points_holds_few_events_at_a_time() -> None:
    points = Points(split="training", first_step=1, steps_apart=1, values={"loss": [0.5] * 10**6})
    parts = split_points(points)
    assert sys.getsizeof(next(parts).values["loss"]) < 4096
    assert sum(1 for _ in parts) < 10_000


@pytest.mark.parametrize("strange", [None, "x", [1], -1, 2**63, True])
def test_a_strange_number_or_time_counts_as_none(strange: Any) -> None:
    known = read_event({"kind": "resumed", "iteration": 1, "after": 0, "reason": "", "n": strange, "time": strange})
    assert isinstance(known, Resumed)
    unknown = read_event({"kind": "no such", "n": strange, "time": strange})
    assert {(event.n, event.time) for event in (known, unknown)} == {(0, 0.0)}
    assert standing([unknown, known]) == [unknown, known]
