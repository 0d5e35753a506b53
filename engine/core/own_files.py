"""Names of the files and folders that Netwright writes beside a project, by which they are told from data."""

import os

SUFFIX = ".netwright"
"""Suffix of a project file."""
RUNS, EXPERIMENTS = "runs", "experiments"
"""Folders beside a project, with a folder inside for each run or experiment."""
COPY = f"project{SUFFIX}"
"""Copy of the project in the folder of a run or an experiment."""


def is_own(path: str) -> bool:
    """Return whether a file or folder is a project, or holds runs or experiments; false where it cannot be read."""
    name = os.path.basename(path)
    if name not in (RUNS, EXPERIMENTS):
        return name.endswith(SUFFIX)
    try:
        with os.scandir(path) as entries:
            return any(entry.is_dir() and os.path.exists(os.path.join(entry.path, COPY)) for entry in entries)
    except OSError:
        return False
