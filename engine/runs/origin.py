"""Where a project comes from: its own folder, or, for the frozen copy in a run's folder, that of the run's project."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import UserError
from engine.runs.folder import RunFolder, frozen_code


@dataclass(frozen=True)
class Origin:
    """What goes with a project's file.

    Relative paths of data start at `base`, those of code at `code_base`, unless `code` has a copy. New runs go beside
    `runs_beside`, and are called `name`.
    """

    base: Path
    code_base: Path
    runs_beside: Path
    name: str
    code: Mapping[str, Path] = field(default_factory=dict)


def origin(path: Path) -> Origin:
    """Of a project's file. The copy that a run keeps trains again as the run did, with the code that it kept."""
    path = path.resolve()
    folder = RunFolder(path.parent)
    if path == folder.project and folder.info.is_file():
        with contextlib.suppress(UserError):  # a damaged run.json: a project like any other
            info = folder.read_info()
            base, name = info.get("base"), info.get("name")
            if isinstance(base, str) and isinstance(name, str):
                # `runs/<time>_<name>/project.netwright`: the next run of it goes to the same `runs`.
                beside = folder.path.parent.parent if folder.path.parent.name == "runs" else folder.path
                return Origin(Path(base), folder.path, beside / folder.project.name, name, frozen_code(folder))
    return Origin(path.parent, path.parent, path, path.stem)
