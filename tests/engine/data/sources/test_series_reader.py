"""Time series: what a window holds, where none may lie, how they are split, and what is refused with its line."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading import load as loading
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.data.loading.preview_data import preview
from netwright.engine.data.sources.windows import Windows
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo

WHOLE: dict[str, Any] = {"validation_share": 0.0, "test_share": 0.0}


def options(**values: Any) -> DataOptions:
    return DataOptions(source="series", **{"path": "s.csv", "lags": 3, "horizon": 2, **values})


def write(folder: Path, text: str) -> Path:
    (folder / "s.csv").write_text(text)
    return folder


def rows(count: int, *, start: int = 0) -> str:
    """Rows of a series whose load is the number of the row, and the temperature ten times that."""
    return "".join(f"{10 * i},{i}\n" for i in range(start, start + count))


def opened(folder: Path, text: str, **values: Any) -> tuple[DatasetInfo, LoadedData]:
    write(folder, text)
    chosen = options(**values)
    return facts(chosen, folder), load(chosen, folder)


def windows_of(data: LoadedData, split: str = "training") -> list[Any]:
    part = data.split(split)
    return [np.asarray(x[:]).tolist() for x in part.inputs]


def refused(folder: Path, text: str, **values: Any) -> str:
    write(folder, text)
    with pytest.raises(UserError) as error:
        facts(options(**values), folder)
    return str(error.value).replace(str(folder / "s.csv"), "S")


def test_a_window_holds_its_lags_and_predicts_the_steps_behind_them(tmp_path):
    found, data = opened(tmp_path, "temp,load\n" + rows(7), **WHOLE)
    assert [(given.name, given.type.sizes, given.columns) for given in found.inputs] == [
        ("history", (3, 2), ("load", "temp"))
    ]
    assert (found.task, found.outputs, found.targets[0].name) == ("numbers", 2, "load")
    (history,) = windows_of(data)
    assert history == [[[i + k, 10 * (i + k)] for k in range(3)] for i in range(3)]
    assert data.split("training").targets[0].tolist() == [[3, 4], [4, 5], [5, 6]]
    assert found.samples["training"] == 3


def test_columns_known_in_advance_are_a_second_input(tmp_path):
    found, data = opened(tmp_path, "temp,load\n" + rows(7), response="load", known_columns="temp", **WHOLE)
    assert [(given.name, given.type.sizes) for given in found.inputs] == [("history", (3, 2)), ("future", (2, 1))]
    assert windows_of(data)[1] == [[[30], [40]], [[40], [50]], [[50], [60]]]


def test_several_targets_are_predicted_step_by_step(tmp_path):
    found, data = opened(tmp_path, "temp,load\n" + rows(6), response="load, temp", **WHOLE)
    assert found.outputs == 4
    assert data.targets[0].tolist() == [[3, 30, 4, 40], [4, 40, 5, 50]]


def test_a_stride_leaves_windows_out(tmp_path):
    _, data = opened(tmp_path, "temp,load\n" + rows(12), stride=4, **WHOLE)
    assert [window[0][0] for window in windows_of(data)[0]] == [0, 4]


def test_a_single_column_is_a_series(tmp_path):
    found, data = opened(tmp_path, "load\n" + "".join(f"{i}\n" for i in range(6)), **WHOLE)
    assert found.inputs[0].columns == ("load",)
    assert data.targets[0].tolist() == [[3, 4], [4, 5]]


def test_no_window_crosses_from_one_series_to_the_next(tmp_path):
    mixed = "".join(f"{site},{100 * (site == 'b') + i}\n" for i in range(6) for site in "ab")
    found, data = opened(tmp_path, "site,load\n" + mixed, group_column="site", **WHOLE)
    assert [window[0][0] for window in windows_of(data)[0]] == [0, 1, 100, 101]
    assert data.targets[0].tolist() == [[3, 4], [4, 5], [103, 104], [104, 105]]
    assert found.notes == ()


def test_series_told_apart_by_numbers_are_read_the_quick_way(tmp_path):
    mixed = "".join(f"{site},{100 * site + i}\n" for i in range(5) for site in (7, 3))
    _, data = opened(tmp_path, "site,load\n" + mixed, group_column="site", **WHOLE)
    assert [window[0][0] for window in windows_of(data)[0]] == [700, 300]


def test_a_short_series_is_left_out_and_named(tmp_path):
    text = "site,load\n" + "".join(f"a,{i}\n" for i in range(6)) + "b,1\nb,2\n"
    found, _ = opened(tmp_path, text, group_column="site", **WHOLE)
    assert found.samples["training"] == 2
    assert found.notes == ('Left out because no stretch of them has lags + horizon = 3 + 2 = 5 steps: 1 series, "b".',)


def test_no_window_crosses_a_gap_in_time(tmp_path):
    times = [0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 13]
    text = "time,load\n" + "".join(f"{time},{time}\n" for time in times)
    found, data = opened(tmp_path, text, time_column="time", **WHOLE)
    assert [window[0][0] for window in windows_of(data)[0]] == [0, 1, 9]
    assert found.notes == ("1 gap in 'time', the first before line 8: 9 follows 5. No window crosses a gap.",)


@pytest.mark.parametrize("form", ["2024-01-31T{:02}:00", "2024-01-31 {:02}:00:00+01:00", "2024-01-31 {:02}:00Z"])
def test_dates_are_read_in_iso_form(tmp_path, form):
    text = "when,load\n" + "".join(f"{form.format(hour)},{hour}\n" for hour in range(8))
    found, _ = opened(tmp_path, text, time_column="when", **WHOLE)
    assert found.samples["training"] == 4
    assert found.notes == ()


def test_months_of_different_lengths_are_no_gaps(tmp_path):
    text = "when,load\n" + "".join(f"2023-{month:02}-01,{month}\n" for month in range(1, 13))
    found, _ = opened(tmp_path, text, time_column="when", **WHOLE)
    assert found.notes == ()


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ((1, 2, 2, 3), "Column 'time' of S, line 4: the time 2 stands on line 3, too."),
        (("2024-01-01", "today"), "Column 'time' of S, line 3: expected a time, received \"today\"."),
        ((1, 2, "x", 3), "Column 'time' of S, line 4: expected a number as in the rows before, received \"x\"."),
        ((1, "", 3), "Column 'time' of S, line 3: expected a number as in the rows before, the cell is empty."),
    ],
)
def test_times_that_are_no_order_are_refused(tmp_path: Path, times: Sequence[object], said: str) -> None:
    text = "time,load\n" + "".join(f"{time},{i}\n" for i, time in enumerate(times))
    assert refused(tmp_path, text, time_column="time").startswith(said)


def test_the_same_time_in_two_series_is_fine(tmp_path):
    text = "time,site,load\n" + "".join(f"{i},{site},{i}\n" for i in range(6) for site in "ab")
    found, _ = opened(tmp_path, text, time_column="time", group_column="site", **WHOLE)
    assert found.samples["training"] == 4


def test_a_missing_value_is_refused_with_its_line_or_filled(tmp_path):
    text = "temp,load\n" + rows(3) + ",3\nNA,4\n" + rows(4, start=5)
    said = refused(tmp_path, text, missing_cells="refuse")
    assert said.startswith("Column 'temp' of S, line 5: the value is missing. It has 2 such cells.")
    assert "data.missing_cells=last-value" in said
    found, data = opened(tmp_path, text, **WHOLE)
    assert found.notes == ("Column 'temp': 2 missing values filled with the last one before (data.missing_cells).",)
    assert [step[1] for step in windows_of(data)[0][-2]] == [20, 20, 50]


def test_a_value_is_never_filled_from_another_series(tmp_path):
    text = "site,load\n" + "".join(f"a,{i}\n" for i in range(6)) + "b,\n" + "".join(f"b,{i}\n" for i in range(10, 15))
    found, data = opened(tmp_path, text, group_column="site", missing_cells="last-value", **WHOLE)
    assert [window[0][0] for window in windows_of(data)[0]] == [0, 1, 10]
    assert found.notes[-1] == "Left out since there is no earlier value to fill them with: 1 row."


@pytest.mark.parametrize(
    ("text", "values", "said"),
    [
        ("load\n" + "1\n" * 4, {}, "S: the longest stretch without a gap has 4 steps; a window takes lags + horizon"),
        ("load\n1\nx\n", {}, "Column 'load' of S, line 3: expected a number, received \"x\"."),
        ("load\n1\n1e300\n", {}, "Column 'load' of S, line 3: expected a number up to 3.4e+38"),
        ("a,load\n1,2\n", {"response": "lode"}, 'S: the column "lode" to predict is not there.'),
        ("a,load\n1,2\n", {"time_column": "t"}, 'S has no column "t".'),
        ("a,load\n1,2\n", {"known_columns": "load"}, "Column 'load' is to be predicted and known in advance"),
        ("t,g\n1,2\n", {"time_column": "t", "group_column": "g"}, "S has no column of numbers to forecast"),
        ("load\n" + "1\n" * 6, {"validation_share": 0.3}, "No window fits into the training split: each takes"),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, text: str, values: dict[str, Any], said: str) -> None:
    assert refused(tmp_path, text, **values).startswith(said)


# ---- splits ----


def steps_of(data: LoadedData, split: str) -> tuple[set[float], set[float]]:
    """The steps that the windows of a split hold, and those that they predict."""
    part = data.split(split)
    return set(np.unique(part.inputs[0][:]).tolist()), set(np.unique(part.targets[0]).tolist())


def test_splits_follow_each_other_and_share_no_step(tmp_path):
    text = "load\n" + "".join(f"{i}\n" for i in range(100))
    found, data = opened(tmp_path, text, validation_share=0.2, test_share=0.2)
    each = [set.union(*steps_of(data, split)) for split in ("training", "validation", "test")]
    assert (max(each[0]), min(each[1]), max(each[1]), min(each[2])) == (59, 60, 79, 80)
    assert found.samples == {"training": 56, "validation": 16, "test": 16}
    assert found.notes == ("8 windows span two splits and are unused.",)


def test_lags_may_reach_into_the_split_before_but_no_predicted_step_is_in_two(tmp_path):
    text = "load\n" + "".join(f"{i}\n" for i in range(100))
    found, data = opened(tmp_path, text, validation_share=0.2, test_share=0.2, split_overlap="inputs")
    held, predicted = zip(*(steps_of(data, split) for split in ("training", "validation", "test")), strict=True)
    assert held[0] & held[1]
    assert not predicted[0] & predicted[1]
    assert not predicted[1] & predicted[2]
    assert (min(predicted[1]), min(predicted[2])) == (60, 80)
    assert found.samples["validation"] == 19


def test_each_series_is_split_by_itself(tmp_path):
    text = "site,load\n" + "".join(f"{s},{1000 * s + i}\n" for s in (0, 1) for i in range(50))
    _, data = opened(tmp_path, text, group_column="site", validation_share=0.2, test_share=0.2)
    for split, low, high in (("training", 0, 29), ("validation", 30, 39), ("test", 40, 49)):
        held = set.union(*steps_of(data, split))
        assert {min(held), max(held)} == {low, 1000 + high}
        assert {value % 1000 for value in held} == set(range(low, high + 1))


def test_an_empty_split_is_said(tmp_path):
    text = "load\n" + "".join(f"{i}\n" for i in range(30))
    found, _ = opened(tmp_path, text, validation_share=0.1, test_share=0.0, split_overlap="none")
    assert found.samples["validation"] == 0
    assert "The validation split has no window: each takes lags + horizon = 5 steps." in found.notes[-1]
    found, data = opened(tmp_path, text, validation_share=0.1, test_share=0.1)
    assert found.samples == {"training": 20, "validation": 2, "test": 2}
    assert "The validation and test splits have no window of 5 steps of their own" in found.notes[-1]
    assert not steps_of(data, "validation")[1] & (steps_of(data, "training")[1] | steps_of(data, "test")[1])


# ---- memory ----


def test_rows_are_held_once_however_many_windows_share_them(tmp_path):
    count, lags = 4000, 500
    _, data = opened(tmp_path, "temp,load\n" + rows(count), lags=lags, horizon=1, **WHOLE)
    (windows,) = data.inputs
    assert isinstance(windows, Windows)
    assert windows.shape == (count - lags, lags, 2)
    assert windows.rows.nbytes == count * 2 * 4
    assert data.facts.held_bytes < 3 * windows.rows.nbytes
    (history,) = data.split("training").inputs
    assert not isinstance(history, np.ndarray)


def test_digits_beyond_single_precision_are_kept(tmp_path):
    text = "clock,load\n" + "".join(f"{1.7e9 + i:.0f},{i}\n" for i in range(8))
    _, data = opened(tmp_path, text, **WHOLE)
    assert data.wider == {0}
    part = data.split("training", data.wider)
    assert part.real(0)[:, 1].tolist() == [1.7e9 + i for i in range(6)]


def test_normalisation_sees_training_rows_alone_and_each_once(tmp_path):
    text = "load\n" + "".join(f"{i}\n" for i in range(100))
    _, data = opened(tmp_path, text, validation_share=0.2, test_share=0.2)
    assert data.split("training").real(0)[:, 0].tolist() == list(range(58))


def test_the_file_is_read_once_for_facts_data_and_preview(tmp_path, monkeypatch):
    folder = write(tmp_path, "temp,load\n" + rows(40))
    facts(options(), folder)
    monkeypatch.setattr("netwright.engine.data.sources.series_reader.read_long_table", None)
    load(options(), folder)
    preview(options(), folder, tmp_path / "look", 3)
    assert loading.facts(options(validation_share=0.3), folder).samples["validation"] > 0


def test_the_preview_shows_windows_and_what_follows_them(tmp_path):
    folder = write(tmp_path, "temp,load\n" + rows(40))
    look = preview(options(validation_share=0.2), folder, tmp_path / "look", 3)
    assert look["kind"] == "series"
    first = look["series"][0]
    assert first["values"] == [[0, 1, 2], [0, 10, 20]]
    assert first["channels"] == ["load", "temp"]
    assert first["ahead"] == {"load": [3, 4]}


def test_validation_and_test_data_in_files_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("temp,load\n" + rows(6, start=100))
    (tmp_path / "t.csv").write_text("temp,load\n" + rows(5, start=200))
    text = "temp,load\n" + rows(8)
    _, data = opened(tmp_path, text, validation_path="v.csv", test_path="t.csv", **WHOLE)
    firsts = {name: [window[0][0] for window in windows_of(data, name)[0]] for name in data.numbers}
    assert firsts == {"training": [0, 1, 2, 3], "validation": [100, 101], "test": [200]}
    shares = {"validation_share": 0.5, "test_share": 0.4, "split_overlap": "none"}
    _, data = opened(tmp_path, text, validation_path="v.csv", **shares)
    firsts = {name: [window[0][0] for window in windows_of(data, name)[0]] for name in data.numbers}
    assert firsts == {"training": [0], "validation": [100, 101], "test": []}, "shares divide the training data alone"
    assert "v.csv has the columns" in refused_validation(tmp_path, "load,other\n" + rows(6))
    assert "the longest stretch" in refused_validation(tmp_path, "temp,load\n" + rows(2))


def refused_validation(folder: Path, text: str) -> str:
    (folder / "v.csv").write_text(text)
    return refused(folder, "temp,load\n" + rows(8), validation_path="v.csv", **WHOLE)


def test_parquet_files_hold_what_csv_files_hold(tmp_path: Path) -> None:
    from pyarrow import csv, parquet

    text = "time,id,temp,load\n" + "".join(
        f"2024-03-01 {i // 2:02}:00,{'ab'[i % 2]},{i / 4},{i if i != 9 else ''}\n" for i in range(24)
    )
    chosen = {"time_column": "time", "group_column": "id", "missing_cells": "last-value"}
    expected = windows_of(opened(tmp_path, text, **chosen, **WHOLE)[1])
    parquet.write_table(csv.read_csv(tmp_path / "s.csv"), tmp_path / "s.parquet")
    data = load(options(path="s.parquet", **chosen, **WHOLE), tmp_path)
    assert windows_of(data) == expected
    with pytest.raises(UserError, match=r"row 10: the value is missing of \"b\""):
        facts(options(path="s.parquet", **{**chosen, "missing_cells": "refuse"}), tmp_path)
    plain = {"time_column": "", "left_out": "time, id, load", "response": "temp"}
    assert windows_of(load(options(path="s.parquet", **plain, **WHOLE), tmp_path))[0][0] == [[0.0], [0.25], [0.5]]
    (tmp_path / "s.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(UserError, match=r"s\.parquet is no Parquet file, or a damaged one"):
        facts(options(path="s.parquet", **chosen), tmp_path)


# ---- tables as they come ----


def hours(count: int, form: str = "%Y-%m-%d %H:%M") -> list[str]:
    return [(datetime(2024, 3, 1) + timedelta(hours=hour)).strftime(form) for hour in range(count)]


def test_columns_of_texts_and_without_values_are_left_out_with_a_note(tmp_path: Path) -> None:
    text = "when,weather,spare,load\n" + "".join(
        f"{time},{('sun', 'rain', '')[i % 3]},,{i}\n" for i, time in enumerate(hours(200))
    )
    found, _ = opened(tmp_path, text, time_column="when", **WHOLE)
    assert found.inputs[0].columns == ("load",)
    assert found.notes[0].startswith("Column 'weather' is left out: it holds texts, such as \"sun\"")
    assert found.notes[1] == 'Left out because they have no value: "spare".'
    look = preview(options(time_column="when", **WHOLE), tmp_path, tmp_path / "look", 3)
    assert [column["role"] for column in look["columns"]] == ["time", "left out", "left out", "response"]
    said = refused(tmp_path, "load\n" + "".join(f"{i}\n" for i in range(50)) + "broken\n", **WHOLE)
    assert said.startswith("Column 'load' of S, line 52: expected a number, received \"broken\".")


@pytest.mark.parametrize("how", ["reversed", "shuffled"])
def test_rows_are_sorted_by_time(tmp_path: Path, how: str) -> None:
    lines = [f"{time},{i}\n" for i, time in enumerate(hours(200))]
    expected = windows_of(opened(tmp_path, "when,load\n" + "".join(lines), time_column="when", **WHOLE)[1])
    mixed = lines[::-1] if how == "reversed" else [lines[i] for i in np.random.default_rng(0).permutation(200)]
    found, data = opened(tmp_path, "when,load\n" + "".join(mixed), time_column="when", **WHOLE)
    assert windows_of(data) == expected
    assert found.notes == ("The rows were sorted by 'when': they do not stand in the order of time.",)


def test_several_columns_tell_series_apart(tmp_path: Path) -> None:
    text = "when,store,item,sold\n" + "".join(
        f"{time},{store},{item},{1000 * store + 100 * item + i}\n"
        for i, time in enumerate(hours(50))
        for store in (2, 1)
        for item in (1, 2)
    )
    found, data = opened(tmp_path, text, time_column="when", group_column="store, item", **WHOLE)
    assert found.notes == ()
    assert found.inputs[0].columns == ("sold",)
    firsts = [window[0][0] for window in windows_of(data)[0][::46]]
    assert firsts == [2100, 2200, 1100, 1200]
    split = opened(tmp_path, text, time_column="when", group_column="store,item", test_share=0.2)[0]
    assert split.samples["test"] == 4 * 6


def test_steps_without_weekends_are_no_gaps_unless_one_says_so(tmp_path: Path) -> None:
    days = [day for n in range(200) if (day := date(2024, 1, 1) + timedelta(n)).weekday() < 5]
    text = "day,load\n" + "".join(f"{day},{i}\n" for i, day in enumerate(days))
    found, _ = opened(tmp_path, text, time_column="day", **WHOLE)
    assert found.samples["training"] == len(days) - 4
    assert found.notes[0].startswith("28 of 143 steps in 'day' are longer than the usual one, as without weekends")
    broken, _ = opened(tmp_path, text, time_column="day", time_gaps="break", **WHOLE)
    assert broken.samples["training"] == 28


@pytest.mark.parametrize(
    ("form", "order"),
    [
        ("%d.%m.%Y %H:%M", "auto"),
        ("%d/%m/%Y %H:%M", "auto"),
        ("%d-%b-%Y %H:%M", "auto"),
        ("%d/%m/%Y %H:%M", "day-first"),
    ],
)
def test_times_and_numbers_of_another_country(tmp_path: Path, form: str, order: str) -> None:
    text = "Zeit;Last;Preis\n" + "".join(f"{time};{i},25;{i + 1}.000,5 €\n" for i, time in enumerate(hours(500, form)))
    values = {"time_column": "Zeit", "date_order": order, **WHOLE}
    found, data = opened(tmp_path, text, **values)
    assert found.inputs[0].columns == ("Preis", "Last")
    assert windows_of(data)[0][0] == [[1000.5, 0.25], [2000.5, 1.25], [3000.5, 2.25]]
    assert not any("gap" in note or "sorted" in note for note in found.notes)


@pytest.mark.parametrize("clock", ["%H:%M:%S", "%H.%M.%S"])
def test_dates_and_times_of_the_day_in_two_columns(tmp_path: Path, clock: str) -> None:
    times = [time.replace(" ", ";") for time in hours(500, f"%d/%m/%Y {clock}")]
    text = "Date;Time;Load\n" + "".join(f"{time};{i},25\n" for i, time in enumerate(times))
    found, data = opened(tmp_path, text, time_column="Date, Time", **WHOLE)
    assert found.inputs[0].columns == ("Load",)
    assert windows_of(data)[0][0] == [[0.25], [1.25], [2.25]]
    assert not any("gap" in note or "sorted" in note for note in found.notes)
    numbers = "a,b,y\n" + "".join(f"{i},{i},{i}\n" for i in range(99))
    assert 'line 2: expected a time, received "0 0"' in refused(tmp_path, numbers, time_column="a, b")
    assert "S has no column \"Tim\". Did you mean 'Time'?" in refused(tmp_path, text, time_column="Date, Tim")


def test_months_that_could_be_days_are_those_with_even_steps(tmp_path: Path) -> None:
    text = "m,load\n" + "".join(f"01/{i % 12 + 1:02}/{2000 + i // 12},{i}\n" for i in range(120))
    found, _ = opened(tmp_path, text, time_column="m", **WHOLE)
    assert found.notes == (), "taken as the first day of 120 months"
    assert found.samples["training"] == 116
