"""The registry of models: a folder of plain files, which git and an object store can hold.

    digits/3/version.json           name, stage, tags, metrics and lineage of version 3 of the model `digits`
    digits/3/digits.netwright       its network, with how its data is named
    digits/3/weights/               its weights, with how its inputs are prepared

A version is never changed but for stage and tags in its `version.json`; the next one gets the next number. Where a
model is named, `digits@3` is that version and `digits@production` the newest one in that stage, of the registry that
`NETWRIGHT_REGISTRY` names, else of the one in the user's data folder; `team/digits@3` is of the registry `team`.
"""

import contextlib
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from netwright.engine.core.dataclass_json import JsonShapeError, from_json, to_json
from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import quoted
from netwright.engine.core.files import not_written, number_in, read_object, remove, write_json
from netwright.engine.core.folders import data_folder
from netwright.engine.core.own_files import SUFFIX

VARIABLE, FOLDER, FILE = "NETWRIGHT_REGISTRY", "registry", "version.json"
LIMIT_BYTES = 2**20
Stage = Literal["none", "staging", "production", "archived"]
STAGES: tuple[Stage, ...] = get_args(Stage)
LONGEST_NAME, LONGEST_TAG = 80, 40
_NAME = re.compile(r"\w[\w.\-]*(?<!\.)")


@dataclass(frozen=True)
class Lineage:
    """Origin of a version. `data` is a fingerprint: equal for the same contents in the same splits; empty where the
    data is not known. `parent` is the version that its training started from, as `digits@2`."""

    source: str = ""
    """File or folder that was registered, by its name."""
    run: str = ""
    """Title of the run; empty for another model."""
    run_created: float = 0.0
    project_id: str = ""
    data: str = ""
    samples: Mapping[str, int] = field(default_factory=dict)
    parent: str = ""


@dataclass(frozen=True)
class Version:
    """A version of a registered model. `metrics` are its scores by split and name, such as `validation.accuracy`."""

    name: str
    version: int
    stage: Stage = "none"
    created: float = 0.0
    tags: tuple[str, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    lineage: Lineage = Lineage()
    weights_sha256: str = ""
    notes: tuple[str, ...] = ()
    """What its import said of it, a sentence each."""

    @property
    def title(self) -> str:
        """The name by which it is named where a model is."""
        return f"{self.name}@{self.version}"


class Registry:
    """The registry in a folder, which may not exist yet."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder if folder is not None else registry_folder()

    def place(self, version: Version) -> Path:
        """Return the folder of a version."""
        return self.folder / version.name / str(version.version)

    def model(self, version: Version) -> Path:
        """Return the file of a version, which is named as any model is."""
        return self.place(version) / f"{version.name}{SUFFIX}"

    def names(self) -> list[str]:
        """Return the names of the models."""
        with contextlib.suppress(OSError):
            return sorted(path.name for path in self.folder.iterdir() if is_name(path.name) and path.is_dir())
        return []

    def versions(self, name: str) -> list[Version]:
        """Return the versions of a model, the newest first; without those whose file is damaged."""
        return sorted(self._versions(name), key=lambda version: -version.version)

    def _versions(self, name: str) -> Iterator[Version]:
        for number in self._numbers(name):
            with contextlib.suppress(OSError, JsonShapeError):
                data = read_object(self.folder / name / str(number) / FILE, LIMIT_BYTES) or {}
                if (version := _read(data)).title == f"{name}@{number}":
                    yield version

    def _numbers(self, name: str) -> list[int]:
        with contextlib.suppress(OSError):
            return [int(path.name) for path in (self.folder / name).iterdir() if re.fullmatch("[1-9][0-9]*", path.name)]
        return []

    def all(self) -> list[Version]:
        """Return all versions, by name, the newest of each first."""
        return [version for name in self.names() for version in self.versions(name)]

    def version(self, title: str) -> Version:
        """Return the version that a text such as `digits@3` or `digits@production` names; `digits` is the newest.
        Raises `UserError`."""
        name, has_which, which = title.partition("@")
        versions = self.versions(name)
        if not versions:
            guess = did_you_mean(name, self.names())
            raise UserError(f"There is no model {quoted(name)} in the registry {self.folder}.{guess}", hint=_LISTED)
        for version in versions:
            if not has_which or which in (str(version.version), version.stage):
                return version
        numbers = ", ".join(f"{version.version} ({version.stage})" for version in reversed(versions))
        raise UserError(f"The model {quoted(name)} has no version {quoted(which)}. It has the versions {numbers}.")

    def add(self, name: str, fill: Callable[[Path], Version]) -> Version:
        """Add a version, with the next number. `fill` writes its files into a folder, and says what it is. Raises
        `UserError`."""
        place = self.folder / checked_name(name)
        content = place / f".{secrets.token_hex(4)}.tmp"
        try:
            content.mkdir(parents=True)
            version = fill(content)
            while True:
                number = max(self._numbers(name), default=0) + 1
                version = replace(version, name=name, version=number, created=time.time())
                write_json(content / FILE, _written(version), mode=0o666)
                try:
                    content.rename(place / str(number))
                    return version
                except OSError:
                    if not (place / str(number)).exists():  # else another process has taken the number
                        raise
        except OSError as error:
            raise not_written(place, error) from None
        finally:
            with contextlib.suppress(OSError):
                remove(content)

    def promote(self, version: Version, stage: Stage) -> list[Version]:
        """Set the stage of a version, and return the versions that changed: it, and for production the one that was
        there, which is archived. Raises `UserError`."""
        changed = [replace(version, stage=stage)]
        if stage == "production":
            others = (each for each in self.versions(version.name) if each.version != version.version)
            changed += [replace(each, stage="archived") for each in others if each.stage == stage]
        for each in changed:
            file = self.place(each) / FILE
            try:
                write_json(file, _written(each), mode=0o666)
            except OSError as error:
                raise not_written(file, error) from None
        return changed

    def with_weights(self, sha256: str) -> Version | None:
        """Return the newest version that has these weights; None where there is none."""
        return next((version for version in self.all() if sha256 and version.weights_sha256 == sha256), None)


_LISTED = "`netwright-engine models list` lists them."


def _written(version: Version) -> Mapping[str, Any]:
    return {"name": version.name, "version": version.version, **to_json(version)}


def _read(data: Mapping[str, Any]) -> Version:
    """Return the version of JSON. Raises `JsonShapeError`."""
    version: Version = from_json(Version, {name: data[name] for name in Version.__dataclass_fields__ if name in data})
    if any(number_in(value) is None for value in version.metrics.values()):
        raise JsonShapeError("metrics: expected numbers")
    return version


def registry_folder() -> Path:
    """Return the folder of the registry that is used where none is named."""
    variable = os.environ.get(VARIABLE)
    return Path(variable) if variable else data_folder() / FOLDER


def is_name(text: str) -> bool:
    """Return whether a model can have this name, which is that of a folder."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


def checked_name(text: str) -> str:
    """Return the name of a model. Raises `UserError`."""
    if not is_name(text):
        raise UserError(
            f"A model cannot be named {quoted(text)}: expected up to {LONGEST_NAME} letters, digits, dots, dashes and "
            "underscores, a letter or digit first.",
            code="usage",
        )
    return text


def checked_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags, each once. Raises `UserError`."""
    for tag in tags:
        if not tag.strip() or len(tag) > LONGEST_TAG or not tag.isprintable():
            raise UserError(f"A tag has 1 to {LONGEST_TAG} characters, received {quoted(tag)}.", code="usage")
    return tuple(dict.fromkeys(tags))


def located(path: Path) -> Path:
    """Return the file of the version that `NAME@STAGE` or `NAME@NUMBER` names; any other path as it is. Raises
    `UserError` where the registry has no such version."""
    name, _, choice = path.name.rpartition("@")
    is_version = choice in STAGES or (choice.isdecimal() and choice.isascii())
    if not (is_version and is_name(name)) or os.path.lexists(path):
        return path
    beside = Registry(path.parent)  # of a path into a registry elsewhere; a folder of data may have the name, too
    registry = beside if beside.versions(name) else Registry()
    return registry.model(registry.version(path.name))


def version_at(path: Path) -> Version | None:
    """Return the version that a file is the model of; None for another file."""
    path = path.absolute()
    if len(path.parents) < 3 or not path.parent.name.isdecimal() or path.name != f"{path.parents[1].name}{SUFFIX}":
        return None
    versions = Registry(path.parents[2]).versions(path.parents[1].name)
    return next((version for version in versions if str(version.version) == path.parent.name), None)
