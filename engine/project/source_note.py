"""The network noted at the end of exported PyTorch source, which an import reads back without running the file.

The note is the JSON of a project with network and layout alone, as comments: nothing of the data, the paths or the
options of the person who exports. A checksum of the code and the note tells a file that somebody edited.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import read_file
from netwright.engine.project import user_code
from netwright.engine.project.constants import has_constants
from netwright.engine.project.file import FILE_LIMIT_BYTES, dumps, loads
from netwright.engine.project.project import Project

HEADING = "# Netwright imports the network from these comments while the file is as it was exported."
CHECKSUM = "# sha256 "
WIDTH = 118
SOURCE_LIMIT_BYTES = 2 * FILE_LIMIT_BYTES


def with_note(text: str, project: Project) -> str:
    """Return exported source with the network noted at its end; without a note where the network has code or constants
    in files of their own, which the source does not bring along."""
    if user_code.has_code(project.network) or has_constants(project.network):
        return text
    return joined(text, json.loads(dumps(Project(project.network, project.layout))))


def joined(code: str, value: Any) -> str:
    """Return source with a JSON value noted behind it, and the checksum of both."""
    note = json.dumps(value, separators=(",", ":")).replace(" ", "\\u0020")  # no line ends with a space
    lines = [f"# {note[start : start + WIDTH]}" for start in range(0, len(note), WIDTH)]
    return "\n".join([code, "", HEADING, f"{CHECKSUM}{_checksum(code, note)}", *lines, ""])


def noted_project(path: Path) -> Project | None:
    """Return the project noted in a file; None where there is no note, or the file was edited since.

    Raises `UserError` for a file that cannot be read, or a note of a newer version.
    """
    try:
        text = read_file(path, SOURCE_LIMIT_BYTES).decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError:
        raise UserError(f"{path} is not Python source: it is not UTF-8 text.") from None
    code, heading, tail = text.rpartition(f"\n\n{HEADING}\n{CHECKSUM}")
    checksum, *lines = tail.rstrip("\n").split("\n")
    note = "".join(line.removeprefix("# ") for line in lines)
    if not heading or checksum != _checksum(code, note):
        return None
    return loads(note).project


def _checksum(code: str, note: str) -> str:
    return hashlib.sha256(f"{code}\0{note}".encode()).hexdigest()
