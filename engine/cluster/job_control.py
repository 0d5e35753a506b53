"""Runs on a cluster: submit one, bring what is new of it into its folder here, pass requests on, fetch its weights.

The folder here has the files of any run and is followed like any run. `events.jsonl` and `engine.log` are copies of
those on the cluster up to some byte, so that the next copy goes on at that byte, whatever happened in between.
"""

import base64
import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

from netwright.engine.cluster.bundle import bundle, job_script
from netwright.engine.cluster.hosts import Host, hosts_of
from netwright.engine.cluster.job_list import forget, jobs, note_job, refuse_unlisted
from netwright.engine.cluster.profile_file import find_profile
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.ray_host import RayHost
from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.files import remove, without_checksum, write_atomically, write_checked_json
from netwright.engine.core.platform_files import open_descriptor
from netwright.engine.project import user_code
from netwright.engine.project.check import check
from netwright.engine.project.data_hosts import admit, granted_for, look_up, written
from netwright.engine.project.file import dumps
from netwright.engine.project.project import Project
from netwright.engine.runs.create import create, new_folder
from netwright.engine.runs.events import ENDS, Ended, Failed
from netwright.engine.runs.folder import Origin, RunFolder, origin, update_info, write_info
from netwright.engine.runs.history import ProjectKey, next_number, numbering, register
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.log import EventLog
from netwright.engine.runs.remote import FILE, RemoteRun, read_remote, write_remote
from netwright.engine.user_code import registry

LOGS = ("events.jsonl", "engine.log")
TAIL_BYTES = 64
CHUNK_BYTES = 2**20
DEFAULT_STORAGE = "~/netwright-jobs"
SUBMIT_S = 120.0
STOP_S = 60.0
STOP_POLL_S = 0.1
_REQUEST = re.compile(r"[0-9]+_[0-9a-f]+_\w+\.json")


def submit(project: Project, project_path: Path | None, run_dir: Path | None, profile: ClusterProfile) -> RunFolder:
    """Check a project, copy a run of it to the cluster of a profile, start its job, and return its folder here.

    Its code is trusted. Raises `UserError` for the project, `RunError` for the cluster.
    """
    if not profile.takes_jobs:
        raise UserError(
            f"The profile '{profile.name}' takes no runs to leave behind: their coordinator is on this machine.",
            hint="Set coordinator=cluster for a profile of Ray, or use one of Slurm, or of a single host over ssh.",
        )
    source = _origin(project_path)
    user_code.ready(project, source.code_base, source.code)
    if project.data.source == "none":
        raise UserError("The project has no data to learn from.", hint="Choose a data source first.")
    check(project).refuse_errors()
    if project_path is not None:
        look_up(project_path)
    admit(project.data)
    code = user_code.contents(project)
    host = host_of_profile(profile)
    try:
        return _submitted(project, project_path, run_dir, profile, code, host)
    finally:
        host.close()


def _submitted(
    project: Project,
    project_path: Path | None,
    run_dir: Path | None,
    profile: ClusterProfile,
    code: Mapping[str, bytes],
    host: Host,
) -> RunFolder:
    """Copy a run that has been checked to the cluster, start its job, and return its folder here."""
    there = profile.replace(address=host.address()) if isinstance(host, RayHost) else profile
    packed = bundle(project, _origin(project_path).base, dict(code), there)
    job_name = f"{time.strftime('%Y-%m-%d_%H-%M-%S')}_{secrets.token_hex(3)}"
    folder_name = f"{(profile.storage or DEFAULT_STORAGE).rstrip('/')}/{job_name}"
    folder_there = str(host.ask("prepare", folder=folder_name)["folder"])
    try:
        hosts = written(granted_for(project.data))
        script = job_script(profile, folder_there, has_code=bool(code), hosts=hosts)
        host.put({**packed.files, "job.sh": script}, folder_there)
        folder = _folder_here(project, project_path, run_dir, code)
    except BaseException:
        with contextlib.suppress(UserError):
            host.ask("delete", folder=folder_there)
        raise
    kind = cast(Literal["ray", "slurm", "ssh"], profile.kind)
    remote = RemoteRun(
        profile=profile.name,
        kind=kind,
        host=host.name,
        folder=folder_there,
        job="",
        submitted=time.time(),
    )
    try:
        started(folder, remote, host)
    except UserError as error:
        _end_here(folder, "failed", str(error), error.code)
        raise
    note_job(folder)
    return folder


def host_of_profile(profile: ClusterProfile) -> Host:
    """Return the host of a profile that takes jobs."""
    return RayHost(profile) if profile.kind == "ray" else hosts_of(profile)[0]


@contextlib.contextmanager
def host_of(folder: RunFolder, remote: RemoteRun) -> Iterator[Host]:
    """Give the host of a run on a cluster, and end the connection to it. Raises `UserError` for a run that is not one
    of the user's jobs, and where the profile of a Ray is gone, which says how to reach it."""
    refuse_unlisted(folder, remote)
    host = RayHost(find_profile(remote.profile)) if remote.kind == "ray" else Host(remote.host)
    try:
        yield host
    finally:
        host.close()


def started(folder: RunFolder, remote: RemoteRun, host: Host) -> RemoteRun:
    """Start the job of a run, also again, and return its new record. Raises `RunError`."""
    number = host.ask("start", SUBMIT_S, folder=remote.folder, kind=remote.kind)["job"]
    remote = replace(remote, job=str(number), job_state="waiting", reason="", lost="", seen=time.time())
    write_remote(folder.path, remote)
    return remote


def resume(folder: RunFolder) -> None:
    """Start the job of a run again, which goes on from its last checkpoint there. Raises `RunError`."""
    remote = remote_of(folder)
    if folder.is_alive() or (remote.job_state not in ("ended", "gone") and folder.read_info().state not in ENDS):
        raise RunError(f"The run in {folder.path} is at work on its cluster.", hint="`follow` shows it.")
    with host_of(folder, remote) as host:
        started(folder, remote, host)
    update_info(folder, state="starting", exit_code=None, resumed="resumed on request")
    folder.result.unlink(missing_ok=True)


def _origin(project_path: Path | None) -> Origin:
    here = Path.cwd()
    return origin(project_path) if project_path else Origin(here, here, here / "untitled", "untitled")


def _folder_here(
    project: Project, project_path: Path | None, run_dir: Path | None, code: Mapping[str, bytes]
) -> RunFolder:
    """Create the folder of the run on this machine."""
    source = _origin(project_path)
    text = dumps(project)
    info = RunInfo(
        project_path=str(project_path) if project_path else None,
        project_id=project.identity,
        base=str(source.base),
        name=source.name,
        project_sha256=hashlib.sha256(text.encode()).hexdigest(),
        code={file: registry.hash_of_bytes(data) for file, data in code.items()},
        strategy=project.environment.strategy,
        seed=project.training.seed,
    )
    path = run_dir.absolute() if run_dir else new_folder(source.runs_beside if project_path else None, source.name)
    with numbering():
        number = next_number(ProjectKey(project_path, project.identity))
        info = replace(info, number=number, created=round(time.time(), 3))
        folder = create(path, text, info, code.values())
        register(folder, project.identity)
    return folder


# ---- what is known of a job ----


def remote_of(folder: RunFolder) -> RemoteRun:
    """Return the record of a run on a cluster. Raises `UserError` for a run of this machine."""
    remote = read_remote(folder.path)
    if remote is None:
        raise UserError(
            f"The run in {folder.path} is one of this machine.", hint="`netwright-engine jobs` lists others."
        )
    return remote


def delete(folder: RunFolder) -> None:
    """End the job of a run and delete its folder on the cluster; the folder here stays. Raises `RunError`."""
    if read_remote(folder.path) is None and any(job.folder.path == folder.path.absolute() for job in jobs()):
        _end_run_here(folder)
        forget(folder)
        return
    remote = remote_of(folder)
    with host_of(folder, remote) as host:
        if remote.job and remote.job_state not in ("ended", "gone"):
            host.ask("cancel", job=remote.job, kind=remote.kind, now=True)
        host.ask("delete", folder=remote.folder)
    if folder.read_info().state not in ENDS:
        _end_here(folder, "stopped", "its job was deleted", "")
    with contextlib.suppress(OSError):
        (folder.path / FILE).unlink()
    forget(folder)


def _end_run_here(folder: RunFolder) -> None:
    """Stop a run whose coordinator is on this machine. Raises `RunError` where it does not answer."""
    if not folder.is_alive() or folder.state() in ENDS:
        return
    folder.request("stop")
    deadline = time.monotonic() + STOP_S
    while folder.is_alive() and folder.state() not in ENDS:
        if time.monotonic() > deadline:
            raise RunError(
                f"The run in {folder.path} has not stopped within {STOP_S:g} s.", hint="Delete the job once it has."
            )
        time.sleep(STOP_POLL_S)


# ---- copying ----


def sync(folder: RunFolder, host: Host | None = None) -> RemoteRun:
    """Pass requests on, copy what is new, and return what is known then. Fetches the weights of a run that has ended.

    Only one process calls it at a time: the one that holds the lock. `host`: the connection, where one is kept. Raises
    `UnreachableHostError` where the host does not answer; nothing is lost then.
    """
    remote = remote_of(folder)
    if host is None:
        with host_of(folder, remote) as connected:
            return sync(folder, connected)
    if _pass_requests(folder, host, remote):
        _end_here(folder, "stopped", "stopped on request, before its job began", "")
        remote = replace(remote, job_state="ended", seen=time.time(), lost="")
        write_remote(folder.path, remote)
        return remote
    while True:
        answer = host.ask("poll", folder=remote.folder, kind=remote.kind, job=remote.job, logs=_ends_of_logs(folder))
        sizes = [_take(folder.path / name, answer[name]) for name in LOGS]
        if max(sizes) < CHUNK_BYTES // 2:
            break
    remote = replace(
        remote, seen=time.time(), lost="", reason=str(answer["job_reason"])[:200], job_state=answer["job_state"]
    )
    info = answer["run.json"]
    state = str(info.get("state", "")) if isinstance(info, dict) else ""
    if remote.job_state == "gone" and state in ENDS:
        fetch(folder, remote, host)
        remote = replace(remote, job_state="ended")
    elif remote.job_state == "gone" and not answer["is_locked"]:
        remote = _gone(folder, remote, answer)
    elif isinstance(info, dict) and state not in ENDS:  # an end of before it was resumed, or one that is being written
        _take_info(folder, info)
    if remote != remote_of(folder):
        write_remote(folder.path, remote)
    return remote


def _gone(folder: RunFolder, remote: RemoteRun, answer: Mapping[str, Any]) -> RemoteRun:
    """Record that a job has ended without an end of its run."""
    if answer["run.json"] is not None:
        return replace(remote, reason="its job has ended before the run has; `resume` goes on with it")
    message, code = error_in(str(answer.get("output", "")))
    message = message or "The job has ended before its run began."
    _end_here(folder, "failed", message, code)
    return replace(remote, job_state="ended", reason=message)


def error_in(output: str) -> tuple[str, str]:
    """Return the message and the code of the error in the output of a job."""
    for line in reversed(output.splitlines()):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            error = json.loads(line)["error"]
            return str(error["message"]), str(error["code"])
    return output.strip()[-1000:], ""


def _end_here(folder: RunFolder, state: Any, reason: str, code: str) -> None:
    """Write the end of a run that has none on its cluster."""
    log = EventLog(folder)
    try:
        if state == "failed":
            log.append(Failed(cause=reason, code=code))
        log.append(Ended(state=state, reason=reason, result={}))
    finally:
        log.close()
    write_info(folder, replace(folder.read_info(), state=state, exit_code=3 if state == "failed" else 130))


def _ends_of_logs(folder: RunFolder) -> dict[str, dict[str, Any]]:
    """Return the length of each log here, and its last bytes, by which a replaced log is noticed."""
    ends = {}
    for name in LOGS:
        size, last = 0, b""
        with contextlib.suppress(OSError), open(folder.path / name, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL_BYTES))
            last = file.read()
        ends[name] = {"offset": size, "last": base64.b64encode(last).decode()}
    return ends


def _take(path: Path, new: Mapping[str, Any]) -> int:
    """Append new bytes to a log, or begin a log that was replaced anew. Returns their number."""
    data = base64.b64decode(new["data"])
    if new["is_new"]:
        write_atomically(path, data, mode=0o600, follow_link=False)
    elif data:
        descriptor = open_descriptor(path, "a", follow_link=False)
        with open(descriptor, "ab") as file:
            file.write(data)
    return len(data)


OURS = ("project_path", "project_id", "number", "trial", "base", "name", "project_sha256", "code", "created")
"""Keys of `run.json` that stay as they are here."""


def _take_info(folder: RunFolder, data: Mapping[str, Any]) -> None:
    """Take the record of the run on the cluster, with the paths and numbers of this machine. Raises `ValueError` for a
    damaged one."""
    before = folder.read_info()
    fields_here = {name: getattr(before, name) for name in OURS}
    info = replace(RunInfo.read(without_checksum(data)), **fields_here, coordinator=before.coordinator, workers=())
    if info != before:
        write_info(folder, info)


FETCHED = (
    *("best", "last", "checkpoints", "result.json", "data.json", "metrics.json"),
    *("answers", "attention", "weights.jsonl", "pictures"),
)
"""Files and folders that a run leaves beside its log."""


def fetch(folder: RunFolder, remote: RemoteRun, host: Host | None = None, *, checkpoints: bool = False) -> None:
    """Copy the weights and results of a run, and its checkpoints, from the cluster. Raises `RunError`."""
    if host is None:
        with host_of(folder, remote) as connected:
            fetch(folder, remote, connected, checkpoints=checkpoints)
        return
    target = folder.path / f".{secrets.token_hex(8)}.tmp"
    try:
        target.mkdir(0o700)
        host.get(remote.folder, target, checkpoints=checkpoints)
        info = json.loads((target / "run.json").read_text(encoding="utf-8"))
        for name in FETCHED:
            if (target / name).exists():
                remove(folder.path / name)
                (target / name).rename(folder.path / name)
        if (result := folder.read_result()) is not None and "run_dir" in result:
            write_checked_json(folder.result, {**result, "run_dir": str(folder.path.absolute())}, follow_link=False)
        _take_info(folder, info)
    except (OSError, ValueError) as error:
        raise RunError(f"The run in {folder.path} could not be fetched: {error}.") from error
    finally:
        shutil.rmtree(target, ignore_errors=True)


def _pass_requests(folder: RunFolder, host: Host, remote: RemoteRun) -> bool:
    """Pass the requests in the folder here on to the run. Returns whether one has ended its job before it began."""
    files = sorted(file for file in folder.control.glob("*.json") if _REQUEST.fullmatch(file.name))
    requests = {}
    for file in files:
        with contextlib.suppress(OSError, ValueError):
            requests[file.name] = json.loads(file.read_text(encoding="utf-8"))
    if not requests:
        return False
    is_delivered = bool(host.ask("request", folder=remote.folder, requests=requests)["delivered"])
    is_stop = any(request.get("do") in ("stop", "stop_after_epoch") for request in requests.values())
    if not (is_delivered or is_stop):
        return False
    if not is_delivered:
        host.ask("cancel", job=remote.job, kind=remote.kind)
    for file in files:
        file.unlink(missing_ok=True)
    return not is_delivered
