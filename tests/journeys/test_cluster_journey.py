"""A cluster of this machine: its profile made and validated in the window, and two workers trained through it."""

import re
import sys
from pathlib import Path

import pytest

from tests.journeys.conftest import Visit


@pytest.mark.journey
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("reachable")
def test_a_profile_is_made_validated_and_trained_on(visit: Visit, place: Path) -> None:
    person = visit()
    person.open_example("Handwritten digits")
    person.save_as(place / "digits.netwright")

    def make_profile() -> None:
        person.click("Add")
        person.choose("Kind", "SSH")
        person.type_into("Name", "this_machine")
        person.type_into("Address", "localhost")
        person.type_into("Workers", "2")
        person.type_into("Python", sys.executable)
        person.look("profile")
        person.click("Validate")
        person.wait_to_see("'this_machine' passed all stages", or_else="failed|refused")
        assert person.sees("2 workers agree on the sum of")
        person.look("validated")
        person.click("Close")

    with person.dialog(make_profile):
        person.menu("Run", "Clusters…")

    def choose() -> None:
        person.click("parallel")
        person.wait_to_see(r"2 workers on the cluster this_machine \(ssh\) over gloo, 64 samples each")
        person.look("parallel")
        person.click("OK")

    with person.dialog(choose):
        person.click("Training options…")
    person.train_to_the_end(epochs=4)
    assert person.sees("^Environment parallel")
    accuracy = re.search(r"accuracy (\d+\.\d) %", person.wait_to_see("accuracy .* loss"))
    assert accuracy is not None
    assert float(accuracy[1]) > 90
