"""The pages of licences are those of what is locked and installed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.locked import ROOT, needed, read
from scripts.make_licences import BILL, INSIDE, PAGE, bill, licence, page


@pytest.mark.parametrize(("path", "make"), [(PAGE, page), (BILL, bill)], ids=["page", "bill"])
def test_the_files_are_up_to_date(path: Path, make: Callable[[], str]) -> None:
    """Else: `.venv/bin/python -m scripts.make_licences`."""
    assert path.read_text(encoding="utf-8") == make()


def test_the_bill_has_each_package_of_the_engine_and_the_window() -> None:
    content = json.loads(BILL.read_text(encoding="utf-8"))
    names = {component["name"] for component in content["components"]}
    assert {name for name, p in needed(read(), frozenset({"gui"})).items() if not p.is_of_torch} | {"torch"} <= names
    references = [component["bom-ref"] for component in content["components"]]
    assert len(set(references)) == len(references)
    known = {*references, content["metadata"]["component"]["bom-ref"]}
    for row in content["dependencies"]:
        assert {row["ref"], *row["dependsOn"]} <= known
    (of_us,) = (row for row in content["dependencies"] if "netwright@" in row["ref"])
    assert any("torch@" in reference for reference in of_us["dependsOn"])


def test_every_licence_is_known() -> None:
    stated = {name: licence(name) for name in needed(read(), frozenset({"gui", "data", "explain", "experiments"}))}
    assert [name for name, text in stated.items() if text == "unknown"] == []


def test_what_is_in_the_wheel_states_its_licence() -> None:
    for _, _, _, where in INSIDE:
        assert (ROOT / where).is_file()
