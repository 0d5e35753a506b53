"""Which folders may give code that runs. Kept in the user's configuration; nothing in a project can change it.

A folder is trusted with all that is in it. Code runs in no process before the file's real path is found to be in a
trusted folder, or in one that was granted to this process and those it starts (`--trust`, which is not remembered).
"""

import contextlib
import json
import os
from pathlib import Path

from engine.core.errors import UserError
from engine.core.files import write_json
from engine.core.folders import config_folder

GRANTS = "NETWRIGHT_TRUSTED"
MEANING = (
    "Code that runs has all your rights: it can read, change and delete your files, and reach the network. "
    "Trust a folder only if you know who wrote the code in it."
)


def trusted_folders() -> tuple[Path, ...]:
    """The folders that the user has trusted, for good. A damaged list trusts nothing."""
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        return tuple(map(Path, _absolute((config_folder() / "trusted.json").read_text(encoding="utf-8"))))
    return ()


def trust(folder: Path) -> None:
    """Trust a folder for good. Raises `UserError` where that cannot be written."""
    _write([*trusted_folders(), _real(folder)])


def distrust(folder: Path) -> None:
    """Trust the folder no longer."""
    _write([known for known in trusted_folders() if known != _real(folder)])


def grant(folder: Path) -> None:
    """Let code of this folder run in this process and in those it starts from now on."""
    os.environ[GRANTS] = json.dumps(sorted({*_granted(), str(_real(folder))}))


def is_trusted(path: Path) -> bool:
    """Whether code in this file, or written in a project of this folder, may run. Links are followed first."""
    real = _real(path)
    folders = {real, *real.parents}
    return any(known in folders for known in (*map(Path, _granted()), *trusted_folders()))


def refusal(paths: list[str], folder: Path) -> str:
    """What a command says about code that it may not run, and the way out."""
    names = ", ".join(paths[:6]) + (", ..." if len(paths) > 6 else "")
    return (
        f"The project runs code of its own ({names}), and the folder {_real(folder)} is not trusted. {MEANING} "
        "Read the code, then add --trust to let it run this time, or trust the folder in the window."
    )


def _granted() -> list[str]:
    with contextlib.suppress(ValueError):
        return _absolute(os.environ.get(GRANTS, "[]"))
    return []


def _absolute(text: str) -> list[str]:
    """The absolute paths in a JSON list. Raises `ValueError` for text that is no JSON."""
    try:
        listed = json.loads(text)
    except RecursionError:
        return []
    items = listed if isinstance(listed, list) else []
    return [item for item in items if isinstance(item, str) and os.path.isabs(item)]


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _write(folders: list[Path]) -> None:
    try:
        config_folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        write_json(config_folder() / "trusted.json", sorted({str(folder) for folder in folders}))
    except OSError as error:
        raise UserError(f"The list of trusted folders cannot be written: {error.strerror}.") from None
