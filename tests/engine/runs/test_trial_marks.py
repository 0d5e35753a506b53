from pathlib import Path

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.notes import Notes
from netwright.engine.runs.trial_marks import FILE, Marks, TrialMarks, mark_trials, pin_baseline, read_marks


def test_marks_are_kept_and_each_change_leaves_the_others(tmp_path: Path) -> None:
    folder = ExperimentFolder(tmp_path)
    assert read_marks(folder) == Marks()
    mark_trials(folder, [1, 2], note=" longer ", tags=("b", "a"), colour="green")
    mark_trials(folder, [2], is_hidden=True, cell=("validation.accuracy", "one fold is off"))
    pin_baseline(folder, 1)
    mark_trials(folder, [1], note="")
    marks = read_marks(folder)
    assert marks.baseline == 1
    assert marks.of(1) == TrialMarks(Notes("", ("a", "b")), "green")
    assert marks.of(2) == TrialMarks(
        Notes("longer", ("a", "b")), "green", True, {"validation.accuracy": "one fold is off"}
    )
    mark_trials(folder, [2], cell=("validation.accuracy", ""))
    assert not read_marks(folder).of(2).cells


def test_what_cannot_be_kept_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    folder = ExperimentFolder(tmp_path)
    mark_trials(folder, [1], colour="#00ff7f")
    for wrong in ({"colour": "reddish"}, {"note": "x" * 4001}, {"tags": ("a,b",)}, {"cell": ("note", "x" * 4001)}):
        with pytest.raises(UserError):
            mark_trials(folder, [1], **wrong)
    assert read_marks(folder).trials == {1: TrialMarks(colour="#00ff7f")}


def test_a_damaged_file_shows_nothing_and_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"trials": {"1": {"note": ')
    folder = ExperimentFolder(tmp_path)
    assert read_marks(folder) == Marks(is_sound=False)
    with pytest.raises(UserError, match="damaged"):
        mark_trials(folder, [1], note="new")
    (tmp_path / FILE).write_text('{"baseline": true, "trials": {"x": {}, "2": {"colour": 7, "cells": {"a": 1}}}}')
    assert read_marks(folder) == Marks({2: TrialMarks()})
