"""Distributions that a run has kept are read, also from a stranger's folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.runs.kept_steps import LIMIT_BYTES
from netwright.engine.runs.watched_weights import FILE, POINTS, WeightStep, read_weights

EVEN = [number / 10 for number in range(POINTS)]


def line(layers: Any = None, **more: Any) -> bytes:
    entry = {"iteration": 5, "epoch": 1, "layers": {"fc": {"weights": EVEN}} if layers is None else layers, **more}
    return json.dumps(entry).encode() + b"\n"


def test_steps_come_back_in_order_without_the_line_that_is_being_written(tmp_path: Path) -> None:
    step = WeightStep(5, 1, {"fc": {"weights": EVEN}})
    (tmp_path / FILE).write_bytes(step.line + line(iteration=5) + line(iteration=9) + line(iteration=12)[:-9])
    assert read_weights(tmp_path) == [step, WeightStep(9, 1, step.layers)]


@pytest.mark.parametrize(
    "values",
    [
        7,
        EVEN[:-1],
        EVEN[::-1],
        [*EVEN[:-1], "4"],
        [*EVEN[:-1], True],
        [*EVEN[:-1], float("nan")],
        [*EVEN[:-1], float("inf")],
        [*EVEN[:20], float("nan"), *EVEN[21:]],
        [*EVEN[:-1], 10**1000],
    ],
)
def test_what_is_no_distribution_is_left_out(values: Any, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(line({"fc": {"weights": values, "gradients": EVEN, "others": EVEN}}))
    assert read_weights(tmp_path) == [WeightStep(5, 1, {"fc": {"gradients": EVEN}})]


@pytest.mark.parametrize(
    "content",
    [
        b"{\n",
        b"[" * 10**5 + b"\n",
        b"3\n",
        line(iteration=-1),
        line(iteration=2**60),
        line(epoch="1"),
        line(layers=[]),
        b"\xff\n",
    ],
)
def test_a_damaged_line_holds_nothing(content: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(content + line(iteration=9))
    assert [step.iteration for step in read_weights(tmp_path)] == [9]


def test_names_can_be_shown(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(line({"\ud800": {"weights": EVEN}, "dense": 3}))
    assert list(read_weights(tmp_path)[0].layers) == ["?"]


def test_a_missing_file_holds_nothing_and_a_large_one_is_refused(tmp_path: Path) -> None:
    assert read_weights(tmp_path) == []
    with (tmp_path / FILE).open("wb") as file:
        file.truncate(LIMIT_BYTES + 1)
    with pytest.raises(OSError, match="has more than"):
        read_weights(tmp_path)
