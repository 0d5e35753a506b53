"""Files and folders behind URLs, as copies on this machine: one for each version, in the user's cache folder.

    remote/<hash of the URL>-<hash of names, sizes and tags>/<name of the file or folder>

Sources read the copy. What is there is asked again after `FRESH_S`; a file that has not changed is not fetched again,
also where others in its folder have. Copies that were not used for a day are deleted when room is needed.
"""

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from netwright.engine.core.cache import Cache, open_new
from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import printable
from netwright.engine.core.files import write_json
from netwright.engine.data.sources.shard_places import (
    AT_ONCE,
    Shard,
    file_system,
    is_http,
    listed_state,
    read_all,
    remote_state,
    tried,
)
from netwright.engine.project.data_hosts import refuse_contact
from netwright.engine.project.sources.urls import (
    is_remote,
    path_of,
    split_url,
    url_fault,
    without_file_scheme,
    without_secrets,
)
from netwright.engine.runs.data_files import DataPlace

FRESH_S = 30.0
MOST_FILES = 200_000
MOST_BYTES = 50 * 2**30
"""Size of all copies above which unused ones are deleted."""
SPARE_BYTES = 2**30
UNUSED_S = 86400.0
STATES = "states.json"
LONGEST_NAME = 100
"""Characters of the name of a copy, of which the last are kept."""


@dataclass(frozen=True)
class RemotePlace:
    """Files behind a URL. `files`: their states by their paths below the folder; of a single file by its name."""

    url: str
    files: Mapping[str, Shard]
    is_folder: bool

    @property
    def name(self) -> str:
        """Name of the file or folder."""
        name = PurePosixPath(path_of(self.url)).name or split_url(self.url).place.rpartition("@")[2]
        sound = "".join(c if c.isprintable() else "_" for c in name)[-LONGEST_NAME:]
        return sound if sound not in ("", ".", "..") else "data"

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(file.size for file in self.files.values())

    def copy_in(self, folder: Path) -> Path:
        """Return the path of the copy in a folder. Raises `OSError` where there is none."""
        (folder / STATES).stat()
        return folder / self.name

    @property
    def version(self) -> str:
        """Hash of the state of all files."""
        states = sorted((name, file.size, file.tag) for name, file in self.files.items())
        return hashlib.sha256(json.dumps(states).encode("utf-8", "surrogatepass")).hexdigest()[:24]


_asked: dict[str, tuple[float, RemotePlace | None]] = {}
_shown: dict[str, str] = {}
"""URLs for messages by the paths of their copies."""


def as_path(text: str) -> str:
    """Return the path that an option names: for a URL that of the copy, which is fetched now unless it is there.
    Other texts are returned as they are. Raises `UserError`."""
    if not is_remote(text):
        return without_file_scheme(text)
    if fault := url_fault(text):
        raise UserError(f"{_for_messages(text)}: {fault}")
    return str(_copy(text))


def recorded_remote(option: str, url: str, *, is_fresh: bool = False) -> DataPlace:
    """Return the state of the files behind a URL, for the record of a run. Raises `UserError`."""
    place = _place(url, is_fresh=is_fresh)
    return DataPlace.remote(option, _for_messages(url), {f.shown: (f.size, f.tag) for f in place.files.values()})


@contextlib.contextmanager
def naming_urls() -> Iterator[None]:
    """Let errors name URLs where they name their copies."""
    try:
        yield
    except UserError as error:
        message = str(error)
        for path, url in _shown.items():
            message = message.replace(path, url)
        if message != str(error):
            raise error.reworded(message) from error
        raise


def _for_messages(url: str) -> str:
    return printable(without_secrets(url))


def _place(url: str, *, is_fresh: bool = False) -> RemotePlace:
    """Return the files behind a URL with their states, perhaps `FRESH_S` old unless `is_fresh`. Raises `UserError`."""
    when, place = _asked.get(url, (0.0, None))
    if place is None or is_fresh or time.monotonic() - when > FRESH_S:
        place = _http_place(url) if is_http(url) else _listed_place(url)
        _asked[url] = time.monotonic(), place
    return place


def _http_place(url: str) -> RemotePlace:
    if path_of(url).endswith("/") or not path_of(url):
        raise UserError(
            f"{_for_messages(url)}: a web server does not list the files of a folder.",
            hint="Name a file, or shards: train-{0000..0146}.tar.",
        )
    place = RemotePlace(url, {}, is_folder=False)
    return RemotePlace(url, {place.name: remote_state(url)}, is_folder=False)


def _listed_place(url: str) -> RemotePlace:
    place = RemotePlace(url, {}, is_folder=False)

    def look() -> RemotePlace:
        system = file_system(url)
        system.invalidate_cache()
        facts = system.info(url)
        if facts["type"] != "directory":
            beside = _arrays_beside(system, url) if place.name.endswith(".npy") else {}
            return RemotePlace(url, {place.name: listed_state(url, facts), **beside}, is_folder=False)
        return RemotePlace(url, _listed(system, url), is_folder=True)

    listing = tried(url, look)
    refuse_contact(url, len(listing.files))
    if not listing.files:
        raise UserError(f"{_for_messages(url)} holds no files.", hint="Choose the data anew (data.path).")
    return listing


def _arrays_beside(system: Any, url: str) -> dict[str, Shard]:
    """Return the `.npy` files beside one, which stands for all in its folder."""
    entries = system.ls(system._parent(url), detail=True)
    arrays = [facts for facts in entries if facts["type"] == "file" and facts["name"].endswith(".npy")]
    names = (PurePosixPath(facts["name"]).name for facts in arrays)
    beside = url.rpartition("/")[0]
    return {name: listed_state(f"{beside}/{name}", facts) for name, facts in zip(names, arrays, strict=True)}


def _listed(system: Any, url: str) -> dict[str, Shard]:
    """Return the files below a folder, without hidden ones. Raises `UserError`."""
    root = PurePosixPath("/", system._strip_protocol(url))
    files = {}
    for path, facts in system.find(url, detail=True).items():
        inside = PurePosixPath("/", path).relative_to(root)
        if ".." in inside.parts:  # a name in a bucket may be any text
            raise UserError(f"{_for_messages(url)} holds a file with '..' in its path, which is not read.")
        if not any(part.startswith(".") for part in inside.parts):
            files[inside.as_posix()] = listed_state(f"{url.rstrip('/')}/{inside.as_posix()}", facts)
        if len(files) > MOST_FILES:
            raise UserError(
                f"{_for_messages(url)} holds more than {MOST_FILES:,} files.",
                hint="Pack them into tar files of some 100 MB, which are read as shards: data.source=shards.",
            )
    return files


def _copy(url: str) -> Path:
    """Return the copy of the files behind a URL, fetched now unless it is there. Raises `UserError`."""
    place = _place(url)
    cache = Cache("remote", "Files behind URLs are copied to", MOST_BYTES, unused_s=UNUSED_S, spare_bytes=SPARE_BYTES)
    home = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    folder = cache.folder / f"{home}-{place.version}"
    copy = cache.obtain(folder, place.copy_in, partial(_fetch, place, home), _for_messages(url), place.bytes)
    _shown[str(copy)] = _for_messages(url)
    return copy


def _fetch(place: RemotePlace, home: str, folder: Path) -> None:
    """Fetch the files of a place into a folder. Raises `UserError`, and `OSError` of the cache folder."""
    before = _known_files(folder.parent, home)
    target = folder / place.name if place.is_folder else folder
    target.mkdir(parents=True)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda name: _fetch_file(name, place.files[name], target, before), place.files))
    states = {name: [file.size, file.tag] for name, file in place.files.items()}
    write_json(folder / STATES, {"inside": place.name if place.is_folder else "", "files": states})


def _fetch_file(name: str, file: Shard, target: Path, before: Mapping[tuple[str, int, str], Path]) -> None:
    """Fetch a file, unless an earlier copy of the place has it."""
    path = target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    copy = before.get((name, file.size, file.tag)) if file.tag else None
    if copy is not None:
        with contextlib.suppress(OSError):
            os.link(copy, path)
            return
    with open_new(path) as out:
        for piece in read_all(file):
            out.write(piece)
    if path.stat().st_size != file.size:
        raise UserError(f"{file.shown} has changed while it was read. Try again.")


def _known_files(copies: Path, home: str) -> dict[tuple[str, int, str], Path]:
    """Return the files of earlier versions by path, size and tag."""
    files = {}
    for states in copies.glob(f"{home}-*/{STATES}"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            state = json.loads(states.read_text(encoding="utf-8"))
            for name, (size, tag) in state["files"].items():
                files[name, size, tag] = states.parent / state["inside"] / name
    return files
