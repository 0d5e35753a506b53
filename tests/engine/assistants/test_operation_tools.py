"""Tools follow from the declared operations: what reads is there by default, what people decide on never is."""

import pytest

from netwright.engine.assistants.operation_tools import operation_tools
from netwright.engine.core.dataclass_json import JsonShapeError
from netwright.engine.core.errors import UserError
from netwright.engine.operations.operation import operations

READS, WRITES = operation_tools(may_write=False), operation_tools(may_write=True)
FOR_PEOPLE = {"trusted", "store", "reset", "fit", "force", "replaces", "webhook", "delete", "git", "csv", "format_"}


def test_what_acts_on_runs_settings_or_other_machines_is_no_tool() -> None:
    acts = {operation.name.replace(" ", "_") for operation in operations() if operation.effect == "acts"}
    assert acts >= {"train", "resume", "tune", "delete", "notify", "weights_fetch", "fetch", "jobs", "tag", "measure"}
    assert acts & set(WRITES) == set()
    assert set(READS) < set(WRITES)
    assert {"check", "data_inspect", "compare", "evaluate", "explain", "runs", "show", "options"} <= set(READS)
    assert {"export", "draw", "report", "transfer", "curves"} <= set(WRITES) - set(READS)


@pytest.mark.parametrize("name", sorted(WRITES))
def test_no_tool_has_a_field_that_people_decide_on(name: str) -> None:
    tool = WRITES[name]
    assert FOR_PEOPLE & set(tool.schema["properties"]) == set()
    assert tool.operation.description
    assert all(about["description"] for about in tool.schema["properties"].values())
    if name in READS:
        assert not READS[name].writes
        assert {"output", "html", "trace"} & set(READS[name].schema["properties"]) == set()
    else:
        assert tool.writes
        assert set(tool.schema["required"]) >= {"output"}


def test_the_schema_has_types_and_choices() -> None:
    properties = READS["evaluate"].schema["properties"]
    assert properties["split"]["enum"] == ["training", "validation", "test"]
    assert properties["settings"] | {"description": ""} == {
        "type": "array",
        "items": {"type": "string"},
        "description": "",
    }
    assert READS["evaluate"].schema["required"] == ["model"]
    assert WRITES["export"].schema["properties"]["onnx"]["properties"]["opset"]["type"] == "string"
    assert READS["prune"].schema["properties"]["amounts"]["items"] == {"type": "number"}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"model": "runs/a", "trusted": True}, "no field 'trusted' for assistants"),
        ({"model": "runs/a", "store": True}, "no field 'store' for assistants"),
        ({"model": "runs/a", "html": "a.html"}, "no field 'html' for assistants"),
        ({}, "'model' is missing"),
    ],
)
def test_fields_that_it_may_not_set_are_refused(values: dict[str, object], words: str) -> None:
    with pytest.raises(UserError, match=words):
        READS["evaluate"].check(values)


def test_a_value_of_another_type_is_refused_with_its_place() -> None:
    with pytest.raises(JsonShapeError, match=r"settings\[0\]: expected a text"):
        READS["evaluate"].check({"model": "runs/a", "settings": [3]})
