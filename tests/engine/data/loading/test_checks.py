"""Checks of data before training: each finds what was put there, names it, and offers the edit that removes it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from netwright.engine.core import progress
from netwright.engine.data.loading import scan as scanning
from netwright.engine.data.loading.checks import PASSED, check_data
from netwright.engine.data.loading.findings import DataCheck
from netwright.engine.operations.data_check import Finding
from netwright.engine.project.data import DataOptions

RANDOM = np.random.default_rng(5)
TABLE = DataOptions(source="table", path="t.csv")
ARRAYS = DataOptions(source="arrays", path="a.npz")
IMAGES = DataOptions(source="images", path="pets")


def write_table(folder: Path, rows: list[str], head: str = "a,b,c,d,y") -> None:
    (folder / "t.csv").write_text("\n".join([head, *rows]) + "\n")


def rows_of(count: int, *more: str) -> list[str]:
    """Rows of random numbers whose class is random, too."""
    numbers = RANDOM.normal(size=(count, 4))
    return [
        ",".join([*(f"{number:.5f}" for number in row), f"c{index % 2}", *more]) for index, row in enumerate(numbers)
    ]


def write_images(folder: Path, count: int = 12) -> None:
    for name in ("cat", "dog"):
        (folder / "pets" / name).mkdir(parents=True)
        for index in range(count):
            pixels = RANDOM.integers(0, 256, (20, 24), np.uint8)
            Image.fromarray(pixels).save(folder / "pets" / name / f"{index:02d}.png")


def only(result: DataCheck, kind: str) -> Finding:
    found = [finding for finding in result.findings if finding.kind == kind]
    assert len(found) == 1, [finding.title for finding in result.findings]
    return found[0]


def kinds(result: DataCheck) -> set[str]:
    return {finding.kind for finding in result.findings}


def test_good_data_passes(tmp_path: Path) -> None:
    write_table(tmp_path, rows_of(60))
    result = check_data(TABLE, tmp_path, labels=True)
    assert kinds(result) <= {"labels"}
    assert (result.samples, result.checked, result.has_errors) == (60, 60, False)
    assert PASSED["leak"] in result.passed


def test_equal_rows_are_told_apart_by_split_and_target(tmp_path: Path) -> None:
    rows = rows_of(60)
    rows += [rows[0]] * 30 + [rows[1].replace("c1", "c0")]
    write_table(tmp_path, rows)
    result = check_data(TABLE, tmp_path)
    within, across = only(result, "duplicates"), only(result, "split_duplicates")
    assert within.count + across.count == 30
    name, text = across.items[0]
    assert name.startswith("row ")
    assert "the same as row" in text
    assert text.endswith(", training")
    (contradiction,) = only(result, "contradictions").items
    assert contradiction in (("row 91", "the inputs of row 2; c0 and c1"), ("row 2", "the inputs of row 91; c1 and c0"))
    assert not within.fixes, "rows are removed in the file"


def test_columns_that_are_constant_or_give_the_target_away_can_be_left_out(tmp_path: Path) -> None:
    rows = rows_of(80)
    both = [
        f"{row.rpartition(',')[0]},7,{'east' if index % 2 else 'west'},c{index % 2}" for index, row in enumerate(rows)
    ]
    write_table(tmp_path, both, "a,b,c,d,flat,facing,y")
    result = check_data(TABLE.replace(left_out="d"), tmp_path)
    constant, leak = only(result, "constant"), only(result, "leak")
    assert constant.items == (("flat", "always 7"),)
    assert leak.items == (("facing", "each of its values has one class of y"),)
    (fix,) = leak.fixes
    assert fix.options == {"left_out": "d, facing"}
    again = check_data(TABLE.replace(left_out="flat, facing"), tmp_path)
    assert not {"constant", "leak"} & kinds(again)


@pytest.mark.parametrize(("function", "how"), [(lambda y: 3 * y + 1, "correlation 1.0"), (np.exp, "rank correlation")])
def test_a_column_that_is_a_function_of_a_number(tmp_path: Path, function: Any, how: str) -> None:
    y = RANDOM.normal(size=100)
    x = np.stack([RANDOM.normal(size=100), function(y)], 1)
    np.savez(tmp_path / "a.npz", x=x.astype(np.float32), y=y.astype(np.float32))
    leak = only(check_data(ARRAYS, tmp_path), "leak")
    assert [name for name, _ in leak.items] == ["x[1]"]
    assert leak.items[0][1].startswith(how)


def test_classes_with_few_samples_are_named_with_the_threshold(tmp_path: Path) -> None:
    write_table(tmp_path, [*rows_of(60), "1,2,3,4,rare"])
    few = only(check_data(TABLE, tmp_path), "few_samples")
    assert few.title == "1 class with fewer than 10 training samples"
    assert few.items == (("rare", "1 training sample"),)


def test_rows_that_are_equal_to_four_digits(tmp_path: Path) -> None:
    x = RANDOM.normal(size=(50, 6)).astype(np.float32)
    x[20] = np.nextafter(x[3], np.float32(9))  # as written with fewer digits and read again
    np.savez(tmp_path / "a.npz", x=x, y=np.arange(50) % 2)
    near = only(check_data(ARRAYS, tmp_path), "near_duplicates")
    assert near.items == (("sample 21", "like sample 4"),)


def test_rows_that_are_alike_by_chance_are_no_near_duplicates(tmp_path: Path) -> None:
    x = np.stack([RANDOM.integers(1, 10, 3000) + RANDOM.normal(size=3000) * 1e-7 for _ in range(4)], axis=1)
    np.savez(tmp_path / "a.npz", x=x, y=np.arange(3000) % 2)
    assert "near_duplicates" not in kinds(check_data(ARRAYS, tmp_path))


def test_a_table_with_gaps_is_an_error_with_its_way_out(tmp_path: Path) -> None:
    write_table(tmp_path, [*rows_of(20), "1,,3,4,c0"])
    strict = TABLE.replace(missing_values="refuse")
    result = check_data(strict, tmp_path)
    assert result.has_errors
    refused = only(result, "refused")
    assert "line 22" in refused.title
    assert [fix.label for fix in refused.fixes] == ["Drop rows", "Fill in", "Leave out the column"]
    for fix in refused.fixes:
        assert not check_data(strict.replace(**fix.options), tmp_path).has_errors


def test_gaps_are_told_with_three_cures_until_one_is_chosen(tmp_path: Path) -> None:
    write_table(tmp_path, [*rows_of(20), "1,,3,4,c0", "2,,3,4,c1"])
    result = check_data(TABLE, tmp_path)
    gaps = only(result, "gaps")
    assert gaps.title == "2 of 22 rows have no b"
    assert [fix.label for fix in gaps.fixes] == ["Drop rows", "Fill in", "Leave out the column"]
    for fix in gaps.fixes:
        assert "gaps" not in kinds(check_data(TABLE.replace(**fix.options), tmp_path))


def test_a_long_table_without_its_group_is_cured_by_the_column_that_tells_series_apart(tmp_path: Path) -> None:
    rows = [
        f"2024-01-{day:02d},{place},{day + 3 * number}" for number, place in enumerate("ABC") for day in range(1, 29)
    ]
    (tmp_path / "s.csv").write_text("\n".join(["day,place,sales", *rows]) + "\n")
    options = DataOptions(source="series", path="s.csv", time_column="day", lags=3)
    refused = only(check_data(options, tmp_path), "refused")
    (fix,) = refused.fixes
    assert (fix.label, fix.options) == ("Use place as the group", {"group_column": "place"})


def test_samples_that_are_not_finite_are_all_named(tmp_path: Path) -> None:
    x = RANDOM.normal(size=(50, 4)).astype(np.float32)
    x[7, 2], x[30, 0] = np.nan, np.inf
    np.savez(tmp_path / "a.npz", x=x, y=np.arange(50) % 2)
    result = check_data(ARRAYS, tmp_path)
    unreadable = only(result, "unreadable")
    assert unreadable.severity == "error"
    assert [name for name, _ in unreadable.items] == ["sample 8", "sample 31"]
    assert result.checked == 50


def test_image_files_damaged_doubled_alike_and_of_another_size(tmp_path: Path) -> None:
    write_images(tmp_path)
    folder = tmp_path / "pets" / "cat"
    whole = (folder / "01.png").read_bytes()
    (folder / "20.png").write_bytes(whole)
    (folder / "21.png").write_bytes(whole[:200])
    smooth = Image.fromarray(np.add.outer(np.arange(20), np.arange(24)).astype(np.uint8) * 5)
    smooth.save(folder / "22.png")
    smooth.save(folder / "23.jpg", quality=97)
    Image.new("L", (30, 30), 9).save(folder / "24.png")
    assert "unreadable" not in kinds(check_data(IMAGES, tmp_path)), "left out before"
    strict = IMAGES.replace(bad_samples="fatal")
    result = check_data(strict, tmp_path)
    assert [name for name, _ in only(result, "unreadable").items] == ["cat/21.png"]
    doubled = next(finding for finding in result.findings if finding.kind in ("duplicates", "split_duplicates"))
    assert doubled.count == 1
    assert {doubled.items[0][0], doubled.items[0][1].split("the same as ")[1].split(",")[0]} == {
        "cat/01.png",
        "cat/20.png",
    }
    assert "cat/23.jpg" in {name for name, _ in only(result, "near_duplicates").items}
    assert only(result, "resized").items == (("cat/24.png", "30 × 30"),)
    fixed = strict
    for finding in result.findings:
        for fix in finding.fixes:
            fixed = fixed.replace(excluded_files=tuple({*fixed.excluded_files, *fix.options["excluded_files"]}))
    assert kinds(check_data(fixed, tmp_path)) <= {"few_samples", "resized"}


def test_labels_that_similar_samples_contradict_are_looked_for_on_request(tmp_path: Path) -> None:
    y = np.arange(200) % 2
    x = RANDOM.normal(size=(200, 5)).astype(np.float32) + 6 * y[:, np.newaxis]
    y[50], y[61] = 1, 0
    np.savez(tmp_path / "a.npz", x=x.astype(np.float32), y=y)
    assert "labels" not in kinds(check_data(ARRAYS, tmp_path))
    labels = only(check_data(ARRAYS, tmp_path, labels=True), "labels")
    assert [name for name, _ in labels.items] == ["sample 51", "sample 62"]
    assert labels.items[0][1] == "labelled 1; 15 of 15 similar samples are 0"


def test_of_many_samples_some_are_checked_and_progress_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "a.npz", x=RANDOM.normal(size=(100, 4)).astype(np.float32), y=np.arange(100) % 2)
    monkeypatch.setattr(scanning, "MOST_SAMPLES", 40)
    told: list[tuple[int, int, str]] = []
    with progress.listening(lambda *values: told.append(values)):
        result = check_data(ARRAYS, tmp_path)
    assert (result.samples, result.checked) == (100, 40)
    assert told[-1] == (40, 40, "samples")


def test_what_is_not_checked_is_not_said_to_have_passed(tmp_path: Path) -> None:
    x = RANDOM.normal(size=(30, 6, 2)).astype(np.float32)
    np.savez(tmp_path / "a.npz", x=x, y=(RANDOM.random((30, 6)) > 0.5).astype(np.int64))
    passed = check_data(ARRAYS, tmp_path, labels=True).passed
    assert PASSED["unreadable"] in passed
    assert not {PASSED[kind] for kind in ("contradictions", "few_samples", "labels", "leak", "constant")} & {*passed}


def test_hashes_are_equal_where_rows_are() -> None:
    x = RANDOM.normal(size=(1000, 7)).astype(np.float32)
    x[500:] = x[:500]
    hashes = scanning.sum_of_hashes([x, x[:, :3].astype(np.uint8)])
    assert (hashes[:500] == hashes[500:]).all()
    assert len(np.unique(hashes)) == 500
    flipped = x.copy()
    flipped[:, 2] *= -1
    assert not (scanning.sum_of_hashes([flipped]) == scanning.sum_of_hashes([x])).any()
