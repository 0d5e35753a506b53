"""A `.keras` file: a zip archive with the architecture as JSON and the weights as HDF5. Nothing in it is executed."""

import json
import math
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.extras import import_extra
from netwright.engine.core.fields import printable
from netwright.engine.core.text import format_bytes

CONFIG, METADATA, WEIGHTS = "config.json", "metadata.json", "model.weights.h5"
JSON_LIMIT_BYTES = 2**26
WEIGHTS_LIMIT_BYTES = 2**35
MOST_TIMES_LARGER = 200
"""Largest factor by which a member of the archive may grow when it is decompressed."""
MOST_MEMBERS = 1000
ROOTS = ("layers", "_layer_checkpoint_dependencies", "_self_tracked_trackables")
"""Names under which Keras 3 and the versions before it keep the layers of a model."""
WAY_OUT = "Save the model again with Keras: model.save('NAME.keras')."

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Archive:
    """What a `.keras` file holds: its version, the architecture, and the opened weights."""

    version: str
    config: dict[str, Any]
    weights: "Weights"


class Weights:
    """The datasets of the weights file by path. Links and values in other files are refused."""

    def __init__(self, file: Any, path: Path) -> None:
        self._file = file
        self._path = path

    def group(self, path: str) -> "Weights | None":
        """Return the group at a path below this one, or None."""
        file = self._file
        for key in path.split("/"):
            file = self._child(file, key)
            if file is None or not hasattr(file, "keys"):
                return None
        return Weights(file, self._path)

    def layers(self) -> "Weights | None":
        """Return the group that holds the layers of a model."""
        return next((group for name in ROOTS if (group := self.group(name)) is not None), None)

    def variables(self) -> list[Array]:
        """Return the variables of one layer, in Keras's order."""
        group = self.group("vars")
        if group is None:
            return []
        names = sorted((key for key in group._file if key.isdigit()), key=int)
        return [self._read(group._file, name) for name in names]

    def _read(self, group: Any, name: str) -> Array:
        dataset = self._child(group, name)
        shape, kind = getattr(dataset, "shape", None), getattr(dataset, "dtype", None)
        where = f"The weights '{printable(str(group.name))[:80]}/{name}' of {self._path}"
        if shape is None or kind is None or kind.kind not in "fiub":
            raise UserError(f"{where} are not numbers.", hint=WAY_OUT)
        if dataset.is_virtual or dataset.external:
            raise UserError(f"{where} lie in another file, which is not opened.", hint=WAY_OUT)
        if math.prod(shape) * kind.itemsize > max(self._path.stat().st_size, 2**20) * MOST_TIMES_LARGER:
            raise UserError(f"{where} claim the shape {shape}, which is far more than the file holds.", hint=WAY_OUT)
        values = np.asarray(dataset[()])
        return values.astype(np.float32) if kind.kind == "f" else values

    def _child(self, group: Any, key: str) -> Any:
        """Return what a group holds under a name, or None. Raises `UserError` for a link."""
        h5py = _library()
        if not hasattr(group, "keys") or key not in group:
            link = group.get(key, getlink=True) if hasattr(group, "keys") else None
            if link is None:
                return None
        link = group.get(key, getlink=True)
        if not isinstance(link, h5py.HardLink):
            raise UserError(
                f"'{printable(key)[:80]}' of {self._path} is a link, which is not followed: weights lie in the file "
                "itself.",
                hint=WAY_OUT,
            )
        return group[key]


def _library() -> Any:
    return import_extra("h5py", "hdf5", "Keras models")


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """Context with the content of a `.keras` file. Raises `UserError` for a file that is none, is damaged or hostile.

    The weights are copied out of the archive into a temporary folder, which is removed afterwards.
    """
    h5py = _library()
    try:
        with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory(prefix="netwright-keras-") as folder:
            _refuse_members(archive, path)
            config, metadata = _json(archive, CONFIG, path), _json(archive, METADATA, path)
            extracted = Path(folder) / WEIGHTS
            _extract(archive, extracted, path)
            with h5py.File(extracted, "r", locking=False) as file:
                version = metadata.get("keras_version")
                yield Archive(version if isinstance(version, str) else "", config, Weights(file, path))
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError, RuntimeError) as error:
        raise _damaged(path, error) from None
    except OSError as error:
        if error.errno is not None and error.filename is not None:
            raise UserError(f"{path} cannot be read: {error.strerror}.") from error
        raise _damaged(path, error) from None
    except zlib.error as error:
        raise _damaged(path, error) from None
    except (LookupError, ValueError, TypeError, AttributeError):  # lists and objects where others are expected
        raise _damaged(path, ValueError("its description is damaged")) from None


def _damaged(path: Path, error: Exception) -> UserError:
    words = printable(str(error).partition("\n")[0])[:200].rstrip(".") or type(error).__name__
    return UserError(f"{path} cannot be read as a Keras model: {words}.", hint=f"It seems to be damaged. {WAY_OUT}")


def _refuse_members(archive: zipfile.ZipFile, path: Path) -> None:
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise UserError(f"{path} holds {len(members):,} files; a Keras model has fewer than {MOST_MEMBERS:,}.")
    names = {member.filename for member in members}
    missing = [name for name in (CONFIG, METADATA, WEIGHTS) if name not in names]
    if missing:
        raise UserError(f"{path} is not a Keras model: {', '.join(missing)} is missing in it.", hint=WAY_OUT)


def _json(archive: zipfile.ZipFile, name: str, path: Path) -> dict[str, Any]:
    size = archive.getinfo(name).file_size
    if size > JSON_LIMIT_BYTES:
        raise UserError(
            f"{name} of {path} has {format_bytes(size)}; expected at most {format_bytes(JSON_LIMIT_BYTES)}."
        )
    with archive.open(name) as file:
        text = file.read(JSON_LIMIT_BYTES + 1)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{name} of {path} is not JSON: {printable(str(error))[:200]}.", hint=WAY_OUT) from None
    if not isinstance(value, dict):
        raise UserError(f"{name} of {path} is not a JSON object.", hint=WAY_OUT)
    return value


def _extract(archive: zipfile.ZipFile, target: Path, path: Path) -> None:
    """Copy the weights out of the archive. Raises `UserError` where they grow without bounds."""
    info = archive.getinfo(WEIGHTS)
    room = shutil.disk_usage(target.parent).free
    limit = min(WEIGHTS_LIMIT_BYTES, room, max(info.compress_size, 2**20) * MOST_TIMES_LARGER)
    if info.file_size > limit:
        raise UserError(
            f"{WEIGHTS} of {path} would grow from {format_bytes(info.compress_size)} to "
            f"{format_bytes(info.file_size)}; at most {format_bytes(limit)} are taken here."
        )
    rest = limit
    with archive.open(info) as source, open(target, "wb") as file:
        while chunk := source.read(2**20):
            rest -= len(chunk)
            if rest < 0:
                raise UserError(f"{WEIGHTS} of {path} is larger than the archive says.", hint=WAY_OUT)
            file.write(chunk)
