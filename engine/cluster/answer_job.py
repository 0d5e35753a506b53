"""An answer as a job on a cluster: the request of an operation is computed on one host there, and its result comes back
as the same dataclass, with the files that were written.

The folder of the job is laid out as that of a run; `netwright.engine.cluster.answer_program` computes in it:

    project/request.json    the operation and its request, with the paths of that machine
    project/models/0/first  a model: the folder of a run, a project with its data, or a file
    project/files           other files of the request
    run/result.json         the result, or the error
    run/answers             written/0: files of `-o`; models/0/first: what is new in the folder of the run
"""

import contextlib
import io
import itertools
import json
import os
import secrets
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from netwright.engine.cluster.bundle import PROJECT, Collector, bundle, python_words, script_of
from netwright.engine.cluster.follower import LONGEST_WAIT_S, POLL_BY_SSH_S, POLL_S
from netwright.engine.cluster.hosts import Host, UnreachableHostError
from netwright.engine.cluster.job_control import DEFAULT_STORAGE, SUBMIT_S, error_in, host_of_profile
from netwright.engine.cluster.profile_file import find_profile
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core import progress
from netwright.engine.core.dataclass_json import to_json
from netwright.engine.core.errors import RunError, UserError, read_error
from netwright.engine.core.fields import FilePath
from netwright.engine.core.files import CHECKSUM, refuse_destination, without_checksum, write_checked_json
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.operations.model_request import DataOfModelRequest
from netwright.engine.operations.operation import Operation, Parameter
from netwright.engine.operations.projects import look_at_code, read_project
from netwright.engine.project import user_code
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import admit, granted, look_up, say_typed, written
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.file import dumps, load, save
from netwright.engine.project.import_kinds import can_import
from netwright.engine.project.project import Project
from netwright.engine.project.sources.audio import AUDIO_SUFFIXES
from netwright.engine.project.sources.urls import is_remote
from netwright.engine.runs.folder import RunFolder, open_run, origin
from netwright.engine.runs.model_registry import located

PROGRAM = "netwright.engine.cluster.answer_program"
MODELS = ("model", "against")
MAY_BE_FILES = ("sample", "samples")
NOT_SENT = ("checkpoints", "control", "run.lock", "run.json", "project.netwright", "cluster.json")
"""Parts of the folder of a run that no answer needs, or that are sent with other paths."""
TEXTS = (".csv", ".json", ".txt", ".html", ".netwright")
"""Files whose paths are named as here."""
LOST_S = 600.0
"""Time without a connection after which the answer is given up."""
NOTHING_READ = {name: {"offset": 0, "last": ""} for name in ("events.jsonl", "engine.log")}


def answer_as_job(declared: Operation[Any, Any], request: Any) -> Any:
    """Return the result of an operation that a job on the cluster of the request's profile computes. The job ends with
    this call, and its folder there is deleted. Raises `UserError`, also those of the operation."""
    profile = find_profile(request.profile)
    if profile.kind == "ray" and not profile.takes_jobs:
        raise UserError(
            f"The profile '{profile.name}' takes no jobs: their coordinator is on this machine.",
            hint="Set coordinator=cluster for a profile of Ray, or use one of Slurm, or of hosts over ssh.",
        )
    profile = profile.replace(workers=profile.workers_per_node, nodes=1)
    name = f"{(profile.storage or DEFAULT_STORAGE).rstrip('/')}/{time.strftime('%Y-%m-%d_%H-%M-%S')}_answer_"
    with contextlib.closing(host_of_profile(profile)) as host:
        folder, job = str(host.ask("prepare", folder=name + secrets.token_hex(3))["folder"]), ""
        try:
            parcel = Parcel(profile, folder)
            host.put(parcel.packed(declared, request), folder)
            job = str(host.ask("start", SUBMIT_S, folder=folder, kind=profile.kind)["job"])
            output, job = _wait(host, profile, folder, job), ""
            with tempfile.TemporaryDirectory(prefix="netwright-answer-") as target:
                host.get(folder, Path(target), checkpoints=False)
                return parcel.unpacked(declared, Path(target), output)
        finally:
            with contextlib.suppress(UserError):
                if job:
                    host.ask("cancel", job=job, kind=profile.kind, now=True)
                host.ask("delete", folder=folder)


def _wait(host: Host, profile: ClusterProfile, folder: str, job: str) -> str:
    """Wait for the end of a job, report its progress, and return the end of what it has printed. Raises
    `UnreachableHostError`."""
    usual = POLL_BY_SSH_S if host.name and profile.kind != "ray" else POLL_S
    wait_s, answered = 0.1, time.monotonic()
    while True:
        try:
            answer = host.ask("poll", folder=folder, kind=profile.kind, job=job, logs=NOTHING_READ)
        except UnreachableHostError:
            if time.monotonic() - answered > LOST_S:
                raise
            wait_s = min(LONGEST_WAIT_S, 2 * wait_s)
        else:
            answered, wait_s = time.monotonic(), min(usual, 2 * wait_s)
            output = str(answer["output"])
            with contextlib.suppress(ValueError, KeyError, IndexError, TypeError):
                progress.report(*json.loads(output.splitlines()[-1])["progress"])
            if answer["job_state"] == "gone":
                return output
        time.sleep(wait_s)


class Parcel:
    """Files that an answer needs in a folder of a cluster, and the paths here of those that come back."""

    def __init__(self, profile: ClusterProfile, folder: str) -> None:
        self._profile, self._folder, self._root = profile, folder, f"{folder}/{PROJECT}"
        self._files: dict[str, Path | bytes] = {}
        self._collector = Collector(Path.cwd(), profile, AUDIO_SUFFIXES, f"{PROJECT}/files")
        self._names = {f"{self._root}/files": str(Path.cwd())}
        """Paths here by those there."""
        self._written: list[Path] = []
        self._kept: dict[str, Path] = {}
        """Folders here by those there whose new files come back."""
        self._environment: EnvironmentOptions | None = None
        """That of the project here, which has another one there."""
        self._numbers = itertools.count()
        self._has_code = False

    def packed(self, declared: Operation[Any, Any], request: Any) -> Mapping[str, Path | bytes]:
        """Return the files to send, by their paths in the folder of the job. Raises `UserError`."""
        values: dict[str, Any] = {"profile": ""}
        if hasattr(request, "project"):
            values |= {"settings": (), "text": ""}  # the project is sent with them
        for parameter in declared.parameters():
            value, move = getattr(request, parameter.name), self._mover(parameter, request)
            if parameter.name == "output":  # the one that a report without has
                value = getattr(request, "destination", value)
            is_empty = value is None or (isinstance(value, str | tuple) and not value)
            if move is not None and not is_empty and parameter.name not in values:
                values[parameter.name] = tuple(map(move, value)) if isinstance(value, tuple | list) else move(value)
        num_gpus = self._profile.workers * self._profile.gpus_per_worker
        if num_gpus > 1 and getattr(request, "device", "") == "auto":
            values["device"] = "multi-gpu"
        if self._has_code:
            values["trusted"] = True
        order = {"operation": declared.name, "kept": [*self._kept], "written": len(self._written)}
        try:
            content = json.dumps({**order, "values": to_json(replace(request, **values))}).encode()
        except (TypeError, ValueError):  # an array
            raise UserError("Samples in memory are not sent to a cluster.", hint="Name files.") from None
        program = shlex.join(["-m", "netwright.engine.core.child", PROGRAM, self._folder])
        command = f"exec {python_words(self._profile)} {program}"
        script = script_of(self._profile, self._folder, [command], written(granted()))
        return {**self._files, **self._collector.files, f"{PROJECT}/request.json": content, "job.sh": script}

    def _mover(self, parameter: Parameter, request: Any) -> Callable[[Any], Any] | None:
        """Return the function that makes a value of a field one for the host; None where it is the same there."""
        if parameter.argument.writes:
            return self._place_written
        if parameter.name in MODELS:
            return lambda path: self._place_model(path, request)
        if parameter.name == "project":
            return lambda path: self._place_project(path, request)
        if parameter.value_kind is Path:
            return lambda path: Path(self._place_file(str(path)))
        if parameter.name == "settings":
            return self._place_setting
        if parameter.name == "data":
            return self._place_file
        return self._place_if_file if parameter.name in MAY_BE_FILES else None

    def _place_if_file(self, value: Any) -> Any:
        return self._place_file(str(value)) if isinstance(value, str | Path) and os.path.exists(value) else value

    def _place_file(self, text: str) -> str:
        if is_remote(text):
            say_typed(text)
            return text
        there = self._collector.place(text)
        if there == os.path.normpath(text):  # relative to the current folder, as there
            return text
        there = there if there.startswith("/") else f"{self._root}/files/{there}"
        self._names[there] = text
        return there

    def _place_setting(self, setting: str) -> str:
        name, _, value = setting.partition("=")
        is_file = isinstance(DataOptions.fields.get(name.strip().removeprefix("data.")), FilePath) and value
        return f"{name}={self._place_file(value.strip())}" if is_file else setting

    def _place_written(self, path: Path) -> Path:
        if not path.is_dir():
            refuse_destination(path)
        elif any(path.iterdir()):
            raise UserError(f"{path} is not empty.", hint="Name a new folder.")
        there = f"{self._folder}/run/answers/written/{len(self._written)}/{path.name}"
        self._written.append(path)
        self._names[there] = str(path.absolute())
        return Path(there)

    def _place_model(self, named: Path, request: Any) -> Path:
        look_up(named)
        path, root = located(named), f"models/{next(self._numbers)}"
        place = f"{root}/{path.resolve().name}"
        if path.is_dir():
            self._add_run(open_run(path), place, request)
        elif can_import(path):
            self._files[f"{PROJECT}/{place}"] = path
        else:
            self._add_project(load(path).project, path, root, trusted=request.trusted)
        self._names[f"{self._root}/{place}"] = str(named.absolute())
        return Path(self._root, place)

    def _add_run(self, run: RunFolder, place: str, request: Any) -> None:
        """Send a run, with its data where the request may be about it."""
        project, source = load(run.project).project, origin(run.project)
        look_at_code(project, source.code_base, source.code, trusted=request.trusted)
        user_code.ready(project.network, source.code_base, source.code)
        self._has_code |= user_code.has_code(project.network)
        base = f"{place}/base"
        self._names[f"{self._root}/{base}"] = str(source.base)
        if isinstance(request, DataOfModelRequest) and not request.data:
            admit(project.data)
            suffixes = AUDIO_SUFFIXES if project.data.source == "audio" else ()
            collector = Collector(source.base, self._profile, suffixes, f"{PROJECT}/{base}")
            project = replace(project, data=collector.moved(project.data))
            self._files |= collector.files
        parts = [part for part in run.path.iterdir() if part.name not in NOT_SENT and part.name[0] != "."]
        info = replace(run.read_info(), base=f"{self._root}/{base}")
        self._files |= {f"{PROJECT}/{place}/{part.name}": part for part in parts}
        self._files |= {
            f"{PROJECT}/{place}/{run.info.name}": json.dumps(info.write()).encode(),
            f"{PROJECT}/{place}/{run.project.name}": dumps(project).encode(),
        }
        self._kept[place] = run.path

    def _add_project(self, project: Project, path: Path, root: str, *, trusted: bool) -> None:
        source = origin(path)
        look_at_code(project, source.code_base, source.code, trusted=trusted)
        user_code.ready(project, source.code_base, source.code)
        self._has_code |= user_code.has_code(project)
        self._names[f"{self._root}/{root}"] = str(source.base)
        self._environment = project.environment
        admit(project.data)
        code, profile = user_code.contents(project), self._profile.replace(kind="ssh")
        self._files |= bundle(project, source.base, code, profile, root=f"{PROJECT}/{root}", name=path.name).files

    def _place_project(self, path: Path, request: Any) -> Path:
        project, notices = read_project(path, request.settings, request.text)
        progress.notice(*notices)
        root = f"models/{next(self._numbers)}"
        self._add_project(project, path, root, trusted=request.trusted)
        self._kept[f"{root}/experiments"] = path.resolve().parent / "experiments"
        return Path(self._root, root, path.name)

    # ---- what comes back ----

    def unpacked(self, declared: Operation[Any, Any], folder: Path, output: str) -> Any:
        """Return the result in a folder that was fetched, and put the files with it in their places. Raises
        `UserError`: that of the operation, or where there is no result."""
        try:
            content = json.loads((folder / "result.json").read_text(encoding="utf-8"), object_hook=_array)
        except (OSError, ValueError):
            message, code = error_in(output)
            raise RunError(message or "The job has ended without an answer.", code=code) from None
        content = self._named_here(content)
        progress.notice(*content["notices"])
        if "error" in content:
            raise read_error(content["error"])
        answers = folder / "answers"
        try:
            for file in answers.rglob("*"):
                self._rename_in(file)
            for file in answers.glob(f"written/*/*{SUFFIX}"):
                if self._environment is not None:
                    save(replace(load(file).project, environment=self._environment), file)
            for place, path in enumerate(self._written):  # with what is written beside it, such as weights
                shutil.copytree(answers / "written" / str(place), path.parent, dirs_exist_ok=True)
            for there, path in self._kept.items():
                if (answers / there).exists():
                    shutil.copytree(answers / there, path, dirs_exist_ok=True)
        except OSError as error:
            raise UserError(f"The files of the answer cannot be written: {error.strerror or error}.") from error
        kind = next(kind for kind in declared.results if kind.__name__ == content["kind"])
        return restored(kind, content["values"])

    def _named_here(self, value: Any) -> Any:
        """Return JSON with the paths of this machine."""
        if isinstance(value, dict):
            return {name: self._named_here(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self._named_here(item) for item in value]
        return self._renamed(value) if isinstance(value, str) else value

    def _rename_in(self, file: Path) -> None:
        """Let a file that has come name the paths of this machine. Raises `OSError`."""
        if file.suffix not in TEXTS or self._folder not in (text := file.read_text("utf-8", "surrogateescape")):
            return
        value = json.loads(text) if file.suffix == ".json" else None
        if isinstance(value, dict) and CHECKSUM in value:
            write_checked_json(file, self._named_here(without_checksum(value)))
        else:
            file.write_text(self._renamed(text), "utf-8", "surrogateescape")

    def _renamed(self, text: str) -> str:
        """Return a text with the paths of this machine."""
        if self._folder in text:
            for there in sorted(self._names, key=len, reverse=True):
                text = text.replace(there, self._names[there])
        return text


def restored(kind: Any, value: Any) -> Any:
    """Return a value of a type from the JSON of a result: dataclasses are made, other values are taken as they are."""
    if value is None:
        return None
    if is_dataclass(kind):
        types = get_type_hints(kind)
        return kind(**{name: restored(types[name], item) for name, item in value.items()})  # type: ignore[operator]
    record = next(filter(is_dataclass, get_args(kind)), None)
    if isinstance(value, list):
        items = value if record is None else [restored(record, item) for item in value]
        return tuple(items) if get_origin(kind) is tuple else items
    return value if record is None else restored(record, value)


def _array(value: dict[str, Any]) -> Any:
    """Return the array that a JSON object of `answer_program` stands for; any other object as it is."""
    return np.load(io.BytesIO(bytes.fromhex(value["npy"])), allow_pickle=False) if value.keys() == {"npy"} else value
