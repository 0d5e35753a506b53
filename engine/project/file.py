"""Read and write the project file.

Reading goes text -> plain records -> migrations -> the value, executes nothing from the file, and reports errors with
a path and a remedy. Writing is stable (one layer and one connection per line) and atomic.
"""

import errno
import json
import math
import os
import stat
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import FieldError, FieldErrors, UserError, did_you_mean
from netwright.engine.core.fields import is_unicode, quoted
from netwright.engine.core.files import write_atomically
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.core.records import Record
from netwright.engine.project.foreign_files import refusal
from netwright.engine.project.migrations import FORMAT, migrate
from netwright.engine.project.network_json import NETWORK_KEYS, NetworkReader, write_network
from netwright.engine.project.project import IDENTITY, SECTIONS, Project

# A network of 20,000 layers has 3 MB. The limit keeps a hostile file from taking seconds and gigabytes.
FILE_LIMIT_BYTES = 8 * 2**20
DEPTH_LIMIT = 64


@dataclass(frozen=True)
class Opened:
    """A project as read from a file, and the notices for the user."""

    project: Project
    notices: tuple[str, ...] = ()


def load(path: Path) -> Opened:
    """Read a project file. Raises `UserError` for any error in it, which names the kind of another file."""
    try:
        data = _read_data(path)
    except UserError:
        if path.suffix.lower() != SUFFIX and (other := refusal(path)) is not None:
            raise other from None
        raise
    try:
        return _opened(data)
    except UserError as error:
        raise _in_file(path, error) from None


def _in_file(path: Path, error: UserError) -> UserError:
    if len(error.lines) == 1:
        return error.reworded(f"{path}: {error.lines[0]}")
    return error.reworded(f"{path}: several things are wrong.", *(f"  {line}" for line in error.lines))


def _read_data(path: Path) -> dict[str, Any]:
    """Return the content of a project file as plain records. Raises `UserError` for a file that is none."""
    try:
        text = _read_bytes(path).decode("utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"There is no file {path}.") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not a project file: it is not UTF-8 text.") from None
    try:
        return _data_of(text)
    except UserError as error:
        raise _in_file(path, error) from None


def _read_bytes(path: Path) -> bytes:
    status = os.stat(path)
    if stat.S_ISDIR(status.st_mode):
        raise UserError(f"{path} is a folder.", hint=f"Choose a project file (*{SUFFIX}).")
    if not stat.S_ISREG(status.st_mode):
        raise UserError(f"{path} is not a file but a device or a pipe.", hint=f"Choose a project file (*{SUFFIX}).")
    with open(path, "rb") as file:
        data = file.read(FILE_LIMIT_BYTES + 1)
    if len(data) > FILE_LIMIT_BYTES:
        size, limit = status.st_size / 2**20, FILE_LIMIT_BYTES // 2**20
        raise UserError(
            f"{path} has {size:,.1f} MiB; a project file has at most {limit} MiB.",
            hint="Is it a project file? Weights and data lie beside it, not in it.",
        )
    return data


def loads(text: str) -> Opened:
    """Read a project from text. Raises `UserError`."""
    return _opened(_data_of(text))


def _data_of(text: str) -> dict[str, Any]:
    try:
        data = json.loads(
            text, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_refuse_duplicates
        )
    except RecursionError:
        raise UserError(f"not a project file: {TOO_DEEP}.") from None
    except json.JSONDecodeError as error:
        raise UserError(
            f"not a project file: it is cut off, or was changed by hand, at line {error.lineno}, column {error.colno} "
            f"({error.msg}).",
            hint="Put it right there, or go back to an earlier copy.",
        ) from None
    except ValueError as error:
        reason = "a number has more than 4,300 digits" if "digits" in str(error) else error
        raise UserError(f"not a project file: {reason}.") from None
    if isinstance(data, (dict, list)) and _is_deeper(data, DEPTH_LIMIT):
        raise UserError(f"not a project file: {TOO_DEEP}.")
    if "\\u" in text and not is_unicode(json.dumps(data, ensure_ascii=False)):
        raise UserError("not a project file: a text in it has half of a pair of characters (\\ud800 to \\udfff).")
    if not isinstance(data, dict) or "netwright" not in data:
        raise UserError('not a project file: the key "netwright" with the format version is missing.')
    return data


def _opened(data: dict[str, Any]) -> Opened:
    data, version, notices = migrate(data)
    return Opened(_read(data, version), tuple(notices))


TOO_DEEP = f"it is nested deeper than {DEPTH_LIMIT} levels"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{quoted(text)} is too large for a number")
    return number


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {quoted(twice)} stands twice in one object")
    return mapping


def _is_deeper(value: dict[str, Any] | list[Any], limit: int) -> bool:
    """Return whether lists and objects are nested deeper than a limit; checked level by level, without recursion."""
    level: list[Any] = [value]
    for _ in range(limit):
        inner = (item for v in level for item in (v.values() if isinstance(v, dict) else v))
        level = [item for item in inner if isinstance(item, (dict, list))]
        if not level:
            return False
    return True


def _read(data: Mapping[str, Any], version: tuple[int, int]) -> Project:
    newer = version > FORMAT
    keys = {"netwright", "id", "network", *SECTIONS}
    unknown = {key: value for key, value in data.items() if key not in keys}
    if unknown and not newer:
        key = next(iter(unknown))
        raise UserError(f"there is no section {quoted(key)} in a project file.", hint=did_you_mean(key, keys))
    errors: list[FieldError] = []
    sections: dict[str, Record] = {}
    for name, record in SECTIONS.items():
        try:
            sections[name] = record.read(data.get(name, {}), name, keep_unknown=newer)
        except FieldErrors as refused:
            errors.extend(refused.errors)
    identity = data.get("id", "")
    if "id" in data and not (isinstance(identity, str) and IDENTITY.fullmatch(identity)):
        text = f"expected 8 to 64 letters, digits and hyphens, received {quoted(identity)}. Remove it: saving adds one."
        errors.append(FieldError("id", text))
        identity = ""
    project, reader = Project(version=version, identity=identity, unknown=unknown), NetworkReader(newer)
    try:
        network, layout = reader.read(data.get("network", {}))
        project = replace(
            project,
            network=network,
            layout=layout,
            unknown_in_network=reader.unknown,
            unknown_in_layers=reader.unknown_in_layers,
        )
    except FieldErrors as refused:
        errors.extend(refused.errors)
    if errors:
        raise FieldErrors(errors)
    for name, options in sections.items():
        project = project.with_section(name, options)
    return project


def save(project: Project, path: Path) -> None:
    """Write a project file atomically. Raises `UserError` if that fails; the old file is then unchanged."""
    try:
        if path.exists() and not os.access(path, os.W_OK):  # replacing it would work, but is not what was meant
            raise PermissionError(errno.EACCES, "the file is write-protected")
        write_atomically(path, dumps(project).encode())
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}. Nothing was changed; save elsewhere.") from None


def dumps(project: Project) -> str:
    """Return the project as the text of its file."""
    network = write_network(project.network, project.layout, project.unknown_in_layers)
    lines = [f'{{"netwright": {json.dumps(list(project.version))}']
    if project.identity:
        lines.append(f' "id": {json.dumps(project.identity)}')
    lines.append(f' "network": {_network({**network, **project.unknown_in_network}, " ")}')
    rest = {name: project.section(name).write() for name in SECTIONS}
    for key, value in {**rest, **project.unknown}.items():
        if value != {} or key in project.unknown:
            lines.append(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return ",\n".join(lines) + "}\n"


def _network(network: Mapping[str, Any], indent: str) -> str:
    """Write each layer, connection, frame and comment on a line; the contents of a block are indented."""
    text = ""
    for key, value in network.items():
        is_listed = key in NETWORK_KEYS and isinstance(value, list)
        between = f",\n{indent} " if text and key not in NETWORK_KEYS else ", " if text else ""
        text += f"{between}{json.dumps(key)}: "
        if is_listed:
            rows = (f"{indent}  {_row(row, indent)}" for row in value)
            text += "".join(["[\n", ",\n".join(rows), "\n" if value else "", f"{indent} ]"])
        else:
            text += json.dumps(value, ensure_ascii=False)
    return f"{{{text}}}"


def _row(row: Any, indent: str) -> str:
    if not isinstance(row, dict) or not isinstance(row.get("network"), dict):
        return json.dumps(row, ensure_ascii=False)
    rest = json.dumps({key: value for key, value in row.items() if key != "network"}, ensure_ascii=False)
    return f'{rest[:-1]}, "network": {_network(row["network"], f"{indent}   ")}}}'
