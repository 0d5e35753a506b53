"""The pages of licences are those of what is locked and installed."""

import json
from pathlib import Path

import pytest

from scripts.locked import ROOT, needed, read
from scripts.make_licences import BILL, INSIDE, files, licence

FILES = files()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_files_are_up_to_date(path: Path) -> None:
    """Else: `.venv/bin/python -m scripts.make_licences`."""
    assert path.read_text(encoding="utf-8") == FILES[path]


def test_the_bill_has_each_package_of_the_engine_and_the_window() -> None:
    bill = json.loads(FILES[BILL])
    names = {component["name"] for component in bill["components"]}
    assert {name for name, p in needed(read(), frozenset({"gui"})).items() if not p.is_of_torch} | {"torch"} <= names
    references = [component["bom-ref"] for component in bill["components"]]
    assert len(set(references)) == len(references)
    known = {*references, bill["metadata"]["component"]["bom-ref"]}
    for row in bill["dependencies"]:
        assert {row["ref"], *row["dependsOn"]} <= known
    (of_us,) = (row for row in bill["dependencies"] if "netwright@" in row["ref"])
    assert any("torch@" in reference for reference in of_us["dependsOn"])


def test_every_licence_is_known() -> None:
    stated = {name: licence(name) for name in needed(read(), frozenset({"gui", "data", "explain", "experiments"}))}
    assert [name for name, text in stated.items() if text == "unknown"] == []


def test_what_is_in_the_wheel_states_its_licence() -> None:
    for _, _, _, where in INSIDE:
        assert (ROOT / where).is_file()
