"""Folders whose code may run. The list is part of the user's configuration; nothing in a project can change it.

Trust in a folder includes its subfolders. Code runs in a process only if the real path of its file is in a trusted
folder, or in one that was granted to this process and its child processes (`--trust`, which is not stored).
"""

import contextlib
import json
import os
from pathlib import Path

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import write_json
from netwright.engine.core.folders import config_folder

GRANTS = "NETWRIGHT_TRUSTED"
MEANING = (
    "Code that runs has all your rights: it can read, change and delete your files, and reach the network. "
    "Trust a folder only if you know who wrote the code in it."
)
WAY_OUT = "Read the code, then add --trust to let it run this time, or trust the folder in the window."
"""The end of the message of a command for code that is not trusted."""


def trusted_folders() -> tuple[Path, ...]:
    """Return the folders that the user trusts permanently; none if the list is missing or damaged."""
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        return _listed()
    return ()


def _listed() -> tuple[Path, ...]:
    """Return the folders in the list. Raises `OSError`, `ValueError` and `RuntimeError`."""
    return tuple(map(Path, _absolute((config_folder() / "trusted.json").read_text(encoding="utf-8"))))


def trust(folder: Path) -> None:
    """Trust a folder permanently. Raises `UserError` if the list cannot be read or written."""
    _write([*_to_change(), _real(folder)])


def distrust(folder: Path) -> None:
    """Remove a folder from the trusted ones. Raises `UserError` if the list cannot be read or written."""
    _write([trusted for trusted in _to_change() if trusted != _real(folder)])


def _to_change() -> tuple[Path, ...]:
    """Return the folders in the list. Raises `UserError` for a damaged one, which would be lost."""
    try:
        return _listed()
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "it is damaged"
        raise UserError(
            f"The list of trusted folders in trusted.json of your settings cannot be read: {reason}.",
            hint="Rename the file, and trust the folders again.",
        ) from error


def grant(folder: Path) -> None:
    """Allow the code of a folder to run in this process and in child processes that it starts later."""
    os.environ[GRANTS] = json.dumps(sorted({*_granted(), str(_real(folder))}))


def is_trusted(path: Path) -> bool:
    """Return whether the code of a file, or of a project in a folder, may run. Symbolic links are resolved."""
    real = _real(path)
    folders = {real, *real.parents}
    return any(trusted in folders for trusted in (*map(Path, _granted()), *trusted_folders()))


def refusal(paths: list[str], folder: Path) -> str:
    """Return the message of a command for code that is not trusted, with the remedy."""
    names = ", ".join(paths[:6]) + (", ..." if len(paths) > 6 else "")
    return (
        f"The project runs code of its own ({names}), and the folder {_real(folder)} is not trusted. {MEANING} "
        + WAY_OUT
    )


def _granted() -> list[str]:
    with contextlib.suppress(ValueError):
        return _absolute(os.environ.get(GRANTS, "[]"))
    return []


def _absolute(text: str) -> list[str]:
    """Return the absolute paths in a JSON list. Raises `ValueError` for another text."""
    try:
        data = json.loads(text)
    except RecursionError:
        raise ValueError("it is too deep") from None
    if not isinstance(data, list):
        raise ValueError("it is no list")
    return [item for item in data if isinstance(item, str) and os.path.isabs(item)]


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _write(folders: list[Path]) -> None:
    try:
        config_folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        write_json(config_folder() / "trusted.json", sorted({str(folder) for folder in folders}))
    except OSError as error:
        raise UserError(f"The list of trusted folders cannot be written: {error.strerror}.") from None
