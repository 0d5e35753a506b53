"""Changes that an assistant proposes: a copy of a project beside it, and what is different.

The project stays as it is: a person compares both, and takes over what is good.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.engine.assistants.access import Access, texts
from netwright.engine.core.errors import UserError
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.core.platform_files import open_descriptor
from netwright.engine.project.file import dumps, load, loads
from netwright.engine.project.project import Project
from netwright.engine.project.project_differences import compare
from netwright.engine.project.trials import with_options
from netwright.engine.project.user_code import code_files, code_layers, experiment_files

MOST = 100
"""Proposals beside a project."""


@dataclass(frozen=True)
class Proposal:
    """A project that was written beside another one, and the differences in words."""

    path: Path
    differences: tuple[str, ...]
    shown_on_canvas_by: str


def propose(access: Access, project: Path, text: str, values: Mapping[str, Any]) -> Proposal:
    """Write a copy of a project with another text, with other values by their paths, or both. Raises `UserError` where
    the copy is no valid project, names files outside of the folders, or brings code that the project does not have."""
    if (project.parent / "run.json").is_file():
        raise UserError(f"{project} belongs to a run, which stays as it is.", hint="Propose a change of its project.")
    before = load(project).project
    after = with_options(loads(text).project if text else before, values, project.parent)
    if strange := _code(after) - _code(before):
        name = next(iter(sorted(strange)))
        hint = "A person adds code to a project."
        raise UserError(f"The proposal brings code that the project does not have: {name}.", code="code", hint=hint)
    known = set(texts(_strings(before)))
    access.refuse_outside([word for word in texts(_strings(after)) if word not in known], project.parent)
    differences = tuple(map(str, compare(before, after).differences))
    if not differences:
        raise UserError("The proposal changes nothing.", hint="Name values, or another text of the project.")
    path = _write(project, dumps(after))
    look = f"Open the project in the window, choose File > Compare with... and then {path.name}"
    return Proposal(path, differences, look)


def _strings(project: Project) -> Any:
    """Return the options of a project, whose texts may name files, as JSON; what people wrote on the canvas is none."""
    data = json.loads(dumps(project))
    network = data.get("network", {})
    return [network.get("layers", []), {name: value for name, value in data.items() if name != "network"}]


def _code(project: Project) -> set[str]:
    """Return the files of code and the expressions that a project may run."""
    names = {f"{layer.code_file} {layer.code_name}".strip() for layer in code_layers(project.network)}
    names |= {*code_files(project), *experiment_files(project)}
    return names | ({project.data.path} if project.data.source == "python" else set())


def _write(project: Path, text: str) -> Path:
    """Write a file that did not exist. Raises `UserError`."""
    stem = project.name.removesuffix(SUFFIX)
    names = [f"{stem}.proposal{SUFFIX}", *(f"{stem}.proposal-{number}{SUFFIX}" for number in range(2, MOST + 1))]
    for name in names:
        path = project.with_name(name)
        try:
            descriptor = open_descriptor(path, "x")
        except FileExistsError:
            continue
        except OSError as error:
            raise UserError(f"{path} cannot be written: {error.strerror or error}.") from error
        with open(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        return path
    raise UserError(f"There are {MOST} proposals beside {project.name}.", hint="A person deletes old ones first.")
