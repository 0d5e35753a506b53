"""Cluster profiles: where runs beyond this machine execute.

They are kept in `clusters.toml` in the user's folder of settings, which only the user can read. A project names a
profile; it never has an address or a secret. A profile has no secret either, only the path of a file that holds one.
"""

import contextlib
import json
import os
import re
import socket
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from engine.core.errors import FieldError, FieldErrors, UnavailableError, UserError, did_you_mean
from engine.core.fields import JSON, Bool, Choice, FilePath, Float, Int, Text
from engine.core.files import make_private_folder, read_file, write_atomically
from engine.core.folders import config_folder
from engine.core.list_fields import Pairs, Texts
from engine.core.locks import LockHeldError, take_lock
from engine.core.records import Record

KINDS = ("ray", "slurm", "ssh")
MOST_PROFILES = 200
SIZE_LIMIT = 2**20
LOCK_PATIENCE_S = 10.0
NOT_EXPORTED = ("token_file",)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
_HOST = re.compile(r"(?:[A-Za-z0-9._-]+@)?(?:[A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,31}")


def _kind(*kinds: str) -> Any:
    return lambda profile: profile.kind in kinds


def _environment(*kinds: str) -> Any:
    return lambda profile: profile.environment in kinds


class ProfileName(Text):
    """Name of a profile, which a project and a command line give."""

    expects = "a name of at most 60 letters, digits, - and _"

    def check(self, value: object) -> str:
        if not isinstance(value, str) or (value and not _NAME.fullmatch(value)):
            raise self.refuse(value)
        return value


class ClusterProfile(Record):
    """Address of a cluster, its workers, and what they need."""

    name = ProfileName("", help="By which projects refer to it", group="Cluster")
    kind = Choice(
        "ray",
        options=KINDS,
        notes={
            "ray": "A Ray cluster that runs already",
            "slurm": "Jobs of Slurm, by sbatch",
            "ssh": "Hosts that ssh reaches without a password",
        },
        help="What starts the workers. Default ray",
        group="Cluster",
        matlab="the type of a cluster profile",
    )
    address = Text(
        "",
        help="Where it is reached. Ray: host:port of its head, or auto for the one of this machine. Slurm: host to "
        "log in to, empty where sbatch is on this machine. ssh: hosts separated by semicolons, such as anna@node1; "
        "node2",
        group="Cluster",
        matlab="Host",
    )
    workers = Int(
        2,
        low=1,
        high=4096,
        unit="workers",
        help="They share each batch. Default 2",
        group="Workers",
        matlab="NumWorkers",
    )
    cores_per_worker = Int(
        1, low=1, high=1024, unit="cores", help="Cores per worker. Default 1", group="Workers", matlab="NumThreads"
    )
    gpus_per_worker = Int(
        0,
        low=0,
        high=16,
        label="GPUs per worker",
        unit="GPUs",
        help="GPUs per worker. Default 0: workers compute on the CPU. With GPUs, only workers with one of their own "
        "compute",
        group="Workers",
    )
    memory = Float(
        0.0, low=0.0, high=1e6, unit="GB", help="Memory per worker. Default 0: as the cluster gives", group="Workers"
    )
    storage = Text(
        "",
        help="Folder for runs and their data. As the hosts name it; all of them must see it. Default "
        "empty: netwright-jobs in the home folder there; with Ray the folder of the run itself",
        group="Files",
        matlab="JobStorageLocation",
    )
    path_map = Pairs(
        (),
        label="Paths",
        help="Folders that hosts see. What the hosts call folders of this machine, such as "
        "/data/images=/shared/images. Files in them are not copied",
        group="Files",
        matlab="AttachedFiles, AdditionalPaths",
    )
    environment = Choice(
        "python",
        options=("python", "conda", "container", "wheel"),
        notes={
            "python": "An interpreter that has Netwright",
            "conda": "A conda environment that has Netwright",
            "container": "An image that has Netwright, run by apptainer",
            "wheel": "Netwright is installed in a folder of its own on the hosts",
        },
        label="Python environment",
        help="Where the hosts have Netwright and torch. Default python",
        group="Software",
    )
    python = Text(
        "python3",
        label="Python",
        help="Interpreter on the hosts. A path or a command. Default python3",
        group="Software",
        visible_when=_environment("python", "wheel"),
    )
    conda = Text(
        "",
        label="Conda environment",
        help="Name or folder of the environment on the hosts",
        group="Software",
        visible_when=_environment("conda"),
    )
    container = Text(
        "",
        label="Container",
        help="Image on the hosts, such as /shared/netwright.sif",
        group="Software",
        visible_when=_environment("container"),
    )
    interface = Text(
        "",
        label="Network interface",
        help="For gradients, such as ib0. Default empty: the one that leads to the "
        "first worker. Nothing listens on another one",
        group="Network",
        torch="GLOO_SOCKET_IFNAME, NCCL_SOCKET_IFNAME",
    )
    encrypted = Bool(
        False,
        help="Reports and requests by TLS. Default off: they are authenticated. Gradients are "
        "never encrypted: use a network of your own",
        group="Network",
    )
    token_file = FilePath(
        "",
        help="Token of the Ray cluster. A file that only you can read. Default empty: the one of ray itself",
        group="Network",
        visible_when=_kind("ray"),
    )
    partition = Text("", help="Default: that of Slurm", group="Slurm", visible_when=_kind("slurm"))
    account = Text("", help="Default: your own", group="Slurm", visible_when=_kind("slurm"))
    time_limit = Int(
        0,
        low=0,
        high=525_600,
        zero="auto",
        unit="min",
        help="Slurm ends a job then. Default auto: as the partition says",
        group="Slurm",
        visible_when=_kind("slurm"),
    )
    sbatch_options = Texts(
        (),
        label="More options",
        help="Further ones of sbatch. Such as --constraint=a100; --exclusive",
        group="Slurm",
        visible_when=_kind("slurm"),
    )

    @property
    def hosts(self) -> tuple[str, ...]:
        """Hosts in the address."""
        return tuple(part for part in re.split(r"[;,\s]+", self.address) if part)

    def problems(self) -> list[FieldError]:
        """Return the errors of fields that are missing, malformed or contradict each other."""
        found = [] if self.name else [FieldError("name", "the profile needs a name, such as lab.")]
        found += self._address_problems()
        for name in ("conda", "container"):
            if self.environment == name and not getattr(self, name):
                found.append(FieldError(name, f"is empty, and the Python environment is {name}."))
        for name in ("storage", *(() if self.environment != "container" else ("container",))):
            if (path := getattr(self, name)) and not PurePosixPath(path).is_absolute():
                found.append(FieldError(name, f"expected a path from the root, such as /shared/me, received '{path}'."))
        found += [
            FieldError("path_map", f"expected paths from the root on both sides, received '{here}={there}'.")
            for here, there in self.path_map
            if not (Path(here).is_absolute() and PurePosixPath(there).is_absolute())
        ]
        if self.interface and not _INTERFACE.fullmatch(self.interface):
            found.append(FieldError("interface", f"'{self.interface}' is no name of an interface, such as eth0."))
        if wrong := [option for option in self.sbatch_options if not option.startswith("-")]:
            found.append(FieldError("sbatch_options", f"'{wrong[0]}' does not begin with -."))
        return found

    def _address_problems(self) -> list[FieldError]:
        if self.kind == "ssh" and not self.hosts:
            return [FieldError("address", "ssh needs a host, such as anna@node1.")]
        if self.kind == "ray" and not self.address:
            return [FieldError("address", "Ray needs host:port of its head, such as head:6379, or auto.")]
        if self.kind != "ssh" and len(self.hosts) > 1:
            return [FieldError("address", f"{self.kind} has one address, received {len(self.hosts)}.")]
        return [
            FieldError("address", f"'{host}' is no host, such as anna@node1 or head:6379.")
            for host in self.hosts
            if not _HOST.fullmatch(host) or ".." in host
        ]

    def refuse_problems(self) -> None:
        """Raise `FieldErrors` if fields are missing, malformed or contradict each other."""
        if found := self.problems():
            raise FieldErrors(error.at(f"{self.name or 'profile'}.{error.path}") for error in found)

    def remote_path(self, path: str | Path) -> str | None:
        """Return what the hosts call a path of this machine by the longest matching entry of `path_map`; None where
        none matches."""
        place = Path(path)
        for here, there in sorted(self.path_map, key=lambda pair: -len(Path(pair[0]).parts)):
            if place.is_relative_to(here):
                return str(PurePosixPath(there, *place.relative_to(here).parts))
        return None


@dataclass(frozen=True)
class Profiles:
    """The profiles of the user by name, and the name of the one that a project without a name means."""

    default: str = ""
    by_name: Mapping[str, ClusterProfile] = field(default_factory=dict)


def profiles_file() -> Path:
    """Return the path of the file of profiles. Raises `UserError` for a user without a home folder."""
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


def load_profiles(file: Path | None = None) -> tuple[ClusterProfile, ...]:
    """Return the profiles in the order of their names. Raises `UserError`."""
    return tuple(read_profiles(file).by_name.values())


def find_profile(name: str = "", file: Path | None = None) -> ClusterProfile:
    """Return the profile of this name; without a name the default one, or the only one. Raises `UserError`."""
    profiles = read_profiles(file)
    known = profiles.by_name
    if not known:
        hint = "Add one: netwright-engine cluster add NAME --set kind=slurm."
        message = "The execution environment 'parallel' needs a cluster profile, and there is none yet."
        raise UnavailableError(message, code="no_profile", hint=hint)
    wanted = name or profiles.default or (next(iter(known)) if len(known) == 1 else "")
    if not wanted:
        hint = f"Name one of {', '.join(known)}, or choose it: netwright-engine cluster default NAME."
        raise UserError("There are several cluster profiles and none is the default.", code="no_profile", hint=hint)
    if wanted not in known:
        hint = did_you_mean(wanted, known) or f"There are: {', '.join(known)}."
        raise UserError(f"There is no cluster profile '{wanted}'.", code="no_profile", hint=hint)
    known[wanted].refuse_problems()
    return known[wanted]


def save_profile(profile: ClusterProfile, *, replacing: str | None = None, file: Path | None = None) -> None:
    """Save a profile. `replacing` is the name of the one that it replaces, also under a new name; None adds one, and a
    taken name is refused. Raises `UserError`."""
    profile.refuse_problems()
    with _change(file) as change:
        profiles = change.profiles
        if replacing is not None and replacing not in profiles.by_name:
            raise unknown_profile(replacing, profiles)
        if profile.name != replacing and profile.name in profiles.by_name:
            hint = "Choose another name, or change that one: netwright-engine cluster edit."
            raise UserError(f"There is a cluster profile '{profile.name}' already.", code="exists", hint=hint)
        kept = {name: known for name, known in profiles.by_name.items() if name != replacing}
        if len(kept) >= MOST_PROFILES:
            raise UserError(f"There are {MOST_PROFILES} cluster profiles already.", hint="Remove one first.")
        is_default = replacing is not None and profiles.default == replacing
        change.profiles = Profiles(
            profile.name if is_default else profiles.default, _sorted({**kept, profile.name: profile})
        )


def remove_profile(name: str, file: Path | None = None) -> None:
    """Remove a profile. Raises `UserError`."""
    with _change(file) as change:
        profiles = change.profiles
        if name not in profiles.by_name:
            raise unknown_profile(name, profiles)
        kept = {known: profile for known, profile in profiles.by_name.items() if known != name}
        change.profiles = Profiles("" if profiles.default == name else profiles.default, kept)


def set_default(name: str, file: Path | None = None) -> None:
    """Make a profile the one that a project without a name means; an empty name means none. Raises `UserError`."""
    with _change(file) as change:
        if name and name not in change.profiles.by_name:
            raise unknown_profile(name, change.profiles)
        change.profiles = replace(change.profiles, default=name)


def running_ray(profiles: Iterable[ClusterProfile] = ()) -> str | None:
    """Return the address of a Ray that runs on this machine, by the file in which it notes it; None without one, and
    where one of the profiles names it."""
    folder = Path(os.environ.get("RAY_TMPDIR", "/tmp"), "ray", "ray_current_cluster")
    try:
        address = read_file(folder, 256).decode().strip()
        host, _, port = address.rpartition(":")
        with socket.create_connection((host.strip("[]"), int(port)), timeout=0.5):
            pass
    except (OSError, ValueError):
        return None  # none was started, or it is gone and has left its file
    is_known = any(profile.kind == "ray" and profile.address in ("auto", address) for profile in profiles)
    return None if is_known else address


def exported(profile: ClusterProfile) -> str:
    """Return a profile as the text of a file for others: without paths of secrets."""
    shared = {name: value for name, value in profile.write().items() if name not in NOT_EXPORTED}
    return _dumps(Profiles("", {profile.name: ClusterProfile(**shared)}))


def imported(text: str, source: str) -> tuple[ClusterProfile, ...]:
    """Return the profiles in a file that `exported` made. `source` names it. Raises `UserError`."""
    profiles = tuple(_parse(text, source).by_name.values())
    if not profiles:
        raise UserError(f"{source} has no cluster profile.", hint="Write one: netwright-engine cluster export NAME.")
    for profile in profiles:
        profile.refuse_problems()
    return profiles


def unknown_profile(name: str, profiles: Profiles) -> UserError:
    """Return the error for a name that no profile has."""
    hint = did_you_mean(name, profiles.by_name) or f"There are: {', '.join(profiles.by_name) or 'none'}."
    return UserError(f"There is no cluster profile '{name}'.", code="no_profile", hint=hint)


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
        raise UserError(f"The cluster profiles in {source} cannot be used: {FieldErrors(errors)}")
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
