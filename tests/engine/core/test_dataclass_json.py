"""Dataclasses as JSON: read back as written, and refused by their path where a value has another shape."""

from dataclasses import dataclass
from typing import Any, Literal

import pytest

from netwright.engine.core.dataclass_json import JsonShapeError, from_json, to_json


@dataclass(frozen=True)
class Inner:
    """One of two."""

    name: str
    sizes: tuple[int | None, ...] = ()


@dataclass(frozen=True)
class Outer:
    """The whole."""

    kind: Literal["a", "b"] = "a"
    number: float = 0.5
    either: float | str | None = None
    inner: tuple[Inner, ...] = ()
    maybe: Inner | None = None


@pytest.mark.parametrize(
    "value",
    [
        Outer(),
        Outer("b", 2.0, "x", (Inner("n", (1, None)),), Inner("m")),
        Outer(either=3.5),
    ],
)
def test_what_was_written_is_read_back(value: Outer) -> None:
    assert from_json(Outer, to_json(value)) == value
    assert to_json(Outer()) == {}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "expected an object, received []"),
        ({"kind": "c"}, 'kind: expected one of "a", "b", received "c"'),
        ({"number": "1"}, 'number: expected a finite number, received "1"'),
        ({"number": 10**400}, "number: expected a finite number"),
        ({"number": True}, "number: expected a finite number, received true"),
        ({"inner": [{"name": "n", "sizes": [1.0]}]}, "inner[0].sizes[0]: expected a whole number, received 1.0"),
        ({"inner": [{}]}, 'inner[0]: the field "name" is missing'),
        ({"inner": {}}, "inner: expected a list, received {}"),
        ({"maybe": {"nam": ""}}, "maybe: there is no field \"nam\". Did you mean 'name'?"),
    ],
)
def test_another_shape_is_named_by_its_path(data: Any, message: str) -> None:
    with pytest.raises(JsonShapeError) as error:
        from_json(Outer, data)
    assert str(error.value).startswith(message)
