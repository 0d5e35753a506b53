"""Files and folders that are taken for a project and are something else: what they are, and the command that makes a
project of them."""

import os
from pathlib import Path

from netwright.engine.core.errors import UserError
from netwright.engine.core.platform import command_line
from netwright.engine.project.import_kinds import WITHOUT_GRAPH, WITHOUT_GRAPH_HINT, can_import, kind_of
from netwright.engine.project.sources.guess import guesses
from netwright.engine.project.sources.source_catalog import SOURCES


def refusal(path: Path) -> UserError | None:
    """Return the error for a network of another program, for weights or data; None for anything else."""
    if os.path.isfile(path):
        suffix = path.suffix.lower()
        if suffix in WITHOUT_GRAPH:
            return UserError(f"{path} holds weights alone, it is not a project file.", hint=WITHOUT_GRAPH_HINT)
        if can_import(path):
            target = command_line(f"{path.stem}.netwright")
            return UserError(
                f"{path} is a network to import ({kind_of(path).label}), not a project file.",
                hint=f"`netwright-engine import {command_line(str(path))} -o {target}` makes a project of it.",
            )
        if suffix in SOURCES["images"].suffixes:
            return UserError(
                f"{path} is an image, not a project file.",
                hint="`netwright-engine new --data FOLDER` makes a project for a folder of images, with one subfolder "
                "per class.",
            )
    elif os.path.isdir(path) and (projects := sorted(path.glob("*.netwright"))[:1]):
        return UserError(f"{path} is a folder.", hint=f"Name a project file in it, such as {projects[0]}.")
    return _data_refusal(path)


def _data_refusal(path: Path) -> UserError | None:
    try:
        best = next(iter(guesses(path)), None)
    except UserError:  # nothing is there, or it may not be read
        return None
    if best is None:
        return None
    return UserError(
        f"{path} is data, not a project file: {best.reason}.",
        hint=f"`netwright-engine new --data {command_line(str(path))}` makes a project with a first network for it.",
    )
