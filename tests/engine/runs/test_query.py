"""Finding runs by words and conditions, and bringing them in order."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.runs.notes import Notes
from netwright.engine.runs.query import Order, as_csv, matching, order_by, refuse_unknown
from netwright.engine.runs.summary import RunSummary


def run(name: str, created: float, state: str = "finished", notes: Notes | None = None, **result: Any) -> RunSummary:
    options = result.pop("options", {})
    return RunSummary(
        path=Path("/runs") / name,
        name="digits",
        state=state,
        created=created,
        environment="cpu",
        result=result,
        so_far={},
        notes=notes or Notes(),
        options=options,
    )


A = run("a", 1, validation={"loss": 0.5, "accuracy": 0.8}, epochs=3, seconds=9.0)
B = run("b", 2, "failed", Notes("Too high a rate", ("paper",)), reason="out of memory on cuda:0")
C = run("c", 3, validation={"loss": 0.2}, test={"loss": 0.3, "accuracy": 0.9}, options={"training.max_epochs": 60})
D = run("d", 4, "running", test={"loss": "NaN"}, loss=0.1)
RUNS = [D, C, B, A]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "dcba"),
        ("digits CPU", "dcba"),
        ("memory", "b"),
        ("high paper", "b"),
        ("high nowhere", ""),
        ("state:failed", "b"),
        ("state:fail", ""),
        ("tag:PAPER", "b"),
        ("accuracy>0.85", "c"),
        ("loss<=0.5", "ca"),
        ("validation.loss<0.3", "c"),
        ("training.loss<1", "d"),
        ("epochs>=3", "a"),
        ("training.max_epochs=60", "c"),
        ("training.max_epochs<60", "dba"),
        ("training.solver=SGDM", "dcba"),
        ("accuracy>", ""),
        ("state:", ""),
    ],
)
def test_what_is_found(text: str, names: str) -> None:
    assert "".join(run.path.name for run in matching(RUNS, text)) == names


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("created", "dcba"),
        ("run", "abcd"),
        ("state", "bcad"),
        ("validation.loss", "cadb"),
        ("accuracy", "cadb"),
        ("loss", "cadb"),
        ("seconds", "adcb"),
    ],
)
def test_orders_have_what_is_not_known_at_the_end(key: str, names: str) -> None:
    assert "".join(run.path.name for run in order_by(key, RUNS).sorted(RUNS)) == names


def test_an_order_the_other_way_round_and_one_that_is_not_known() -> None:
    assert "".join(r.path.name for r in order_by("loss", RUNS, is_reversed=True).sorted(RUNS)) == "acdb"
    with pytest.raises(UserError, match=r"--sort acuracy: no run has that\. Did you mean 'accuracy'"):
        order_by("acuracy", RUNS)


def test_a_table_has_every_figure_and_option() -> None:
    header, _, c, b, a = as_csv(RUNS).splitlines()
    assert header == (
        "run,project,state,created,environment,epochs,iterations,seconds,validation.loss,validation.accuracy,"
        "test.loss,test.accuracy,training.loss,tags,note,reason,changes,training.max_epochs"
    )
    assert c.split(",")[8:13] == ["0.2", "", "0.3", "0.9", ""]
    assert b.endswith(",paper,Too high a rate,out of memory on cuda:0,,30")
    assert a.split(",")[5:10] == ["3", "", "9", "0.5", "0.8"]
    assert c.endswith(",60")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("acuracy>0.9", "--filter acuracy>0.9: no run has 'acuracy'. Did you mean 'accuracy'? Metrics are: "),
        ("validation.los<1", "Did you mean 'validation.loss'?"),
        ("training.max_epoch=30", "Did you mean 'training.max_epochs'?"),
        ("digits state:bogus", "--filter state:bogus: there is no state 'bogus'. States are: starting, running, "),
        ("state:finsihed", "Did you mean 'finished'?"),
    ],
)
def test_a_condition_that_no_run_can_meet_is_refused(text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        refuse_unknown(RUNS, text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "digits failed a:b a=b",
        "state:failed state:damaged tag:none",
        "accuracy>0.9 rmse<1 epochs>=5 seconds<9",
        "validation.loss<0.2 training.loss<1 test.r2>0",
        "training.max_epochs=30 training.solver=adam data.source=digits",
    ],
)
def test_a_condition_that_a_run_may_meet_is_not_refused(text: str) -> None:
    refuse_unknown(RUNS, text)
    refuse_unknown([], text)


def test_a_metric_without_a_split_is_asked_of_all_held_out_samples() -> None:
    """A run of 95.2 % on the test and 94.8 % on the validation split is not above 95 %."""
    both = run("both", 1, test={"accuracy": 0.952}, validation={"accuracy": 0.948})
    assert matching([both], "accuracy>0.95") == []
    assert matching([both], "accuracy>0.94") == matching([both], "test.accuracy>0.95") == [both]


def test_a_run_is_named_by_its_number_solver_and_rate_unless_the_user_names_it() -> None:
    plain = replace(run("2026-11-22_05-32-54_digits", 1), run_number=5)
    assert plain.title == "Run 5 · sgdm, 0.01"
    adam = {"training.solver": "adam", "training.initial_learn_rate": 0.02}
    assert replace(plain, options=adam).title == "Run 5 · adam, 0.02"
    assert replace(plain, options={"training.solver": "lm"}).title == "Run 5 · lm", "which has no rate"
    named = replace(plain, notes=Notes(run_name="with dropout"))
    assert named.title == "with dropout"
    assert replace(plain, run_number=0).title == "2026-11-22_05-32-54_digits", "of an older version"
    assert matching([plain, named], "dropout") == [named]


def test_options_are_sorted_by_number_else_by_text() -> None:
    rates = [0.1, 0.02, 0.003]
    runs = [run(f"r{n}", n, options={"training.initial_learn_rate": rate}) for n, rate in enumerate(rates)]
    key = "option:training.initial_learn_rate"
    assert [one.path.name for one in Order(key, is_down=False).sorted(runs)] == ["r2", "r1", "r0"]
