"""`schema [NAME]`: JSON Schemas of what the commands print and of the files of a run, generated from the code.

`scripts/make_reference.py` writes them into `resources/schema/` and their tables into the docs; a test
compares them.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from functools import partial
from pathlib import Path

from netwright.engine.cli.commands import Commands
from netwright.engine.cli.outputs.output_table import Error, outputs
from netwright.engine.cli.outputs.run_outputs import ResultFile
from netwright.engine.cli.printing import say
from netwright.engine.cli.terminal import print_table
from netwright.engine.core.errors import EXIT_DONE, UserError, did_you_mean
from netwright.engine.core.files import CHECKSUM, RESOURCES, ROOT
from netwright.engine.core.json_schema import DRAFT, Schema, object_of, schema_of
from netwright.engine.core.version import SCHEMA_VERSION
from netwright.engine.placement.candidates import PlacementRecord
from netwright.engine.project import schema as project_schema
from netwright.engine.project.export_options import OnnxOptions
from netwright.engine.project.reference import with_tables
from netwright.engine.runs.events import KINDS
from netwright.engine.runs.info import RARE, RunInfo

FOLDER = RESOURCES / "schema"
FILES = {
    "output": "what any command prints with --json",
    "project": "a project file",
    "export-options": "the options of an export to ONNX",
    "run": "run.json of a run folder",
    "result": "result.json of a run folder",
    "event": "a line of events.jsonl of a run folder",
}
"""Schemas in files of their own, with what they describe."""


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Print the JSON Schema of what a command prints with --json (such as train or 'queue list'), of a file of a "
        "run (run, result, event), of a project, or of the options of an export. Without a name, list them."
    )
    command = commands.add_parser("schema", description=text)
    command.add_argument("words", nargs="*", metavar="NAME", help=f"a command, {', '.join(FILES)}")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print a schema, or the names."""
    name = " ".join(arguments.words)
    if not name:
        rows = [*FILES.items(), *((command, f"what {command} prints with --json") for command in outputs())]
        print_table([("name", "describes"), *rows])
        return EXIT_DONE
    if name not in FILES and name not in outputs():
        hint = f"{did_you_mean(name, (*FILES, *outputs()))} `netwright-engine schema` lists them."
        raise UserError(f"There is no schema '{name}'.", code="not_found", hint=hint)
    say(*json.dumps(document(name), indent=1, ensure_ascii=False).split("\n"))
    return EXIT_DONE


def document(name: str, *, is_closed: bool = False) -> Schema:
    """Return a schema by its name. With `is_closed` no further keys are allowed."""
    if name in outputs():
        title = f"Output of netwright-engine {name} --json"
        return {"$schema": DRAFT, "title": title, **_of_command(name, is_closed=is_closed)}
    if name == "project":
        return project_schema.schema()
    if name == "export-options":
        return {"$schema": DRAFT, "title": FILES[name], **OnnxOptions.schema()}
    made = {"output": _output, "run": _run_info, "result": _result, "event": _event}[name]
    return {"$schema": DRAFT, "title": FILES[name], **made(is_closed)}


def _of_command(name: str, *, is_closed: bool) -> Schema:
    """Return the schema of a command: one of its results, or its failure."""
    version: Schema = {"const": SCHEMA_VERSION}
    head: Schema = {
        "schema_version": version,
        "command": {"const": name},
        "error": schema_of(Error, is_closed=is_closed),
    }
    ends: list[Schema] = []
    for output in outputs()[name]:
        result = schema_of(output, is_closed=is_closed)
        required = ["schema_version", "command", *result["required"]]
        ends.append({**result, "required": required, "properties": {**head, **result["properties"]}})
    failure: Schema = {"type": "object", "description": "The command failed before it had a result."}
    failure |= {"required": ["schema_version", "command", "error"], "properties": head}
    ends.append({**failure, **({"additionalProperties": False} if is_closed else {})})
    return {"anyOf": ends}


def _output(is_closed: bool) -> Schema:
    version: Schema = {"const": SCHEMA_VERSION, "description": "Rises when a key is removed or changes its meaning"}
    names = [*outputs()]
    commands = {"enum": [*names, *sorted({name.partition(" ")[0] for name in names} - {*names}), None]}
    rules = [
        {
            "if": {"properties": {"command": {"const": name}}, "required": ["command"]},
            "then": {"$ref": f"#/$defs/{name.replace(' ', '-')}"},
        }
        for name in names
    ]
    return {
        "type": "object",
        "required": ["schema_version", "command"],
        "properties": {"schema_version": version, "command": commands, "error": schema_of(Error, is_closed=is_closed)},
        "allOf": rules,
        "$defs": {name.replace(" ", "-"): _of_command(name, is_closed=is_closed) for name in names},
    }


def _run_info(is_closed: bool) -> Schema:
    names = [field.name for field in fields(RunInfo) if field.name not in ("placement", "unknown")]
    required = {name for name in names if name not in RARE}
    whole = object_of(RunInfo, required, ("placement", "unknown"), is_closed=is_closed)
    placement = schema_of(PlacementRecord, is_closed=is_closed)
    checksum = {CHECKSUM: {"type": "string", "description": "Checksum of the other keys."}}
    whole["properties"] |= placement["properties"] | checksum
    whole["required"] += placement["required"]
    return whole


def _result(is_closed: bool) -> Schema:
    return schema_of(ResultFile, is_closed=is_closed)


def _event(is_closed: bool) -> Schema:
    kinds = []
    for kind, event in KINDS.items():
        required = {field.name for field in fields(event) if field.default is MISSING} | {"n", "time"}
        found = object_of(event, required, is_closed=is_closed)
        found["properties"] = {"kind": {"const": kind}, **found["properties"]}
        found["required"] = ["kind", *found["required"]]
        rule = {"properties": {"kind": {"const": kind}}, "required": ["kind"]}
        kinds.append({"if": rule, "then": found})
    return {"type": "object", "required": ["n", "time", "kind"], "allOf": kinds}


def table(name: str) -> str:
    """Return the keys of a schema as a table of Markdown."""
    lines = ["| key | type | meaning |", "|---|---|---|"]
    whole = document(name)
    for key, found in whole["properties"].items():
        optional = "" if key in whole["required"] else ", may be missing"
        lines.append(f"| `{key}` | {type_text(found)}{optional} | {found.get('description', '')} |")
    return "\n".join(lines)


def output_table() -> str:
    """Return the commands with the keys that they print, as a table of Markdown."""
    lines = ["| command | keys |", "|---|---|"]
    for name, results in outputs().items():
        keys = "; or ".join(", ".join(f"`{key}`" for key in schema_of(result)["properties"]) for result in results)
        lines.append(f"| `{name}` | {keys} |")
    return "\n".join(lines)


def event_table() -> str:
    """Return the kinds of events as a table of Markdown."""
    lines = ["| kind | keys | meaning |", "|---|---|---|"]
    for rule in document("event")["allOf"]:
        found = rule["then"]
        keys = ", ".join(f"`{key}`" for key in found["properties"] if key not in ("kind", "n", "time"))
        meaning = found["description"].replace("|", "\\|")
        lines.append(f"| `{found['properties']['kind']['const']}` | {keys} | {meaning} |")
    return "\n".join(lines)


def type_text(found: Schema) -> str:
    """Return the type in a schema in a few words."""
    if "anyOf" in found:
        return " or ".join(dict.fromkeys(filter(None, map(type_text, found["anyOf"]))))
    if "enum" in found:
        return "" if "NaN" in found["enum"] else ", ".join(f"`{value}`" for value in found["enum"])
    if found.get("type") == "array":
        return f"list of {type_text(found['items'])}"
    return str(found.get("type", "any"))


TABLES: Mapping[Path, Mapping[str, Callable[[], str]]] = {
    ROOT / "docs" / "command-line.md": {"outputs": output_table},
    ROOT / "docs" / "runs.md": {
        "result": partial(table, "result"),
        "run": partial(table, "run"),
        "events": event_table,
    },
}
"""Generated parts of the docs, by the name in the comments around them."""


def generated() -> Iterator[tuple[Path, str]]:
    """Yield the files that are generated, or have generated parts, with what they should contain."""
    for name in FILES:
        yield FOLDER / f"{name}.schema.json", json.dumps(document(name), indent=1, ensure_ascii=False) + "\n"
    for path, tables in TABLES.items():
        yield (
            path,
            with_tables(path.read_text(encoding="utf-8"), {name: f"{make()}\n" for name, make in tables.items()}),
        )
