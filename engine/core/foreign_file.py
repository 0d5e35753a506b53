"""Limits for a file of another program: time that its size accounts for. Far more is damage, or made to do
harm."""

import mmap
import os
import re
import sys
from contextlib import suppress
from itertools import islice
from pathlib import Path

from netwright.engine.core.files import open_file

LEAST_WORK_S = 25.0
"""Time that a file of up to `SMALL_BYTES` may take: ten thousand operators take five seconds, and torch as many."""
SMALL_BYTES, BYTES_PER_S = 2**18, 2**13
"""Size of a small file, and that which accounts for another second beyond it."""
EXTERNAL = re.compile(rb"\n\x08location\x12([\x01-\x7f])([^\x00]{,127})", re.DOTALL)
"""Name of a file with numbers, as an ONNX file has it: its length and its bytes."""
MOST_TENSORS = 100_000
HARM = "A small file that needs so much is damaged, or was made to do harm."


def allowed_work_s(path: Path) -> float:
    """Return the seconds of work that a file accounts for, with the files of weights that belong to it: an ONNX file
    names them, source has one of its own name. Holes in a file do not count."""
    total, names = 0, {f"{path.stem}.safetensors"}
    with suppress(OSError, ValueError), open_file(path) as file:
        total = _allocated(os.fstat(file.fileno()))
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            matches = islice(EXTERNAL.finditer(content), MOST_TENSORS)
            names |= {os.fsdecode(match[2][: match[1][0]]) for match in matches}
    for name in names:
        with suppress(OSError, ValueError):
            total += _allocated((path.parent / name).stat())
    return LEAST_WORK_S + max(0, total - SMALL_BYTES) / BYTES_PER_S


def _allocated(status: os.stat_result) -> int:
    """Return the size of a file without its holes, where the system tells."""
    if sys.platform == "win32":
        return status.st_size
    return min(status.st_size, status.st_blocks * 512)
