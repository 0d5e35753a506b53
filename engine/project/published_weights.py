"""Published weights: an address book of files that fill our templates, which the user can extend.

They are `resources/published_weights.json` and `published_weights.json` in the user's configuration folder, whose
entries replace ours of the same name. Nothing is fetched without being asked:
`netwright.engine.data.sources.fetch_weights` does it.
"""

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import path_part
from netwright.engine.core.files import RESOURCES, read_object
from netwright.engine.core.folders import cache_folder, config_folder
from netwright.engine.layers.inputs import ImageInput
from netwright.engine.project.project import Project

FILE = "published_weights.json"
LIMIT_BYTES = 2**20
WHITE = 255.0
"""Largest value of a pixel in our data."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_DIGITS = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True)
class Published:
    """A published file of weights.

    sha256: all 64 digits, or the first ones (at least 8) where the publisher tells no more; torchvision's file names
    carry 8. bytes: size of the file, 0 where it is not known. mean, deviation: of the colour channels, of pixels from 0
    to 1, with which the network was trained; empty where unknown.
    """

    name: str
    template: str
    url: str
    sha256: str
    title: str = ""
    licence: str = ""
    bytes: int = 0
    classes: str = ""
    mean: tuple[float, ...] = ()
    deviation: tuple[float, ...] = ()

    @property
    def file(self) -> str:
        """Return the name of the file."""
        return self.url.rpartition("/")[2]

    @property
    def path(self) -> Path:
        """Return where the file lies once it is fetched, in the user's cache folder."""
        return cache_folder() / "weights" / self.file

    @property
    def is_here(self) -> bool:
        """Return whether the file was fetched."""
        return self.path.is_file()

    def write(self) -> dict[str, Any]:
        """Return the entry as JSON, with where it lies here."""
        fields = {key: list(value) if isinstance(value, tuple) else value for key, value in vars(self).items()}
        return {**fields, "path": str(self.path), "is_here": self.is_here}


def published() -> dict[str, Published]:
    """Return all entries by name. Raises `UserError` for a file of the user that is none."""
    entries = _read(RESOURCES / FILE)
    with contextlib.suppress(RuntimeError):  # no home folder
        entries |= _read(config_folder() / FILE)
    return entries


def published_entry(name: str) -> Published:
    """Return the entry of this name. Raises `UserError`."""
    entries = published()
    if name not in entries:
        hint = f"{did_you_mean(name, entries)} `netwright-engine weights list` lists them."
        raise UserError(f"There are no published weights '{path_part(name)}'.", hint=hint, code="not_found")
    return entries[name]


def _read(path: Path) -> dict[str, Published]:
    try:
        content = read_object(path, LIMIT_BYTES)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    if content is None:
        if path.exists():
            raise UserError(f"{path} is not a JSON object.", hint="Put it right, or remove it.")
        return {}
    rows = content.get("weights")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UserError(f"{path}: expected a list 'weights' of objects.", hint="Put it right, or remove it.")
    return {entry.name: entry for entry in (_entry(row, path) for row in rows)}


def _entry(row: Mapping[str, Any], path: Path) -> Published:
    texts = {key: row.get(key, "") for key in ("name", "template", "url", "sha256", "title", "licence", "classes")}
    numbers = {key: tuple(row.get(key) or ()) for key in ("mean", "deviation") if isinstance(row.get(key, []), list)}
    size = row.get("bytes", 0)
    is_whole = all(isinstance(text, str) for text in texts.values()) and type(size) is int and 0 <= size < 2**50
    is_whole = is_whole and all(type(n) in (int, float) and n >= 0 for values in numbers.values() for n in values)
    if not is_whole or not _NAME.fullmatch(texts["name"]):
        raise UserError(f"{path}: an entry is no published file: {path_part(str(row.get('name')))}.")
    entry = Published(**texts, bytes=size, mean=numbers.get("mean", ()), deviation=numbers.get("deviation", ()))
    if not _NAME.fullmatch(entry.file) or not _DIGITS.fullmatch(entry.sha256):
        raise UserError(
            f"{path}: '{entry.name}' needs an address that ends in a file name, and a SHA-256 of 8 to 64 digits."
        )
    return entry


def entry_of(sha256: str) -> Published | None:
    """Return the entry of a file with this checksum, or None. Raises `UserError`."""
    return next((entry for entry in published().values() if sha256.startswith(entry.sha256)), None)


def with_inputs_of(project: Project, entry: Published) -> Project:
    """Return the project whose colour image inputs are normalised as those that published weights were trained with."""
    network = project.network
    for layer in network.inputs:
        type = layer.type
        if isinstance(type, ImageInput) and type.channels == len(entry.mean) == len(entry.deviation):
            mean, deviation = ([WHITE * n for n in numbers] for numbers in (entry.mean, entry.deviation))
            new_type = type.replace(normalization="zscore", statistics="given", mean=mean, deviation=deviation)
            network = network.with_layer(replace(layer, type=new_type))
    return replace(project, network=network)
