"""A chain of schedules as text: what it takes, what it refuses, and that it comes back as it was."""

import json

import pytest

from netwright.engine.core.errors import FieldErrors
from netwright.engine.project.options.schedule import Phase
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.training import TrainingOptions

TEXT = "warmup 100 iterations, none 1 epoch times 0.5, piecewise 9 epochs learn_rate_drop_period=3, cosine"


def chain(text: object) -> TrainingOptions:
    return TrainingOptions(schedule="chain", schedule_chain=text)


def test_text_becomes_phases_and_text_again() -> None:
    options = chain(TEXT)
    assert options.schedule_chain == (
        Phase("warmup", 100, "iterations"),
        Phase("none", 1, "epochs", 0.5),
        Phase("piecewise", 9, "epochs", 1.0, (("learn_rate_drop_period", "3"),)),
        Phase("cosine"),
    )
    assert TrainingOptions.schedule_chain.show(options.schedule_chain) == TEXT
    written = json.loads(json.dumps(options.write()))
    assert written == {"schedule": "chain", "schedule_chain": TEXT.split(", ")}
    assert TrainingOptions.read(written, "training") == options
    by_words = set_option(Project(), f"training.schedule_chain={TEXT}").training
    assert by_words.schedule_chain == options.schedule_chain


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cosin 5 epochs", "at the start of \"cosin 5 epochs\". Did you mean 'cosine'?"),
        ("warmup 5", "expected schedules separated by commas"),
        ("warmup 5 hours", "expected 5 iterations or epochs"),
        ("warmup 0 epochs", "length of a phase: expected a whole number from 1"),
        ("cosine times 0", "times: expected a number above 0"),
        ("cosine lowest_rate=3", 'no schedule has an option "lowest_rate"'),
        ("cosine lowest_rate_factor=3", "lowest_rate_factor: expected a number of at least 0 and up to 1"),
        ("chain 5 epochs", "expected one of none, piecewise"),
        (7, "received 7"),
        ([["cosine"]], "expected schedules"),
    ],
)
def test_what_it_refuses(text: object, said: str) -> None:
    with pytest.raises(FieldErrors) as refused:
        chain(text)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "enter schedules, such as"),
        ("none, cosine", "say how long 'none' lasts"),
        ("none 5 epochs, warmup", "say how long the warm-up lasts"),
        ("plateau 5 epochs, none", "put it last"),
        ("warmup 5 iterations, plateau", ""),
    ],
)
def test_chains_that_cannot_be_meant(text: str, said: str) -> None:
    found = [error.message for error in chain(text).problems()]
    assert bool(found) == bool(said)
    assert said in "".join(found)


def test_the_options_of_its_schedules_apply() -> None:
    shown = [name for name in TrainingOptions.fields if chain("none 2 epochs, piecewise").is_visible(name)]
    assert {"schedule_chain", "learn_rate_drop_factor"} <= set(shown)
    assert not {"warmup_iterations", "cycle_period", "restart_period"} & set(shown)
    assert not chain("cosine").replace(solver="lm").is_visible("schedule")
