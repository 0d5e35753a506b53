"""Folders for files that are needed as long as a part of the window."""

import shutil
import tempfile

from PySide6.QtCore import QObject


def temporary_folder(owner: QObject, name: str) -> str:
    """A new folder among the temporary files, which is removed when its owner is deleted. `name` tells a person who
    looks there what it is for."""
    folder = tempfile.mkdtemp(prefix=f"netwright-{name}-")
    owner.destroyed.connect(lambda _=None: shutil.rmtree(folder, ignore_errors=True))
    return folder
