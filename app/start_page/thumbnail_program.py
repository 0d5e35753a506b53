"""Makes thumbnails of project files in a process of its own, so that a disk which does not answer blocks nothing.

python -m netwright.engine.core.child netwright.app.start_page.thumbnail_program [STAMP PATH ...]

`STAMP` is what is known of the file: one that has not changed is not drawn again. Each line of JSON on standard output
holds the number of a file and what was found: first the stamp of every file, empty where there is none, then the
thumbnails. They are kept in the user's cache folder, by the bytes of the file; nothing here needs Qt, and the engine is
imported only when there is something to draw.
"""

import contextlib
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

from netwright.engine.core.platform import lower_priority
from netwright.engine.core.process import print_line

if TYPE_CHECKING:
    from netwright.engine.drawing.outline import Bar, FlatCurve
    from netwright.engine.network.network import Network

MODULE = "netwright.app.start_page.thumbnail_program"
ENDS_WITH_PARENT = True  # not a pipe to look at: it draws
NICENESS = 10
"""The window has priority."""
FORMAT = 5
LARGEST_BYTES = 2 * 2**20
"""The largest project that is drawn: some ten thousand layers, a second of work."""
MOST_KEPT = 300


@dataclass(frozen=True)
class Thumbnail:
    """The outline of a network, without colours, and its size. `layers` is None for a file that is too large to draw,
    `parameters` where they cannot be known. `problem` says why a file cannot be opened, `excuse` why there is no
    preview of one that may be sound."""

    bars: "tuple[Bar, ...]" = ()
    curves: "tuple[FlatCurve, ...]" = ()
    layers: int | None = 0
    parameters: int | None = None
    problem: str = ""
    excuse: str = ""


def thumbnail_from(values: dict[str, Any]) -> Thumbnail:
    """Return a thumbnail from its fields in JSON. Raises `TypeError`, `ValueError` or `KeyError` for others."""
    bars = tuple((float(x), float(y), float(w), float(h), str(family)) for x, y, w, h, family in values["bars"])
    curves = tuple(tuple(map(float, curve)) for curve in values["curves"])
    layers, parameters = (None if values[name] is None else int(values[name]) for name in ("layers", "parameters"))
    return Thumbnail(bars, curves, layers, parameters, str(values["problem"]))


# The window's side


def arguments(files: Iterable[tuple[Path, str]]) -> list[str]:
    """Return the arguments of the process: the paths, each with its last stamp."""
    return [MODULE, *(word for path, stamp in files for word in (stamp, str(path)))]


def answer(message: Any) -> tuple[int, str | Thumbnail]:
    """Return the number of a file, and its stamp or thumbnail. Raises `ValueError` for anything else."""
    try:
        number, value = message
        return int(number), value if isinstance(value, str) else thumbnail_from(value)
    except (TypeError, KeyError) as error:
        raise ValueError("this is no thumbnail") from error


# The process


def main(arguments: Sequence[str]) -> None:
    """Look at the files, and draw those that have changed."""
    lower_priority(NICENESS)
    paths, old_stamps = [Path(word) for word in arguments[1::2]], arguments[::2]
    stamps: list[str] = []
    for number, path in enumerate(paths):
        stamps.append(stamp_of(path))
        print_line([number, stamps[-1]])
    changed = [number for number, stamp in enumerate(stamps) if stamp and stamp != old_stamps[number]]
    for number in changed:
        print_line([number, asdict(make_thumbnail(paths[number]))])
    if changed:
        tidy_cache()


def stamp_of(path: Path) -> str:
    """Return the stamp of a file; empty where there is no file. The thumbnail tells the problem with one that
    cannot be read."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError:
        return "hidden"
    return f"{status.st_mtime_ns}:{status.st_size}" if S_ISREG(status.st_mode) else ""


def make_thumbnail(path: Path) -> Thumbnail:
    """Return the thumbnail of a project file, from the cache if the same bytes were drawn before. Raises nothing."""
    from netwright.engine.core.errors import UserError
    from netwright.engine.core.files import open_file
    from netwright.engine.core.version import VERSION
    from netwright.engine.drawing.outline import outline
    from netwright.engine.project.file import loads

    try:
        with open_file(path) as file:
            data = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        return Thumbnail(problem=f"The file cannot be read: {error.strerror}.")
    if len(data) > LARGEST_BYTES:
        return Thumbnail(layers=None)
    key = hashlib.sha256(f"{FORMAT} {VERSION}\n".encode() + data).hexdigest()[:32]
    cached = thumbnail_folder() / f"{key}.json"
    if (stored := _read(cached)) is not None:
        return stored
    try:
        project = loads(data.decode("utf-8-sig")).project
    except (UserError, UnicodeDecodeError) as error:
        return Thumbnail(problem=f"The file cannot be opened: {error}")
    picture = outline(project.network, project.layout)
    thumbnail = Thumbnail(picture.bars, picture.curves, *size_of(project.network))
    _write(cached, thumbnail)
    return thumbnail


def size_of(network: "Network") -> tuple[int, int | None]:
    """Return the number of layers, and of parameters where it is known."""
    from netwright.engine.network.analysis import analyse
    from netwright.engine.network.layer_table import num_layers

    if not network.layers:
        return 0, None
    analysis = analyse(network)
    return num_layers(network), None if analysis.has_errors else analysis.parameters


def thumbnail_folder() -> Path:
    """Return where thumbnails are kept."""
    from netwright.engine.core.folders import cache_folder

    return cache_folder() / "sketches"


def tidy_cache() -> None:
    """Remove the oldest thumbnails, where there are many."""
    with contextlib.suppress(OSError):
        files = sorted(thumbnail_folder().glob("*.json"), key=lambda path: path.stat().st_mtime)
        for path in files[:-MOST_KEPT]:
            path.unlink()


def _read(path: Path) -> Thumbnail | None:
    try:
        return thumbnail_from(json.loads(path.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _write(path: Path, thumbnail: Thumbnail) -> None:
    """Put a thumbnail into the cache; without room or permission it is drawn again next time."""
    from netwright.engine.core.files import write_atomically

    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(path, json.dumps(asdict(thumbnail), ensure_ascii=False).encode(), mode=0o600)
