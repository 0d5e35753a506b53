"""Try a cluster profile in stages, as MATLAB's cluster validation does: each passes, fails with the way out, or is
skipped."""

import socket
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from engine.cluster.bundle import interface_lines, python_words, sbatch_lines
from engine.cluster.hosts import Host, hosts_of, python_of
from engine.cluster.jobs import DEFAULT_STORAGE
from engine.cluster.profile_file import running_ray
from engine.cluster.profiles import ClusterProfile
from engine.cluster.ray_validation import RayCluster
from engine.core.errors import RunError, UserError, listed, plural
from engine.core.files import ROOT
from engine.core.version import VERSION

REACH_S = 25.0
TASK_S = 60.0
WORKERS_S = 120.0
QUEUE_S = 120.0
POLL_S = 0.5
FOLDERS = ".validate-"
STALE_S = 1800.0
"""Age in seconds of a folder that was left by a validation that was killed; a later one deletes it."""
LEAST_PYTHON = (3, 11)
LEAST_FREE_BYTES = 2**30
PROBE = ROOT / "engine" / "launch" / "cluster_probe.py"
"""Program of the workers, which needs torch and is not imported here."""
StageState = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True)
class StageResult:
    """How a stage went. `detail` says what was found, or why it failed or was skipped; `hint` is the way out."""

    stage: str
    title: str
    state: StageState
    detail: str
    hint: str = ""
    seconds: float = 0.0


@dataclass
class Attempt:
    """A profile that is tried, and what its stages have found for later ones."""

    profile: ClusterProfile
    hosts: tuple[Host, ...]
    found: dict[str, Any] = field(default_factory=dict)
    ray: RayCluster | None = None

    @property
    def first(self) -> Host:
        """The host that starts jobs, or the only one of Ray's client."""
        return self.hosts[0]


def reach(attempt: Attempt) -> str:
    """Every host answers, and Slurm or the head of Ray does."""
    if attempt.profile.kind == "ray":
        address = _reach_ray(attempt.profile)
        attempt.ray = RayCluster(attempt.profile)
        return f"{attempt.ray.connect(REACH_S)} at {address}"
    said = []
    for host in attempt.hosts:
        answer = host.ask("reach", REACH_S)
        said.append(f"{host}: {plural(answer['cores'], 'core')}, Python {answer['python']}")
    if attempt.profile.kind == "slurm":
        partitions = attempt.first.ask("scheduler", REACH_S)["partitions"]
        wanted = attempt.profile.partition
        names = sorted({row[0].rstrip("*") for row in partitions})
        if wanted and wanted not in names:
            raise UserError(f"Slurm has no partition '{wanted}'.", hint=f"It has {listed(names) if names else 'none'}.")
        up = [row for row in partitions if row[1] == "up" and (not wanted or row[0].rstrip("*") == wanted)]
        if not up:
            raise RunError("No partition of Slurm is up.", hint="Ask who runs it, or name another partition.")
        said.append(f"{plural(sum(int(row[2]) for row in up), 'node')} in {', '.join(sorted({r[0] for r in up}))}")
    return "; ".join(said)


def _reach_ray(profile: ClusterProfile) -> str:
    """Return the address of the head of Ray, which answers."""
    address = running_ray() if profile.address == "auto" else profile.address
    if address is None:
        raise RunError("No Ray runs on this machine.", hint="Start one: ray start --head, or name its host:port.")
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=REACH_S):
            return address
    except (OSError, ValueError) as error:
        hint = "Check the address (host:port of the head), its firewall, and that Ray runs there: ray status."
        raise RunError(f"Ray does not answer at {address}: {error}.", hint=hint) from error


def versions(attempt: Attempt) -> str:
    """Every host has Netwright in this version, torch, and a Python that is new enough."""
    if attempt.ray is not None:
        answers = attempt.ray.ask("versions", 2 * TASK_S)
        found = {_judged(attempt.profile, f"{each['host']} of Ray", each) for each in answers}
        return f"{plural(len(answers), 'node')}: {'; '.join(sorted(found))}"
    said = []
    for host in attempt.hosts:
        answer = host.ask("versions", TASK_S + 10, python=python_of(attempt.profile), limit_s=TASK_S)
        said.append(_judged(attempt.profile, str(host), answer))
    return "; ".join(dict.fromkeys(said))


def _judged(profile: ClusterProfile, host: str, answer: Mapping[str, Any]) -> str:
    """Return the versions of a host in words. Raises `UserError` where they do not do."""
    command = " ".join(python_of(profile))
    if tuple(int(part) for part in answer["python"].split(".")[:2]) < LEAST_PYTHON:
        raise UserError(f"{host}: {command} is Python {answer['python']}.", hint="Netwright needs 3.11 or newer.")
    way = f"Install it there: netwright-engine cluster install {profile.name}."
    if profile.kind == "ray":
        way = "Install it in the Python of the profile on each host of the cluster."
    for name, title in (("netwright", "Netwright"), ("torch", "torch")):
        if not answer[name]:
            raise UserError(f"{host}: {command} has no {title}.", hint=way)
    if answer["netwright"] != VERSION:
        raise UserError(f"{host}: {command} has Netwright {answer['netwright']}, and here it is {VERSION}.", hint=way)
    return f"Python {answer['python']}, Netwright {answer['netwright']}, torch {answer['torch']}"


def task(attempt: Attempt) -> str:
    """One task runs where the workers run."""
    if attempt.ray is not None:
        answer = attempt.ray.ask("task", TASK_S)
    else:
        answer = _tried(attempt, attempt.profile.replace(workers=1, nodes=1), "task", TASK_S)[0]
    return f"on {answer['host']}, with {plural(answer['cores'], 'core')}"


def workers(attempt: Attempt) -> str:
    """As many workers as the profile has run at the same time, each with its GPUs."""
    profile = attempt.profile
    if attempt.ray is not None:
        folder = attempt.ray.on_hosts(attempt.ray.folder)
        answers = attempt.ray.ask("workers", WORKERS_S, folder=folder, program=PROBE.read_text(encoding="utf-8"))
    else:
        answers = _tried(attempt, profile, "workers", WORKERS_S)
    attempt.found["workers"] = answers
    hosts = sorted({answer["host"] for answer in answers})
    if profile.gpus_per_worker and (poor := [a for a in answers if a["gpus"] < profile.gpus_per_worker]):
        raise UserError(
            f"{plural(len(poor), 'worker')} have fewer than {plural(profile.gpus_per_worker, 'GPU')}.",
            hint="Set gpus_per_worker=0 to compute on the CPU, or name a partition with GPUs.",
        )
    return f"{plural(len(answers), 'worker')} on {listed(hosts)}"


def all_reduce(attempt: Attempt) -> str:
    """The workers sum numbers over gloo."""
    answers = _found(attempt)
    if not all(answer["is_right"] for answer in answers):
        raise RunError("The workers have summed numbers and got another sum.", hint="Try another network interface.")
    return f"{plural(len(answers), 'worker')} agree on the sum of {answers[0]['numbers']:,} numbers"


def storage(attempt: Attempt) -> str:
    """The folder of runs can be written, and has room."""
    if attempt.ray is not None:
        folder, free, per_s = attempt.ray.storage(TASK_S)
    else:
        answer = attempt.first.ask("storage", TASK_S, folder=attempt.profile.storage or DEFAULT_STORAGE)
        folder, free, per_s = answer["folder"], answer["free_bytes"], answer["bytes_per_s"]
    if free < LEAST_FREE_BYTES:
        raise UserError(f"{folder} has {free / 1e9:.1f} GB left.", hint="Make room there, or name another storage.")
    seen = ", seen by all nodes" if attempt.ray is not None else ""
    return f"{folder}: {free / 1e9:,.0f} GB free, written with {per_s / 1e6:,.0f} MB/s{seen}"


def speed(attempt: Attempt) -> str:
    """How fast the workers compute and sum."""
    answers = _found(attempt)
    slowest, flops = min(a["bytes_per_s"] for a in answers), [a["flops"] for a in answers]
    return (
        f"sums {slowest / 1e6:,.0f} MB/s; each worker multiplies matrices with {min(flops) / 1e9:,.0f} to "
        f"{max(flops) / 1e9:,.0f} GFLOP/s"
    )


@dataclass(frozen=True)
class Stage:
    """A stage: its title, what it does, and the stages that must have passed before."""

    title: str
    try_it: Callable[[Attempt], str]
    needs: tuple[str, ...] = ()


STAGES: Mapping[str, Stage] = {
    "reach": Stage("Reach the cluster", reach),
    "versions": Stage("Compare versions", versions, ("reach",)),
    "task": Stage("Run one task", task, ("reach",)),
    "workers": Stage("Start all workers", workers, ("versions", "task")),
    "all_reduce": Stage("Sum over all workers", all_reduce, ("workers",)),
    "storage": Stage("Write to the storage", storage, ("reach",)),
    "speed": Stage("Measure speed", speed, ("workers",)),
}


def validate(profile: ClusterProfile, stages: Mapping[str, Stage] = STAGES) -> Iterator[StageResult]:
    """Try a profile, and yield how each stage went as soon as it has ended. Each has a time limit."""
    attempt = Attempt(profile, hosts_of(profile))
    try:
        yield from _results(attempt, stages)
    finally:
        if attempt.ray is not None:
            attempt.ray.close()


def _results(attempt: Attempt, stages: Mapping[str, Stage]) -> Iterator[StageResult]:
    passed = set[str]()
    for name, stage in stages.items():
        if missing := [needed for needed in stage.needs if needed not in passed]:
            detail = f"not tried: '{stages[missing[0]].title}' has not passed"
            yield StageResult(name, stage.title, "skipped", detail)
            continue
        begin = time.monotonic()
        state: StageState = "passed"
        hint = ""
        try:
            detail = stage.try_it(attempt)
            passed.add(name)
        except UserError as error:
            detail, state, hint = str(error).removesuffix(error.hint).strip(), "failed", error.hint
        yield StageResult(name, stage.title, state, detail, hint, round(time.monotonic() - begin, 2))


def _found(attempt: Attempt) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = attempt.found["workers"]
    return answers


def _tried(attempt: Attempt, profile: ClusterProfile, what: str, patience_s: float) -> list[dict[str, Any]]:
    """Run `PROBE` as a job with the workers of the profile, and return their answers. Raises `RunError`."""
    host = attempt.first
    wanted = f"{(profile.storage or DEFAULT_STORAGE).rstrip('/')}/{FOLDERS}{time.time_ns()}"
    folder = str(host.ask("prepare", folder=wanted, stale=f"{FOLDERS}*", stale_s=STALE_S)["folder"])
    job = ""
    try:
        program = PROBE.read_bytes()
        host.put({"probe.py": program, "job.sh": _script(profile, folder, what)}, folder, patience_s)
        job = str(host.ask("start", folder=folder, kind=profile.kind)["job"])
        return _answers(host, profile, folder, job, patience_s)
    finally:
        _clean_up(host, profile, folder, job)


def _answers(host: Host, profile: ClusterProfile, folder: str, job: str, patience_s: float) -> list[dict[str, Any]]:
    begin = time.monotonic()
    limit_s = patience_s + (QUEUE_S if profile.kind == "slurm" else 0)
    while True:
        answer = host.ask("answers", folder=folder, kind=profile.kind, job=job)
        found: list[dict[str, Any]] = answer["answers"]
        if len(found) == profile.workers:
            return found
        waited_s = time.monotonic() - begin
        if answer["job_state"] == "gone":
            said = answer["output"].strip().rpartition("\n")[2][-400:].rstrip(".") or "nothing"
            count = f"{len(found)} of {plural(profile.workers, 'worker')}"
            raise RunError(f"{count} have answered. The job said: {said}.", hint="Try the Python of the profile there.")
        if answer["job_state"] == "waiting" and waited_s > QUEUE_S:
            hint = "Try fewer workers or cores, or another partition."
            raise RunError(f"The job waits in the queue: {answer['job_reason'] or 'no reason is known'}.", hint=hint)
        if waited_s > limit_s:
            raise RunError(f"{len(found)} of {plural(profile.workers, 'worker')} have answered in {limit_s:g} s.")
        time.sleep(POLL_S)


def _clean_up(host: Host, profile: ClusterProfile, folder: str, job: str) -> None:
    """End the job and delete its folder; a host that does not answer keeps them."""
    try:
        if job:
            host.ask("cancel", job=job, kind=profile.kind, now=True)
        host.ask("delete", folder=folder)
    except UserError:
        return


def _script(profile: ClusterProfile, folder: str, what: str) -> bytes:
    lines = ["#!/bin/sh"]
    command = f'{python_words(profile)} "{folder}/probe.py" "{folder}" {what}'
    if profile.kind == "slurm":
        lines += sbatch_lines(profile, folder, task_per_worker=True)
        lines += [*interface_lines(profile), f"srun --ntasks={profile.workers} {command}"]
    else:
        lines += interface_lines(profile)
        lines += [f"RANK={rank} WORLD_SIZE={profile.workers} {command} &" for rank in range(profile.workers)]
        lines += ["wait"]
    return "\n".join([*lines, ""]).encode()
