"""Parameters of an experiment: read from JSON and typed text, and the values in them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.core.errors import UserError
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.parameters import Parameter

RATE = Parameter("training.initial_learn_rate", (), 1e-4, 1e-1, True)
VALUES = st.one_of(st.booleans(), st.integers(-(10**6), 10**6), st.text("abc, \"'[]", max_size=5), st.floats(-1e6, 1e6))


@pytest.mark.parametrize(
    ("text", "parameter"),
    [
        ("training.momentum=0.8,0.9", Parameter("training.momentum", (0.8, 0.9))),
        ("training.solver=sgdm, adam", Parameter("training.solver", ("sgdm", "adam"))),
        ("network.conv.kernel=[3,3],[5,5]", Parameter("network.conv.kernel", ((3, 3), (5, 5)))),
        ("network.bn.affine=true,false", Parameter("network.bn.affine", (True, False))),
        ("training.max_epochs=1..5:3", Parameter("training.max_epochs", (), 1, 5, False, 3)),
        ("training.initial_learn_rate=log 0.0001..0.1", RATE),
        ("training.initial_learn_rate=log 1e-4..1e-1", RATE),
    ],
)
def test_typed_text(text: str, parameter: Parameter) -> None:
    assert Parameter.read(text) == parameter
    assert Parameter.read(parameter.show()) == parameter
    assert Parameter.read(parameter.write()) == parameter


@given(st.lists(VALUES, min_size=1, max_size=5))
def test_values_come_back_from_text_and_json(values: list[Any]) -> None:
    parameter = Parameter.read({"path": "training.x", "values": values})
    assert Parameter.read(parameter.write()) == parameter
    options = ExperimentOptions(parameters=[parameter])
    assert ExperimentOptions.read(options.write(), "experiment") == options


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("training.momentum", "expected PATH=VALUE"),
        ("x=", "expected PATH=VALUE"),
        ("x=2..1", "low should be below high"),
        ("x=log 0..1", "begins above 0"),
        ({"path": "x"}, "either values, or low and high"),
        ({"path": "x", "values": [1], "low": 0, "high": 1}, "either values, or low and high"),
        ({"path": "x", "values": []}, "1 to 10,000 values"),
        ({"path": "x", "values": [{}]}, "no value of an option"),
        ({"path": "x", "values": [float("nan")]}, "no value of an option"),
        ({"path": "x", "low": "a", "high": 1}, "a number for low"),
        ({"path": "x", "low": 0, "high": 1, "steps": 1}, "steps a whole number from 2"),
        ({"path": "x", "low": 0, "high": 1, "stepps": 3}, 'no "stepps"'),
        ({"path": "x", "values": [1], "when": "import os"}, "not a formula"),
        (3, "needs a path"),
        ({}, "needs a path"),
    ],
)
def test_what_is_no_parameter_is_refused(data: object, says: str) -> None:
    with pytest.raises(UserError, match=says):
        Parameter.read(data)


def test_points_of_a_range() -> None:
    assert RATE.points(is_whole=False) == (0.0001, 0.000562341, 0.00316228, 0.0177828, 0.1)
    assert Parameter("x", (), 8, 64, True, 4).points(is_whole=True) == (8, 16, 32, 64)
    assert Parameter("x", (), 1, 3, steps=9).points(is_whole=True) == (1, 2, 3), "equal numbers stand once"


@given(st.floats(0, 1), st.booleans())
def test_a_point_lies_in_its_range(share: float, whole: bool) -> None:
    low, high = (1, 1000) if whole else (1e-5, 0.3)
    for is_log in (False, True):
        value = Parameter("x", (), low, high, is_log).at(share, is_whole=whole)
        assert low <= value <= high
        assert isinstance(value, int) == whole


def test_true_and_1_are_two_values() -> None:
    assert Parameter.read({"path": "x", "values": [1, True, 1.0, 1]}).values == (1, True, 1.0)
    with pytest.raises(UserError, match="stands twice"):
        ExperimentOptions(parameters=["x=1", "x=2"])
