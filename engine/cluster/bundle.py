"""Files that are copied to a cluster for a run: the project, its own code, its weights, constants and data, and the
script of the job. Data that the hosts see already is not copied: the project gets the path that they know it by."""

import csv
import glob
import io
import json
import os
import shlex
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TypeVar

from netwright.engine.cluster.host_script import FETCHED
from netwright.engine.cluster.hosts import python_of
from netwright.engine.cluster.profile_file import PROFILES_VARIABLE, exported
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import FilePath
from netwright.engine.core.files import open_file
from netwright.engine.core.records import Record
from netwright.engine.project.constants import constants_path
from netwright.engine.project.data_hosts import VARIABLE
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.file import dumps
from netwright.engine.project.project import Project
from netwright.engine.project.sources.audio import AUDIO_SUFFIXES
from netwright.engine.project.training import TrainingOptions

MOST_COPIED_BYTES = 2 * 2**30
TABLES = (".csv", ".tsv")
PROJECT = "project"
NAME = "project.netwright"
PROFILES = "clusters.toml"
_PATTERN = frozenset("*?[{")
R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class Bundle:
    """Files to copy, by their paths in the folder of the job."""

    files: dict[str, Path | bytes]
    num_bytes: int


def bundle(
    project: Project,
    base: Path,
    code: dict[str, bytes],
    profile: ClusterProfile,
    *,
    root: str = PROJECT,
    name: str = NAME,
) -> Bundle:
    """Return the files that a run of the project, whose folder is `base`, needs on the cluster. `code`: its own code.
    `root`: their folder there, in which the project gets this `name`.

    Raises `UserError` for files that are missing, too large to copy, or of code outside of the project's folder.
    """
    collector = Collector(base, profile, AUDIO_SUFFIXES if project.data.source == "audio" else (), root)
    changed = replace(
        project,
        data=collector.moved(project.data),
        training=collector.moved_teacher(project.training),
        weights=collector.moved(project.weights),
        environment=environment_of(project, profile),
    )
    if project.constants.file:
        collector.add(constants_path(project.constants, base), f"{root}/{Path(project.constants.file).name}")
        changed = replace(changed, constants=project.constants.replace(file=Path(project.constants.file).name))
    files: dict[str, Path | bytes] = {}
    for file, content in code.items():
        if Path(file).is_absolute() or ".." in Path(file).parts:
            raise UserError(
                f"The project's code in {file} lies outside of its folder and is not copied to a cluster.",
                hint="Move it into the folder of the project.",
            )
        files[f"{root}/{file}"] = content
    files |= collector.files
    if takes_nodes(profile):
        # As the nodes know it: no host to log in to, and paths that are their own.
        address = profile.address if profile.kind == "ray" else ""
        files[PROFILES] = exported(profile.replace(address=address, path_map=(), coordinator="here")).encode()
    files[f"{root}/{name}"] = dumps(changed).encode()
    return Bundle(files, collector.num_bytes)


def takes_nodes(profile: ClusterProfile) -> bool:
    """Return whether a job of the profile has several nodes, on which the run starts agents for its workers."""
    return profile.kind == "ray" or (profile.kind == "slurm" and profile.nodes > 1)


def environment_of(project: Project, profile: ClusterProfile) -> EnvironmentOptions:
    """Return the options of the environment as the first host runs them: its own workers, or those on all nodes of its
    job."""
    options = project.environment
    values = {name: value for name, value in options.changed().items() if name not in ("target", "cluster")}
    if takes_nodes(profile):
        if profile.kind == "slurm":  # the nodes of the job have room for those of the profile
            values.pop("num_workers", None)
        return type(options)(**{**values, "target": "parallel", "cluster": profile.name})
    if profile.gpus_per_worker:
        target = "multi-gpu" if profile.workers * profile.gpus_per_worker > 1 else "gpu"
        return type(options)(**{**values, "target": target})
    several = {"num_workers": profile.workers} if profile.workers > 1 else {}
    target = "multi-cpu" if several else "cpu"
    return type(options)(**{**values, "target": target, "threads": profile.cores_per_worker, **several})


class Collector:
    """Files that are copied, and how the project names them there. `suffixes`: those of files that tables name. `root`:
    the folder of the project there."""

    def __init__(
        self, base: Path, profile: ClusterProfile, suffixes: Collection[str] = (), root: str = PROJECT
    ) -> None:
        self._base, self._profile, self._named, self._root = base, profile, frozenset(suffixes), root
        self.files: dict[str, Path | bytes] = {}
        self.num_bytes = 0

    def moved(self, record: R) -> R:
        """Return the options with the paths of their files on the cluster."""
        changed = {
            name: self.place(value)
            for name, value in record.changed().items()
            if isinstance(record.fields[name], FilePath) and value and "://" not in value
        }
        return record.replace(**changed) if changed else record

    def moved_teacher(self, training: TrainingOptions) -> TrainingOptions:
        """Return the training options with the path of the teacher on the cluster: a run, without its checkpoints."""
        if not training.distil_from:
            return training
        path = self._path(training.distil_from)
        there = self._profile.remote_path(path)
        if there is None:
            there = f"files/{len(self.files)}/{path.name}"
            for part in [path / part for part in FETCHED if (path / part).exists()]:
                self.add(part, f"{self._root}/{there}/{part.name}")
        return training.replace(distil_from=there)

    def add(self, path: Path, name: str) -> None:
        """Copy a file or a folder, and the files that a table names. Raises `UserError`."""
        if name in self.files:
            return
        self._add_one(path, name)
        if self._named and path.suffix.lower() in TABLES and path.is_file():
            for file in self._files_of_table(path):
                self.add(path.parent / file, (PurePosixPath(name).parent / file).as_posix())

    def _files_of_table(self, table: Path) -> Iterator[PurePosixPath]:
        """Yield the files that a table names, relative to its folder. Raises `UserError` for others."""
        try:
            with open_file(table) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", errors="replace") as file:
                delimiter = max(",;\t", key=file.readline().count)
                rows = csv.reader(file, delimiter=delimiter)
                cells = dict.fromkeys(cell.strip() for row in rows for cell in row)
        except (OSError, csv.Error) as error:
            raise UserError(f"{table} cannot be read: {error}.") from error
        for path in (PurePosixPath(cell) for cell in cells if PurePosixPath(cell).suffix.lower() in self._named):
            if path.is_absolute() or ".." in path.parts:
                raise UserError(
                    f"{table} names {path}, which lies outside of its folder and is not copied to the cluster.",
                    hint=f"Name files below {table.parent}, or let the hosts see that folder: netwright-engine cluster "
                    f'edit {self._profile.name} --set "path_map={table.parent}=/shared/data".',
                )
            yield path

    def _add_one(self, path: Path, name: str) -> None:
        try:
            self.num_bytes += sum(size for _, size in _sizes(path))
        except OSError as error:
            raise UserError(f"{path} cannot be copied to the cluster: {error.strerror}.") from error
        if self.num_bytes > MOST_COPIED_BYTES:
            raise UserError(
                f"{path} and the other files of the run have more than {MOST_COPIED_BYTES / 2**30:g} GiB, and are not "
                "copied to the cluster.",
                hint=f"Put them where its hosts see them, and say so: netwright-engine cluster edit "
                f'{self._profile.name} --set "path_map={path.parent}=/shared/data".',
            )
        self.files[name] = path

    def _path(self, text: str) -> Path:
        return Path(os.path.normpath(self._base / Path(text).expanduser()))

    def place(self, text: str) -> str:
        """Return the path on the cluster of a file, a folder or a pattern of the project."""
        path = self._path(text)
        if (there := self._profile.remote_path(path)) is not None:
            return there
        if not _PATTERN.isdisjoint(text) and not path.exists():
            return self._place_pattern(path)
        name = path.relative_to(self._base).as_posix() if path.is_relative_to(self._base) else ""
        name = name if name not in ("", ".") else f"files/{len(self.files)}/{path.name}"
        self.add(path, f"{self._root}/{name}")
        return name

    def _place_pattern(self, path: Path) -> str:
        """Copy the files that match a pattern, and return the pattern for the copies."""
        paths = sorted(glob.glob(str(path)))
        if not paths:
            hint = "Check the path, or map its folder: path_map of the profile."
            raise UserError(f"No file matches {path}.", code="not_found", hint=hint)
        fixed = Path(*[part for part in path.parent.parts if _PATTERN.isdisjoint(part)])
        name = f"files/{len(self.files)}"
        for match in paths:
            self.add(Path(match), f"{self._root}/{name}/{Path(match).relative_to(fixed).as_posix()}")
        return f"{name}/{path.relative_to(fixed).as_posix()}"


def _sizes(path: Path) -> Iterator[tuple[Path, int]]:
    """Yield the files of a file or folder with their sizes. Raises `OSError`."""
    if not path.is_dir():
        yield path, path.stat().st_size
        return
    for folder, _, names in os.walk(path):
        for name in names:
            file = Path(folder, name)
            yield file, file.stat().st_size


def job_script(profile: ClusterProfile, folder: str, *, has_code: bool, hosts: str = "") -> bytes:
    """Return the shell script of a job: it trains, or goes on with its run where that has begun, as after a requeue.
    `hosts`: those that the data may be fetched from."""
    run, trust = shlex.quote(f"{folder}/run"), " --trust" if has_code else ""
    profiles = shlex.quote(f"{folder}/{PROFILES}")
    lines = [
        *([f"export {PROFILES_VARIABLE}={profiles}"] if takes_nodes(profile) else ()),
        f"if [ -f {run}/run.json ]; then",
        f"    set -- resume {run}{trust}",
        "else",
        f"    set -- train {NAME} --run-dir {run}{trust}",
        "fi",
        f'exec {python_words(profile)} -m netwright.engine "$@" --json',
    ]
    return script_of(profile, folder, lines, hosts)


def script_of(profile: ClusterProfile, folder: str, commands: Iterable[str], hosts: str) -> bytes:
    """Return the shell script of a job that runs commands in the folder of its project."""
    lines = [
        "#!/bin/sh",
        *(sbatch_lines(profile, folder) if profile.kind == "slurm" else ()),
        f"cd {shlex.quote(f'{folder}/{PROJECT}')} || exit 2",
        "export PYTHONUNBUFFERED=1",
        *interface_lines(profile),
        *([f"export {VARIABLE}={shlex.quote(hosts)}"] if hosts else ()),
        *_lines_without_python(profile),
        *commands,
    ]
    return "\n".join([*lines, ""]).encode()


def _lines_without_python(profile: ClusterProfile) -> list[str]:
    """Return the lines that end a job in words where the first word of the profile's Python is no program."""
    word = python_of(profile)[0]
    message = f"There is no program {word} where the job runs. {missing_program_hint(profile)}"
    error = json.dumps({"error": {"message": message, "code": "unavailable"}})
    program = python_words(profile.replace(environment="python", python=word))
    return [f"command -v {program} > /dev/null || {{ echo {shlex.quote(error)}; exit 5; }}"]


def missing_program_hint(profile: ClusterProfile) -> str:
    """Return the way out where a host lacks the program that starts the profile's Python."""
    if profile.environment == "wheel":
        return f"Install it: netwright-engine cluster install {profile.name}."
    return f"Install it there, or change the Python environment of the profile {profile.name}."


def interface_lines(profile: ClusterProfile) -> list[str]:
    """Return the lines that keep the workers to the interface of the profile."""
    names = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME") if profile.interface else ()
    return [f"export {name}={profile.interface}" for name in names]


def python_words(profile: ClusterProfile) -> str:
    """Return the command of the profile's Python for a shell, with `~` as the home folder."""
    words = [
        f'"$HOME"/{shlex.quote(word[2:])}' if word.startswith("~/") else shlex.quote(word)
        for word in python_of(profile)
    ]
    return " ".join(words)


def sbatch_lines(
    profile: ClusterProfile, folder: str, *, task_per_worker: bool = False, output: str = "output-%j.txt"
) -> list[str]:
    """Return the options of a job for sbatch: one task per node with all cores of its workers, or one per worker."""
    per_node = profile.workers_per_node
    options = [
        f"--job-name=netwright-{profile.name}",
        f'--output="{folder}/{output}"',
        f"--nodes={profile.nodes}",
        f"--ntasks-per-node={per_node if task_per_worker else 1}",
        f"--cpus-per-task={profile.cores_per_worker * (1 if task_per_worker else per_node)}",
        "--open-mode=append",
        "--signal=B:TERM@60",  # a minute before the time limit: the run stops and keeps what it has learned
        "--requeue",
    ]
    if profile.gpus_per_worker:
        options.append(f"--gres=gpu:{per_node * profile.gpus_per_worker}")
    if profile.memory:
        options.append(f"--mem={max(1, round(profile.memory * per_node * 1000))}M")
    if profile.time_limit:
        options.append(f"--time={profile.time_limit}")
    for name in ("partition", "account"):
        if value := getattr(profile, name):
            options.append(f"--{name}={shlex.quote(value)}")
    return [f"#SBATCH {option}" for option in (*options, *profile.sbatch_options)]
