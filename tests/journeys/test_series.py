"""Several time series in one table: recognised, forecast, compared with the simplest forecast, and continued."""

from pathlib import Path

import pytest

from tests.journeys.conftest import Visit
from tests.journeys.files import power_series


@pytest.mark.journey
@pytest.mark.timeout(900)
def test_the_loads_of_several_towns_are_forecast(visit: Visit, place: Path) -> None:
    power_series(place / "loads.csv")
    person = visit()
    person.drop(place / "loads.csv")
    person.wait_to_see("The column 'time' is a time in equal steps, and 'town' tells series apart")
    person.wait_to_see("Make a network for the data")
    person.look("data")
    person.click("Make a network for the data")
    person.wait_to_see("^[1-9][0-9]* layers")
    person.train(epochs=2)
    person.wait_to_see("✓ Finished$", or_else="Failed|could not|cannot")
    person.look("trained")
    person.click("Test network")
    person.click("Evaluate")
    person.wait_to_see("test split, best weights")
    person.look("scores")
    person.click("Predict")
    with person.choose_file(place / "loads.csv"):
        person.click("Files…")
    person.wait_to_see("Town 5")
    person.look("predicted")
    assert [person.sees(f"^Town {number} · ") for number in range(6)] == [True] * 6
