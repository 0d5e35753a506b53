"""Columns of a table as numbers: fitted on the training rows only, and applied to any."""

from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import UserError
from engine.core.types import features, sequence
from engine.data.load import facts, load, preview, untrained_classes
from engine.data.sources.source import Outline
from engine.project.check import check
from engine.project.data import DataOptions
from engine.project.dataset_info import IGNORED, TargetInfo, Task
from engine.project.project import Project

OPTIONS = DataOptions(source="table", path="t.csv", validation_share=0.3, test_share=0.2)


def write(folder: Path, colours: list[str]) -> None:
    (folder / "t.csv").write_text(
        "a,colour,y\n" + "".join(f"{row},{colour},{row}.5\n" for row, colour in enumerate(colours))
    )


def test_a_category_outside_training_changes_neither_the_inputs_nor_the_training(tmp_path: Path) -> None:
    colours = ["red", "blue"] * 20
    write(tmp_path, colours)
    before = load(OPTIONS, tmp_path)
    held_out = before.numbers["validation"][0]
    colours[held_out] = "aquamarine"
    write(tmp_path, colours)
    after = load(OPTIONS, tmp_path)

    assert after.facts.inputs == before.facts.inputs
    np.testing.assert_array_equal(after.split("training").inputs[0], before.split("training").inputs[0])
    assert after.split("validation").inputs[0][0].tolist() == [held_out, 0, 0]
    assert after.facts.notes[-1] == (
        "Column 'colour': no training row has aquamarine. All its inputs are 0 in 1 row of the other splits."
    )
    assert after.facts.notes[-1] in preview(OPTIONS, tmp_path, tmp_path / "look", 3)["notes"]


def test_another_split_fits_anew(tmp_path: Path) -> None:
    colours = ["red"] * 40
    write(tmp_path, colours)
    place = load(OPTIONS, tmp_path).numbers["validation"][0]
    colours[place] = "blue"
    write(tmp_path, colours)
    assert facts(OPTIONS, tmp_path).inputs[0].columns == ("a", "colour=red")
    whole = OPTIONS.replace(validation_share=0.0, test_share=0.0)
    assert facts(whole, tmp_path).inputs[0].columns == ("a", "colour=blue", "colour=red")
    assert load(whole, tmp_path).split("training").inputs[0][place].tolist() == [place, 1, 0]
    assert facts(OPTIONS, tmp_path).inputs[0].columns == ("a", "colour=red")


def test_many_categories_count_in_training_only(tmp_path: Path) -> None:
    write(tmp_path, [f"c{row:02d}" for row in range(60)])
    assert len(facts(OPTIONS, tmp_path).inputs[0].columns) == 31
    with pytest.raises(UserError, match="holds 60 different texts"):
        facts(OPTIONS.replace(validation_share=0.0, test_share=0.0), tmp_path)


def test_a_class_without_a_training_sample_is_a_warning_that_names_it(tmp_path: Path) -> None:
    maps = np.zeros((20, 4, 4), np.int64)
    np.savez(tmp_path / "a.npz", x=np.random.default_rng(0).normal(size=(20, 1, 4, 4)), y=maps)
    options = OPTIONS.replace(source="arrays", path="a.npz")
    maps[:, 0, 0] = 1
    np.savez(tmp_path / "a.npz", x=np.random.default_rng(0).normal(size=(20, 1, 4, 4)), y=maps)
    assert facts(options, tmp_path).warnings == ()
    maps[load(options, tmp_path).numbers["test"], 1, 1] = 7
    np.savez(tmp_path / "a.npz", x=np.random.default_rng(0).normal(size=(20, 1, 4, 4)), y=maps)
    found = facts(options, tmp_path)
    assert found.classes == ("0", "1", "7")
    assert found.warnings == (
        "No training sample of 'y' has the class 7, which the network cannot learn so. Choose another split, or add "
        "samples.",
    )
    assert found.warnings[0] in preview(options, tmp_path, tmp_path / "look", 3)["notes"]
    problems = check(Project(data=options), found).problems
    assert [p.severity for p in problems if p.message == found.warnings[0]] == ["warning"]


@pytest.mark.parametrize(
    ("info", "target", "missing"),
    [
        ("labels", np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]], np.float32), "label 2"),
        ("classes", np.array([[0, IGNORED], [1, 1], [2, 2]]), "class 2"),
    ],
)
def test_classes_and_labels_that_training_lacks(info: Task, target: np.ndarray, missing: str) -> None:
    type = features(3) if info == "labels" else sequence(2, 3)
    outline = Outline((), (target,), (TargetInfo("y", type, info, ("0", "1", "2")),))
    (warning,) = untrained_classes(outline, np.array([0, 1]))
    assert f"has the {missing}, " in warning
    assert untrained_classes(outline, np.arange(3)) == []
