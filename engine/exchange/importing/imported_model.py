"""A file of another program as a model: imported once into the user's cache folder, in a child process with limits."""

import json
from pathlib import Path
from typing import Any

from netwright.engine.core.cache import Cache
from netwright.engine.core.errors import UserError
from netwright.engine.core.foreign_file import HARM, allowed_work_s
from netwright.engine.core.fork import run_in_child_process
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.core.platform import limit_memory
from netwright.engine.core.version import VERSION
from netwright.engine.data.sources.source import allowed_memory
from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.exchange.importing.module_file import prepare_for_code
from netwright.engine.project.import_kinds import kind_of
from netwright.engine.training.out_of_memory import is_out_of_memory

IMPORTS = Cache("models", "Imported models are kept in", most_bytes=2**34, most_entries=32, unused_s=3600.0)
PROJECT, REPORT = f"model{SUFFIX}", "report.json"
TIMES_SLOWER = 4.0
"""Waiting for other programs may make an import take so many times its work."""


def imported_model(path: Path) -> tuple[Path, tuple[str, ...]]:
    """Return the project of a file, and what its import warns of, a sentence each. Raises `UserError` where it cannot
    be imported."""
    kind_of(path)
    try:
        beside = sorted(file for file in path.parent.iterdir() if file.name.startswith(path.stem) and file.is_file())
        stamps = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in beside]
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from error
    entry = IMPORTS.entry(VERSION, str(path.resolve()), stamps)
    warnings = IMPORTS.obtain(entry, _read, lambda folder: _write(path, folder), str(path), path.stat().st_size)
    return entry / PROJECT, warnings


def _read(folder: Path) -> tuple[str, ...]:
    """Return the warnings of an import. Raises `OSError` and `ValueError`."""
    report = json.loads((folder / REPORT).read_bytes())
    (folder / PROJECT).stat()
    return tuple(report["warnings"])


def _write(path: Path, folder: Path) -> None:
    folder.mkdir(mode=0o700)

    def work() -> dict[str, Any]:
        prepare_for_code()
        limit_memory(allowed_memory())
        try:
            report = import_file(path, folder / PROJECT)
        except Exception as error:  # torch and numpy have classes of their own for it
            if not is_out_of_memory(error):
                raise
            raise UserError(f"{path} needs more memory than there is. {HARM}") from None
        return {"warnings": list(report.warnings)}

    try:
        report = run_in_child_process(work, TIMES_SLOWER * allowed_work_s(path))
    except RuntimeError as error:
        raise UserError(f"{path} cannot be read as a model: {error}. {HARM}") from None
    (folder / REPORT).write_text(json.dumps(report), encoding="utf-8")
