"""The tools that are no operation: reading a project, proposing a change of one, and asking for a run."""

from collections.abc import Callable, Mapping
from typing import Any

from netwright.engine.assistants.access import Access
from netwright.engine.assistants.operation_tools import Schema
from netwright.engine.assistants.proposals import propose
from netwright.engine.assistants.start_run import show_proposal, start_run
from netwright.engine.core.dataclass_json import to_json
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import read_file
from netwright.engine.core.own_files import SUFFIX

READ, PROPOSE, START = "read_project", "propose_project", "start_run"
LARGEST_BYTES = 2**26
_PROJECT: Schema = {"type": "string", "description": f"a project file (*{SUFFIX})"}
_SETTINGS: Schema = {
    "type": "array",
    "items": {"type": "string"},
    "description": "values of options, such as training.max_epochs=5",
}
_VALUES: Schema = {
    "type": "object",
    "description": 'values of options and layers, such as {"training.max_epochs": 5, "network.conv_1.filters": 12}',
}
_TEXT: Schema = {"type": "string", "description": "the whole project as JSON, instead of that of the file"}
_SHAPES: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "string": ("a text", lambda value: isinstance(value, str)),
    "object": ("an object", lambda value: isinstance(value, dict)),
    "array": (
        "a list of texts",
        lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    ),
}
"""What a value of each type of JSON Schema is called, and whether one is of it."""
DESCRIPTIONS: Mapping[str, str] = {
    READ: "Read the text of a project file: its network, data and training options as JSON.",
    PROPOSE: (
        "Propose a change of a project: write a copy beside it (NAME.proposal.netwright), with values of options, or "
        "with another text, and answer what is different. The project itself stays as it is; a person compares and "
        "takes over. Check the copy with the tool check."
    ),
    START: (
        "Ask for a training of a project. A person decides: where a window has the project open, its user is asked; "
        "else the answer is the command to show to them."
    ),
}


def schema_of(name: str) -> Schema:
    """Return the JSON Schema of what a tool takes."""
    more: Mapping[str, Schema] = {
        READ: {},
        PROPOSE: {"values": _VALUES, "text": _TEXT},
        START: {"settings": _SETTINGS},
    }[name]
    properties = {"project": _PROJECT, **more}
    return {"type": "object", "properties": properties, "required": ["project"], "additionalProperties": False}


def call(name: str, values: Mapping[str, Any], access: Access, client: str, *, may_start: bool) -> Mapping[str, Any]:
    """Do what a tool does. Raises `UserError`."""
    _refuse_shapes(name, values)
    project, settings = access.place(values["project"]), tuple(values.get("settings", ()))
    access.refuse_outside([values.get("values", {}), *settings], project.parent)
    if project.suffix != SUFFIX:
        raise UserError(f"{project} is no project file: they end in {SUFFIX}.")
    if name == READ:
        try:
            return {"path": str(project), "text": read_file(project, LARGEST_BYTES).decode("utf-8", "replace")}
        except OSError as error:
            raise UserError(f"{project} cannot be read: {error.strerror or error}.") from error
    if name == START:
        return start_run(project, settings, client, may_start=may_start)
    proposal = propose(access, project, values.get("text", ""), values.get("values", {}))
    is_offered = show_proposal(project, proposal.path, proposal.differences, client)
    return {**to_json(proposal), "offered_in_window": is_offered}


def _refuse_shapes(name: str, values: Mapping[str, Any]) -> None:
    """Raise `UserError` for a field that is strange, missing or of another type."""
    properties = schema_of(name)["properties"]
    for field, value in values.items():
        if field not in properties:
            raise UserError(f"{name} has no field '{field}'.", code="usage", hint=f"It takes {', '.join(properties)}.")
        noun, is_right = _SHAPES[properties[field]["type"]]
        if not is_right(value):
            raise UserError(f"{name}: {field} takes {noun}.", code="usage")
    if "project" not in values:
        raise UserError(f"{name}: the field 'project' is missing.", code="usage")
