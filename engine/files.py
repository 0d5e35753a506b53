"""Writing files so that a crash leaves the old one or the new one, never half of either."""

import contextlib
import json
import os
import secrets
import stat
from pathlib import Path
from typing import Any


def write_atomically(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Write beside, flush to disk, rename. Raises `OSError`; nothing is left behind then.

    A link keeps pointing where it does, and a file that is there keeps its permissions.
    """
    path = Path(os.path.realpath(path))
    beside = path.with_name(f".{secrets.token_hex(8)}.tmp")  # a name of its own: the file's may already be the longest
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with open(descriptor, "wb") as file:
            with contextlib.suppress(OSError):
                os.fchmod(descriptor, stat.S_IMODE(path.stat().st_mode))
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def write_json(path: Path, value: Any, *, mode: int = 0o600) -> None:
    """Write one JSON value atomically."""
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path, text.encode("utf-8", "backslashreplace"), mode=mode)
