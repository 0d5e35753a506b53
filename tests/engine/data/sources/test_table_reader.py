"""CSV tables as people have them, and the ways in which they can be wrong: each names the column and the line."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netwright.engine.core import progress
from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.tables import csv_file, csv_table
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo

OPTIONS = DataOptions(source="table", path="t.csv", validation_share=0.0, test_share=0.0)
PLAIN = "a,b,y\n1,2,0.5\n3,4.5,1.5\n-5,6e2,2.5\n"


def table(folder: Path, text: str, options: DataOptions = OPTIONS) -> tuple[DatasetInfo, Any, Any]:
    """Facts, inputs and targets of a table."""
    (folder / "t.csv").write_bytes(text.encode())
    part = load(options, folder).split("training")
    return facts(options, folder), part.inputs[0].tolist(), part.targets[0].tolist()


def refused(folder: Path, text: str, options: DataOptions = OPTIONS, encoding: str = "utf-8") -> str:
    (folder / "t.csv").write_bytes(text.encode(encoding))
    with pytest.raises(UserError) as error:
        facts(options, folder)
    return str(error.value).replace(str(folder / "t.csv"), "T")


def test_numbers(tmp_path):
    found, inputs, targets = table(tmp_path, PLAIN)
    assert inputs == [[1, 2], [3, 4.5], [-5, 600]]
    assert targets == [[0.5], [1.5], [2.5]]
    assert (found.task, found.classes, found.outputs, found.notes) == ("numbers", (), 1, ())
    assert (found.inputs[0].name, found.inputs[0].type.layout, found.inputs[0].type.sizes) == (
        "features",
        "features",
        (2,),
    )


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace("\n", "\r\n"),
        PLAIN.strip(),
        "\ufeff" + PLAIN,
        PLAIN.replace("a,b", '"a","b"').replace("3,", '"3",'),
        PLAIN.replace("\n3", "\n\n\n3") + "\n\n",
        PLAIN.replace(",", " , "),
        "\n" + PLAIN,
    ],
    ids=["semicolon", "tab", "crlf", "no-end", "mark", "quotes", "blank-lines", "blanks", "blank-first"],
)
def test_other_ways_to_write_the_same_table(tmp_path, text):
    assert table(tmp_path, text) == table(tmp_path, PLAIN)
    found, _, _ = table(tmp_path, text, OPTIONS.replace(response="b"))
    assert found.outputs == 1


def refuse_all(table: csv_table.CsvTable) -> Iterator[Any]:
    raise pyarrow.ArrowInvalid


ROW_ENDS = st.sampled_from(["\n", "\r\n", "\n\n", "\n,,\n", ",\n", "\n  , ,\n"])
PLAIN_CELLS = ["", " ", "1", "-2.5", " 3 ", "1e3", "+4", "0x1", "1_000", "nan", "inf", "NA", "k. A.", "a", "b c", "é"]
CELLS = st.sampled_from(
    [*PLAIN_CELLS, "2024-01-31", '"x,y"', '"p\nq"', '"q""r"', '"ab"c', 'x"y', '"\n"', "1,5", "\u0663"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(CELLS, CELLS, CELLS, ROW_ENDS), min_size=1, max_size=12),
    st.sampled_from(["refuse", "keep", "leave-out"]),
)
def test_pyarrow_reads_what_the_reader_of_rows_reads(tmp_path, rows, gaps):
    """Columns, notes and messages are the same whichever way a table is read."""
    text = "a,b,y\n1,x,2\n" + "".join(",".join(row[:3]) + row[3] for row in rows)
    (tmp_path / "t.csv").write_text(text, encoding="utf-8", newline="")

    def columns() -> Any:
        try:
            found = csv_file.read_columns(tmp_path / "t.csv", gaps=gaps)
        except UserError as error:
            return str(error)
        numbers = {name: [repr(number) for number in values.tolist()] for name, values in found.numbers.items()}
        return numbers, found.texts, found.first_rows, found.notes, found.rows

    quick = columns()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_table.CsvTable, "_quick_batches", refuse_all)
        assert columns() == quick


def test_the_quick_way_and_the_long_way_agree(tmp_path, monkeypatch):
    random = np.random.default_rng(0).standard_normal((500, 4))
    text = "a,b,c,y\n" + "\n".join(",".join(map(repr, row.tolist())) for row in random)
    quick = table(tmp_path, text)
    monkeypatch.setattr(csv_table, "BLOCK_BYTES", 4096)
    assert table(tmp_path, text + "\n") == quick  # another file for the cache
    monkeypatch.setattr(csv_table, "PIECE_ROWS", 64)
    monkeypatch.setattr(csv_table.CsvTable, "_quick_batches", refuse_all)
    assert table(tmp_path, text + "\n\n") == quick
    np.testing.assert_array_equal(np.array(quick[1]), random[:, :3].astype(np.float32))


@pytest.mark.parametrize("cell", ["1", "word"], ids=["numbers", "texts"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("has_last_end", [True, False])
def test_progress_counts_rows_without_the_header(tmp_path, cell, end, has_last_end):
    rows = [f"{index},{cell},{index % 7}.5" for index in range(25_000)]
    text = end.join(["a,b,y", *rows]) + (end if has_last_end else "")
    reports: list[tuple[int, int, str]] = []
    with progress.listening(lambda *values: reports.append(values)):
        table(tmp_path, text)
    of_rows = [(done, total) for done, total, unit in reports if unit == "rows"]
    assert {total for _, total in of_rows} == {25_000}
    assert max(done for done, _ in of_rows) == 25_000


def test_the_response_by_name_leaves_the_others_in_order(tmp_path):
    _, inputs, targets = table(tmp_path, PLAIN, OPTIONS.replace(response="a", task="numbers"))
    assert inputs == [[2, 0.5], [4.5, 1.5], [600, 2.5]]
    assert targets == [[1], [3], [-5]]


def test_texts_as_response_are_classes_in_order(tmp_path):
    found, _, targets = table(tmp_path, "a,kind\n1,pear\n2,Apple\n3,pear\n4,fig\n")
    assert (found.task, found.classes) == ("classes", ("Apple", "fig", "pear"))
    assert targets == [2, 0, 2, 1]


def test_few_whole_numbers_are_classes_by_value(tmp_path):
    found, _, targets = table(tmp_path, "a,y\n" + "".join(f"{i},{i % 12}.0\n" for i in range(24)))
    assert found.classes == tuple(str(i) for i in range(12))
    assert targets[:13] == [*range(12), 0]


def test_many_whole_numbers_are_numbers(tmp_path):
    text = "a,y\n" + "".join(f"{i},{i}\n" for i in range(21))
    assert table(tmp_path, text)[0].task == "numbers"
    assert len(table(tmp_path, text, OPTIONS.replace(task="classes"))[0].classes) == 21
    few = "a,y\n" + "".join(f"{i},{i}\n" for i in range(20))
    assert table(tmp_path, few)[0].task == "classes"
    assert table(tmp_path, few, OPTIONS.replace(task="numbers"))[0].task == "numbers"


def test_fractions_can_be_classes_when_asked(tmp_path):
    assert table(tmp_path, PLAIN, OPTIONS.replace(task="classes"))[0].classes == ("0.5", "1.5", "2.5")


def test_texts_become_inputs_with_a_note(tmp_path):
    found, inputs, _ = table(tmp_path, "a,colour,y\n1,red,0.5\n2, blue ,1.5\n3,red,0.1\n")
    assert inputs == [[1, 0, 1], [2, 1, 0], [3, 0, 1]]
    assert found.notes == ("Column 'colour' holds texts: encoded as 2 inputs of 0 or 1 (blue, red).",)


def test_texts_that_begin_like_numbers_stay_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_table, "PIECE_ROWS", 2)
    _, inputs, _ = table(tmp_path, "code,y\n01,0.5\n1,1.5\nx,0.1\ny,0.2\nz,0.3\n")
    assert inputs[0] != inputs[1]
    assert len(inputs[0]) == 5


def test_quoted_cells_hold_separators_and_line_breaks(tmp_path):
    text = 'a,"the, kind",y\n1,"x, y",0.5\n2,"p\nq",1.5\n'
    found, inputs, _ = table(tmp_path, text)
    assert inputs == [[1, 0, 1], [2, 1, 0]]
    assert "the, kind" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a,b,y\n1,2,3.5\n1,2,4.5\n1,oops,5.5\n",
            "Column 'b' of T, line 4: expected a number, received \"oops\". Correct the cell, or leave the column out "
            "(data.left_out).",
        ),
        (
            'a,b,y\n\n"1",2,3.5\n1,NA,4.5\n1,2,5.5\n1,2,5.5\n1,?,1.5\n',
            "Column 'b' of T, line 4: expected a number, received \"NA\". It has 2 such cells.",
        ),
        (
            "a,b,y\n1,2,3.5\n1,,4.5\n",
            "Column 'b' of T, line 3: expected a finite number, the cell is empty. Fill the gap",
        ),
        (
            "a,b,y\n1,nan,3.5\n1,,4.5\n",
            "Column 'b' of T, line 3: expected a finite number, the cell is empty. It has 2 such cells.",
        ),
        ("a,b,y\n1,2,3.5\n1,2,inf\n", "Column 'y' of T, line 3: expected a finite number, received \"inf\"."),
        ("a,b,y\n1,x,3.5\n1,,4.5\n1,z,1.5\n", "Column 'b' of T, line 3: expected a value, the cell is empty."),
        ("a,b,y\n1,2,3\n1,2\n", "Line 3 of T has 2 cells; the header has 3. Correct the line."),
        ("a,b,y\n1,2,3\n1,2,3,4\n", "Line 3 of T has 4 cells; the header has 3."),
        ("a,b,y\n", "T has a header and no rows."),
        ("\n\n", "T is empty."),
        ("", "T is empty: it has 0 bytes."),
        ("a\n1\n2\n", 'T has one column only, "a".'),
        ("a,,\n1,2,3\n", "1 column of T would be left. Expected at least two"),
        ("a,b,a\n1,2,3\n", 'Two columns of T have the name "a".'),
        ("a,y\n1,7\n2,7\n", "Column 'y' of T has one class only, '7'."),
        ("a,y\n1,x\n2,x\n", "Column 'y' of T has one class only, 'x'."),
        ("a,y\n1e300,1.5\n2,2.5\n", "Column 'a' of T holds 1e+300; expected numbers up to 3.4e+38."),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, message):
    assert refused(tmp_path, text, OPTIONS.replace(missing_values="refuse")).startswith(message)


def test_a_missing_response_names_the_nearest(tmp_path):
    text = refused(tmp_path, "height,width,price\n1,2,3\n", OPTIONS.replace(response="Price"))
    assert text == "T has no column \"Price\". Did you mean 'price'? Its columns are: height, width, price."


def test_texts_are_no_numbers_to_predict(tmp_path):
    text = refused(tmp_path, "a,y\n1,x\n2,z\n", OPTIONS.replace(task="numbers"))
    assert text.startswith("Column 'y' of T holds texts, such as \"x\". Expected numbers to predict.")


def test_a_column_of_names_is_left_out_and_of_many_categories_the_most_frequent_are_taken(tmp_path):
    rows = [(f"n{row:03d}", f"c{row % 59:02d}", row) for row in range(400)]
    text = "name,city,y\n" + "".join(f"{name},{city},{y}.5\n" for name, city, y in rows)
    found, _, _ = table(tmp_path, text)
    assert len(found.inputs[0].columns) == 50
    assert "city=c00" in found.inputs[0].columns
    name, _, city = found.notes
    assert name.startswith(
        "Column 'name' is left out: it has 400 different texts in 400 training rows, such as \"n000\""
    )
    assert city.startswith("Column 'city' has 59 different texts: the 50 most frequent are encoded, and all its inputs")
    assert "data.category_encoding=indices takes" in name
    alone = refused(tmp_path, "name,y\n" + "".join(f"{name},{y}.5\n" for name, _, y in rows))
    assert alone.startswith("No column of T is left as an input. Column 'name' is left out")


def test_a_foreign_file_is_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes(bytes(range(256)) * 40)
    with pytest.raises(UserError):
        facts(OPTIONS, tmp_path)


def test_a_folder_is_no_table(tmp_path):
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(UserError, match=r"is a folder\. Expected a CSV table"):
        facts(OPTIONS, tmp_path)


def test_several_responses_are_one_target_of_numbers_or_one_each(tmp_path):
    text = "a,price,size,kind\n" + "\n".join(f"{i},{i / 2 + 0.1},{i * 3.5},{'xy'[i % 2]}" for i in range(30))
    found, inputs, targets = table(tmp_path, text, OPTIONS.replace(response="price, size"))
    assert [(t.name, t.task, t.outputs) for t in found.targets] == [("price, size", "numbers", 2)]
    assert len(inputs[0]) == 3
    assert len(targets[0]) == 2
    found, inputs, _ = table(tmp_path, text, OPTIONS.replace(response="price, kind"))
    assert [(t.name, t.task, t.outputs) for t in found.targets] == [("price", "numbers", 1), ("kind", "classes", 2)]
    assert len(inputs[0]) == 2


def test_one_long_text_does_not_give_all_others_its_room(tmp_path):
    """An array of texts would have 40 GB here."""
    rows = "".join(f"{i},{'ab'[i % 2]},{'xy'[i % 2]}\n" for i in range(100_000))
    found, _, _ = table(tmp_path, f"n,kind,y\n{rows}1,{'c' * 100_000},x\n")
    assert found.inputs[0].type.sizes == (4,)
    assert found.targets[0].classes == ("x", "y")


def test_rows_and_columns_have_limits(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_table, "ROW_LIMIT", 1000)
    for row in ("1," * 600 + "1", '"1\n",' * 300 + "1"):
        assert "has a row of more than 1,000 characters" in refused(tmp_path, f"a,y\n1,2\n{row}\n")
    monkeypatch.setattr(csv_table, "MOST_COLUMNS", 3)
    assert "has 4 columns; at most 3 are taken" in refused(tmp_path, "a,b,c,y\n1,2,3,4\n")
    assert "which is not printable" in refused(tmp_path, "a\x1b[2J,y\n1,2\n")


def test_columns_without_a_name_are_none(tmp_path):
    """The numbers of rows that pandas writes, and a separator at the end of each line."""
    found, inputs, targets = table(tmp_path, ",a,y,\n0,1,2.5,\n1,3,4.5,\n")
    assert (inputs, targets) == ([[1], [3]], [[2.5], [4.5]])
    assert found.notes == ("Left out because it has no name: column 1, 4.",)


GAPS = "id,a,kind,y\n1,2,x,0.5\n2,NA,x,1.5\n3,4,,2.5\n4,5,z,?\n5,6,z,3.5\n6,7,x,4.5\n"


def test_rows_with_gaps_and_columns_are_left_out_on_request(tmp_path):
    chosen = OPTIONS.replace(missing_values="leave-out", left_out="id, kind")
    found, inputs, targets = table(tmp_path, GAPS, chosen)
    assert (inputs, targets) == ([[2], [4], [6], [7]], [[0.5], [2.5], [3.5], [4.5]]), "the gap of kind is left out, too"
    assert found.notes == (
        "Left out: id, kind (data.left_out).",
        "Left out because a value is missing: 2 rows.",
    )
    found, inputs, _ = table(tmp_path, GAPS, chosen.replace(left_out="id"))
    assert inputs == [[2, 1, 0], [6, 0, 1], [7, 1, 0]], "a missing text is no category"
    assert found.notes[1] == "Left out because a value is missing: 3 rows."
    assert refused(tmp_path, GAPS, OPTIONS.replace(missing_values="refuse")) == (
        "Column 'a' of T, line 3: expected a number, received \"NA\". Fill the gap, leave out or impute missing "
        "values (data.missing_values), or leave the column out."
    )


@pytest.mark.parametrize(
    ("left_out", "text", "message"),
    [
        ("idd", GAPS, 'T has no column "idd" to leave out. Did you mean'),
        ("id, a, kind", GAPS, "1 column of T would be left. Expected at least two"),
        ("", "a,b,y\n1,,2\n2,,3\n", "Each row of T has a missing value. Column 'b' has 2 of them: leave that column"),
        ("b", "a,b,y\n1,2,3\n1,2\n", "Line 3 of T has 2 cells; the header has 3."),
        ("b", "a,b,y\n,2,3\n1,2,3\n1,2,x\n1,2,4\n", "Column 'y' of T, line 4: expected a number, received \"x\"."),
    ],
)
def test_what_cannot_be_left_out_is_named(tmp_path, left_out, text, message):
    assert refused(tmp_path, text, OPTIONS.replace(missing_values="leave-out", left_out=left_out)).startswith(message)


def test_a_response_that_is_left_out_is_refused(tmp_path):
    said = refused(tmp_path, GAPS, OPTIONS.replace(left_out="a", response="a"))
    assert said == "Column 'a' is the response and is left out, too. Choose one of them."


def test_how_large_the_numbers_to_predict_are(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("area,price\n1,-670000\n2,300000\n3,1.5\n")
    known = facts(DataOptions(source="table", path=str(path)), tmp_path)
    assert known.targets[0].largest == 670_000.0
    assert DatasetInfo.read(known.write()) == known


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('a,y\n"1,000",0.5\n"-2,500,000.5",1.5\n17,2.5\n', [[1000], [-2500000.5], [17]]),
        ("a;y\n1,000;0.5\n20,000;1.5\n3,000;2.5\n4;3.5\n5;4.5\n6;5.5\n7;6.5\n", None),
    ],
)
def test_a_comma_before_each_three_digits_separates_thousands(tmp_path: Path, text: str, values: Any) -> None:
    found, inputs, _ = table(tmp_path, text)
    assert inputs == (values or [[1000], [20000], [3000], [4], [5], [6], [7]])
    assert found.notes == ("Column 'a': commas are taken as thousands separators, as in \"1,000\".",)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (("7", "1,000", "2500"), "Column 'a' of T, line 4: expected a thousands separator as in \"1,000\", received"),
        (
            ("2500", "1,000"),
            'Column \'a\' of T, line 2: expected a thousands separator as in "1,000", received "2500".',
        ),
        (("1,000", ""), "Column 'a' of T, line 3: expected a value, the cell is empty."),
    ],
)
def test_numbers_that_do_not_agree_on_thousands_are_refused_by_line(tmp_path: Path, rows: Any, message: str) -> None:
    text = "a;y\n" + "".join(f"{cell};{place}.5\n" for place, cell in enumerate(rows))
    assert refused(tmp_path, text, OPTIONS.replace(missing_values="refuse")).startswith(message)


def test_a_long_header_is_read(tmp_path: Path) -> None:
    """Sniffing for another separator takes the whole line for one cell, which csv limits to 131,072 characters."""
    names = ",".join(f"column_{number:06d}" for number in range(12_000))
    found, inputs, _ = table(tmp_path, f"{names}\n" + "1," * 11_999 + "0.5\n" + "2," * 11_999 + "1.5\n")
    assert len(names) > 131_072
    assert found.inputs[0].type.sizes == (11_999,)
    assert len(inputs) == 2


@pytest.mark.parametrize("head", ["", "a,y\n", "a;y\n1;2.5\n"])
def test_empty_lines_are_counted_and_not_parsed(tmp_path: Path, monkeypatch: Any, head: str) -> None:
    """Three million of them took 6 s: each separator was tried on all of them."""
    taken: list[int] = []
    reader = csv.reader

    def counted(lines: Any, **options: Any) -> Any:
        def each() -> Any:
            for line in lines:
                taken.append(len(line))
                yield line

        return reader(each(), **options)

    monkeypatch.setattr(csv, "reader", counted)
    (tmp_path / "t.csv").write_text(head + "\n" * 100_000)
    if head.count("\n") == 2:
        assert facts(OPTIONS, tmp_path).samples["training"] == 1
    else:
        with pytest.raises(UserError, match="is empty" if not head else "no rows"):
            facts(OPTIONS, tmp_path)
    assert len(taken) < 1_000


def test_ids_that_double_precision_cannot_tell_apart_are_refused(tmp_path: Path) -> None:
    text = "a,id\n" + "".join(f"{row},{2**53 + row % 2}\n" for row in range(8))
    assert "above 9,007,199,254,740,992" in refused(tmp_path, text, OPTIONS.replace(task="classes"))
    exact = "a,id\n" + "".join(f"{row},{2**53 - 2 + row % 2}\n" for row in range(8))
    found, _, targets = table(tmp_path, exact)
    assert found.classes == (str(2**53 - 2), str(2**53 - 1))
    assert targets == [0, 1] * 4
