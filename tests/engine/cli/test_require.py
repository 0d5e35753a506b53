"""`--require`: what is understood, refused, and when it holds; and the outcome as JUnit XML."""

import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.cli.require import parse, refuse_impossible, write_junit
from netwright.engine.core.errors import UserError
from netwright.engine.core.types import features
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of, numbers_of
from netwright.engine.project.training import TrainingOptions

RESULT: dict[str, Any] = {
    "state": "finished",
    "reason": "",
    "seconds": 1.5,
    "loss": 0.25,
    "metrics": {"accuracy": 0.99},
    "validation": {"loss": 0.5, "accuracy": 0.9},
    "test": {"loss": 0.75, "accuracy": 0.8},
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("accuracy>=0.8", True),
        (" accuracy >= 0.81 ", False),
        ("accuracy>.8", False),
        ("accuracy<=8e-1", True),
        ("validation.accuracy>0.85", True),
        ("training.accuracy>0.98", True),
        ("training.loss<0.25", False),
        ("training.loss<=+0.25", True),
        ("loss<0.7", False),
        ("loss>-1", True),
        ("test.loss<1", True),
        ("rmse<1", False),
        ("training.rmse<1", False),
    ],
)
def test_a_condition_is_understood(text: str, holds: bool) -> None:
    assert parse(text).judge(RESULT).passed == holds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected a condition such as"),
        ("accuracy", "expected a condition such as"),
        ("accuracy=0.9", "expected a condition such as"),
        ("accuracy==0.9", "expected a condition such as"),
        ("accuracy>=95%", "expected a condition such as"),
        ("accuracy>=nan", "expected a condition such as"),
        (">=0.9", "expected a condition such as"),
        ("a.b.c>1", "expected a condition such as"),
        ("accuracy>=0.9; rm -rf /", "expected a condition such as"),
        ("tset.accuracy>=0.9", "there is no split 'tset'; splits are training, validation, test"),
        ("accuracy>=e", "'e' is not a number"),
        ("accuracy>=1e999", "'1e999' is not a number"),
        ("accuracy>=1.2.3", "'1.2.3' is not a number"),
    ],
)
def test_what_is_no_condition_is_refused(text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        parse(text)
    assert str(caught.value).startswith(f'--require "{text}": ')
    assert said in str(caught.value)


@given(st.text(max_size=30))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    try:
        requirement = parse(text)
    except UserError:
        return
    assert math.isfinite(requirement.limit)


@pytest.mark.parametrize("value", [math.nan, "NaN"])
@pytest.mark.parametrize("sign", [">=", "<=", ">", "<"])
def test_nan_and_missing_numbers_never_hold(sign: str, value: object) -> None:
    assert not parse(f"accuracy{sign}0").judge({"test": {"accuracy": value}}).passed
    assert not parse(f"training.loss{sign}0").judge({"loss": value}).passed
    for nothing in ({}, {"loss": None, "metrics": None, "validation": None, "test": None}):
        assert not parse(f"accuracy{sign}0").judge(nothing).passed
        assert not parse(f"training.loss{sign}0").judge(nothing).passed
        assert not parse(f"training.accuracy{sign}0").judge(nothing).passed


def test_infinity_is_compared() -> None:
    assert parse("loss>1").judge({"test": {"loss": "Infinity"}}).passed
    assert not parse("loss<1").judge({"test": {"loss": "Infinity"}}).passed


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("accuracy>=0.9", "test accuracy 0.8 < 0.9"),
        ("accuracy>=0.75", "test accuracy 0.8 >= 0.75"),
        ("accuracy>0.8", "test accuracy 0.8 <= 0.8"),
        ("loss<=0.5", "test loss 0.75 > 0.5"),
        ("validation.loss<0.5", "validation loss 0.5 >= 0.5"),
        ("training.loss<0.5", "training loss 0.25 < 0.5"),
        ("accuracy>=0.80000000001", "test accuracy 0.8 < 0.80000000001"),
        ("accuracy>0.1", "test accuracy 0.8 > 0.1"),
        ("validation.accuracy>0.9", "validation accuracy 0.9 <= 0.9"),
        ("rmse<1", "rmse has no value, required < 1"),
        ("test.rmse<1", "test rmse has no value, required < 1"),
    ],
)
def test_the_outcome_names_the_split_and_the_value(text: str, said: str) -> None:
    assert parse(text).judge(RESULT).text == said


def test_the_split_is_test_else_validation_and_said_so() -> None:
    without_test = {**RESULT, "test": {}}
    assert parse("accuracy>=0.9").judge(without_test).text == "validation accuracy 0.9 >= 0.9"
    assert parse("accuracy>=0.9").judge({"test": {"accuracy": "NaN"}}).text == "test accuracy is NaN, required >= 0.9"


def test_a_value_is_not_rounded_to_the_limit() -> None:
    assert parse("accuracy>=0.8").judge({"test": {"accuracy": 0.7999999999}}).text == "test accuracy 0.7999999999 < 0.8"


def test_an_outcome_in_json() -> None:
    assert parse(" accuracy>=0.9 ").judge(RESULT).write() == {
        "text": "accuracy>=0.9",
        "split": "test",
        "value": 0.8,
        "passed": False,
    }
    assert parse("rmse<1").judge(RESULT).write() == {"text": "rmse<1", "split": None, "value": None, "passed": False}
    assert parse("validation.accuracy>=0.9").judge(RESULT).write()["passed"] is True
    stopped = {**RESULT, "state": "stopped"}
    assert parse("validation.accuracy>=0.9").judge(stopped).passed is False, "the run has not finished"


def facts(task: Any = "classes", **samples: int) -> DatasetInfo:
    """Data of three parts."""
    given = (InputInfo("input", features(4)),)
    wanted = classes_of("a", "b") if task == "classes" else numbers_of()
    return DatasetInfo(given, {"training": 9, "validation": 3, "test": 3, **samples}, wanted)


@pytest.mark.parametrize(
    ("text", "data", "said"),
    [
        ("accurcy>0.9", facts(), "this run has loss and accuracy, not accurcy. Did you mean 'accuracy'?"),
        ("accuracy>0.9", facts("numbers"), "this run has loss and rmse, not accuracy."),
        ("rmse<1", facts(), "this run has loss and accuracy, not rmse."),
        ("test.loss<1", facts(test=0), "the data has no test split. Give it a share, or require training.loss."),
        ("loss<1", facts(test=0, validation=0), "the data has no test and no validation split."),
    ],
)
def test_what_can_never_be_reached_is_refused_before_training(text: str, data: DatasetInfo, said: str) -> None:
    with pytest.raises(UserError) as caught:
        refuse_impossible([parse(text)], data, TrainingOptions().metrics_for(data.task))
    assert said in str(caught.value)


def test_what_can_be_reached_is_not_refused() -> None:
    refuse_impossible([parse("accuracy>0.9"), parse("validation.loss<1")], facts(test=0), ("accuracy",))
    refuse_impossible([parse("rmse<1"), parse("training.loss<1")], facts("numbers", test=0), ("rmse",))
    refuse_impossible([parse("mae<1")], facts("numbers"), ("mae",))


def suite(path: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Attributes of the suite, and what is wrong with each case."""
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    assert root.tag == "testsuite"
    return root.attrib, {c.attrib["name"]: [f"{x.tag}: {x.attrib['message']}" for x in c] for c in root}


def test_a_finished_run_as_junit(tmp_path: Path) -> None:
    outcomes = [parse(text).judge(RESULT) for text in ("accuracy>=0.7", "validation.accuracy>=0.95")]
    write_junit(tmp_path / "a.xml", RESULT, outcomes)
    counts, cases = suite(tmp_path / "a.xml")
    assert counts == {"name": "netwright", "tests": "3", "failures": "1", "errors": "0", "time": "1.500"}
    assert cases == {
        "train": [],
        "test accuracy>=0.7": [],
        "validation accuracy>=0.95": ["failure: validation accuracy 0.9 < 0.95"],
    }


def test_a_failed_run_as_junit(tmp_path: Path) -> None:
    reason = 'worker 1 said <"&\x1b[31m\x00\ud800\nboth'
    result = {**RESULT, "state": "failed", "reason": reason}
    write_junit(tmp_path / "a.xml", result, [parse("accuracy>=0.1").judge(result)])
    counts, cases = suite(tmp_path / "a.xml")
    assert (counts["errors"], counts["failures"]) == ("1", "1")
    assert cases["train"] == ['error: failed: worker 1 said <"&?[31m??\nboth']
    assert cases["test accuracy>=0.1"] == ["failure: the run has not finished: failed"]


def test_where_no_junit_can_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--junit .*/no/a\.xml cannot be written: No such file or directory\."):
        write_junit(tmp_path / "no" / "a.xml", RESULT, [])


def test_a_metric_of_any_name_can_be_required_where_it_is_measured() -> None:
    result = {"loss": 0.1, "metrics": {"f-score": 0.8}, "validation": {"f-score": 0.7, "auc": 0.9}}
    assert parse("f-score>=0.7").judge(result).passed
    assert parse("training.f-score > 0.75").judge(result).passed
    assert not parse("validation.top-k>=0.1").judge(result).passed
    refuse_impossible([parse("f-score>0"), parse("validation.auc>0.5")], facts(), ("accuracy", "f-score", "auc"))
    with pytest.raises(UserError, match=r"measured at validations and test alone. Require validation.auc."):
        refuse_impossible([parse("training.auc>0.5")], facts(), ("auc",))
