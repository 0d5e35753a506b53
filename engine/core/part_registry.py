"""Parts: groups of capabilities that the rest of Netwright does without.

A part is a folder below `engine`, and often one below `app`, with a manifest `part.json`. The manifest says what the
part adds, and is read without importing the part. Nothing outside a part imports it: its modules are found by the names
in the manifest, so that everything else works where the folders of a part are missing.

    {
      "title": "Experiments",
      "commands": {"experiment": {"module": "netwright.engine.experiments.experiment_commands", "group": "training",
                                  "help": "train with many values and compare the trials"}},
      "operations": {"experiment report": "netwright.engine.experiments.report_operation:OPERATION"}
    }

Another distribution adds a part by an entry point of the group `netwright.parts`, which names the package that has the
manifest.
"""

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from netwright.engine.core.errors import UserError

MANIFEST = "part.json"
GROUP = "netwright.parts"
"""Entry-point group of the parts that other distributions add."""
ENGINE = Path(__file__).parent.parent
POINTS = ("operations", "results", "functions", "imports", "pages", "segments", "folders", "dialogs")
"""Tables of a manifest whose entries are texts `module:name`."""


class PartCommand(NamedTuple):
    """A command of a part: the module whose `register` adds it, its group and its line in the list of commands.

    examples: command lines that work one after the other.
    """

    module: str
    group: str
    help: str
    examples: tuple[str, ...] = ()


class Part(NamedTuple):
    """A part, as its manifest describes it. `points`: by name of a table, the entries `name -> module:attribute`."""

    name: str
    title: str
    commands: Mapping[str, PartCommand]
    points: Mapping[str, Mapping[str, str]]


@cache
def parts() -> tuple[Part, ...]:
    """Return the parts in the folder of the engine, by name. Raises `UserError` for a manifest that cannot be read."""
    return tuple(read_part(manifest) for manifest in sorted(ENGINE.glob(f"*/{MANIFEST}")))


@cache
def installed_parts() -> tuple[Part, ...]:
    """Return the parts that other distributions add. It reads the entry points of all, which takes tens of
    milliseconds: light commands do without. Raises `UserError` for a manifest that cannot be read."""
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    found: list[Part] = []
    for entry in entry_points(group=GROUP):
        spec = find_spec(entry.value)
        for folder in spec.submodule_search_locations or () if spec is not None else ():
            found.append(read_part(Path(folder) / MANIFEST))
    return tuple(found)


def entries(point: str) -> dict[str, str]:
    """Return the entries of all parts in a table of the manifests, by name."""
    return {name: target for part in parts() for name, target in part.points.get(point, {}).items()}


def entry(point: str, name: str) -> Any:
    """Return what an entry names, imported; None where no part has it."""
    target = entries(point).get(name)
    return None if target is None else imported(target)


def required(point: str, name: str) -> Any:
    """Return what an entry names, imported. Raises `UserError` where no part has it."""
    if (target := entries(point).get(name)) is None:
        text = f"This installation has no part with '{name}'."
        raise UserError(text, hint="Install Netwright with all its parts.")
    return imported(target)


def has_entry(point: str, name: str) -> bool:
    """Return whether a part has an entry."""
    return name in entries(point)


def imported(target: str) -> Any:
    """Return what `module:name` names. Raises `ImportError` and `AttributeError`."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


def read_part(manifest: Path) -> Part:
    """Return the part of a manifest. Raises `UserError` that names the file and what is wrong in it."""
    import json  # most starts that read no manifest, such as `--version`, do without

    try:
        content = json.loads(manifest.read_text(encoding="utf-8"))
        title = content.pop("title")
        commands = {
            name: PartCommand(**{**values, "examples": tuple(values.get("examples", ()))})
            for name, values in content.pop("commands", {}).items()
        }
        points = {point: dict(_targets(content.pop(point, {}))) for point in POINTS}
        if content:
            raise ValueError(f"unknown keys {', '.join(content)}")
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        hint = "Remove its folder, or install the part again."
        raise UserError(f"{manifest}: this part cannot be read: {error}.", hint=hint) from None
    return Part(manifest.parent.name, title, commands, points)


def _targets(table: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, target in table.items():
        module, colon, attribute = target.partition(":")
        if not (module and colon and attribute):
            raise ValueError(f"'{name}' names '{target}', expected module:name")
        yield name, target
