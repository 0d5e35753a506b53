"""Migrate older project files to the current format: one small function per version step, on plain records, before any
class of the program is constructed.

A file of the same major and a newer minor version opens with a notice and keeps unknown keys. A newer major version is
refused. An older file is migrated step by step; each step has a golden file in `tests/golden/`.
"""

from collections.abc import Callable
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted

FORMAT = (1, 4)
"""1.1 added `id`, the identity of the project: a file of 1.0 has none until it is saved. 1.2 added the sections
`weights`, which a run starts from, and `constants`, of imported ONNX operators. 1.3 added the section `experiment`, 1.4
`weights_of` of a layer."""
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""Migrations by major version, each to the next version."""


def migrate(data: dict[str, Any]) -> tuple[dict[str, Any], tuple[int, int], list[str]]:
    """Return the data in the current format, the version it keeps when saved, and notices. Raises `UserError`."""
    version = data["netwright"]
    whole = isinstance(version, list) and len(version) == 2 and all(type(v) is int and 0 <= v < 10**6 for v in version)
    if not whole or version[0] < 1:
        raise UserError(f'the format version "netwright" should look like [1, 0]; received {quoted(version)}.')
    major, minor = version
    if major > FORMAT[0]:
        raise UserError(
            f"this file has format {major}.{minor}; this version of Netwright reads up to {FORMAT[0]}.x.",
            hint="Open it with a newer version.",
        )
    if (major, minor) > FORMAT:
        notice = (
            f"The file comes from a newer version (format {major}.{minor}). What is not known here is kept as it is."
        )
        return data, (major, minor), [notice]
    while major < FORMAT[0]:
        data, major = MIGRATIONS[major](data), major + 1
    return data, FORMAT, []
