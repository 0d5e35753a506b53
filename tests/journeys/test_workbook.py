"""An Excel workbook as it comes: a title above the table, another sheet before it, dates, gaps."""

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import openpyxl
import pytest

from tests.journeys.conftest import Visit


def prices(path: Path, count: int) -> None:
    """Write flats with their rents, on the second sheet of a workbook of three."""
    rng = np.random.default_rng(3)
    book = openpyxl.Workbook(write_only=True)
    book.create_sheet("Read me").append(["Rents, as they were asked for"])
    sheet = book.create_sheet("Rents")
    for row in (["Rents of 2024"], [], ["listed", "area", "rooms", "district", "balcony", "rent"]):
        sheet.append(row)
    for place in range(count):
        area, rooms, district = rng.uniform(20, 140), int(rng.integers(1, 6)), int(rng.integers(4))
        rent = 180 + 9.5 * area + 60 * rooms + 120 * district + rng.normal(0, 25)
        listed = datetime(2024, 1, 1) + timedelta(days=int(rng.integers(300)))
        gap = None if place % 40 == 3 else round(area, 1)
        sheet.append(
            [listed, gap, rooms, ("Altstadt", "Nord", "West", "Hafen")[district], bool(place % 2), round(rent)]
        )
    other = book.create_sheet("Codes")
    other.append(["code", "meaning"])
    for number in range(9):
        other.append([number, f"code {number}"])
    book.save(path)


@pytest.mark.journey
@pytest.mark.timeout(600)
def test_a_sheet_of_a_workbook_becomes_a_regression(visit: Visit, place: Path) -> None:
    prices(place / "rents.xlsx", 20_000)
    person = visit()
    person.drop(place / "rents.xlsx")
    person.wait_to_see("^20,000 rows with 1 number to predict")
    assert person.sees(
        "^rents.xlsx: table. The file holds a sheet with 6 columns: listed, area, rooms, district and more"
    )
    person.look("data")
    person.click("Review all")
    person.look("reviewed")
    assert person.sees('^The sheet "Rents" is read, one of 3; ')
    assert person.sees("Column 'listed' holds dates such as 2024-01-31")
    person.click("Review all")
    person.make_network()
    person.train_to_the_end(epochs=8)
    person.evaluate("samples of the test split, best weights")
    texts = person.screen().splitlines()
    assert float(texts[texts.index("  R²") + 1]) > 0.9

    person.click("Predict")
    prices(place / "new.xlsx", 3)
    with person.choose_file(place / "new.xlsx"):
        person.click("Files…")
    person.wait_to_see("new.xlsx:6")
    person.look("predicted")
