"""The file of cluster profiles: `clusters.toml` in the user's folder of settings, which only the user can read.

A job on a cluster has a file of its own, which `NETWRIGHT_PROFILES` names.
"""

import contextlib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import FieldError, FieldErrors, UnavailableError, UserError, did_you_mean
from netwright.engine.core.fields import JSON
from netwright.engine.core.files import make_private_folder, read_file, write_atomically
from netwright.engine.core.folders import config_folder
from netwright.engine.core.locks import LockHeldError, take_lock
from netwright.engine.placement.inventory import ClusterSize
from netwright.engine.project.environment import EnvironmentOptions

MOST_PROFILES = 200
SIZE_LIMIT = 2**20
LOCK_PATIENCE_S = 10.0
NOT_EXPORTED = ("token_file",)
PROFILES_VARIABLE = "NETWRIGHT_PROFILES"
"""Environment variable of a job: the file with the profile of the cluster that it runs on."""


@dataclass(frozen=True)
class Profiles:
    """The profiles of the user by name, and the name of the one that a project without a name means."""

    default: str = ""
    by_name: Mapping[str, ClusterProfile] = field(default_factory=dict)

    def __getitem__(self, name: str) -> ClusterProfile:
        """Return the profile of this name. Raises `UserError`."""
        if name not in self.by_name:
            hint = did_you_mean(name, self.by_name) or f"There are: {', '.join(self.by_name) or 'none'}."
            raise UserError(f"There is no cluster profile '{name}'.", code="no_profile", hint=hint)
        return self.by_name[name]


def profiles_file() -> Path:
    """Return the path of the file of profiles. Raises `UserError` for a user without a home folder."""
    if path := os.environ.get(PROFILES_VARIABLE):
        return Path(path)
    try:
        return config_folder() / "clusters.toml"
    except RuntimeError as error:
        raise UserError(f"Cluster profiles have no place: {error}", hint="Set XDG_CONFIG_HOME to a folder.") from error


def read_profiles(file: Path | None = None) -> Profiles:
    """Return the profiles in the file of the user, or another one; none where there is no file. Raises `UserError`."""
    file = file or profiles_file()
    try:
        return _parse(read_file(file, SIZE_LIMIT).decode("utf-8"), str(file))
    except FileNotFoundError:
        return Profiles()
    except OSError as error:
        raise UserError(f"The cluster profiles in {file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not a file of cluster profiles.", hint="Move it away, or repair it.") from error


def is_in_job() -> bool:
    """Return whether this process belongs to a job of Slurm that starts workers on its nodes itself."""
    return bool(os.environ.get(PROFILES_VARIABLE)) and "SLURM_JOB_ID" in os.environ


def load_profiles(file: Path | None = None) -> tuple[ClusterProfile, ...]:
    """Return the profiles in the order of their names. Raises `UserError`."""
    return tuple(read_profiles(file).by_name.values())


def find_profile(name: str = "", file: Path | None = None) -> ClusterProfile:
    """Return the profile of this name; without a name the default one, or the only one. Raises `UserError`."""
    profiles = read_profiles(file)
    by_name = profiles.by_name
    if not by_name:
        hint = "Add one: netwright-engine cluster add NAME --set kind=slurm."
        message = "The execution environment 'parallel' needs a cluster profile, and there is none yet."
        raise UnavailableError(message, code="no_profile", hint=hint)
    choice = name or profiles.default or (next(iter(by_name)) if len(by_name) == 1 else "")
    if not choice:
        hint = f"Name one of {', '.join(by_name)}, or choose it: netwright-engine cluster default NAME."
        raise UserError("There are several cluster profiles and none is the default.", code="no_profile", hint=hint)
    profiles[choice].refuse_problems()
    return profiles[choice]


def profile_of(environment: EnvironmentOptions) -> ClusterProfile:
    """Return the profile that the options name, or the default one. Raises `UserError`."""
    return find_profile(environment.cluster)


def cluster_size(environment: EnvironmentOptions) -> ClusterSize | None:
    """Return the size of the cluster of the options; None where there is no profile at all.

    Raises `UserError` for a profile that is missing among others, or not chosen.
    """
    if not load_profiles():
        return None
    profile = profile_of(environment)
    return ClusterSize(profile.name, profile.kind, profile.workers, profile.cores_per_worker, profile.gpus_per_worker)


def save_profile(profile: ClusterProfile, *, replacing: str | None = None, file: Path | None = None) -> None:
    """Save a profile. `replacing` is the name of the one that it replaces, also under a new name; None adds one, and a
    taken name is refused. Raises `UserError`."""
    profile.refuse_problems()
    with _change(file) as change:
        profiles = change.profiles
        if replacing is not None:
            profiles[replacing]  # refuses an unknown one
        if profile.name != replacing and profile.name in profiles.by_name:
            hint = "Choose another name, or change that one: netwright-engine cluster edit."
            raise UserError(f"There is a cluster profile '{profile.name}' already.", code="exists", hint=hint)
        others = {name: other for name, other in profiles.by_name.items() if name != replacing}
        if len(others) >= MOST_PROFILES:
            raise UserError(f"There are {MOST_PROFILES} cluster profiles already.", hint="Remove one first.")
        is_default = replacing is not None and profiles.default == replacing
        change.profiles = Profiles(
            profile.name if is_default else profiles.default, _sorted({**others, profile.name: profile})
        )


def remove_profile(name: str, file: Path | None = None) -> None:
    """Remove a profile. Raises `UserError`."""
    with _change(file) as change:
        profiles, removed = change.profiles, change.profiles[name]
        others = {other: profile for other, profile in profiles.by_name.items() if profile is not removed}
        change.profiles = Profiles("" if profiles.default == name else profiles.default, others)


def set_default(name: str, file: Path | None = None) -> None:
    """Make a profile the one that a project without a name means; an empty name means none. Raises `UserError`."""
    with _change(file) as change:
        change.profiles = replace(change.profiles, default=change.profiles[name].name if name else "")


def exported(profile: ClusterProfile) -> str:
    """Return a profile as the text of a file for others: without paths of secrets."""
    shared = {name: value for name, value in profile.write().items() if name not in NOT_EXPORTED}
    return _dumps(Profiles("", {profile.name: ClusterProfile(**shared)}))


def profiles_in(file: Path) -> tuple[ClusterProfile, ...]:
    """Return the profiles in a file that has what `exported` returned. Raises `UserError`."""
    if not file.exists():
        raise UserError(f"{file} cannot be read: there is no such file.", code="not_found")
    profiles = load_profiles(file)
    if not profiles:
        raise UserError(f"{file} has no cluster profile.", hint="Write one: netwright-engine cluster export NAME.")
    for profile in profiles:
        profile.refuse_problems()
    return profiles


def write_profile(file: Path, text: str) -> None:
    """Write what `exported` returned to a file. Raises `UserError`."""
    try:
        write_atomically(file, text.encode())
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error.strerror}.") from error


def _sorted(profiles: Mapping[str, ClusterProfile]) -> dict[str, ClusterProfile]:
    return dict(sorted(profiles.items(), key=lambda item: item[0].casefold()))


class _Change:
    """Profiles that are changed while the lock of their file is held."""

    def __init__(self, profiles: Profiles) -> None:
        self.profiles = profiles


@contextlib.contextmanager
def _change(file: Path | None) -> Iterator[_Change]:
    """Read the profiles, let the caller replace them, and write them, while no other process does. Raises
    `UserError`."""
    file = file or profiles_file()
    try:
        make_private_folder(file.parent) if not file.parent.is_dir() else None
        descriptor = take_lock(file.with_name(f".{file.name}.lock"), patience_s=LOCK_PATIENCE_S)
    except LockHeldError as error:
        raise UserError(f"Another program is changing {file}.", hint="Try it again.") from error
    except OSError as error:
        raise UserError(f"The cluster profiles cannot be written to {file}: {error.strerror}.") from error
    try:
        change = _Change(read_profiles(file))
        yield change
        with contextlib.suppress(FileNotFoundError):
            file.chmod(0o600)  # an atomic write keeps the permissions, which an editor may have widened
        write_atomically(file, _dumps(change.profiles).encode(), mode=0o600)
    except OSError as error:
        raise UserError(f"The cluster profiles cannot be written to {file}: {error.strerror}.") from error
    finally:
        os.close(descriptor)


def _parse(text: str, source: str) -> Profiles:
    """Return the profiles in the text of a file. Raises `UserError` that names the file and each bad value."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        words = str(error)[:200]
        raise UserError(f"{source} is not a file of cluster profiles: {words}.", hint="Repair it.") from error
    errors: list[FieldError] = []
    for key in data:
        if key not in ("default", "profiles"):
            hint = did_you_mean(key, ("default", "profiles")) or "A profile is a table such as [profiles.lab]."
            errors.append(FieldError(key[:60], "there is no such key.", hint=hint))
    tables = data.get("profiles", {})
    if not isinstance(tables, dict):
        errors.append(FieldError("profiles", "expected tables, such as [profiles.lab]."))
        tables = {}
    profiles: dict[str, ClusterProfile] = {}
    for name, table in list(tables.items())[:MOST_PROFILES]:
        try:
            if isinstance(table, dict) and "name" in table:
                raise FieldErrors([FieldError(f"{name}.name", "the name of a profile is that of its table.")])
            profile = ClusterProfile.read(table, f"profiles.{name}")
            profiles[name] = profile.replace(name=name)
        except FieldErrors as refused:
            errors += refused.errors
    default = data.get("default", "")
    if default not in ("", *tables):
        errors.append(FieldError("default", f"there is no profile {json.dumps(default, default=str)[:60]}."))
    if errors:
        first, *rest = FieldErrors(errors).lines
        raise UserError.of_lines([f"The cluster profiles in {source} cannot be used: {first}", *rest])
    return Profiles(default, _sorted(profiles))


def _dumps(profiles: Profiles) -> str:
    """Return the profiles as TOML."""
    lines = ["# Cluster profiles of Netwright. A project refers to one by its name.", ""]
    lines[1:1] = [f"default = {_toml(profiles.default)}"] if profiles.default else []
    for name, profile in profiles.by_name.items():
        values = {key: value for key, value in profile.write().items() if key != "name"}
        lines += [f"[profiles.{name}]", *(f"{key} = {_toml(value)}" for key, value in values.items()), ""]
    return "\n".join(lines)


def _toml(value: JSON) -> str:
    """Return a JSON value as TOML, whose texts are those of JSON except for escapes of surrogates and DEL."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
