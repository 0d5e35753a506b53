"""Several time series in one table: recognised, forecast, compared with the simplest forecast, and continued."""

from pathlib import Path

import pytest

from tests.journeys.conftest import Visit
from tests.journeys.journey_files import power_series


@pytest.mark.journey
@pytest.mark.timeout(600)
def test_the_loads_of_several_towns_are_forecast(visit: Visit, place: Path) -> None:
    power_series(place / "loads.csv")
    person = visit()
    person.drop(place / "loads.csv")
    person.wait_to_see("The column 'time' is a time in equal steps, and 'town' tells series apart")
    person.wait_to_see("Make a network")
    person.look("data")
    person.make_network()
    person.train_to_the_end(epochs=2)
    person.evaluate("test split, best weights")
    person.predict_file(place / "loads.csv", "Town 5")
    assert [person.sees(f"^Town {number} · ") for number in range(6)] == [True] * 6
