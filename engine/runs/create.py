"""Create the folder of a new run: its location and its initial files."""

import contextlib
import errno
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.files import RESOURCES, write_atomically, write_checked_json
from netwright.engine.core.folders import data_folder
from netwright.engine.core.own_files import RUNS
from netwright.engine.runs.data_record import DataRecord, write_record
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.info import RunInfo

SHIPPED = RESOURCES
"""Folder of the shipped examples and templates."""


def runs_beside(project_path: Path) -> Path:
    """Return the folder for the runs of a project, beside its file."""
    return project_path.parent / RUNS


def is_shipped(project_path: Path) -> bool:
    """Return whether a project is an example or a template shipped with Netwright."""
    return project_path.resolve().is_relative_to(SHIPPED)


def new_path(project_path: Path | None, name: str) -> Path:
    """Return the path of a new run: `runs/<time>_<name>` beside the project. In the user's data directory if the
    project has no file, is in a folder that is not writable, or is shipped, where an update would delete its runs.
    Raises `RunError`."""
    bases = [runs_beside(project_path)] if project_path and not is_shipped(project_path) else []
    with contextlib.suppress(RuntimeError):  # no home folder, as in some containers
        bases.append(data_folder() / RUNS)
    return _path_in(bases, name)


def _path_in(bases: Sequence[Path], name: str) -> Path:
    """Return the path of a new folder `<time>_<name>` in the first of these folders that can be written."""
    label = re.sub(r"[^\w-]+", "-", name).strip("-")[:40] or "untitled"
    stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
    for base in bases:
        with contextlib.suppress(OSError):
            base.mkdir(parents=True, exist_ok=True)
            if os.access(base, os.W_OK):
                return _free(base / f"{stamp}_{label}")
    raise RunError(
        f"No folder for runs can be written; tried {' and '.join(map(str, bases)) or 'none'}.",
        hint="Name one with --run-dir.",
    )


def _free(path: Path) -> Path:
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}_{number}")
    return candidate


def new_folder(project_path: Path | None, name: str) -> Path:
    """Create an empty folder for a new run. Runs that start in the same second get different folders.

    Raises `RunError`.
    """
    return _created(lambda: new_path(project_path, name))


def new_folder_in(bases: Sequence[Path], name: str) -> Path:
    """Create an empty folder `<time>_<name>` in the first of these folders that can be written. Raises `RunError`."""
    return _created(lambda: _path_in(bases, name))


def _created(choose: Callable[[], Path]) -> Path:
    while True:
        path = choose().absolute()
        try:
            path.mkdir(0o700)
            return path
        except FileExistsError:
            continue
        except OSError as error:
            raise _not_writable(path, error) from None


def create(
    path: Path,
    project_text: str,
    info: RunInfo,
    code: Iterable[bytes] = (),
    data: DataRecord | None = None,
    constants: Path | None = None,
) -> RunFolder:
    """Create the folder of a new run, private to the user, with copies of its user code and of the file of constants,
    and the record of its data. It must be absent or empty.

    Raises `UserError`.
    """
    folder = RunFolder(path)
    try:
        existed = path.is_dir()
        if path.exists() and not existed:
            raise UserError(
                f"{path} is a file.", hint="A run needs a folder of its own: name one that is absent or empty."
            )
        path.mkdir(0o700, parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise UserError(
                f"{path} is not empty.", hint="A run needs a folder of its own: name one that is absent or empty."
            )
        folder.control.mkdir(0o700)  # fails for concurrent callers that also found the folder empty
        try:
            _fill(folder, project_text, info, code, data)
            if constants is not None:
                shutil.copyfile(constants, folder.path / constants.name)
        except BaseException:  # an incomplete run would block the folder
            _clear(folder, keep_folder=existed, constants=constants)
            raise
    except FileExistsError:
        raise UserError(
            f"{path} is not empty: another run is just being made there.", hint="Name another folder."
        ) from None
    except OSError as error:
        raise _not_writable(path, error) from None
    return folder


def _not_writable(path: Path, error: OSError) -> UserError:
    """Return the error for a folder that cannot be written: `UserError` for a bad place, `RunError` for a full disk."""
    sentence = f"The run folder {path} cannot be written: {error.strerror}."
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
        return RunError(f"{sentence} Make room there, or name another folder with --run-dir.")
    return UserError(f"{sentence} Name a folder with --run-dir that you may write to.")


def _fill(folder: RunFolder, project_text: str, info: RunInfo, code: Iterable[bytes], data: DataRecord | None) -> None:
    folder.path.chmod(0o700)
    if data is not None:
        write_record(folder.path, data)
    for file in code:
        folder.code.mkdir(0o700, exist_ok=True)
        write_atomically(folder.code / f"{hashlib.sha256(file).hexdigest()}.py", file, mode=0o600)
    write_atomically(folder.project, project_text.encode(), mode=0o600)
    folder.lock.touch(0o600)
    folder.events.touch(0o600)
    write_checked_json(folder.info, replace(info, state="starting").write())


def _clear(folder: RunFolder, *, keep_folder: bool, constants: Path | None) -> None:
    """Remove the files and folders created by `_fill`."""
    with contextlib.suppress(OSError):
        for file in (folder.info, folder.events, folder.lock, folder.project, folder.data):
            file.unlink(missing_ok=True)
        if constants is not None:
            (folder.path / constants.name).unlink(missing_ok=True)
        if folder.control.is_dir():
            folder.control.rmdir()
        if folder.code.is_dir():
            shutil.rmtree(folder.code)
        if not keep_folder:
            folder.path.rmdir()
