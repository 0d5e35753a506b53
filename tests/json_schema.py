"""The part of JSON Schema that our schema uses, so that tests can apply it without a further library."""

import json
import re
from collections.abc import Iterator
from typing import Any

from netwright.engine.cli.outputs.output_table import outputs
from netwright.engine.cli.schema_command import document

ANNOTATIONS = {"$schema", "$defs", "title", "description", "default", "if", "then"}
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def violations(
    value: Any, schema: dict[str, Any], where: str = "$", root: dict[str, Any] | None = None
) -> Iterator[str]:
    """What of the value the schema does not allow, each with its place. An unknown keyword is an error of the test."""
    root = root or schema
    if "$ref" in schema:
        found: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        yield from violations(value, found, where, root)
    for keyword, rule in schema.items():
        if keyword not in ANNOTATIONS and not _RULES[keyword](value, rule, schema):
            yield f"{where}: {keyword} {str(rule)[:80]} does not hold for {str(value)[:80]}"
    if isinstance(value, dict):
        for key, item in value.items():
            rest = schema.get("additionalProperties", True)
            if key in schema.get("properties", {}):
                yield from violations(item, schema["properties"][key], f"{where}.{key}", root)
            elif isinstance(rest, dict):
                yield from violations(item, rest, f"{where}.{key}", root)
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from violations(item, schema["items"], f"{where}[{index}]", root)
    for part in schema.get("allOf", ()):
        yield from violations(value, part, where, root)
    if "if" in schema and is_valid(value, schema["if"]):
        yield from violations(value, schema["then"], where, root)


def is_valid(value: Any, schema: dict[str, Any]) -> bool:
    """Whether the schema allows the value."""
    return next(violations(value, schema), None) is None


def _has_type(value: Any, name: str, _: Any) -> bool:
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _names_only_known(value: Any, allowed: bool | dict[str, Any], schema: dict[str, Any]) -> bool:
    return allowed is not False or not isinstance(value, dict) or set(value) <= set(schema.get("properties", {}))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_RULES: dict[str, Any] = {
    "type": _has_type,
    "const": lambda value, rule, _: value == rule,
    "enum": lambda value, rule, _: value in rule,
    "required": lambda value, rule, _: not isinstance(value, dict) or set(rule) <= set(value),
    "additionalProperties": _names_only_known,
    "minItems": lambda value, rule, _: not isinstance(value, list) or len(value) >= rule,
    "uniqueItems": lambda value, rule, _: (
        not rule or not isinstance(value, list) or len(set(map(str, value))) == len(value)
    ),
    "maxItems": lambda value, rule, _: not isinstance(value, list) or len(value) <= rule,
    "minLength": lambda value, rule, _: not isinstance(value, str) or len(value) >= rule,
    "maxLength": lambda value, rule, _: not isinstance(value, str) or len(value) <= rule,
    "pattern": lambda value, rule, _: not isinstance(value, str) or re.search(rule, value) is not None,
    "minimum": lambda value, rule, _: not _is_number(value) or value >= rule,
    "maximum": lambda value, rule, _: not _is_number(value) or value <= rule,
    "exclusiveMinimum": lambda value, rule, _: not _is_number(value) or value > rule,
    "anyOf": lambda value, rule, _: any(is_valid(value, one) for one in rule),
    "$ref": lambda value, rule, _: True,
    # These are followed into the parts of the value above.
    "properties": lambda value, rule, _: True,
    "items": lambda value, rule, _: True,
    "allOf": lambda value, rule, _: True,
}


def checked_output(text: str) -> dict[str, Any]:
    """Return the last object that a command printed with `--json`. Each has to follow the schema of its command, and
    has no further key."""
    told: dict[str, Any] = {}
    for line in text.splitlines():
        told = json.loads(line)
        name = told["command"] if told["command"] in outputs() else "output"
        found = list(violations(told, document(name, is_closed=name != "output")))
        assert not found, (found, told)
    return told
