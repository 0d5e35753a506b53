"""Tables whose numbers pyarrow parses behind the first batch equal those read cell by cell, errors included."""

from pathlib import Path

import numpy as np
import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.data.tables import csv_table
from netwright.engine.data.tables.csv_file import Columns, read_columns
from netwright.engine.data.tables.csv_table import CsvTable, Gaps
from netwright.engine.data.tables.stored_table import Reading, store

PLAIN = [f"{row}.25,{row % 7},{'ab'[row % 2]},{row * 1e-3:.17g}" for row in range(150)]
ROWS = {
    "plain": [],
    "gap": ["1,,a,2"],
    "mark": ["1,NA,a,2", "1,n/a,b,2"],
    "mark in another spelling": ["1,nA,a,2"],
    "mark among blanks": ["1, NA ,a,2"],
    "nan": ["1,nan,a,2", "1,-nan,a,2"],
    "infinity": ["1,inf,a,2"],
    "text": ["1,two,a,2"],
    "sign": ["+1, 2 ,a,2e3"],
    "hexadecimal": ["0x1A,2,a,2"],
    "quotes": ['"1","2","a\n""b""",2', '"NA","",a,2'],
    "separators alone": [",,,", " ,,,"],
    "marks alone": ["NA,NA,NA,NA"],
    "blank line": ["", "1,2,a,3"],
    "width": ["1,2,a"],
    "separator at the end": ["1,2,a,3,"],
    "many texts": [f"x{row},2,a,3" for row in range(90)],
}


def outcome(path: Path, gaps: Gaps) -> tuple[object, ...]:
    """Return all that two readers find, or refuse."""
    try:
        held: object = whole(read_columns(path, gaps=gaps))
    except UserError as error:
        held = str(error)
    try:
        stored = store(path, np.random.default_rng().bytes(8), Reading(missing=gaps))
        rows = stored.take(slice(0, stored.rows))
        return held, rows.tobytes(), tuple(map(repr, stored.columns.values())), stored.skipped, stored.notes
    except UserError as error:
        return held, str(error)


def whole(columns: Columns) -> tuple[object, ...]:
    numbers = {name: values.tobytes() for name, values in columns.numbers.items()}
    return columns.names, numbers, columns.texts, columns.first_rows, columns.rows, columns.notes


@pytest.mark.parametrize("gaps", ["refuse", "leave-out", "keep"])
@pytest.mark.parametrize(("name", "decimal"), [*((name, ".") for name in ROWS), ("plain", ","), ("sign", ",")])
def test_parsed_numbers_are_those_of_the_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gaps: Gaps, name: str, decimal: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(csv_table, "BLOCK_BYTES", 256)
    text = "\n".join(["u,v,w,y", *PLAIN, *ROWS[name], *PLAIN]) + "\n"
    path = tmp_path / "some.csv"
    path.write_text(text if decimal == "." else text.replace(",", ";").replace(".", ","))
    kinds: set[str] = set()
    batches = CsvTable.batches

    def watched(table: CsvTable, texts: tuple[str, ...] | None = None) -> object:
        for batch in batches(table, texts):
            kinds.update(map(str, batch.schema.types))
            yield batch

    monkeypatch.setattr(CsvTable, "batches", watched)
    parsed = outcome(path, gaps)
    assert kinds == {"string", "double"}
    monkeypatch.setattr(CsvTable, "batches", lambda table, texts=None: batches(table))
    assert parsed == outcome(path, gaps)
