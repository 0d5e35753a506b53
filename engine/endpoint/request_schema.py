"""OpenAPI of an endpoint: what its samples are, from the preparation of the model, and what it answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from netwright.engine.core.json_schema import Schema, schema_of
from netwright.engine.core.text import format_number
from netwright.engine.data.loading.apply_preparation import expected_of, spoken_sizes
from netwright.engine.operations.operation import installed_operation
from netwright.engine.project.preparation import ColumnPreparation, InputPreparation, Preparation

MOST_CATEGORIES = 200
"""Categories of a column that are listed."""
REFUSALS = {
    400: "The body is no JSON, or no form with files.",
    401: "The token is missing or wrong.",
    408: "The body did not come in time.",
    413: "The body is larger than the limit.",
    415: "The model does not take samples in this form.",
    422: "The samples are not those that the model takes; the message says which, and why.",
    429: "Too many requests at once.",
    500: "The network could not be computed.",
    504: "The answer took longer than the limit.",
}


def sample_schema(record: Preparation) -> Schema:
    """Return the schema of one sample in JSON."""
    reads = {part.reads for part in record.inputs}
    if reads == {"columns"}:
        columns = [column for part in record.inputs for column in part.columns]
        names = [column.name for column in columns]
        properties = {column.name: _column(column) for column in columns}
        return {"type": "object", "required": names, "properties": properties}
    if reads == {"text"}:
        return {"type": "string"}
    if len(record.inputs) == 1:
        return _array(record.inputs[0])
    arrays = {part.source or part.name: _array(part) for part in record.inputs}
    return {"type": "object", "required": list(arrays), "properties": arrays}


def _column(column: ColumnPreparation) -> Schema:
    schema: Schema
    if column.kind == "number":
        schema = {"type": "integer" if column.numbers == "whole" else "number"}
        if column.span:
            low, middle, high = map(format_number, column.span)
            schema |= {"description": f"{low} to {high} in training.", "examples": [column.span[1]]}
            schema["description"] += f" Half are below {middle}."
    elif column.kind == "date":
        schema = {"type": "string", "description": f"A date, written as {column.form}.", "examples": [column.form]}
    else:
        categories = list(column.categories[:MOST_CATEGORIES])
        schema = {"anyOf": [{"enum": categories}, {"type": "string"}]}
        schema["description"] = f"One of {len(column.categories):,} categories; the network knows no other ones."
    if column.missing is not None:
        value = format_number(column.missing) if isinstance(column.missing, float) else column.missing
        schema = {"anyOf": [schema, {"type": "null"}], "description": f"Without a value it is taken as {value}."}
    return schema


def _array(part: InputPreparation) -> Schema:
    """Return the schema of nested lists of numbers."""
    schema: Schema = {"type": "integer" if part.content == "indices" else "number"}
    if part.content == "indices" and part.vocabulary:
        schema |= {"minimum": 0, "maximum": part.vocabulary - 1}
    for size in reversed(part.sizes):
        schema = {"type": "array", "items": schema, **({"minItems": size, "maxItems": size} if size else {})}
    return {**schema, "description": f"Numbers of the shape {spoken_sizes(part).removeprefix('N × ')}."}


def body_schema(record: Preparation, *, takes_json: bool) -> Schema:
    """Return the entry `requestBody` of the samples, for `/predict`."""
    form = {
        "type": "object",
        "required": ["file"],
        "properties": {"file": {"type": "array", "items": {"type": "string", "format": "binary"}}},
        "description": f"Files as `predict` takes them: {expected_of(record)}.",
    }
    content: dict[str, Any] = {"multipart/form-data": {"schema": form}}
    if takes_json:
        items = {"$ref": "#/components/schemas/Sample"}
        samples = {"type": "array", "minItems": 1, "items": items, "description": expected_of(record)}
        body = {"type": "object", "required": ["samples"], "properties": {"samples": samples}}
        content = {"application/json": {"schema": body}, **content}
    return {"required": True, "content": content}


def responses() -> dict[int | str, Mapping[str, Any]]:
    """Return the entry `responses` of `/predict`."""
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    answers = {"application/json": {"schema": {"$ref": "#/components/schemas/Answers"}}}
    refusals: dict[int | str, Mapping[str, Any]] = {
        status: {"description": text, "content": error} for status, text in REFUSALS.items()
    }
    return {200: {"description": "An answer per sample, in order.", "content": answers}, **refusals}


def complete(document: Schema, record: Preparation, *, takes_json: bool, open_paths: Sequence[str]) -> Schema:
    """Return the document of FastAPI with the schemas of this model and the token."""
    text = {"type": "string"}
    error = {"type": "object", "required": ["code", "message"], "properties": {"code": text, "message": text}}
    schemas = {
        **({"Sample": sample_schema(record)} if takes_json else {}),
        "Answers": schema_of(installed_operation("predict").results[0]),
        "Error": {"type": "object", "required": ["error"], "properties": {"error": error}},
    }
    token = {"type": "http", "scheme": "bearer"}
    document["components"] = {"schemas": schemas, "securitySchemes": {"token": token}}
    for path, methods in document["paths"].items():
        for method in methods.values():
            method["security"] = [] if path in open_paths else [{"token": []}]
    return document
