"""Sketches of project files in a process of its own, so that a disk which does not answer holds up nobody.

python -m app.start_page.sketching [STAMP PATH ...]

`STAMP` is what is known of the file: one that has not changed is not drawn again. Each line of JSON on standard output
holds the number of a file and what was found: first the stamp of every file, empty where there is none, then sketches.
"""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.start_page.sketch import Sketch

MODULE = "app.start_page.sketching"
POLITENESS = 10
"""The window goes before."""


def arguments(wanted: Iterable[tuple[Path, str]]) -> list[str]:
    """What the process is given: paths and the stamps that are known of them."""
    return [MODULE, *(word for path, stamp in wanted for word in (stamp, str(path)))]


def answer(line: bytes) -> "tuple[int, str | Sketch]":
    """The number of a file, and its stamp or its sketch. Raises `ValueError` for anything else."""
    from app.start_page.sketch import sketch_from

    try:
        number, told = json.loads(line)
        return int(number), told if isinstance(told, str) else sketch_from(told)
    except (TypeError, KeyError) as error:
        raise ValueError("this is no sketch") from error


def stamp_of(path: Path) -> str:
    """What changes when the file does; empty where there is no file. One that hides itself is told by its sketch."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError:
        return "hidden"
    return f"{status.st_mtime_ns}:{status.st_size}" if S_ISREG(status.st_mode) else ""


def _tell(number: int, what: str | dict[str, Any]) -> None:
    print(json.dumps([number, what], separators=(",", ":")), flush=True)


def main(given: Sequence[str]) -> None:
    """Look at the files, and draw those that are there and not known."""
    os.nice(POLITENESS)
    paths, known = [Path(word) for word in given[1::2]], given[::2]
    stamps: list[str] = []
    for number, path in enumerate(paths):
        stamps.append(stamp_of(path))
        _tell(number, stamps[-1])
    new = [n for n, stamp in enumerate(stamps) if stamp and stamp != known[n]]
    if not new:
        return
    from app.start_page.sketch import sketch_of, tidy_cache

    for number in new:
        _tell(number, asdict(sketch_of(paths[number])))
    tidy_cache()


if __name__ == "__main__":
    main(sys.argv[1:])
