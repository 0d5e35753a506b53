"""The declared operations as tools: name, description and JSON Schema of what they take."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Union, get_args, get_origin

from netwright.engine.core.dataclass_json import from_json
from netwright.engine.core.errors import UserError
from netwright.engine.operations.operation import FORMS, Operation, Parameter, operations

Schema = dict[str, Any]
_TYPES: Mapping[type, str] = {str: "string", Path: "string", int: "integer", float: "number", bool: "boolean"}
PROPOSALS = "proposals"
"""Folder, beside a project, of the files that tools write."""


@dataclass(frozen=True)
class OperationTool:
    """An operation as an assistant sees it. With `may_write` it has the fields that name files to write."""

    operation: Operation[Any, Any]
    may_write: bool

    @property
    def name(self) -> str:
        """Name of the tool, such as `data_inspect`."""
        return self.operation.name.replace(" ", "_").replace("-", "_")

    @property
    def writes(self) -> bool:
        """Whether it may write a file."""
        return any(parameter.argument.writes for parameter in self.parameters())

    def parameters(self) -> Iterator[Parameter]:
        """Yield the fields that an assistant may set: those that the command shows, but for what people decide on."""
        for parameter in self.operation.parameters():
            argument = parameter.argument
            is_shown = "command" in argument.faces and len(argument.faces) > 1 and argument.one_of != FORMS
            if is_shown and not argument.is_for_people and (self.may_write or not argument.writes):
                yield parameter

    @property
    def schema(self) -> Schema:
        """The JSON Schema of what it takes."""
        properties: Schema = {}
        required = []
        for parameter in self.parameters():
            about = {"description": parameter.argument.help}
            if parameter.argument.writes:
                about["description"] += f" (a file name; it is written into {PROPOSALS}/)"
            properties[parameter.name] = {**_schema_of(parameter), **about}
            if parameter.is_required or (parameter.argument.writes and self.operation.effect == "writes"):
                required.append(parameter.name)
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    def check(self, values: Mapping[str, Any]) -> None:
        """Raise `UserError` for a field that an assistant may not set, or that is missing, and `JsonShapeError` for a
        value of another type."""
        schema = self.schema
        if strange := [name for name in values if name not in schema["properties"]]:
            hint = f"It takes {', '.join(schema['properties']) or 'nothing'}."
            raise UserError(f"{self.name} has no field '{strange[0]}' for assistants.", code="usage", hint=hint)
        if missing := [name for name in schema["required"] if name not in values]:
            raise UserError(f"{self.name}: the field '{missing[0]}' is missing.", code="usage")
        for parameter in self.parameters():
            if parameter.name in values:
                from_json(parameter.kind, values[parameter.name], parameter.name)


def operation_tools(*, may_write: bool) -> dict[str, OperationTool]:
    """Return the tools by name: operations that read, and with `may_write` those that write files."""
    effects = ("reads", "writes") if may_write else ("reads",)
    tools = (OperationTool(operation, may_write) for operation in operations() if operation.effect in effects)
    return {tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)}


def _schema_of(parameter: Parameter) -> Schema:
    if parameter.argument.record is not None:
        names = {
            name: {"type": "string", "description": field.help}
            for name, field in parameter.argument.record.fields.items()
        }
        return {"type": "object", "properties": names, "additionalProperties": False}
    schema = _of(parameter.kind)
    if parameter.argument.choices:
        choices = {"enum": [*parameter.argument.choices]}
        return {**schema, "items": {**schema["items"], **choices}} if "items" in schema else {**schema, **choices}
    return schema


def _of(kind: Any) -> Schema:
    """Return the schema of a type of a field. Raises `TypeError` for one that has none."""
    if kind in _TYPES:
        return {"type": _TYPES[kind]}
    arguments = [argument for argument in get_args(kind) if argument is not NoneType]
    if get_origin(kind) is tuple:
        return {"type": "array", "items": _of(arguments[0])}
    if get_origin(kind) in (Union, type(int | None)) and len(arguments) == 1:
        return _of(arguments[0])
    raise TypeError(f"{kind} is no type of a field of a tool.")
