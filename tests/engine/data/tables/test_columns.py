"""Columns of a table as numbers: fitted on the training rows only, and applied to any."""

from pathlib import Path

import numpy as np
import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import features, sequence, tokens
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.loading.preview_data import preview
from netwright.engine.data.loading.split import untrained_classes
from netwright.engine.data.sources.source import Outline
from netwright.engine.project.check import check
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import IGNORED, TargetInfo, Task
from netwright.engine.project.project import Project

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
    write(tmp_path, [f"c{row % 55:02d}" for row in range(600)])
    assert len(facts(OPTIONS, tmp_path).inputs[0].columns) == 51
    write(tmp_path, [f"c{row:02d}" for row in range(60)])
    assert len(facts(OPTIONS, tmp_path).inputs[0].columns) == 31
    assert len(facts(OPTIONS.replace(validation_share=0.0, test_share=0.0), tmp_path).inputs[0].columns) == 1


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


GAPS = "a,kind,y\n" + "".join(f"{a},{kind},{y}\n" for a, kind, y in [
    (1, "x", 0.5), ("", "x", 1.5), (4, "NA", 2.5), (10, "z", "?"), (6, "z", 3.5), ("N/A", "x", 4.5), (1, "x", 5.5)
])  # fmt: skip
WHOLE = OPTIONS.replace(validation_share=0.0, test_share=0.0)
IMPUTE = WHOLE.replace(missing_values="impute", impute_texts="most-frequent")


def inputs(folder: Path, options: DataOptions, text: str = GAPS) -> list[list[float]]:
    (folder / "t.csv").write_text(text)
    numbers: list[list[float]] = load(options, folder).split("training").inputs[0].tolist()
    return numbers


def test_missing_values_are_imputed_by_what_the_training_rows_have(tmp_path: Path) -> None:
    assert inputs(tmp_path, IMPUTE) == [[1, 1, 0], [3, 1, 0], [4, 1, 0], [6, 0, 1], [3, 1, 0], [1, 1, 0]]
    assert facts(IMPUTE, tmp_path).notes == (
        "Left out because a response is missing: 1 row.",
        "Column 'a': 2 missing values taken as 3, the mean of the training rows (data.missing_values).",
        "Column 'kind' holds texts: encoded as 2 inputs of 0 or 1 (x, z).",
        "Column 'kind': 1 missing value taken as x, the most frequent of the training rows (data.missing_values).",
    )
    median = IMPUTE.replace(impute_numbers="median", impute_texts="category")
    assert inputs(tmp_path, median)[1:3] == [[2.5, 0, 1, 0], [4, 1, 0, 0]]
    found = facts(median, tmp_path)
    assert found.inputs[0].columns == ("a", "kind=(missing)", "kind=x", "kind=z")
    assert [column.missing for column in found.inputs[0].prepared] == [2.5, "(missing)"]
    look = preview(IMPUTE, tmp_path, tmp_path / "look", 3)
    assert [column["kind"] for column in look["columns"]] == [
        "number, 2 missing",
        "text, 2 different, 1 missing",
        "number",
    ]
    assert look["rows"][1] == ["", "x", 1.5]


def test_values_for_gaps_are_fitted_on_training_rows_alone(tmp_path: Path) -> None:
    options = OPTIONS.replace(missing_values="impute", impute_texts="most-frequent")
    rows = [[str(row), "red" if row % 3 else "blue"] for row in range(40)]
    (tmp_path / "t.csv").write_text("a,c,y\n" + "".join(f"{a},{c},{n}.5\n" for n, (a, c) in enumerate(rows)))
    data = load(options, tmp_path)
    kept = data.numbers["training"]
    for row in data.numbers["validation"]:
        rows[row] = ["1e6", "blue"]
    rows[data.numbers["test"][0]] = ["", ""]
    (tmp_path / "t.csv").write_text("a,c,y\n" + "".join(f"{a},{c},{n}.5\n" for n, (a, c) in enumerate(rows)))
    after = load(options, tmp_path)
    assert after.facts.inputs == data.facts.inputs
    assert after.facts.inputs[0].prepared[0].missing == float(np.mean(kept))
    assert after.split("test").inputs[0][0].tolist() == [np.float32(np.mean(kept)), 0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,y\n,1.5\nNA,2.5\n", "Column 'a' of T has no value in any training row. Leave the column out"),
        ("a,y\n1,\n2,\n", "Each row of T lacks a response."),
        ("a,y\n1,1.5\n,2.5\ninf,3.5\n", "Column 'a' of T, line 4: expected a finite number, received \"inf\"."),
        ("a,y\n1,1.5\n,2.5\n2,3.5\noops,4.5\n", "Column 'a' of T, line 5: expected a number, received \"oops\"."),
    ],
)
def test_what_cannot_be_imputed_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        inputs(tmp_path, IMPUTE, text)
    assert str(error.value).replace(str(tmp_path / "t.csv"), "T").startswith(message)


def test_numbers_with_thousands_and_gaps(tmp_path: Path) -> None:
    assert inputs(tmp_path, IMPUTE, 'a,y\n"1,000",1.5\n,2.5\n"3,000",3.5\n') == [[1000], [2000], [3000]]


DATES = {
    "2024-01-31": ["2024-01-31", "2024-02-01", "2024-02-02"],
    "2024/01/31": ["2024/1/31", "2024/2/1", "2024/02/02"],
    "31.01.2024": ["31.1.2024", "01.02.2024", "2.2.2024"],
    "31/01/2024": ["31/01/2024", "1/2/2024", "02-02-2024"],
    "01/31/2024": ["1/31/2024", "2/1/2024", "02/02/2024"],
    "31-Jan-2024": ["31-Jan-2024", "1 February 2024", "02-feb-2024"],
    "Jan 31, 2024": ["Jan 31, 2024", "February 1, 2024", "Feb. 2 2024"],
}


@pytest.mark.parametrize("form", DATES)
def test_dates_become_numbers_in_any_common_form(tmp_path: Path, form: str) -> None:
    text = "d,y\n" + "".join(f'"{text}",{row}.5\n' for row, text in enumerate(DATES[form]))
    assert inputs(tmp_path, WHOLE.replace(dates="all"), text) == [[2024, 1, 3, 0], [2024, 2, 4, 1], [2024, 2, 5, 2]]
    (column,) = facts(WHOLE.replace(dates="all"), tmp_path).inputs[0].prepared
    assert (column.kind, column.form, column.origin) == ("date", form, "2024-01-31")
    assert inputs(tmp_path, WHOLE.replace(dates="elapsed"), text) == [[0], [1], [2]]
    assert inputs(tmp_path, WHOLE.replace(dates="texts"), text)[0] in ([0, 0, 1], [0, 1, 0], [1, 0, 0])


def test_times_give_hours_and_fractions_of_days(tmp_path: Path) -> None:
    text = "d,y\n2024-01-31T12:00:00+02:00,1.5\n2024-02-01 06:30,2.5\n2024-02-01T06:30:00Z,3.5\n"
    assert inputs(tmp_path, WHOLE.replace(dates="calendar"), text) == [[2024, 1, 3, 10], *[[2024, 2, 4, 6.5]] * 2]
    matlab = 'd,y\n31-Jan-2024 23:59:59,1.5\n"31-Jan-2024 12:00 PM",2.5\n"31-Jan-2024 12:00 AM",3.5\n'
    assert inputs(tmp_path, WHOLE.replace(dates="elapsed"), matlab)[1:] == [[0.5], [0]]


def test_a_missing_date_is_the_median_of_the_training_rows(tmp_path: Path) -> None:
    text = "d,y\n1.1.2024,1.5\n,2.5\n5.1.2024,3.5\n2.1.2024,4.5\n"
    assert inputs(tmp_path, IMPUTE.replace(dates="elapsed"), text) == [[0], [1], [4], [1]]
    assert facts(IMPUTE.replace(dates="elapsed"), tmp_path).notes[-1] == (
        "Column 'd': 1 missing value taken as 2024-01-02T00:00:00, the median of the training rows "
        "(data.missing_values)."
    )


@pytest.mark.parametrize(
    ("settings", "mark", "month", "order"),
    [({}, ".", 3, "month"), ({"date_order": "day-first"}, ".", 4, "day"), ({}, ",", 4, "day")],
)
def test_day_and_month_that_cannot_be_told_apart_are_decided_with_a_note(
    tmp_path: Path, settings: dict[str, str], mark: str, month: int, order: str
) -> None:
    options = WHOLE.replace(dates="calendar", **settings)
    text = f"d;y\n03/04/2024;1{mark}5\n05/06/2024;2{mark}5\n"
    assert inputs(tmp_path, options, text)[0][:2] == [2024, month]
    assert facts(options, tmp_path).notes[-1] == (
        f"Column 'd': no date tells day and month apart; the {order} is taken to stand first (data.date_order)."
    )


def test_a_text_among_dates_is_named(tmp_path: Path) -> None:
    texts = [*(f"{day}/04/2024" for day in range(1, 31)), "31/04/2024", "soon"]
    with pytest.raises(UserError, match=r"row 31: expected a date such as 31/01/2024, .* received \"31/04/2024\""):
        inputs(tmp_path, WHOLE, "d,y\n" + "".join(f"{t},{n}.5\n" for n, t in enumerate(texts)))


def test_a_date_of_another_form_outside_training_is_named(tmp_path: Path) -> None:
    options = OPTIONS.replace(dates="all")
    texts = [f"{day}.1.2024" for day in range(1, 31)]
    (tmp_path / "t.csv").write_text("d,y\n" + "".join(f"{text},{row}.5\n" for row, text in enumerate(texts)))
    place = load(options, tmp_path).numbers["validation"][0]
    texts[place] = "May 1, 2024"
    (tmp_path / "t.csv").write_text("d,y\n" + "".join(f'"{text}",{row}.5\n' for row, text in enumerate(texts)))
    with pytest.raises(UserError, match=rf"row {place + 1}: expected a date such as 31\.01\.2024, .* \"May 1, 2024\""):
        load(options, tmp_path)


def test_categories_as_indices_are_inputs_of_their_own(tmp_path: Path) -> None:
    options = OPTIONS.replace(category_encoding="indices")
    colours = ["red", "blue"] * 20
    write(tmp_path, colours)
    colours[load(options, tmp_path).numbers["validation"][0]] = "green"
    write(tmp_path, colours)
    data = load(options, tmp_path)
    assert [(given.name, given.type, given.columns) for given in data.facts.inputs] == [
        ("features", features(1), ("a",)),
        ("colour", tokens(1), ("colour",)),
    ]
    training, validation = data.split("training"), data.split("validation")
    assert training.inputs[1].dtype == np.int64
    rows = data.numbers["training"]
    assert training.inputs[1][:, 0].tolist() == [1 if colours[row] == "blue" else 2 for row in rows]
    assert validation.inputs[1][0].tolist() == [0]
    assert "An embedding needs a vocabulary of 3." in data.facts.notes[0]
    assert data.facts.notes[1].endswith("Its index is 0 in 1 row of the other splits.")
    assert data.largest(1) == 2


def test_validation_data_of_its_own_is_encoded_as_the_training_rows_are(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("d,c,n,y\n1.1.2024,a,1,0.5\n5.1.2024,b,,1.5\n3.1.2024,a,4,2.5\n")
    (tmp_path / "v.csv").write_text("d,c,n,y\n2.1.2024,z,,0.5\n,b,7,1.5\n")
    options = IMPUTE.replace(dates="elapsed", validation_path="v.csv")
    data = load(options, tmp_path)
    assert data.split("validation").inputs[0].tolist() == [[1, 0, 0, 2.5], [2, 0, 1, 7]]
    (tmp_path / "v.csv").write_text("d,c,n,y\n2 Jan 2024,z,,0.5\n3 Jan 2024,b,7,1.5\n")
    with pytest.raises(UserError, match=r"Column 'd' holds \"2 Jan 2024\"; expected a date such as 31\.01\.2024"):
        load(options, tmp_path)


def test_a_column_knows_its_range_and_whether_it_counts(tmp_path: Path) -> None:
    lines = [f"{1 + row % 7},{row / 8},{row}" for row in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["rooms,area,y", *lines]))
    data = load(OPTIONS, tmp_path)
    training = data.numbers["training"]
    rooms, area = data.facts.inputs[0].prepared
    assert (rooms.span, rooms.numbers) == ((1.0, float(np.median(1 + training % 7)), 7.0), "whole")
    assert (area.span[0], area.span[2], area.numbers) == (training.min() / 8, training.max() / 8, "any")
