"""Tables as spreadsheets, databases and instruments write them: each gives the numbers of the plain one."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.load import facts, load
from netwright.engine.project.data import DataOptions

OPTIONS = DataOptions(source="table", path="t.csv", response="y", validation_share=0.0, test_share=0.0)
ROWS = 300
A = np.random.default_rng(0).normal(2000.0, 1500.0, ROWS).round(2)
B = np.random.default_rng(1).integers(-5, 40, ROWS)
Y = np.random.default_rng(2).normal(1.0, 3.0, ROWS).round(3)


def comma(number: float, digits: int) -> str:
    return f"{number:.{digits}f}".replace(".", ",")


def grouped(number: float, thousands: str, decimal: str) -> str:
    return f"{number:,.2f}".replace(",", "x").replace(".", decimal).replace("x", thousands)


def rows(a: Callable[[float], str], b: Callable[[int], str], y: Callable[[float], str], sign: str = ",") -> str:
    return "".join(sign.join((a(x), b(n), y(z))) + "\n" for x, n, z in zip(A, B.tolist(), Y, strict=True))


PLAIN = "a,b,y\n" + rows(str, str, str)
EUROPEAN = "a;b;y\n" + rows(lambda x: comma(x, 2), str, lambda y: comma(y, 3), ";")

WAYS: dict[str, tuple[str | bytes, str]] = {
    "plain": (PLAIN, ""),
    "decimal commas": (EUROPEAN, "Commas are taken as decimal marks, as in 3,14; data.decimal_mark sets another."),
    "decimal commas in quotes": (
        "a,b,y\n" + rows(lambda x: f'"{comma(x, 2)}"', str, lambda y: f'"{comma(y, 3)}"'),
        "Commas are taken as decimal marks",
    ),
    "points between thousands": (
        "a;b;y\n" + rows(lambda x: grouped(x, ".", ","), str, lambda y: comma(y, 3), ";"),
        "Column 'a': points are taken as thousands separators",
    ),
    "blanks between thousands": (
        "a\tb\ty\n" + rows(lambda x: grouped(x, "\u202f", ","), str, lambda y: comma(y, 3), "\t"),
        "Column 'a': blanks and apostrophes are taken as thousands separators",
    ),
    "apostrophes between thousands": (
        "a;b;y\n" + rows(lambda x: grouped(x, "'", "."), str, str, ";"),
        "Column 'a': blanks and apostrophes are taken as thousands separators",
    ),
    "commas between thousands": (
        "a,b,y\n" + rows(lambda x: f'"{grouped(x, ",", ".")}"', str, str),
        "Column 'a': commas are taken as thousands separators",
    ),
    "currency": (
        "a,b,y\n" + rows(lambda x: f'"{"-" * int(x < 0)}${grouped(abs(x), ",", ".")}"', str, str),
        "Column 'a': the sign $ is left out, as in",
    ),
    "currency behind": (
        "a;b;y\n" + rows(lambda x: grouped(x, ".", ",") + " €", str, lambda y: comma(y, 3), ";"),
        "Column 'a': the sign € is left out, as in",
    ),
    "percent": ("a,b,y\n" + rows(str, lambda b: f"{b}%", lambda y: f"{y} %"), "Column 'b': the sign % is left out"),
    "mark of the byte order": (PLAIN.encode("utf-8-sig"), ""),
    "UTF-16": (PLAIN.encode("utf-16"), ""),
    "UTF-16 without a mark": (PLAIN.encode("utf-16-le"), "The table is read as utf-16-le"),
    "Windows": (PLAIN.replace("a,b", "größe,b").encode("cp1252"), "The table is read as windows-1252"),
    "Windows in Chinese": (PLAIN.replace("a,b", "面积,b").encode("gbk"), "The table is read as gb18030"),
    "tabs": (PLAIN.replace(",", "\t"), ""),
    "bars": (PLAIN.replace(",", "|"), ""),
    "line of the separator": ("sep=;\n" + PLAIN.replace(",", ";"), ""),
    "units": (PLAIN.replace("y\n", "y\n[m],,kg/s\n", 1), "Left out because it holds units: line 2, [m], kg/s."),
    "row numbers": (
        ",a,b,y\n" + "".join(f"{n},{line}\n" for n, line in enumerate(PLAIN.splitlines()[1:])),
        "Left out because it has no name: column 1.",
    ),
    "row numbers without a name": (
        "a,b,y\n" + "".join(f"{n},{line}\n" for n, line in enumerate(PLAIN.splitlines()[1:])),
        "Left out because it has no name: column 1.",
    ),
    "separator at the end of all lines": (PLAIN.replace("\n", ",\n"), "Left out because it has no name: column 4."),
    "separator at the end of rows": (PLAIN.replace("\n", ",\n").replace("y,\n", "y\n"), ""),
    "blank lines and blanks": (PLAIN.replace("\n", "\n\n").replace(",", " , "), ""),
    "rows of separators": (PLAIN.replace("\n", "\n,,\n") + ",,\n , ,\n", ""),
    "old ends of line": (PLAIN.replace("\n", "\r"), ""),
    "quotes": ("".join(",".join(f'"{c}"' for c in line.split(",")) + "\n" for line in PLAIN.splitlines()), ""),
}


@pytest.mark.parametrize("name", WAYS)
def test_a_table_gives_the_same_numbers_however_it_is_written(tmp_path: Path, name: str) -> None:
    content, note = WAYS[name]
    (tmp_path / "t.csv").write_bytes(content.encode() if isinstance(content, str) else content)
    data = load(OPTIONS, tmp_path)
    part = data.split("training")
    np.testing.assert_array_equal(part.inputs[0], np.stack([A, B], axis=1).astype(np.float32))
    np.testing.assert_array_equal(part.targets[0][:, 0], Y.astype(np.float32))
    said = " ".join(data.facts.notes)
    assert note in said
    assert note or not data.facts.notes


def test_a_table_without_a_header_has_numbered_columns(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(PLAIN.partition("\n")[2])
    found = facts(OPTIONS.replace(response="column_3"), tmp_path)
    assert found.inputs[0].columns == ("column_1", "column_2")
    assert sum(found.samples.values()) == ROWS
    assert "The first line holds numbers, so the columns have the names column_1" in found.notes[0]
    flowers = "".join(f"{x:.1f},{n % 7},{('setosa', 'virginica')[n % 2]}\n" for n, x in enumerate(A))
    (tmp_path / "t.csv").write_text(flowers)
    assert facts(OPTIONS.replace(response=""), tmp_path).classes == ("setosa", "virginica")


@pytest.mark.parametrize("header", ["0,1,2", "2019,2020,2021", "country,2020,y"])
def test_numbers_that_rise_by_one_and_numbers_beside_a_name_are_names(tmp_path: Path, header: str) -> None:
    (tmp_path / "t.csv").write_text(PLAIN.replace("a,b,y", header))
    found = facts(OPTIONS.replace(response=""), tmp_path)
    assert ",".join((*found.inputs[0].columns, found.targets[0].name)) == header


MARKS = ["", "NA", "n/a", "-", "?", "nan", "NULL", "#N/A", ".", "--", "#DIV/0!"]


@pytest.mark.parametrize("loading", ["memory", "stream"])
def test_marks_of_missing_values_are_gaps(tmp_path: Path, loading: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kinds = ["yes", "no", *MARKS]
    cells = [(MARKS[n] if n < len(MARKS) else str(n), kinds[n % len(kinds)], n) for n in range(ROWS)]
    text = "n,kind,y\n" + "".join(f"{n},{kind},{y}.5\n" for n, kind, y in cells)
    (tmp_path / "t.csv").write_text(text + "7,yes,?\n")
    found = facts(OPTIONS.replace(loading=loading), tmp_path)
    assert found.inputs[0].columns == ("n", "kind=(missing)", "kind=no", "kind=yes")
    assert "Left out because a response is missing: 1 row." in found.notes
    assert any(
        note.startswith(f"Column 'n': {len(MARKS)} missing values taken as 155, the mean") for note in found.notes
    )


def test_the_decimal_mark_can_be_set_where_the_numbers_leave_it_open(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\tb\ty\n" + "".join(f"{n + 1},{500 + n}\t{n}\t{n}\n" for n in range(99)))
    means = {"auto": 1500.0, "point": 1500.0, "comma": 1.5}
    for mark, first in means.items():
        assert load(OPTIONS.replace(decimal_mark=mark), tmp_path).split("training").inputs[0][0, 0] == first


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["7", "1,000", "2500"], r"line 4: expected a thousands separator as in .1,000., received .2500.*decimal_mark"),
        (["$5", "€6", "$7"], r"written in several ways, such as .\$5. and .€6"),
        (["5", "12 %", "13 %"], "written in several ways, such as .5. and .12 %"),
        (["5", "$5", "€6"], r"written in several ways, such as .\$5. and .€6"),
        (["1,5", "2,5", "3.7", "4,5"], r"written in several ways, such as .1,5. and .3\.7"),
        (["5", "6", "7", "unknown"], r"line 5: expected a number, received .unknown.*data\.left_out"),
    ],
)
def test_numbers_that_are_not_written_alike_are_refused_in_words(tmp_path: Path, rows: list[str], message: str) -> None:
    (tmp_path / "t.csv").write_text("a;y\n" + "".join(f"{cell};{n}.5\n" for n, cell in enumerate(rows)))
    with pytest.raises(UserError, match=message):
        facts(OPTIONS, tmp_path)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b,y\n" + bytes(1000))
    with pytest.raises(UserError, match="is no text: it holds zero bytes"):
        facts(OPTIONS, tmp_path)
    (tmp_path / "t.csv").write_bytes(PLAIN.encode() + "größe".encode("latin-1"))
    with pytest.raises(UserError, match=r"is not utf-8 text \(byte 0xf6\).*data\.text_encoding"):
        facts(OPTIONS.replace(text_encoding="utf-8"), tmp_path)


def test_times_and_months_and_dates_of_the_usual_forms_are_numbers(tmp_path: Path) -> None:
    forms = {
        "2024-03": "%Y-%m",
        "03/2024": "%m/%Y",
        "Mar 2024": "%b %Y",
        "05.03.24": "%d.%m.%y",
        "3/25/24": "%m/%d/%y",
        "2024-03-05 13:45": "%Y-%m-%d %H:%M",
        "13:45": "%H:%M",
    }
    days = np.datetime64("2023-01-13T00:00") + np.arange(ROWS) * np.timedelta64(29, "h")
    moments = [day.item() for day in days]
    names = [f"d{place}" for place in range(len(forms))]
    lines = [
        ",".join((*(moment.strftime(form) for form in forms.values()), f"{n}.5")) for n, moment in enumerate(moments)
    ]
    (tmp_path / "t.csv").write_text(",".join((*names, "y")) + "\n" + "\n".join(lines) + "\n")
    found = facts(OPTIONS, tmp_path)
    parts = {column.name: (column.form, column.parts) for column in found.inputs[0].prepared}
    whole = ("year", "month", "day of week", "elapsed days")
    assert list(parts.values()) == [
        ("2024-01", ("year", "month", "elapsed days")),
        ("01/2024", ("year", "month", "elapsed days")),
        ("Jan 2024", ("year", "month", "elapsed days")),
        ("31.01.24", whole),
        ("01/31/24", whole),
        ("2024-01-31", ("year", "month", "day of week", "hour", "elapsed days")),
        ("23:59", ("hour",)),
    ]
    part = load(OPTIONS, tmp_path).split("training").inputs[0]
    assert part[1].tolist()[-1] == 5.0
    assert part[1][:3].tolist() == [2023.0, 1.0, 0.0]
