"""State of the files that data comes from: names, sizes, times, a hash of their contents; and what has changed since.

Only names, sizes and times are compared first. A file that was copied or touched counts as unchanged where all contents
were hashed and are the same.
"""

import base64
import binascii
import contextlib
import errno
import hashlib
import os
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path
from typing import Any, Self

from netwright.engine.core.errors import plural
from netwright.engine.core.fields import printable
from netwright.engine.core.files import open_file
from netwright.engine.project.sources.source_type import is_hidden

MOST_LISTED = 100_000
"""Number of files up to which each is listed; of more, the subfolders are."""
MOST_ENTRIES = 2_000_000
"""Number of files and folders after which a folder is no longer read."""
SPARE_ENTRIES = 100_000
"""Files and folders that a folder may have beyond four times those recorded."""
UNPACKED_LIMIT = 2**27
DEEPEST = 16
SAMPLED_FILES = 32
SAMPLED_BYTES = 2**16
"""Bytes hashed at each place of a file that is not hashed as a whole."""
SAMPLED_PLACES = 64
"""Number of places in all: in one file as many, in many files the first and the last bytes."""
WHOLE_FILES = 2_000
WHOLE_BYTES = 2**25
"""Up to so many files and bytes, all contents are hashed."""
NAMED = 3
"""Number of files that a sentence names of each kind of change."""

Listed = bytes
"""Names and stamps one after the other, as they are packed and hashed."""
Stamp = tuple[int, int]
"""Size in bytes and time of modification in ns."""


@dataclass(frozen=True)
class Content:
    """Hash of the contents of files, or of some of them."""

    sha256: str
    files: int
    bytes: int
    is_whole: bool

    def write(self) -> dict[str, Any]:
        """Return the value as JSON."""
        return {"sha256": self.sha256, "files": self.files, "bytes": self.bytes, "is_whole": self.is_whole}


@dataclass(frozen=True)
class DataPlace:
    """A file or folder of the data as it was: count and size of its files, their stamps, a hash of their contents.

    option: the option of the project that names it, such as `path`. suffixes: endings of the files that count, in lower
    case; empty for all. stamps: hash of names, sizes and times. listing: stamp by name, relative to a folder, in order;
    None for too many files. folders: files, bytes and hash by subfolder, for too many files. kind: `all` files of the
    path, those that are `listed` alone, or `remote` ones, whose stamps hold a hash of the tag instead of a time and
    which are compared where the network may be used.
    """

    option: str
    path: str
    suffixes: tuple[str, ...] = ()
    files: int = 0
    bytes: int = 0
    stamps: str = ""
    content: Content = field(default_factory=lambda: Content("", 0, 0, False))
    listing: Mapping[str, Stamp] | None = field(default_factory=dict, repr=False)
    folders: Mapping[str, tuple[int, int, str]] = field(default_factory=dict, repr=False)
    kind: str = "all"
    text: Listed = field(default=b"", repr=False, compare=False)
    """The listing as it is packed and hashed, where it was just made."""

    @classmethod
    def look(cls, option: str, path: Path, suffixes: Collection[str] = (), most: int = MOST_ENTRIES) -> Self:
        """Return the state of a file or folder now. Raises `OSError` where it is missing, may not be read, or has more
        than `most` files and folders, unless that is `MOST_ENTRIES`."""
        listing = dict(sorted(_walk(path, frozenset(suffixes), most), key=itemgetter(0)))
        place = cls._of(option, path, listing, path, suffixes=tuple(sorted(suffixes)))
        if len(listing) <= MOST_LISTED:
            return place
        return replace(place, listing=None, text=b"", folders=_by_folder(listing))

    @classmethod
    def look_at(cls, option: str, folder: Path, names: Collection[str]) -> Self:
        """Return the state of some files in a folder, or below it, now; without those that are gone. Raises `OSError`
        where one may not be read."""
        listing = {}
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                status = (folder / name).stat()
                listing[name] = status.st_size, status.st_mtime_ns
        return cls._of(option, folder, listing, folder, kind="listed")

    @classmethod
    def remote(cls, option: str, url: str, states: Mapping[str, tuple[int, str]]) -> Self:
        """Return the state of remote files: size and tag by their URL, which holds no secret."""
        listing = {
            name: (size, int.from_bytes(hashlib.sha256(tag.encode("utf-8", "replace")).digest()[:6], "big"))
            for name, (size, tag) in states.items()
        }
        return cls._of(option, url, listing, None, kind="remote")

    @classmethod
    def _of(cls, option: str, path: Path | str, listing: Mapping[str, Stamp], hashed: Path | None, **more: Any) -> Self:
        """Return the state of these files; `hashed` is the file or folder whose contents are hashed."""
        total = sum([size for size, _ in listing.values()])
        text = _joined(listing)
        stamps = hashlib.sha256(text).hexdigest()
        content = Content("", 0, 0, False) if hashed is None else _content(hashed, listing, total)
        more |= {"stamps": stamps, "content": content, "listing": listing, "text": text}
        return cls(option, str(path), files=len(listing), bytes=total, **more)

    def write(self) -> dict[str, Any]:
        """Return the value as JSON."""
        data = {
            "option": self.option,
            "path": self.path,
            "suffixes": list(self.suffixes),
            "files": self.files,
            "bytes": self.bytes,
            "stamps": self.stamps,
            "content": self.content.write(),
        }
        if self.kind != "all":
            data["kind"] = self.kind
        if self.listing is not None:
            return {**data, "listing": pack(self.text or _joined(self.listing))}
        return {**data, "folders": {name: list(values) for name, values in self.folders.items()}}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """Return the value of JSON. Raises `ValueError`, `KeyError`, `TypeError` or `AttributeError` for other JSON."""
        content = Content(**{name: typed(data["content"], name, kind) for name, kind in _CONTENT.items()})
        listing = None
        if "listing" in data:
            *cells, end = unpack(typed(data, "listing", str)).decode("utf-8", "surrogateescape").split("\0")
            if end or len(cells) % 3:
                raise ValueError("listing")
            rows = zip(cells[::3], cells[1::3], cells[2::3], strict=True)
            listing = {name: (int(size), int(when)) for name, size, when in rows}
        folders = {str(name): (int(a), int(b), str(c)) for name, (a, b, c) in data.get("folders", {}).items()}
        values = {name: typed(data, name, kind) for name, kind in _PLACE.items()}
        suffixes = tuple(str(suffix) for suffix in data["suffixes"])
        kind = typed(data, "kind", str) if "kind" in data else "all"
        if kind not in ("all", "listed", "remote") or (kind != "all" and listing is None):
            raise ValueError("kind")
        return cls(**values, suffixes=suffixes, content=content, listing=listing, folders=folders, kind=kind)

    def changes(self) -> str:
        """Return the differences from the present state, in words; empty where nothing is, and for remote files."""
        if self.kind == "remote":
            return ""
        most = min(MOST_ENTRIES, 4 * self.files + SPARE_ENTRIES)  # a stranger's record may name any folder
        try:
            if self.kind == "listed":
                now = type(self).look_at(self.option, Path(self.path), self.listing or ())
            else:
                now = type(self).look(self.option, Path(self.path), self.suffixes, most)
        except FileNotFoundError:
            return f"{printable(self.path)} is gone."
        except OSError as error:
            return f"{printable(self.path)} cannot be read: {error.strerror or error}."
        return self.differences(now)

    def differences(self, now: "DataPlace") -> str:
        """Return the differences from another state of the same place, in words; empty for none."""
        is_same_content = self.content.sha256 == now.content.sha256
        if self.stamps == now.stamps:
            same = "have the same names, sizes and times as before, and other contents"
            return "" if is_same_content else f"The files of {printable(self.path)} {same}."
        sizes = [self._sizes(), now._sizes()]
        if is_same_content and self.content.is_whole and now.content.is_whole and sizes[0] == sizes[1]:
            return ""
        if self.listing is None or now.listing is None:
            return self._changed_folders(now)
        missing = [name for name in self.listing if name not in now.listing]
        new = [name for name in now.listing if name not in self.listing]
        both = [name for name, stamp in self.listing.items() if now.listing.get(name, stamp) != stamp]
        says = _other_version if self.kind == "remote" else _how
        texts = [f"{printable(name)} {says(self.listing[name], now.listing[name])}" for name in both[:NAMED]]
        if len(both) > NAMED:
            texts.append(f"{len(both) - NAMED:,} more differ")
        texts += [_counted(missing, "gone")] * bool(missing) + [_counted(new, "new")] * bool(new)
        if self.files == now.files == 1 and both:
            size, when = self.listing[both[0]]
            is_one = "" if self.listing.keys() != {Path(self.path).name} else printable(self.path)
            return f"{is_one or printable(both[0])} {says((size, when), now.listing[both[0]])}."
        count = f"{len(both) + len(missing) + len(new):,} of {plural(self.files, 'file')} in {printable(self.path)}"
        alike = (
            ""
            if new or missing or not is_same_content or self.kind == "remote"
            else " The contents that were looked at are the same."
        )
        return f"{count}: {'; '.join(texts)}.{alike}"

    def _sizes(self) -> dict[str, int]:
        return {name: size for name, (size, _) in (self.listing or {}).items()}

    def _changed_folders(self, now: "DataPlace") -> str:
        """Return the subfolders that differ, in words, where there are too many files to list."""
        before = self.folders or _by_folder(self.listing or {})
        after = now.folders or _by_folder(now.listing or {})
        texts = []
        for name in sorted({*before, *after}):
            old, new = before.get(name), after.get(name)
            if old == new:
                continue
            subject = f"{printable(name)}/" if name else "the folder itself"
            if old is None or new is None:
                texts.append(f"{subject} is {'gone' if new is None else 'new'}")
            elif old[0] != new[0]:
                texts.append(f"{subject} has {plural(new[0], 'file')} instead of {old[0]:,}")
            else:
                texts.append(f"files in {subject} have other names, sizes or times")
        more = f"; {len(texts) - NAMED:,} more folders differ" if len(texts) > NAMED else ""
        return f"In {printable(self.path)}, of {plural(self.files, 'file')}: {'; '.join(texts[:NAMED])}{more}."


_CONTENT = {"sha256": str, "files": int, "bytes": int, "is_whole": bool}
_PLACE = {"option": str, "path": str, "files": int, "bytes": int, "stamps": str}


def typed(data: Mapping[str, Any], name: str, kind: type) -> Any:
    """Return the value of a key. Raises `ValueError` where it is of another type, `KeyError` where it is missing."""
    if type(data[name]) is not kind:
        raise ValueError(name)
    return data[name]


def _walk(path: Path, suffixes: frozenset[str], most: int) -> list[tuple[str, Stamp]]:
    """Return name and stamp of a file, or of each file in a folder, without hidden ones. Raises `OSError`."""
    if not path.is_dir():
        status = path.stat()
        return [(path.name, (status.st_size, status.st_mtime_ns))]
    files: list[tuple[str, Stamp]] = []
    endings = tuple(suffixes)
    followed = {os.path.realpath(path)}
    waiting = [("", str(path), 1)]
    remaining = most
    while waiting and remaining >= 0:
        prefix, folder, level = waiting.pop()
        with _entries(folder) as entries:
            for entry in entries:
                name = entry.name
                remaining -= 1
                if remaining < 0:
                    break
                if is_hidden(f"{folder}{os.sep}{name}"):
                    continue
                if entry.is_dir():
                    inside = f"{folder}{os.sep}{name}"
                    if entry.is_symlink():  # it may lead back to a folder around it
                        real = os.path.realpath(inside)
                        if real in followed:
                            continue
                        followed.add(real)
                    if level < DEEPEST:
                        waiting.append((f"{prefix}{name}/", inside, level + 1))
                elif not endings or name.lower().endswith(endings):
                    try:
                        status = entry.stat()
                    except FileNotFoundError:  # a link that leads nowhere
                        files.append((prefix + name, (0, 0)))
                        continue
                    files.append((prefix + name, (status.st_size, status.st_mtime_ns)))
    if remaining < 0 and most < MOST_ENTRIES:
        raise OSError(errno.EFBIG, f"it has more than {most:,} files and folders, many more than before")
    return files


@contextmanager
def _entries(folder: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    """Open a folder for its entries, whose state is then asked for without looking up the folder for each. Raises
    `OSError`."""
    if os.scandir not in os.supports_fd:
        with os.scandir(folder) as entries:
            yield entries
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with os.scandir(descriptor) as entries:
            yield entries
    finally:
        os.close(descriptor)


def _joined(listing: Mapping[str, Stamp]) -> bytes:
    text = "".join([f"{name}\0{size}\0{when}\0" for name, (size, when) in listing.items()])
    return text.encode("utf-8", "surrogateescape")


def _by_folder(listing: Mapping[str, Stamp]) -> dict[str, tuple[int, int, str]]:
    """Return number, bytes and hash of the files of each folder on the first level; `""` for files beside them."""
    grouped: dict[str, dict[str, Stamp]] = {}
    for name, stamp in listing.items():
        grouped.setdefault(name.partition("/")[0] if "/" in name else "", {})[name] = stamp
    return {
        name: (len(inside), sum(size for size, _ in inside.values()), hashlib.sha256(_joined(inside)).hexdigest()[:16])
        for name, inside in grouped.items()
    }


def _content(path: Path, listing: Mapping[str, Stamp], total: int) -> Content:
    """Return the hash of all contents, of `total` bytes, or of evenly spread ones. A file that cannot be read counts as
    its name."""
    names = list(listing)
    is_whole = len(names) <= WHOLE_FILES and total <= WHOLE_BYTES
    sample = names if is_whole else _spread(names, SAMPLED_FILES)
    places = max(2, SAMPLED_PLACES // max(1, len(sample)))
    hashed, num_bytes, is_folder = hashlib.sha256(), 0, path.is_dir()
    for name in sample:
        if is_folder:
            hashed.update(f"{name}\0".encode("utf-8", "surrogateescape"))
        with contextlib.suppress(OSError), open_file(path / name if is_folder else path) as file:
            size = listing[name][0]
            if is_whole or size <= places * SAMPLED_BYTES:
                data = file.read(min(size, WHOLE_BYTES) + 1)
                hashed.update(data)
                num_bytes += len(data)
                continue
            for number in range(places):
                file.seek((size - SAMPLED_BYTES) * number // (places - 1))
                data = file.read(SAMPLED_BYTES)
                hashed.update(data)
                num_bytes += len(data)
    return Content(hashed.hexdigest(), len(sample), num_bytes, is_whole)


def _spread(names: Sequence[str], count: int) -> list[str]:
    """Return `count` of the names, the first and the last among them."""
    if len(names) <= count:
        return list(names)
    return [names[(len(names) - 1) * number // (count - 1)] for number in range(count)]


def _how(before: Stamp, now: Stamp) -> str:
    if before[0] != now[0]:
        return f"has {plural(now[0], 'byte')} instead of {before[0]:,}"
    return "is newer" if now[1] > before[1] else "is older"


def _other_version(before: Stamp, now: Stamp) -> str:
    return _how(before, now) if before[0] != now[0] else "is another version"


def _counted(names: Sequence[str], state: str) -> str:
    """Return `2 are gone (a.png, b.png)`."""
    examples = ", ".join(printable(name) for name in names[:NAMED]) + (", ..." if len(names) > NAMED else "")
    return f"{len(names):,} {'is' if len(names) == 1 else 'are'} {state} ({examples})"


def pack(data: bytes) -> str:
    """Return compressed bytes as text."""
    return base64.b64encode(zlib.compress(data, 1)).decode()


def unpack(text: str) -> bytes:
    """Return the packed bytes, at most `UNPACKED_LIMIT`. Raises `ValueError`."""
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(base64.b64decode(text, validate=True), UNPACKED_LIMIT)
    except (zlib.error, binascii.Error) as error:
        raise ValueError("packed") from error
    if not unpacker.eof:
        raise ValueError("packed")
    return data
