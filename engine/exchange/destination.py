"""Where an export may be written: asked before any work is done."""

import os
from pathlib import Path

from engine.errors import UserError


def refuse_destination(to: Path) -> None:
    """Raise `UserError` if a file cannot be written there, and why."""
    folder = to.parent
    try:
        is_folder = to.is_dir()
    except OSError as error:
        raise not_written(to, error) from None
    if is_folder:
        raise UserError(f"{to} is a folder. Name a file in it, such as {to / 'network'}.")
    if not folder.exists():
        raise UserError(f"The folder {folder} does not exist. Make it first, or name another one.")
    if not folder.is_dir():
        raise UserError(f"{folder} is a file, so nothing can be written into it. Name a folder.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"The folder {folder} cannot be written to: permission denied. Name another one.")


def not_written(to: Path, error: OSError) -> UserError:
    """The error for a file that could not be written after all: a full disk, a name that is too long."""
    return UserError(f"{to} cannot be written: {error.strerror or error}.")
