"""The JSON Schema of the project file, generated from the declared fields.

`scripts/make_reference.py` writes it to `resources/schema/`; a test compares the two.
"""

import json
from typing import Any

from netwright.engine.core.files import RESOURCES
from netwright.engine.network.block import LAYER_LIMIT
from netwright.engine.network.catalog import built_in
from netwright.engine.network.layout import COUNT_LIMIT, FLOWS, TEXT_LIMIT, TITLE_LIMIT, TONES
from netwright.engine.network.network import NAME_LIMIT
from netwright.engine.project.migrations import FORMAT
from netwright.engine.project.network_json import CONNECTION_LIMIT
from netwright.engine.project.project import IDENTITY, SECTIONS

PATH = RESOURCES / "schema" / "project.schema.json"


def schema() -> dict[str, Any]:
    """Return the schema as JSON."""
    port = {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*(:[A-Za-z0-9_]+)?$"}
    layers = {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["id", "name", "type"],
            "properties": {
                "id": {"type": "string", "minLength": 1, "maxLength": 64, "description": "Given once, never changed"},
                "name": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "maxLength": NAME_LIMIT},
                "type": {"type": "string", "minLength": 1, "maxLength": 64},
                "at": _POINT,
                "fields": {"type": "object"},
                "network": {"$ref": "#/properties/network", "description": "What is inside a block"},
                "bypassed": {"type": "boolean", "description": "Its input goes past it; one input and one output only"},
                "weights_of": {"type": "string", "description": "Name of the layer whose weights it uses"},
            },
            "additionalProperties": False,
            "allOf": [_fields_of(key) for key in built_in()],
        },
        "maxItems": LAYER_LIMIT,
    }
    connections = {
        "type": "array",
        "items": {"type": "array", "items": port, "minItems": 2, "maxItems": 2},
        "maxItems": CONNECTION_LIMIT,
    }
    properties = {
        "layers": layers,
        "connections": connections,
        "frames": _annotations("title", TITLE_LIMIT),
        "comments": _annotations("text", TEXT_LIMIT),
        "flow": {"enum": list(FLOWS)},
    }
    network = {"type": "object", "properties": properties, "additionalProperties": False}
    versions = [[FORMAT[0], minor] for minor in range(FORMAT[1] + 1)]
    version = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2, "enum": versions}
    about = "Identity of the project: kept by its file, carried by its runs"
    identity = {"type": "string", "pattern": f"^{IDENTITY.pattern}$", "description": about}
    sections = {name: record.schema() for name, record in SECTIONS.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Netwright project",
        "type": "object",
        "required": ["netwright"],
        "properties": {"netwright": version, "id": identity, "network": network, **sections},
        "additionalProperties": False,
    }


_POINT = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}


def _annotations(words: str, limit: int) -> dict[str, Any]:
    """Return the schema of the list of frames, or of comments."""
    properties = {
        "id": {"type": "string", "minLength": 1, "maxLength": 64},
        "at": _POINT,
        "size": _POINT,
        words: {"type": "string", "maxLength": limit},
        "tone": {"enum": list(TONES)},
    }
    row = {"type": "object", "required": ["id", "at", "size"], "properties": properties, "additionalProperties": False}
    return {"type": "array", "items": row, "maxItems": COUNT_LIMIT}


def _fields_of(key: str) -> dict[str, Any]:
    """Return the rule that makes the fields of a layer depend on its type."""
    return {
        "if": {"properties": {"type": {"const": key}}},
        "then": {"properties": {"fields": built_in()[key].schema()}},
    }


def text() -> str:
    """Return the schema as the text of its file."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"
