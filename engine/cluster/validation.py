"""Try a cluster profile in stages, as MATLAB's cluster validation does: each passes, fails with the way out, or is
skipped."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import Any, Literal, TypeVar

from netwright.engine.cluster.bundle import interface_lines, python_words, sbatch_lines
from netwright.engine.cluster.hosts import Host, hosts_of, python_of
from netwright.engine.cluster.job_control import DEFAULT_STORAGE
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.ray_address import address_of_head, refuse_silent
from netwright.engine.cluster.shared_folder import SAMPLE_FILE, RayCluster, SharedFolder, blind_error
from netwright.engine.core.errors import RunError, UserError, listed, plural
from netwright.engine.core.version import VERSION

T = TypeVar("T")
R = TypeVar("R")
MOST_AT_ONCE = 64
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
PROBE = Path(__file__).parent / "nodes" / "cluster_probe.py"
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
        return f"{attempt.ray.connect(REACH_S)}, reached at {address}"
    answers = _on_all(attempt.hosts, lambda host: host.ask("reach", REACH_S))
    sentences = [
        f"{host}: {plural(answer['cores'], 'core')}, Python {answer['python']}"
        for host, answer in zip(attempt.hosts, answers, strict=True)
    ]
    if attempt.profile.kind == "slurm":
        partitions = attempt.first.ask("scheduler", REACH_S)["partitions"]
        partition = attempt.profile.partition
        names = sorted({row[0].rstrip("*") for row in partitions})
        if partition and partition not in names:
            raise UserError(
                f"Slurm has no partition '{partition}'.", hint=f"It has {listed(names) if names else 'none'}."
            )
        up = [row for row in partitions if row[1] == "up" and (not partition or row[0].rstrip("*") == partition)]
        if not up:
            raise RunError("No partition of Slurm is up.", hint="Ask who runs it, or name another partition.")
        sentences.append(f"{plural(sum(int(row[2]) for row in up), 'node')} in {', '.join(sorted({r[0] for r in up}))}")
    return "; ".join(sentences)


def _reach_ray(profile: ClusterProfile) -> str:
    """Return the address of the head of Ray, which answers."""
    address = address_of_head(profile.address)
    try:
        refuse_silent(address, REACH_S)
    except RunError as error:
        hint = "Check the address (host:port of the head), its firewall, and that Ray runs there: ray status."
        raise RunError(str(error), hint=hint) from error
    return address


def versions(attempt: Attempt) -> str:
    """Every host has Netwright in this version, torch, and a Python that is new enough."""
    if attempt.ray is not None:
        answers = attempt.ray.call("versions", 2 * TASK_S)
        distinct = {_judged(attempt.profile, f"{each['host']} of Ray", each) for each in answers}
        return f"{plural(len(answers), 'node')}: {'; '.join(sorted(distinct))}"
    python = python_of(attempt.profile)
    answers = _on_all(attempt.hosts, lambda host: host.ask("versions", TASK_S + 10, python=python, limit_s=TASK_S))
    texts = [_judged(attempt.profile, str(host), answer) for host, answer in zip(attempt.hosts, answers, strict=True)]
    return "; ".join(dict.fromkeys(texts))


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
        answer = attempt.ray.call("task", TASK_S)
    else:
        profile = attempt.profile.replace(workers=1, nodes=1)
        answers = _on_all(attempt.hosts, lambda host: _tried(profile, Share(host, (0,), 1), "task", TASK_S)[0])
        if len(answers) > 1:
            return f"It ran on {listed([answer['host'] for answer in answers])}"
        answer = answers[0]
    return f"It ran on {answer['host']}, with {plural(answer['cores'], 'core')}"


def workers(attempt: Attempt) -> str:
    """As many workers as the profile has run at the same time, each with its GPUs."""
    profile = attempt.profile
    if attempt.ray is not None:
        answers = attempt.ray.call(
            "workers", WORKERS_S, folder=attempt.ray.folder, program=PROBE.read_text(encoding="utf-8")
        )
    else:
        shares = _shares(attempt)
        groups = _on_all(shares, lambda share: _tried_together(profile, share))
        answers = [answer for each in groups for answer in each]
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
    elif len(attempt.hosts) > 1:
        folder, free, per_s = _storage_here(attempt)
    else:
        answer = attempt.first.ask("storage", TASK_S, folder=attempt.profile.storage or DEFAULT_STORAGE)
        folder, free, per_s = answer["folder"], answer["free_bytes"], answer["bytes_per_s"]
    if free < LEAST_FREE_BYTES:
        raise UserError(f"{folder} has {free / 1e9:.1f} GB left.", hint="Make room there, or name another storage.")
    note = ", seen by all nodes" if attempt.ray is not None else ", seen by all hosts" if len(attempt.hosts) > 1 else ""
    return f"{folder}: {free / 1e9:,.0f} GB free, written with {per_s / 1e6:,.0f} MB/s{note}"


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
            detail = f"not tried, since this has not passed: {stages[missing[0]].title}"
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


@dataclass(frozen=True)
class Share:
    """The workers that a host has, of `world`, and where they meet those of others (address and port)."""

    host: Host
    ranks: tuple[int, ...]
    world: int
    rendezvous: tuple[str, int] | None = None
    failed: Event = field(default_factory=Event)
    """Set where a worker on any host has failed: the others wait for it in vain."""


def _shares(attempt: Attempt) -> list[Share]:
    """Return the workers of each host: shared evenly, as a run shares them."""
    count, hosts = attempt.profile.workers, attempt.hosts[: attempt.profile.workers]
    if len(hosts) == 1:
        return [Share(hosts[0], tuple(range(count)), count)]
    answer = hosts[0].ask("rendezvous", REACH_S, interface=attempt.profile.interface)
    rendezvous, failed = (str(answer["address"]), int(answer["port"])), Event()
    ends = [count * number // len(hosts) for number in range(len(hosts) + 1)]
    return [
        Share(host, tuple(range(first, end)), count, rendezvous, failed)
        for host, (first, end) in zip(hosts, pairwise(ends), strict=True)
    ]


def _on_all(each: Sequence[T], ask: Callable[[T], R]) -> list[R]:
    """Return the answers of all hosts, asked at the same time. Raises the error that came first."""
    with ThreadPoolExecutor(MOST_AT_ONCE) as pool:
        futures = [pool.submit(ask, host) for host in each]
        for future in as_completed(futures):
            future.result()
        return [future.result() for future in futures]


def _storage_here(attempt: Attempt) -> tuple[str, int, float]:
    """Return the folder here for runs with workers on several hosts, which all have to see, its free bytes and bytes
    per second. Raises `UserError`."""
    with SharedFolder(attempt.profile, Path.cwd()) as folder:
        free, per_s = folder.measured()
        path = folder.on_hosts(folder.path / SAMPLE_FILE)
        answers = _on_all(attempt.hosts, lambda host: host.ask("seen", REACH_S, path=path))
        if blind := {str(host) for host, each in zip(attempt.hosts, answers, strict=True) if not each["is_there"]}:
            raise blind_error(blind, folder.on_hosts(folder.path.parent))
        return str(folder.path.parent), free, per_s


def _tried_together(profile: ClusterProfile, share: Share) -> list[dict[str, Any]]:
    try:
        return _tried(profile, share, "workers", WORKERS_S)
    except UserError:
        share.failed.set()
        raise


def _tried(profile: ClusterProfile, share: Share, test: str, patience_s: float) -> list[dict[str, Any]]:
    """Run `PROBE` as a job with the workers of a host, and return their answers. Raises `RunError`."""
    host = share.host
    name = f"{(profile.storage or DEFAULT_STORAGE).rstrip('/')}/{FOLDERS}{time.time_ns()}"
    folder = str(host.ask("prepare", folder=name, stale=f"{FOLDERS}*", stale_s=STALE_S)["folder"])
    job = ""
    try:
        program = PROBE.read_bytes()
        host.put({"probe.py": program, "job.sh": _script(profile, share, folder, test)}, folder, patience_s)
        job = str(host.ask("start", folder=folder, kind=profile.kind)["job"])
        return _answers(profile, share, folder, job, patience_s)
    finally:
        _clean_up(host, profile, folder, job)


def _answers(profile: ClusterProfile, share: Share, folder: str, job: str, patience_s: float) -> list[dict[str, Any]]:
    begin, host, num_workers = time.monotonic(), share.host, len(share.ranks)
    limit_s = patience_s + (QUEUE_S if profile.kind == "slurm" else 0)
    where = f"{host}: " if num_workers < share.world else ""
    while True:
        answer = host.ask("answers", folder=folder, kind=profile.kind, job=job)
        replies: list[dict[str, Any]] = answer["answers"]
        if len(replies) == num_workers or share.failed.is_set():
            return replies
        waited_s = time.monotonic() - begin
        count = f"{where}{len(replies)} of {plural(num_workers, 'worker')} have answered"
        if answer["job_state"] == "gone":
            last_line = answer["output"].strip().rpartition("\n")[2][-400:].rstrip(".") or "nothing"
            raise RunError(f"{count}. The job said: {last_line}.", hint="Try the Python of the profile there.")
        if answer["job_state"] == "waiting" and waited_s > QUEUE_S:
            hint = "Try fewer workers or cores, or another partition."
            raise RunError(f"The job waits in the queue: {answer['job_reason'] or 'no reason is known'}.", hint=hint)
        if waited_s > limit_s:
            raise RunError(f"{count} in {limit_s:g} s.")
        time.sleep(POLL_S)


def _clean_up(host: Host, profile: ClusterProfile, folder: str, job: str) -> None:
    """End the job and delete its folder; a host that does not answer keeps them."""
    try:
        if job:
            host.ask("cancel", job=job, kind=profile.kind, now=True)
        host.ask("delete", folder=folder)
    except UserError:
        return


def _script(profile: ClusterProfile, share: Share, folder: str, test: str) -> bytes:
    lines = ["#!/bin/sh"]
    command = f'{python_words(profile)} "{folder}/probe.py" "{folder}" {test}'
    if profile.kind == "slurm":
        lines += sbatch_lines(profile, folder, task_per_worker=True)
        lines += [*interface_lines(profile), f"srun --ntasks={profile.workers} {command}"]
    else:
        lines += interface_lines(profile)
        if share.rendezvous is not None:
            lines.append(f"export MASTER_ADDR={share.rendezvous[0]} MASTER_PORT={share.rendezvous[1]}")
        lines += [f"RANK={rank} WORLD_SIZE={share.world} {command} &" for rank in share.ranks]
        lines += ["wait"]
    return "\n".join([*lines, ""]).encode()
