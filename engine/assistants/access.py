"""What an assistant may reach: files in the folders that a person has named, and no host.

Every text that an assistant sends is judged as if it were a path, whatever its field means: so no field can be
forgotten, and a name of a layer or a column, which is a path inside the folder as well, passes.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted

OUTSIDE = "outside"
_PARTS = re.compile(r"[\s,;|:=\"'(){}\[\]]+")
"""What separates paths in a text: those of `data.path=a.csv`, of lists, and of `FILE.py:CLASS`."""
_NAME = re.compile(r"[\w.-]+")
"""The name of an option before its value."""


@dataclass(frozen=True)
class Access:
    """The folders, without links. Relative paths begin at the first one."""

    folders: tuple[Path, ...]

    @classmethod
    def to(cls, paths: Iterable[Path]) -> "Access":
        """Return the access to folders, and to those of project files; to the current folder where there is none.
        Raises `UserError` for a path that does not exist, and for a folder with all of the user's files."""
        folders = []
        for path in [*paths] or [Path()]:
            if not path.exists():
                raise UserError(f"{path} does not exist.", code="not_found", hint="Name a project or a folder.")
            folder = Path(os.path.realpath(path if path.is_dir() else path.parent))
            if folder == Path(folder.anchor) or folder == Path(os.path.realpath(Path.home())):
                hint = "Name the folder of your projects: netwright-engine mcp FOLDER."
                raise UserError(f"{folder} has all of your files, too many for an assistant.", hint=hint)
            folders.append(folder)
        return cls(tuple(dict.fromkeys(folders)))

    def place(self, text: str, base: Path | None = None) -> Path:
        """Return the path that a text names, without links; a relative one begins at `base`. Raises `UserError`
        outside of the folders."""
        if ".." in Path(text).parts:  # where that leads depends on where it begins
            raise self._refusal(text)
        try:
            path = Path(os.path.realpath((base or self.folders[0]) / os.path.expanduser(text)))
        except (ValueError, OSError, RuntimeError):
            raise self._refusal(text) from None
        if not any(path.is_relative_to(folder) for folder in self.folders):
            raise self._refusal(text)
        return path

    def folder_of(self, path: Path) -> Path:
        """Return the folder that a path lies in."""
        return next(folder for folder in self.folders if path.is_relative_to(folder))

    def refuse_outside(self, value: Any, base: Path | None = None) -> None:
        """Raise `UserError` where a text in a value, or a part of one, names a path outside of the folders, or a
        host."""
        for text in texts(value):
            if "://" in text:
                hint = "A person can do that: nothing is fetched for an assistant."
                raise UserError(f"{quoted(text)} is on another host.", code=OUTSIDE, hint=hint)
            name, _, value = text.partition("=")
            if self._is_here(text, base) or (value and _NAME.fullmatch(name) and self._is_here(value, base)):
                continue  # a path that may have spaces in it
            for part in filter(None, (text, *_PARTS.split(text))):
                self.place(part, base)

    def _is_here(self, text: str, base: Path | None) -> bool:
        """Return whether a text as a whole is the path of something inside of the folders."""
        try:
            return self.place(text, base).exists()
        except UserError:
            return False

    def _refusal(self, text: str) -> UserError:
        folders = ", ".join(map(str, self.folders))
        return UserError(f"{quoted(text)} lies outside of {folders}.", code=OUTSIDE, hint="Name a path inside.")


def texts(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value, names of keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts(item)
