"""The JSON Schema in `resources/` is what the code declares, and allows what the code reads."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.project.file import dumps, loads
from netwright.engine.project.schema import PATH, schema, text
from tests.engine.project.generated import projects
from tests.json_schema import violations

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "format_1_4.netwright"


def test_the_shipped_schema_is_what_the_code_declares() -> None:
    shipped = PATH.read_text(encoding="utf-8") if PATH.is_file() else ""
    assert shipped == text(), "fields have changed: run `python scripts/make_reference.py` and commit the schema"


def test_golden_file_and_examples_follow_the_schema() -> None:
    for path in [GOLDEN, *sorted((ROOT / "resources" / "examples").glob("*.netwright"))]:
        assert list(violations(json.loads(path.read_text(encoding="utf-8")), schema())) == [], path


@given(projects())
def test_whatever_is_written_follows_the_schema(project: Any) -> None:
    assert list(violations(json.loads(dumps(project)), SCHEMA)) == []


SCHEMA = schema()


@pytest.mark.parametrize(
    "change",
    [
        {"netwright": [2, 0]},
        {"bogus": {}},
        {"training": {"max_epochs": 0}},
        {"training": {"max_epoch": 1}},
        {"training": {"solver": "lion"}},
        {"environment": {"devices": [-1]}},
        {"network": {"layers": [], "more": 1}},
        {"network": {"layers": [{"id": "a", "name": "a b", "type": "relu"}]}},
        {"network": {"layers": [{"id": "a", "name": "fc", "type": "fully_connected", "fields": {"outputs": "x"}}]}},
        {"network": {"layers": [{"id": "a", "name": "fc", "type": "fully_connected", "fields": {"output": 1}}]}},
        {"network": {"connections": [["a"]]}},
    ],
)
def test_what_the_schema_refuses_the_reader_refuses_too(change: dict[str, Any]) -> None:
    data = {"netwright": [1, 0], **change}
    assert list(violations(data, SCHEMA)) != []
    with pytest.raises(Exception, match=r"\S") as caught:
        loads(json.dumps(data))
    assert type(caught.value).__name__ in ("UserError", "FieldErrors")


@given(st.dictionaries(st.sampled_from(["netwright", "training", "network"]), st.recursive(st.integers(), st.lists)))
def test_the_checker_of_these_tests_takes_any_value(value: Any) -> None:
    list(violations(value, SCHEMA))
