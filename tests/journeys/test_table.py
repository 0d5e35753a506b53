"""A table as people keep it: gaps, dates, houses that must not be in two splits, two hundred thousand rows."""

import re
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from tests.journeys.conftest import Visit
from tests.journeys.elsewhere import run_elsewhere
from tests.journeys.journey_files import flat_table


@pytest.mark.journey
@pytest.mark.timeout(600)
def test_a_table_with_gaps_dates_and_groups_becomes_a_regression(visit: Visit, place: Path) -> None:
    flat_table(place / "flats.csv")
    person = visit()
    person.drop(place / "flats.csv")
    person.wait_to_see("^200,000 rows with 1 number to predict")
    assert person.sees("^flats.csv: table. The first line names 8 columns, separated by commas")
    person.look("data")
    person.click("Review all")
    assert person.sees("Column 'listed' holds dates such as 2024-01-31")
    assert person.sees("Column 'rooms': 4,099 missing values taken as 3, the mean of the training rows")
    person.click("Review all")
    person.click("All settings")
    person.choose("Split", "By groups")
    person.type_into("Column", "house")
    person.wait_to_see(r"^house \(split\)|; house \(split\)")
    person.wait_to_see(" 15 inputs")  # inputs: the house is none of them any more
    person.look("groups")
    person.make_network()

    person.train_to_the_end(epochs=3)
    person.evaluate("samples of the test split, best weights")
    texts = person.screen().splitlines()
    r_squared = float(texts[texts.index("  R²") + 1])
    assert r_squared > 0.9
    person.never_saw("Train the network first")

    person.click("Predict")
    person.type_into("area_m2", "100")
    person.type_into("rooms", "5")
    person.wait_to_see(r"^1,[3-9]\d\d$")
    person.look("predicted")
    header, row = "listed,house,rooms,area_m2,district,balcony,note,rent", "2024-02-03,H1,3,60,Marsstadt,no,,900"
    (place / "new.csv").write_text(f"{header}\n{row}\n")
    with person.choose_file(place / "new.csv"):
        person.click("Files…")
    person.wait_to_see("Marsstadt")
    person.look("a district that it never saw")
    person.explain("how much the RMSE rises where a column is shuffled")

    person.tab("Runs")
    with person.dialog(lambda: person.export(place / "flats.onnx")):
        person.click("Export…")
    answers = run_elsewhere(QApplication.clipboard().text(), place)
    assert re.search(r"\d{3}", answers), answers
